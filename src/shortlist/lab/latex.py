r"""Results as LaTeX: booktabs tables, figures with captions, and a two-column document that holds them all.

Every file except the document can be included in a paper with ``\input``; it needs ``booktabs`` and ``graphicx``.
"""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import numpy as np

from shortlist.lab.figure_style import label_of
from shortlist.lab.print_figures import COLUMN, PAGE, Printed, print_figures
from shortlist.lab.run import Results
from shortlist.lab.statistics import half_width
from shortlist.lab.verdicts import Verdict, totals

__all__ = ["escape", "write_latex"]

_SIGNS: Final = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"$<$",
    ">": r"$>$",
    "δ": r"$\delta$",
    "±": r"$\pm$",
    "²": r"$^2$",
    "“": "``",
    "”": "''",
}
#: How many digits a mean has after its point, if it is below a thousand.
_DIGITS: Final = {"regret": 1, "coverage": 3, "undercoverage_count": 1, "mean_set_size": 1}
#: Columns of results, and their headings.
_COLUMNS: Final = (
    ("regret", "regret"),
    ("coverage", "coverage"),
    ("undercoverage_count", "past"),
    ("mean_set_size", "length"),
)


def escape(text: str) -> str:
    r"""Return a text as LaTeX; a character that the usual fonts lack becomes a question mark.

    >>> escape("AnytimeSPS, δ = 2/T"), escape("my_policy: 5 %")
    ('AnytimeSPS, $\\delta$ = 2/T', 'my\\_policy: 5 \\%')
    """
    return "".join(_SIGNS.get(sign, sign if ord(sign) < 256 else "?") for sign in text)


def write_latex(results: Results, verdicts: Sequence[Verdict], folder: Path) -> list[str]:
    """Write tables, figures and a document into a folder; return the names of the files."""
    folder.mkdir(parents=True, exist_ok=True)
    printed = print_figures(results, folder)
    names = results.spec.task_names
    texts = {f"table-{_file_name(name)}.tex": _task_table(results, name) for name in names}
    if len(names) > 1:
        texts["table-results.tex"] = _wide_table(results)
    if verdicts:
        texts["table-claims.tex"] = _claims_table(verdicts)
    texts |= {f"figure-{one.picture.name.replace('_', '-')}.tex": _figure(one) for one in printed}
    texts["all.tex"] = _document(results, verdicts, list(texts))
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    return sorted([*texts, *(file for one in printed for file in one.files)])


def _file_name(name: str) -> str:
    """Return a task's name as LaTeX takes it in a file's."""
    return re.sub(r"[^A-Za-z0-9]+", "-", name).strip("-") or "task"


def _label(policy: str) -> str:
    ours = " (ours)" if policy.startswith(("anytime", "product-limit")) else ""
    return escape(label_of(policy) + ours)


def _number(value: float, digits: int) -> str:
    return f"{value:,.{0 if abs(value) >= 1000 else digits}f}".replace(",", "{,}")


def _cell(results: Results, name: str, policy: str, column: str) -> str:
    """Return a mean; of regret, with half the width of its 95 % confidence interval."""
    values = results.values(name, policy, column)
    mean = float(values.mean())
    if np.isnan(mean):
        return "--"
    digits = _DIGITS[column]
    if column == "undercoverage_count" and (mean >= 10 or mean == int(mean)):
        digits = 0
    half = float(half_width(values))
    if column != "regret" or np.isnan(half):
        return f"${_number(mean, digits)}$"
    return rf"${_number(mean, digits)} \pm {_number(half, 0 if mean >= 1000 else digits)}$"


def _parameters(results: Results) -> str:
    spec = results.spec
    return (
        f"Coverage {spec.coverage:g}, {_number(spec.rounds, 0)} rounds, mean of {spec.runs} "
        rf"run{'s' * (spec.runs > 1)}; regret with $\lambda_1 = {spec.lambda1:g}$, $\lambda_2 = {spec.lambda2:g}$, "
        r"and half the width of its 95\,\% confidence interval. \emph{Past}: rounds in which the threshold is past the "
        "optimal one."
    )


def _table(lines: Sequence[str], caption: str, name: str, *, wide: bool = False) -> str:
    environment = "table*" if wide else "table"
    return "\n".join(
        [
            rf"\begin{{{environment}}}[tb]",
            r"\centering",
            r"\footnotesize",
            r"\setlength{\tabcolsep}{2.5pt}",
            rf"\caption{{{caption}}}",
            rf"\label{{tab:{name}}}",
            r"\vspace{4pt}",
            *lines,
            rf"\end{{{environment}}}",
            "",
        ]
    )


def _task_table(results: Results, name: str) -> str:
    """Return the results of a task, a column wide."""
    lines = [r"\begin{tabular}{@{}lrrrr@{}}", r"\toprule"]
    lines += ["policy & " + " & ".join(heading for _, heading in _COLUMNS) + r" \\", r"\midrule"]
    for policy in results.spec.policies:
        cells = " & ".join(_cell(results, name, policy, column) for column, _ in _COLUMNS)
        lines.append(rf"{_label(policy)} & {cells} \\")
    lines += [r"\bottomrule", r"\end{tabular}"]
    title = escape(results.spec.task(name).title)
    caption = rf"{title}. {_parameters(results)} \emph{{Length}}: candidates in a list."
    return _table(lines, caption, _file_name(name))


def _wide_table(results: Results) -> str:
    """Return the results of all tasks, a page wide."""
    spec, columns = results.spec, _COLUMNS[:3]
    count = len(columns)
    groups = [rf"\multicolumn{{{count}}}{{c}}{{{escape(spec.task(name).title)}}}" for name in spec.task_names]
    rules = [rf"\cmidrule(lr){{{2 + count * i}-{1 + count * (i + 1)}}}" for i in range(len(groups))]
    headings = [heading for _ in groups for _, heading in columns]
    lines = [rf"\begin{{tabular}}{{@{{}}l{'r' * len(headings)}@{{}}}}", r"\toprule"]
    lines += [" & ".join(["", *groups]) + r" \\", " ".join(rules)]
    lines += [" & ".join(["policy", *headings]) + r" \\", r"\midrule"]
    for policy in spec.policies:
        cells = [_cell(results, name, policy, column) for name in spec.task_names for column, _ in columns]
        lines.append(" & ".join([_label(policy), *cells]) + r" \\")
    lines += [r"\bottomrule", r"\end{tabular}"]
    return _table(lines, f"All tasks. {_parameters(results)}", "results", wide=True)


def _claims_table(verdicts: Sequence[Verdict]) -> str:
    """Return one verdict a statement, a page wide."""
    lines = [r"\begin{tabular}{@{}lll@{}}", r"\toprule", r"statement & verdict & holds where \\", r"\midrule"]
    before = "paper"
    for verdict in verdicts:
        if verdict.by != before:
            lines.append(r"\midrule")
        before = verdict.by
        words = f"“{verdict.statement}”" if verdict.by == "paper" else f"ours: {verdict.statement}"
        cells = [_paragraph(words, 2.9), _paragraph(verdict.verdict, 1.1), _paragraph(verdict.where, 2.4)]
        lines.append(" & ".join(cells) + r" \\")
    lines += [r"\bottomrule", r"\end{tabular}"]
    return _table(lines, " ".join(map(escape, totals(verdicts))), "claims", wide=True)


def _paragraph(text: str, inches: float) -> str:
    """Return a text as LaTeX, in a paragraph that breaks where a line is full."""
    return rf"\parbox[t]{{{inches}in}}{{\raggedright {escape(text)}\strut}}"


def _figure(printed: Printed) -> str:
    """Return a figure with its caption: a page wide where it has several panels, a column wide otherwise."""
    picture = printed.picture
    wide = printed.whole is not None
    environment, width, drawn = ("figure*", "textwidth", PAGE) if wide else ("figure", "columnwidth", COLUMN)
    file = printed.whole or next(iter(printed.panels.values()))
    lines = [
        rf"\begin{{{environment}}}[tb]",
        r"\centering",
        rf"\includegraphics[width=\{width}]{{{file}}}% drawn at {drawn} in",
        *([f"% a column wide: {', '.join(printed.panels.values())}"] if wide else []),
        rf"\caption{{{escape(picture.words)}}}",
        rf"\label{{fig:{picture.name.replace('_', '-')}}}",
        rf"\end{{{environment}}}",
        "",
    ]
    return "\n".join(lines)


def _document(results: Results, verdicts: Sequence[Verdict], parts: Sequence[str]) -> str:
    """Return a document that shows every table and figure, as a paper would."""
    inputs = "\n".join(rf"\input{{{part}}}" for part in parts)
    judged = " ".join(map(escape, totals(verdicts)))
    return rf"""\documentclass[twocolumn]{{article}}
\usepackage[T1]{{fontenc}}
\usepackage{{mathptmx}}
\usepackage{{booktabs}}
\usepackage{{graphicx}}
\usepackage[letterpaper, textwidth=6.75in, textheight=9in, columnsep=0.25in]{{geometry}}
\begin{{document}}
\section*{{Results}}
{_parameters(results)} {judged}
Tables: {_references(parts, "table", "tab")}. Figures: {_references(parts, "figure", "fig")}.
{inputs}
\end{{document}}
"""


def _references(parts: Sequence[str], kind: str, prefix: str) -> str:
    names = [part.removeprefix(f"{kind}-").removesuffix(".tex") for part in parts if part.startswith(f"{kind}-")]
    return ", ".join(rf"\ref{{{prefix}:{name}}}" for name in names)
