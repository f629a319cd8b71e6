"""tmp."""
from pathlib import Path
FILE = Path(__file__).parents[1] / "benchmarks" / "people.json"
def write_pages(figures): pass
