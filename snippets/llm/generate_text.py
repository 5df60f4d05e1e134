"""Answer several prompts at once with a chat model of transformers."""

import torch
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import (
    AutoModelForCausalLM,
    AutoTokenizer,
    LlamaConfig,
    LlamaForCausalLM,
    PreTrainedTokenizerFast,
)

SMALL = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2}
TEMPLATE = """{% for m in messages %}{{ m.role }} : {{ m.content }} <end>
{% endfor %}{% if add_generation_prompt %}assistant : {% endif %}"""


def write_tiny_model(facts, folder):
    """Teach a tiny Llama these answers; write it, and its tokenizer."""
    texts = [f"user : {q} <end> assistant : {a} <end>" for q, a in facts]
    vocab = " ".join(["<unk> <s> <end>", *texts]).split()
    vocab = {word: i for i, word in enumerate(dict.fromkeys(vocab))}
    words = Tokenizer(models.WordLevel(vocab))
    words.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=words)
    tokenizer.eos_token, tokenizer.chat_template = "<end>", TEMPLATE
    config = LlamaConfig(vocab_size=len(vocab), **SMALL)
    config.intermediate_size = 64
    model = LlamaForCausalLM(config)
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
    for text in texts * 60:
        ids = tokenizer(text, return_tensors="pt")["input_ids"]
        model(ids, labels=ids).loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)


if __name__ == "__main__":
    torch.manual_seed(0)
    name = "tiny-chat"  # yours: "Qwen/Qwen3-0.6B"
    facts = [("Peru ?", "Lima"), ("And what about Chile ?", "It is Santiago")]
    write_tiny_model(facts, name)
    prompts = [question for question, _ in facts]  # strings

    tokenizer = AutoTokenizer.from_pretrained(name, padding_side="left")
    tokenizer.pad_token = tokenizer.pad_token or tokenizer.eos_token
    model = AutoModelForCausalLM.from_pretrained(name, device_map="auto")
    chats = [[{"role": "user", "content": prompt}] for prompt in prompts]
    inputs = tokenizer.apply_chat_template(
        chats,
        add_generation_prompt=True,
        padding=True,
        return_tensors="pt",
        return_dict=True,
    ).to(model.device)
    out = model.generate(**inputs, max_new_tokens=200, do_sample=False)
    new = out[:, inputs["input_ids"].shape[1] :]  # without the prompts
    print(tokenizer.batch_decode(new, skip_special_tokens=True))
