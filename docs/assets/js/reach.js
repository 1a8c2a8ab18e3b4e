// What is wider than its column scrolls by itself; a keyboard must be able to do that too. And
// Material makes the copy button of each code block a landmark, which is noise to a screen reader.
//
// What is far from the screen is not laid out yet (text.css), and asking for its width would do it:
// that waits until it comes near.
(() => {
  const WIDE =
    ".md-typeset pre > code, .md-typeset__scrollwrap, .md-typeset table, .formula, .drawing, .tp-part";

  /** @type {() => NodeListOf<HTMLElement>} */
  const all = () => document.querySelectorAll(WIDE);

  /** @param {HTMLElement} element */
  function reach(element) {
    if (element.scrollWidth > element.clientWidth) element.tabIndex = 0;
    else element.removeAttribute("tabindex");
  }

  function hush() {
    for (const bar of document.querySelectorAll(".md-code__nav")) bar.setAttribute("role", "none");
  }

  let asked = 0;
  function look() {
    cancelAnimationFrame(asked);
    asked = requestAnimationFrame(() => {
      for (const element of all()) {
        // A browser that does not know the question has all of them laid out.
        if (element.checkVisibility?.({ contentVisibilityAuto: true }) ?? true) reach(element);
      }
      hush();
    });
  }

  // A code block gets its button when it is seen.
  const seen = new IntersectionObserver(look);
  addEventListener("contentvisibilityautostatechange", look);
  addEventListener("resize", look);
  document$.subscribe(() => {
    requestAnimationFrame(() => {
      seen.disconnect();
      for (const element of all()) seen.observe(element);
    });
  });
})();
