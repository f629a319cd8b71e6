// What the log tells after the fact: coverage by tag, and who answers where silence is ignored.

import { ask, download, fill, make, path, percent, seldom, whole } from "/static/common.js";
import { silenceRow, silenceSigns } from "/static/words.js";

const cell = (label, ...children) => make("td", { "data-label": label }, ...children);
const table = (titles, rows) => make("table", { class: "stack" }, make("thead", {}, make("tr", {}, ...titles.map((title) => make("th", { scope: "col" }, title)))), make("tbody", {}, ...rows));
const between = (interval) => (interval === null ? "–" : interval.map(percent).join(" to "));

function subgroup({ tag, value, rounds, hits, misses, coverage, interval }) {
  return make("tr", {}, make("td", { class: "plain" }, `${tag}: ${value}`), cell("Rounds", whole(rounds)), cell("Answered", whole(hits + misses)), cell("Coverage", percent(coverage)), cell("95 % interval", between(interval)));
}

const silence = (what) => (row) => make("tr", {}, make("td", { class: "plain" }, silenceRow(what, row)), cell("Rounds", whole(row.rounds)), cell("Share", percent(row.share)), cell("95 % interval", between(row.interval)));

export class Insight {
  constructor(subgroups, silence, name) {
    this.subgroups = subgroups;
    this.silence = silence;
    this.name = name;
    this.refresh = seldom(5_000, () => this.showSubgroups());
    this.look = seldom(60_000, () => this.showSilence()); // it reads the last 2,000 rounds
    subgroups.querySelector("button").addEventListener("click", () => this.save());
  }

  show({ settings }) {
    this.refresh();
    const ignored = settings.unanswered === "ignore" && settings.explore_share === null;
    this.silence.hidden = !ignored;
    if (ignored) this.look();
  }

  async save() {
    const error = this.subgroups.querySelector(".error");
    error.textContent = "";
    try {
      await download(`${path(this.name, "subgroups")}?format=csv`, `${this.name}-subgroups.csv`);
    } catch (problem) {
      error.textContent = problem.message;
    }
  }

  async showSubgroups() {
    const { subgroups } = await ask(path(this.name, "subgroups")).catch(() => ({ subgroups: [] })); // the next event brings it
    this.subgroups.hidden = subgroups.length === 0;
    fill(this.subgroups.querySelector(".wide"), table(["Tag", "Rounds", "Answered", "Coverage", "95 % interval"], subgroups.slice(0, 50).map(subgroup)));
    this.subgroups.querySelector(".more").textContent = subgroups.length > 50 ? `The first 50 of ${whole(subgroups.length)}; the file has all of them.` : "";
  }

  async showSilence() {
    const check = await ask(path(this.name, "silence")).catch(() => null);
    if (check === null) return;
    fill(this.silence.querySelector(".signs"), ...silenceSigns(check).map((each) => make("li", {}, each)));
    const rows = [...check.by_length.map(silence("length")), ...check.by_rank.map(silence("rank"))];
    fill(this.silence.querySelector(".wide"), rows.length ? table(["Of", "Rounds", "Share", "95 % interval"], rows) : make("p", { class: "soft" }, "No round is old enough yet."));
  }
}
