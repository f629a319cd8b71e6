"""scikit-learn: sets of labels that learn their size.

Run: python examples/sklearn_classifier.py
"""

import numpy as np
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split

from shortlist.integrations.sklearn import ShortlistClassifier


def main() -> None:
    """Label noisy digits in batches of fifty; where the set misses, the right label stays unknown."""
    X, y = load_digits(return_X_y=True)  # noqa: N806 - scikit-learn's name
    rng = np.random.default_rng(0)
    train, rest, labels, answers = train_test_split(X, y, test_size=0.7, random_state=0)
    model = ShortlistClassifier(LogisticRegression(max_iter=2000), coverage=0.9).fit(train, labels)
    sizes, hits, ranks = [], [], []
    for _ in range(40):
        rows = rng.integers(len(rest), size=50)
        images = rest[rows] + rng.normal(0, 6, (50, 64))
        sets = model.predict_set(images)
        hit = sets[np.arange(50), answers[rows]]
        probabilities = model.predict_proba(images)
        ranks += (probabilities > probabilities[np.arange(50), answers[rows], None]).sum(axis=1).tolist()
        model.partial_fit(images, np.where(hit, answers[rows], -1), hit=hit)
        sizes.append(sets.sum(axis=1).mean())
        hits += hit.tolist()
    top = next(k for k in range(1, 11) if np.mean(np.array(ranks) < k) >= 0.9)
    print("scikit-learn: labels offered at 90% coverage, of 10")
    print(f"  top-k, k = {top} (best k, chosen with all answers at hand) {top:6.2f}")
    print(f"  shortlist, over all 2,000 images (learned from answers){np.mean(sizes):6.2f}")
    print(f"  coverage of shortlist over all 2,000 images            {np.mean(hits):6.1%}")


if __name__ == "__main__":
    main()
