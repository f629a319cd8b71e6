// What all pages share: asking the service, keys, live events, and making elements. Everything that comes
// from the service is set as text, never as markup.

export function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "onclick") element.addEventListener("click", value);
    else if (value !== null && value !== undefined && value !== false) element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

export function fill(element, ...children) {
  element.replaceChildren(...children);
}

export function number(value, digits = 3) {
  if (value === null || value === undefined) return "–";
  const small = value !== 0 && Math.abs(value) < 1e-4; // 0.00004795 would be a line of zeros
  return small ? Number(value).toExponential(digits - 1) : Number(value).toLocaleString("en", { maximumSignificantDigits: digits });
}
export const whole = (value) => (value === null || value === undefined ? "–" : Math.round(value).toLocaleString("en"));
export const plural = (count, word, several = `${word}s`) => `${whole(count)} ${count === 1 ? word : several}`;
export const tenths = (value) => value.toLocaleString("en", { maximumFractionDigits: 1 });
export const percent = (value) => (value === null || value === undefined ? "–" : `${(100 * value).toFixed(1)} %`);
// Where misses are not reported, the share of picks is no coverage.
export const isUnknown = ({ coverage_seen, hits, misses, settings }) => settings.explore_share !== null || (coverage_seen === null && hits + misses > 0);
export const threshold = (value) => (value === null ? "none yet" : number(value));
// What a candidate scored: one number, or one of each scorer, a line for each.
export const scoreLines = ({ score, scores }) => (score !== null ? [number(score)] : Object.entries(scores).map(([name, value]) => `${name} ${number(value)}`));
export const streamName = () => decodeURIComponent(location.pathname.split("/")[3]);
export const path = (name, ...rest) => ["/v1/streams", encodeURIComponent(name), ...rest].join("/");

// Keys: asked for when the service needs one, kept until the tab is closed.
let asking = null;

let refused = false;

function askForKey() {
  asking ??= new Promise((resolve) => {
    const input = make("input", { type: "password", name: "key", autocomplete: "off", required: true });
    const dialog = make(
      "dialog",
      { "aria-labelledby": "key-title" },
      make(
        "form",
        { method: "dialog" },
        make("h2", { id: "key-title" }, "This service needs a key"),
        refused ? make("p", { class: "error", role: "alert" }, "That key is not valid, or was revoked.") : null,
        make("p", { class: "soft small" }, "Ask the administrator of the service for yours (", make("code", {}, "shortlist keys create"), "). It is kept until you close this tab."),
        make("label", {}, "API key", input),
        make("p", { class: "buttons" }, make("button", { class: "main" }, "Use this key")),
      ),
    );
    dialog.addEventListener("close", () => {
      sessionStorage.setItem("shortlist-key", input.value.trim());
      refused = true;
      dialog.remove();
      asking = null;
      resolve();
    });
    dialog.addEventListener("cancel", (event) => event.preventDefault());
    document.body.append(dialog);
    dialog.showModal();
  });
  return asking;
}

function withKey(options) {
  const key = sessionStorage.getItem("shortlist-key");
  return { ...options, headers: { ...options.headers, ...(key ? { Authorization: `Bearer ${key}` } : {}) } };
}

async function send(url, options = {}) {
  for (;;) {
    const answer = await fetch(url, withKey(options));
    if (answer.status !== 401) {
      refused = false;
      return answer;
    }
    await askForKey();
  }
}

// Calls `send` with the form when it is submitted. The page has the button disabled until then: a form that is submitted
// before there is a listener loads the page again, and nothing is sent.
export function onSubmit(form, send) {
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    send(form);
  });
  form.querySelector("button").disabled = false;
}

export class Problem extends Error {
  constructor(detail, status) {
    super(detail);
    this.status = status;
  }
}

export async function ask(url, { method = "GET", body, keepalive = false } = {}) {
  const options = { method, keepalive };
  if (body !== undefined) {
    options.body = JSON.stringify(body);
    options.headers = { "Content-Type": "application/json" };
  }
  const answer = await send(url, options);
  const content = answer.status === 204 ? null : await answer.json().catch(() => null); // a proxy's error may be no JSON
  if (!answer.ok) throw new Problem(content?.detail ?? `the service answered ${answer.status}`, answer.status);
  return content;
}

// Sends a file of items, one line of JSON each, a piece at a time, so that it may be of any size. `tell` gets the share
// that was sent, and the result of each line. A piece that does not fit is sent again in halves: only what is wrong is
// refused.
const PIECE = 500_000; // bytes
export async function upload(url, file, tell) {
  let number = 0;
  for (let start = 0; start < file.size; ) {
    let bytes = null;
    for (let size = PIECE; ; size *= 2) {
      bytes = new Uint8Array(await file.slice(start, start + size).arrayBuffer());
      const end = start + bytes.length >= file.size ? bytes.length : bytes.lastIndexOf(10) + 1;
      bytes = bytes.subarray(0, end);
      if (end > 0) break; // else a line is longer than that
    }
    const [rows, results] = [[], []];
    for (const text of new TextDecoder().decode(bytes).split("\n")) {
      number += 1;
      if (text.trim() === "") continue;
      try {
        rows.push({ line: number, item: JSON.parse(text) });
      } catch {
        results.push({ line: number, status: 422, problem: { detail: "this is not JSON" } });
      }
    }
    number -= 1; // the last line ends the piece, or is empty
    for (let first = 0; first < rows.length; first += 500) results.push(...(await sendItems(url, rows.slice(first, first + 500))));
    start += bytes.length;
    tell(start / file.size, results.sort((a, b) => a.line - b.line));
  }
}

async function sendItems(url, rows) {
  const body = JSON.stringify({ items: rows.map(({ item }) => item) });
  const answer = await send(url, { method: "POST", body, headers: { "Content-Type": "application/json" } });
  const content = await answer.json().catch(() => null);
  if (answer.ok) return content.results.map((each, i) => ({ ...each, line: rows[i].line }));
  if (![413, 422].includes(answer.status)) throw new Problem(content?.detail ?? `the service answered ${answer.status}`, answer.status);
  if (rows.length === 1) return [{ line: rows[0].line, status: answer.status, problem: { detail: content.detail.replace("items[0].", "") } }];
  const half = Math.ceil(rows.length / 2);
  return [...(await sendItems(url, rows.slice(0, half))), ...(await sendItems(url, rows.slice(half)))];
}

export async function download(url, name) {
  const answer = await send(url);
  if (!answer.ok) throw new Problem((await answer.json()).detail, answer.status);
  const link = make("a", { href: URL.createObjectURL(await answer.blob()), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

export function showState(state) {
  const place = document.querySelector("header.top .state");
  const words = { live: "live", lost: "connection lost, trying again", idle: "connecting" };
  place.dataset.state = state;
  if (place.textContent !== words[state]) place.textContent = words[state];
}

// Server-sent events read with fetch, because EventSource cannot send a key. Tries again until the page is closed.
export async function live(name, tell) {
  let pause = 500;
  for (;;) {
    try {
      const answer = await send(path(name, "live"));
      if (answer.status === 404) return tell(null);
      if (answer.status === 403) return tell(null, "This key cannot read streams: ask for one with the scope read. Answering needs no more than the scope feedback.");
      if (answer.status === 500) return tell(null, (await answer.json()).detail); // damaged: it will not heal by waiting
      if (!answer.ok) throw new Problem(`the service answered ${answer.status}`, answer.status);
      showState("live");
      pause = 500;
      const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
      let rest = "";
      for (;;) {
        const { done, value } = await reader.read();
        if (done) break;
        rest += value;
        const parts = rest.split("\n\n");
        rest = parts.pop();
        for (const part of parts) {
          const data = part.split("\n").find((line) => line.startsWith("data: "));
          if (part.includes("event: stream") && data) tell(JSON.parse(data.slice(6)));
        }
      }
    } catch (error) {
      if (!(error instanceof TypeError || error instanceof Problem)) console.error(error);
    }
    showState("lost");
    await new Promise((resolve) => setTimeout(resolve, pause));
    pause = Math.min(2 * pause, 5000);
  }
}

// Calls at most once in so many milliseconds, and once more at the end.
export function seldom(milliseconds, work) {
  let last = -Infinity;
  let waiting = null;
  return () => {
    if (waiting !== null) return;
    waiting = setTimeout(() => {
      waiting = null;
      last = performance.now();
      work();
    }, Math.max(0, last + milliseconds - performance.now()));
  };
}

export function spark(values) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("viewBox", "0 0 120 30");
  svg.setAttribute("preserveAspectRatio", "none");
  svg.setAttribute("class", "spark");
  svg.setAttribute("role", "img");
  const known = values.filter((value) => value !== null);
  svg.setAttribute("aria-label", known.length ? `threshold from ${number(known[0])} to ${number(known.at(-1))}` : "no threshold yet");
  if (known.length > 1) {
    const low = Math.min(...known);
    const high = Math.max(...known);
    const points = values
      .map((value, i) => [4 + (112 * i) / (values.length - 1), value === null ? null : 26 - (22 * (value - low)) / (high - low || 1)])
      .filter(([, y]) => y !== null);
    const line = document.createElementNS("http://www.w3.org/2000/svg", "path");
    line.setAttribute("d", points.map(([x, y], i) => (i ? `H${x.toFixed(1)}V${y.toFixed(1)}` : `M${x.toFixed(1)} ${y.toFixed(1)}`)).join(""));
    svg.append(line);
  }
  return svg;
}

// What a candidate is called: its text where that is short, otherwise its id.
export const called = (id, text) => (text && text.length <= 60 ? text : String(id));
