"""What comes in to be reranked: the request of Cohere's rerank, versions 1 and 2."""

from typing import Annotated, Any, Final, Literal

from pydantic import Field

from shortlist.errors import InvalidParameter
from shortlist.service.web.fields import MOST_CHARACTERS, Body, Name, OneError, Whole

__all__ = ["MOST_DOCUMENTS", "Rerank"]

#: The most documents in a request, as with Cohere.
MOST_DOCUMENTS: Final = 1_000

_Fields = Annotated[dict[str, Any], Field(max_length=100)]
_Document = Annotated[str | _Fields, OneError('Input should be a text, or an object with a "text"')]
_Ignored = Annotated[int, Field(ge=0), Whole()] | None


class Rerank(Body):
    """Documents to be ordered and cut."""

    model: Name
    """The stream."""
    query: Annotated[str, Field(min_length=1, max_length=MOST_CHARACTERS)]
    """What was asked; stored, for the pages, once the stream has had feedback. It can be erased like all texts."""
    documents: Annotated[list[_Document], Field(min_length=1, max_length=MOST_DOCUMENTS)]
    """The candidates: texts, or objects with a `text`. A document's id is its index. They are not stored."""
    top_n: Annotated[int, Field(ge=1), Whole()] | None = None
    """The most results."""
    rank_fields: Annotated[list[str], Field(min_length=1, max_length=100)] | None = None
    """Of objects, the fields to score instead of `text`, in this order."""
    return_documents: bool | None = None
    """Send each result's document along."""
    max_tokens_per_doc: _Ignored = None
    """Accepted and not used: documents are scored whole."""
    max_chunks_per_doc: _Ignored = None
    """Accepted and not used."""
    priority: Annotated[int, Field(ge=0, le=999), Whole()] | Literal["high", "low"] | None = None
    """Accepted and not used."""

    def texts(self) -> list[str]:
        """Return what is scored of each document, or raise InvalidParameter."""
        return [each if isinstance(each, str) else self._text(i, each) for i, each in enumerate(self.documents)]

    def _text(self, index: int, document: dict[str, Any]) -> str:
        if self.rank_fields is None:
            text = document.get("text")
            if not isinstance(text, str):
                raise InvalidParameter(
                    f"document {index} has no text: send texts, objects with a text, or rank_fields, the names of the "
                    "fields to score"
                )
            return text
        parts = [f"{name}: {document[name]}" for name in self.rank_fields if name in document]
        if not parts:
            raise InvalidParameter(f"document {index} has none of the rank_fields {', '.join(self.rank_fields)}")
        return "\n".join(parts)
