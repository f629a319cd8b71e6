// One round, to be answered: by mouse, by keyboard, or with a screen reader. Each answer is held back for ten
// seconds, in which it can be undone; then it is sent, and it is final. What cannot be saved is sent again.

import { Problem, ask, fill, make, path, scoreLines } from "/static/common.js";

export const HELD_BACK = 10_000;
const LATER = new Set([429, 502, 503, 504]); // a 500 does not heal by waiting: it is told

// Which answers a list offers. "Not in this list" is always there and always means a miss, so that what people say does
// not change when lists become shorter. "There is none" takes a second step that is the same for short and for complete
// lists: look through everything, then say so. Of a truncated list, or of an empty search, nobody can see everything.
export function offered({ truncated, empty = false }, opened) {
  return ["miss", ...(truncated || empty ? [] : [opened ? "absent" : "look"]), "skip"];
}

export class Answering {
  // `done` is called when a round was answered, `undone` when it is to be answered again, `saved` when the number of
  // answers saved or held back has changed.
  constructor({ place, toast, unsaved, done, undone, saved = () => {} }) {
    Object.assign(this, { place, toast, unsaved, done, undone, saved });
    this.round = null;
    this.held = []; // given, and can be undone
    this.failing = new Set(); // sent, and not saved yet
    this.refusal = "";
    toast.querySelector("button").addEventListener("click", () => this.undo());
    document.addEventListener("keydown", (event) => this.key(event));
    // Leaving the page means it: what is held back is sent. What could not be saved is asked about.
    addEventListener("beforeunload", (event) => this.failing.size > 0 && event.preventDefault());
    addEventListener("pagehide", () => {
      this.held.slice().forEach((each) => this.send(each, true));
      this.failing.forEach((each) => this.put(each, true).catch(() => {}));
    });
  }

  get pending() {
    return this.held.length + this.failing.size;
  }

  show(name, round, opened = false) {
    this.name = name;
    this.round = round;
    const byId = new Map(round.candidates.map((each) => [`${typeof each.id}:${each.id}`, each]));
    const members = round.members.map((id) => byId.get(`${typeof id}:${id}`));
    const others = round.candidates.filter((each) => !each.shown).sort((a, b) => b.comparable - a.comparable);
    const all = round.candidates.length;
    const item = (each, i, give) => {
      const label = make("span", {}, make("span", { class: "name" }, String(each.id)), each.text ? make("span", { class: "text" }, each.text) : null);
      const key = make("kbd", { "aria-hidden": "true" }, i < 9 ? String(i + 1) : " ");
      return make("li", {}, make("button", { type: "button", "data-member": i, onclick: give }, key, label, make("span", { class: each.score === null ? "score several" : "score" }, ...scoreLines(each).map((line) => make("span", {}, line)))));
    };
    const list = members.map((each, i) => item(each, i, () => this.give({ hit: each.id }, `picked ${each.id}`)));
    const rest = others.map((each) => item(each, "other", () => this.give({ miss: true }, `missed ${each.id}: it was not in the list`)));
    const button = (id, key, words, onclick) => make("button", { type: "button", id, onclick }, make("kbd", { "aria-hidden": "true" }, key), ` ${words}`);
    const buttons = {
      miss: () => button("miss", "0", "Not in this list", () => this.give({ miss: true }, "not in this list")),
      skip: () => button("skip", "s", "Skip", () => this.give({ skip: true }, "skipped: counts as not found")),
      look: () => button("look", "n", "There is none …", () => this.show(name, round, true)),
      absent: () => button("absent", "n", `I looked through all ${all}: there is none`, () => this.give({ absent: true }, "there is none")),
    };
    const words = others.length ? `${members.length} of ${all} candidates; the other ${others.length} are less likely.` : `All ${all} candidates.`;
    fill(
      this.place,
      make("p", { class: "question", tabindex: "-1" }, round.question ?? `Round ${round.round_id}`),
      make("p", { class: "soft small" }, all ? `Which one is right? ${words}` : "The search found nothing."),
      round.truncated ? make("p", { class: "soft small" }, "Candidates may be missing here: say that it is not in this list if you do not find it.") : "",
      list.length ? make("ol", { class: "pick" }, ...list) : make("p", {}, all ? "No candidate reaches the threshold." : ""),
      opened && rest.length ? make("p", { class: "soft small" }, `The other ${rest.length}. If it is one of these, pick it: the list has missed it.`) : "",
      opened && rest.length ? make("ol", { class: "pick", id: "others" }, ...rest) : "",
      make("p", { class: "buttons" }, ...offered({ ...round, empty: all === 0 }, opened).map((each) => buttons[each]())),
    );
    this.place.querySelector(opened ? "#absent" : ".question").focus({ preventScroll: !opened });
  }

  give(answer, words) {
    if (this.round === null) return;
    const held = { name: this.name, round: this.round, answer, words };
    held.timer = setTimeout(() => this.send(held), HELD_BACK);
    this.held.push(held);
    this.round = null;
    this.refusal = "";
    this.showState();
    this.done(held.round);
  }

  showState() {
    const last = this.held.at(-1);
    this.toast.hidden = last === undefined;
    if (last) this.toast.querySelector("span").textContent = `${last.words[0].toUpperCase()}${last.words.slice(1)}.`;
    const count = this.failing.size;
    const waiting = count ? `${count} answer${count === 1 ? " is" : "s are"} not saved yet: trying again. Keep this page open.` : "";
    this.unsaved.textContent = [this.refusal, waiting].filter(Boolean).join(" ");
    this.saved();
  }

  undo() {
    const held = this.held.pop();
    if (held === undefined) return;
    clearTimeout(held.timer);
    this.undone(held.round);
    this.show(held.name, held.round);
    this.showState();
  }

  put({ name, round, answer }, leaving) {
    return ask(path(name, "rounds", encodeURIComponent(round.round_id), "feedback"), { method: "PUT", body: answer, keepalive: leaving });
  }

  async send(held, leaving = false) {
    clearTimeout(held.timer);
    this.held = this.held.filter((each) => each !== held);
    for (let pause = 500; ; pause = Math.min(2 * pause, 5000)) {
      try {
        await this.put(held, leaving);
        break;
      } catch (error) {
        if (error instanceof Problem && !LATER.has(error.status)) {
          this.refuse(held, error);
          break;
        }
        this.failing.add(held);
        this.showState();
        await new Promise((resolve) => setTimeout(resolve, pause));
      }
    }
    this.failing.delete(held);
    this.showState();
  }

  // The service has the last word: somebody else was faster, the round is gone, or the key may not do this.
  refuse(held, error) {
    this.refusal = `Your answer to “${held.round.question ?? `round ${held.round.round_id}`}” was not taken: ${error.message}.`;
    if (error.status === 403) this.undone(held.round);
  }

  key(event) {
    if (event.repeat || event.ctrlKey || event.metaKey || event.altKey || ["INPUT", "SELECT", "TEXTAREA"].includes(event.target.tagName)) return;
    const pick = /^[1-9]$/.test(event.key) ? `[data-member="${event.key - 1}"]` : { 0: "#miss", n: "#look, #absent", s: "#skip" }[event.key];
    const button = pick ? this.place.querySelector(pick) : null;
    if (event.key === "u") this.undo();
    else if (button && this.round !== null) button.click();
    else return;
    event.preventDefault();
  }
}
