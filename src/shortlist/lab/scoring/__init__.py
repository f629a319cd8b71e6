"""Raw data and a model in, a score file out: what ``shortlist score`` does.

| module | contents |
|---|---|
| ``job`` | batches that can be stopped and resumed; checksums; the score file |
| ``images`` | images and their classes: a folder, one folder per class, Parquet shards |
| ``classifiers`` | images to logits: any transformers checkpoint, EfficientNet-Lite0 |
| ``questions`` | questions with passages: DPR's JSON, SQuAD's JSON in blocks of 100 words |
| ``encoders`` | texts to vectors: DPR, MiniLM, your own command |
| ``models`` | where a model's files come from |
| ``score`` | the two jobs: images to logits, questions and passages to cosines |
| ``bids`` | a CSV of bids to the table that auctions draw from |

The models need the extra ``models``; torch is imported when a model is loaded, not before.
"""
