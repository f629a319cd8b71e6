// The page for answering: items, or open rounds, one after the other. What is shown here is leased, so nobody else is
// given it meanwhile; the lease is renewed while the page is open. All counts are the service's own.

import { Answering } from "/static/answering.js";
import { Problem, ask, fill, make, path, showState, streamName, whole } from "/static/common.js";
import { LastAnswers } from "/static/last.js";

const RENEW = 30_000; // a lease lasts two minutes
const name = streamName();
const at = (id) => document.getElementById(id);
document.title = `answer ${name} · shortlist`;
at("name").textContent = `Answer: ${name}`;
at("stream-link").href = `/page/streams/${encodeURIComponent(name)}`;

let queue = null; // what waits, as the service says
let ours = []; // rounds that are leased to this page and not shown at the moment
let asking = false;
let resumed = false; // whether what an earlier page has left was sent
const answering = new Answering({ place: at("round"), toast: at("toast"), unsaved: at("unsaved"), done: () => next(), undone, saved, later });
const last = new LastAnswers(at("last"), name, (entry) => answering.undo(entry));
const lease = (round, holder = "") => `${path(name, "rounds", encodeURIComponent(round.round_id), "lease")}${holder && `?holder=${holder}`}`;

function progress() {
  if (queue === null) return;
  const { answered, waiting, open } = queue;
  const pending = answering.pending ? `, ${whole(answering.pending)} of them not saved yet` : "";
  at("left").textContent = `${whole(answered)} answered, ${waiting ? `${whole(waiting)} waiting, ` : ""}${whole(open)} open${pending}`;
  at("progress").max = Math.max(1, answered + waiting + open);
  at("progress").value = answered;
  const yours = queue.yours ?? last.count;
  at("yours").textContent = yours ? `${whole(yours)} by ${queue.annotator ?? "you"}${queue.yours === null ? " in this browser" : ""}` : "";
  for (const link of document.querySelectorAll("header.top nav a")) link.hidden = !queue.reads; // they would lead nowhere
  at("guidelines").hidden = !queue.guidelines;
  if (at("guidelines").lastElementChild.textContent !== (queue.guidelines ?? "")) {
    at("guidelines").lastElementChild.textContent = queue.guidelines ?? "";
    at("guidelines").open = !localStorage.getItem(`shortlist-read:${name}:${queue.guidelines}`);
  }
  last.show(answering.recent);
}
at("guidelines").addEventListener("toggle", () => {
  if (!at("guidelines").open && queue?.guidelines) localStorage.setItem(`shortlist-read:${name}:${queue.guidelines}`, "1");
});

async function count() {
  try {
    queue = await ask(path(name, "items"));
    answering.annotator = queue.annotator;
    showState("live");
    if (!resumed) answering.sendLeft(name);
    resumed = true;
  } catch (error) {
    showState("lost");
    if (error instanceof Problem && error.status !== 503) throw error;
  }
  progress();
}

// The number of answers saved, held back or refused has changed; `entry` was saved.
function saved(entry) {
  if (entry) {
    last.add();
    at("guidelines").open = false; // they were read
  }
  progress();
  if (entry) count().catch(() => {});
}

function undone(round) {
  if (answering.round && answering.round !== round) ours.unshift(answering.round);
  ours = ours.filter((each) => each !== round);
}

async function later(round) {
  try {
    await ask(lease(round, round.holder), { method: "DELETE" });
  } catch (error) {
    if (!(error instanceof Problem)) return showState("lost"); // out of reach: it stays
  }
  answering.drop(round);
  next();
}

// What there is to do where nothing waits: it depends on why.
function showIdle() {
  const { answered, open } = queue ?? { answered: 0, open: 0 };
  const why = open ? "others" : answered ? "done" : "empty";
  if (at("waiting")?.dataset.why === why) return;
  const stream = make("a", { href: at("stream-link").href }, "the stream's page");
  const step = {
    others: ["Other annotators have the rest. What they give back comes to you."],
    done: ["Everything is answered. See what was learned on ", stream, "."],
    empty: ["Nothing was added yet. Add items from a file on ", stream, ", or with ", make("code", {}, `shortlist items add ${name} items.jsonl`), ". Rounds that your program opens come here too."],
  }[why];
  fill(at("round"), make("div", { id: "waiting", "data-why": why }, make("p", { class: "question" }, "Nothing to answer right now"), make("p", {}, ...step), make("p", { class: "soft small" }, "New questions appear here by themselves.")));
}

async function next() {
  if (asking || answering.round !== null) return;
  asking = true;
  let round = ours.shift() ?? null;
  try {
    round ??= await ask(path(name, "next"), { method: "POST", body: {} });
    await count();
  } catch (error) {
    showState("lost");
    fill(at("round"), make("p", {}, error instanceof TypeError ? "The service is out of reach: trying again." : error.message));
    if (round) ours.unshift(round);
    return;
  } finally {
    asking = false;
  }
  if (answering.round !== null) {
    if (round) ours.unshift(round); // somebody has undone an answer meanwhile
  } else if (round) answering.show(name, round);
  else showIdle();
}

// Says so where a lease is lost: somebody else has the round, or has answered it.
async function renew(round) {
  try {
    await ask(lease(round), { method: "PUT", body: { holder: round.holder } });
  } catch (error) {
    if (!(error instanceof Problem) || ![404, 409, 410].includes(error.status)) return;
    ours = ours.filter((each) => each !== round);
    if (answering.round !== round) return;
    answering.drop(round, "Somebody else has this one now. Here is another.");
    next();
  }
}

setInterval(() => {
  for (const round of new Set([answering.round, ...answering.waiting, ...ours])) if (round?.holder) renew(round);
}, RENEW);
// After a reload the page continues where it was: the lease lasts for two minutes.
const kept = `shortlist-page:${name}`;
addEventListener("pagehide", () => {
  const recent = answering.recent.filter(({ state }) => state === "saved").map(({ name, round, opened, answer, words, state }) => ({ name, round, opened, answer, words, state }));
  try {
    sessionStorage.setItem(kept, JSON.stringify({ recent: recent.slice(0, 10), ours: [answering.round, ...ours].filter(Boolean) }));
  } catch {
    sessionStorage.removeItem(kept); // too large to keep: the items come back by themselves
  }
});

async function goOn() {
  const { recent = [], ours: rounds = [] } = JSON.parse(sessionStorage.getItem(kept) ?? "{}");
  sessionStorage.removeItem(kept);
  answering.recent = recent;
  for (const round of rounds) {
    ours.push(round);
    await renew(round); // takes it out again if it is not ours any more
  }
}

await goOn();
await next();
setInterval(() => (answering.round === null ? next() : count().catch(() => {})), 1500);
