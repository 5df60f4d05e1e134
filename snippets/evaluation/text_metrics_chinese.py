"""Chinese texts by characters: BLEU, ROUGE and the character error rate."""

from torchmetrics.functional.text import (
    char_error_rate,
    rouge_score,
    sacre_bleu_score,
)

refs = ["今天天气真好。", "我们去公园散步。"]
preds = ["今 天 天 气 很 好 。", "我 们 去 公 园 散 步 。"]

preds = [text.replace(" ", "") for text in preds]  # those of BertTokenizer
bleu = sacre_bleu_score(preds, [[ref] for ref in refs], tokenize="zh")
rouge = rouge_score(
    preds,
    refs,
    rouge_keys=("rouge1", "rouge2", "rougeL"),
    normalizer=str.lower,
    tokenizer=list,
)
cer = char_error_rate(preds, refs)

print(f"BLEU {100 * bleu:.1f}, ROUGE-L {100 * rouge['rougeL_fmeasure']:.1f}")
print(f"CER {cer:.3f}")
