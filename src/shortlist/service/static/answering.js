// One round, to be answered: by mouse, by keyboard, or with a screen reader. Each answer is held back for ten
// seconds, in which it can be undone; then it is sent, and it is final. What cannot be saved is sent again.

import { Problem, ask, fill, make, path, scoreLines } from "/static/common.js";
import { Finding, findBox } from "/static/finding.js";

export const HELD_BACK = 10_000;
const LATER = new Set([429, 502, 503, 504]); // a 500 does not heal by waiting: it is told
const GONE = new Set([404, 410]); // somebody else has answered it

// From how many candidates on there is a box to find one in.
const MANY = 16;
const ROOM = 96; // pixels below the buttons that the words about the last answer need

// Which answers a list offers. "Not in this list" is always there and always means a miss, so that what people say does
// not change when lists become shorter. "There is none" takes two steps that are the same for short and for complete
// lists: look through everything, then say so. Where some are hidden, the first step shows them. Of what a search left
// out, or of an empty search, nobody can see everything.
export function offered({ truncated, empty = false, hidden = 0 }, opened) {
  const none = hidden ? ["look"] : truncated || empty ? [] : [opened ? "absent" : "look"];
  return [...(hidden ? ["more"] : []), "miss", ...none, "skip"];
}

// The candidates that are shown, in the order given: an explored list has a random one, and must keep it.
function shownOf({ candidates, members }) {
  const byId = new Map(candidates.map((each) => [`${typeof each.id}:${each.id}`, each]));
  return members.map((id) => byId.get(`${typeof id}:${id}`));
}

function words({ candidates, members, first, explored }) {
  const all = candidates.length;
  const hidden = all - members.length;
  if (all === 0) return "The search found nothing.";
  if (hidden) return `Which one is right? ${members.length} of ${all} candidates; the other ${hidden} are less likely.`;
  if (explored) return `Which one is right? All ${all} candidates, in random order.`;
  return `Which one is right? All ${all} candidates${first === null ? "" : first ? `; the list had the first ${first}` : "; the list had none of them"}.`;
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
    this.opened = this.opening = false;
    new ResizeObserver(() => this.keepOff()).observe(place);
    addEventListener("scroll", () => this.keepOff(), { passive: true });
    toast.querySelector("button").addEventListener("click", () => this.undo());
    document.addEventListener("keydown", (event) => this.key(event));
    // Leaving the page means it: what is held back is sent. What could not be saved is asked about.
    addEventListener("beforeunload", (event) => this.failing.size > 0 && event.preventDefault());
    addEventListener("pagehide", () => {
      this.held.slice().forEach((each) => this.send(each, true));
      this.failing.forEach((each) => this.put(each, true).catch(() => {}));
    });
  }

  // The buttons stay in sight, so what can be undone is said below them where there is room, and above them elsewhere.
  keepOff() {
    const { top, bottom } = this.place.querySelector(".dock")?.getBoundingClientRect() ?? { top: 0, bottom: 0 };
    document.documentElement.style.setProperty("--dock", `${innerHeight - bottom < ROOM ? innerHeight - top : 0}px`);
  }

  get pending() {
    return this.held.length + this.failing.size;
  }

  // Shows a round; `opened` once somebody has asked to see everything, `focus` is where to go on: the first of these that is there.
  show(name, round, { opened = false, focus = [".question"] } = {}) {
    Object.assign(this, { name, round, opened });
    const members = shownOf(round);
    const all = round.candidates.length;
    const hidden = all - members.length;
    const many = opened || members.length >= MANY;
    const list = members.map((each, i) => this.item(each, i, many));
    const button = (id, key, label, onclick, mark = "") => make("button", { type: "button", id, class: mark, onclick }, make("kbd", { "aria-hidden": "true" }, key), ` ${label}`);
    const buttons = {
      more: () => button("more", "m", `Show the other ${hidden}`, () => this.open(["#search"])),
      miss: () => button("miss", "0", "Not in this list", () => this.give({ miss: true }, "not in this list")),
      skip: () => button("skip", "s", "Skip", () => this.give({ skip: true }, "skipped: counts as not found")),
      look: () => button("look", "n", "There is none …", () => this.open(["#absent", "#miss"])),
      absent: () => button("absent", "n", `I looked through all ${all}: there is none`, () => this.give({ absent: true }, "there is none"), "long"),
    };
    const roles = many ? { role: "listbox", "aria-label": "Candidates", "aria-live": "off" } : {};
    fill(
      this.place,
      make("p", { class: "question", tabindex: "-1" }, round.question ?? `Round ${round.round_id}`),
      make("p", { class: "soft small" }, words(round)),
      round.truncated && !hidden ? make("p", { class: "soft small" }, "Candidates may be missing here: say that it is not in this list if you do not find it.") : "",
      many ? findBox(hidden ? `Find among these ${members.length}` : `Find among all ${all}`) : "",
      list.length ? make("ol", { class: "pick", id: "members", ...roles }, ...list) : make("p", {}, all ? "No candidate reaches the threshold." : ""),
      make("p", { class: "buttons dock" }, ...offered({ ...round, empty: all === 0, hidden }, opened).map((each) => buttons[each]())),
    );
    if (many) new Finding(this.place, () => this.place.querySelector(".question").focus({ preventScroll: true }));
    focus.map((each) => this.place.querySelector(each)).find(Boolean).focus({ preventScroll: true });
  }

  // A candidate as a button; in a long list as an option, which is reached from the box above it.
  item(each, i, many) {
    const { first, explored } = this.round;
    const beyond = first !== null && i >= first;
    const label = make("span", {}, make("span", { class: "name" }, String(each.id)), each.text ? make("span", { class: "text" }, each.text) : null);
    const key = i < 9 ? make("kbd", { "aria-hidden": "true" }, String(i + 1)) : make("span");
    // Where the order is random, scores would undo it.
    const score = explored ? null : make("span", { class: each.score === null ? "score several" : "score" }, ...scoreLines(each).map((line) => make("span", {}, line)));
    const roles = many ? { role: "option", id: `member-${i}`, "aria-selected": "false", tabindex: "-1" } : {};
    const give = () => this.give({ hit: each.id }, `picked ${each.id}${beyond ? ", from the others" : ""}`);
    return make("li", { role: many ? "presentation" : null, class: beyond && i === first ? "beyond" : null }, make("button", { type: "button", "data-member": i, onclick: give, ...roles }, key, label, score));
  }

  // Shows everything. What was hidden is shown once the service knows of it: a pick there was missed by the list.
  async open(focus) {
    const { name, round } = this;
    if (round === null || this.opening) return;
    this.opening = true;
    try {
      if (round.members.length < round.candidates.length) await this.expand(name, round);
    } catch (error) {
      this.refusal = `The others cannot be shown now: ${error instanceof Problem ? error.message : "the service is out of reach"}.`;
      this.showState();
      if (this.round === round && GONE.has(error.status)) {
        this.round = null;
        this.done(round);
      }
      return;
    } finally {
      this.opening = false;
    }
    if (this.round !== round) return;
    this.refusal = "";
    this.showState();
    this.show(name, round, { opened: true, focus });
  }

  async expand(name, round) {
    const more = await ask(path(name, "rounds", encodeURIComponent(round.round_id), "more"), { method: "POST", body: { shown: round.members.length } });
    round.first ??= round.members.length;
    round.members.push(...more.members);
    round.truncated = more.truncated;
  }

  give(answer, words) {
    if (this.round === null) return;
    const held = { name: this.name, round: this.round, opened: this.opened, answer, words };
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
    this.show(held.name, held.round, { opened: held.opened });
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
    const pick = /^[1-9]$/.test(event.key) ? `li:not([hidden]) > [data-member="${event.key - 1}"]` : { 0: "#miss", m: "#more", n: "#look, #absent", s: "#skip" }[event.key];
    const button = pick ? this.place.querySelector(pick) : null;
    const box = event.key === "/" && this.round !== null ? this.place.querySelector("#search") : null;
    if (event.key === "u") this.undo();
    else if (box) box.focus();
    else if (button && this.round !== null) button.click();
    else return;
    event.preventDefault();
  }
}
