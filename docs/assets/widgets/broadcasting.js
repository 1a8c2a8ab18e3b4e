// Two shapes lined up from the right: what comes of them, and where each element comes from.
window.tokpos ??= [];
window.tokpos.push(({ html, part, words, widget }) => {
  /**
   * @param {{a: number[], b: number[]}} input
   * @returns {{shape: number[], from: [number, number][]} | {axis: number, sizes: [number, number]}}
   *   The shape of the result and for each of its elements, in order, the places in the two; or the
   *   first axis from the right that does not fit, counted as PyTorch does (-1 is the last).
   */
  function compute({ a, b }) {
    const axes = Math.max(a.length, b.length);
    const whole = [a, b].map((shape) => [...Array(axes - shape.length).fill(1), ...shape]);
    /** @type {number[]} */
    const shape = [];
    for (let axis = axes - 1; axis >= 0; axis--) {
      const [left, right] = [whole[0][axis], whole[1][axis]];
      if (left !== right && left !== 1 && right !== 1) {
        return { axis: axis - axes, sizes: [left, right] };
      }
      shape.unshift(left === 1 ? right : left);
    }
    const strides = whole.map((sizes) => {
      let step = 1;
      /** @type {number[]} */
      const found = [];
      for (let axis = axes - 1; axis >= 0; axis--) {
        found.unshift(sizes[axis] === 1 ? 0 : step);
        step *= sizes[axis];
      }
      return found;
    });
    const count = shape.reduce((product, size) => product * size, 1);
    const from = Array.from({ length: count }, (_, element) => {
      let rest = element;
      /** @type {[number, number]} */
      const places = [0, 0];
      for (let axis = axes - 1; axis >= 0; axis--) {
        const at = rest % shape[axis];
        rest = (rest - at) / shape[axis];
        places[0] += at * strides[0][axis];
        places[1] += at * strides[1][axis];
      }
      return places;
    });
    return { shape, from };
  }

  const LARGEST = 6;

  /**
   * @param {string} text
   * @returns {number[] | null}
   */
  function shapeOf(text) {
    const sizes = text
      .split(/[\s,，×x[\]()]+/)
      .filter(Boolean)
      .map(Number);
    const fine = sizes.every((size) => Number.isInteger(size) && size >= 1 && size <= LARGEST);
    return fine && sizes.length <= 3 ? sizes : null;
  }

  /** @param {number[]} shape */
  const said = (shape) => `[${shape.join(", ")}]`;

  widget({
    name: "broadcasting",
    fields: {
      a: { start: "2, 3, 4", length: 20 },
      b: { start: "3, 4", length: 20 },
      at: { start: 5, min: 0, max: LARGEST ** 3 - 1, step: 1 },
    },
    show: [
      { a: "2, 3, 4", b: "3, 4", at: 17 },
      { a: "3, 1", b: "1, 4", at: 6 },
      { a: "4", b: "4, 1", at: 9 },
      { a: "2, 3, 4", b: "2, 3", at: 0 },
    ],
    compute,
    mount(place) {
      const { stage, words: texts } = place;
      const axes = html("table", { class: "tp-axes" });
      const blocks = html("div", { class: "tp-row" });
      stage.append(
        html("div", { class: "tp-controls" }, ...["a", "b", "at"].map((key) => place.control(key))),
        axes,
        blocks,
      );
      let drawn = "";
      /** @type {HTMLElement[][]} */
      let drawings = [];
      const range = stage.querySelector("input[type=range]");

      /**
       * A tensor as matrices of numbered cells, side by side.
       * @param {number[]} shape
       * @param {(element: number) => void} [point]
       */
      function draw(shape, point) {
        const [height, width] = [shape.at(-2) ?? 1, shape.at(-1) ?? 1];
        const count = shape.reduce((product, size) => product * size, 1);
        /** @type {HTMLElement[]} */
        const all = [];
        const matrices = Array.from({ length: count / (height * width) }, () =>
          html(
            "table",
            { class: "tp-cells tp-of-token" },
            html(
              "tbody",
              {},
              ...Array.from({ length: height }, () =>
                html(
                  "tr",
                  {},
                  ...Array.from({ length: width }, () => {
                    const element = all.length;
                    const cell = html(
                      "td",
                      { onpointermove: point && (() => point(element)) },
                      String(element),
                    );
                    all.push(cell);
                    return cell;
                  }),
                ),
              ),
            ),
          ),
        );
        return { all, block: html("div", { class: "tp-matrices" }, ...matrices) };
      }

      /** @param {number[]} a @param {number[]} b @param {number[]} [result] @param {number} [bad] */
      function lineUp(a, b, result, bad) {
        const count = Math.max(a.length, b.length);
        const line = (/** @type {string} */ name, /** @type {number[]} */ shape) => {
          const sizes = [...Array(count - shape.length).fill("·"), ...shape];
          const cellsOf = sizes.map((size, axis) =>
            html(
              "td",
              {
                class:
                  axis - count === bad ? "bad" : size === 1 ? "one" : size === "·" ? "none" : "",
              },
              String(size),
            ),
          );
          return html("tr", {}, html("th", { scope: "row" }, name), ...cellsOf);
        };
        const rows = [line("a", a), line("b", b), ...(result ? [line("a + b", result)] : [])];
        axes.replaceChildren(html("tbody", {}, ...rows));
      }

      return (state) => {
        const [a, b] = [shapeOf(state.a), shapeOf(state.b)];
        if (!a || !b) {
          place.say(texts.unreadable, true);
          return;
        }
        const found = compute({ a, b });
        if ("axis" in found) {
          lineUp(a, b, undefined, found.axis);
          blocks.replaceChildren();
          drawn = "";
          const [one, other] = found.sizes;
          place.say(words(texts.error, { axis: found.axis, left: one, right: other }), true);
          return;
        }
        const at = state.at % found.from.length;
        if (range instanceof HTMLInputElement) range.max = String(found.from.length - 1);
        if (drawn !== `${a} ${b}`) {
          drawn = `${a} ${b}`;
          lineUp(a, b, found.shape);
          const parts = [
            draw(a),
            draw(b),
            draw(found.shape, (element) => place.set({ at: element })),
          ];
          drawings = parts.map(({ all }) => all);
          const names = [`a ${said(a)}`, `b ${said(b)}`, `a + b ${said(found.shape)}`];
          blocks.replaceChildren(...parts.map(({ block }, each) => part(names[each], block)));
        }
        const [left, right] = found.from[at];
        for (const [each, element] of [left, right, at].entries()) {
          for (const [number, cell] of drawings[each].entries())
            cell.classList.toggle("lit", number === element);
        }
        place.say(words(texts.said, { shape: said(found.shape), element: at, left, right }));
      };
    },
  });
});
