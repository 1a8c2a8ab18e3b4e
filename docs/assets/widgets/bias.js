// What ALiBi and T5 add to the scores of a head, and what the softmax makes of it.
window.tokpos ??= [];
window.tokpos.push(({ html, heat, part, number, words, widget }) => {
  /**
   * @param {number} heads
   * @returns {number[]}
   */
  function slopes(heads) {
    const whole = 2 ** Math.floor(Math.log2(heads));
    const of = (/** @type {number} */ count) =>
      Array.from({ length: count }, (_, head) => 2 ** ((-8 * (head + 1)) / count));
    const between = of(2 * whole).filter((_, head) => head % 2 === 0);
    return [...of(whole), ...between.slice(0, heads - whole)];
  }

  /**
   * The bucket of an offset, key minus query.
   * @param {number} offset
   * @param {{causal: boolean, buckets: number, distance: number}} how
   */
  function bucketOf(offset, { causal, buckets, distance }) {
    const half = causal ? buckets : buckets / 2;
    const side = !causal && offset > 0 ? half : 0;
    const far = causal ? Math.max(-offset, 0) : Math.abs(offset);
    const exact = Math.floor(half / 2);
    if (far < exact) return side + far;
    const share = Math.log(far / exact) / Math.log(distance / exact);
    return side + Math.min(half - 1, exact + Math.floor(share * (half - exact)));
  }

  /** @param {number[]} scores */
  function softmax(scores) {
    const largest = Math.max(...scores);
    const powers = scores.map((score) => Math.exp(score - largest));
    const total = powers.reduce((sum, power) => sum + power, 0);
    return powers.map((power) => power / total);
  }

  /**
   * @param {{kind: string, heads: number, head: number, length: number, causal: boolean,
   *   buckets: number, distance: number, table: number[][], scores: number[]}} input
   *   `table` has a row for each bucket and a column for each head; `scores` are one query's.
   * @returns {{bias: number[][], bucket: number[][], before: number[], after: number[]}}  The bias of
   *   each query and key; the weights of the last query without and with it.
   */
  function compute({ kind, heads, head, length, causal, buckets, distance, table, scores }) {
    const range = [...Array(length).keys()];
    const bucket = range.map((query) =>
      range.map((key) => bucketOf(key - query, { causal, buckets, distance })),
    );
    const slope = slopes(heads)[head];
    const bias = range.map((query) =>
      range.map((key) => {
        if (causal && key > query) return Number.NEGATIVE_INFINITY;
        return kind === "alibi" ? -slope * Math.abs(query - key) : table[bucket[query][key]][head];
      }),
    );
    const own = scores.slice(0, length);
    const added = own.map((score, key) => score + bias[length - 1][key]);
    return { bias, bucket, before: softmax(own), after: softmax(added) };
  }

  widget({
    name: "bias",
    fields: {
      kind: { start: "alibi", options: ["alibi", "t5"] },
      heads: { start: "8", options: ["4", "8", "12"] },
      head: { start: 0, min: 0, max: 11, step: 1 },
      length: { start: 16, min: 4, max: 24, step: 1 },
      causal: { start: true },
    },
    show: [
      { kind: "alibi", heads: "8", head: 0, causal: true, length: 16 },
      { head: 3 },
      { head: 7 },
      { kind: "t5", head: 0 },
      { causal: false },
    ],
    compute,
    mount(place) {
      const { stage, data, words: texts } = place;
      const map = heat("score", texts.map);
      const fact = html("p", { class: "tp-note" });
      const bars = [0, 1].map(() => html("div", { class: "tp-bars" }));
      stage.append(
        html(
          "div",
          { class: "tp-controls" },
          ...["kind", "heads", "head", "length", "causal"].map((key) => place.control(key)),
        ),
        fact,
        html(
          "div",
          { class: "tp-row" },
          part(texts.map, map.canvas),
          html("div", {}, part(texts.before, bars[0]), part(texts.after, bars[1])),
        ),
      );
      /** @param {HTMLElement} box @param {number[]} weights */
      function drawBars(box, weights) {
        while (box.childElementCount < weights.length) box.append(html("i"));
        while (box.childElementCount > weights.length) box.lastElementChild?.remove();
        for (const [key, weight] of weights.entries()) {
          /** @type {HTMLElement} */ (box.children[key]).style.height =
            `${(100 * weight).toFixed(2)}%`;
        }
      }
      return (state) => {
        const heads = Number(state.heads);
        const head = Math.min(state.head, heads - 1);
        const found = compute({ ...data, ...state, heads, head });
        map.update(
          found.bias,
          Math.max(...found.bias.flat().filter(Number.isFinite).map(Math.abs), 1e-9),
        );
        drawBars(bars[0], found.before);
        drawBars(bars[1], found.after);
        const used = new Set(found.bucket[state.length - 1]).size;
        fact.textContent = words(texts[state.kind === "alibi" ? "slope" : "buckets"], {
          head,
          slope: number(slopes(heads)[head], 4),
          used,
        });
        place.say(
          words(texts.said, {
            near: number(100 * found.after[state.length - 1], 1),
            far: number(100 * found.after[0], 1),
            before: number(100 * found.before[0], 1),
          }),
        );
      };
    },
  });
});
