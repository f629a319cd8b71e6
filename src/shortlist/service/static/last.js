// The last answers given on this page, and how many this browser has given in all: kept here, not by the service.

import { fill, make } from "/static/common.js";

export class LastAnswers {
  constructor(card, name, undo) {
    Object.assign(this, { card, undo, key: `shortlist-count:${name}` });
  }

  get count() {
    return Number(localStorage.getItem(this.key) ?? 0);
  }

  add() {
    try {
      localStorage.setItem(this.key, String(this.count + 1));
    } catch {
      // no room: this browser's own count stays where it is
    }
  }

  // Those that are held back have a button.
  show(entries) {
    this.card.hidden = entries.length === 0;
    const focused = document.activeElement?.dataset?.undo;
    const row = (entry) => {
      const { round, words, state } = entry;
      const label = round.question ?? `Round ${round.round_id}`;
      const button = state === "held" ? make("button", { type: "button", "data-undo": round.round_id, "aria-label": `Change: ${label}`, onclick: () => this.undo(entry) }, "Change") : make("span", { class: "soft small" }, { sending: "being saved", saved: "final", refused: "refused" }[state]);
      return make("li", {}, make("span", { class: "name" }, label), make("span", { class: "soft" }, words), button);
    };
    fill(this.card.querySelector(".last"), ...entries.slice(0, 10).map(row));
    if (focused) this.card.querySelector(`[data-undo="${CSS.escape(focused)}"]`)?.focus();
  }
}
