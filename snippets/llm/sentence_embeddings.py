"""Turn texts into unit vectors, and find the ones most similar to a query."""

import torch
from torch.nn import functional as F
from transformers import AutoModel, AutoTokenizer, BertConfig, BertTokenizer


@torch.inference_mode()
def embed(model, tokenizer, texts, batch_size=32):
    """Return a vector of length 1 for each text of a list, (N, C)."""
    model.eval()
    parts = []
    for i in range(0, len(texts), batch_size):
        batch = tokenizer(
            texts[i : i + batch_size],
            padding=True,
            truncation=True,
            return_tensors="pt",
        ).to(model.device)
        hidden = model(**batch).last_hidden_state  # (B, T, C)
        mask = batch["attention_mask"][..., None]  # (B, T, 1), 0 at padding
        mean = (hidden * mask).sum(1) / mask.sum(1)
        parts.append(F.normalize(mean.float(), dim=1).cpu())
    return torch.cat(parts)


if __name__ == "__main__":
    torch.manual_seed(0)
    name = "tiny-bert"  # yours: "sentence-transformers/all-MiniLM-L6-v2"
    words = ["a", "cat", "fell", "is", "mat", "on", "shares", "the", "today"]
    tokenizer = BertTokenizer(model_max_length=512)
    tokenizer.add_tokens(words)
    tokenizer.save_pretrained(name)
    config = BertConfig(vocab_size=len(tokenizer), num_hidden_layers=2)
    AutoModel.from_config(config).save_pretrained(name)

    texts = ["shares fell today", "a cat is on the mat", "today is the day"]
    query, k = "the cat", 2
    tokenizer = AutoTokenizer.from_pretrained(name)
    model = AutoModel.from_pretrained(name)
    vectors = embed(model, tokenizer, texts)  # (N, C)
    scores = embed(model, tokenizer, [query]) @ vectors.T  # (1, N), cosines
    best = scores[0].topk(k)
    print([texts[i] for i in best.indices])
