"""LlamaIndex: a postprocessor that learns its cutoff.

Run: python examples/llama_index_postprocessor.py
"""

from built_in import before_and_after, questions
from llama_index.core.schema import NodeWithScore, TextNode

from shortlist import Shortlister
from shortlist.integrations.llama_index import ShortlistPostprocessor


def main() -> None:
    """Ask two thousand questions, and answer each as a person would."""
    postprocessor = ShortlistPostprocessor(lister=Shortlister(coverage=0.9), complete=True)
    shown, hits = [], []
    for scores, right in questions():
        # What index.as_retriever(similarity_top_k=51).retrieve(question) returns:
        nodes = [NodeWithScore(node=TextNode(text="…", id_=str(i)), score=s) for i, s in enumerate(scores.tolist())]
        kept = postprocessor.postprocess_nodes(nodes, query_str="a question")
        clicked = next((node for node in kept if node.node_id == str(right)), None)
        if clicked is not None:
            postprocessor.hit(clicked)
        else:
            postprocessor.miss(kept)
        shown.append(len(kept))
        hits.append(clicked is not None)
    before_and_after("LlamaIndex", shown, hits)


if __name__ == "__main__":
    main()
