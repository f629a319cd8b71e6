// The settings of a stream that may change at any time. What is sent is what was changed, and nothing else.

import { ask, path } from "/static/common.js";

// How each setting is read from its field; an empty one is null: no limit, or off.
const READ = {
  at_least: ({ value }) => Number(value),
  at_most: ({ value }) => (value === "" ? null : Number(value)),
  patience: ({ value }) => Number(value),
  miss_budget: ({ value }) => (value === "" ? null : Number(value)),
  explore_share: ({ value }) => (value === "" ? null : value === "auto" ? value : Number(value)),
  shadow: ({ checked }) => checked,
  record_annotators: ({ checked }) => checked,
  guidelines: ({ value }) => (value === "" ? null : value),
};

export class Configuring {
  constructor(place, name) {
    this.name = name;
    this.form = place.querySelector("form");
    this.shadowHelp = place.querySelector("#shadow-help");
    this.fixed = place.querySelector("#fixed");
    this.error = place.querySelector(".error");
    this.status = place.querySelector(".done");
    this.settings = null;
    this.form.addEventListener("input", () => this.mark());
    this.form.addEventListener("submit", (event) => this.send(event));
  }

  // What somebody is typing is left alone.
  show(summary) {
    const changed = this.changes().map(([name]) => name);
    this.settings = summary.settings;
    const explores = this.settings.explore_share !== null;
    const short = this.settings.policy.kind === "product-limit"; // exploring can be turned on, and not off again
    const offered = { explore_share: explores || short, miss_budget: !explores, shadow: !explores };
    this.form.elements.miss_budget.required = short; // it is the guarantee
    this.form.elements.explore_share.required = explores;
    for (const name of Object.keys(READ)) {
      const field = this.form.elements[name];
      field.disabled = field.closest("label").hidden = offered[name] === false;
    }
    this.shadowHelp.hidden = explores;
    for (const name of Object.keys(READ).filter((each) => !changed.includes(each))) this.put(name);
    this.fixed.textContent = summary.sentences.fixed;
    this.mark();
  }

  put(name) {
    const field = this.form.elements[name];
    if (field.type === "checkbox") field.checked = this.settings[name];
    else field.value = this.settings[name] ?? "";
  }

  changes() {
    if (this.settings === null) return [];
    const fields = Object.entries(READ).filter(([name]) => !this.form.elements[name].disabled);
    return fields.map(([name, read]) => [name, read(this.form.elements[name])]).filter(([name, value]) => value !== this.settings[name]);
  }

  mark() {
    this.form.querySelector("button").disabled = this.changes().length === 0;
  }

  // Asked for where it is seen that nobody reports misses.
  explore(words) {
    if (!confirm(words)) return;
    this.patch({ explore_share: "auto" });
    this.form.scrollIntoView();
  }

  send(event) {
    event.preventDefault();
    this.patch(Object.fromEntries(this.changes()));
  }

  async patch(changes) {
    this.error.textContent = this.status.textContent = "";
    try {
      const summary = await ask(path(this.name), { method: "PATCH", body: changes });
      this.settings = summary.settings;
      this.show(summary);
      this.status.textContent = `Changed: ${Object.keys(changes).join(", ")}.`;
    } catch (problem) {
      this.error.textContent = problem instanceof TypeError ? "The service is out of reach: nothing was changed." : `Not changed: ${problem.message}.`;
    }
  }
}
