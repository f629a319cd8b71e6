"""Build wheel and sdist, check them, and run the README's example from the wheel in an empty environment.

``python tools/release.py``, or ``make release``. Nothing is uploaded.
"""

import re
import subprocess
import sys
import tempfile
import venv
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[1]
DIST: Final = ROOT / "dist"


def say(words: str) -> None:
    """Print what comes next."""
    print(f"== {words}", flush=True)


def run(*command: str | Path, cwd: Path = ROOT) -> str:
    """Run a command and return what it printed; stop if it fails."""
    done = subprocess.run(list(map(str, command)), cwd=cwd, capture_output=True, text=True, check=False)  # noqa: S603
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done.stdout


def build() -> tuple[Path, Path]:
    """Build the sdist, and the wheel from the sdist, so that the sdist is known to be complete."""
    for old in DIST.glob("shortlist-*"):
        old.unlink()
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", DIST)
    (wheel,), (sdist,) = DIST.glob("*.whl"), DIST.glob("*.tar.gz")
    return wheel, sdist


def example() -> str:
    """Return the README's first block of Python: its ten lines."""
    match = re.search(
        r"^```python\n(.*?)^```", (ROOT / "README.md").read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL
    )
    if match is None:
        sys.exit("README.md has no example")
    return match[1]


def try_out(wheel: Path) -> None:
    """Install the wheel, and nothing that it does not ask for, and run the example far away from the checkout."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        venv.create(folder / "env", with_pip=True)
        python = folder / "env" / "bin" / "python"
        run(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", wheel, cwd=folder)
        listed = run(python, "-m", "pip", "list", "--format", "freeze", "--disable-pip-version-check", cwd=folder)
        there = sorted(set(re.findall(r"^([\w.-]+)==", listed, flags=re.MULTILINE)) - {"pip", "setuptools"})
        print(f"   installed: {', '.join(there)}")
        if there != ["numpy", "shortlist"]:
            sys.exit("the wheel must need numpy alone")
        print(f"   {run(python, '-I', '-W', 'error', '-c', example(), cwd=folder).strip()}")
        print(f"   {run(folder / 'env' / 'bin' / 'shortlist', '--version', cwd=folder).strip()}")
        result = subprocess.run(  # noqa: S603 - our own command
            [folder / "env" / "bin" / "shortlist", "serve"], capture_output=True, text=True, check=False, cwd=folder
        )
        if result.returncode != 2 or result.stderr.count("\n") != 1:
            sys.exit(f"without extras the command must say in one line what it needs:\n{result.stderr}")
        print(f"   {result.stderr.strip()}")


def main() -> None:
    """Do it all."""
    say("building wheel and sdist")
    wheel, sdist = build()
    for path in (wheel, sdist):
        print(f"   {path.name}, {path.stat().st_size / 2**20:.1f} MB")
    say("checking them with twine")
    run(sys.executable, "-m", "twine", "check", "--strict", wheel, sdist)
    say("the README's example, from the wheel, in an empty environment")
    try_out(wheel)
    say("all well; nothing was uploaded")


if __name__ == "__main__":
    main()
