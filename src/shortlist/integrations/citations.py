"""An LLM's citations as answers: the documents it cites are those it needed.

    prompt = numbered(texts)                      # "[1] ...", "[2] ..."
    answer = model(question, prompt)              # "Within five days [2]."
    answer_round(lister, shown.round_id, read_citations(answer, shown.members))

Everything that an answer cites is needed, so the lowest of their scores counts (``hit(round_id, [a, b])``). An answer
that says `NOT FOUND` is a miss, even if it cites something: a part is missing. Anything else is a `skip`: an answer
without a citation, or one that cites a label that is not in the prompt. A formatting error does not say that
the list lacks something, so it is never a miss. Needs only the standard library.

An answer is a text; a message of LangChain, OpenAI, Anthropic or Cohere, as an object or parsed from JSON, with the
citations that the provider adds; a list of tool calls; or ``{"answer": ..., "citations": [2]}``.
"""

import inspect
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, NamedTuple

from shortlist._validation import Member
from shortlist.errors import InvalidParameter
from shortlist.listers.protocol import Lister

__all__ = ["NOT_FOUND", "Citations", "answer_round", "numbered", "read_citations"]

#: What the prompt asks a model to say if something it needs is missing.
NOT_FOUND: Final = "NOT FOUND"
#: The tool that a model may call instead of writing brackets: ``cite(ids=[...], not_found=false)``.
_TOOL: Final = "cite"
_LISTS: Final = ("ids", "citations", "documents", "sources")
#: Where a message has its text, and of what it may be a part.
_TEXTS: Final = ("content", "answer", "text")
_PARTS: Final = (*_TEXTS, "tool_calls", "citations", "message", "choices")
#: The names that Cohere gives documents without an id: they count from 0.
_COUNTED: Final = re.compile(r"doc[:_](\d+)")
_CODE: Final = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`", re.DOTALL)
_BRACKETS: Final = re.compile(r"\[([^\[\]\n]{1,200})\](\()?|【([^【】\n]{1,200})】()")
_SEPARATORS: Final = re.compile(r"\s*(?:[,;&]|\band\b)\s*")
_RANGE: Final = re.compile(r"(\d{1,6})\s*(?:-|–|—|\.\.|to)\s*(\d{1,6})")  # noqa: RUF001 - dashes as models write them
#: What models put before a number.
_WORD: Final = re.compile(
    r"(?:(?:doc|document|source|ref|reference|passage|no|result)s?\.?[\s:#-]*|[#^])(?=\d)", re.IGNORECASE
)
_TAIL: Final = re.compile(r"(?::\d+)?†.*$")


@dataclass(frozen=True)
class Citations:
    """The citations of an answer.

    Attributes
    ----------
    cited
        The documents it cites, each once, in the order of the answer.
    unknown
        What looks like a citation but is not a label of the prompt.
    not_found
        Whether it says that something is missing.
    """

    cited: tuple[Member, ...] = ()
    unknown: tuple[str, ...] = ()
    not_found: bool = False

    @property
    def answer(self) -> Literal["hit", "miss", "skip"]:
        """The answer to the round."""
        if self.not_found:
            return "miss"  # even if it cites something: skipped, the rounds that lack a part would not count
        return "hit" if self.cited and not self.unknown else "skip"


def numbered(texts: Iterable[str]) -> str:
    """Return documents formatted for a prompt, numbered from 1.

    Parameters
    ----------
    texts
        The text of each document, in the order of the list.

    Returns
    -------
    str
        One line per document.

    Raises
    ------
    InvalidParameter
        If a document is not a text.

    Examples
    --------
    >>> print(numbered(["Refunds take five days.", "Returns are free."]))
    [1] Refunds take five days.
    [2] Returns are free.
    """
    texts = list(texts)
    for number, text in enumerate(texts, 1):
        if not isinstance(text, str):
            raise InvalidParameter(
                f"document {number} is a {type(text).__name__}; give its text, such as document.page_content"
            )
    return "\n".join(f"[{number}] {text}" for number, text in enumerate(texts, 1))


def read_citations(
    answer: Any,
    labels: Mapping[Any, Member] | Sequence[Member],
    *,
    not_found: str = NOT_FOUND,
    tool: str = _TOOL,
) -> Citations:
    """Return the citations of an answer.

    Brackets are read as models write them: ``[1]``, ``[doc-7]``, ``[1, 3]``, ``[2-4]``, ``[Source 2]``, ``[^2]``,
    ``【2†source】``. Code is ignored, and so are brackets that neither are a label nor look like one: ``[sic]``, and
    links. A label is matched literally first, and only then as a number or a range.

    Parameters
    ----------
    answer
        The text, or a message: of LangChain (an ``AIMessage``), of an OpenAI-compatible service (``"content"``,
        ``"tool_calls"``), of Anthropic (content blocks with ``"citations"``, ``"tool_use"``), of Cohere
        (``"citations"`` with ``"sources"``); a list of tool calls; or ``{"answer": ..., "citations": [...]}``.
    labels
        A mapping from the labels of the prompt to the members of the list: ``{"doc-7": "doc-7"}``. Or only the members,
        in the order of the prompt, if it numbers them from 1. A provider that counts documents counts them in this
        order, from 0.
    not_found
        What the prompt asks the model to say if something it needs is missing. In an answer that cites nothing,
        case and punctuation do not matter.
    tool
        The name of the tool that it may call: its ``ids`` (or ``citations``, ``documents``, ``sources``) are
        labels, and ``not_found`` says that something is missing.

    Returns
    -------
    Citations
        What it cites, and whether it says that something is missing.

    Raises
    ------
    InvalidParameter
        If an argument cannot be used, or the answer is no message; a text that cannot be read is never an error.

    Examples
    --------
    >>> read_citations("Five days [2], and free [1, 3].", ["a", "b", "c"]).cited
    ('b', 'a', 'c')
    >>> read_citations({"answer": "Five days.", "citations": [2]}, ["a", "b", "c"]).cited
    ('b',)
    >>> read_citations("As [7] says.", ["a", "b", "c"]).answer
    'skip'
    """
    if not isinstance(not_found, str) or not _plain(not_found):
        raise InvalidParameter(
            f"not_found is {not_found!r}; give the words that the prompt asks for, such as {NOT_FOUND}"
        )
    reader = _Reader(labels)
    missing, loosely = False, False
    for part in _parts(answer, tool):
        if isinstance(part, str):
            missing |= not_found in part
            loosely |= _plain(not_found) in _plain(part)
            reader.text(part)
        else:
            missing |= str(part.get("not_found") or "").casefold() not in ("", "false", "no")
            for name in _LISTS:
                reader.values(part.get(name))
    missing |= loosely and not reader.cited
    return Citations(tuple(dict.fromkeys(reader.cited)), tuple(dict.fromkeys(reader.unknown)), missing)


def answer_round(
    lister: Lister, round_id: Any, citations: Citations, *, several: Literal["all", "any"] = "all"
) -> Literal["hit", "miss", "skip"]:
    """Answer a round with the citations.

    Parameters
    ----------
    lister
        A Shortlister, or a Client of the service; not an AsyncClient.
    round_id
        The round of the list.
    citations
        The citations, of members of that list.
    several
        ``"all"``: everything cited is needed, and the guarantee is that all of it is in the list, provided that the
        model says so when a part is missing, or that the lister explores (`explore_share`). ``"any"``: one of
        them would have been enough, and the first one cited counts; lists are shorter, and the guarantee is that some
        document that a model would cite is in the list.

    Returns
    -------
    Literal['hit', 'miss', 'skip']
        The verb that was called.

    Raises
    ------
    InvalidParameter
        If the lister's verbs must be awaited, `several` is neither ``"all"`` nor ``"any"``, or `citations` are not
        what `read_citations` returns.
    """
    if inspect.iscoroutinefunction(lister.hit):
        raise InvalidParameter(
            f"lister is {lister!r}, whose verbs must be awaited; give a Client, or await its {citations.answer}"
        )
    if several not in ("all", "any"):
        raise InvalidParameter(f"several is {several!r}; it must be 'all' or 'any'")
    if not isinstance(citations, Citations):
        raise InvalidParameter(f"citations are {str(citations)[:60]!r}; give what read_citations returns")
    answer = citations.answer
    if answer == "hit":
        only = several == "any" or len(citations.cited) == 1
        right: Any = citations.cited[0] if only else list(citations.cited)
        lister.hit(round_id, right)
    elif answer == "miss":
        lister.miss(round_id)
    else:
        lister.skip(round_id)
    return answer


def _parts(answer: Any, tool: str) -> Iterator[str | dict[str, Any]]:
    """Yield the texts of a message, and what it cites as data: of its calls of the tool, or as its provider says it."""
    if isinstance(answer, str):
        yield answer
        return
    message = _message(answer)
    for inner in [message.get("message"), *_blocks(message.get("choices"), "choices")]:
        if inner is not None:
            yield from _parts(inner["message"] if isinstance(inner, Mapping) and "message" in inner else inner, tool)
    for name in _TEXTS:
        content = message.get(name)
        yield from _block_parts(_blocks([content] if isinstance(content, str) else content, name), tool)
    yield {"citations": list(_structured(message.get("citations")))}
    for call in _blocks(message.get("tool_calls"), "tool_calls"):
        function = call if isinstance(call, str) else call.get("function") or call
        if isinstance(function, Mapping) and function.get("name") == tool:
            yield _arguments(function.get("arguments", function.get("args")))


def _block_parts(blocks: list[Any], tool: str) -> Iterator[str | dict[str, Any]]:
    """Yield the texts of content blocks, and what they cite as data."""
    for block in blocks:
        if isinstance(block, str):
            yield block
        elif block.get("type") == "tool_use" and block.get("name") == tool:
            yield _arguments(block.get("input"))
        elif isinstance(block.get("text"), str):
            yield block["text"]
            yield {"citations": list(_structured(block.get("citations")))}


def _message(answer: Any) -> Mapping[str, Any]:
    """Return a message as a mapping, or raise; objects of the providers' packages know how to become one."""
    if hasattr(answer, "model_dump"):
        answer = answer.model_dump()
        more = answer.get("additional_kwargs")
        if isinstance(more, Mapping) and "citations" in more and "citations" not in answer:
            answer = {**answer, "citations": more["citations"]}
    if isinstance(answer, (list, tuple)) and answer and all(isinstance(each, Mapping) for each in answer):
        calls = all("function" in each or ("name" in each and each.get("type") != "tool_use") for each in answer)
        answer = {"tool_calls" if calls else "content": answer}
    if not isinstance(answer, Mapping) or not any(name in answer for name in _PARTS):
        what = f"has {', '.join(map(repr, answer))}" if isinstance(answer, Mapping) else f"is a {type(answer).__name__}"
        raise InvalidParameter(
            f"answer {what}; give a text, or a message with content, tool_calls or citations: labels of the prompt"
        )
    return answer


def _structured(citations: Any) -> Iterator[Any]:
    """Yield the labels of citations that are data: labels, or documents as a provider names them."""
    for each in citations if isinstance(citations, (list, tuple)) else () if citations is None else (citations,):
        if hasattr(each, "model_dump"):
            each = each.model_dump()  # noqa: PLW2901
        if not isinstance(each, Mapping):
            yield each
            continue
        index = each.get("document_index", each.get("search_result_index"))
        if isinstance(index, int):
            yield _Position(index)
        elif isinstance(each.get("sources"), (list, tuple)):
            for source in each["sources"]:
                source = source.model_dump() if hasattr(source, "model_dump") else source  # noqa: PLW2901
                yield _named(source.get("id") if isinstance(source, Mapping) else source)
        elif isinstance(each.get("document_ids"), (list, tuple, set)):
            yield from map(_named, each["document_ids"])
        else:
            names = ("id", "document_id", "source_id", "label")
            yield _named(next((each[name] for name in names if name in each), str(dict(each))[:80]))


class _Position(NamedTuple):
    """A document's position in the prompt, from 0, and the name that stands for it, unless that is a label itself."""

    number: int
    name: str = ""


def _named(name: Any) -> Any:
    """Return the label of a document; one without an id is counted."""
    counted = _COUNTED.fullmatch(name) if isinstance(name, str) else None
    return name if counted is None else _Position(int(counted[1]), counted[0])


def _blocks(blocks: Any, where: str) -> list[Any]:
    """Return the parts of a message, or raise."""
    if blocks is None:
        return []
    if not isinstance(blocks, (list, tuple)) or not all(isinstance(each, (str, Mapping)) for each in blocks):
        raise InvalidParameter(f"{where} of the answer is {str(blocks)[:80]!r}; give the message as parsed from JSON")
    return list(blocks)


def _arguments(arguments: Any) -> dict[str, Any]:
    """Return the arguments of a call; unreadable ones become an unknown label."""
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments)
        except ValueError:
            arguments = {"ids": [f"unreadable arguments: {arguments[:80]}"]}
    return arguments if isinstance(arguments, dict) else {"ids": arguments}


def _plain(text: str) -> str:
    """Return the words of a text, in lower case and without punctuation."""
    return re.sub(r"[\W_]+", " ", text).strip().casefold()


class _Reader:
    """From labels, as a model writes them, to members."""

    def __init__(self, labels: Mapping[Any, Member] | Sequence[Member]) -> None:
        if isinstance(labels, str) or not isinstance(labels, (Mapping, Sequence)):
            raise InvalidParameter(
                f"labels is {labels!r}; give the members of the list, or a mapping from each label to its member"
            )
        members = labels if isinstance(labels, Mapping) else dict(enumerate(labels, 1))
        self.labels = {str(label): member for label, member in members.items()}
        if len(self.labels) < len(members):
            raise InvalidParameter(f"labels has {list(members)}, of which two read the same; give each its own")
        folded: dict[str, list[Member]] = {}
        for label, member in self.labels.items():
            folded.setdefault(label.casefold(), []).append(member)
        self.folded = {label: alike[0] for label, alike in folded.items() if len(alike) == 1}
        self.cited: list[Member] = []
        self.unknown: list[str] = []

    def text(self, text: str) -> None:
        """Read the brackets of a text."""
        for match in _BRACKETS.finditer(_CODE.sub(" ", text)):
            content, link = match[1] or match[3], bool(match[2])
            if self._take(content):
                continue
            for part in _SEPARATORS.split(content.strip()):
                # The words of a link are not labels; nor is anything without a digit, or that reads like a sentence.
                if not self._take(part) and _looks_like_a_label(part) and not link:
                    self.unknown.append(part)

    def values(self, values: Any) -> None:
        """Read labels given as data."""
        for value in values if isinstance(values, (list, tuple)) else () if values is None else (values,):
            if isinstance(value, _Position) and value.name not in self.labels:
                if value.name in self.labels.values():  # no label, but a document of that name
                    self.cited.append(value.name)
                else:
                    self._take_position(value.number)
                continue
            label = str(value.name if isinstance(value, _Position) else value).strip()
            label = label.removeprefix("[").removesuffix("]")
            if not self._take(label):
                self.unknown.append(label)

    def _take_position(self, index: int) -> None:
        """Add the member of a document that is counted from 0."""
        members = list(self.labels.values())
        if 0 <= index < len(members):
            self.cited.append(members[index])
        else:
            self.unknown.append(f"document {index}")

    def _take(self, label: str) -> bool:
        """Add the members of a label, or of a range of numbers; return whether all exist."""
        label = _TAIL.sub("", label.strip())
        for form in (label, _WORD.sub("", label)):
            member = self.labels.get(form, self.folded.get(form.casefold()))
            if member is not None:
                self.cited.append(member)
                return True
            span = _RANGE.fullmatch(form)
            if span and int(span[1]) <= int(span[2]) < int(span[1]) + len(self.labels):
                members = [self.labels.get(str(number)) for number in range(int(span[1]), int(span[2]) + 1)]
                if None not in members:
                    self.cited += [member for member in members if member is not None]
                    return True
        return False


def _looks_like_a_label(part: str) -> bool:
    bare = _WORD.sub("", _TAIL.sub("", part.strip()))
    return bool(re.search(r"\d", bare)) and (not re.search(r"\s", bare) or bool(_RANGE.fullmatch(bare)))
