"""Fine-tune a chat model with TRL's SFTTrainer and LoRA."""

import os
import warnings

os.environ["HF_HUB_DISABLE_TELEMETRY"] = "1"  # TRL reports its use, if online

import torch
from datasets import Dataset
from peft import AutoPeftModelForCausalLM, LoraConfig
from transformers import BertTokenizer, LlamaConfig, LlamaForCausalLM
from trl import SFTConfig, SFTTrainer

# TRL 1.16 and PEFT 0.21 use old names of transformers 5.
warnings.filterwarnings("ignore", ".*gradient_checkpointing` is deprecated")

torch.manual_seed(0)
name = "tiny-llama"  # yours: "Qwen/Qwen3-0.6B"; this one is made here
inputs = ["input_ids", "attention_mask"]
words = BertTokenizer(eos_token="[SEP]", model_input_names=inputs)
words.add_tokens(["user", "assistant", "capital", "of", "peru", "?", "lima"])
words.chat_template = (  # a chat model brings its own
    "{% for m in messages %}{{ m.role }} {% if m.role == 'assistant' %}"
    "{% generation %}{{ m.content }}[SEP]{% endgeneration %}{% else %}"
    "{{ m.content }} {% endif %}{% endfor %}"
    "{% if add_generation_prompt %}assistant {% endif %}"
)
words.save_pretrained(name)
sizes = {"hidden_size": 64, "intermediate_size": 64, "num_hidden_layers": 2}
LlamaForCausalLM(LlamaConfig(**sizes, vocab_size=12)).save_pretrained(name)

question = {"role": "user", "content": "Capital of Peru?"}
answer = {"role": "assistant", "content": "Lima"}
data = [{"messages": [question, answer]}] * 80  # yours: one for each chat
lr = 5e-3  # yours: 2e-4

args = SFTConfig(
    output_dir="runs",
    learning_rate=lr,
    max_length=1024,  # tokens; what is longer is cut
    assistant_only_loss=True,  # learn the answers, not the questions
    use_cpu=not torch.cuda.is_available(),
)
trainer = SFTTrainer(
    model=name,
    args=args,
    train_dataset=Dataset.from_list(data),
    peft_config=LoraConfig(r=16, lora_alpha=32, target_modules="all-linear"),
)
trainer.train()
trainer.save_model("adapter")  # LoRA's weights and the tokenizer

model = AutoPeftModelForCausalLM.from_pretrained("adapter")
tokenizer = BertTokenizer.from_pretrained("adapter")  # yours: AutoTokenizer
prompt = tokenizer.apply_chat_template(
    [question], add_generation_prompt=True, return_tensors="pt"
)
end = tokenizer.eos_token_id
ids = model.generate(**prompt, eos_token_id=end, max_new_tokens=9)
print(tokenizer.decode(ids[0]))
