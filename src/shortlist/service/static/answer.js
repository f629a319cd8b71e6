import { Answering } from "/static/answering.js";
import { ask, fill, make, path, showState, streamName, whole } from "/static/common.js";

const name = streamName();
const at = (id) => document.getElementById(id);
document.title = `answer ${name} · shortlist`;
at("name").textContent = `Answer: ${name}`;
at("stream-link").href = `/page/streams/${encodeURIComponent(name)}`;

let queue = [];
let given = new Set();
const answering = new Answering({ place: at("round"), toast: at("toast"), unsaved: at("unsaved"), done, undone, saved: count });

// The service's own counts: what is held back here is not answered yet, and what others answered is.
let summary = null;
function progress() {
  if (summary === null) return;
  const answered = summary.hits + summary.misses + summary.skipped + summary.absent + summary.held;
  const pending = answering.pending ? `, ${whole(answering.pending)} of them not saved yet` : "";
  at("left").textContent = `${whole(answered)} answered, ${whole(summary.open)} open${pending}`;
  at("progress").max = Math.max(1, answered + summary.open);
  at("progress").value = answered;
}

async function count() {
  progress();
  try {
    summary = await ask(path(name));
    showState("live");
    progress();
  } catch {
    showState("lost");
  }
}

function done(round) {
  given.add(round.round_id);
  next();
}

function undone(round) {
  given.delete(round.round_id);
  if (answering.round) queue.unshift(answering.round);
}

// The next round in full: a list may be long, so the queue has rounds without their candidates.
async function take() {
  while (queue.length > 0) {
    const round = queue.shift();
    if (round.candidates.length === round.candidate_count) return round;
    try {
      const complete = await ask(path(name, "rounds", encodeURIComponent(round.round_id)));
      if (complete.answer === null) return complete;
    } catch (error) {
      if (error.status === 404) continue;
      queue.unshift(round);
      throw error;
    }
  }
  return null;
}

async function next() {
  let round = null;
  queue = queue.filter((each) => !given.has(each.round_id));
  try {
    if (queue.length === 0) {
      const page = await ask(`${path(name, "rounds")}?open=true&limit=50&candidates=0`);
      queue = page.rounds.filter((each) => !given.has(each.round_id));
    }
    if (answering.round === null) round = await take();
    summary = await ask(path(name));
    showState("live");
    progress();
  } catch (error) {
    showState("lost");
    if (!(error instanceof TypeError)) {
      fill(at("round"), make("p", {}, error.message));
      return;
    }
  }
  if (answering.round !== null) {
    if (round) queue.unshift(round); // another call was faster
    return;
  }
  if (round) answering.show(name, round);
  else if (!at("waiting")) fill(at("round"), make("p", { id: "waiting" }, "Nothing waits for an answer. New questions appear here by themselves."));
}

await next();
setInterval(() => (answering.round === null ? next() : count()), 1500);
