"""text-metrics, in a Trainer: against counts by hand; a tiny T5 that is evaluated."""

from fractions import Fraction

import pytest
import torch
from transformers import (
    DataCollatorForSeq2Seq,
    Seq2SeqTrainer,
    Seq2SeqTrainingArguments,
    T5Config,
    T5ForConditionalGeneration,
)

from tests.helpers import assert_documented, load_snippet, raises_as_documented

PAGE = "evaluation/text-metrics"
snippet = load_snippet("evaluation/text_metrics_trainer.py")


def test_compute_metrics_by_hand():
    # 7 + 4 tokens; in the first 6, 4, 2 and 1 n-grams match, all for the second.
    product = Fraction(6 + 4, 7 + 4) * Fraction(4 + 3, 6 + 3)
    product *= Fraction(2 + 2, 5 + 2) * Fraction(1 + 1, 4 + 1)
    score = snippet.compute_metrics((snippet.preds, snippet.labels))
    assert score["bleu"] == pytest.approx(100 * float(product) ** 0.25, rel=1e-5)


@pytest.fixture
def evaluate(tmp_path):
    """Evaluate a tiny T5 with these options; return what compute_metrics got, too."""
    torch.manual_seed(0)
    tokenizer = snippet.tokenizer
    config = T5Config(
        vocab_size=len(tokenizer), d_model=16, d_kv=8, d_ff=16, num_layers=1,
        num_heads=2, decoder_start_token_id=0, eos_token_id=3,
    )  # fmt: skip
    model = T5ForConditionalGeneration(config)
    ids = tokenizer(["the cat sat on a mat .", "the cat ."]).input_ids
    data = [{"input_ids": row, "labels": row} for row in ids]

    def run(**options):
        seen = []

        def compute_metrics(eval_pred):
            seen.append(eval_pred)
            return snippet.compute_metrics(eval_pred)

        arguments = Seq2SeqTrainingArguments(
            tmp_path, report_to=[], use_cpu=True, **options
        )
        metrics = Seq2SeqTrainer(
            model, arguments, DataCollatorForSeq2Seq(tokenizer, model),
            eval_dataset=data, compute_metrics=compute_metrics,
        ).evaluate()  # fmt: skip
        return metrics["eval_bleu"], seen[0]

    return run


def test_in_a_trainer(evaluate):
    bleu, seen = evaluate(predict_with_generate=True, generation_max_length=40)
    assert 0 <= bleu <= 100
    assert seen.predictions.shape == (2, 40)
    assert (seen.label_ids == -100).any()


def test_twenty_tokens_unless_told(evaluate):
    start = "Using the model-agnostic default"
    with pytest.warns(UserWarning, match=start) as caught:
        _, seen = evaluate(predict_with_generate=True)
    raised = f"UserWarning: {caught[0].message}"
    assert_documented(PAGE, f"UserWarning: {start}", raised)
    assert seen.predictions.shape == (2, 21)  # the first is the start token


def test_a_trainer_that_does_not_generate(evaluate):
    with raises_as_documented(PAGE, "TypeError: '<' not supported"):
        evaluate()


@pytest.mark.parametrize("rows", [snippet.labels, snippet.preds])
def test_the_padding_that_a_tokenizer_does_not_know(rows):
    with raises_as_documented(PAGE, "OverflowError: number too small"):
        snippet.tokenizer.batch_decode(rows)
