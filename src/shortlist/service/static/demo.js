import { Answering } from "/static/answering.js";
import { ask, fill, live, make, number, percent, whole } from "/static/common.js";

const at = (id) => document.getElementById(id);
const answering = new Answering({
  place: at("round"),
  toast: at("toast"),
  unsaved: at("unsaved"),
  done: () => {
    fill(at("round"), make("p", {}, "Thank you. Ask another one."));
    document.querySelector("#ask input").select();
    document.querySelector("#ask input").focus();
  },
  undone: () => {},
});

document.querySelector("#ask").addEventListener("submit", async (event) => {
  event.preventDefault();
  at("ask-error").textContent = "";
  try {
    const { round } = await ask("/v1/demo/ask", { method: "POST", body: { question: new FormData(event.target).get("question") } });
    at("round").hidden = false;
    answering.show("python-docs", round);
  } catch (problem) {
    at("ask-error").textContent = problem.message;
  }
});

const people = at("people");
people.addEventListener("change", async () => {
  people.checked = (await ask("/v1/demo/people", { method: "PUT", body: { on: people.checked } })).on;
});
people.checked = (await ask("/v1/demo/people")).on;

live("simulated-people", (told) => {
  if (told === null) return;
  const shown = told.threshold === null ? `all ${whole(told.candidates_median)}` : `typically ${whole(told.list_length_median)} of ${whole(told.candidates_median)}`;
  const words =
    told.threshold === null
      ? `Real questions, real passages: people pick the right one of 51. So far everything is shown; lists can become shorter after ${whole(told.rounds_needed)} more answers at the earliest.`
      : `After ${whole(told.rounds)} questions the threshold is ${number(told.threshold)}: ${shown} passages are shown, ${percent(told.hidden_share)} were hidden, and the right one was in the list ${percent(told.coverage_seen)} of the time. At least ${percent(told.coverage_target)} was asked for.`;
  at("story").textContent = words;
});
