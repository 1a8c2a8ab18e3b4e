// The way to the same place in the other language, and one line that offers it on a first visit.
// Both pages have the same path below their site and the same heading ids. The header stays while
// instant navigation changes the page, so the address is worked out when it is needed.
(function () {
  "use strict";
  const SWITCH = "[data-tp=switch]";
  const CHOICE = "language"; // kept in the browser once the reader has switched or dismissed

  function partner() {
    const site = __md_scope;
    const path = location.pathname.slice(site.pathname.length);
    const other = path.startsWith("zh/") ? path.slice(3) : "zh/" + path;
    return new URL(other, site).href + place();
  }

  // The hash of what is being read: the target of the address while it is in sight, or else the
  // last heading above the middle of the window; nothing at the top of the page.
  function place() {
    const id = decodeURIComponent(location.hash.slice(1));
    const target = id && document.getElementById(id);
    if (target && inSight(target)) return location.hash;
    if (scrollY < 100) return "";
    let here = "";
    for (const heading of document.querySelectorAll("article :is(h2, h3, h4, h5, h6)[id]")) {
      if (heading.getBoundingClientRect().top > innerHeight / 2) break;
      here = "#" + encodeURIComponent(heading.id);
    }
    return here;
  }

  function inSight(element) {
    const box = element.getBoundingClientRect();
    return box.bottom > 0 && box.top < innerHeight;
  }

  function refresh(event) {
    const link = event.target instanceof Element && event.target.closest(SWITCH);
    if (!link || document.querySelector("[data-tp=lost]")) return;
    link.href = partner();
    if (event.type === "click") __md_set(CHOICE, link.hreflang);
  }

  function preferred() {
    const known = navigator.languages.map((tag) => tag.slice(0, 2).toLowerCase());
    return known.find((code) => code === "en" || code === "zh");
  }

  function chosen() {
    try {
      return __md_get(CHOICE);
    } catch {
      return null; // a browser that keeps nothing
    }
  }

  function offer() {
    const hint = document.querySelector("[data-tp=hint]");
    if (!hint) return;
    hint.hidden = chosen() !== null || preferred() !== hint.lang.slice(0, 2);
    hint.querySelector("[data-tp=dismiss]").addEventListener("click", () => {
      __md_set(CHOICE, document.documentElement.lang);
      hint.hidden = true;
    });
  }

  for (const type of ["pointerdown", "focusin", "click"]) {
    document.addEventListener(type, refresh, { capture: true });
  }
  document$.subscribe(offer);
})();
