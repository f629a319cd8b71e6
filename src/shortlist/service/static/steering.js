// Learning started over; it is asked for twice.

import { ask, path } from "/static/common.js";

export class Steering {
  constructor(place, name) {
    this.name = name;
    this.form = place.querySelector("form");
    this.help = place.querySelector(".help");
    this.error = place.querySelector(".error");
    this.status = place.querySelector(".done");
    this.summary = null;
    this.form.addEventListener("submit", (event) => this.restart(event));
  }

  show(summary) {
    this.summary = summary;
    const possible = summary.settings.unanswered === "miss";
    const { refit } = this.form.elements;
    this.form.hidden = this.help.hidden = !possible;
    refit.disabled = refit.closest("label").hidden = summary.fit_rounds === null;
    this.form.querySelector("button").disabled = false;
    this.help.textContent = summary.sentences.restart;
  }

  restart(event) {
    event.preventDefault();
    const refit = this.form.elements.refit.checked;
    if (!confirm(`Restart learning of ${this.name}? ${this.summary.sentences.restart}`)) return;
    this.send(path(this.name, "restart"), { method: "POST", body: { refit, epoch: this.summary.epoch } }, "Restarted.");
  }

  async send(where, request, done) {
    this.error.textContent = this.status.textContent = "";
    try {
      this.show(await ask(where, request));
      this.status.textContent = done;
    } catch (problem) {
      this.error.textContent = problem instanceof TypeError ? "The service is out of reach: nothing was changed." : `Not changed: ${problem.message}.`;
    }
  }
}
