import { Answering } from "/static/answering.js";
import { ask, fill, live, make, onSubmit, path, percent, seldom, tenths, whole } from "/static/common.js";
import { lines } from "/static/lines.js";

const at = (id) => document.getElementById(id);
const answering = new Answering({
  place: at("round"),
  toast: at("toast"),
  unsaved: at("unsaved"),
  done: () => {
    fill(at("round"), make("p", {}, "Thank you. Ask another question."));
    document.querySelector("#ask input").select();
    document.querySelector("#ask input").focus();
  },
  undone: () => {},
});

onSubmit(at("ask"), async (form) => {
  at("ask-error").textContent = "";
  try {
    const { round } = await ask("/v1/demo/ask", { method: "POST", body: { question: new FormData(form).get("question") } });
    at("round").hidden = false;
    answering.show("python-docs", round);
  } catch (problem) {
    at("ask-error").textContent = problem.message;
  }
});

const users = at("users");
users.addEventListener("change", async () => {
  users.checked = (await ask("/v1/demo/users", { method: "PUT", body: { on: users.checked } })).on;
});
users.checked = (await ask("/v1/demo/users")).on;

// Both streams, by name: the latest summary, and the mean length of their lists.
const streams = Object.fromEntries([...document.querySelectorAll("[name=guarantee]")].map(({ value }, i) => [value, { name: ["over many lists", "about every list"][i], color: ["accent", "second"][i], summary: null, points: [] }]));
const chosen = () => document.querySelector("[name=guarantee]:checked").value;

function story(summary) {
  if (summary.sentences.learning !== null) return summary.sentences.learning;
  const { rounds, length, candidates_median, coverage_seen, coverage_target, sentences, score_why } = summary;
  const now = `After ${whole(rounds)} questions ${tenths(length)} of ${whole(candidates_median)} functions are shown on average, and the right one was in ${percent(coverage_seen)} of all lists; the target is ${percent(coverage_target)}.`;
  return `${summary.threshold === null ? sentences.progress : now} Score: ${score_why}.`;
}

function show() {
  const { summary } = streams[chosen()];
  at("charts").href = `/page/streams/${chosen()}#demo`;
  lines(at("lengths"), Object.values(streams), { chosen: streams[chosen()], below: "questions", beside: "functions shown" });
  if (summary === null) return;
  at("story").textContent = story(summary);
  at("guarantee").textContent = summary.sentences.guarantee;
}
document.querySelectorAll("[name=guarantee]").forEach((each) => each.addEventListener("change", show));

const draw = seldom(1000, async () => {
  for (const [name, stream] of Object.entries(streams)) {
    try {
      const { points } = await ask(path(name, "series"));
      stream.points = points.round.map((round, i) => [round, points.list_mean[i]]).filter(([, mean]) => mean !== null);
    } catch (error) {
      if (!(error instanceof TypeError)) console.error(error); // out of reach: the next event brings it
    }
  }
  show();
});

for (const name of Object.keys(streams)) {
  live(name, (summary) => {
    if (summary === null) return;
    streams[name].summary = summary;
    show();
    draw();
  });
}
