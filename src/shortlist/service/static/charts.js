// The charts of a stream, drawn by Plotly in the page's own colors.

import { isUnknown } from "/static/common.js";

const color = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();

const narrow = () => innerWidth < 640;

function layout(more) {
  const axis = { gridcolor: color("line"), linecolor: color("line"), zeroline: false, automargin: true, title: { standoff: 6 } };
  return {
    paper_bgcolor: "rgba(0,0,0,0)",
    plot_bgcolor: "rgba(0,0,0,0)",
    font: { family: "system-ui, sans-serif", size: 12, color: color("soft") },
    margin: { l: 48, r: 12, t: 20, b: narrow() ? 96 : 40 },
    legend: narrow() ? { orientation: "h", y: -0.42, yanchor: "top", x: 0 } : { orientation: "h", y: 1.14, x: 0 },
    hovermode: "x unified",
    hoverlabel: { bgcolor: color("paper"), bordercolor: color("line"), font: { color: color("ink") } },
    ...more,
    xaxis: { ...axis, ...more.xaxis },
    yaxis: { ...axis, ...more.yaxis },
  };
}

const OPTIONS = { displayModeBar: false, responsive: true };
const draw = (id, traces, more) => Plotly.react(id, traces, layout(more), OPTIONS);
const line = (name, x, y, shade, { line: style, ...more } = {}) => ({
  name, x, y, mode: "lines", hovertemplate: "%{y:.4g}", ...more, line: { color: color(shade), width: 2, ...style },
});

// Wilson's 95 % interval of a share.
function wilson(hits, of) {
  const z = 1.959963984540054;
  const share = hits / of;
  const spread = (z * z) / of;
  const middle = (share + spread / 2) / (1 + spread);
  const half = (z * Math.sqrt((share * (1 - share)) / of + spread / of / 4)) / (1 + spread);
  return [Math.max(0, middle - half), Math.min(1, middle + half)];
}

function coverage(points) {
  const out = { x: [], seen: [], low: [], high: [], recent: [] };
  let hits = 0;
  let answered = 0;
  const window = [];
  points.round.forEach((round, i) => {
    hits += points.hits[i];
    answered += points.hits[i] + points.misses[i];
    window.push([points.hits[i], points.hits[i] + points.misses[i]]);
    while (window.length > 1 && window.slice(1).reduce((sum, [, of]) => sum + of, 0) >= 200) window.shift();
    if (answered === 0) return;
    const [low, high] = wilson(hits, answered);
    const recent = window.reduce(([h, n], [hit, of]) => [h + hit, n + of], [0, 0]);
    out.x.push(round);
    out.seen.push(hits / answered);
    out.low.push(low);
    out.high.push(high);
    out.recent.push(recent[1] >= 30 ? recent[0] / recent[1] : null);
  });
  return out;
}

const rounds = { title: { text: "rounds" }, rangemode: "tozero" };

// What there is once the score is learned: its threshold, and the scores of what was picked.
function drawLearned(summary, points, chosen) {
  draw("threshold", [line("threshold", points.round, points.threshold, "accent", { line: { shape: "hv" } })], {
    xaxis: rounds, yaxis: { title: { text: `threshold (${summary.sentences.score_label})` } }, showlegend: false,
  });
  const middles = chosen.counts.map((_, i) => chosen.low + (i + 0.5) * chosen.width);
  const first = chosen.counts.findIndex((count) => count > 0);
  const last = chosen.counts.findLastIndex((count) => count > 0);
  const cut = summary.threshold;
  draw(
    "chosen",
    [{ type: "bar", name: "chosen", x: middles.slice(first, last + 1), y: chosen.counts.slice(first, last + 1), width: chosen.width, marker: { color: color("accent"), line: { width: 0 } }, hovertemplate: "%{y} picks around %{x:.3g}<extra></extra>" }],
    {
      xaxis: { title: { text: summary.sentences.score_label }, rangemode: "normal" },
      yaxis: { title: { text: "picks" } },
      showlegend: false,
      hovermode: "closest",
      bargap: 0.06,
      shapes: cut === null ? [] : [{ type: "line", x0: cut, x1: cut, yref: "paper", y0: 0, y1: 1, line: { color: color("second"), width: 2, dash: "dash" } }],
      annotations: cut === null ? [] : [{ x: cut, yref: "paper", y: 1, yanchor: "bottom", text: "threshold", showarrow: false, font: { color: color("second") } }],
    },
  );
}

export function drawAll(summary, series) {
  const { points, chosen } = series;
  const x = points.round;
  draw(
    "length",
    [
      line("all candidates", x, points.candidates, "soft", { line: { dash: "dot", width: 1.5 } }),
      line("90th percentile", x, points.list_p90, "third", { line: { width: 1.3 } }),
      line("mean", x, points.list_mean, "accent"),
    ],
    { xaxis: rounds, yaxis: { title: { text: "candidates" }, rangemode: "tozero" } },
  );
  drawCoverage(summary, points);
  if (summary.fit_picks === null) drawLearned(summary, points, chosen); // what is hidden has no size to draw in
  if (summary.drift !== null) {
    draw(
      "drift",
      [
        line("level", x, points.level, "accent", { line: { width: 1.6 } }),
        line("alarm", [0, x.at(-1) ?? 1], [1, 1], "bad", { line: { dash: "dash", width: 1.5 } }),
      ],
      { xaxis: rounds, yaxis: { title: { text: "level (alarm at 1)" }, type: "log", exponentformat: "power", range: [-7, 0.3] } },
    );
  }
}

function drawCoverage(summary, points) {
  const x = points.round;
  const unknown = isUnknown(summary);
  document.getElementById("coverage").hidden = unknown;
  if (unknown) return;
  const seen = coverage(points);
  const floor = Math.min(summary.coverage_target, ...seen.seen, ...seen.recent.filter((value) => value !== null));
  draw(
    "coverage",
    [
      line("", seen.x, seen.high, "accent", { line: { width: 0 }, hoverinfo: "skip", hovertemplate: null, showlegend: false }),
      line("95 % band", seen.x, seen.low, "accent", { line: { width: 0 }, fill: "tonexty", fillcolor: color("band"), hoverinfo: "skip", hovertemplate: null }),
      line("so far", seen.x, seen.seen, "accent", { hovertemplate: "%{y:.1%}" }),
      line("last 200 answers", seen.x, seen.recent, "third", { line: { width: 1.3 }, hovertemplate: "%{y:.1%}" }),
      line("target", [0, x.at(-1) ?? 1], [summary.coverage_target, summary.coverage_target], "second", { line: { dash: "dash", width: 1.5 }, hovertemplate: "%{y:.1%}" }),
    ],
    { xaxis: rounds, yaxis: { title: { text: "right answer in the list" }, tickformat: ".0%", range: [Math.max(0, floor - 0.08), 1.01] } },
  );
}
