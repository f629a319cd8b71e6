import { Answering } from "/static/answering.js";
import { ask, fill, live, make, number, percent, whole } from "/static/common.js";
import { learning, shares } from "/static/words.js";

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

const PEOPLE = "Simulated people look for functions of Python's library, and two searches score them: by words (bm25) and by letters.";

function story(told) {
  const first = learning(told);
  if (first !== null) return `${PEOPLE} ${first}`;
  const learned = `The score is learned: ${shares(told).map(({ name, words }) => `${name} ${words}`).join(", ")}.`;
  if (told.threshold === null) return `${PEOPLE} ${learned} Now its threshold is learned: lists can become shorter after ${whole(told.rounds_needed)} more answers at the earliest.`;
  return `${learned} After ${whole(told.rounds)} questions the threshold is ${number(told.threshold)}: typically ${whole(told.list_length_median)} of ${whole(told.candidates_median)} functions are shown, ${percent(told.hidden_share)} were hidden so far, and the right one was in the list ${percent(told.coverage_seen)} of the time. At least ${percent(told.coverage_target)} was asked for.`;
}

live("simulated-people", (told) => {
  if (told === null) return;
  at("story").textContent = story(told);
  at("learning").hidden = told.fit_picks === null;
  at("learning").max = told.fit_rounds;
  at("learning").value = told.fit_picks ?? 0;
});
