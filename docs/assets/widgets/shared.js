// What the widgets share: their places on the page, their state in the address, their parts.
//
// A widget is a classic script that gives `tokpos.push` a function, which gets all this and calls
// `widget({...})`. Instant navigation runs the scripts of a page in any order, and again when it
// comes back: until this file is there, an array holds the functions, and everything here may be
// run twice.

/**
 * What may change in a widget, and what a control needs to know of it: a number between two
 * others, one of several options, a mark that is set or not, or a text.
 * @typedef {{start: number, min: number, max: number, step: number}} NumberField
 * @typedef {{start: string, options: readonly string[]}} OptionField
 * @typedef {{start: boolean}} MarkField
 * @typedef {{start: string, length: number}} TextField
 * @typedef {NumberField | OptionField | MarkField | TextField} Field
 *
 * @typedef {{[key: string]: any}} State  One value for each field.
 *
 * @typedef {object} Place  One widget on a page.
 * @property {HTMLElement} root
 * @property {HTMLElement} stage  Where the widget puts its parts.
 * @property {{[key: string]: string}} words  Its texts in the language of the page.
 * @property {any} data  What the lesson has computed for it.
 * @property {State} state
 * @property {(change: State) => void} set  Change the state; the widget is drawn anew.
 * @property {boolean} touched  Whether anybody has changed anything, or the address says something.
 * @property {(text: string, bad?: boolean) => void} say  In words what is to be seen now.
 * @property {(key: string, label?: string) => HTMLElement} control  The control of a field.
 *
 * @typedef {object} Widget
 * @property {string} name
 * @property {{[key: string]: Field}} fields
 * @property {readonly State[]} show  The steps of "show me".
 * @property {(input: any) => any} compute  What the tests compare with the library.
 * @property {(place: Place) => (state: State) => void} mount  Builds the parts, returns what draws.
 */

(() => {
  const early = window.tokpos ?? [];
  if (!Array.isArray(early)) return;

  const SVG = "http://www.w3.org/2000/svg";
  const STEP = 1100; // milliseconds between two steps of "show me"
  const PAUSE = 250; // milliseconds without a change before the address is written

  /** @type {Map<HTMLElement, {place: Place, widget: Widget, draw: () => void}>} */
  const mounted = new Map();

  /** @type {Map<Element, Widget>} */
  const ahead = new Map(); // not yet near the screen

  const near = new IntersectionObserver(
    (entries) => {
      for (const { target, isIntersecting } of entries) {
        const widget = ahead.get(target);
        if (widget && isIntersecting) mount(/** @type {HTMLElement} */ (target), widget);
      }
    },
    { rootMargin: "100% 0%" },
  );

  // Making elements

  /**
   * @param {Element} element
   * @param {{[name: string]: any}} attributes  `onclick` and the like are listeners.
   * @param {(Node | string)[]} children
   */
  function fill(element, attributes, children) {
    for (const [name, value] of Object.entries(attributes)) {
      if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
      else if (value === true) element.setAttribute(name, "");
      else if (value !== false && value !== undefined) element.setAttribute(name, String(value));
    }
    element.append(...children);
  }

  /**
   * @param {string} tag
   * @param {{[name: string]: any}} [attributes]
   * @param {...(Node | string)} children
   * @returns {any}
   */
  function html(tag, attributes = {}, ...children) {
    const element = document.createElement(tag);
    fill(element, attributes, children);
    return element;
  }

  /**
   * @param {string} tag
   * @param {{[name: string]: any}} [attributes]
   * @param {...(Node | string)} children
   * @returns {any}
   */
  function svg(tag, attributes = {}, ...children) {
    const element = document.createElementNS(SVG, tag);
    fill(element, attributes, children);
    return element;
  }

  /**
   * A table of numbers as colored cells. `update` writes new numbers into the same cells.
   * @param {number} rows
   * @param {number} columns
   * @param {{role?: string, digits?: number, side?: string[], label?: string}} how
   */
  function cells(rows, columns, { role = "token", digits = 2, side, label } = {}) {
    const body = html("tbody");
    /** @type {HTMLTableCellElement[][]} */
    const all = [];
    for (let row = 0; row < rows; row++) {
      const line = html("tr");
      if (side) line.append(html("th", { scope: "row" }, side[row]));
      all.push(Array.from({ length: columns }, () => html("td")));
      line.append(...all[row]);
      body.append(line);
    }
    const table = html("table", { class: `tp-cells tp-of-${role}`, "aria-label": label }, body);
    /**
     * @param {number[][]} values
     * @param {number} [largest]  What has the full color.
     */
    function update(values, largest = Math.max(1e-9, ...values.flat().map(Math.abs))) {
      for (let row = 0; row < rows; row++) {
        for (let column = 0; column < columns; column++) {
          const value = values[row][column];
          const cell = all[row][column];
          const text = number(value, digits);
          if (cell.textContent !== text) cell.textContent = text;
          cell.style.setProperty("--v", Math.min(1, Math.abs(value) / largest).toFixed(3));
          cell.classList.toggle("below", value < 0);
        }
      }
    }
    return { table, all, update };
  }

  /**
   * A map of numbers as colors: a pixel for each, which CSS makes larger.
   * @param {string} role
   * @param {string} label
   */
  function heat(role, label) {
    const canvas = html("canvas", { class: "tp-heat", role: "img", "aria-label": label });
    /**
     * @param {number[][]} values
     * @param {number} largest
     */
    function update(values, largest) {
      const style = getComputedStyle(canvas);
      const pen = canvas.getContext("2d");
      const [height, width] = [values.length, values[0].length];
      if (canvas.width !== width) canvas.width = width;
      if (canvas.height !== height) canvas.height = height;
      canvas.style.aspectRatio = `${width} / ${height}`;
      pen.clearRect(0, 0, width, height);
      for (const side of [1, -1]) {
        pen.fillStyle = style.getPropertyValue(`--tp-${side > 0 ? role : "segment"}`);
        for (const [row, line] of values.entries()) {
          for (const [column, value] of line.entries()) {
            if (value * side <= 0 || value === Number.NEGATIVE_INFINITY) continue;
            pen.globalAlpha = Math.min(1, Math.abs(value) / largest);
            pen.fillRect(column, row, 1, 1);
          }
        }
      }
    }
    return { canvas, update };
  }

  /**
   * A drawing with x to the right and y up, which a pointer can be dragged over.
   * @param {{x: [number, number], y: [number, number], width: number, height: number,
   *   label: string, drag?: (x: number, y: number, start: boolean) => void}} how
   */
  function plane({ x, y, width, height, label, drag }) {
    const picture = svg("svg", {
      viewBox: `0 0 ${width} ${height}`,
      style: `width: min(100%, ${width}px)`,
      class: drag ? "tp-plane tp-drag" : "tp-plane",
      role: "img",
      "aria-label": label,
    });
    const right = (/** @type {number} */ at) => ((at - x[0]) / (x[1] - x[0])) * width;
    const down = (/** @type {number} */ at) => height - ((at - y[0]) / (y[1] - y[0])) * height;
    if (drag) {
      const move = (/** @type {PointerEvent} */ event) => {
        if (event.type === "pointerdown") picture.setPointerCapture(event.pointerId);
        else if (!picture.hasPointerCapture(event.pointerId)) return;
        const box = picture.getBoundingClientRect();
        const [across, up] = [
          (event.clientX - box.x) / box.width,
          (event.clientY - box.y) / box.height,
        ];
        drag(
          x[0] + across * (x[1] - x[0]),
          y[1] - up * (y[1] - y[0]),
          event.type === "pointerdown",
        );
      };
      picture.addEventListener("mousedown", (/** @type {Event} */ event) => event.preventDefault());
      picture.addEventListener("pointerdown", move);
      picture.addEventListener("pointermove", move);
    }
    /** A line through points, as the `d` of a path. */
    const path = (/** @type {[number, number][]} */ points) =>
      points
        .map(([a, b], each) => `${each ? "L" : "M"}${right(a).toFixed(1)} ${down(b).toFixed(1)}`)
        .join("");
    return { picture, right, down, path };
  }

  /**
   * @param {string} caption
   * @param {...Node} content
   */
  function part(caption, ...content) {
    return html("div", { class: "tp-part" }, html("span", {}, caption), ...content);
  }

  /**
   * @param {number} value
   * @param {number} digits
   */
  function number(value, digits = 2) {
    if (value === Number.NEGATIVE_INFINITY) return "−∞";
    const text = value.toFixed(digits);
    return (Number(text) === 0 ? text.replace("-", "") : text).replace("-", "−");
  }

  /**
   * A text of the page's language with its fields filled: `{token}` is `values.token`.
   * @param {string} text
   * @param {{[key: string]: any}} values
   */
  function words(text, values) {
    return text.replace(/\{(\w+)\}/g, (field, key) => String(values[key] ?? field));
  }

  // The state and the address

  /**
   * @param {Field} field
   * @param {any} value  Whatever the address, a script or a control says.
   */
  function proper(field, value) {
    if (value === undefined || value === null) return field.start;
    if ("options" in field) return field.options.includes(value) ? value : field.start;
    if ("length" in field) return [...String(value)].slice(0, field.length).join("");
    if (!("min" in field)) return value === true || value === "1";
    if (value === "" || !Number.isFinite(Number(value))) return field.start;
    const steps = Math.round((Number(value) - field.min) / field.step);
    const inside = Math.min(field.max, Math.max(field.min, field.min + steps * field.step));
    return Number(inside.toFixed(6));
  }

  /** @param {Widget} widget */
  function fromAddress(widget) {
    const said = new URLSearchParams(location.search);
    /** @type {State} */
    const state = {};
    for (const [key, field] of Object.entries(widget.fields)) {
      state[key] = proper(field, said.get(`${widget.name}.${key}`));
    }
    return state;
  }

  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let waiting;

  function remember() {
    clearTimeout(waiting);
    waiting = setTimeout(() => {
      const address = new URL(location.href);
      for (const [root, { place, widget }] of mounted) {
        for (const [key, field] of Object.entries(root.isConnected ? widget.fields : {})) {
          const value = place.state[key];
          const name = `${widget.name}.${key}`;
          if (value === field.start) address.searchParams.delete(name);
          else address.searchParams.set(name, String(typeof value === "boolean" ? +value : value));
        }
      }
      if (address.href === location.href) return;
      try {
        history.replaceState(history.state, "", address);
      } catch {
        // A browser that lets nobody write the address of a file.
      }
    }, PAUSE);
  }

  // Controls

  /**
   * @param {Place} place
   * @param {string} key
   * @param {Field} field
   * @param {string} label
   */
  function makeControl(place, key, field, label) {
    if ("options" in field) {
      const names = field.options.map((value) =>
        html("option", { value }, place.words[`${key}_${value}`] ?? value),
      );
      const select = html(
        "select",
        { oninput: () => place.set({ [key]: select.value }) },
        ...names,
      );
      return labeled(label, select, (value) => {
        select.value = value;
      });
    }
    if ("min" in field) {
      const { min, max, step } = field;
      const shown = html("output");
      const digits = step < 1 ? Math.ceil(-Math.log10(step)) : 0;
      const move = () => place.set({ [key]: range.value });
      const range = html("input", { type: "range", min, max, step, oninput: move });
      return labeled(
        label,
        range,
        (value) => {
          range.value = value;
          shown.textContent = number(value, digits);
        },
        shown,
      );
    }
    const check =
      "length" in field
        ? html("input", {
            type: "text",
            spellcheck: "false",
            autocomplete: "off",
            maxlength: 2 * field.length,
          })
        : html("input", { type: "checkbox" });
    check.addEventListener("input", () => {
      place.set({ [key]: check.type === "text" ? check.value : check.checked });
    });
    return labeled(label, check, (value) => {
      if (check.type === "checkbox") check.checked = value;
      else if (check.value !== value) check.value = value;
    });
  }

  /**
   * @param {string} label
   * @param {HTMLElement} input
   * @param {(value: any) => void} update
   * @param {...Node} more
   */
  function labeled(label, input, update, ...more) {
    const named = html("label", {}, html("span", {}, label), input, ...more);
    return { element: /** @type {HTMLElement} */ (named), update };
  }

  // Places

  /**
   * @param {HTMLElement} root
   * @param {Widget} widget
   */
  function mount(root, widget) {
    const read = (/** @type {string} */ name) =>
      JSON.parse(
        /** @type {HTMLTemplateElement} */ (root.querySelector(`template.${name}`)).content
          .textContent || "null",
      );
    const stage = html("div", { class: "tp-stage" });
    const said = html("p", { class: "tp-said", role: "status" });
    /** @type {((state: State) => void)[]} */
    const controls = [];
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    let showing;
    let asked = false;

    /** @param {State} change */
    function apply(change) {
      place.touched = true;
      for (const [key, value] of Object.entries(change)) {
        place.state[key] = proper(widget.fields[key], value);
      }
      if (!asked) requestAnimationFrame(draw);
      asked = true;
      remember();
    }

    function draw() {
      asked = false;
      if (!root.isConnected) return;
      for (const update of controls) update(place.state);
      drawParts(place.state);
    }

    /** @param {readonly State[]} steps */
    function play([step, ...rest]) {
      apply(step);
      if (rest.length && root.isConnected) showing = setTimeout(() => play(rest), STEP);
    }

    function show() {
      clearTimeout(showing);
      const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
      play(still ? [Object.assign({}, ...widget.show)] : widget.show);
    }

    function reset() {
      clearTimeout(showing);
      apply(Object.fromEntries(Object.keys(widget.fields).map((key) => [key, undefined])));
    }

    /** @type {Place} */
    const place = {
      root,
      stage,
      words: read("words"),
      data: read("data"),
      state: fromAddress(widget),
      touched: location.search.includes(`${widget.name}.`),
      set(change) {
        clearTimeout(showing);
        apply(change);
      },
      say(text, bad = false) {
        if (said.textContent !== text) said.textContent = text;
        said.classList.toggle("bad", bad);
      },
      control(key, label = place.words[key] ?? key) {
        const { element, update } = makeControl(place, key, widget.fields[key], label);
        controls.push((state) => update(state[key]));
        return element;
      },
    };
    const button = (/** @type {string} */ key, /** @type {() => void} */ onclick) =>
      html("button", { type: "button", class: `tp-${key}`, onclick }, place.words[key]);
    const drawParts = widget.mount(place);
    const buttons = html(
      "div",
      { class: "tp-buttons" },
      button("show", show),
      button("reset", reset),
    );
    root.querySelector(".tp-seen")?.before(stage, said, buttons);
    root.classList.add("tp-live");
    near.unobserve(root);
    ahead.delete(root);
    mounted.set(root, { place, widget, draw });
    draw();
  }

  /**
   * Empty the widgets of pages that were left. Material holds on to every page that was shown; the
   * parts of a widget and their listeners need not stay with it.
   */
  function forget() {
    for (const root of [...mounted.keys()].filter((root) => !root.isConnected)) {
      root.replaceChildren();
      mounted.delete(root);
    }
    for (const root of [...ahead.keys()].filter((root) => !root.isConnected)) {
      near.unobserve(root);
      ahead.delete(root);
    }
  }

  /** @param {Widget} widget */
  function widget(widget) {
    kit.widgets[widget.name] = widget;
    for (const root of document.querySelectorAll(`[data-widget="${widget.name}"]`)) {
      if (!(root instanceof HTMLElement) || mounted.has(root)) continue;
      root.hidden = false;
      ahead.set(root, widget);
      near.observe(root);
    }
  }

  // Canvases take their colors when they are drawn; the other mode has other ones.
  new MutationObserver(() => {
    for (const { draw } of mounted.values()) draw();
  }).observe(document.body, { attributeFilter: ["data-md-color-scheme"] });

  // Another page takes the place of this one.
  new MutationObserver(forget).observe(document.body, { childList: true });

  /** @type {Kit} */
  const kit = {
    push: (define) => define(kit),
    widget,
    widgets: {},
    data: {},
    html,
    svg,
    cells,
    heat,
    plane,
    part,
    number,
    words,
  };
  window.tokpos = kit;
  early.forEach(kit.push);
})();
