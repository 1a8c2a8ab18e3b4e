// What is wider than its column scrolls by itself; a keyboard must be able to do that too. And
// Material makes the copy button of each code block a landmark, which is noise to a screen reader.
(function () {
  "use strict";
  const WIDE =
    ".md-typeset pre > code, .md-typeset__scrollwrap, .md-typeset table, .formula, .drawing";

  function reach() {
    for (const element of document.querySelectorAll(WIDE)) {
      if (element.scrollWidth > element.clientWidth) element.tabIndex = 0;
      else element.removeAttribute("tabindex");
    }
  }

  function hush() {
    for (const bar of document.querySelectorAll(".md-code__nav")) bar.setAttribute("role", "none");
  }

  addEventListener("resize", reach);
  document$.subscribe(() => {
    requestAnimationFrame(() => {
      reach();
      hush();
    });
  });
})();
