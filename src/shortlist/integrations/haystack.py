"""Haystack: components that keep the documents above a learned threshold, from one retriever or several.

    pipeline.add_component("shortlist", ShortlistFilter(coverage=0.9, path="lister.json"))
    pipeline.connect("retriever.documents", "shortlist.documents")
    result = pipeline.run({"retriever": {...}})["shortlist"]
    pipeline.get_component("shortlist").hit(result["documents"][0])

`ShortlistJoiner` replaces a `DocumentJoiner`: it has one input per retriever.

A pipeline is saved with the path or the address of its lister, never with the lister itself; loading it
needs ``allowed_modules=["shortlist.integrations.haystack"]``.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar, Self

from shortlist.errors import InvalidParameter, needs_extra
from shortlist.integrations._adapter import NOTES, Adapter, Candidates, ShownList, check_searches
from shortlist.integrations._feedback import FeedbackMixin
from shortlist.listers.shortlister import Shortlister
from shortlist.rounds.shown import to_null

needs_extra("the Haystack adapter", "haystack", "haystack")

from haystack import Document, component, default_from_dict, default_to_dict

__all__ = ["ShortlistFilter", "ShortlistJoiner"]


class _Learning(FeedbackMixin):
    """A component's lister, its file, and the answers to shown documents, through their metadata."""

    #: The settings in a saved pipeline.
    _saved: ClassVar[tuple[str, ...]] = (
        "coverage",
        "delta",
        "score",
        "path",
        "url",
        "stream",
        "higher_is_better",
        "complete",
        "autosave",
    )

    def _set_up(
        self,
        coverage: float,
        delta: float | None,
        score: str,
        path: str | None,
        url: str | None,
        stream: str | None,
        api_key: str | None,
        higher_is_better: bool | Mapping[str, bool],
        complete: bool,
        autosave: bool,
    ) -> None:
        if autosave and path is None:
            raise InvalidParameter("autosave is set, and there is no path to save to: give one")
        if (url is None) != (stream is None) or (url is not None and path is not None):
            raise InvalidParameter("give url and stream for a service, or a path for a lister of your own")
        self.coverage, self.delta, self.score = coverage, delta, score
        self.path, self.url, self.stream, self._api_key = path, url, stream, api_key
        self.higher_is_better, self.complete, self.autosave = higher_is_better, complete, autosave
        self._adapter = Adapter(self._lister(), higher_is_better=higher_is_better, autosave=path if autosave else None)

    def _lister(self) -> Any:
        if self.url is not None:
            from shortlist import Client  # noqa: PLC0415 - needs an extra

            return Client(self.url, str(self.stream), self._api_key)
        new = Shortlister(self.coverage, self.delta, score=self.score)
        if self.path is None or not Path(self.path).exists():
            return new
        lister = Shortlister.load(self.path)
        asked, learned = _described(new), _described(lister)
        differing = [name for name in asked if asked[name] != learned[name]]
        if differing:
            before = ", ".join(f"{name} {learned[name]}" for name in differing)
            now = ", ".join(f"{name} {asked[name]}" for name in differing)
            raise InvalidParameter(
                f"{self.path} was learned with {before}, and this component has {now}: change that back, or name "
                "another path"
            )
        return lister

    @property
    def lister(self) -> Any:
        """The lister: a Shortlister, or a Client."""
        return self._adapter.lister

    def save(self) -> None:
        """Write the lister to its file.

        Raises
        ------
        InvalidParameter
            If the component has no path.
        """
        if self.path is None:
            raise InvalidParameter("there is no path to save to; give one to the component")
        self.lister.save(self.path)

    def to_dict(self) -> dict[str, Any]:
        """Return the settings as plain data, and write the lister to its file if it has one.

        An API key is left out: pass it again when the pipeline is loaded.

        Returns
        -------
        dict[str, Any]
            What `from_dict` takes.
        """
        if self.path is not None:
            self.save()
        return default_to_dict(self, **{name: getattr(self, name) for name in self._saved})

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        """Return the component that `to_dict` described, with its lister.

        Parameters
        ----------
        data
            What `to_dict` returned.

        Returns
        -------
        Self
            The component.
        """
        component_: Self = default_from_dict(cls, data)
        return component_

    @staticmethod
    def _result(documents: ShownList[Document]) -> dict[str, Any]:
        return {
            "documents": documents,
            "round_id": documents.round_id,
            "threshold": to_null(documents.threshold),
            "truncated": documents.truncated,
        }

    def _marked(self, shown: Any, items: list[Document]) -> list[Document]:
        notes = self._adapter.metadata(shown)
        return [
            replace(
                each,
                score=each.score if len(note[NOTES]["scores"]) == 1 else note[NOTES]["score"],
                meta={**each.meta, **note},
            )
            for each, note in zip(items, notes, strict=True)
        ]

    @staticmethod
    def _metadata_of(item: Any) -> Any:
        return item.meta

    @staticmethod
    def _identity_of(item: Document) -> tuple[Any, str | None]:
        return item.id, item.content


def _described(lister: Shortlister) -> dict[str, Any]:
    """Return the settings that a component gives its lister, for comparing."""
    settings = lister.settings
    return {
        "policy": type(lister.policy).__name__,
        "coverage": getattr(lister.policy, "coverage", None),
        "delta": getattr(lister.policy, "delta", None),
        "score": settings.score if isinstance(settings.score, str) else repr(settings.score),
    }


@component
class ShortlistFilter(_Learning):
    """Keeps the documents that reach the learned threshold.

    If the last document would still be shown, the retriever may have left some out, and the documents are
    marked ``truncated``; set `complete` if the retriever returns everything. Keep `top_k` the same from
    the first question on, and large enough that the right document is among the results more often than
    `coverage` requires; if it is not, ``summary()["waiting_for"]`` says so.

    Parameters
    ----------
    coverage, delta, score
        Settings of a new lister, if there is none at `path`; an existing one must have the same.
    path
        A file for the lister: read if it exists, and written by `save` and when the pipeline is saved.
    autosave
        Write that file after every list and answer, too.
    url, stream, api_key
        Use a stream of a running service instead.
    higher_is_better
        False if the scores are distances.
    complete
        Whether the retriever returns all documents.
    """

    def __init__(
        self,
        coverage: float = 0.9,
        delta: float | None = None,
        score: str = "auto",
        *,
        path: str | None = None,
        url: str | None = None,
        stream: str | None = None,
        api_key: str | None = None,
        higher_is_better: bool = True,
        complete: bool = False,
        autosave: bool = False,
    ) -> None:
        self._set_up(coverage, delta, score, path, url, stream, api_key, higher_is_better, complete, autosave)

    @component.output_types(documents=list[Document], round_id=Any, threshold=Any, truncated=bool)
    def run(self, documents: list[Document], query: str | None = None) -> dict[str, Any]:
        """Return the documents that reach the threshold, best first.

        Parameters
        ----------
        documents
            The retriever's documents, with scores.
        query
            The question, stored by a service.

        Returns
        -------
        dict[str, Any]
            ``documents``, best first, ``round_id``, ``threshold`` and ``truncated``.
        """
        return self._result(self._offer(self._alone(documents, complete=self.complete), query))

    def _candidates_of(self, question: str, documents: Any) -> Candidates[Document]:  # noqa: ARG002
        results = documents["documents"] if isinstance(documents, Mapping) else documents
        return self._alone(results, complete=self.complete)

    @component.output_types(documents=list[Document], round_id=Any, threshold=Any, truncated=bool)
    async def run_async(self, documents: list[Document], query: str | None = None) -> dict[str, Any]:
        """Return the documents that reach the threshold, without blocking the loop.

        Parameters
        ----------
        documents
            The retriever's documents, with scores.
        query
            The question, stored by a service.

        Returns
        -------
        dict[str, Any]
            As for `run`.
        """
        return self._result(await self._offer_async(self._alone(documents, complete=self.complete), query))


@component
class ShortlistJoiner(_Learning):
    """Joins several retrievers, each with its own scores; their weights and the cutoff are learned.

    It has one input per name in `searches`, and an optional ``query``. Each document's meta carries, under
    ``shortlist``: ``round_id``, ``member``, ``score`` (the learned one, which is compared with the threshold),
    ``scores`` (one per retriever, None if it did not return the document), ``threshold``, ``truncated``, and ``kept``:
    in shadow mode, whether it would be shown. Its own score is the retriever's if there is only one, otherwise the
    learned one. Keep each retriever's `top_k` the same from the first question on.

    Parameters
    ----------
    searches
        The names of its inputs: ``["bm25", "dense"]`` are connected as ``"shortlist.bm25"`` and ``"shortlist.dense"``.
    coverage, delta, score
        Settings of a new lister, if there is none at `path`; an existing one must have the same.
    path
        A file for the lister: read if it exists, and written by `save` and when the pipeline is saved.
    autosave
        Write that file after every list and answer, too.
    url, stream, api_key
        Use a stream of a running service instead.
    higher_is_better
        False if scores are distances; or one per retriever by name.
    complete
        Whether each retriever returns all documents. Otherwise a list that may lack a document above the threshold is
        marked ``truncated``.
    """

    _saved: ClassVar[tuple[str, ...]] = ("searches", *_Learning._saved)

    def __init__(
        self,
        searches: Sequence[str],
        coverage: float = 0.9,
        delta: float | None = None,
        score: str = "auto",
        *,
        path: str | None = None,
        url: str | None = None,
        stream: str | None = None,
        api_key: str | None = None,
        higher_is_better: bool | Mapping[str, bool] = True,
        complete: bool = False,
        autosave: bool = False,
    ) -> None:
        self.searches = list(searches) if isinstance(searches, Sequence) and not isinstance(searches, str) else []
        names = {each for each in self.searches if isinstance(each, str)}
        if not names or len(names) < len(self.searches) or names & {"query", "self"}:
            raise InvalidParameter(f"searches is {searches!r}; give a list of different names, none of them 'query'")
        check_searches("searches", dict.fromkeys(self.searches), higher_is_better)
        self._set_up(coverage, delta, score, path, url, stream, api_key, higher_is_better, complete, autosave)
        component.set_input_types(self, **dict.fromkeys(self.searches, list[Document]))

    def _candidates_of(self, question: str, documents: Any) -> Candidates[Document]:  # noqa: ARG002
        results = {name: each["documents"] if isinstance(each, Mapping) else each for name, each in documents.items()}
        return self._candidates(results)

    def _candidates(self, documents: dict[str, list[Document]]) -> Candidates[Document]:
        if set(documents) != set(self.searches):
            raise InvalidParameter(
                f"there are documents of {sorted(documents)}, and searches are {sorted(self.searches)}; connect each"
            )
        return self._joined({name: documents[name] for name in self.searches}, complete=self.complete)

    @component.output_types(documents=list[Document], round_id=Any, threshold=Any, truncated=bool)
    def run(self, query: str | None = None, **documents: list[Document]) -> dict[str, Any]:
        """Return the documents that reach the threshold, best first.

        Parameters
        ----------
        query
            The question, stored by a service.
        documents
            The documents of each retriever, by name.

        Returns
        -------
        dict[str, Any]
            ``documents``, best first, ``round_id``, ``threshold`` and ``truncated``.
        """
        return self._result(self._offer(self._candidates(documents), query))

    @component.output_types(documents=list[Document], round_id=Any, threshold=Any, truncated=bool)
    async def run_async(self, query: str | None = None, **documents: list[Document]) -> dict[str, Any]:
        """Return the documents that reach the threshold, without blocking the loop.

        Parameters
        ----------
        query
            The question, stored by a service.
        documents
            The documents of each retriever, by name.

        Returns
        -------
        dict[str, Any]
            As for `run`.
        """
        return self._result(await self._offer_async(self._candidates(documents), query))
