"""Labels of a chat: ids where the assistant speaks, -100 elsewhere."""

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast

TEMPLATE = """{% for m in messages %}<|im_start|>{{ m.role }}
{% if m.role == 'assistant' %}{% generation %}{{ m.content }}<|im_end|>
{% endgeneration %}{% else %}{{ m.content }}<|im_end|>
{% endif %}{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant
{% endif %}"""  # ChatML; the two tags around each answer are for mask_labels


def prefix_labels(tokenizer, chat):
    """Return ids and labels: -100 outside the assistant's turns."""
    apply, options = tokenizer.apply_chat_template, {"return_dict": False}
    ids = torch.tensor(apply(chat, **options))
    labels = torch.full_like(ids, -100)
    for i, message in enumerate(chat):
        if message["role"] == "assistant":
            head = apply(chat[:i], add_generation_prompt=True, **options)
            part = apply(chat[: i + 1], **options)
            if part[: len(head)] != head or ids[: len(part)].tolist() != part:
                raise ValueError("the template changes earlier turns")
            labels[len(head) : len(part)] = ids[len(head) : len(part)]
    return ids, labels


def mask_labels(tokenizer, chat):
    """Return the same by the tags, where the template has them."""
    tokens = tokenizer.apply_chat_template(
        chat, return_dict=True, return_assistant_tokens_mask=True
    )
    ids = torch.tensor(tokens["input_ids"])
    mask = torch.tensor(tokens["assistant_masks"]).bool()
    assert mask.any(), "no answer, or no {% generation %} in the template"
    labels = ids.masked_fill(~mask, -100)
    return ids, labels


if __name__ == "__main__":
    # A tokenizer of bytes. Yours: AutoTokenizer.from_pretrained(name)
    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    bytewise = Tokenizer(models.BPE({c: i for i, c in enumerate(letters)}, []))
    bytewise.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    bytewise.decoder = decoders.ByteLevel()
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=bytewise, eos_token="<|im_end|>"
    )
    tokenizer.add_tokens("<|im_start|>", special_tokens=True)
    tokenizer.chat_template = TEMPLATE

    turns = ["Capital of Peru?", "Lima.", "And of Chile?", "Santiago."]
    roles = ["user", "assistant"] * 2
    chat = [
        {"role": r, "content": t} for r, t in zip(roles, turns, strict=True)
    ]
    ids, labels = prefix_labels(tokenizer, chat)
    print(tokenizer.decode(ids[labels != -100]))  # read what is learnt
    assert labels.equal(mask_labels(tokenizer, chat)[1])
