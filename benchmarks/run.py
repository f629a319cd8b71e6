"""The whole benchmark: time every case in turn, several times over, then coverage and memory; write it down.

Interleaved: one pass times each case once, in a process of its own, and the next pass comes round
again. Ratios are taken within a pass and reported as their median with the range over the passes:
a machine that is slow for a minute is slow for both sides of a ratio.

    make bench                 # everything: three quarters of an hour
    make bench PASSES=1        # a first look
"""

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import pyperf
from report import write_report
from rich.console import Console
from rich.progress import Progress

HERE = Path(__file__).parent
#: Slow cases, with nothing to divide them by that is not as slow: once is enough.
ONCE = ("reproduce",)
#: Short cases that carry a headline: twice in each pass.
OFTEN = ("import shortlist", "import numpy", "replay numba", "replay reference", "replay sort")


def time_case(name: str, folder: Path) -> list[float]:
    """Return the seconds per round of one case, as pyperf measured them in a fresh process."""
    path = folder / "case.json"
    path.unlink(missing_ok=True)
    values = ["--values", "1", "--warmups", "0"] if name in ONCE else ["--values", "3", "--warmups", "1"]
    command = [
        sys.executable,
        str(HERE / "cases.py"),
        "--case",
        name,
        "--processes",
        "1",
        "--loops",
        "1",
        "--quiet",
        "-o",
        str(path),
    ]
    done = subprocess.run([*command, *values], capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{name} failed:\n{done.stderr[-2000:]}")
    return list(pyperf.Benchmark.load(str(path)).get_values())


def time_all(passes: int, only: str) -> dict[str, list[float]]:
    """Return, for each case, its median time in each pass."""
    listed = subprocess.run(
        [sys.executable, str(HERE / "cases.py"), "--list"], capture_output=True, text=True, check=True
    )
    names = [name for name in listed.stdout.splitlines() if only in name]
    plan = [
        (number, name)
        for number in range(passes)
        for name in names
        for _ in range(2 if name in OFTEN else 1)
        if number == 0 or name not in ONCE
    ]
    times: dict[str, dict[int, list[float]]] = {name: {} for name in names}
    with TemporaryDirectory() as folder, Progress(console=Console(stderr=True)) as progress:
        task = progress.add_task("timing", total=len(plan))
        for i, (number, name) in enumerate(plan):
            progress.update(task, description=f"{name:<34}")
            if not progress.console.is_terminal and i % 10 == 0:
                progress.print(f"case {i + 1} of {len(plan)}: {name}")
            times[name].setdefault(number, []).extend(time_case(name, Path(folder)))
            progress.advance(task)
    return {name: [sorted(values)[len(values) // 2] for values in passes.values()] for name, passes in times.items()}


def script(name: str, *words: str) -> str:
    """Run one of the other scripts, its progress shown, and return what it printed."""
    print(f"{name} ...", flush=True)
    return subprocess.run(
        [sys.executable, str(HERE / name), *words], stdout=subprocess.PIPE, text=True, check=True
    ).stdout


def main() -> None:
    """Measure, and write ``results.json``, ``unreported.csv``, ``results.md`` and the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--passes", type=int, default=5)
    parser.add_argument("--only", default="", help="time only the cases with this in their name, and write nothing")
    args = parser.parse_args()
    started = time.time()
    times = time_all(args.passes, args.only)
    if args.only:
        for name, values in times.items():
            print(f"{name:<36} {' '.join(f'{value:.3g}' for value in values)}")
        return
    memory = json.loads(script("memory.py"))
    script("unreported.py", str(HERE / "unreported.csv"))
    results = {"date": time.strftime("%Y-%m-%d"), "passes": args.passes, "times": times, "memory": memory}
    (HERE / "results.json").write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    write_report()
    print(f"benchmarks/results.md written after {(time.time() - started) / 60:.0f} minutes")


if __name__ == "__main__":
    main()
