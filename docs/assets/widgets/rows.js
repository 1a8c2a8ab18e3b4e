// A small table that learns: which of its rows move at a step, and why.
window.tokpos ??= [];
window.tokpos.push(({ html, cells, part, words, widget }) => {
  const BETAS = [0.9, 0.999];
  const EPS = 1e-8;
  const OPTIMIZERS = ["sgd", "adam", "adamw"];

  /**
   * @typedef {{table: number[][], head: number[][], batches: {ids: number[], targets: number[]}[]}} Start
   * @typedef {{optimizer: string, rate: number, decay: number, momentum: number, tied: boolean, steps: number}} Training
   */

  /**
   * The gradients of the mean cross entropy of `head @ table[id]` against the targets.
   * @param {number[][]} table
   * @param {number[][]} head  The table itself where the two are tied.
   * @param {{ids: number[], targets: number[]}} batch
   */
  function gradients(table, head, { ids, targets }) {
    const zeros = (/** @type {number[][]} */ like) => like.map((row) => row.map(() => 0));
    const ofTable = zeros(table);
    const ofHead = head === table ? ofTable : zeros(head);
    for (const [each, id] of ids.entries()) {
      const scores = head.map((row) =>
        row.reduce((sum, weight, d) => sum + weight * table[id][d], 0),
      );
      const largest = Math.max(...scores);
      const powers = scores.map((score) => Math.exp(score - largest));
      const total = powers.reduce((sum, power) => sum + power, 0);
      for (const [token, power] of powers.entries()) {
        const slope = (power / total - (token === targets[each] ? 1 : 0)) / ids.length;
        for (const d of table[id].keys()) {
          ofTable[id][d] += slope * head[token][d];
          ofHead[token][d] += slope * table[id][d];
        }
      }
    }
    return [ofTable, ofHead];
  }

  /**
   * One step of an optimizer, by PyTorch's formulas; `kept` is what it remembers of a parameter.
   * @param {number} value
   * @param {number} slope
   * @param {{first: number, second: number, steps: number}} kept
   * @param {Training} how
   */
  function stepped(value, slope, kept, { optimizer, rate, decay, momentum }) {
    kept.steps += 1;
    if (optimizer === "adamw") value *= 1 - rate * decay;
    else slope += decay * value;
    if (optimizer === "sgd") {
      kept.first = kept.steps === 1 ? slope : momentum * kept.first + slope;
      return value - rate * kept.first;
    }
    kept.first = BETAS[0] * kept.first + (1 - BETAS[0]) * slope;
    kept.second = BETAS[1] * kept.second + (1 - BETAS[1]) * slope * slope;
    const root = Math.sqrt(kept.second) / Math.sqrt(1 - BETAS[1] ** kept.steps);
    return value - ((rate / (1 - BETAS[0] ** kept.steps)) * kept.first) / (root + EPS);
  }

  /**
   * @param {Start & Training} input
   * @returns {{table: number[][], moved: boolean[], gradient: boolean[]}}  `moved` and `gradient`
   *   are those of the last step.
   */
  function compute(input) {
    let table = input.table.map((row) => [...row]);
    let head = input.tied ? table : input.head.map((row) => [...row]);
    const kept = [table, head].map((matrix) =>
      matrix.map((row) => row.map(() => ({ first: 0, second: 0, steps: 0 }))),
    );
    let moved = table.map(() => false);
    let gradient = table.map(() => false);
    for (let step = 0; step < input.steps; step++) {
      const [ofTable, ofHead] = gradients(table, head, input.batches[step % input.batches.length]);
      const after = (
        /** @type {number[][]} */ matrix,
        /** @type {number[][]} */ slopes,
        /** @type {number} */ which,
      ) =>
        matrix.map((row, r) =>
          row.map((value, d) => stepped(value, slopes[r][d], kept[which][r][d], input)),
        );
      const next = after(table, ofTable, 0);
      head = input.tied ? next : after(head, ofHead, 1);
      moved = table.map((row, r) => row.some((value, d) => value !== next[r][d]));
      gradient = ofTable.map((row) => row.some((slope) => slope !== 0));
      table = next;
    }
    return { table, moved, gradient };
  }

  widget({
    name: "rows",
    fields: {
      optimizer: { start: "sgd", options: OPTIMIZERS },
      decay: { start: 0, min: 0, max: 0.5, step: 0.1 },
      momentum: { start: 0, min: 0, max: 0.9, step: 0.1 },
      tied: { start: false },
      steps: { start: 0, min: 0, max: 20, step: 1 },
    },
    show: [
      { optimizer: "sgd", decay: 0, momentum: 0, tied: false, steps: 1 },
      { steps: 2 },
      { optimizer: "adam", steps: 2 },
      { optimizer: "adamw", decay: 0.1, steps: 2 },
      { optimizer: "sgd", decay: 0, tied: true, steps: 2 },
    ],
    compute,
    mount(place) {
      const { stage, data, words: texts } = place;
      const names = data.words;
      const table = cells(names.length, data.table[0].length, {
        side: names,
        digits: 3,
        label: texts.table,
      });
      const marks = names.map(() => html("td", { class: "tp-mark-cell" }));
      for (const [row, line] of table.all.entries()) line[0].parentElement?.append(marks[row]);
      const batch = html("p", { class: "tp-note" });
      const momentum = place.control("momentum");
      const next = () => place.set({ steps: place.state.steps + 1 });
      stage.append(
        html(
          "div",
          { class: "tp-controls" },
          ...["optimizer", "decay"].map((key) => place.control(key)),
          momentum,
          ...["tied", "steps"].map((key) => place.control(key)),
          html("button", { type: "button", class: "tp-step", onclick: next }, texts.step),
        ),
        part(texts.table, table.table),
        batch,
      );
      return (state) => {
        momentum.hidden = state.optimizer !== "sgd";
        const found = compute({ ...data, ...state, rate: 0.1 });
        table.update(found.table);
        for (const [row, mark] of marks.entries()) {
          const why = found.gradient[row] ? texts.gradient : texts.without;
          mark.textContent = found.moved[row] ? `${texts.moved} ${why}` : "";
          mark.parentElement?.classList.toggle("moved", found.moved[row]);
        }
        const ids = data.batches[(state.steps + data.batches.length - 1) % data.batches.length].ids;
        const seen = ids.map((/** @type {number} */ id) => names[id]).join(" ");
        batch.textContent = state.steps
          ? words(texts.batch, { step: state.steps, words: seen })
          : texts.before;
        const list = names
          .filter((/** @type {string} */ _, /** @type {number} */ row) => found.moved[row])
          .join(", ");
        place.say(words(texts.said, { step: state.steps, rows: list || texts.none }));
      };
    },
  });
});
