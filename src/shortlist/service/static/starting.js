// The calls that connect a program with a stream: ready to paste, with the service's address and the stream's name.

import { make } from "/static/common.js";

const IDS = ["faq-2", "faq-7", "faq-9"];
const SCORES = [0.87, 0.41, 0.12];
const withKey = () => sessionStorage.getItem("shortlist-key") !== null;
const text = (value) => JSON.stringify(value); // a string in Python is the same
const spaced = (value) => JSON.stringify(value, null, 1).replace(/\n\s*/g, " ").replace(/([[{]) /g, "$1").replace(/ ([\]}])/g, "$1");
const quoted = (value) => `'${spaced(value).replaceAll("'", "'\\''")}'`;

// The names of a stream's scorers, where they are fixed and there are any; and the model that its rounds must name.
const names = (stream) => Object.keys(stream?.scorers ?? {}).filter(Boolean);
const version = (stream) => stream?.scorer_version ?? null;

export function python(name, stream) {
  const key = withKey() ? ', api_key="sl_..."' : "";
  const scores = names(stream).length ? `{${names(stream).map((each) => `${text(each)}: [${SCORES.join(", ")}]`).join(", ")}}` : `[${SCORES.join(", ")}]`;
  const model = version(stream) === null ? "" : `, scorer_version=${text(version(stream))}`;
  return [
    "import shortlist  # pip install '.[client]'",
    "",
    `client = shortlist.Client(${text(location.origin)}, ${text(name)}${key})`,
    ...(stream ? [] : ["client.create(coverage=0.9)  # once"]),
    `shown = client.propose(${scores}, ids=[${IDS.map(text).join(", ")}]${model})`,
    "print(shown.members)  # show these, best first",
    `client.hit(shown.round_id, ${text(IDS[0])})  # picked; or client.miss(shown.round_id): not in this list`,
  ].join("\n");
}

export function curl(name, stream) {
  const headers = `${withKey() ? "-H 'Authorization: Bearer sl_...' " : ""}-H 'Content-Type: application/json'`;
  const scored = (score) => (names(stream).length ? { scores: Object.fromEntries(names(stream).map((each) => [each, score])) } : { score });
  const round = { round_id: "r1", candidates: IDS.map((id, i) => ({ id, ...scored(SCORES[i]) })), ...(version(stream) === null ? {} : { scorer_version: version(stream) }) };
  const rounds = `${location.origin}/v1/streams/${name}/rounds`;
  return [
    ...(stream ? [] : [`curl ${location.origin}/v1/streams ${headers} \\\n  -d ${quoted({ name, coverage: 0.9 })}`]),
    `curl ${rounds} ${headers} \\\n  -d ${quoted(round)}`,
    `curl -X PUT ${rounds}/r1/feedback ${headers} \\\n  -d ${quoted({ hit: IDS[0] })}`,
  ].join("\n");
}

// Where the browser lets a page copy: not everywhere over plain HTTP.
function copyButton(content) {
  if (!navigator.clipboard) return null;
  const button = make("button", { type: "button", class: "copy" }, "Copy");
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(content);
    button.textContent = "Copied";
    setTimeout(() => (button.textContent = "Copy"), 2000);
  });
  return button;
}

const block = (title, content) => make("div", { class: "code" }, make("h3", {}, title), copyButton(content), make("pre", { tabindex: "0", "aria-label": title }, make("code", {}, content)));

// The calls for a stream, by its summary; without one, the first of them creates it.
export function calls(name, stream = null) {
  return make("div", { class: "calls" }, block("Python", python(name, stream)), block("curl", curl(name, stream)));
}
