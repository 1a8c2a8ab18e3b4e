// A hidden state that is moved over the table: every word's score follows.
window.tokpos ??= [];
window.tokpos.push(({ html, svg, plane, part, number, words, widget }) => {
  /**
   * @param {{table: number[][], hidden: number[]}} input
   * @returns {{scores: number[], probabilities: number[], best: number, nearest: number}}
   */
  function compute({ table, hidden }) {
    const scores = table.map((row) => row.reduce((sum, value, d) => sum + value * hidden[d], 0));
    const largest = Math.max(...scores);
    const powers = scores.map((score) => Math.exp(score - largest));
    const total = powers.reduce((sum, power) => sum + power, 0);
    const distances = table.map((row) => Math.hypot(...row.map((value, d) => value - hidden[d])));
    return {
      scores,
      probabilities: powers.map((power) => power / total),
      best: scores.indexOf(largest),
      nearest: distances.indexOf(Math.min(...distances)),
    };
  }

  const REACH = 3.6;

  widget({
    name: "tying",
    fields: {
      x: { start: 1.2, min: -REACH, max: REACH, step: 0.1 },
      y: { start: 0.3, min: -REACH, max: REACH, step: 0.1 },
    },
    show: [
      { x: 1.2, y: 0.3 },
      { x: 0.4, y: 0.6 },
      { x: -0.8, y: 0.9 },
      { x: 1.6, y: 0.2 },
    ],
    compute,
    mount(place) {
      const { stage, data, words: texts } = place;
      const map = plane({
        x: [-REACH, REACH],
        y: [-REACH, REACH],
        width: 260,
        height: 260,
        label: texts.map,
        drag: (x, y) => place.set({ x, y }),
      });
      const { right, down } = map;
      map.picture.append(
        svg("path", {
          class: "tp-line faint",
          d:
            map.path([
              [-REACH, 0],
              [REACH, 0],
            ]) +
            map.path([
              [0, -REACH],
              [0, REACH],
            ]),
        }),
        ...data.table.flatMap((/** @type {number[]} */ [x, y], /** @type {number} */ word) => [
          svg("line", {
            class: "tp-line token",
            x1: right(0),
            y1: down(0),
            x2: right(x),
            y2: down(y),
          }),
          svg(
            "text",
            { class: "tp-label token", x: right(1.12 * x), y: down(1.12 * y) },
            data.words[word],
          ),
        ]),
      );
      const hand = svg("line", { class: "tp-line query", x1: right(0), y1: down(0) });
      const tip = svg("circle", { class: "tp-dot query", r: 6 });
      map.picture.append(hand, tip);
      const rows = data.words.map((/** @type {string} */ word) => {
        const [bar, score, share] = [html("i"), html("td"), html("td")];
        const line = html(
          "tr",
          {},
          html("th", { scope: "row" }, word),
          score,
          html("td", { class: "tp-bar" }, bar),
          share,
        );
        return { line, bar, score, share };
      });
      stage.append(
        html("div", { class: "tp-controls" }, place.control("x"), place.control("y")),
        html(
          "div",
          { class: "tp-row" },
          part(texts.map, map.picture),
          part(
            texts.scores,
            html(
              "table",
              { class: "tp-scores", "aria-label": texts.scores },
              html("tbody", {}, ...rows.map((/** @type {any} */ row) => row.line)),
            ),
          ),
        ),
      );
      return ({ x, y }) => {
        const found = compute({ table: data.table, hidden: [x, y] });
        hand.setAttribute("x2", right(x));
        hand.setAttribute("y2", down(y));
        tip.setAttribute("cx", right(x));
        tip.setAttribute("cy", down(y));
        for (const [word, { line, bar, score, share }] of rows.entries()) {
          score.textContent = number(found.scores[word]);
          share.textContent = `${number(100 * found.probabilities[word], 1)}%`;
          bar.style.width = `${(100 * found.probabilities[word]).toFixed(1)}%`;
          line.classList.toggle("lit", word === found.best);
        }
        const same = found.best === found.nearest;
        place.say(
          words(same ? texts.said : texts.farther, {
            best: data.words[found.best],
            nearest: data.words[found.nearest],
          }),
        );
      };
    },
  });
});
