import { ask, called, download, fill, isUnknown, live, make, path, percent, scoreLines, seldom, streamName, tenths, threshold, whole } from "/static/common.js";
import { drawAll } from "/static/charts.js";
import { Configuring } from "/static/configuring.js";
import { Labels } from "/static/labels.js";
import { calls } from "/static/starting.js";
import { Steering } from "/static/steering.js";

const name = streamName();
const at = (id) => document.getElementById(id);
document.title = `${name} · shortlist`;
at("name").textContent = name;
at("answer-link").href = `/page/streams/${encodeURIComponent(name)}/answer`;

let summary = null;
const configuring = new Configuring(at("configure"), name);
const steering = new Steering(at("steering"), name);
let labels = null;
at("answer-button").href = at("start-answer").href = at("answer-link").href;
at("own").hidden = location.hash !== "#demo"; // the demo links here like that
const tile = (title, value, small) => make("div", {}, make("dt", {}, title), make("dd", {}, value, small ? make("small", {}, small) : null));

// A share as a bar; the words beside it say the same.
function track(value) {
  const bar = make("span", { class: "bar" });
  bar.style.width = `${100 * value}%`;
  return make("span", { class: "track", "aria-hidden": "true" }, bar);
}

// The scorers by their share, the largest first; nothing where there is one.
function showShares() {
  const shares = Object.entries(summary.scorers).sort(([, a], [, b]) => b - a);
  at("shares-card").hidden = shares.length < 2;
  fill(at("shares"), ...shares.map(([name, value]) => make("li", {}, make("span", { class: "name" }, name), track(value), make("span", {}, `${Math.round(100 * value)} %`))));
}

// The error budget as a bar and in words, as wide as all tiles; nothing where it is off.
function budgetTile() {
  const budget = summary.error_budget;
  if (budget === null) return [];
  const notes = summary.sentences.budget.map((each) => make("small", {}, each));
  const value = make("dd", {}, summary.sentences.budget_label, track(Math.min(budget.spent / budget.size, 1)), ...notes);
  return [make("div", { id: "error-budget", class: budget.lengthening ? "row low" : "row" }, make("dt", {}, "Error budget"), value)];
}

function expandedTile() {
  if (!summary.expanded) return [];
  const note = make("small", {}, "A pick from the others counts as a miss of the list, and its score is known.");
  return [make("div", { id: "expanded", class: "row" }, make("dt", {}, "Show the others"), make("dd", {}, summary.sentences.expanded, note))];
}

// Where misses are not reported, the share of picks is no coverage.
function coverageTile() {
  const { coverage_seen, coverage_interval } = summary;
  if (isUnknown(summary)) return tile("Coverage so far", "not known", "misses are not reported");
  if (coverage_interval === null) return tile("Coverage so far", percent(coverage_seen), "no answer yet");
  return tile("Coverage so far", percent(coverage_seen), coverage_interval.map(percent).join(" to "));
}

// The next step of a stream without rounds: the exact calls.
function showStart() {
  at("start").hidden = summary.rounds > 0;
  at("tiles").hidden = summary.rounds === 0;
  if (!at("start").hidden && !at("calls").firstChild) fill(at("calls"), calls(name, summary));
}

function showSummary() {
  showStart();
  const { learning, lengthening, progress, exploring, warnings, advice, unreported, score, target, guarantee, answers } = summary.sentences;
  at("settings").textContent = target;
  at("guarantee").textContent = guarantee;
  at("next").classList.toggle("alarm", summary.drift !== null && summary.drift.alarm_count > 0);
  at("next").classList.toggle("watch", lengthening !== null);
  const bar = learning && make("progress", { "aria-label": "Picks that the score is learned from", max: summary.fit_rounds, value: summary.fit_picks });
  fill(
    at("next"),
    make("p", {}, learning ?? progress),
    ...(bar ? [bar] : []),
    ...[exploring, lengthening].filter(Boolean).map((each) => make("p", {}, each)),
    ...[...warnings, advice].filter(Boolean).map((each) => make("p", {}, each)),
    ...(unreported ? [make("p", { class: "buttons" }, make("button", { type: "button", id: "explore", onclick: () => configuring.explore(unreported) }, "Users only click: turn exploring on"))] : []),
    make("p", { class: "soft small" }, score),
  );
  showShares();
  const answered = summary.hits + summary.misses;
  fill(
    at("tiles"),
    tile("List length", summary.length === null ? "–" : tenths(summary.length), summary.candidates_median === null ? null : `mean of the last 100 or so, of ${whole(summary.candidates_median)} candidates${summary.shadow ? ", with the threshold on" : ""}`),
    coverageTile(),
    tile("Hidden", percent(summary.hidden_share), summary.shadow ? "of all candidates, with the threshold on" : "of all candidates"),
    tile("Threshold", threshold(summary.threshold), summary.epoch ? `epoch ${summary.epoch}` : null),
    tile("Answered rounds", whole(answered), answers),
    tile("Open", whole(summary.open), "rounds without an answer yet"),
    tile("Skipped", whole(summary.skipped), `${whole(summary.absent)} with no right candidate`),
    tile("Expired", whole(summary.expired), summary.withdrawn ? `closed without an answer; ${whole(summary.withdrawn)} withdrawn` : "closed without an answer"),
    ...budgetTile(),
    ...expandedTile(),
  );
  at("drift-card").hidden = summary.drift === null;
  for (const card of ["threshold-card", "chosen-card"]) at(card).hidden = learning !== null; // there is nothing in them
  for (const chart of ["threshold", "coverage", "length", "chosen", "drift"]) at(`${chart}-note`).textContent = summary.sentences[chart];
}

function answerWords({ answer, first, rank, candidates }) {
  if (answer === null) return "open";
  if ("hit" in answer) {
    const named = (id) => called(id, candidates.find((each) => each.id === id)?.text);
    const picked = [answer.hit].flat().map(named); // all that are needed, where these are several
    const later = first !== null && rank > first;
    return `picked ${picked.join(" and ")}${later ? ", from the others" : ""}`;
  }
  return { miss: "not in the list", skip: "skipped", absent: "no candidate is right", expired: "expired", withdrawn: "withdrawn" }[Object.keys(answer)[0]];
}

function recentRow(round) {
  const { candidates, candidate_count: all, member_count: shown } = round;
  const listed = candidates.map((each) =>
    make("li", { class: each.shown ? "" : "hidden" }, make("b", {}, `${each.shown ? "shown" : "hidden"}: ${called(each.id, each.text)}`), make("span", {}, each.why, each.score === null ? make("span", { class: "scores" }, scoreLines(each).join(" · ")) : null)),
  );
  const more = all > candidates.length ? [make("li", { class: "hidden" }, `… and ${all - candidates.length} more`)] : [];
  const inner = make("details", { "data-round": round.round_id }, make("summary", {}, `${round.first ?? shown} of ${all} shown${round.first === null ? "" : `, then ${shown - round.first} more`}`), make("ul", { class: "why" }, ...listed, ...more));
  return make(
    "tr",
    {},
    make("td", { "data-label": "When" }, new Date(1000 * round.shown_at).toLocaleTimeString()),
    make("td", { class: "plain" }, round.question ?? make("span", { class: "soft" }, `round ${round.round_id.slice(0, 12)}`)),
    make("td", { "data-label": "Answer" }, answerWords(round), round.truncated ? make("div", { class: "soft small" }, "truncated") : null),
    make("td", { class: "plain" }, inner),
  );
}

async function showRecent() {
  const page = await ask(`${path(name, "rounds")}?newest=true&limit=10&candidates=30`);
  const open = new Set([...document.querySelectorAll("#recent details[open]")].map((each) => each.dataset.round));
  if (open.size > 0) return; // somebody is reading
  const head = make("tr", {}, ...["When", "Question", "Answer", "Shown and hidden"].map((title) => make("th", { scope: "col" }, title)));
  fill(at("recent"), page.rounds.length ? make("table", { class: "stack" }, make("thead", {}, head), make("tbody", {}, ...page.rounds.map(recentRow))) : make("p", { class: "soft" }, "No round yet."));
}

let series = null;
async function showSeries() {
  try {
    series = await ask(path(name, "series"));
    at("charts").hidden = series.points.round.length === 0;
    if (!at("charts").hidden) drawAll(summary, series);
    await showRecent();
  } catch (error) {
    if (!(error instanceof TypeError)) console.error(error); // out of reach: the next event brings it
  }
}
const refresh = seldom(1000, showSeries);

for (const query of ["(prefers-color-scheme: dark)", "(max-width: 640px)"]) {
  matchMedia(query).addEventListener("change", () => series && drawAll(summary, series));
}
for (const form of ["jsonl", "csv"]) {
  at(`export-${form}`).addEventListener("click", async () => {
    at("export-error").textContent = "";
    try {
      await download(`${path(name, "export")}?format=${form}`, `${name}.${form}`);
    } catch (problem) {
      at("export-error").textContent = problem.message;
    }
  });
}

live(name, (current, problem) => {
  if (current === null) {
    fill(document.querySelector("main"), make("div", { class: "card" }, make("h1", {}, name), make("p", {}, problem ?? "There is no such stream."), make("p", { class: "buttons" }, problem ? "" : make("a", { class: "button main", href: `/page/start?name=${encodeURIComponent(name)}` }, "Create it"), make("a", { class: "button", href: "/" }, "All streams"))));
    return;
  }
  summary = current;
  configuring.show(current);
  steering.show(summary);
  labels ??= new Labels(at("items"), at("classes"), name);
  showSummary();
  refresh();
});
