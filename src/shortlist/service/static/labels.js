// What a lead of annotators looks at on the page of a stream: items that wait, coverage by class, labels per hour.

import { ask, called, download, fill, make, path, percent, plural, upload, whole } from "/static/common.js";

const CLASSES = 20; // how many of the hardest are shown

// Items that wait for annotators.
function queueNote({ waiting, open, held, refused }) {
  const parts = [`${plural(waiting, "item")} waiting`, `${plural(open, "round")} open, ${whole(held)} of them with an annotator`];
  return `${[...parts, ...(refused ? [`${plural(refused, "item")} refused`] : [])].join("; ")}.`;
}

// The lines that were refused, the first of them with their reasons.
function refusedItems(refused) {
  const reasons = refused.slice(0, 5).map(({ line, problem }) => `Line ${line}: ${problem.detail}`);
  return `${plural(refused.length, "item")} refused. ${reasons.join(" ")}${refused.length > 5 ? " …" : ""}`;
}

const added = (count) => `${plural(count, "item")} received.`;

// What the table of classes says, and what it cannot.
function classesNote({ shown, class_count, unlabeled }) {
  const first = shown < class_count ? `The ${whole(shown)} of ${plural(class_count, "class", "classes")} that lists missed most often. ` : "";
  const rest = unlabeled ? ` ${plural(unlabeled, "answer")} without a label ${unlabeled === 1 ? "belongs" : "belong"} to no class.` : "";
  return `${first}From labels, after the fact: all classes share one threshold and its guarantee, and a single class has none of its own.${rest}`;
}

const hour = (at) => new Date(1000 * at).toLocaleString(undefined, { month: "short", day: "numeric", hour: "2-digit", minute: "2-digit" });

const annotatorsNote = (rows) => (rows.length ? `By annotator: ${rows.map(({ annotator, answers }) => `${annotator} ${whole(answers)}`).join(", ")}.` : "");

export class Labels {
  constructor(items, classes, name) {
    Object.assign(this, { items, classes, name });
    const file = items.querySelector("input[type=file]");
    file.addEventListener("change", () => this.add(file));
    for (const form of ["csv", "jsonl", "parquet"]) this.button(classes, `#labels-${form}`, `${path(name, "labels")}?format=${form}`, `${name}-labels.${form}`);
    this.button(classes, "#classes-csv", `${path(name, "classes")}?format=csv`, `${name}-classes.csv`);
    this.watch();
  }

  // The next time comes when this one is done, and not while nobody looks: all answers are read for it.
  async watch() {
    if (!document.hidden) await this.refresh();
    setTimeout(() => this.watch(), 15_000);
  }

  button(card, which, url, file) {
    card.querySelector(which).addEventListener("click", async () => {
      card.querySelector(".error").textContent = "";
      try {
        await download(url, file);
      } catch (problem) {
        card.querySelector(".error").textContent = problem.message;
      }
    });
  }

  // Sends a file of JSON lines, of any number.
  async add(input) {
    const [file] = input.files;
    if (!file) return;
    const [error, done] = [this.items.querySelector(".error"), this.items.querySelector(".done")];
    error.textContent = "";
    done.textContent = "Sending …";
    try {
      let count = 0;
      const refused = [];
      await upload(path(this.name, "items"), file, (share, results) => {
        refused.push(...results.filter(({ status }) => status >= 400));
        count += results.length;
        done.textContent = share < 1 ? `${percent(share)} sent` : added(count - refused.length);
      });
      if (refused.length) error.textContent = refusedItems(refused);
    } catch (problem) {
      error.textContent = `${problem instanceof TypeError ? "The service is out of reach" : problem.message}. ${done.textContent}: send the file again; items already received are kept.`;
      done.textContent = "";
    }
    input.value = "";
    await this.refresh();
  }

  // Out of reach, or not for this key: the other part may be there all the same.
  async attempt(work) {
    try {
      await work();
    } catch (error) {
      if (!(error instanceof TypeError || error.status === 403)) console.error(error);
    }
  }

  async refresh() {
    await this.attempt(async () => {
      const queue = await ask(path(this.name, "items"));
      this.items.querySelector("#queue").textContent = queueNote(queue);
      fill(this.items.querySelector(".signs"), ...queue.problems.map(({ id, why }) => make("li", {}, `${id}: ${why}`)));
    });
    await this.attempt(async () => this.show(await ask(`${path(this.name, "classes")}?limit=${CLASSES}`)));
  }

  show({ classes, class_count, unlabeled, hours, annotators }) {
    this.classes.hidden = class_count === 0 && unlabeled === 0;
    const head = ["Class", "Labels", "In the list", "Among the others", "Coverage", "95 % interval"];
    const row = (each) => [called(each.label, each.text), whole(each.labels), whole(each.covered), whole(each.missed), percent(each.coverage), each.interval.map(percent).join(" to ")];
    const cells = (each) => row(each).map((text, i) => make("td", { class: i ? "number" : "plain", "data-label": head[i] }, text));
    const table = make("table", { class: "stack" }, make("thead", {}, make("tr", {}, ...head.map((title, i) => make("th", { scope: "col", class: i ? "number" : null }, title)))), make("tbody", {}, ...classes.map((each) => make("tr", {}, ...cells(each)))));
    fill(this.classes.querySelector(".wide"), classes.length ? table : "");
    this.classes.querySelector("#classes-note").textContent = classesNote({ shown: classes.length, class_count, unlabeled });
    const busiest = Math.max(1, ...hours.map(({ labels }) => labels));
    const bar = ({ at, labels }) => {
      const track = make("span", { class: "bar" });
      track.style.width = `${(100 * labels) / busiest}%`;
      return make("li", {}, make("span", { class: "name" }, hour(at)), make("span", { class: "track", "aria-hidden": "true" }, track), make("span", {}, whole(labels)));
    };
    fill(this.classes.querySelector("#hours"), ...hours.slice(-8).map(bar));
    this.classes.querySelector("#annotators").textContent = annotatorsNote(annotators);
  }
}
