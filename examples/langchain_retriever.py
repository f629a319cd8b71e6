"""LangChain: a retriever that learns its cutoff.

Run: python examples/langchain_retriever.py
"""

from built_in import before_and_after, questions, vector
from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_core.vectorstores import InMemoryVectorStore

from shortlist import Shortlister
from shortlist.integrations.langchain import ShortlistRetriever


class Known(Embeddings):
    """Your embedding model stands here; this one returns vectors that are known beforehand."""

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """Return the vector of each passage."""
        return [vector(float(text)) for text in texts]

    def embed_query(self, text: str) -> list[float]:  # noqa: ARG002 - every question is the same vector here
        """Return the vector of a question."""
        return [1.0, 0.0]


def main() -> None:
    """Ask two thousand questions, and answer each as a person would."""
    lister = Shortlister(coverage=0.9)
    shown, hits = [], []
    for scores, right in questions():
        store = InMemoryVectorStore(Known())
        store.add_documents([Document(str(score), id=str(i)) for i, score in enumerate(scores.tolist())])
        retriever = ShortlistRetriever(searches={"dense": store}, lister=lister, fetch_k=60)
        documents = retriever.invoke("a question")
        clicked = next((document for document in documents if document.id == str(right)), None)
        if clicked is not None:
            retriever.hit(clicked)
        else:
            retriever.miss(documents)
        shown.append(len(documents))
        hits.append(clicked is not None)
    before_and_after("LangChain", shown, hits)


if __name__ == "__main__":
    main()
