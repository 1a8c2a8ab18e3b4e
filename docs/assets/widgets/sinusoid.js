// The table of sinusoids: as a map, as waves, as hands of a clock, and how alike its rows are.
window.tokpos ??= [];
window.tokpos.push(({ html, svg, heat, plane, part, number, words, widget }) => {
  /**
   * @param {{width: number, base: number, position: number}} input
   * @returns {number[]}
   */
  function row({ width, base, position }) {
    return Array.from({ length: width }, (_, column) => {
      const angle = position / base ** ((2 * Math.floor(column / 2)) / width);
      return column % 2 ? Math.cos(angle) : Math.sin(angle);
    });
  }

  /**
   * @param {{width: number, base: number, position: number, length: number}} input
   * @returns {{row: number[], similarity: number[]}}  The row of a position, and its product with the
   *   row of each position below `length`, divided by that with itself.
   */
  function compute({ width, base, position, length }) {
    const frequencies = Array.from(
      { length: width / 2 },
      (_, pair) => base ** ((-2 * pair) / width),
    );
    const similarity = Array.from({ length }, (_, other) => {
      const sum = frequencies.reduce(
        (sum, frequency) => sum + Math.cos((position - other) * frequency),
        0,
      );
      return sum / frequencies.length;
    });
    return { row: row({ width, base, position }), similarity };
  }

  widget({
    name: "sinusoid",
    fields: {
      width: { start: 32, min: 4, max: 64, step: 2 },
      base: { start: "10000", options: ["2", "10", "100", "1000", "10000", "100000"] },
      length: { start: 64, min: 16, max: 128, step: 16 },
      position: { start: 20, min: 0, max: 127, step: 1 },
      pair: { start: 0, min: 0, max: 31, step: 1 },
    },
    show: [
      { width: 32, base: "10000", length: 64, position: 20, pair: 0 },
      { pair: 4 },
      { pair: 8 },
      { base: "10", pair: 8 },
      { base: "10000", position: 40, pair: 4 },
    ],
    compute,
    mount(place) {
      const { stage, words: texts } = place;
      const map = heat("position", texts.map);
      const wave = plane({ x: [0, 1], y: [-1.1, 1.1], width: 300, height: 90, label: texts.wave });
      const clock = plane({
        x: [-1.2, 1.2],
        y: [-1.2, 1.2],
        width: 110,
        height: 110,
        label: texts.clock,
      });
      const alike = plane({
        x: [0, 1],
        y: [-0.6, 1.1],
        width: 300,
        height: 110,
        label: texts.similarity,
        drag: (x) => place.set({ position: x * (place.state.length - 1) }),
      });
      const line = (/** @type {string} */ kind) => svg("path", { class: `tp-line ${kind}` });
      const [sine, cosine, curve] = [line("position"), line("query"), line("position")];
      const [here, there] = [line("mark"), line("mark")];
      const hand = svg("line", { class: "tp-line position", x1: 55, y1: 55 });
      const circle = svg("circle", { class: "tp-line faint", cx: 55, cy: 55, r: 110 / 2.4 });
      wave.picture.append(sine, cosine, here);
      clock.picture.append(circle, hand);
      alike.picture.append(
        svg("path", {
          class: "tp-line faint",
          d: alike.path([
            [0, 0],
            [1, 0],
          ]),
        }),
        curve,
        there,
      );
      stage.append(
        html(
          "div",
          { class: "tp-controls" },
          ...["width", "base", "length", "position", "pair"].map((key) => place.control(key)),
        ),
        html(
          "div",
          { class: "tp-row" },
          part(texts.map, map.canvas),
          html(
            "div",
            {},
            part(texts.wave, wave.picture),
            part(texts.clock, clock.picture),
            part(texts.similarity, alike.picture),
          ),
        ),
      );
      let drawn = "";
      let waved = "";
      return (state) => {
        const { width, length } = state;
        const base = Number(state.base);
        const position = Math.min(state.position, length - 1);
        const pair = Math.min(state.pair, width / 2 - 1);
        const mode = document.body.getAttribute("data-md-color-scheme");
        if (drawn !== `${width} ${base} ${length} ${mode}`) {
          drawn = `${width} ${base} ${length} ${mode}`;
          map.update(
            Array.from({ length }, (_, each) => row({ width, base, position: each })),
            1,
          );
        }
        const frequency = base ** ((-2 * pair) / width);
        if (waved !== `${length} ${frequency}`) {
          waved = `${length} ${frequency}`;
          const places = Array.from({ length: 301 }, (_, each) => each / 300);
          for (const [curve, part] of /** @type {const} */ ([
            [sine, Math.sin],
            [cosine, Math.cos],
          ])) {
            const points = places.map((x) => [x, part(x * (length - 1) * frequency)]);
            curve.setAttribute("d", wave.path(/** @type {[number, number][]} */ (points)));
          }
        }
        const at = position / (length - 1);
        here.setAttribute(
          "d",
          wave.path([
            [at, -1.1],
            [at, 1.1],
          ]),
        );
        there.setAttribute(
          "d",
          alike.path([
            [at, -0.6],
            [at, 1.1],
          ]),
        );
        hand.setAttribute("x2", clock.right(Math.cos(position * frequency)));
        hand.setAttribute("y2", clock.down(Math.sin(position * frequency)));
        const { row: own, similarity } = compute({ width, base, position, length });
        curve.setAttribute(
          "d",
          alike.path(similarity.map((value, each) => [each / (length - 1), value])),
        );
        place.say(
          words(texts.said, {
            position,
            pair,
            sine: number(own[2 * pair], 3),
            cosine: number(own[2 * pair + 1], 3),
            wavelength: number((2 * Math.PI) / frequency, 1),
            next: number(similarity[Math.min(position + 1, length - 1)], 3),
          }),
        );
      };
    },
  });
});
