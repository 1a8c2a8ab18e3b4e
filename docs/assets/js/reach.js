// What is wider than its column scrolls by itself; a keyboard must be able to do that too. And
// Material makes the copy button of each code block a landmark, which is noise to a screen reader.
(() => {
  const WIDE =
    ".md-typeset pre > code, .md-typeset__scrollwrap, .md-typeset table, .formula, .drawing, .tp-part";

  function reach() {
    /** @type {NodeListOf<HTMLElement>} */
    const wide = document.querySelectorAll(WIDE);
    for (const element of wide) {
      // What is far from the screen is not laid out yet (text.css); asking for its width would do it.
      if (element.checkVisibility?.({ contentVisibilityAuto: true }) === false) continue;
      if (element.scrollWidth > element.clientWidth) element.tabIndex = 0;
      else element.removeAttribute("tabindex");
    }
  }

  function hush() {
    for (const bar of document.querySelectorAll(".md-code__nav")) bar.setAttribute("role", "none");
  }

  let asked = 0;
  function look() {
    cancelAnimationFrame(asked);
    asked = requestAnimationFrame(() => {
      reach();
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
      for (const element of document.querySelectorAll(WIDE)) seen.observe(element);
    });
  });
})();
