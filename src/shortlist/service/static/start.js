// From the demo to data of one's own: creates a stream, and shows the calls to make.

import { ask, fill, onSubmit, showState } from "/static/common.js";
import { calls } from "/static/starting.js";

const at = (id) => document.getElementById(id);
const form = at("create");
const asked = new URLSearchParams(location.search).get("name");
if (asked !== null) form.elements.name.value = asked;

onSubmit(form, async () => {
  const [name, coverage] = [form.elements.name.value, Number(form.elements.coverage.value)];
  const error = document.querySelector(".error");
  error.textContent = "";
  try {
    const summary = await ask("/v1/streams", { method: "POST", body: { name, coverage } });
    at("ready").textContent = `Stream ${name} is ready. ${summary.sentences.learning ?? summary.sentences.progress}`;
    fill(at("calls"), calls(name, summary));
    at("open").href = `/page/streams/${encodeURIComponent(name)}`;
    at("use").hidden = false;
    at("use-title").focus();
  } catch (problem) {
    error.textContent = problem instanceof TypeError ? "The service is out of reach: no stream was created." : problem.message;
  }
});

try {
  await ask("/v1/streams?limit=1");
  showState("live");
} catch {
  showState("lost");
}
