// What the page of a stream says of it, as functions of its summary alone: each sentence must be true in every state.

import { number, percent, plural, tenths, whole } from "/static/common.js";

export function target({ coverage_target, settings }) {
  const { policy, at_most, unanswered, explore_share } = settings;
  const guarantee = policy.kind === "anytime" ? `with probability ${number(1 - policy.delta, 6)} the threshold never passes the optimum` : `a guarantee for ${plural(policy.horizon, "round")}`;
  const clicks = ", provided that where everything is shown, right answers with low scores are clicked at least as often as others";
  const silence = unanswered === "ignore" ? ", provided that right answers with low scores are answered at least as often as others, and no later" : "";
  const condition = explore_share === null ? silence : clicks;
  const page = at_most === null ? "" : `; ${explore_share === null ? "lists" : "other lists"} of more than ${whole(at_most)} are cut short, and not covered by it unless somebody shows the others`;
  return `Target: the right answer in ${percent(coverage_target)} of lists; ${guarantee}${condition}${page}.`;
}

// What a restart does.
export function restartHelp({ settings, shadow }) {
  const lists = shadow ? "everything is shown in any case" : settings.at_most === null ? "lists are complete" : `lists have ${whole(settings.at_most)} candidates, or all if there are fewer,`;
  return `A restart begins a new epoch: no earlier round counts any more, and ${lists} until enough rounds have been answered again.`;
}

// While the score is learned; null before and after.
export function learning({ fit_picks, fit_rounds, settings, shadow }) {
  if (fit_picks === null) return null;
  const shown = shadow ? "everything is shown in any case" : settings.at_most === null ? "everything is shown until then" : `the best ${whole(settings.at_most)} candidates are shown until then`;
  return `Learning the score: ${whole(fit_picks)} of ${plural(fit_rounds, "pick")}; ${shown}.`;
}

const share = (value) => `${Math.round(100 * value)} %`;

// What `explore_share` does, in a sentence; null where it is off.
export function exploring({ settings, threshold, rounds, fit_picks }) {
  const { explore_share } = settings;
  if (explore_share === null) return null;
  const now = explore_share === "auto" ? Math.min(0.2, 2 / Math.sqrt(rounds + 1)) : explore_share;
  const lists = fit_picks !== null ? "once the score is learned, some lists" : threshold === null ? "half of the lists" : `${explore_share === "auto" ? "now " : ""}${percent(now)} of lists`;
  return `For users who only click: ${lists}, chosen at random, show everything in random order, and only clicks on those count.`;
}

// What cannot change.
export function fixed({ coverage_target, settings, score }) {
  const { policy, unanswered, explore_share, on_drift } = settings;
  const parts = [
    `coverage ${percent(coverage_target)}`,
    policy.kind === "anytime" ? `delta ${number(policy.delta)}` : `horizon ${whole(policy.horizon)}`,
    `score ${score}`,
    unanswered === "ignore" ? "silence is ignored" : "silence counts as a miss",
    on_drift === null ? "no drift alarm" : on_drift === "restart" ? "drift restarts learning" : "drift is reported",
    explore_share === null ? "exploring is off" : "exploring is on",
  ];
  return `Fixed when the stream was created: ${parts.join(", ")}.`;
}

// The score in use, and by how much a fresh fit would shorten lists.
export function score({ score, score_why, refit_gain, fit_picks }) {
  if (fit_picks !== null) return "Then it is frozen, and its threshold is learned from the rounds that follow.";
  if (score !== "auto" && score !== "learned") return `Score: ${score} (${score_why}).`;
  const known = `Score: ${score_why.replace(/(\d)%/g, "$1 %")}.`;
  if (refit_gain === null) return known;
  return `${known} ${refit_gain >= 0.005 ? `A fresh fit on the last picks would make lists ${share(refit_gain)} shorter.` : "A fresh fit on the last picks would not make lists shorter."}`;
}

// The scorers by their share, the largest first; nothing where there is one.
export function shares({ scorers }) {
  const rows = Object.entries(scorers).map(([name, value]) => ({ name, value, words: share(value) }));
  return rows.length < 2 ? [] : rows.sort((a, b) => b.value - a.value);
}

export const scoreName = (name) => (name === "auto" || name === "learned" ? "learned score" : name);

// How often more of a list was asked for, and how often the right one was there.
export function expanded({ expanded, found_after_more }) {
  return `${plural(expanded, "list")} expanded; in ${whole(found_after_more)} of them the right answer was among the others`;
}

export const answers = ({ hits, misses }) => `${plural(hits, "pick")}, ${plural(misses, "miss", "misses")}`;

// The error budget in a line, where there is one: what is spent, and how fast.
export function spent({ size, spent, burn_rate }) {
  return `${tenths(spent)} of ${plural(size, "miss", "misses")} spent; burn rate ${tenths(burn_rate)}×`;
}

// What it did so far.
export function lengthened({ error_budget, shadow }) {
  const { lengthened, added } = error_budget;
  const were = shadow ? "would have been made longer" : lengthened === 1 ? "was made longer" : "were made longer";
  if (lengthened === 0) return shadow ? "No list would have been made longer so far." : "No list was made longer so far.";
  return `${plural(lengthened, "list")} ${were} so far, by ${tenths(added)} candidate${added === 1 ? "" : "s"}${lengthened === 1 ? "" : " on average"}.`;
}

// What it guarantees.
export function budgetNote({ error_budget, coverage_target, settings }) {
  const page = settings.at_most === null ? "" : ` Misses because a page ends after ${whole(settings.at_most)} candidates are not included.`;
  return `If answers are prompt, any W answered rounds in a row have at most ${number(1 - coverage_target)} W + ${whole(error_budget.size)} misses of lists that were cut, under any distribution shift.${page}`;
}

// Whether so much is spent that every candidate is shown.
const isComplete = ({ error_budget, coverage_target }) => error_budget.spent > error_budget.size - coverage_target + 1e-9;

// While lists are made longer: what that means; null otherwise.
export function lengthening(summary) {
  const { error_budget, threshold, shadow, settings } = summary;
  if (!error_budget?.lengthening || threshold === null) return null;
  const missed = "Lists have missed so often that the distribution may have shifted.";
  const all = settings.at_most === null ? "show every candidate" : `show ${plural(settings.at_most, "candidate")}, or all if there are fewer,`;
  const shown = isComplete(summary) ? all : "show more than what reaches the threshold";
  return `${missed} The threshold stays where it is, and lists ${shadow ? "would " : ""}${shown} until they miss less.`;
}

export function progress(summary) {
  const { threshold, rounds_needed, settings, shadow, open, unanswered_counted } = summary;
  const { at_most, explore_share } = settings;
  const but = explore_share === null ? "" : ", unless they are explored";
  if (shadow) {
    return threshold === null ? "Shadow mode: everything is shown, and nothing is learned yet." : "Shadow mode: everything is shown, and what would be hidden is counted.";
  }
  if (lengthening(summary) !== null) {
    const budget = isComplete(summary) ? "The error budget is spent" : "The error budget is running out";
    if (at_most !== null) return `${budget}: lists are longer for now, but never longer than ${whole(at_most)}.`;
    return `${budget}: lists are ${isComplete(summary) ? "complete" : "longer"} for now.`;
  }
  if (threshold !== null) return at_most === null ? `Lists are cut at the threshold${but}.` : `Lists are cut at the threshold, and after ${whole(at_most)} candidates${but}.`;
  const shown = at_most === null ? "Everything is shown so far." : `No threshold yet: the best ${whole(at_most)} candidates are shown${explore_share === null ? "" : ", or all where a list is explored"}.`;
  if (rounds_needed === null) return shown;
  const next = at_most === null ? "Lists can become shorter" : "There can be a threshold";
  const late = open || unanswered_counted ? "; answers to open rounds can make it sooner" : "";
  return `${shown} ${next} once ${whole(rounds_needed)} more round${rounds_needed === 1 ? " counts" : "s count"}${late}.`;
}

export function warnings({ truncated_share, settings, drift }) {
  const warned = [];
  if (truncated_share > 0) {
    const cause = settings.at_most === null ? "the search may have left candidates out" : `at_most is ${whole(settings.at_most)}, or the search may have left candidates out`;
    warned.push(`${percent(truncated_share)} of all lists so far may lack a candidate that reached the threshold (${cause}): the guarantee does not cover those.`);
  }
  if (drift !== null && drift.alarm_count > 0) warned.push(`${plural(drift.alarm_count, "alarm")}: lists missed more often than allowed. The last one was raised at round ${whole(drift.alarms.at(-1).round)}.`);
  return warned;
}

export function coverageNote({ coverage_interval, coverage_target, coverage_seen, truncated_share, threshold, shadow, would_have_missed, hits, misses, settings }) {
  if (settings.explore_share !== null) return "Misses are not reported here, so this is not the coverage of the lists.";
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

export function thresholdNote({ threshold, epoch, fit_picks }) {
  if (fit_picks !== null) return "No threshold while the score is being learned.";
  if (threshold === null) return "No threshold yet.";
  return `It never falls${epoch ? " within an epoch; each restart begins a new one" : ""}.`;
}
export const lengthNote = ({ settings }) => (settings.at_most === null ? "The shorter the better, as long as coverage holds." : `Never more than ${whole(settings.at_most)} candidates${settings.explore_share === null ? "" : ", unless explored"}.`);
export function chosenNote({ threshold, fit_picks }) {
  if (fit_picks !== null) return "Picks are plotted once the score is learned.";
  return threshold === null ? "Scores of what was picked." : "Picks left of the line are below the current threshold.";
}
export const driftNote = () => "An alarm is raised at level 1: lists missed more often than allowed.";

// Items that wait for annotators.
export function queue({ waiting, open, held, refused }) {
  const parts = [`${plural(waiting, "item")} waiting`, `${plural(open, "round")} open, ${whole(held)} of them with an annotator`];
  return `${[...parts, ...(refused ? [`${plural(refused, "item")} refused`] : [])].join("; ")}.`;
}

// The lines that were refused, the first of them with their reasons.
export function refusedItems(refused) {
  const reasons = refused.slice(0, 5).map(({ line, problem }) => `Line ${line}: ${problem.detail}`);
  return `${plural(refused.length, "item")} refused. ${reasons.join(" ")}${refused.length > 5 ? " …" : ""}`;
}

export const added = (count) => `${plural(count, "item")} received.`;

// What the table of classes says, and what it cannot.
export function classes({ shown, class_count, unlabeled }) {
  const first = shown < class_count ? `The ${whole(shown)} of ${plural(class_count, "class", "classes")} that lists missed most often. ` : "";
  const rest = unlabeled ? ` ${plural(unlabeled, "answer")} without a label ${unlabeled === 1 ? "belongs" : "belong"} to no class.` : "";
  return `${first}From labels, after the fact: all classes share one threshold and its guarantee, and a single class has none of its own.${rest}`;
}

export const hour = (at) => new Date(1000 * at).toLocaleString(undefined, { month: "short", day: "numeric", hour: "2-digit", minute: "2-digit" });

export const annotators = (rows) => (rows.length ? `By annotator: ${rows.map(({ annotator, answers }) => `${annotator} ${whole(answers)}`).join(", ")}.` : "");
