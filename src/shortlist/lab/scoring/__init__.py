"""Raw data and a model in, a score file out: what ``shortlist score`` does.

| room | business |
|---|---|
| ``job`` | batches that can be stopped and taken up again; checksums; the score file |
| ``pictures`` | images and their classes: folders, one folder a class, Parquet shards |
| ``classifiers`` | images to logits: any transformers checkpoint, EfficientNet-Lite0 |
| ``questions`` | questions with passages: DPR's JSON, SQuAD's JSON in blocks of 100 words |
| ``bm25`` | which passages look right but are not |
| ``encoders`` | texts to vectors: DPR, MiniLM, any command of yours |
| ``bids`` | a CSV of bids to the table that the auctions draw from |

The models need the extra ``models``; torch is imported when a model is loaded, not before.
"""
