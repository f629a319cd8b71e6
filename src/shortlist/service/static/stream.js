import { ask, download, fill, live, make, number, path, percent, seldom, streamName, threshold, whole } from "/static/common.js";
import { drawAll } from "/static/charts.js";

const name = streamName();
const at = (id) => document.getElementById(id);
document.title = `${name} · shortlist`;
at("name").textContent = name;
at("answer-link").href = `/page/streams/${encodeURIComponent(name)}/answer`;

let summary = null;
const tile = (title, value, small) => make("div", {}, make("dt", {}, title), make("dd", {}, value, small ? make("small", {}, small) : null));

function showSummary() {
  const policy = summary.settings.policy;
  const promise = policy.kind === "anytime" ? `with probability ${number(1 - policy.delta, 6)} never cut too high` : `for ${whole(policy.horizon)} rounds`;
  at("settings").textContent = `the right answer in ${percent(summary.coverage_target)} of lists, ${promise}`;
  const words = summary.waiting_for;
  const alarm = summary.drift !== null && summary.drift.alarm_count > 0;
  at("next").classList.toggle("alarm", alarm);
  const needed = summary.rounds_needed;
  const first =
    summary.threshold !== null
      ? "Lists are being shortened."
      : needed === null
        ? "Everything is shown so far."
        : `Everything is shown so far. Lists begin to shorten after ${whole(needed)} more answer${needed === 1 ? "" : "s"}.`;
  fill(
    at("next"),
    make("p", {}, first),
    make("p", { class: "soft small" }, `Next: ${words}. Score in use: ${summary.score} (${summary.score_why}).`),
    alarm ? make("p", {}, `${whole(summary.drift.alarm_count)} alarm${summary.drift.alarm_count === 1 ? "" : "s"}: lists miss more often than they may. The last one rang at round ${summary.drift.alarms.at(-1).round}.`) : "",
  );
  const interval = summary.coverage_interval;
  const answered = summary.hits + summary.misses;
  fill(
    at("tiles"),
    tile("Threshold", threshold(summary.threshold), summary.epoch ? `epoch ${summary.epoch}` : null),
    tile("Coverage so far", percent(summary.coverage_seen), interval ? `${percent(interval[0])} to ${percent(interval[1])}` : "no answer yet"),
    tile("List length", whole(summary.list_length_median), summary.candidates_median === null ? null : `median, of ${whole(summary.candidates_median)}`),
    tile("Hidden", percent(summary.hidden_share), "of all candidates"),
    tile("Answered", whole(answered), `${whole(summary.hits)} picks, ${whole(summary.misses)} misses`),
    tile("Open", whole(summary.open), "wait for an answer"),
    tile("Skipped", whole(summary.skipped), `${whole(summary.absent)} had no right one`),
    tile("Expired", whole(summary.expired), "never answered"),
  );
  at("drift-card").hidden = summary.drift === null;
  at("threshold-note").textContent = summary.threshold === null ? "It stays empty until enough is known." : "It climbs while it is safe, and never past the best one.";
  at("coverage-note").textContent = "Above the target at first: caution costs a little length, never coverage.";
  at("length-note").textContent = "The shorter the better, as long as coverage holds.";
  at("chosen-note").textContent = "Picks left of the line would be hidden today.";
  at("drift-note").textContent = "A level of 1 says that lists miss more often than they may.";
}

function answerWords(answer) {
  if (answer === null) return "open";
  if ("hit" in answer) return `picked ${answer.hit}`;
  return { miss: "none of these", skip: "skipped", absent: "no right one", expired: "expired" }[Object.keys(answer)[0]];
}

function recentRow(round) {
  const order = [...round.candidates].sort((a, b) => b.shown - a.shown || b.comparable - a.comparable);
  const listed = order.slice(0, 30).map((each) =>
    make("li", { class: each.shown ? "" : "hidden" }, make("b", {}, `${each.shown ? "shown" : "hidden"}: ${each.id}`), make("span", {}, each.why)),
  );
  const more = order.length > 30 ? [make("li", { class: "hidden" }, `… and ${order.length - 30} more`)] : [];
  const inner = make("details", { "data-round": round.round_id }, make("summary", {}, `${round.members.length} of ${round.candidates.length} shown`), make("ul", { class: "why" }, ...listed, ...more));
  return make(
    "tr",
    {},
    make("td", { "data-label": "When" }, new Date(1000 * round.shown_at).toLocaleTimeString()),
    make("td", { class: "plain" }, round.question ?? make("span", { class: "soft" }, `round ${round.round_id.slice(0, 12)}`)),
    make("td", { "data-label": "Answer" }, answerWords(round.answer), round.truncated ? make("div", { class: "soft small" }, "truncated") : null),
    make("td", { class: "plain" }, inner),
  );
}

async function showRecent() {
  const page = await ask(`${path(name, "rounds")}?newest=true&limit=10`);
  const open = new Set([...document.querySelectorAll("#recent details[open]")].map((each) => each.dataset.round));
  if (open.size > 0) return; // somebody is reading
  const head = make("tr", {}, ...["When", "Question", "Answer", "Why shown or hidden"].map((title) => make("th", { scope: "col" }, title)));
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

live(name, (told) => {
  if (told === null) {
    fill(document.querySelector("main"), make("div", { class: "card" }, make("h1", {}, name), make("p", {}, "There is no such stream."), make("a", { href: "/" }, "All streams")));
    return;
  }
  summary = told;
  showSummary();
  refresh();
});
