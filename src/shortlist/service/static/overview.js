import { ask, fill, isUnknown, make, number, onSubmit, path, percent, plural, showState, spark, tenths, threshold, whole } from "/static/common.js";
import { calls } from "/static/starting.js";

const place = document.querySelector("#streams");
const COLUMNS = ["Stream", "List length", "Coverage so far", "Target", "Error budget", "Hidden", "Rounds", "Open", "Threshold", "", "Alarms"];

// How many streams are shown at a time.
const PAGE = 100;

function scoreWords({ score, fit_picks, fit_rounds }) {
  if (fit_picks !== null) return `learning the score: ${whole(fit_picks)} of ${whole(fit_rounds)} picks`;
  return score === "auto" || score === "learned" ? "learned score" : `score ${score}`;
}

// Spent of the error budget, and a word where that is more than half.
function budgetCell({ error_budget }) {
  if (error_budget === null) return make("td", { "data-label": "Error budget" }, "off");
  const { spent, size, lengthening } = error_budget;
  const words = lengthening ? "lists are longer" : spent > size / 2 ? "over half spent" : null;
  return make("td", { "data-label": "Error budget" }, make("span", {}, `${tenths(spent)} of ${plural(size, "miss", "misses")}`, words ? make("div", {}, make("span", { class: lengthening ? "badge watch" : "badge" }, words)) : ""));
}

function coverage(stream) {
  const { coverage_seen, coverage_interval, coverage_target } = stream;
  if (isUnknown(stream)) return make("span", {}, "not known", make("div", { class: "soft small" }, "misses are not reported"));
  if (coverage_interval === null) return percent(null);
  const [low, high] = coverage_interval;
  return make("span", {}, percent(coverage_seen), high < coverage_target ? " (low)" : "", make("div", { class: "soft small" }, `${percent(low)} to ${percent(high)}`));
}

function row(stream) {
  const link = make("a", { href: `/page/streams/${encodeURIComponent(stream.name)}` }, stream.name);
  const length = stream.length === null ? "–" : `${tenths(stream.length)} of ${whole(stream.candidates_median)}`;
  const cells = [
    make("td", { class: "plain" }, link, make("div", { class: "soft small" }, scoreWords(stream))),
    make("td", { "data-label": "List length" }, length),
    make("td", { "data-label": "Coverage so far" }, coverage(stream)),
    make("td", { "data-label": "Target" }, percent(stream.coverage_target)),
    budgetCell(stream),
    make("td", { "data-label": "Hidden" }, percent(stream.hidden_share)),
    make("td", { "data-label": "Rounds" }, whole(stream.rounds)),
    make("td", { "data-label": "Open" }, whole(stream.open)),
    make("td", { "data-label": "Threshold" }, threshold(stream.threshold)),
    make("td", { "data-label": "over time" }, spark(stream.spark)),
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

// What there is to do where there is no stream.
function first() {
  const way = (title, ...content) => make("li", {}, make("h3", {}, title), ...content);
  return make(
    "div",
    { id: "first" },
    make("h2", {}, "No streams yet"),
    make("p", {}, "A stream is a sequence of questions that share a threshold: a search box, a labeling task, an agent's tools. You send candidates with scores; it returns a shortlist, and learns from the picks where to cut. Three ways to start:"),
    make(
      "ol",
      { class: "ways" },
      way("Watch it learn", make("p", {}, make("code", {}, "shortlist demo"), " starts a service with simulated users, on this machine, with a database of its own.")),
      way("Call it from your code", calls("my-data")),
      way("Create a stream here", make("p", { class: "buttons" }, make("a", { class: "button main", href: "/page/start" }, "Use it on your data"), make("a", { class: "button", href: "#new-title" }, "All settings"))),
    ),
  );
}

// The names after which the pages before this one, and this one, begin.
const starts = [""];

function turning(next) {
  if (next === null && starts.length === 1) return null;
  const turn = (change, words, off) => make("button", { type: "button", disabled: off, onclick: () => (change(), show()) }, words);
  return make(
    "p",
    {},
    turn(() => starts.pop(), "Previous page", starts.length === 1),
    " ",
    turn(() => starts.push(next), "Next page", next === null),
  );
}

async function show() {
  try {
    const page = await ask(`/v1/streams?limit=${PAGE}&after=${encodeURIComponent(starts.at(-1))}`);
    const { streams, damaged, unread, next } = page;
    showState("live");
    document.querySelector("#damaged").hidden = damaged.length === 0;
    fill(document.querySelector("#damaged"), make("h2", {}, "Damaged streams"), ...damaged.map(damagedRow));
    if (streams.length + damaged.length + unread.length === 0 && starts.length === 1) {
      if (!document.querySelector("#first")) fill(place, first()); // what somebody is reading or copying stays
      return;
    }
    const head = make("tr", {}, ...COLUMNS.map((title) => make("th", { scope: "col" }, title || make("span", { class: "soft" }, "over time"))));
    const reading = unread.length === 0 ? null : make("p", { class: "soft" }, `Still being read from the log: ${unread.map(({ name }) => name).join(", ")}`);
    const table = make("table", { class: "stack" }, make("thead", {}, head), make("tbody", {}, ...streams.map(row)));
    fill(place, ...[table, reading, turning(next)].filter((each) => each !== null));
  } catch (error) {
    showState(error.status === 403 ? "live" : "lost");
    if (error.status === 403) fill(place, make("p", { id: "forbidden" }, "This key cannot read streams. Open the answer page that you were given, or ask for a key with the scope read."));
  }
}

// What needs reported misses is off where users only click; the alarm, and no budget, need the guarantee about every list.
const creating = document.querySelector("#new");
function showExcluded() {
  const { explore_share, guarantee, miss_budget, on_drift } = creating.elements;
  const explores = explore_share.value !== "null";
  const many = guarantee.value === "many" && !explores;
  guarantee.disabled = miss_budget.disabled = explores;
  on_drift.disabled = explores || many;
  miss_budget.querySelector("[value=null]").disabled = many;
  if (many && miss_budget.value === "null") miss_budget.value = '"auto"';
}
for (const each of ["explore_share", "guarantee"]) creating.elements[each].addEventListener("change", showExcluded);
showExcluded();
creating.addEventListener("reset", () => setTimeout(showExcluded));

onSubmit(creating, async () => {
  const form = new FormData(creating);
  const body = { name: form.get("name"), coverage: Number(form.get("coverage")), score: form.get("score") };
  body.explore_share = JSON.parse(form.get("explore_share"));
  if (form.has("miss_budget")) body.miss_budget = JSON.parse(form.get("miss_budget")); // null turns it off
  if (form.get("guarantee") === "every") body.delta = 0.01;
  if (form.get("on_drift")) body.on_drift = form.get("on_drift");
  const error = document.querySelector("#new-error");
  try {
    error.textContent = "";
    await ask("/v1/streams", { method: "POST", body });
    creating.reset();
    await show();
  } catch (problem) {
    error.textContent = problem.message;
  }
});

await show();
setInterval(() => document.visibilityState === "visible" && show(), 2000);
