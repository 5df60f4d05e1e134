"""BLEU in Seq2SeqTrainer: decode the tokens first, without the -100."""

import numpy as np
from torchmetrics.functional.text import sacre_bleu_score
from transformers import BertTokenizer

PIECES = "[PAD] [UNK] [CLS] [SEP] [MASK] the cat sat on a mat ."
vocab = {piece: number for number, piece in enumerate(PIECES.split())}
tokenizer = BertTokenizer(vocab)  # yours: AutoTokenizer.from_pretrained(name)


def compute_metrics(eval_pred):
    """Score token numbers: predictions and labels, padded with -100."""
    pad = tokenizer.pad_token_id
    preds, labels = (np.where(ids < 0, pad, ids) for ids in eval_pred)
    preds = tokenizer.batch_decode(preds, skip_special_tokens=True)
    refs = tokenizer.batch_decode(labels, skip_special_tokens=True)
    bleu = sacre_bleu_score(preds, [[ref] for ref in refs])
    return {"bleu": 100 * bleu.item()}


labels = np.array([[5, 6, 7, 8, 5, 10, 11], [5, 6, 7, 11, -100, -100, -100]])
preds = np.array([[5, 6, 7, 8, 9, 10, 11, 0], [5, 6, 7, 11, 0, 0, -100, -100]])
print(f"BLEU {compute_metrics((preds, labels))['bleu']:.1f}")
