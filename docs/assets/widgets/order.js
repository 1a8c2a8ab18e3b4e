// The words of a sentence in any order: attention without positions gives each the same vector.
window.tokpos ??= [];
window.tokpos.push(({ html, cells, part, number, words, widget }) => {
  /** @typedef {number[][]} Matrix */

  /** @param {Matrix} left @param {Matrix} right */
  const product = (left, right) =>
    left.map((row) =>
      right[0].map((_, column) => row.reduce((sum, value, d) => sum + value * right[d][column], 0)),
    );

  /** @param {Matrix} matrix */
  const turned = (matrix) => matrix[0].map((_, column) => matrix.map((row) => row[column]));

  /**
   * @param {{x: Matrix, query: Matrix, key: Matrix, value: Matrix, places: Matrix, order: number[], positions: boolean}} input
   *   `order` names the word at each place.
   * @returns {{weights: Matrix, out: Matrix}}  What attention gives at each place.
   */
  function compute({ x, query, key, value, places, order, positions }) {
    const rows = order.map((word, place) =>
      x[word].map((entry, d) => entry + (positions ? places[place][d] : 0)),
    );
    const scores = product(product(rows, query), turned(product(rows, key)));
    const weights = scores.map((row) => {
      const scaled = row.map((score) => score / Math.sqrt(query[0].length));
      const largest = Math.max(...scaled);
      const powers = scaled.map((score) => Math.exp(score - largest));
      const total = powers.reduce((sum, power) => sum + power, 0);
      return powers.map((power) => power / total);
    });
    return { weights, out: product(weights, product(rows, value)) };
  }

  const ORDERS = ["012", "021", "102", "120", "201", "210"];

  widget({
    name: "order",
    fields: { order: { start: "012", options: ORDERS }, positions: { start: false } },
    show: [
      { order: "012", positions: false },
      { order: "210" },
      { order: "120" },
      { order: "012", positions: true },
      { order: "210" },
    ],
    compute,
    mount(place) {
      const { stage, data, words: texts } = place;
      const count = data.words.length;
      const sentence = html("div", {
        class: "tp-choices",
        role: "group",
        "aria-label": texts.sentence,
      });
      const width = data.value[0].length;
      const out = cells(count, width, { side: data.words, label: texts.out });
      const first = cells(count, width, { side: data.words, label: texts.first });
      stage.append(
        html("div", { class: "tp-controls" }, place.control("positions")),
        part(texts.sentence, sentence),
        html(
          "div",
          { class: "tp-row" },
          part(texts.first, first.table),
          part(texts.out, out.table),
        ),
      );
      const inOrder = (/** @type {string} */ order) => [...order].map(Number);

      /** @param {number} at  Swap the word there with its right neighbor. */
      function swap(at) {
        const order = [...place.state.order];
        const next = (at + 1) % count;
        [order[at], order[next]] = [order[next], order[at]];
        place.set({ order: order.join("") });
        /** @type {HTMLElement} */ (sentence.children[next]).focus();
      }
      sentence.append(
        ...data.words.map((/** @type {string} */ _, /** @type {number} */ at) =>
          html("button", { type: "button", title: texts.swap, onclick: () => swap(at) }),
        ),
      );

      return ({ order, positions }) => {
        const here = inOrder(order);
        for (const [at, word] of here.entries())
          sentence.children[at].textContent = data.words[word];
        const before = compute({ ...data, order: inOrder("012"), positions }).out;
        const found = compute({ ...data, order: here, positions }).out;
        const byWord = before.map((_, word) => found[here.indexOf(word)]);
        const largest = Math.max(...before.flat().map(Math.abs));
        first.update(before, largest);
        out.update(byWord, largest);
        const apart = Math.max(
          ...byWord.flatMap((row, word) => row.map((v, d) => Math.abs(v - before[word][d]))),
        );
        for (const [word, row] of out.all.entries()) {
          const moved = byWord[word].some((v, d) => Math.abs(v - before[word][d]) > 1e-9);
          row[0].parentElement?.classList.toggle("moved", moved);
        }
        const sentenceNow = here.map((word) => data.words[word]).join("");
        place.say(
          words(apart < 1e-9 ? texts.same : texts.differs, {
            sentence: sentenceNow,
            apart: number(apart, 3),
          }),
        );
      };
    },
  });
});
