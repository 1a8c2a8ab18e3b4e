// A text cut by the real WordPiece of BERT or the real byte-level BPE of GPT-2, in the browser.
window.tokpos ??= [];
window.tokpos.push(({ html, part, words, widget, data }) => {
  /** @typedef {{text: string, id: number, bytes?: number[], from?: number, to?: number}} Token */

  // WordPiece: clean, set Chinese apart, lower, strip accents, split at punctuation, longest first.

  const CHINESE =
    /[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\u{20000}-\u{2a6df}\u{2a700}-\u{2b73f}\u{2b740}-\u{2b81f}\u{2b820}-\u{2ceaf}\u{2f800}-\u{2fa1f}]/gu;
  const SPECIAL = /(\[(?:PAD|UNK|CLS|SEP|MASK)\])/;
  const PUNCTUATION = /[!-/:-@[-`{-~\p{P}]/u;

  /** @param {string} text */
  function wordsOf(text) {
    const clean = text
      .replace(/[\t\n\r\p{Zs}]/gu, " ")
      .replace(/[\0\ufffd\p{Cc}\p{Cf}\p{Co}\p{Cn}]/gu, "")
      .replace(CHINESE, " $& ")
      .toLowerCase()
      .normalize("NFD")
      .replace(/\p{Mn}/gu, "");
    /** @type {string[]} */
    const found = [];
    for (const run of clean.split(" ")) {
      let word = "";
      for (const character of run) {
        if (!PUNCTUATION.test(character)) word += character;
        else {
          if (word) found.push(word);
          found.push(character);
          word = "";
        }
      }
      if (word) found.push(word);
    }
    return found;
  }

  /**
   * @param {string} word
   * @param {Map<string, number>} vocabulary
   * @returns {Token[] | null}  Nothing where a piece is missing or the word is too long.
   */
  function piecesOf(word, vocabulary) {
    const letters = [...word];
    if (letters.length > 100) return null;
    /** @type {Token[]} */
    const found = [];
    let start = 0;
    while (start < letters.length) {
      let end = letters.length;
      let text = "";
      for (; end > start; end--) {
        text = (start ? "##" : "") + letters.slice(start, end).join("");
        if (vocabulary.has(text)) break;
      }
      if (end === start) return null;
      found.push({ text, id: vocabulary.get(text) ?? -1 });
      start = end;
    }
    return found;
  }

  /** @type {Map<string, number>} */
  let wordpieces;

  /**
   * @param {string} text
   * @param {string} second
   */
  function wordpiece(text, second) {
    wordpieces ??= new Map(
      data.wordpiece
        .split("\n")
        .map((/** @type {string} */ piece, /** @type {number} */ id) => [piece, id]),
    );
    const special = (/** @type {string} */ name) => ({
      text: name,
      id: wordpieces.get(name) ?? -1,
    });
    /** @type {string[]} */
    const unknown = [];
    const cut = (/** @type {string} */ part) =>
      part.split(SPECIAL).flatMap((run, each) => (each % 2 ? [special(run)] : cutRun(run)));
    const cutRun = (/** @type {string} */ run) =>
      wordsOf(run).flatMap((word) => {
        const pieces = piecesOf(word, wordpieces);
        if (!pieces) unknown.push(word);
        return pieces ?? [special("[UNK]")];
      });
    const first = [special("[CLS]"), ...cut(text), special("[SEP]")];
    const more = second ? [...cut(second), special("[SEP]")] : [];
    return {
      tokens: [...first, ...more],
      types: [...first.map(() => 0), ...more.map(() => 1)],
      unknown,
    };
  }

  // Byte-level BPE: split, bytes as letters, merge the earliest learned pair first.

  const PATTERN = /'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+/gu;

  /** The letter that stands for each byte, and the byte of each letter. */
  const letters = (() => {
    const shown = [...Array(256).keys()].filter(
      (byte) => (byte > 32 && byte < 127) || (byte > 160 && byte !== 173),
    );
    const hidden = [...Array(256).keys()].filter((byte) => !shown.includes(byte));
    /** @type {string[]} */
    const of = [];
    for (const byte of shown) of[byte] = String.fromCharCode(byte);
    for (const [each, byte] of hidden.entries()) of[byte] = String.fromCharCode(256 + each);
    return {
      of,
      order: [...shown, ...hidden],
      byte: new Map(of.map((letter, byte) => [letter, byte])),
    };
  })();

  /** @type {{rank: Map<string, number>, id: Map<string, number>}} */
  let merges;

  function readMerges() {
    const lines = data.bytes.split("\n");
    const id = new Map(letters.order.map((byte, each) => [letters.of[byte], each]));
    const rank = new Map();
    for (const [each, line] of lines.entries()) {
      rank.set(line, each);
      id.set(line.replace(" ", ""), 256 + each);
    }
    return { rank, id };
  }

  /** @param {string} text */
  function bytes(text) {
    merges ??= readMerges();
    const encoder = new TextEncoder();
    /** @type {Token[]} */
    const tokens = [];
    let place = 0;
    for (const [run] of text.matchAll(PATTERN)) {
      let parts = [...encoder.encode(run)].map((byte) => letters.of[byte]);
      for (;;) {
        const ranks = parts
          .slice(1)
          .map((part, each) => merges.rank.get(`${parts[each]} ${part}`) ?? Infinity);
        const best = Math.min(...ranks);
        if (best === Infinity || !ranks.length) break;
        /** @type {string[]} */
        const joined = [];
        for (let each = 0; each < parts.length; each++) {
          if (ranks[each] === best) joined.push(parts[each] + parts[++each]);
          else joined.push(parts[each]);
        }
        parts = joined;
      }
      for (const part of parts) {
        const own = [...part].map((letter) => letters.byte.get(letter) ?? 0);
        tokens.push({
          text: part,
          id: merges.id.get(part) ?? -1,
          bytes: own,
          from: place,
          to: place + own.length,
        });
        place += own.length;
      }
    }
    return { tokens, types: tokens.map(() => 0), unknown: [] };
  }

  /**
   * @param {{kind: string, text: string, second?: string}} input
   * @returns {{tokens: Token[], types: number[], unknown: string[]}}
   */
  function compute({ kind, text, second = "" }) {
    const whole = text.toWellFormed ? text.toWellFormed() : text;
    return kind === "bytes" ? bytes(whole) : wordpiece(whole, second);
  }

  /**
   * Tokens of bytes by the characters that they are pieces of: a run of tokens that ends where a
   * character ends.
   * @param {string} text
   * @param {Token[]} tokens
   */
  function grouped(text, tokens) {
    const ends = new Map();
    let place = 0;
    for (const character of text) {
      place += new TextEncoder().encode(character).length;
      ends.set(place, character);
    }
    /** @type {{text: string, tokens: Token[]}[]} */
    const groups = [];
    let open = true;
    for (const token of tokens) {
      if (open) groups.push({ text: "", tokens: [] });
      groups[groups.length - 1].tokens.push(token);
      open = ends.has(token.to);
    }
    const decoder = new TextDecoder();
    for (const group of groups) {
      group.text = decoder.decode(
        new Uint8Array(group.tokens.flatMap((token) => token.bytes ?? [])),
      );
    }
    return groups;
  }

  // The vocabularies are loaded when they are first asked for.

  /** @type {{[kind: string]: Promise<void>}} */
  const loads = {};

  /**
   * @param {string} kind
   * @param {string} folder
   */
  function load(kind, folder) {
    loads[kind] ??= new Promise((done, failed) => {
      const script = html("script", {
        src: `${folder}data/${kind}.js`,
        onload: () => done(),
        onerror: () => {
          delete loads[kind];
          script.remove();
          failed();
        },
      });
      document.head.append(script);
    });
    return loads[kind];
  }

  widget({
    name: "tokenizer",
    fields: {
      kind: { start: "wordpiece", options: ["wordpiece", "bytes"] },
      text: { start: "My cat likes embeddings, 我喜欢猫。", length: 200 },
      second: { start: "", length: 200 },
    },
    show: [
      { kind: "wordpiece", text: "unaffable", second: "" },
      { kind: "wordpiece", text: "我喜欢😀", second: "你呢？" },
      { kind: "bytes", text: "我喜欢😀", second: "" },
    ],
    compute,
    mount(place) {
      const { stage, words: texts, root } = place;
      const list = html("ol", { class: "tp-tokens", "aria-label": texts.tokens });
      const note = html("p", { class: "tp-note" });
      const second = place.control("second");
      const start = html(
        "button",
        { type: "button", class: "tp-load", onclick: () => place.set({}) },
        texts.load,
      );
      stage.append(
        html("div", { class: "tp-controls" }, place.control("kind"), place.control("text"), second),
        start,
        part(texts.tokens, list),
        note,
      );

      return (state) => {
        second.hidden = state.kind === "bytes";
        if (!place.touched) return;
        if (data[state.kind]) {
          start.hidden = true;
          drawTokens(state);
          return;
        }
        start.disabled = true;
        start.textContent = texts.loading;
        load(state.kind, root.dataset.folder ?? "").then(
          () => place.set({}),
          () => {
            start.hidden = start.disabled = false;
            start.textContent = texts.failed;
          },
        );
      };

      /** @param {State} state */
      function drawTokens(state) {
        const found = compute(/** @type {any} */ (state));
        const chip = (
          /** @type {Token} */ token,
          /** @type {number} */ type,
          /** @type {string} */ shown,
        ) =>
          html(
            "span",
            {
              class: `tp-token${type ? " second" : ""}${token.text === "[UNK]" ? " unknown" : ""}`,
            },
            html("b", {}, shown),
            html("span", {}, String(token.id)),
            state.second && state.kind === "wordpiece" ? html("small", {}, String(type)) : "",
          );
        const hex = (/** @type {number} */ byte) =>
          byte.toString(16).toUpperCase().padStart(2, "0");
        const items =
          state.kind === "bytes"
            ? grouped(state.text, found.tokens).map(({ text, tokens }) =>
                html(
                  "li",
                  {},
                  tokens.length > 1 ? html("i", {}, text) : "",
                  ...tokens.map((token) =>
                    chip(
                      token,
                      0,
                      tokens.length > 1
                        ? (token.bytes ?? []).map(hex).join(" ")
                        : text.replace(/ /g, "␣"),
                    ),
                  ),
                ),
              )
            : found.tokens.map((token, each) =>
                html("li", {}, chip(token, found.types[each], token.text)),
              );
        list.replaceChildren(...items);
        const missing = found.unknown.map((word) => `“${word}”`).join(" ");
        note.textContent = missing ? words(texts.unknown, { words: missing }) : "";
        place.say(
          words(texts.said, {
            count: found.tokens.length,
            ids: found.tokens.map(({ id }) => id).join(", "),
          }),
        );
      }
    },
  });
});
