// Answers that the service has not acknowledged yet, kept in this browser: a closed tab, a crash or a lost connection
// loses none. Each has an entry of its own, so that two tabs cannot overwrite each other's.

const prefix = (name) => `shortlist-answer:${name}:`;
const key = ({ name, round }) => `${prefix(name)}${round.round_id}`;

// Keeps an answer; returns whether the browser lets us.
export function keep(entry, annotator) {
  const { name, answer, words, at, round } = entry;
  const { round_id, holder, question } = round;
  try {
    localStorage.setItem(key(entry), JSON.stringify({ name, answer, words, at, annotator, round: { round_id, holder, question } }));
    return true;
  } catch {
    return false; // no room, or no storage at all
  }
}

export const isKept = (entry) => localStorage.getItem(key(entry)) !== null;

export const forget = (entry) => localStorage.removeItem(key(entry));

// What an earlier page, or another tab, has kept of this annotator's, the oldest first.
export function left(name, annotator) {
  const keys = Object.keys(localStorage).filter((each) => each.startsWith(prefix(name)));
  const entries = keys.map((each) => JSON.parse(localStorage.getItem(each)));
  return entries.filter((each) => each.annotator === annotator).sort((one, other) => one.at - other.at);
}
