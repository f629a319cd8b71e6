"""Haystack: a pipeline with a filter that learns its cutoff.

Run: python examples/haystack_pipeline.py
"""

from built_in import before_and_after, questions, vector
from haystack import Document, Pipeline
from haystack.components.retrievers.in_memory import InMemoryEmbeddingRetriever
from haystack.document_stores.in_memory import InMemoryDocumentStore
from haystack.document_stores.types import DuplicatePolicy

from shortlist.integrations.haystack import ShortlistFilter


def main() -> None:
    """Ask two thousand questions, and answer each as a person would."""
    store = InMemoryDocumentStore(embedding_similarity_function="cosine")
    pipeline = Pipeline()
    pipeline.add_component("retriever", InMemoryEmbeddingRetriever(store, top_k=51, scale_score=False))
    pipeline.add_component("shortlist", ShortlistFilter(coverage=0.9, complete=True))
    pipeline.connect("retriever.documents", "shortlist.documents")
    component = pipeline.get_component("shortlist")
    shown, hits = [], []
    for scores, right in questions():
        passages = [Document(id=str(i), content="…", embedding=vector(s)) for i, s in enumerate(scores.tolist())]
        store.write_documents(passages, policy=DuplicatePolicy.OVERWRITE)
        result = pipeline.run({"retriever": {"query_embedding": [1.0, 0.0]}})["shortlist"]
        clicked = next((document for document in result["documents"] if document.id == str(right)), None)
        if clicked is not None:
            component.hit(clicked)
        else:
            component.miss(result["round_id"])
        shown.append(len(result["documents"]))
        hits.append(clicked is not None)
    before_and_after("Haystack", shown, hits)


if __name__ == "__main__":
    main()
