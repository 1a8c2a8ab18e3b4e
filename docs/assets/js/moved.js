// At an address whose page has moved (docs/moved.yml): go to the new one, in the place of the old
// one in the history, and keep the query and the place in the page.
(() => {
  const link = document.querySelector("[data-tp=moved]");
  if (!(link instanceof HTMLAnchorElement)) return;
  link.search = location.search;
  link.hash = location.hash;
  location.replace(link.href);
})();
