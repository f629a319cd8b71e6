"""Results on disk: tables, curves, claims, figures, report, manifest."""

import csv
import dataclasses
import hashlib
import importlib.metadata
import json
import platform
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import shortlist
from shortlist.lab.claims import Claim, claims
from shortlist.lab.figures import draw_all
from shortlist.lab.latex import write_latex
from shortlist.lab.lists import ListRow
from shortlist.lab.report import write_report
from shortlist.lab.run import Results, Row
from shortlist.lab.verdicts import Verdict, judge

__all__ = ["write_results", "write_table"]


def write_results(results: Results, folder: Path, *, latex: bool = False) -> list[Verdict]:
    """Write everything into a folder, and return the verdicts; of an interrupted experiment, what is finished.

    What an earlier experiment wrote there is removed first, as its manifest lists it.
    """
    folder.mkdir(parents=True, exist_ok=True)
    _remove_earlier(folder)
    write_table(folder / "summary.csv", [field.name for field in dataclasses.fields(Row)], results.rows)
    if not results.complete:
        return []
    written = ["summary.csv", "curves.npz", "claims.csv", "verdicts.csv", "report.html"]
    _write_curves(results, folder / "curves.npz")
    measured = claims(results)
    write_table(folder / "claims.csv", [field.name for field in dataclasses.fields(Claim)], measured)
    judged = judge(results, measured)
    write_table(folder / "verdicts.csv", [field.name for field in dataclasses.fields(Verdict)], judged)
    if results.readings:
        _write_readings(results, folder / "readings.csv")
        written.append("readings.csv")
    if _write_revenue(results, folder / "revenue.csv"):
        written.append("revenue.csv")
    if results.list_rows:
        columns = [field.name for field in dataclasses.fields(ListRow)]
        write_table(folder / "list_lengths.csv", columns, results.list_rows)
        written.append("list_lengths.csv")
    figures = draw_all(results, folder / "figures")
    written += [f"figures/{name}.{kind}" for name in figures for kind in ("svg", "png")]
    write_report(results, measured, judged, figures, folder)
    if latex:
        written += [f"latex/{name}" for name in write_latex(results, judged, folder / "latex")]
    _write_manifest(results, folder, written)
    return judged


def _remove_earlier(folder: Path) -> None:
    """Remove the files that an earlier experiment's manifest lists, and nothing else."""
    manifest = folder / "manifest.json"
    try:
        earlier = json.loads(manifest.read_text(encoding="utf-8"))["sha256"]
    except (OSError, ValueError, KeyError, TypeError):
        return
    root = folder.resolve()
    for name in [*earlier, "manifest.json"]:
        path = (folder / name).resolve()
        if path.is_relative_to(root) and path.is_file():
            path.unlink()


def write_table(path: Path, columns: Sequence[str], rows: Iterable[Any]) -> None:
    """Write dataclass rows as CSV: floats with all their digits, booleans as yes and no."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        for row in rows:
            values = [getattr(row, column) for column in columns]
            writer.writerow([{True: "yes", False: "no"}.get(v, v) if isinstance(v, bool) else v for v in values])


def _write_curves(results: Results, path: Path) -> None:
    """Write every curve as ``task/policy/curve``, a row a run, at the rounds in ``rounds``."""
    arrays: dict[str, Any] = {"rounds": results.rounds}
    for task, policy, _ in sorted(results.curves):
        for curve in results.curves[task, policy, 0]:
            arrays[f"{task}/{policy}/{curve}"] = results.stack(task, policy, curve)
    for name, rows in (("sweep/horizon", results.horizons), ("sweep/coverage", results.coverages)):
        for column in dataclasses.fields(rows[0]) if rows else ():
            arrays[f"{name}/{column.name}"] = np.array([getattr(row, column.name) for row in rows])
    with path.open("wb") as file:
        np.savez_compressed(file, allow_pickle=False, **arrays)


def _write_readings(results: Results, path: Path) -> None:
    """Write the runs of the other readings, with the item of an auction and the setting that was chosen."""
    columns = ["task", "item", "policy", "setting", "run", "regret", "coverage", "undercoverage_count"]
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        for reading in results.readings:
            for row in reading.rows:
                chosen = reading.settings.get((row.task, row.policy), "")
                measured = [row.run, row.regret, row.coverage, row.undercoverage_count]
                writer.writerow([row.task, reading.spec.item or "", row.policy, chosen, *measured])


def _write_revenue(results: Results, path: Path) -> bool:
    """Write the seller's mean revenue per round, and its regret, run by run; return whether there is a seller."""
    rounds = results.spec.rounds
    rows: list[list[Any]] = []
    for (task, policy, run), kept in sorted(results.curves.items()):
        if "revenue" in kept:
            rows.append([task, policy, run, kept["revenue"][-1] / rounds, kept["revenue_regret"][-1]])
    for (task, run), kept in sorted(results.optimal.items()):
        if "revenue" in kept:
            rows.append([task, "optimal reserve price", run, kept["revenue"][-1] / rounds, 0.0])
            rows.append([task, "no reserve price", run, kept["no_reserve"][-1] / rounds, ""])
    if rows:
        with path.open("w", newline="", encoding="utf-8") as file:
            columns = ["task", "policy", "run", "revenue_per_round", "revenue_regret"]
            csv.writer(file, lineterminator="\n").writerows([columns, *rows])
    return bool(rows)


def _write_manifest(results: Results, folder: Path, written: list[str]) -> None:
    spec = results.spec
    manifest = {
        "shortlist": shortlist.__version__,
        "python": platform.python_version(),
        "platform": f"{sys.platform} {platform.machine()}",
        "packages": {name: _version(name) for name in ("numpy", "numba", "matplotlib")},
        "options": dataclasses.asdict(spec) | {"tasks": spec.task_names},
        "chosen_settings": {f"{task}/{policy}": value for (task, policy), value in sorted(results.settings.items())},
        "tuning_regret": {
            f"{task}/{policy}": {str(setting): regret for setting, regret in regrets.items()}
            for (task, policy), regrets in sorted(results.tuning.items())
        },
        "sources": {spec.task(name).name: spec.task(name).source for name in spec.task_names},
        "sha256": {name: hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in sorted(written)},
    }
    (folder / "manifest.json").write_text(json.dumps(manifest, indent=2) + "\n", encoding="utf-8")


def _version(name: str) -> str | None:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None
