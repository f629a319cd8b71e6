// Finding one candidate among many: a box that filters a list as somebody types. What is typed stays in the browser.

import { make } from "/static/common.js";

// A text as it is compared: without case and accents.
export const folded = (text) => text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();

export function findBox(label, more = "") {
  const input = make("input", {
    id: "search",
    type: "search",
    role: "combobox",
    "aria-controls": "members",
    "aria-expanded": "true",
    "aria-autocomplete": "list",
    autocomplete: "off",
    spellcheck: "false", // some browsers send what they check
    placeholder: `${label}  /`,
  });
  const status = make("p", { class: "soft small", id: "matches", role: "status" });
  return make("div", { class: "find" }, make("label", {}, make("span", { class: "visually-hidden" }, label), input), more, status);
}

// Connects a box with a list of buttons. Arrow keys choose, Enter picks, Escape leaves the box. Candidates that are not
// in the list are shown where they match, or once everything was `opened`; `fetch` gets them if they are not there yet.
export class Finding {
  constructor(place, { opened = true, complete = true, leave, fetch = () => {} }) {
    Object.assign(this, { opened, complete, fetch });
    this.input = place.querySelector("#search");
    this.status = place.querySelector("#matches");
    this.leave = leave;
    this.items = [...place.querySelectorAll("#members > li")].map((item) => {
      const button = item.firstElementChild;
      return { item, button, beyond: item.classList.contains("beyond"), text: folded([...button.querySelectorAll(".name, .text")].map((each) => each.textContent).join(" ")) };
    });
    this.matches = this.items;
    this.chosen = null;
    this.input.addEventListener("input", () => this.filter());
    this.input.addEventListener("keydown", (event) => this.key(event));
  }

  filter() {
    const words = folded(this.input.value).split(/\s+/).filter(Boolean);
    if (words.length && !this.complete) this.fetch(this.input.value);
    for (const each of this.items) each.item.hidden = words.length ? !words.every((word) => each.text.includes(word)) : each.beyond && !this.opened;
    this.matches = this.items.filter(({ item }) => !item.hidden);
    const count = this.matches.length;
    this.status.textContent = words.length === 0 ? "" : !this.complete ? "searching" : count ? `${count} found` : "nothing found";
    this.choose(words.length && count ? this.matches[0] : null);
  }

  choose(match) {
    this.chosen?.button.setAttribute("aria-selected", "false");
    this.chosen = match;
    if (match === null) return this.input.removeAttribute("aria-activedescendant");
    match.button.setAttribute("aria-selected", "true");
    match.item.scrollIntoView({ block: "nearest" });
    this.input.setAttribute("aria-activedescendant", match.button.id);
  }

  key(event) {
    if (event.isComposing) return;
    const at = this.matches.indexOf(this.chosen);
    if (event.key === "ArrowDown") this.choose(this.matches[Math.min(at + 1, this.matches.length - 1)] ?? null);
    else if (event.key === "ArrowUp") this.choose(this.matches[Math.max(at - 1, 0)] ?? null);
    else if (event.key === "Enter" && !event.repeat) this.chosen?.button.click();
    else if (event.key === "/" && this.input.value === "") return event.preventDefault(); // the key that leads here
    else if (event.key === "Escape") {
      this.input.value = "";
      this.filter();
      this.leave();
    } else return;
    event.preventDefault();
  }
}
