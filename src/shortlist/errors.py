"""Everything that can go wrong, as one tree.

    ShortlistError
    ├── InvalidInput (also a ValueError): an argument cannot be used; nothing has changed
    │   ├── InvalidParameter     a hyper-parameter out of range: coverage 1.5, horizon -1
    │   ├── InvalidScores        NaN, infinity, text, or the wrong shape
    │   ├── NoCandidates         an empty list of candidates
    │   ├── InvalidIds           the wrong number or type of ids
    │   │   └── DuplicateIds     two candidates with the same id
    │   ├── UnknownRound         a round id that was never issued
    │   ├── RoundClosed          expired, withdrawn, too old, or with a final answer
    │   ├── NotShown             a member that was not in the list shown
    │   ├── ConflictingAnswer    a second, different answer to a round
    │   ├── ConflictingRound     a different list under the id of an existing round
    │   ├── ConflictingStream    different settings for an existing stream, or a request its state rules out
    │   ├── LeaseLost            a round whose lease has ended, and that somebody else is answering
    │   ├── ScorerChanged        scores of another scorer version than the stream's: a new scale
    │   └── UnknownStream        a stream that does not exist
    ├── SaveFileError            a file that cannot be written or read back
    │   ├── MissingFile          there is no such file or folder (also a FileNotFoundError)
    │   ├── UnwritableFile       the system refused: full, read-only, forbidden (also an OSError)
    │   ├── MissingScore         the score was a function of your own: pass it again
    │   ├── MissingPolicy        the policy was one of your own: pass it again
    │   ├── DamagedFile          truncated, altered, or not a save file
    │   ├── NewerFile            written by a later version
    │   └── FolderInUse          another process keeps its state there
    ├── ServiceError             the service, or the connection to it
    │   ├── ServiceUnavailable   cannot be reached, or cannot store anything now; try again
    │   ├── NotAllowed           no key, a wrong one, or one without permission for this
    │   ├── StoreUnavailable     its database is full, read-only or unreachable
    │   ├── NewerDatabase        its database was written by a later version
    │   ├── DatabaseInUse        its database file is held by another process
    │   └── DamagedLog           its log does not reproduce the stored state
    └── MissingExtra (also an ImportError): an optional dependency is not installed

Every message states the value, the rule and the remedy.
"""

import importlib.util
import re

__all__ = [
    "ConflictingAnswer",
    "ConflictingRound",
    "ConflictingStream",
    "DamagedFile",
    "DamagedLog",
    "DatabaseInUse",
    "DuplicateIds",
    "FolderInUse",
    "InvalidIds",
    "InvalidInput",
    "InvalidParameter",
    "InvalidScores",
    "LeaseLost",
    "MissingExtra",
    "MissingFile",
    "MissingPolicy",
    "MissingScore",
    "NewerDatabase",
    "NewerFile",
    "NoCandidates",
    "NotAllowed",
    "NotShown",
    "RoundClosed",
    "SaveFileError",
    "ScorerChanged",
    "ServiceError",
    "ServiceUnavailable",
    "ShortlistError",
    "StoreUnavailable",
    "UnknownRound",
    "UnknownStream",
    "UnwritableFile",
]


class ShortlistError(Exception):
    """The root of the tree: catch this to catch everything raised here."""


class InvalidInput(ShortlistError, ValueError):
    """An argument cannot be used. The state is as it was before the call."""


class InvalidParameter(InvalidInput):
    """A hyper-parameter out of range or of the wrong type."""


class InvalidScores(InvalidInput):
    """Scores that cannot be used: not finite numbers, or of the wrong shape."""


class NoCandidates(InvalidInput):
    """An empty list of candidates: there is nothing to show and nothing to learn."""


class InvalidIds(InvalidInput):
    """The wrong number or type of candidate ids."""


class DuplicateIds(InvalidIds):
    """Two candidates with the same id: an answer would be ambiguous."""


class UnknownRound(InvalidInput):
    """A round id that ``propose`` never returned."""


class RoundClosed(InvalidInput):
    """A round that can no longer be answered: expired, withdrawn, no longer kept, or with a final answer."""


class NotShown(InvalidInput):
    """A member that was not in the list shown in that round."""


class ConflictingAnswer(InvalidInput):
    """An answer that differs from the one the round already has."""


class ConflictingRound(InvalidInput):
    """A different list under the id of a round that was already shown."""


class ConflictingStream(InvalidInput):
    """Different settings for a stream that already exists, or a request that its state rules out."""


class LeaseLost(InvalidInput):
    """A round whose lease has ended, and which somebody else is answering by now."""


class ScorerChanged(InvalidInput):
    """Scores of another scorer version than the stream's: on a new scale the old threshold means nothing."""


class UnknownStream(InvalidInput):
    """A stream that does not exist."""


class SaveFileError(ShortlistError):
    """A save file that cannot be written or read back."""


class MissingFile(SaveFileError, FileNotFoundError):
    """There is no such file, or no such folder to write it to."""


class UnwritableFile(SaveFileError, OSError):
    """The system refused to write: the disk is full or read-only, or permission is missing."""


class MissingPolicy(SaveFileError):
    """The policy of a saved lister was one of your own, and must be passed again."""


class MissingScore(SaveFileError):
    """The saved lister used a score of your own, which a file cannot hold: pass it to ``load`` again."""


class DamagedFile(SaveFileError):
    """A file that is truncated, altered, or not a save file of shortlist."""


class NewerFile(SaveFileError):
    """A save file written by a later version of shortlist."""


class FolderInUse(SaveFileError):
    """A folder in which another process keeps its state; two processes would overwrite each other's."""


class ServiceError(ShortlistError):
    """An error of the service, or of the connection to it."""


class ServiceUnavailable(ServiceError):
    """The service cannot be reached, or cannot store anything now. Trying again is safe."""


class NotAllowed(ServiceError):
    """No key, a wrong key, or a key without permission for this."""


class StoreUnavailable(ServiceError):
    """The database is full, read-only or unreachable; what was sent is not stored."""


class NewerDatabase(ServiceError):
    """The database was written by a later version of shortlist."""


class DatabaseInUse(ServiceError):
    """The database file is held by another process that writes to it."""


class DamagedLog(ServiceError):
    """The log does not reproduce the state that is stored with it."""


class MissingExtra(ShortlistError, ImportError):
    """An optional dependency is not installed; the message names the extra that installs it."""


def needs_extra(what: str, extra: str, *modules: str) -> None:
    """Raise `MissingExtra` unless these modules are installed; nothing is imported.

    Parameters
    ----------
    what
        What needs them, as the subject of a sentence.
    extra
        The extra of this package that installs them.
    modules
        Their top-level names.

    Raises
    ------
    MissingExtra
        If one of the modules is not installed.

    Examples
    --------
    >>> needs_extra("the clock", "time", "datetime", "sundial")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    shortlist.errors.MissingExtra: the clock needs sundial, which is in an extra: pip install '...[time]...'
    """
    for module in modules:
        if importlib.util.find_spec(module) is None:
            raise MissingExtra(f"{what} needs {module}, which is in an extra: {_install_command(extra)}")


def _install_command(extra: str) -> str:
    """Return the command that installs an extra of this package from where the package came from."""
    import json  # noqa: PLC0415 - slow, and only where something is missing
    from importlib import metadata  # noqa: PLC0415
    from pathlib import Path  # noqa: PLC0415
    from urllib.parse import urlparse  # noqa: PLC0415
    from urllib.request import url2pathname  # noqa: PLC0415

    checkout = Path(__file__).parents[2]
    if (checkout / "pyproject.toml").is_file() and checkout.joinpath("src", "shortlist") == Path(__file__).parent:
        return f"pip install '{checkout}[{extra}]'"
    try:
        source = json.loads(metadata.distribution("shortlist").read_text("direct_url.json") or "{}")
        address = str(source.get("url", ""))
    except (metadata.PackageNotFoundError, ValueError):
        return f"pip install 'shortlist[{extra}]'"
    if "dir_info" in source and address.startswith("file://"):
        return f"pip install '{url2pathname(urlparse(address).path)}[{extra}]'"
    return f"pip install 'shortlist[{extra}] @ {address}'" if address else f"pip install 'shortlist[{extra}]'"


def all_errors() -> list[type[ShortlistError]]:
    """Return every class of the tree."""
    return [globals()[name] for name in __all__]


def problem_name(kind: type[ShortlistError]) -> str:
    """Return the name of a class as the service's problem documents spell it.

    >>> problem_name(ConflictingAnswer)
    'conflicting-answer'
    """
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "-", kind.__name__).lower()
