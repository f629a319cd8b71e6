"""Questions as DPR's JSON has them."""


def entry(question, right, wrong, hard=()):
    def passages(texts):
        return [{"title": "A title", "text": text} for text in texts]

    return {
        "question": question,
        "positive_ctxs": passages(right),
        "negative_ctxs": passages(wrong),
        "hard_negative_ctxs": passages(hard),
    }
