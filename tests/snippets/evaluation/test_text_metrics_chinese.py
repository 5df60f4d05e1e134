"""text-metrics, Chinese: against counts by hand, and what the defaults would give."""

from fractions import Fraction

import pytest
from torchmetrics.functional.text import (
    bleu_score,
    char_error_rate,
    rouge_score,
    sacre_bleu_score,
)
from transformers import BertTokenizer

from tests.helpers import load_snippet

snippet = load_snippet("evaluation/text_metrics_chinese.py")
KEYS = ("rouge1", "rouge2", "rougeL")


def test_the_chinese_run_by_hand():
    # 7 + 8 characters; one of 7 is wrong, the fifth.
    product = Fraction(14, 15) * Fraction(4 + 7, 6 + 7)
    product *= Fraction(2 + 6, 5 + 6) * Fraction(1 + 5, 4 + 5)
    assert snippet.bleu.item() == pytest.approx(float(product) ** 0.25)
    assert snippet.cer.item() == pytest.approx(1 / 15)
    assert snippet.rouge["rougeL_fmeasure"].item() == pytest.approx((6 / 7 + 1) / 2)
    rouge2 = snippet.rouge["rouge2_fmeasure"].item()
    assert rouge2 == pytest.approx((4 / 6 + 1) / 2)


def test_bleu_needs_its_tokenizer():
    for text in snippet.refs:
        assert sacre_bleu_score([text], [[text]]) == 0
        assert sacre_bleu_score([text], [[text]], tokenize="zh") == 1
    spaced = [
        [" ".join(text) for text in texts] for texts in (snippet.preds, snippet.refs)
    ]
    assert bleu_score(spaced[0], spaced[1]) == snippet.bleu
    mixed = ["用 PyTorch 训练模型"], [["用PyTorch训练模型"]]  # spaces do not count
    assert sacre_bleu_score(*mixed, tokenize="zh") == 1


def test_by_words():
    """Texts that were cut into words, as jieba would, and joined by spaces."""
    pred, ref = "今天 天气 很 好", "今天 天气 真 好"
    by_words = {"normalizer": str.lower, "tokenizer": str.split}
    rouge = rouge_score([pred], [ref], rouge_keys=KEYS, **by_words)
    assert rouge["rouge1_fmeasure"].item() == pytest.approx(3 / 4)
    assert rouge["rouge2_fmeasure"].item() == pytest.approx(1 / 3)
    bleu = sacre_bleu_score([pred], [[ref]], n_gram=2, tokenize="none")
    assert bleu.item() == pytest.approx((3 / 4 * 1 / 3) ** 0.5)


def test_rouge_sees_letters_and_digits_only():
    pred, ref = ["今天 天气"], ["我们 散步"]
    same = rouge_score(ref, ref, rouge_keys=KEYS)
    assert same["rouge1_fmeasure"] == 0
    half = rouge_score(pred, ref, rouge_keys=KEYS, tokenizer=list)
    assert half["rouge1_fmeasure"] == 1  # of nothing but a space
    both = {"tokenizer": list, "normalizer": str.lower, "rouge_keys": KEYS}
    texts = ["今天天气"], ["我们散步"]
    assert rouge_score(*texts, **both)["rouge1_fmeasure"] == 0
    assert rouge_score(texts[0], texts[0], **both)["rouge2_fmeasure"] == 1
    cased = rouge_score(["The cat."], ["the CAT"], rouge_keys=KEYS)
    assert cased["rougeL_fmeasure"] == 1


def test_the_spaces_of_a_bert_tokenizer():
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "今", "天", "好"]
    tokenizer = BertTokenizer({p: i for i, p in enumerate(pieces)})
    ids = tokenizer(["今天好"])["input_ids"]
    assert tokenizer.batch_decode(ids, skip_special_tokens=True) == ["今 天 好"]
    assert char_error_rate(["今 天 好"], ["今天好"]).item() == pytest.approx(2 / 3)
