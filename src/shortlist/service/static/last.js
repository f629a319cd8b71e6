// The last answers given on this page, and how many this browser has given in all: kept here, not by the service.

import { fill, make } from "/static/common.js";

export class LastAnswers {
  constructor(card, name, correct) {
    Object.assign(this, { card, correct, key: `shortlist-count:${name}` });
  }

  get count() {
    return Number(localStorage.getItem(this.key) ?? 0);
  }

  add() {
    localStorage.setItem(this.key, String(this.count + 1));
  }

  // Those that are held back, or that the service says may still be corrected, have a button.
  show(entries, correctable) {
    this.card.hidden = entries.length === 0;
    const focused = document.activeElement?.dataset?.correct;
    const row = (entry) => {
      const { round, words, state } = entry;
      const open = state === "held" || (state === "saved" && correctable.has(round.round_id));
      const label = round.question ?? `Round ${round.round_id}`;
      const button = open ? make("button", { type: "button", "data-correct": round.round_id, "aria-label": `Change: ${label}`, onclick: () => this.correct(entry) }, "Change") : make("span", { class: "soft small" }, { held: "", sending: "being saved", saved: "final", refused: "refused" }[state]);
      return make("li", {}, make("span", { class: "name" }, label), make("span", { class: "soft" }, words), button);
    };
    fill(this.card.querySelector(".last"), ...entries.slice(0, 10).map(row));
    if (focused) this.card.querySelector(`[data-correct="${CSS.escape(focused)}"]`)?.focus();
  }
}
