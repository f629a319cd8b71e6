"""A few texts that each framework indexes with its own BM25 and its own vector store."""

import numpy as np

__all__ = ["QUESTION", "TEXTS", "embedding"]

TEXTS = {
    "refunds": "refunds are paid within five days to the card that was used",
    "invoice": "where to find the invoice of an order: open the order and press invoice",
    "shipping": "shipping takes two days and the parcel can be tracked",
    "password": "a password is reset by the link in the message",
    "account": "an account is closed in the settings and its invoices are kept",
    "returns": "returns are free and the label is in the parcel",
}
QUESTION = "where is my invoice"
_WORDS = sorted({word for text in [*TEXTS.values(), QUESTION] for word in text.split()})


def embedding(text):
    """Return how often each word is in a text, of length one."""
    words = text.split()
    counts = np.array([words.count(word) for word in _WORDS], dtype=float)
    return (counts / max(np.linalg.norm(counts), 1.0)).tolist()
