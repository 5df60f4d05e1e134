"""Fine-tune with PEFT's LoRA: train, save the adapter, load and merge it."""

import warnings

import torch
from peft import LoraConfig, PeftModel, get_peft_model
from tokenizers import Tokenizer, models
from torch.utils.data import DataLoader
from transformers import (
    AutoModelForCausalLM,
    AutoTokenizer,
    DataCollatorForLanguageModeling,
    LlamaConfig,
    PreTrainedTokenizerFast,
)

# PEFT 0.21 asks transformers 5 by an old name.
warnings.filterwarnings("ignore", "`is_gradient_checkpointing` is deprecated")

torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
name = "tiny-llama"  # yours: "Qwen/Qwen3-0.6B"; this one is made here
letters = Tokenizer(models.BPE({c: i for i, c in enumerate("#abcdefgh")}, []))
fast = PreTrainedTokenizerFast(tokenizer_object=letters, pad_token="#")
fast.save_pretrained(name)
config = LlamaConfig(
    vocab_size=9, hidden_size=64, intermediate_size=64, num_hidden_layers=2
)
AutoModelForCausalLM.from_config(config).save_pretrained(name)

tokenizer = AutoTokenizer.from_pretrained(name)
texts = ["abcdefgh", "bcdef"] * 200  # yours
lr = 2e-3  # yours: 2e-4
data = [tokenizer(text) for text in texts]
collate = DataCollatorForLanguageModeling(tokenizer, mlm=False)
loader = DataLoader(data, batch_size=8, shuffle=True, collate_fn=collate)

model = AutoModelForCausalLM.from_pretrained(name).to(device)
config = LoraConfig(
    r=16, lora_alpha=32, target_modules="all-linear", task_type="CAUSAL_LM"
)
model = get_peft_model(model, config)  # only A and B are trained
model.print_trainable_parameters()
optimizer = torch.optim.AdamW(model.parameters(), lr=lr)
for batch in loader:
    model(**batch.to(device)).loss.backward()
    optimizer.step()
    optimizer.zero_grad()
model.save_pretrained("adapter")  # A and B alone

base = AutoModelForCausalLM.from_pretrained(name)
merged = PeftModel.from_pretrained(base, "adapter").merge_and_unload()
merged.save_pretrained("merged")  # a plain model again
tokenizer.save_pretrained("merged")

model = AutoModelForCausalLM.from_pretrained("merged")
start = tokenizer("ab", return_tensors="pt")
print(tokenizer.decode(model.generate(**start, max_new_tokens=6)[0]))
