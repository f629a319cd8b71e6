/* Opened from a folder, a browser starts no workers, and the search lives in one. Run it in a hidden frame instead:
   it gets its script by a tag, its messages from this page, and gives its answers back. Served over HTTP, nothing changes. */
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      const frame = document.createElement("iframe");
      const inside = `<script>
        var importScripts = (...urls) => urls.reduce((done, url) => done.then(() => new Promise((loaded) => {
          const script = document.createElement("script");
          script.src = url;
          script.onload = loaded;
          document.body.append(script);
        })), Promise.resolve());
        var postMessage = (data) => parent.dispatchEvent(new MessageEvent("shortlist-worker", { data }));
      <\/script><body><script src="${url}"><\/script></body>`;
      frame.hidden = true;
      frame.srcdoc = inside;
      document.body.append(frame);
      this.frame = frame;
      this.ready = new Promise((loaded) => frame.addEventListener("load", loaded));
      window.addEventListener("shortlist-worker", ({ data }) => {
        const message = new MessageEvent("message", { data });
        if (this.onmessage) this.onmessage(message);
        this.dispatchEvent(message);
      });
    }

    postMessage(data) {
      this.ready.then(() => this.frame.contentWindow.dispatchEvent(new MessageEvent("message", { data })));
    }

    terminate() {
      this.frame.remove();
    }
  };
}
