"""The report: one HTML file that opens offline, in reading order."""

import base64
import html
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

import numpy as np

import shortlist
from shortlist.lab.claims import Claim
from shortlist.lab.comparison import label_of_variant
from shortlist.lab.drawing import label_of
from shortlist.lab.lists import lists_of
from shortlist.lab.run import Results
from shortlist.lab.spec import TUNED
from shortlist.lab.statistics import half_width
from shortlist.policies import REGISTRY

__all__ = ["write_report"]

_CSS: Final = """
:root { color-scheme: light; --ink: #1c1c1c; --soft: #5a5a5a; --line: #e2e2e2; --blue: #0072B2; --red: #b3261e; }
* { box-sizing: border-box; }
body { font: 16px/1.55 system-ui, sans-serif; color: var(--ink); background: #fff; margin: 0 auto; padding: 2.5rem 1.25rem 4rem; max-width: 72rem; }
h1 { font-size: 1.9rem; line-height: 1.2; margin: 0 0 .4rem; } h2 { font-size: 1.3rem; margin: 2.8rem 0 .6rem; }
p, li { max-width: 46rem; } .soft { color: var(--soft); } figure { margin: 1.6rem 0 2rem; }
figure img { width: 100%; height: auto; max-width: 68rem; } figure img.narrow { max-width: 40rem; }
figcaption { color: var(--soft); font-size: .9rem; max-width: 46rem; margin-top: .3rem; }
.scroll { overflow-x: auto; } table { border-collapse: collapse; font-size: .9rem; margin: .8rem 0 1.4rem; }
th { text-align: left; font-weight: 600; border-bottom: 2px solid var(--ink); padding: .35rem .8rem .35rem 0; vertical-align: bottom; }
td { border-bottom: 1px solid var(--line); padding: .32rem .8rem .32rem 0; vertical-align: top; }
td.n, th.n { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
.cards { display: flex; flex-wrap: wrap; gap: 1rem; margin: 1.4rem 0; }
.card { border: 1px solid var(--line); border-radius: 8px; padding: .9rem 1.1rem; min-width: 13rem; flex: 1; }
.card b { display: block; font-size: 1.7rem; line-height: 1.2; color: var(--blue); } .yes { color: #1a6b3c; } .no { color: var(--red); font-weight: 600; } td:last-child { white-space: nowrap; }
code, pre { font: .88rem/1.5 ui-monospace, monospace; background: #f5f5f5; border-radius: 5px; } code { padding: .1em .35em; } pre { padding: .8rem 1rem; overflow-x: auto; }
"""

_FEATURED: Final = ("regret", "coverage", "undercoverage", "list_length")
_HIDDEN: Final = ("headline", "shorter_lists", "lists_compared")  # the README's, and those of a section of their own
_NARROW: Final = ("regret_vs_horizon", "revenue")


def write_report(results: Results, claims: Sequence[Claim], figures: dict[str, str], folder: Path) -> None:
    """Write ``report.html`` into the folder that the figures are in."""
    parts = [
        f"<h1>{_title(results)}</h1>",
        f'<p class="soft">shortlist {shortlist.__version__} &middot; seed {results.spec.seed}</p>',
        _what_was_run(results),
        _headline(results),
        "<h2>The paper's figures</h2>",
        *(_figure(folder, name, figures) for name in figures if name in _FEATURED),
        "<h2>Results</h2>",
        *(_table(results, name) for name in results.spec.task_names),
        _shorter(results, folder, figures),
        "<h2>Claims</h2>",
        _claims(claims),
        "<h2>More figures</h2>",
        *(_figure(folder, name, figures) for name in figures if name not in (*_FEATURED, *_HIDDEN)),
        "<h2>Where the scores come from</h2>",
        _sources(results),
        "<h2>On your own scores</h2>",
        _own(),
    ]
    page = (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{_title(results)}</title><style>{_CSS}</style></head><body>{''.join(parts)}</body></html>\n"
    )
    (folder / "report.html").write_text(page, encoding="utf-8")


def _title(results: Results) -> str:
    if results.spec.scores is not None:
        return f"Online shortlists on {html.escape(results.spec.task_names[0])}"
    return "Stochastic online conformal prediction with semi-bandit feedback, reproduced"


def _what_was_run(results: Results) -> str:
    spec = results.spec
    tasks = ", ".join(html.escape(spec.task(name).title.lower()) for name in spec.task_names)
    return (
        f"<p>{len(spec.policies)} policies on {tasks}: coverage {spec.coverage}, {spec.rounds:,} rounds, "
        f"{spec.runs} runs. In each round a list <code>{{score &ge; threshold}}</code> is shown; the right answer's "
        "score is revealed if it is in the list, and stays unknown if not. All policies see the same rounds. "
        "Regret adds up how far the share of right answers below the threshold is from 1 - coverage: times 0.1 if it covers "
        "too much, times 10 if too little. Bands are 95 % confidence intervals of the mean over runs. The paper is Ge, Bastani and Bastani, ICML 2025.</p>"
    )


def _headline(results: Results) -> str:
    """Ours against the paper's, task by task."""
    if not {"sps", "anytime@2/T"} <= set(results.spec.policies):
        return ""
    cards = []
    for name in results.spec.task_names:
        ours, paper = (results.values(name, p, "regret").mean() for p in ("anytime@2/T", "sps"))
        ratio = f"{ours / paper:.2f}" if paper else "&ndash;"
        sizes = [results.values(name, p, "mean_set_size").mean() for p in ("anytime@2/T", "sps")]
        lists = "" if np.isnan(sizes).any() else f"<br>mean list length {sizes[1]:.1f} &rarr; {sizes[0]:.1f}"
        cards.append(
            f'<div class="card">{html.escape(results.spec.task(name).title)}<b>{ratio} &times;</b>'
            f"the regret of SPS ({paper:.1f} &rarr; {ours:.1f}) at the same guarantee, 1 - 2/T{lists}</div>"
        )
    return f'<h2>AnytimeSPS against the paper\'s SPS</h2><div class="cards">{"".join(cards)}</div>'


def _figure(folder: Path, name: str, figures: dict[str, str]) -> str:
    data = base64.b64encode((folder / "figures" / f"{name}.svg").read_bytes()).decode()
    caption = html.escape(figures[name])
    kind = ' class="narrow"' if name in _NARROW else ""
    return (
        f'<figure id="{name}"><img{kind} alt="{caption}" src="data:image/svg+xml;base64,{data}">'
        f"<figcaption>{caption}</figcaption></figure>"
    )


def _table(results: Results, name: str) -> str:
    spec = results.spec
    columns = [
        ("regret", "regret", "{:,.1f}"),
        ("coverage", "coverage", "{:.4f}"),
        ("undercoverage_count", "rounds past the optimum", "{:,.1f}"),
        ("mean_set_size", "list length", "{:,.2f}"),
    ]
    with_revenue = "revenue" in results.optimal.get((name, 0), {})
    head = "".join(f'<th class="n">{label}</th>' for _, label, _ in columns)
    head += '<th class="n">revenue a round</th>' if with_revenue else ""
    lines = []
    for policy in spec.policies:
        cells = "".join(_cell(results.values(name, policy, column), form) for column, _, form in columns)
        if with_revenue:
            cells += _cell(results.stack(name, policy, "revenue")[:, -1] / spec.rounds, "{:,.2f}")
        lines.append(f"<tr><td>{_label(results, name, policy)}</td>{cells}</tr>")
    return (
        f"<h3>{html.escape(spec.task(name).title)}</h3>"
        f'<div class="scroll"><table><tr><th>policy</th>{head}</tr>{"".join(lines)}</table></div>'
    )


def _shorter(results: Results, folder: Path, figures: dict[str, str]) -> str:
    """Compare ways of making lists: the paper's, ours, and what people do today."""
    if not results.list_rows:
        return ""
    lines = []
    for task, optimal in results.optimal_lists.items():
        title, scorers = html.escape(results.spec.task(task).title), lists_of(results.spec.task(task)).scorers
        for variant in results.list_variants(task):
            label = label_of_variant(variant, scorers)
            cells = "".join(
                _cell(results.list_values(task, variant, column), form)
                for column, form in (("last_tenth", "{:,.2f}"), ("mean_set_size", "{:,.2f}"), ("coverage", "{:.4f}"))
            )
            rows = [row for row in results.list_rows if (row.task, row.variant) == (task, variant)]
            scores = list(dict.fromkeys(row.score for row in rows))
            seen = html.escape(scores[0]) + (
                f' <span class="soft">and {len(scores) - 1} more</span>' * (len(scores) > 1)
            )
            past = [row.undercoverage_count for row in rows if row.undercoverage_count is not None]
            known = f'<td class="n">{np.mean(past):,.1f}</td>' if past else '<td class="n">&ndash;</td>'
            lines.append(f"<tr><td>{title}</td><td>{html.escape(label)}</td>{cells}{known}<td>{seen}</td></tr>")
        best = min(optimal, key=lambda score: optimal[score])
        lines.append(
            f'<tr><td>{title}</td><td class="soft">the best fixed score, {html.escape(best)}, at its optimal threshold</td>'
            f'<td class="n soft">{optimal[best]:,.2f}</td><td></td><td></td><td></td><td></td></tr>'
        )
    return (
        "<h2>List lengths: the same guarantee, shorter lists</h2><p>The guarantee holds for any score that is a fixed "
        "function of a list. A raw similarity is a poor one, because questions differ in level. <em>Relative</em> is the "
        "softmax of a list's z-scores. <em>Auto</em> shows everything in the first rounds, learns a score from what was "
        "picked in them, from one scorer or all of them, freezes it, and then learns its threshold. Reciprocal rank "
        "fusion (RRF) adds up 1 / (60 + rank) over the scorers. A <em>fixed top-k</em> is the smallest k that covers as "
        "much as auto does in the same run, which nobody knows beforehand. <em>Autocut</em> cuts at the largest gap "
        "between neighbors and guarantees nothing.</p>"
        f"{_figure(folder, 'lists_compared', figures)}{_figure(folder, 'shorter_lists', figures)}"
        '<div class="scroll"><table><tr><th>task</th><th>lists by</th><th class="n">length, last tenth</th>'
        '<th class="n">over all rounds</th><th class="n">coverage</th><th class="n">rounds past the optimum</th>'
        f"<th>cut by</th></tr>{''.join(lines)}</table></div>"
    )


def _label(results: Results, task: str, policy: str) -> str:
    setting = results.settings.get((task, policy))
    if setting is None:
        return html.escape(label_of(policy))
    entry = REGISTRY[policy]
    what = f"{entry.setting} {entry.from_grid(setting, results.spec.rounds):,}"
    return f'{html.escape(label_of(policy))} <span class="soft">({what})</span>'


def _cell(values: np.ndarray, form: str) -> str:
    if np.isnan(values).any():
        return '<td class="n">&ndash;</td>'
    half = float(half_width(values))
    band = f' <span class="soft">&plusmn; {form.format(half)}</span>' if half == half else ""  # noqa: PLR0124 - not NaN
    return f'<td class="n">{form.format(float(values.mean()))}{band}</td>'


def _claims(claims: Iterable[Claim]) -> str:
    lines = []
    before = None
    for claim in claims:
        text = "" if claim.claim == before else html.escape(claim.claim)
        before = claim.claim
        verdict = '<span class="yes">holds</span>' if claim.holds else '<span class="no">does not hold</span>'
        lines.append(
            f"<tr><td>{text}</td><td>{html.escape(claim.task)}</td><td>{html.escape(claim.measured)}</td>"
            f"<td>{verdict}</td></tr>"
        )
    return (
        "<p>Every empirical statement of the paper's results and appendix, measured on these scores. They are not the "
        "paper's own: other models scored the same kinds of data, so a claim that does not hold here may hold there.</p>"
        '<div class="scroll"><table><tr><th>claim</th><th>task</th><th>measured</th><th></th></tr>'
        f"{''.join(lines)}</table></div>"
    )


def _sources(results: Results) -> str:
    spec = results.spec
    items = "".join(
        f"<li><b>{html.escape(spec.task(name).title)}</b>: {html.escape(spec.task(name).source)}.</li>"
        for name in spec.task_names
    )
    tuned = [policy for policy in spec.policies if policy in TUNED]
    chosen = (
        f"<p>The settings of {', '.join(label_of(policy) for policy in tuned)} were chosen by regret on "
        f"{spec.tuning_runs} further streams of each task, which are not among the runs reported.</p>"
        if tuned
        else ""
    )
    return f"<ul>{items}</ul>{chosen}"


def _own() -> str:
    return (
        "<p>Put the score of the right answer for each question, and if you have them the scores of all candidates, "
        "into an <code>.npz</code> file:</p><pre>import numpy as np\n"
        'np.savez("mine.npz", true_scores=true_scores, candidate_scores=candidate_scores)</pre>'
        "<p>or, with several scorers (BM25 beside an embedding), an entry for each of them along the last axis:</p>"
        '<pre>np.savez("mine.npz", scorers=["dense", "bm25"], candidate_scores=tables, true_column=right)</pre>'
        "<pre>shortlist reproduce --scores mine.npz --out results-mine</pre>"
        "<p>For a log of true scores in the order they came, without resampling: "
        "<code>shortlist replay log.csv</code>; with a row for each candidate, "
        "<code>shortlist replay candidates.csv --lists</code>.</p>"
    )
