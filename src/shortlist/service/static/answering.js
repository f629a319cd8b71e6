// One round, to be answered: by mouse, by keyboard, or with a screen reader. An answer is kept in the browser before it
// is shown as given, and held back for ten seconds, in which it can be undone; then it is sent, and it is final. What
// could not be sent is sent again, by the next page if this one is closed.

import { Problem, ask, fill, make, path } from "/static/common.js";
import { Finding, findBox } from "/static/finding.js";
import { forget, isKept, keep, left } from "/static/outbox.js";

export const HELD_BACK = 10_000;
const LATER = new Set([429, 502, 503, 504]); // a 500 does not heal by waiting: it is shown
const GONE = new Set([404, 410]); // somebody else has answered it
const REMEMBERED = 30; // how many of the last answers can be looked at

// From how many candidates on there is a box to find one in.
const MANY = 10; // the first nine have keys of their own
const LONG = 90; // characters of a question that has a column of its own
const ROOM = 96; // pixels below the buttons that the words about the last answer need

// What can be answered to a list. "None of these" is always there and always means a miss, so that answers do
// not change when lists become shorter. "Not among all" takes two steps that are the same for short and for complete
// lists: look through everything, then say so. Where some are hidden, the first step shows them. Of what a search left
// out, or of an empty search, nobody can see everything.
export function offered({ truncated, empty = false, hidden = 0 }, opened) {
  const none = hidden ? ["look"] : truncated || empty ? [] : [opened ? "absent" : "look"];
  return [...(hidden ? ["more"] : []), "miss", ...none, "later", "skip"];
}

function words({ candidate_count: all, members, first, explored }, opened) {
  const hidden = opened ? 0 : all - (first ?? members.length);
  if (all === 0) return "The search found nothing.";
  if (hidden) return `Which one is right? ${all - hidden} of ${all} candidates; the other ${hidden} are less likely.`;
  if (explored) return `Which one is right? All ${all} candidates, in random order.`;
  return `Which one is right? All ${all} candidates${first === null ? "" : first ? `; the first ${first === 1 ? "one was" : `${first} were`} in the list` : "; none of them was in the list"}.`;
}

// What a candidate is called: its text where all texts of the list are short, with its id where that says more; otherwise its id.
const SHORT = 60;
function named({ id, text }, short) {
  if (!text || !short) return [String(id), text];
  const plain = (value) => String(value).toLowerCase().replace(/[^\p{L}\p{N}]+/gu, "");
  return [text, plain(text) === plain(id) ? null : String(id)];
}

// A picture, or, where it cannot be shown, its address.
function picture(address) {
  const image = make("img", { class: "picture", src: address, alt: "The picture of this item" });
  image.addEventListener("error", () => image.replaceWith(make("p", { class: "soft small" }, "The picture cannot be shown here (is its host allowed, --image-host?): ", make("a", { href: address, target: "_blank", rel: "noreferrer" }, address))));
  return image;
}

export class Answering {
  // `done` is called when a round was answered, `undone` when it is to be answered again, `saved` when the number of
  // answers saved or held back has changed, with the answer if one was saved; `later` when a round is to be given back.
  constructor({ place, toast, unsaved, done, undone, saved = () => {}, later = null }) {
    Object.assign(this, { place, toast, unsaved, done, undone, saved, later });
    this.round = null;
    this.annotator = null; // who answers, where that is known
    this.recent = []; // the last answers, the newest first: held, sending, saved or refused
    this.failing = new Set(); // sent, and not saved yet
    this.refusal = "";
    this.opened = this.opening = false;
    new ResizeObserver(() => this.keepOff()).observe(place);
    addEventListener("scroll", () => this.keepOff(), { passive: true });
    toast.querySelector("button").addEventListener("click", () => this.undo());
    document.addEventListener("keydown", (event) => this.key(event));
    // Leaving the page means it: what is held back is sent. What does not arrive is sent by the next page.
    addEventListener("pagehide", () => {
      this.held.forEach((each) => this.send(each, true));
      this.failing.forEach((each) => this.put(each, true).catch(() => {}));
    });
  }

  // Given, and can be undone: the newest first.
  get held() {
    return this.recent.filter((each) => each.state === "held");
  }

  // The rounds whose answers are not saved yet.
  get waiting() {
    return this.recent.filter(({ state }) => state === "held" || state === "sending").map((each) => each.round);
  }

  // The buttons stay in sight, so what can be undone is said below them where there is room, and above them elsewhere.
  keepOff() {
    const { top, bottom } = this.place.querySelector(".dock")?.getBoundingClientRect() ?? { top: 0, bottom: 0 };
    document.documentElement.style.setProperty("--dock", `${innerHeight - bottom < ROOM ? innerHeight - top : 0}px`);
  }

  get pending() {
    return this.waiting.length;
  }

  // Shows a round; `opened` once somebody has asked to see everything, `focus` is where to go on: the first of these that is there.
  show(name, round, { opened = false, focus = [".question"] } = {}) {
    Object.assign(this, { name, round, opened });
    const members = round.members.map((id, i) => ({ id, text: round.texts[i] }));
    round.short ??= members.every(({ text }) => (text ?? "").length <= SHORT); // also once the others are there
    const all = round.candidate_count;
    const hidden = opened ? 0 : all - (round.first ?? members.length);
    const many = opened || all >= MANY;
    const list = members.map((each, i) => this.item(each, i, many));
    const button = (id, key, label, onclick, mark = "") => make("button", { type: "button", id, class: mark, onclick }, make("kbd", { "aria-hidden": "true" }, key), ` ${label}`);
    const buttons = {
      miss: () => button("miss", "0", "None of these", () => this.give({ miss: true }, "none of these")),
      later: () => (this.later ? button("later", "l", "Later", () => this.later(round), "quiet") : ""),
      skip: () => button("skip", "s", "Skip", () => this.give({ skip: true }, "skipped: it will not come back"), "quiet"),
      look: () => button("look", "n", "There is none …", () => this.open(["#absent", "#miss"]), "quiet"),
      absent: () => button("absent", "n", `Not among all ${all}`, () => this.give({ absent: true }, `not among all ${all}`)),
    };
    const ways = offered({ ...round, empty: all === 0, hidden }, opened);
    const more = ways.includes("more") ? button("more", "m", `Show all ${all}`, () => this.open([".question"])) : "";
    const roles = many ? { role: "listbox", "aria-label": "Candidates", "aria-live": "off" } : {};
    const candidates = list.length ? make("ol", { class: "pick", id: "members", ...roles }, ...list) : make("p", {}, all ? "No candidate reaches the threshold." : "");
    const question = round.question ?? `Round ${round.round_id}`;
    const item = [make("p", { class: `question${question.length > LONG || question.includes("\n") ? " long" : ""}`, tabindex: "-1" }, question), round.image ? picture(round.image) : ""];
    const choice = [
      make("p", { class: "soft small" }, words(round, opened)),
      round.truncated && !hidden ? make("p", { class: "soft small" }, "Candidates may be missing here: if the right one is, answer “None of these”.") : "",
      many ? findBox(`Find among all ${all}`, more) : more ? make("p", { class: "buttons" }, more) : "",
      candidates,
    ];
    const wide = round.image || question.length > LONG;
    fill(
      this.place,
      make("div", { class: wide ? "beside" : "" }, make("div", { class: "item" }, ...item), make("div", {}, ...choice)),
      make("p", { class: "buttons dock" }, ...ways.filter((each) => each !== "more").map((each) => buttons[each]())),
    );
    if (many) new Finding(this.place, { opened, complete: members.length === all, leave: () => this.place.querySelector(".question").focus({ preventScroll: true }), fetch: (query) => this.search(query) });
    focus.map((each) => this.place.querySelector(each)).find(Boolean).focus({ preventScroll: true });
  }

  // A candidate as a button; in a long list as an option, which is reached from the box above it.
  item(each, i, many) {
    const { first } = this.round;
    const beyond = first !== null && i >= first;
    const [title, rest] = named(each, this.round.short);
    const label = make("span", {}, make("span", { class: "name" }, title), rest ? make("span", { class: "text" }, rest) : null);
    const key = i < 9 ? make("kbd", { "aria-hidden": "true" }, String(i + 1)) : make("span");
    const roles = many ? { role: "option", id: `member-${i}`, "aria-selected": "false", tabindex: "-1" } : {};
    const give = () => this.give({ hit: each.id }, `picked ${title}${beyond ? ", from the others" : ""}`);
    const marks = { class: beyond ? (i === first ? "beyond first" : "beyond") : null, hidden: beyond && !this.opened };
    return make("li", { role: many ? "presentation" : null, ...marks }, make("button", { type: "button", "data-member": i, onclick: give, ...roles }, key, label));
  }

  // Shows everything. What was hidden is shown once the service knows of it: a pick there was missed by the list.
  async open(focus) {
    const { name, round } = this;
    if (!(await this.fetch())) return;
    this.refusal = "";
    this.showState();
    this.show(name, round, { opened: true, focus });
  }

  // A search covers all candidates: the others come with its first letter, and only those that match are shown.
  async search(query) {
    const { name, round } = this;
    if (!(await this.fetch())) return;
    const box = this.place.querySelector("#search");
    const text = box?.value || query; // typed on meanwhile
    this.show(name, round, { opened: this.opened, focus: ["#search"] });
    const input = this.place.querySelector("#search");
    input.value = text;
    input.dispatchEvent(new Event("input"));
  }

  // Gets the candidates that are hidden; returns whether they are there, and the round is still the one to answer.
  async fetch() {
    const { name, round } = this;
    if (round === null || this.opening) return false;
    this.opening = true;
    try {
      if (round.members.length < round.candidate_count) await this.expand(name, round);
    } catch (error) {
      this.refusal = `The others cannot be shown now: ${error instanceof Problem ? error.message : "the service is out of reach"}.`;
      this.showState();
      if (this.round === round && GONE.has(error.status)) {
        this.drop(round, this.refusal);
        this.done(round);
      }
      return false;
    } finally {
      this.opening = false;
    }
    return this.round === round;
  }

  async expand(name, round) {
    const more = await ask(path(name, "rounds", encodeURIComponent(round.round_id), "more"), { method: "POST", body: { shown: round.members.length, ...(round.holder && { holder: round.holder }) } });
    round.first ??= round.members.length;
    round.members.push(...more.members);
    round.texts.push(...more.texts);
    round.truncated = more.truncated;
  }

  give(answer, words) {
    if (this.round === null) return;
    const entry = { name: this.name, round: this.round, opened: this.opened, answer, words, at: Date.now() };
    this.recent = [entry, ...this.recent].slice(0, REMEMBERED);
    this.round = null;
    this.refusal = "";
    if (keep(entry, this.annotator)) {
      entry.state = "held";
      entry.timer = setTimeout(() => this.send(entry), HELD_BACK);
    } else this.send(entry); // what cannot be kept is not held back
    this.showState();
    this.done(entry.round);
  }

  // Sends what an earlier page could not: its tab was closed, or the browser crashed. What another tab still holds back
  // is its own until its ten seconds are over; the same answer twice is one.
  sendLeft(name) {
    for (const entry of left(name, this.annotator)) {
      if (this.recent.some(({ round }) => round.round_id === entry.round.round_id)) continue;
      setTimeout(() => {
        if (!isKept(entry)) return;
        this.recent = [...this.recent, entry].slice(0, REMEMBERED);
        this.send(entry);
      }, Math.max(0, entry.at + HELD_BACK - Date.now()));
    }
  }

  // What was said last, with a button to take it back; and what is not saved.
  showState() {
    const last = this.held[0];
    this.toast.hidden = last === undefined;
    if (last) this.toast.querySelector("span").textContent = `${last.words[0].toUpperCase()}${last.words.slice(1)}.`;
    const count = this.failing.size;
    const waiting = count ? `${count} answer${count === 1 ? " is" : "s are"} not saved yet: trying again. Nothing is lost if you close this page.` : "";
    this.unsaved.textContent = [this.refusal, waiting].filter(Boolean).join(" ");
    this.saved();
  }

  // Takes back an answer that is held back, by default the last one, and shows its round again.
  undo(entry = this.held[0]) {
    if (entry?.state !== "held") return;
    clearTimeout(entry.timer);
    forget(entry);
    this.undone(entry.round);
    this.recent = this.recent.filter((each) => each !== entry);
    this.round = entry.round;
    this.show(entry.name, entry.round, { opened: entry.opened });
    this.showState();
  }

  // Shows a round no longer: it is not ours to answer.
  drop(round, why = "") {
    if (this.round !== round) return;
    this.round = null;
    this.refusal = why;
    this.showState();
  }

  put({ name, round, answer }, leaving) {
    const body = round.holder ? { ...answer, holder: round.holder } : answer; // refused if somebody else was faster
    return ask(path(name, "rounds", encodeURIComponent(round.round_id), "feedback"), { method: "PUT", body, keepalive: leaving });
  }

  async send(entry, leaving = false) {
    clearTimeout(entry.timer);
    entry.state = "sending";
    this.showState();
    for (let pause = 500; ; pause = Math.min(2 * pause, 5000)) {
      try {
        await this.put(entry, leaving);
        break;
      } catch (error) {
        if (error instanceof Problem && !LATER.has(error.status)) {
          this.failing.delete(entry);
          return this.refuse(entry, error);
        }
        this.failing.add(entry);
        this.showState();
        await new Promise((resolve) => setTimeout(resolve, pause));
      }
    }
    this.failing.delete(entry);
    forget(entry);
    entry.state = "saved";
    this.showState();
    this.saved(entry);
  }

  // The service has the last word: somebody else answered first, the round is gone, or the key may not do this.
  refuse(entry, error) {
    forget(entry);
    entry.state = "refused";
    const what = entry.round.question ?? `round ${entry.round.round_id}`;
    const why = error.status === 409 ? `somebody else answered first: ${error.message}` : error.message;
    this.refusal = `Your answer to “${what}” was not saved: ${why}.`;
    if (error.status === 403) this.undone(entry.round);
    this.showState();
  }

  key(event) {
    // In a box what is typed is text; with Alt the keys work there too, on any keyboard.
    const typing = ["INPUT", "SELECT", "TEXTAREA"].includes(event.target.tagName);
    if (event.repeat || event.ctrlKey || event.metaKey || typing !== event.altKey) return;
    const key = event.altKey ? event.code.replace(/^(Key|Digit)/, "").toLowerCase() : event.key;
    const pick = /^[1-9]$/.test(key) ? `li:not([hidden]) > [data-member="${key - 1}"]` : { 0: "#miss", m: "#more", n: "#look, #absent", l: "#later", s: "#skip" }[key];
    const button = pick ? this.place.querySelector(pick) : null;
    const box = key === "/" && this.round !== null ? this.place.querySelector("#search") : null;
    if (key === "u") this.undo();
    else if (box) box.focus();
    else if (button && this.round !== null) button.click();
    else return;
    event.preventDefault();
  }
}
