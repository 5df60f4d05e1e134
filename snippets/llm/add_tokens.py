"""Add tokens to a tokenizer, and rows for them to a model's embeddings."""

import torch
from tokenizers import Tokenizer, models
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

torch.manual_seed(0)
letters = Tokenizer(models.BPE({c: i for i, c in enumerate("adlot<>/")}, []))
tokenizer = PreTrainedTokenizerFast(tokenizer_object=letters)
config = LlamaConfig(vocab_size=8, hidden_size=64, num_hidden_layers=1)
model = LlamaForCausalLM(config)  # yours: both by from_pretrained(name)
print(tokenizer.tokenize("<tool>add</tool>"))

tokenizer.add_tokens(["<tool>", "</tool>"], special_tokens=True)
rows = model.get_input_embeddings().num_embeddings
if len(tokenizer) > rows:  # some models have rows to spare
    model.resize_token_embeddings(len(tokenizer), pad_to_multiple_of=64)
# train here: the new rows mean nothing yet
model.save_pretrained("extended")
tokenizer.save_pretrained("extended")  # both, into one folder

print(tokenizer.tokenize("<tool>add</tool>"), model.get_input_embeddings())
model(**tokenizer("<tool>add</tool>", return_tensors="pt"))  # no IndexError
