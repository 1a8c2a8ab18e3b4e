// The way to the same place in another language, and one line that offers it on a first visit.
// In every language a page has the same path below its folder and the same heading ids. The header
// stays while instant navigation changes the page, so the address is worked out when it is needed.
(() => {
  const SWITCH = "[data-tp=switch]";
  const CHOICE = "language"; // kept in the browser once the reader has switched or dismissed

  /** @param {HTMLAnchorElement} link */
  function partner(link) {
    const { from = "", to = "" } = link.dataset; // the folders of the two languages
    const path = location.pathname.slice(__md_scope.pathname.length + from.length);
    return new URL(to + path, __md_scope).href + place();
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
      here = `#${encodeURIComponent(heading.id)}`;
    }
    return here;
  }

  /** @param {Element} element */
  function inSight(element) {
    const box = element.getBoundingClientRect();
    return box.bottom > 0 && box.top < innerHeight;
  }

  /** @param {Event} event */
  function refresh(event) {
    const link = event.target instanceof Element && event.target.closest(SWITCH);
    if (!(link instanceof HTMLAnchorElement) || document.querySelector("[data-tp=lost]")) return;
    link.href = partner(link);
    if (event.type === "click") __md_set(CHOICE, link.hreflang);
  }

  // The one of these languages that the reader would choose: who asks for zh-TW is served best by
  // zh-Hant, and better by zh-Hans than by English.
  /** @param {string[]} languages */
  function preferred(languages) {
    for (const tag of navigator.languages) {
      const { language, script } = new Intl.Locale(tag).maximize();
      const near = languages.filter((known) => new Intl.Locale(known).language === language);
      const same = near.find((known) => new Intl.Locale(known).maximize().script === script);
      if (near.length) return same ?? near[0];
    }
  }

  function chosen() {
    try {
      return __md_get(CHOICE);
    } catch {
      return null; // a browser that keeps nothing
    }
  }

  function offer() {
    const here = document.documentElement.lang;
    /** @type {NodeListOf<HTMLElement>} */
    const found = document.querySelectorAll("[data-tp=hint]");
    const hints = [...found];
    const best = preferred([here, ...hints.map((hint) => hint.lang)]);
    for (const hint of hints) {
      hint.hidden = chosen() !== null || hint.lang !== best;
      hint.querySelector("[data-tp=dismiss]")?.addEventListener("click", () => {
        __md_set(CHOICE, here);
        hint.hidden = true;
      });
    }
  }

  for (const type of ["pointerdown", "focusin", "click"]) {
    document.addEventListener(type, refresh, { capture: true });
  }
  document$.subscribe(() => setTimeout(offer)); // a task of its own: the tags take their time
})();
