// Marks the lessons that were read to their end, in the list of the home page and in the
// navigation. The marks are kept in this browser and nowhere else; both languages share them.
(() => {
  const KEY = "tokpos.read";
  const LESSON = /\/lessons\/([\w-]+)\.html$/;

  function load() {
    try {
      return new Set(JSON.parse(localStorage.getItem(KEY) ?? "[]"));
    } catch {
      return new Set(); // a browser that keeps nothing, or what another page has written
    }
  }

  /** @param {Set<string>} read */
  function save(read) {
    try {
      localStorage.setItem(KEY, JSON.stringify([...read].sort()));
    } catch {
      // Then the marks last as long as the page.
    }
  }

  /** @param {Set<string>} read */
  function mark(read) {
    /** @type {NodeListOf<HTMLAnchorElement>} */
    const links = document.querySelectorAll("article td a, .md-nav--primary a");
    for (const link of links) {
      const name = LESSON.exec(link.pathname)?.[1];
      if (name) link.classList.toggle("tp-read", read.has(name));
    }
  }

  /** @type {IntersectionObserver | undefined} */
  let watching;
  document$.subscribe(() => {
    watching?.disconnect();
    const read = load();
    mark(read);
    const name = LESSON.exec(location.pathname)?.[1];
    const last = [...document.querySelectorAll("article h2[id]")].at(-1);
    if (!name || !last || read.has(name)) return;
    watching = new IntersectionObserver((entries) => {
      if (!entries.some((entry) => entry.isIntersecting)) return;
      watching?.disconnect();
      read.add(name);
      save(read);
      mark(read);
    });
    watching.observe(last);
  });
})();
