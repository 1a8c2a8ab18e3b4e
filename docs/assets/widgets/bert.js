// BERT's three rows, their sum and its LayerNorm, in real numbers.
window.tokpos ??= [];
window.tokpos.push(({ html, cells, part, number, words, widget }) => {
  /**
   * @typedef {{features: number, eps: number, gamma: number[], beta: number[],
   *   token: Rows, segment: Rows, position: Rows,
   *   dots: {tt: number[], ss: number[], pp: number[], ts: number[][], tp: number[][], sp: number[][]}}} Layer
   *   `dots` are products of whole rows, all features of them.
   * @typedef {{slice: number[][], total: number[]}} Rows  The first features, and the sum of all.
   */

  /**
   * @param {{layer: Layer, token: number, segment: number, position: number}} input
   * @returns {{sum: number[], mean: number, variance: number, normalized: number[]}}
   */
  function compute({ layer, token, segment, position }) {
    const { features, eps, gamma, beta, dots } = layer;
    const sum = layer.token.slice[token].map(
      (value, d) => value + layer.segment.slice[segment][d] + layer.position.slice[position][d],
    );
    const mean =
      (layer.token.total[token] + layer.segment.total[segment] + layer.position.total[position]) /
      features;
    const square =
      dots.tt[token] +
      dots.ss[segment] +
      dots.pp[position] +
      2 * (dots.ts[token][segment] + dots.tp[token][position] + dots.sp[segment][position]);
    const variance = square / features - mean * mean;
    const normalized = sum.map(
      (value, d) => ((value - mean) / Math.sqrt(variance + eps)) * gamma[d] + beta[d],
    );
    return { sum, mean, variance, normalized };
  }

  widget({
    name: "bert",
    fields: {
      at: { start: 2, min: 0, max: 6, step: 1 },
      position: { start: 2, min: 0, max: 6, step: 1 },
      segment: { start: "0", options: ["0", "1"] },
      row: { start: "sum", options: ["sum", "normalized"] },
      column: { start: 0, min: 0, max: 5, step: 1 },
    },
    show: [
      { at: 2, position: 2, segment: "0", row: "sum", column: 0 },
      { row: "normalized" },
      { segment: "1" },
      { segment: "0", position: 5 },
      { at: 5, position: 5 },
    ],
    compute,
    mount(place) {
      const { stage, data, words: texts } = place;
      const count = data.layer.gamma.length;
      const roles = ["token", "segment", "position", "sum", "normalized"];
      const rows = roles.map((role) =>
        cells(1, count, {
          role: role === "sum" || role === "normalized" ? "query" : role,
          digits: 3,
          side: [texts[role]],
          label: texts[role],
        }),
      );
      const table = html("div", { class: "tp-stack" }, ...rows.map((row) => row.table));
      const choose = data.words.map((/** @type {string} */ word, /** @type {number} */ at) =>
        html("button", { type: "button", onclick: () => place.set({ at, position: at }) }, word),
      );
      for (const [each, name] of roles.entries()) {
        for (const [column, cell] of rows[each].all[0].entries()) {
          const row = name === "normalized" ? "normalized" : "sum";
          cell.addEventListener("pointermove", () => place.set({ row, column }));
        }
      }
      stage.append(
        html("div", { class: "tp-choices", role: "group", "aria-label": texts.at }, ...choose),
        html(
          "div",
          { class: "tp-controls" },
          ...["position", "segment", "row", "column"].map((key) => place.control(key)),
        ),
        part(texts.table, table),
      );
      return ({ at, position, segment, row, column }) => {
        const { layer } = data;
        const found = compute({ layer, token: at, segment: Number(segment), position });
        const parts = [
          layer.token.slice[at],
          layer.segment.slice[Number(segment)],
          layer.position.slice[position],
          found.sum,
        ];
        const largest = Math.max(...parts.flat().map(Math.abs));
        for (const [each, values] of parts.entries()) rows[each].update([values], largest);
        rows[4].update([found.normalized]);
        for (const [each, button] of choose.entries())
          button.setAttribute("aria-pressed", String(each === at));
        for (const [each, name] of roles.entries()) {
          for (const [d, cell] of rows[each].all[0].entries())
            cell.classList.toggle(
              "lit",
              d === column && (name === row || (row === "sum" && each < 3)),
            );
        }
        const n = (/** @type {number} */ value) =>
          value < 0 ? `(${number(value, 4)})` : number(value, 4);
        const [token, segmentValue, positionValue] = parts.map((values) => values[column]);
        const formula =
          row === "sum"
            ? `${n(token)} + ${n(segmentValue)} + ${n(positionValue)} = ${number(found.sum[column], 4)}`
            : `(${n(found.sum[column])} − ${n(found.mean)}) / √(${number(found.variance, 6)} + ${layer.eps}) · ${n(layer.gamma[column])} + ${n(layer.beta[column])} = ${number(found.normalized[column], 4)}`;
        place.say(words(texts.said, { token: data.words[at], position, segment, formula }));
      };
    },
  });
});
