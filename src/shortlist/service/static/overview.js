import { ask, fill, make, number, path, percent, showState, spark, tenths, threshold, whole } from "/static/common.js";

const place = document.querySelector("#streams");
const COLUMNS = ["Stream", "Threshold", "", "Coverage so far", "Target", "List length", "Hidden", "Rounds", "Open", "Error budget", "Alarms"];

function scoreWords({ score, fit_picks, fit_rounds }) {
  if (fit_picks !== null) return `learning the score: ${whole(fit_picks)} of ${whole(fit_rounds)} picks`;
  return score === "auto" || score === "learned" ? "learned score" : `score ${score}`;
}

// Spent of the error budget, and a word where that is more than half.
function budgetCell({ error_budget }) {
  if (error_budget === null) return make("td", { "data-label": "Error budget" }, "off");
  const { spent, size, lengthening } = error_budget;
  const words = lengthening ? "lists are longer" : spent > size / 2 ? "over half spent" : null;
  return make("td", { "data-label": "Error budget" }, make("span", {}, `${tenths(spent)} of ${whole(size)}`, words ? make("div", {}, make("span", { class: lengthening ? "badge watch" : "badge" }, words)) : ""));
}

function coverage({ coverage_seen, coverage_interval, coverage_target, settings, shadows }) {
  if (settings.explore_share !== null) return make("span", {}, "not known", make("div", { class: "soft small" }, "misses are not reported"));
  if (coverage_interval === null) return percent(null);
  if (shadows !== null) return make("span", {}, percent(coverage_seen), make("div", { class: "soft small" }, "or more would have been covered"));
  const [low, high] = coverage_interval;
  return make("span", {}, percent(coverage_seen), high < coverage_target ? " (low)" : "", make("div", { class: "soft small" }, `${percent(low)} to ${percent(high)}`));
}

function row(stream) {
  const link = make("a", { href: `/page/streams/${encodeURIComponent(stream.name)}` }, stream.name);
  const length =
    stream.list_length_median === null ? "–" : `${whole(stream.list_length_median)} of ${whole(stream.candidates_median)}`;
  const cells = [
    make("td", { class: "plain" }, link, make("div", { class: "soft small" }, scoreWords(stream)), stream.shadows === null ? null : make("div", { class: "soft small" }, `shadows ${stream.shadows}`)),
    make("td", { "data-label": "Threshold" }, threshold(stream.threshold)),
    make("td", { "data-label": "over time" }, spark(stream.spark)),
    make(
      "td",
      { "data-label": "Coverage so far" },
      coverage(stream),
    ),
    make("td", { "data-label": "Target" }, percent(stream.coverage_target)),
    make("td", { "data-label": "List length" }, length),
    make("td", { "data-label": "Hidden" }, percent(stream.hidden_share)),
    make("td", { "data-label": "Rounds" }, whole(stream.rounds)),
    make("td", { "data-label": "Open" }, whole(stream.open)),
    budgetCell(stream),
    make("td", { "data-label": "Alarms" }, stream.drift === null ? "off" : number(stream.drift.alarm_count)),
  ];
  return make("tr", {}, ...cells);
}

function damagedRow({ name, why }) {
  const remove = async () => {
    if (!confirm(`Delete stream ${name} and its log? This cannot be undone.`)) return;
    try {
      await ask(path(name), { method: "DELETE" });
      await show();
    } catch (problem) {
      document.querySelector("#new-error").textContent = problem.message;
    }
  };
  return make("p", {}, `${why[0].toUpperCase()}${why.slice(1)}. `, make("button", { type: "button", onclick: remove }, `Delete ${name}`));
}

async function show() {
  try {
    const streams = [];
    const damaged = [];
    let after = "";
    do {
      const page = await ask(`/v1/streams?limit=200&after=${encodeURIComponent(after ?? "")}`);
      streams.push(...page.streams);
      damaged.push(...page.damaged);
      after = page.next;
    } while (after !== null && streams.length < 1000);
    showState("live");
    document.querySelector("#damaged").hidden = damaged.length === 0;
    fill(document.querySelector("#damaged"), make("h2", {}, "Damaged streams"), ...damaged.map(damagedRow));
    if (streams.length + damaged.length === 0) {
      fill(place, make("p", { class: "soft" }, "There is no stream yet. Create one below, or run `shortlist demo`."));
      return;
    }
    const head = make("tr", {}, ...COLUMNS.map((title) => make("th", { scope: "col" }, title || make("span", { class: "soft" }, "over time"))));
    fill(place, make("table", { class: "stack" }, make("thead", {}, head), make("tbody", {}, ...streams.map(row))));
  } catch {
    showState("lost");
  }
}

// What needs misses that are reported is off where people only click.
const creating = document.querySelector("#new");
function showExcluded() {
  const explores = creating.elements.explore_share.value !== "null";
  for (const each of ["miss_budget", "on_drift"]) creating.elements[each].disabled = explores;
}
creating.elements.explore_share.addEventListener("change", showExcluded);
creating.addEventListener("reset", () => setTimeout(showExcluded));

creating.addEventListener("submit", async (event) => {
  event.preventDefault();
  const form = new FormData(event.target);
  const body = { name: form.get("name"), coverage: Number(form.get("coverage")), score: form.get("score") };
  body.miss_budget = JSON.parse(form.get("miss_budget")); // null turns it off
  body.explore_share = JSON.parse(form.get("explore_share"));
  if (form.get("on_drift")) body.on_drift = form.get("on_drift");
  const error = document.querySelector("#new-error");
  try {
    error.textContent = "";
    await ask("/v1/streams", { method: "POST", body });
    event.target.reset();
    await show();
  } catch (problem) {
    error.textContent = problem.message;
  }
});

await show();
setInterval(() => document.visibilityState === "visible" && show(), 2000);
