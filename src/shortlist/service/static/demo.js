import { Answering } from "/static/answering.js";
import { ask, fill, live, make, number, onSubmit, percent, whole } from "/static/common.js";

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

const USERS = "Simulated users look for functions in Python's standard library. Two searches score the functions: by words (bm25) and by letters.";

function story(summary) {
  const first = summary.sentences.learning;
  if (first !== null) return `${USERS} ${first}`;
  const learned = `The score is ${summary.score_why}.`;
  if (summary.threshold === null) return `${USERS} ${learned} Now its threshold is being learned: lists can become shorter after ${whole(summary.rounds_needed)} more answers at the earliest.`;
  return `${learned} After ${whole(summary.rounds)} questions the threshold is ${number(summary.threshold)}: typically ${whole(summary.list_length_median)} of ${whole(summary.candidates_median)} functions are shown, ${percent(summary.hidden_share)} were hidden so far, and the right one was in the list ${percent(summary.coverage_seen)} of the time; the target is ${percent(summary.coverage_target)}.`;
}

live("simulated-users", (summary) => {
  if (summary === null) return;
  at("story").textContent = story(summary);
  at("learning").hidden = summary.fit_picks === null;
  at("learning").max = summary.fit_rounds;
  at("learning").value = summary.fit_picks ?? 0;
});
