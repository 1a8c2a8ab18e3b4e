// Instant navigation makes every address in a page absolute by `element.href = element.href`. On
// elements of an SVG that property cannot be set, and the navigation would stop with an error at
// the first figure. A setter that does nothing is enough: their addresses point into the page.
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
})();
