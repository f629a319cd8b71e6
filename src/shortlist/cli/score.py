"""The commands that write score files: `score images`, `score retrieval`, `score auctions`."""

import contextlib
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, TypeVar

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from shortlist.errors import InvalidParameter
from shortlist.lab.scoring import classifiers, encoders
from shortlist.lab.scoring.bid_table import write_bids
from shortlist.lab.scoring.checkpoints import Tell, Tells

__all__ = ["app"]

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Turn raw data and a model into a score file for reproduce --scores.",
)

Result = TypeVar("Result")
_Device = Annotated[str, typer.Option(help="The device: auto, cpu, cuda or mps.")]
_Limit = Annotated[
    int | None,
    typer.Option(help="The maximum number of items: images spread over the whole set, or the first questions."),
]
_Dtype = Annotated[str, typer.Option(help="The type of the scores in the file: float32 or float16.")]


@app.command()
def images(
    source: Annotated[Path, typer.Argument(help="A folder per class, one folder of images, or Parquet shards.")],
    out: Annotated[Path, typer.Option(help="The score file.")] = Path("images.npz"),
    model: Annotated[
        str, typer.Option(help=f"A folder, a name on the hub, or {classifiers.LITE}, which needs no hub.")
    ] = classifiers.DEFAULT,
    revision: Annotated[str | None, typer.Option(help="The model's revision on the hub.")] = None,
    truth: Annotated[Path | None, typer.Option(help="For one folder of images: a file of lines NAME CLASS.")] = None,
    batch: Annotated[int, typer.Option(help="Images per batch.")] = 32,
    limit: _Limit = None,
    device: _Device = "auto",
    dtype: _Dtype = "float32",
    skip_broken: Annotated[bool, typer.Option("--skip-broken", help="Leave out images that cannot be read.")] = False,
) -> None:
    """Score labeled images with a classifier: its logits, as in the paper."""
    from shortlist.lab.scoring.jobs import score_images  # noqa: PLC0415 - only this command needs it

    _check(out, dtype, limit)
    if not source.exists():
        raise InvalidParameter(f"{source}: there is no such folder")
    if revision is not None and model == classifiers.LITE:
        raise InvalidParameter(f"revision is {revision!r}, and {model} has no revisions: drop it")
    classifier = classifiers.load_classifier(model, device=device, revision=revision)
    broken = _work(
        out,
        lambda tells: score_images(
            source,
            out,
            classifier,
            tells=tells,
            truth=truth,
            batch=batch,
            limit=limit,
            skip_broken=skip_broken,
            dtype=dtype,
            name=out.stem,
        ),
    )
    if broken:
        typer.echo(f"{broken:,} broken images were left out")


@app.command()
def retrieval(
    source: Annotated[Path, typer.Argument(help="JSON in DPR's or SQuAD's format; may be gzipped.")],
    out: Annotated[Path, typer.Option(help="The score file.")] = Path("retrieval.npz"),
    model: Annotated[str, typer.Option(help=f"dpr, or {encoders.MINILM}, which needs no hub.")] = "dpr",
    question_model: Annotated[
        str, typer.Option(help="DPR's question encoder: a folder, or a name on the hub.")
    ] = encoders.QUESTION_MODEL,
    passage_model: Annotated[str, typer.Option(help="DPR's passage encoder.")] = encoders.PASSAGE_MODEL,
    embed: Annotated[
        str | None,
        typer.Option(help="A command of your own instead: JSON lines with kind, title and text in, JSON arrays out."),
    ] = None,
    negatives: Annotated[int, typer.Option(help="Irrelevant passages per question.")] = 50,
    batch: Annotated[int, typer.Option(help="Questions, or passages, per batch.")] = 64,
    limit: _Limit = None,
    device: _Device = "auto",
    dtype: _Dtype = "float32",
) -> None:
    """Score questions against their passages: cosine similarities, as in the paper."""
    from shortlist.lab.scoring.jobs import score_retrieval  # noqa: PLC0415 - only this command needs it

    _check(out, dtype, limit)
    if not source.is_file():
        what = "this is a folder; give a JSON file" if source.is_dir() else "there is no such file"
        raise InvalidParameter(f"{source}: {what}")
    if (embed or model != "dpr") and (question_model, passage_model) != (
        encoders.QUESTION_MODEL,
        encoders.PASSAGE_MODEL,
    ):
        raise InvalidParameter("question-model and passage-model are DPR's: drop them, or --model and --embed")
    if negatives < 1:
        raise InvalidParameter(f"negatives is {negatives}; it must be at least 1")
    with contextlib.ExitStack() as stack:
        encoder: encoders.Encoder
        if embed is not None:
            encoder = stack.enter_context(encoders.EncoderCommand(embed))
        elif model == encoders.MINILM:
            encoder = encoders.load_minilm(device=device)
        elif model == "dpr":
            encoder = encoders.load_dpr(question_model, passage_model, device=device)
        else:
            raise InvalidParameter(f"model is {model!r}; it must be dpr or {encoders.MINILM}, or give --embed")
        result = _work(
            out,
            lambda tells: score_retrieval(
                source,
                out,
                encoder,
                tells=tells,
                negatives=negatives,
                batch=batch,
                limit=limit,
                dtype=dtype,
                name=out.stem,
            ),
        )
    for reason, count in result.left_out.items():
        typer.echo(f"left out: {count:,} {reason}")


@app.command()
def auctions(
    source: Annotated[Path, typer.Argument(help="A CSV file with one row per bid.")],
    out: Annotated[Path, typer.Option(help="The table of bids.")] = Path("auctions-table.csv"),
    bid: Annotated[str, typer.Option(help="The column of bids.")] = "bid",
    item: Annotated[str | None, typer.Option(help="The column that identifies items.")] = None,
    separator: Annotated[str, typer.Option(help="The separator of the CSV file.")] = ",",
) -> None:
    """Count the bids of auctions: the table that bidders draw their values from."""
    if out.suffix != ".csv":
        raise InvalidParameter(f"out is {out}; the name of a table of bids must end in .csv")
    if len(separator) != 1:
        raise InvalidParameter(f"separator is {separator!r}; it must be one character")
    count = write_bids(source, out, bid=bid, item=item, separator=separator)
    typer.echo(f"{count:,} bids counted in {out}; next: shortlist reproduce --scores {out}")


def _check(out: Path, dtype: str, limit: int | None) -> None:
    if out.suffix != ".npz":
        raise InvalidParameter(f"out is {out}; the name of a score file must end in .npz")
    if dtype not in ("float32", "float16"):
        raise InvalidParameter(f"dtype is {dtype!r}; it must be float32 or float16")
    if limit is not None and limit < 1:
        raise InvalidParameter(f"limit is {limit}; it must be at least 1")


def _work(out: Path, run: Callable[[Tells], Result]) -> Result:
    """Run a job and show its progress; say how to continue if it is stopped."""
    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, disable=not console.is_terminal) as bar:

        def tells(part: str) -> Tell:
            task, said = bar.add_task(part, total=None), [-1]

            def tell(done: int, total: int) -> None:
                bar.update(task, completed=done, total=total)
                twentieth = done * 20 // max(total, 1)
                if not console.is_terminal and twentieth > said[0]:
                    said[0] = twentieth
                    typer.echo(f"{part}: {done:,} of {total:,}", err=True)

            return tell

        try:
            result = run(tells)
        except KeyboardInterrupt:
            bar.stop()
            typer.echo(f"shortlist: stopped; the same command continues where it was ({out}.partial)", err=True)
            raise typer.Exit(130) from None
    typer.echo(f"{out} is written; next: shortlist reproduce --scores {out}")
    return result
