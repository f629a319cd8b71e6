// What the page of a stream says of it, as functions of its summary alone: each sentence must be true in every state.

import { number, percent, whole } from "/static/common.js";

const plural = (count, word) => `${whole(count)} ${word}${count === 1 ? "" : "s"}`;

export function target({ coverage_target, settings }) {
  const { policy, at_most, unanswered } = settings;
  const guarantee = policy.kind === "anytime" ? `with probability ${number(1 - policy.delta, 6)} the threshold never passes the optimum` : `a guarantee for ${plural(policy.horizon, "round")}`;
  const condition = unanswered === "ignore" ? ", if neither silence nor delay depends on the score" : "";
  const page = at_most === null ? "" : `; lists of more than ${whole(at_most)} are cut short and not covered by it`;
  return `Target: the right answer in ${percent(coverage_target)} of lists; ${guarantee}${condition}${page}.`;
}

export function progress({ threshold, rounds_needed, settings, shadow, open, unanswered_counted }) {
  const { at_most } = settings;
  if (shadow) {
    return threshold === null ? "Shadow mode: everything is shown, and nothing is learned yet." : "Shadow mode: everything is shown, and what would be hidden is counted.";
  }
  if (threshold !== null) return at_most === null ? "Lists are cut at the threshold." : `Lists are cut at the threshold, and after ${whole(at_most)} candidates.`;
  const shown = at_most === null ? "Everything is shown so far." : `No threshold yet: the best ${whole(at_most)} candidates are shown.`;
  if (rounds_needed === null) return shown;
  const next = at_most === null ? "Lists can become shorter" : "There can be a threshold";
  const late = open || unanswered_counted ? "; answers to open rounds can make it sooner" : "";
  return `${shown} ${next} once ${whole(rounds_needed)} more round${rounds_needed === 1 ? " counts" : "s count"}${late}.`;
}

export function warnings({ truncated_share, settings, drift }) {
  const found = [];
  if (truncated_share > 0) {
    const cause = settings.at_most === null ? "the search may have left candidates out" : `at_most is ${whole(settings.at_most)}, or the search may have left candidates out`;
    found.push(`${percent(truncated_share)} of all lists so far may lack a candidate that reached the threshold (${cause}): the guarantee does not cover those.`);
  }
  if (drift !== null && drift.alarm_count > 0) found.push(`${plural(drift.alarm_count, "alarm")}: lists missed more often than they may. The last one rang at round ${drift.alarms.at(-1).round}.`);
  return found;
}

export function coverageNote({ coverage_interval, coverage_target, coverage_seen, truncated_share, threshold, shadow, would_have_missed, hits, misses }) {
  if (coverage_interval === null) return "No answer yet.";
  if (shadow) return `Everything is shown. With the threshold, ${whole(would_have_missed)} of ${whole(hits + misses)} right answers (${percent(would_have_missed / (hits + misses))}) would have been missing.`;
  const [low, high] = coverage_interval;
  if (high < coverage_target) {
    const reason = truncated_share > 0 ? "truncated lists count here, and are not covered by the guarantee" : "look for a distribution shift, wrong answers, or questions without a right one";
    return `Below the target of ${percent(coverage_target)}, by more than chance explains: ${reason}.`;
  }
  if (low > coverage_target) return threshold === null ? "Above the target: nothing is cut at a threshold yet." : "Above the target: the threshold approaches the optimum from below.";
  return `${percent(coverage_seen)} is within what chance explains around the target.`;
}

export function thresholdNote({ threshold, epoch, settings }) {
  if (threshold === null) return "There is none yet.";
  if (settings.score === "auto") return "Of the score in use, which can change while several are compared; each one's own never falls.";
  return `It never falls${epoch ? " within an epoch: it started again with the last one" : ""}.`;
}
export const lengthNote = ({ settings }) => (settings.at_most === null ? "The shorter the better, as long as coverage holds." : `Never more than ${whole(settings.at_most)}.`);
export const chosenNote = ({ threshold }) => (threshold === null ? "Scores of what was picked." : "Picks left of the line are below today's threshold.");
export const driftNote = () => "At a level of 1 an alarm rings: lists missed more often than they may.";
