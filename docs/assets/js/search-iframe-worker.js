// Two things about Material's search, and so before its own script.
//
// It loads its index, larger than many pages, and sets it up in a worker on every page that is opened.
// Here all of that waits until the reader turns to the search, or comes from one. (From the file
// system the index is a script that Material adds by itself; there only the set-up waits.)
//
// Where pages are opened from the file system, browsers start no worker, and the search lives in
// one. The script runs in a hidden frame instead. Unlike the stand-in that Material would fetch from
// another host, it writes no inline script, so the page's security policy can stay strict.
(() => {
  /** @type {Promise<void>} */
  const asked = new Promise((resolve) => {
    if (/[?&][hq]=/.test(location.search)) resolve();
    for (const turn of ["focusin", "pointerover"]) {
      addEventListener(turn, ({ target }) => {
        if (target instanceof Element && target.closest(".md-search, [for=__search]")) resolve();
      });
    }
  });

  class LaterRequest extends XMLHttpRequest {
    waits = false;

    /**
     * @param {string} method
     * @param {string | URL} url
     * @param {...any} more
     */
    open(method, url, ...more) {
      this.waits = String(url).endsWith("/search_index.json");
      // @ts-expect-error: it passes on what it got
      super.open(method, url, ...more);
    }

    /** @param {...any} body */
    send(...body) {
      if (this.waits) asked.then(() => super.send(...body));
      else super.send(...body);
    }
  }
  window.XMLHttpRequest = LaterRequest;

  class LaterWorker extends EventTarget {
    /** @param {string} url */
    constructor(url) {
      super();
      this.started = asked.then(() => {
        const worker = new RealWorker(url);
        worker.addEventListener("message", ({ data }) =>
          this.dispatchEvent(new MessageEvent("message", { data })),
        );
        return worker;
      });
    }

    /** @param {any} data */
    postMessage(data) {
      this.started.then((worker) => worker.postMessage(data));
    }

    terminate() {
      this.started.then((worker) => worker.terminate());
    }
  }
  const RealWorker = window.Worker;
  Object.assign(window, { Worker: LaterWorker });

  if (location.protocol !== "file:") return;

  class IFrameWorker extends EventTarget {
    /** @param {string} url */
    constructor(url) {
      super();
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      this.ready = new Promise((resolve) => {
        this.frame.addEventListener("load", () => resolve(this.start(url)), { once: true });
      });
      document.body.append(this.frame);
    }

    /** @param {string} url */
    start(url) {
      /** @type {any} */
      const inside = this.frame.contentWindow;
      inside.postMessage = (/** @type {any} */ data) =>
        this.dispatchEvent(new MessageEvent("message", { data: structuredClone(data) }));
      inside.importScripts = (/** @type {string[]} */ ...urls) =>
        urls.reduce((done, next) => done.then(() => load(inside, next)), Promise.resolve());
      return load(inside, url);
    }

    /** @param {any} data */
    postMessage(data) {
      Promise.all([this.ready, asked]).then(() => {
        const message = new MessageEvent("message", { data: structuredClone(data) });
        this.frame.contentWindow?.dispatchEvent(message);
      });
    }

    terminate() {
      this.frame.remove();
    }
  }

  /**
   * @param {Window} inside
   * @param {string} url
   * @returns {Promise<void>}
   */
  function load(inside, url) {
    return new Promise((resolve, reject) => {
      const script = inside.document.createElement("script");
      script.src = url;
      script.onload = () => resolve();
      script.onerror = reject;
      inside.document.body.append(script);
    });
  }

  Object.assign(window, { IFrameWorker, Worker: IFrameWorker });
})();
