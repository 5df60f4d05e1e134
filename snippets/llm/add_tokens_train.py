"""Train only the rows of added tokens; all else stays as it was."""

import torch
from transformers import LlamaConfig, LlamaForCausalLM

torch.manual_seed(0)
config = LlamaConfig(vocab_size=10, hidden_size=64, num_hidden_layers=1)
model = LlamaForCausalLM(config)  # yours, with the new rows
known = 8  # yours: len(tokenizer) before add_tokens
ids = torch.tensor([[8, 0, 9, 1]])  # (B, T)

model.requires_grad_(False)
tables = model.get_input_embeddings(), model.get_output_embeddings()
weights = list({table.weight for table in tables})  # one if they are tied
old = torch.arange(known, device=model.device)
for weight in weights:
    weight.requires_grad_(True)
    weight.register_hook(lambda grad: grad.index_fill(0, old, 0))
optimizer = torch.optim.AdamW(weights, lr=1e-3, weight_decay=0)

before = model.get_input_embeddings().weight.clone()
model(ids, labels=ids).loss.backward()
optimizer.step()
moved = (model.get_input_embeddings().weight != before).any(1)
print("rows that moved:", moved.nonzero().flatten().tolist())
