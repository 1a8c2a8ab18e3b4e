// One thing about Material's palette, and so before its own script.
//
// It tells the browser the scheme of colors in a meta element, and for each of its two changes
// browsers style the whole page again. Here the style sheet tells it: frame.css.
(() => {
  const { head } = document;
  const append = head.appendChild;
  head.appendChild = (/** @type {any} */ node) =>
    node.name === "color-scheme" ? node : append.call(head, node);
})();
