"""text-metrics: against counts by hand, and the definitions in exact fractions."""

import math
import re
from collections import Counter
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
import torch
from torchmetrics.functional.text import (
    bleu_score,
    char_error_rate,
    rouge_score,
    sacre_bleu_score,
    word_error_rate,
)
from torchmetrics.text import (
    BLEUScore,
    ROUGEScore,
    SacreBLEUScore,
    SQuAD,
    WordErrorRate,
)

from tests.helpers import load_snippet, raises_as_documented

PAGE = "evaluation/text-metrics"
english = load_snippet("evaluation/text_metrics.py")
KEYS = ("rouge1", "rouge2", "rougeL")


def grams(tokens, n):
    return Counter(tuple(tokens[i : i + n]) for i in range(len(tokens) - n + 1))


def bleu(preds, refs, n_gram=4):
    """Papineni's BLEU of a corpus; refs holds a list of token lists for each text."""
    product = Fraction(1)
    for n in range(1, n_gram + 1):
        hits = total = 0
        for pred, several in zip(preds, refs, strict=True):
            most = Counter()
            for ref in several:
                most |= grams(ref, n)
            hits += (grams(pred, n) & most).total()
            total += grams(pred, n).total()
        product *= Fraction(hits, max(total, 1))
    c = sum(map(len, preds))
    r = sum(
        min(map(len, several), key=lambda size: abs(size - len(pred)))
        for pred, several in zip(preds, refs, strict=True)
    )
    return float(product) ** (1 / n_gram) * min(1, math.exp(1 - r / c))


def edits(a, b):
    """How few substitutions, insertions and deletions make b of a."""

    @cache
    def rest(i, j):
        if i == len(a) or j == len(b):
            return len(a) - i + len(b) - j
        change = rest(i + 1, j + 1) + (a[i] != b[j])
        return min(change, rest(i + 1, j) + 1, rest(i, j + 1) + 1)

    return rest(0, 0)


def error_rate(preds, refs):
    pairs = zip(preds, refs, strict=True)
    return sum(edits(p, r) for p, r in pairs) / sum(map(len, refs))


def rouge_l(pred, ref):
    """F1 of the longest common subsequence: what edits without substitution leave."""

    @cache
    def common(i, j):
        if i == len(pred) or j == len(ref):
            return 0
        if pred[i] == ref[j]:
            return common(i + 1, j + 1) + 1
        return max(common(i + 1, j), common(i, j + 1))

    return 2 * common(0, 0) / (len(pred) + len(ref))


def rouge_n(pred, ref, n):
    a, b = grams(pred, n), grams(ref, n)
    return 2 * (a & b).total() / (a.total() + b.total())


def sentences(seed, count=8):
    generator = torch.Generator().manual_seed(seed)
    sizes = torch.randint(5, 12, (count,), generator=generator)
    draw = (torch.randint(0, 3, (n,), generator=generator) for n in sizes)
    return [[("on", "the", "mat")[i] for i in row.tolist()] for row in draw]


def join(rows):
    return [" ".join(row) for row in rows]


def test_the_run_by_hand(capsys):
    # 7 + 5 tokens, the full stops among them. "the" became "a": of 1-, 2-, 3- and
    # 4-grams 6/7, 4/6, 2/5, 1/4 match in one text, all in the other; equal lengths.
    product = Fraction(6 + 5, 7 + 5) * Fraction(4 + 4, 6 + 4)
    product *= Fraction(2 + 3, 5 + 3) * Fraction(1 + 2, 4 + 2)
    assert english.bleu.item() == pytest.approx(float(product) ** 0.25)
    assert english.wer.item() == pytest.approx(1 / (6 + 4))  # words
    assert english.cer.item() == pytest.approx(3 / (23 + 17))  # "the" to "a"
    assert english.rouge["rouge1_fmeasure"].item() == pytest.approx((5 / 6 + 1) / 2)
    assert english.rouge["rouge2_fmeasure"].item() == pytest.approx((3 / 5 + 1) / 2)
    assert english.rouge["rougeL_fmeasure"].item() == pytest.approx((5 / 6 + 1) / 2)
    assert english.exact == 1 / 2
    load_snippet("evaluation/text_metrics.py")
    assert capsys.readouterr().out.startswith(
        f"BLEU {100 * float(product) ** 0.25:.1f}"
    )


@pytest.mark.parametrize("seed", range(5))
def test_the_definitions_on_random_words(seed):
    refs, others, preds = (sentences(seed + 10 * i) for i in range(3))
    one = [[ref] for ref in refs]
    expected = bleu(preds, one)
    assert 0 < expected < 1
    score = sacre_bleu_score(join(preds), [join(several) for several in one])
    assert score.item() == pytest.approx(expected, rel=1e-5)
    for n in range(1, 5):
        score = bleu_score(join(preds), join(refs), n_gram=n)
        assert score.item() == pytest.approx(bleu(preds, one, n), rel=1e-5)
    # Several references; torchmetrics and this take the first of two equally near.
    several = [list(pair) for pair in zip(refs, others, strict=True)]
    score = sacre_bleu_score(join(preds), [join(pair) for pair in several])
    assert score.item() == pytest.approx(bleu(preds, several), rel=1e-5)
    wer = word_error_rate(join(preds), join(refs)).item()
    assert wer == pytest.approx(error_rate(preds, refs))
    cer = char_error_rate(join(preds), join(refs)).item()
    assert cer == pytest.approx(error_rate(join(preds), join(refs)))
    rouge = rouge_score(join(preds), join(refs), rouge_keys=KEYS)
    pairs = list(zip(preds, refs, strict=True))
    for key, by_hand in (
        ("rouge1", [rouge_n(p, r, 1) for p, r in pairs]),
        ("rouge2", [rouge_n(p, r, 2) for p, r in pairs]),
        ("rougeL", [rouge_l(p, r) for p, r in pairs]),
    ):
        score = rouge[f"{key}_fmeasure"].item()
        assert score == pytest.approx(np.mean(by_hand), rel=1e-5)


def test_short_texts_are_punished_and_repeated_words_count_once():
    assert bleu_score(["the the the the"], [["the cat"]], n_gram=1) == 1 / 4
    score = bleu_score(["a b c d"], [["a b c d e f"]]).item()
    assert score == pytest.approx(math.exp(1 - 6 / 4))


def test_where_bleu_is_zero():
    short = ["hello world"]
    assert sacre_bleu_score(short, [short]) == 0
    assert sacre_bleu_score(short, [short], smooth=True) == 0
    assert sacre_bleu_score(short, [short], n_gram=2) == 1
    # No 4-gram matches here; in one call with a text that has some, it counts.
    pred, ref = "a b c x d e", "a b c y d e"
    assert sacre_bleu_score([pred], [[ref]]) == 0
    assert sacre_bleu_score([pred], [[ref]], smooth=True) == 0
    refs = [[text] for text in (ref, *english.refs)]
    assert sacre_bleu_score([pred, *english.preds], refs) > 0.5


def test_strings_as_references_are_compared_letter_by_letter():
    refs, lists = english.refs, [[ref] for ref in english.refs]
    for score in (sacre_bleu_score, SacreBLEUScore(), BLEUScore()):
        assert score(refs, refs) == 0
        assert score(refs, lists) == 1
    assert bleu_score(refs, refs) == 1  # the only one that takes strings, too


def test_batches_in_a_metric():
    metric = SacreBLEUScore()
    for pred, ref in zip(english.preds, english.refs, strict=True):
        metric.update([pred], [[ref]])
    assert metric.compute() == english.bleu
    metric.reset()
    metric.update(english.refs, [[ref] for ref in english.refs])
    assert metric.compute() == 1


def test_a_mean_over_sentences_is_not_the_score():
    pairs = zip(english.preds, english.refs, strict=True)
    mean = np.mean([sacre_bleu_score([p], [[r]]).item() for p, r in pairs])
    assert abs(mean - english.bleu.item()) > 0.02
    metric = WordErrorRate()
    for pred, ref in (("a", "a b"), ("a b c d", "a b c d")):
        metric.update([pred], [ref])
    assert metric.compute().item() == pytest.approx(1 / 6)  # not (1/2 + 0) / 2


def test_tokens_and_case_change_bleu():
    preds, refs = ["It is cold, now."], [["it is cold , now ."]]
    assert bleu_score(preds, refs) == 0
    assert 0 < sacre_bleu_score(preds, refs) < 1
    assert sacre_bleu_score(preds, refs, lowercase=True) == 1
    assert sacre_bleu_score(["a-b c d."], [["a-b c d."]], tokenize="none") == 0


def test_error_rates_count_case_and_may_exceed_one():
    pred, ref = "The cat sat, on the mat.", "the cat sat on the mat"
    assert word_error_rate([pred], [ref]).item() == pytest.approx(3 / 6)

    def clean(text):
        return re.sub(r"[^\w\s']", "", text.lower())

    assert word_error_rate([clean(pred)], [clean(ref)]) == 0
    assert clean("Don't，今天。") == "don't今天"
    assert word_error_rate(["on on on on"], ["on"]) == 3
    assert word_error_rate(["on"], ["on on on on"]) == 3 / 4  # the other way round
    assert word_error_rate(["on"], [""]) == math.inf
    assert word_error_rate(["今天很好"], ["今天真好"]) == 1
    # Texts too many are left out, without a word.
    assert word_error_rate(["on"], ["on", "mat"]) == 0


def test_messages():
    preds, refs = english.preds, english.refs
    tokens = [text.split() for text in preds]
    with raises_as_documented(PAGE, "AttributeError: 'list' object has no attribute"):
        word_error_rate(tokens, [text.split() for text in refs])
    with raises_as_documented(PAGE, "AttributeError: 'list' object has no attribute"):
        word_error_rate(preds, [[ref] for ref in refs])
    with raises_as_documented(PAGE, "ValueError: Corpus has different size"):
        sacre_bleu_score(preds, [refs])
    with raises_as_documented(PAGE, "ValueError: Unsupported tokenizer selected."):
        sacre_bleu_score(preds, refs, tokenize="jieba")


def test_rouge_lsum_needs_nltk(monkeypatch):
    for module in ("torchmetrics.text.rouge", "torchmetrics.functional.text.rouge"):
        monkeypatch.setattr(f"{module}._NLTK_AVAILABLE", False)
    with raises_as_documented(PAGE, "ModuleNotFoundError: ROUGE-Lsum calculation"):
        rouge_score(english.preds, english.refs)
    with pytest.raises(
        ModuleNotFoundError, match="Stemmer and/or `rougeLsum` requires"
    ):
        ROUGEScore()


def test_exact_match_without_case_punctuation_and_articles():
    preds = [{"id": "1", "prediction_text": "The mat."}]
    refs = [{"id": "1", "answers": {"text": ["mat"], "answer_start": [0]}}]
    assert SQuAD()(preds, refs) == {"exact_match": 100, "f1": 100}
    preds[0]["prediction_text"] = "the red mat"
    scores = SQuAD()(preds, refs)
    assert scores["exact_match"] == 0
    assert scores["f1"].item() == pytest.approx(100 * 2 / 3)
