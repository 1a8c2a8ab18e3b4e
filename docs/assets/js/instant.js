// Two things about Material's instant navigation, and so before its own script.
//
// It makes every address in a page absolute by `element.href = element.href`. On elements of an SVG
// that property cannot be set, and the navigation would stop with an error at the first figure. A
// setter that does nothing is enough: their addresses point into the page.
//
// Where pages are opened from the file system there is none, and asking for it ends everything that
// Material does while the reader scrolls: the sidebars would run over the footer.
(() => {
  const LINKED = [
    SVGUseElement,
    SVGImageElement,
    SVGAElement,
    SVGGradientElement,
    SVGPatternElement,
  ];
  for (const { prototype } of LINKED) {
    const property = Object.getOwnPropertyDescriptor(prototype, "href");
    if (property) Object.defineProperty(prototype, "href", { ...property, set() {} });
  }

  const settings = document.getElementById("__config");
  if (location.protocol !== "file:" || !settings) return;
  const config = JSON.parse(settings.textContent ?? "");
  config.features = config.features.filter((/** @type {string} */ name) => !/instant/.test(name));
  settings.textContent = JSON.stringify(config);
})();
