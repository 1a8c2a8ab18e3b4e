// Query and key turned by their positions: the score counts the distance, unless layouts are mixed.
window.tokpos ??= [];
window.tokpos.push(({ html, svg, plane, part, number, words, widget }) => {
  const WIDTH = 4;
  const BASE = 100;
  const REACH = 32;
  const _LAYOUTS = ["half", "interleaved"];

  /**
   * The places of the two features of each pair.
   * @param {string} layout
   * @param {number} width
   */
  function pairsOf(layout, width) {
    return Array.from({ length: width / 2 }, (_, pair) =>
      layout === "half" ? [pair, pair + width / 2] : [2 * pair, 2 * pair + 1],
    );
  }

  /**
   * @param {number[]} vector
   * @param {number} position
   * @param {string} layout
   * @param {number} base
   */
  function rotate(vector, position, layout, base) {
    const turned = [...vector];
    for (const [pair, [first, second]] of pairsOf(layout, vector.length).entries()) {
      const angle = position / base ** ((2 * pair) / vector.length);
      const [cosine, sine] = [Math.cos(angle), Math.sin(angle)];
      turned[first] = vector[first] * cosine - vector[second] * sine;
      turned[second] = vector[second] * cosine + vector[first] * sine;
    }
    return turned;
  }

  /**
   * @param {{q: number[], k: number[], m: number, n: number, base: number, layouts: [string, string]}} input
   * @returns {{q: number[], k: number[], score: number}}  Both turned, and their dot product.
   */
  function compute({ q, k, m, n, base, layouts }) {
    const turned = { q: rotate(q, m, layouts[0], base), k: rotate(k, n, layouts[1], base) };
    return {
      ...turned,
      score: turned.q.reduce((sum, value, each) => sum + value * turned.k[each], 0),
    };
  }

  /**
   * A vector from the angle of its first pair, in degrees; its second pair is always the same.
   * @param {number} degrees
   * @param {[number, number]} second
   * @param {string} layout
   */
  function vectorOf(degrees, second, layout) {
    const vector = Array(WIDTH).fill(0);
    const values = [
      [Math.cos((degrees * Math.PI) / 180), Math.sin((degrees * Math.PI) / 180)],
      second,
    ];
    for (const [pair, places] of pairsOf(layout, WIDTH).entries()) {
      for (const [each, place] of places.entries()) vector[place] = values[pair][each];
    }
    return vector;
  }

  widget({
    name: "rope",
    fields: {
      q: { start: 20, min: 0, max: 360, step: 5 },
      k: { start: 80, min: 0, max: 360, step: 5 },
      m: { start: 3, min: 0, max: REACH, step: 1 },
      n: { start: 1, min: 0, max: REACH, step: 1 },
      layouts: { start: "half", options: ["half", "interleaved", "mixed"] },
    },
    show: [
      { q: 20, k: 80, m: 3, n: 1, layouts: "half" },
      { m: 8, n: 6 },
      { m: 20, n: 18 },
      { layouts: "interleaved" },
      { layouts: "mixed" },
      { m: 8, n: 6 },
    ],
    compute,
    mount(place) {
      const { stage, words: texts } = place;
      const size = {
        x: /** @type {[number, number]} */ ([-1.3, 1.3]),
        y: /** @type {[number, number]} */ ([-1.3, 1.3]),
        width: 170,
        height: 170,
      };
      /** @type {"q" | "k"} */
      let held = "q";
      const near = (
        /** @type {number} */ x,
        /** @type {number} */ y,
        /** @type {"q" | "k"} */ which,
      ) => {
        const angle = (place.state[which] * Math.PI) / 180;
        return Math.hypot(x - Math.cos(angle), y - Math.sin(angle));
      };
      const drag = (
        /** @type {number} */ x,
        /** @type {number} */ y,
        /** @type {boolean} */ start,
      ) => {
        if (start) held = near(x, y, "q") <= near(x, y, "k") ? "q" : "k";
        place.set({ [held]: ((Math.atan2(y, x) * 180) / Math.PI + 360) % 360 });
      };
      const dials = [
        plane({ ...size, label: texts.first, drag }),
        plane({ ...size, label: texts.second }),
      ];
      const hands = dials.map(({ picture, right, down }) => {
        picture.append(svg("circle", { class: "tp-line faint", cx: 85, cy: 85, r: 85 / 1.3 }));
        return Object.fromEntries(
          [
            ["q", "faded query"],
            ["k", "faded key"],
            ["q′", "query"],
            ["k′", "key"],
          ].map(([name, kind]) => {
            const line = svg("line", { class: `tp-line ${kind}`, x1: 85, y1: 85 });
            const label = svg("text", { class: `tp-label ${kind}` }, name);
            picture.append(line, label);
            const to = (/** @type {number} */ x, /** @type {number} */ y) => {
              line.setAttribute("x2", right(x));
              line.setAttribute("y2", down(y));
              label.setAttribute("x", right(x * 1.16));
              label.setAttribute("y", down(y * 1.16));
            };
            return [name, to];
          }),
        );
      });
      const graph = plane({
        x: [0, REACH],
        y: [-2.2, 2.2],
        width: 350,
        height: 120,
        label: texts.graph,
      });
      const curve = svg("path", { class: "tp-line score" });
      const dot = svg("circle", { class: "tp-dot score", r: 4 });
      graph.picture.append(
        svg("path", {
          class: "tp-line faint",
          d: graph.path([
            [0, 0],
            [REACH, 0],
          ]),
        }),
        curve,
        dot,
      );
      const sum = html("p", { class: "tp-formula" });
      stage.append(
        html(
          "div",
          { class: "tp-controls" },
          ...["q", "k", "m", "n", "layouts"].map((key) => place.control(key)),
        ),
        html(
          "div",
          { class: "tp-row" },
          ...dials.map(({ picture }, each) => part([texts.first, texts.second][each], picture)),
        ),
        sum,
        part(texts.graph, graph.picture),
      );
      return (state) => {
        /** @type {[string, string]} */
        const layouts =
          state.layouts === "mixed" ? ["half", "interleaved"] : [state.layouts, state.layouts];
        // Both are written down in the first layout; the second is how the key's code takes them.
        const q = vectorOf(state.q, [0.8, 0.6], layouts[0]);
        const k = vectorOf(state.k, [0.96, -0.28], layouts[0]);
        const { m, n } = state;
        const found = compute({ q, k, m, n, base: BASE, layouts });
        for (const [pair, [a, b]] of pairsOf(layouts[0], WIDTH).entries()) {
          hands[pair].q(q[a], q[b]);
          hands[pair].k(k[a], k[b]);
          hands[pair]["q′"](found.q[a], found.q[b]);
          hands[pair]["k′"](found.k[a], found.k[b]);
        }
        const terms = found.q.map(
          (value, each) => `${bracketed(value)}·${bracketed(found.k[each])}`,
        );
        sum.textContent = `${terms.join(" + ")} = ${number(found.score, 3)}`;
        const first = Math.min(m, n);
        /** @type {[number, number][]} */
        const line = [];
        for (let start = 0; start + Math.abs(m - n) <= REACH; start++) {
          const moved = { m: m - first + start, n: n - first + start };
          line.push([start, compute({ q, k, ...moved, base: BASE, layouts }).score]);
        }
        curve.setAttribute("d", graph.path(line));
        dot.setAttribute("cx", graph.right(first));
        dot.setAttribute("cy", graph.down(found.score));
        const scores = line.map(([, score]) => score);
        const spread = Math.max(...scores) - Math.min(...scores);
        place.say(
          words(spread < 1e-9 ? texts.same : texts.differs, {
            m,
            n,
            offset: m - n,
            score: number(found.score, 3),
            low: number(Math.min(...scores), 3),
            high: number(Math.max(...scores), 3),
          }),
        );
      };
    },
  });

  /** @param {number} value */
  function bracketed(value) {
    return value < 0 ? `(${number(value)})` : number(value);
  }
});
