// A stand-in for Worker, for pages opened from the file system: browsers start no worker there, and
// the search lives in one. The script runs in a hidden frame instead. Unlike the stand-in that
// Material would fetch from another host, it writes no inline script, so the page's security
// policy can stay strict. Material's search looks for the name IFrameWorker.
(function () {
  "use strict";
  if (location.protocol !== "file:") return;

  class IFrameWorker extends EventTarget {
    constructor(url) {
      super();
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      this.ready = new Promise((resolve) => {
        this.frame.addEventListener("load", () => resolve(this.start(url)), { once: true });
      });
      document.body.append(this.frame);
    }

    start(url) {
      const inside = this.frame.contentWindow;
      inside.postMessage = (data) =>
        this.dispatchEvent(new MessageEvent("message", { data: structuredClone(data) }));
      inside.importScripts = (...urls) =>
        urls.reduce((done, next) => done.then(() => load(inside, next)), Promise.resolve());
      return load(inside, url);
    }

    postMessage(data) {
      this.ready.then(() => {
        const message = new MessageEvent("message", { data: structuredClone(data) });
        this.frame.contentWindow.dispatchEvent(message);
      });
    }

    terminate() {
      this.frame.remove();
    }
  }

  function load(inside, url) {
    return new Promise((resolve, reject) => {
      const script = inside.document.createElement("script");
      script.src = url;
      script.onload = resolve;
      script.onerror = reject;
      inside.document.body.append(script);
    });
  }

  window.IFrameWorker = window.Worker = IFrameWorker;
})();
