"""BLEU, ROUGE, WER, CER and exact match of generated texts."""

from torchmetrics.functional.text import (
    char_error_rate,
    rouge_score,
    sacre_bleu_score,
    word_error_rate,
)

refs = ["The cat sat on the mat.", "It is cold today."]  # strings, the truth
preds = ["The cat sat on a mat.", "It is cold today."]  # strings, generated

bleu = sacre_bleu_score(preds, [[ref] for ref in refs], tokenize="13a")
rouge = rouge_score(preds, refs, rouge_keys=("rouge1", "rouge2", "rougeL"))
wer = word_error_rate(preds, refs)
cer = char_error_rate(preds, refs)
exact = sum(p == r for p, r in zip(preds, refs, strict=True)) / len(refs)

print(f"BLEU {100 * bleu:.1f}, ROUGE-L {100 * rouge['rougeL_fmeasure']:.1f}")
print(f"WER {wer:.3f}, CER {cer:.3f}, exact match {exact:.2f}")
