"""The report: one HTML file that opens offline, in reading order."""

import base64
import html
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import numpy as np

import shortlist
from shortlist.lab.claims import Claim
from shortlist.lab.figure_style import label_of
from shortlist.lab.list_baselines import label_of_variant
from shortlist.lab.lists import lists_of
from shortlist.lab.run import Results
from shortlist.lab.spec import PAPER_TASKS
from shortlist.lab.statistics import half_width
from shortlist.lab.tasks import AuctionTask
from shortlist.lab.verdicts import HOLDS, Verdict, consistency, totals

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
.card b { display: block; font-size: 1.7rem; line-height: 1.2; color: var(--blue); } summary { cursor: pointer; margin: .6rem 0; } .yes { color: #1a6b3c; } .no { color: var(--red); font-weight: 600; } td:last-child { white-space: nowrap; }
.verdicts td:last-child { white-space: normal; } .verdicts td:first-child { width: 38%; } .verdicts td:nth-child(2) { width: 17%; }
code, pre { font: .88rem/1.5 ui-monospace, monospace; background: #f5f5f5; border-radius: 5px; } code { padding: .1em .35em; } pre { padding: .8rem 1rem; overflow-x: auto; }
"""

_PAPER: Final = tuple(
    f"{name}{suffix}" for suffix in ("", "_appendix") for name in ("regret", "coverage", "undercoverage")
)
_FEATURED: Final = (*_PAPER, "regret_growth")
_HIDDEN: Final = ("headline", "shorter_lists", "lists_compared")  # the README's, and those of a section of their own
_NARROW: Final = ("regret_vs_horizon", "revenue", "revenue_regret")

#: What the paper runs, what is run here, and how the paper's own is run: by task.
_MODELS: Final = {
    "images": ("Vision Transformer on ImageNet", "EfficientNet-Lite0 on ImageNet", "shortlist score images"),
    "retrieval": ("DPR on SQuAD", "MiniLM on SQuAD", "shortlist score retrieval"),
    "auctions": ("bids from eBay", "the same", ""),
}


def write_report(
    results: Results, claims: Sequence[Claim], verdicts: Sequence[Verdict], figures: dict[str, str], folder: Path
) -> None:
    """Write ``report.html`` into the folder that the figures are in."""
    spec = results.spec
    parts = [
        f"<h1>{_title(results)}</h1>",
        f'<p class="soft">shortlist {shortlist.__version__} &middot; seed {spec.seed}</p>',
        _reproduced(results, verdicts, figures),
        _models(results),
        _what_was_run(results),
        f"<h2>{'The paper&#x27;s figures' if spec.scores is None else 'Figures'}</h2>",
        *(_figure(folder, name, figures) for name in figures if name in _FEATURED),
        "<h2>Results</h2>",
        *(_table(results, name) for name in spec.task_names),
        _revenue_note(results),
        "<h2>The paper's statements</h2>",
        _verdicts(claims, verdicts),
        _headline(results),
        _shorter(results, folder, figures),
        "<h2>More figures: ours</h2>",
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


def _reproduced(results: Results, verdicts: Sequence[Verdict], figures: dict[str, str]) -> str:
    """Say what of the paper was run, and how many of its statements hold."""
    spec = results.spec
    judged = " ".join(totals(verdicts))
    if spec.scores is not None or not set(spec.task_names) <= set(PAPER_TASKS):
        return f"<p><b>The paper's experiments on other data.</b> {html.escape(judged)}</p>"
    drawn = [i + 1 for i, name in enumerate(_PAPER) if name in figures]
    titles = [html.escape(spec.task(name).title.lower()) for name in spec.task_names]
    whole = len(titles) == len(PAPER_TASKS)
    tasks = "all three tasks" if whole else f"{len(titles)} of three tasks ({', '.join(titles)})"
    numbers = f"Figures {drawn[0]} to {drawn[-1]}" if drawn else "No figure"
    return (
        f"<p><b>Reproduced: {numbers} of the paper's six, on {tasks}</b>, from Ge, Bastani and Bastani, <em>Stochastic "
        f"Online Conformal Prediction with Semi-Bandit Feedback</em>, ICML 2025. {html.escape(judged)}</p>"
    )


def _models(results: Results) -> str:
    """Say which models are not the paper's, and how to run those."""
    spec = results.spec
    if spec.scores is not None or not set(spec.task_names) <= set(PAPER_TASKS):
        return ""
    rows = ""
    for name in spec.task_names:
        paper, here, command = _MODELS[name]
        how = f"<code>{command} ...</code>" if command else "&ndash;"
        rows += f"<tr><td>{html.escape(spec.task(name).title)}</td><td>{paper}</td><td>{here}</td><td>{how}</td></tr>"
    return (
        "<p>Two of the paper's models are replaced by smaller ones, whose scores ship with the package. Of the policies, "
        "only DLR depends on the scale of the scores: all others make the same lists under any increasing transform of "
        "them, so that without ties their regret, coverage and undercoverage have the same distribution for every model.</p>"
        '<div class="scroll"><table><tr><th>task</th><th>the paper</th><th>here</th><th>to run the paper\'s model</th></tr>'
        f"{rows}</table></div><p>The commands download the model, and read data that you have: "
        "<code>shortlist score images imagenet/val --out vit.npz</code>, then "
        "<code>shortlist reproduce --scores vit.npz</code>; likewise <code>shortlist score retrieval "
        "biencoder-squad1-dev.json --out dpr.npz</code>. The page &ldquo;Score files, and the paper's models&rdquo; of the documentation "
        "has every step.</p>"
    )


def _what_was_run(results: Results) -> str:
    spec = results.spec
    tasks = ", ".join(html.escape(spec.task(name).title.lower()) for name in spec.task_names)
    bidders = (
        f" Each auction has {spec.bidders} bidders."
        if any(isinstance(spec.task(name), AuctionTask) for name in spec.task_names)
        else ""
    )
    return (
        f"<p>{len(spec.policies)} policies on {tasks}: coverage {spec.coverage}, {spec.rounds:,} rounds, "
        f"{spec.runs} runs. In each round a list <code>{{score &ge; threshold}}</code> is shown; the right answer's "
        "score is revealed if it is in the list, and stays unknown if not. All policies see the same rounds. "
        "Regret (the paper's) sums, over rounds, the distance between the actual and the allowed miss rate, weighted "
        f"&lambda;<sub>1</sub> = {spec.lambda1:g} for over-coverage and &lambda;<sub>2</sub> = {spec.lambda2:g} for "
        f"under-coverage.{bidders} Bands are 95 % confidence intervals of the mean over runs.</p>"
    )


def _revenue_note(results: Results) -> str:
    if not any("revenue" in kept for kept in results.optimal.values()):
        return ""
    return (
        "<p>Revenue regret is regret for another reward, price times probability of sale, with the same optimal threshold. "
        "The paper's bound holds for every reward that is a Lipschitz function of the miscoverage; where low bids are rare, as here, revenue is not one, so this regret is measured, not bounded. It is negative for a "
        "policy that sells less often than the target and thereby earns more. Revenue per round is that of a second-price "
        "auction, in which the second bid may be paid.</p>"
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
    return f'<h2>Ours: AnytimeSPS against the paper\'s SPS</h2><div class="cards">{"".join(cards)}</div>'


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
    head += '<th class="n">revenue regret</th><th class="n">revenue per round</th>' if with_revenue else ""
    lines = []
    for policy in spec.policies:
        cells = "".join(_cell(results.values(name, policy, column), form) for column, _, form in columns)
        if with_revenue:
            cells += _cell(results.stack(name, policy, "revenue_regret")[:, -1], "{:,.0f}")
            cells += _cell(results.stack(name, policy, "revenue")[:, -1] / spec.rounds, "{:,.2f}")
        lines.append(f"<tr><td>{_label(results, name, policy)}</td>{cells}</tr>")
    return (
        f"<h3>{html.escape(spec.task(name).title)}</h3>"
        f'<div class="scroll"><table><tr><th>policy</th>{head}</tr>{"".join(lines)}</table></div>'
    )


def _shorter(results: Results, folder: Path, figures: dict[str, str]) -> str:
    """Compare ways of making lists: the paper's, ours, and what is common today."""
    if not results.list_rows:
        return ""
    lines = []
    for task, optimal in results.optimal_lists.items():
        title, scorers = html.escape(results.spec.task(task).title), lists_of(results.spec.task(task)).scorers
        for variant in results.list_variants(task):
            label = label_of_variant(variant, scorers)
            cells = "".join(
                _cell(results.list_values(task, variant, column), form)
                for column, form in (
                    ("mean_set_size", "{:,.2f}"),
                    ("first_200", "{:,.2f}"),
                    ("last_tenth", "{:,.2f}"),
                    ("coverage", "{:.4f}"),
                )
            )
            rows = [row for row in results.list_rows if (row.task, row.variant) == (task, variant)]
            scores = list(dict.fromkeys(row.score for row in rows))
            seen = html.escape(scores[0]) + (
                f' <span class="soft">and {len(scores) - 1} more</span>' * (len(scores) > 1)
            )
            past = [row.undercoverage_count for row in rows if row.undercoverage_count is not None]
            passed = f'<td class="n">{np.mean(past):,.1f}</td>' if past else '<td class="n">&ndash;</td>'
            lines.append(f"<tr><td>{title}</td><td>{html.escape(label)}</td>{cells}{passed}<td>{seen}</td></tr>")
        best = min(optimal, key=lambda score: optimal[score])
        lines.append(
            f'<tr><td>{title}</td><td class="soft">the best fixed score, {html.escape(best)}, at its optimal threshold</td>'
            f'<td class="n soft">{optimal[best]:,.2f}</td><td></td><td></td><td></td><td></td><td></td></tr>'
        )
    return (
        "<h2>Ours: shorter lists</h2><p>The paper's guarantee about every list holds for any score that is a fixed "
        "function of a list. A raw similarity is a poor one, because questions differ in level. <em>Relative</em> is the "
        "softmax of a list's z-scores. <em>Auto</em> shows everything in the first rounds, learns a score from what was "
        "picked in them, from one scorer or all of them, freezes it, and then learns its threshold. "
        "<em>shortlist</em> is a lister as shipped, with all scorers: it cuts from the first list on, fits its score again as picks come, "
        "and keeps to an error budget over many lists instead of a guarantee about every one. Reciprocal rank "
        "fusion (RRF) sums 1 / (60 + rank) over the scorers. A <em>fixed top-k</em> is the smallest k that covers as "
        "much as the lister as shipped does in the same run, which is unknown beforehand. <em>Autocut</em> cuts at the largest gap "
        "between neighbors and guarantees nothing.</p>"
        f"{_figure(folder, 'lists_compared', figures)}{_figure(folder, 'shorter_lists', figures)}"
        '<div class="scroll"><table><tr><th>task</th><th>lists by</th><th class="n">length, all rounds</th>'
        '<th class="n">first 200</th><th class="n">last tenth</th><th class="n">coverage</th><th class="n">rounds past the optimum</th>'
        f"<th>cut by</th></tr>{''.join(lines)}</table></div>"
    )


def _label(results: Results, task: str, policy: str) -> str:
    setting = results.settings.get((task, policy))
    if setting is None:
        return html.escape(label_of(policy))
    entry = results.spec.entry(policy)
    what = f"{entry.setting} {entry.from_grid(setting, results.spec.rounds):,}"
    return f'{html.escape(label_of(policy))} <span class="soft">({what})</span>'


def _cell(values: np.ndarray, form: str) -> str:
    if np.isnan(values).any():
        return '<td class="n">&ndash;</td>'
    half = float(half_width(values))
    band = f' <span class="soft">&plusmn; {form.format(half)}</span>' if half == half else ""  # noqa: PLR0124 - not NaN
    return f'<td class="n">{form.format(float(values.mean()))}{band}</td>'


def _verdicts(claims: Sequence[Claim], verdicts: Sequence[Verdict]) -> str:
    """Return one verdict a statement, and the claims they rest on."""
    if not verdicts:
        return "<p>None of the paper's statements is about these policies alone.</p>"
    sentences = totals(verdicts) + [words for policy in ("ACI", "DLR") if (words := consistency(claims, policy))]
    lines = []
    for verdict in verdicts:
        stated = html.escape(f"“{verdict.statement}”" if verdict.by == "paper" else f"ours: {verdict.statement}")
        kind = "yes" if verdict.verdict == HOLDS else "no" if verdict.verdict.startswith("fails") else "soft"
        lines.append(
            f'<tr><td>{stated}</td><td><span class="{kind}">{verdict.verdict}</span></td>'
            f"<td>{html.escape(verdict.where)}</td></tr>"
        )
    return (
        f"<ul>{''.join(f'<li>{html.escape(sentence)}</li>' for sentence in sentences)}</ul>"
        "<p>Each empirical statement of the paper in its own words. Where the paper does not say which version of a baseline "
        "it ran, these readings are tried: ACI's levels open, clipped, or moved on hits only, and the ends of its grid of steps; DLR from 0, -1 or -10; any "
        "exploration of the grid for both ETCs; auctions pooled, or of one item. A statement <em>holds</em> if it does under "
        "every reading on every task, and <em>fails</em> if there is no reading under which it holds on every task. "
        "<em>Comparable</em> is within a factor of 3, <em>frequently</em> is more than a tenth of the rounds, <em>poor</em> and "
        "<em>very high</em> are at least three quarters of the regret of never cutting, which a policy that never undercovers "
        "cannot exceed.</p>"
        '<div class="scroll"><table class="verdicts"><tr><th>the paper says</th><th>verdict</th><th>holds where</th></tr>'
        f"{''.join(lines)}</table></div>{_claims(claims)}"
    )


def _claims(claims: Sequence[Claim]) -> str:
    """Return every claim with what was measured, folded away."""
    lines = []
    before: tuple[str, ...] = ()
    for claim in claims:
        stated = f"“{claim.statement}”" if claim.by == "paper" else "ours"
        now = (stated, claim.claim, claim.reading)
        cells = ["" if now[: i + 1] == before[: i + 1] else html.escape(text) for i, text in enumerate(now)]
        before = now
        verdict = '<span class="yes">holds</span>' if claim.holds else '<span class="no">does not hold</span>'
        cells += [html.escape(claim.task), html.escape(claim.measured), verdict]
        lines.append(f"<tr>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>")
    return (
        f"<details><summary>What was measured: {len(claims)} claims, a reading and a task each</summary>"
        '<div class="scroll"><table><tr><th>the paper says</th><th>measured as</th><th>reading</th><th>task</th>'
        f"<th>measured</th><th></th></tr>{''.join(lines)}</table></div></details>"
    )


def _sources(results: Results) -> str:
    spec = results.spec
    items = "".join(
        f"<li><b>{html.escape(spec.task(name).title)}</b>: {html.escape(spec.task(name).source)}.</li>"
        for name in spec.task_names
    )
    grids = "; ".join(
        f"{html.escape(label_of(policy))}, {spec.entry(policy).setting} from "
        + ", ".join(f"{value:,g}" for value in grid)
        + (" (below 1: shares of the rounds)" if spec.entry(policy).whole else "")
        for policy, grid in spec.grids.items()
    )
    chosen = (
        f"<p>Settings were chosen by regret on {spec.tuning_runs} further streams of each task, which are not among the "
        f"runs reported: {grids}.</p>"
        if grids
        else ""
    )
    return f"<ul>{items}</ul>{chosen}"


def _own() -> str:
    return (
        "<p>Put the score of the right answer for each question, and if you have them the scores of all candidates, "
        "into an <code>.npz</code> file:</p><pre>import numpy as np\n"
        'np.savez("mine.npz", true_scores=true_scores, candidate_scores=candidate_scores)</pre>'
        "<p>or, with several scorers (such as BM25 and an embedding), an entry for each of them along the last axis:</p>"
        '<pre>np.savez("mine.npz", scorers=["dense", "bm25"], candidate_scores=tables, true_column=right)</pre>'
        "<pre>shortlist reproduce --scores mine.npz --out results-mine</pre>"
        "<p>For a log of true scores in their original order, without resampling: "
        "<code>shortlist replay log.csv</code>; with a row for each candidate, "
        "<code>shortlist replay candidates.csv --lists</code>.</p>"
    )
