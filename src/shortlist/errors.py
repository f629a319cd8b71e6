"""Everything that can go wrong, as one tree.

    ShortlistError
    ├── InvalidInput (also a ValueError): something handed in cannot be used; nothing has changed
    │   ├── InvalidParameter     a hyper-parameter out of range: coverage 1.5, horizon -1
    │   ├── InvalidScores        NaN, infinity, text, or the wrong shape
    │   ├── NoCandidates         an empty list of candidates
    │   ├── InvalidIds           ids of the wrong number or type
    │   │   └── DuplicateIds     two candidates with one id
    │   ├── UnknownRound         a round id that was never given out
    │   ├── RoundClosed          a round too old to be kept
    │   ├── NotShown             a member that was not in the list shown
    │   ├── ConflictingAnswer    another answer to a round that has one
    │   ├── ConflictingRound     another list under the id of a round that was shown
    │   ├── ConflictingStream    other settings under the name of a stream, or what it cannot take any more
    │   ├── ScorerChanged        scores of another version than the stream's: a new scale
    │   └── UnknownStream        a stream that is not there
    ├── SaveFileError            a file that cannot be written or read back
    │   ├── MissingFile          there is no such file or folder (also a FileNotFoundError)
    │   ├── UnwritableFile       the system refused: full, read-only, forbidden (also an OSError)
    │   ├── MissingScore         the score was a function of your own: pass it again
    │   ├── MissingPolicy        the policy was one of your own: pass it again
    │   ├── DamagedFile          truncated, altered, or not one of ours
    │   ├── NewerFile            written by a later version
    │   └── FolderInUse          another process keeps its state there
    ├── ServiceError             the service, or the way to it
    │   ├── ServiceUnavailable   cannot be reached, or cannot store anything now; try again
    │   ├── NotAllowed           no key, a wrong one, or one without the right to do this
    │   ├── StoreUnavailable     its database: full, read-only, out of reach
    │   ├── NewerDatabase        its database was written by a later version
    │   ├── DatabaseInUse        its database file is held by another process
    │   └── DamagedLog           its log does not give the state that is stored
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
    """Something handed in cannot be used. The state is as it was before the call."""


class InvalidParameter(InvalidInput):
    """A hyper-parameter out of range or of the wrong type."""


class InvalidScores(InvalidInput):
    """Scores that are not a one-dimensional array of finite numbers."""


class NoCandidates(InvalidInput):
    """An empty list of candidates: there is nothing to show and nothing to learn."""


class InvalidIds(InvalidInput):
    """Candidate ids of the wrong number or type."""


class DuplicateIds(InvalidIds):
    """Two candidates with the same id: an answer could not be told apart."""


class UnknownRound(InvalidInput):
    """A round id that was never given out by ``propose``."""


class RoundClosed(InvalidInput):
    """A round so old that it is no longer kept: its answer can no longer be taken."""


class NotShown(InvalidInput):
    """A member that was not in the list shown in that round."""


class ConflictingAnswer(InvalidInput):
    """An answer that differs from the one the round already has."""


class ConflictingRound(InvalidInput):
    """Another list under the id of a round that was shown already."""


class ConflictingStream(InvalidInput):
    """Other settings under the name of a stream that is there already, or a request that its state rules out."""


class ScorerChanged(InvalidInput):
    """Scores of another version than the stream's: on a new scale the old threshold means nothing."""


class UnknownStream(InvalidInput):
    """A stream that is not there."""


class SaveFileError(ShortlistError):
    """A save file that cannot be written or read back."""


class MissingFile(SaveFileError, FileNotFoundError):
    """There is no such file, or no such folder to write it to."""


class UnwritableFile(SaveFileError, OSError):
    """The system refused to write: the disk is full or read-only, or permission is missing."""


class MissingPolicy(SaveFileError):
    """The policy of a saved lister was one of your own, and must be passed again."""


class MissingScore(SaveFileError):
    """The saved lister used a score of your own, which a file cannot hold: hand it to ``load`` again."""


class DamagedFile(SaveFileError):
    """A save file that is truncated, altered, or not one of ours."""


class NewerFile(SaveFileError):
    """A save file written by a later version of shortlist."""


class FolderInUse(SaveFileError):
    """A folder in which another process keeps its state: two of them would overwrite each other's."""


class ServiceError(ShortlistError):
    """Something about the service, or the way to it."""


class ServiceUnavailable(ServiceError):
    """The service cannot be reached, or cannot store anything now. Trying again is safe."""


class NotAllowed(ServiceError):
    """No key, a wrong key, or a key without the right to do this."""


class StoreUnavailable(ServiceError):
    """The database is full, read-only or out of reach; what was sent is not stored."""


class NewerDatabase(ServiceError):
    """The database was written by a later version of shortlist."""


class DatabaseInUse(ServiceError):
    """The database file is held by another process that writes to it."""


class DamagedLog(ServiceError):
    """The log does not give the state that is stored beside it."""


class MissingExtra(ShortlistError, ImportError):
    """An optional dependency is not installed; the message names the extra that brings it."""


def needs_extra(what: str, extra: str, *modules: str) -> None:
    """Raise `MissingExtra` unless these modules are installed; nothing is imported.

    Parameters
    ----------
    what
        What needs them, as the subject of a sentence.
    extra
        The extra of this package that brings them.
    modules
        Their top-level names.

    Examples
    --------
    >>> needs_extra("the clock", "time", "datetime", "sundial")
    Traceback (most recent call last):
    shortlist.errors.MissingExtra: the clock needs sundial, which is in an extra: pip install 'shortlist[time]'
    """
    for module in modules:
        if importlib.util.find_spec(module) is None:
            raise MissingExtra(f"{what} needs {module}, which is in an extra: pip install 'shortlist[{extra}]'")


def all_errors() -> list[type[ShortlistError]]:
    """Return every class of the tree."""
    return [globals()[name] for name in __all__]


def problem_name(kind: type[ShortlistError]) -> str:
    """Return a class's name as the service writes it.

    >>> problem_name(ConflictingAnswer)
    'conflicting-answer'
    """
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "-", kind.__name__).lower()
