// The row of a token, fetched and multiplied out.
window.tokpos ??= [];
window.tokpos.push(({ html, cells, part, number, words, widget }) => {
  /**
   * @param {{table: number[][], id: number}} input
   * @returns {{oneHot: number[], terms: number[][], product: number[], row: number[]}}
   */
  function compute({ table, id }) {
    const oneHot = table.map((_, row) => (row === id ? 1 : 0));
    const terms = table.map((values, row) => values.map((value) => oneHot[row] * value));
    const product = table[0].map((_, column) => terms.reduce((sum, term) => sum + term[column], 0));
    return { oneHot, terms, product, row: table[id] };
  }

  widget({
    name: "lookup",
    fields: { id: { start: 4, min: 0, max: 5, step: 1 } },
    show: [{ id: 0 }, { id: 1 }, { id: 2 }, { id: 3 }, { id: 4 }, { id: 5 }],
    compute,
    mount(place) {
      const { stage, data, words: texts } = place;
      const names = data.words;
      const width = data.table[0].length;
      const choose = names.map((/** @type {string} */ name, /** @type {number} */ id) =>
        html("button", { type: "button", onclick: () => place.set({ id }) }, `${id} ${name}`),
      );
      const hot = cells(1, names.length, { digits: 0, label: texts.one_hot });
      const table = cells(names.length, width, { side: names, label: texts.table });
      const product = cells(1, width, { label: texts.product });
      const row = cells(1, width, { label: texts.row });
      const sum = html("p", { class: "tp-formula" });
      stage.append(
        html("div", { class: "tp-choices", role: "group", "aria-label": texts.id }, ...choose),
        html(
          "div",
          { class: "tp-row" },
          part(texts.one_hot, hot.table),
          html("span", { class: "tp-sign" }, "×"),
          part(texts.table, table.table),
          html("span", { class: "tp-sign" }, "="),
          part(texts.product, product.table),
        ),
        html("div", { class: "tp-row" }, part(texts.row, row.table)),
        sum,
      );
      table.update(data.table);
      return ({ id }) => {
        const found = compute({ table: data.table, id });
        const largest = Math.max(...data.table.flat().map(Math.abs));
        for (const [each, button] of choose.entries()) {
          button.setAttribute("aria-pressed", String(each === id));
        }
        for (const [each, line] of table.all.entries()) {
          line[0].parentElement?.classList.toggle("dim", each !== id);
        }
        hot.update([found.oneHot], 1);
        product.update([found.product], largest);
        row.update([found.row], largest);
        const terms = data.table.map(
          (/** @type {number[]} */ values, /** @type {number} */ each) =>
            `${found.oneHot[each]}·${values[0] < 0 ? `(${number(values[0])})` : number(values[0])}`,
        );
        sum.textContent = `${terms.join(" + ")} = ${number(found.product[0])}`;
        place.say(
          words(texts.said, {
            token: names[id],
            id,
            row: found.row.map((v) => number(v)).join(", "),
          }),
        );
      };
    },
  });
});
