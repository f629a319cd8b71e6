// One round, to be answered: by mouse, by keyboard, or by whoever reads the page aloud. An answer is held back for
// ten seconds, in which it can be undone; then it is sent, and it is final.

import { ask, fill, make, number, path } from "/static/common.js";

export const HELD_BACK = 10_000;

export class Answering {
  constructor({ place, toast, done, undone }) {
    this.place = place;
    this.toast = toast;
    this.done = done;
    this.undone = undone;
    this.round = null;
    this.held = null;
    toast.querySelector("button").addEventListener("click", () => this.undo());
    document.addEventListener("keydown", (event) => this.key(event));
    // Leaving the page means it: what is held back is sent.
    addEventListener("pagehide", () => this.flush(true));
  }

  show(name, round) {
    this.name = name;
    this.round = round;
    const byId = new Map(round.candidates.map((each) => [`${typeof each.id}:${each.id}`, each]));
    const members = round.members.map((id) => byId.get(`${typeof id}:${id}`));
    const items = members.map((each, i) => {
      const label = make("span", {}, make("span", { class: "name" }, String(each.id)), each.text ? make("span", { class: "text" }, each.text) : null);
      const key = make("kbd", { "aria-hidden": "true" }, i < 9 ? String(i + 1) : " ");
      const button = make("button", { type: "button", "data-member": i, onclick: () => this.give({ hit: each.id }, `picked ${each.id}`) }, key, label, make("span", { class: "score" }, number(each.score)));
      return make("li", {}, button);
    });
    const hidden = round.candidates.length - members.length;
    const none = make("button", { type: "button", id: "none", onclick: () => this.none() }, make("kbd", { "aria-hidden": "true" }, "0"), " None of these");
    const skip = make("button", { type: "button", id: "skip", onclick: () => this.give({ skip: true }, "skipped") }, make("kbd", { "aria-hidden": "true" }, "s"), " Skip");
    const words = hidden ? `${members.length} of ${round.candidates.length} candidates; the others are unlikely.` : `All ${members.length} candidates.`;
    fill(
      this.place,
      make("p", { class: "question", tabindex: "-1" }, round.question ?? `Round ${round.round_id}`),
      make("p", { class: "soft small" }, `Which one is right? ${words}`),
      items.length ? make("ol", { class: "pick" }, ...items) : make("p", {}, "No candidate is good enough."),
      make("p", { class: "buttons" }, none, skip),
    );
    this.place.querySelector(".question").focus({ preventScroll: true });
  }

  // With nothing hidden, "none of these" says that there is no right one at all: such a round leaves the count.
  none() {
    const hidden = this.round.candidates.length - this.round.members.length;
    this.give(hidden ? { miss: true } : { absent: true }, "none of these");
  }

  give(answer, words) {
    if (this.round === null) return;
    this.flush();
    const held = { name: this.name, round: this.round, answer };
    held.timer = setTimeout(() => this.flush(), HELD_BACK);
    this.held = held;
    this.toast.querySelector("span").textContent = `${words[0].toUpperCase()}${words.slice(1)}.`;
    this.toast.hidden = false;
    this.round = null;
    this.done(held.round);
  }

  undo() {
    if (this.held === null) return;
    clearTimeout(this.held.timer);
    const { name, round } = this.held;
    this.held = null;
    this.toast.hidden = true;
    this.undone(round);
    this.show(name, round);
  }

  async flush(leaving = false) {
    if (this.held === null) return;
    const { name, round, answer, timer } = this.held;
    clearTimeout(timer);
    this.held = null;
    this.toast.hidden = true;
    for (let pause = 500; ; pause = Math.min(2 * pause, 5000)) {
      try {
        await ask(path(name, "rounds", encodeURIComponent(round.round_id), "feedback"), { method: "PUT", body: answer, keepalive: leaving });
        return;
      } catch (error) {
        if (!(error instanceof TypeError)) return console.error(error); // refused: somebody else was faster
        await new Promise((resolve) => setTimeout(resolve, pause)); // out of reach: again
      }
    }
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || ["INPUT", "SELECT", "TEXTAREA"].includes(event.target.tagName)) return;
    const pick = /^[1-9]$/.test(event.key) ? this.place.querySelector(`[data-member="${event.key - 1}"]`) : null;
    const button = pick ?? { 0: this.place.querySelector("#none"), s: this.place.querySelector("#skip") }[event.key];
    if (event.key === "u") this.undo();
    else if (button && this.round !== null) button.click();
    else return;
    event.preventDefault();
  }
}
