"""chat-data: labels found by hand in the text, both ways, and what is refused."""

import pytest
import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from torch.nn.functional import cross_entropy
from transformers import DataCollatorForSeq2Seq, PreTrainedTokenizerFast

from tests.helpers import load_snippet, raises_as_documented

PAGE = "llm/chat-data"
snippet = load_snippet("llm/chat_data.py")
NO_TAGS = snippet.TEMPLATE.replace("{% generation %}", "").replace(
    "{% endgeneration %}", ""
)
STRICT = """{% for turn in messages %}{% if (turn['role'] == 'user') !=
(loop.index0 % 2 == 0) %}{{ raise_exception('Conversation roles must alternate
user/assistant/user/assistant/...'.replace('\n', ' ')) }}{% endif %}
{{ turn['content'] }}{% endfor %}"""  # as Mistral's
CHAT = [
    {"role": "system", "content": "Be short."},
    {"role": "user", "content": "assistant?"},
    {"role": "assistant", "content": "是"},
    {"role": "user", "content": "是"},
    {"role": "assistant", "content": ""},
]
TEXT = (
    "<|im_start|>system\nBe short.<|im_end|>\n"
    "<|im_start|>user\nassistant?<|im_end|>\n"
    "<|im_start|>assistant\n[是<|im_end|>\n]"
    "<|im_start|>user\n是<|im_end|>\n"
    "<|im_start|>assistant\n[<|im_end|>\n]"
)  # what is learnt in brackets


@pytest.fixture
def tokenizer():
    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    own = Tokenizer(models.BPE({c: i for i, c in enumerate(letters)}, []))
    own.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    own.decoder = decoders.ByteLevel()
    made = PreTrainedTokenizerFast(
        tokenizer_object=own, eos_token="<|im_end|>", pad_token="<|im_end|>"
    )
    made.add_tokens("<|im_start|>", special_tokens=True)
    made.chat_template = snippet.TEMPLATE
    return made


def by_hand(tokenizer):
    ids, labels = [], []
    for n, part in enumerate(TEXT.replace("]", "[").split("[")):
        new = tokenizer(part, add_special_tokens=False)["input_ids"]
        ids += new
        labels += new if n % 2 else [-100] * len(new)
    return torch.tensor(ids), torch.tensor(labels)


def test_the_text_of_the_template(tokenizer):
    text = tokenizer.apply_chat_template(CHAT, tokenize=False)
    assert text == TEXT.replace("[", "").replace("]", "")
    opened = tokenizer.apply_chat_template(
        CHAT[:2], tokenize=False, add_generation_prompt=True
    )
    assert text.startswith(opened)
    assert opened.endswith("<|im_start|>assistant\n")


@pytest.mark.parametrize("template", [snippet.TEMPLATE, NO_TAGS])
def test_labels_by_lengths(tokenizer, template):
    tokenizer.chat_template = template
    ids, labels = snippet.prefix_labels(tokenizer, CHAT)
    expected = by_hand(tokenizer)
    assert torch.equal(ids, expected[0])
    end = tokenizer.convert_tokens_to_ids("<|im_end|>")
    assert torch.equal(labels, expected[1])
    assert (labels == end).sum() == 2


def test_labels_by_the_tags(tokenizer):
    ids, labels = snippet.mask_labels(tokenizer, CHAT)
    expected = by_hand(tokenizer)
    assert torch.equal(ids, expected[0])
    assert torch.equal(labels, expected[1])
    assert tokenizer.decode(ids[labels != -100]) == "是<|im_end|>\n<|im_end|>\n"


def test_a_template_without_the_tags(tokenizer):
    tokenizer.chat_template = NO_TAGS
    with pytest.raises(AssertionError, match="in the template"):
        snippet.mask_labels(tokenizer, CHAT)


def test_a_chat_without_an_answer(tokenizer):
    with pytest.raises(AssertionError, match="no answer, or"):
        snippet.mask_labels(tokenizer, CHAT[:2])
    assert snippet.prefix_labels(tokenizer, CHAT[:2])[1].eq(-100).all()


@pytest.mark.parametrize(
    "template",
    [
        "{{ messages | length }}" + NO_TAGS,  # at the front
        NO_TAGS.replace("{{ m.content }}", "{{ m.content if loop.last }}"),
        NO_TAGS.replace("<|im_start|>assistant\n", "<|im_start|>a\n"),
    ],
)
def test_a_template_that_changes_earlier_turns(tokenizer, template):
    tokenizer.chat_template = template
    with raises_as_documented(PAGE, "ValueError: the template changes"):
        snippet.prefix_labels(tokenizer, CHAT)


def test_what_transformers_refuses(tokenizer):
    with raises_as_documented(PAGE, "ValueError: `return_assistant_tokens_mask"):
        tokenizer.apply_chat_template(
            CHAT, return_dict=False, return_assistant_tokens_mask=True
        )
    tokenizer.chat_template = None
    with raises_as_documented(PAGE, "ValueError: Cannot use chat template"):
        tokenizer.apply_chat_template(CHAT)


def test_what_trl_has_no_longer():
    with raises_as_documented(PAGE, "ImportError: cannot import name 'DataCollator"):
        from trl import DataCollatorForCompletionOnlyLM  # noqa: F401


def test_the_collator_pads_by_position(tokenizer):
    ids, labels = snippet.mask_labels(tokenizer, CHAT)
    rows = [
        {"input_ids": ids.tolist(), "labels": labels.tolist()},
        {"input_ids": ids[:9].tolist(), "labels": ids[:9].tolist()},
    ]
    batch = DataCollatorForSeq2Seq(tokenizer)(rows)
    assert batch["labels"][0].tolist() == labels.tolist()
    assert batch["labels"][1].tolist() == ids[:9].tolist() + [-100] * (len(ids) - 9)


def test_a_chat_that_is_cut_before_its_first_answer(tokenizer):
    _, labels = snippet.mask_labels(tokenizer, CHAT)
    first = next(i for i, label in enumerate(labels.tolist()) if label != -100)
    logits = torch.zeros(len(labels), 300)
    for length, learns in ((first, False), (first + 1, True)):
        loss = cross_entropy(logits[:length], labels[:length])
        assert loss.isfinite() == learns


def test_a_tokenizer_that_drops_line_breaks():
    words = ["[UNK]", "user", "assistant", "a", "b"]
    own = Tokenizer(models.WordLevel({w: i for i, w in enumerate(words)}, "[UNK]"))
    own.pre_tokenizer = pre_tokenizers.Whitespace()
    made = PreTrainedTokenizerFast(tokenizer_object=own, eos_token="<|im_end|>")
    made.add_tokens("<|im_start|>", special_tokens=True)
    roles = ["user", "assistant"] * 2
    chat = [{"role": r, "content": "ab"[i % 2]} for i, r in enumerate(roles)]
    learnt = []
    end = "<|im_end|>{% endgeneration %}{{ '\\n' }}"
    for new in ("<|im_end|>\n{% endgeneration %}", end):
        made.chat_template = snippet.TEMPLATE.replace(
            "<|im_end|>\n{% endgeneration %}", new
        )
        ids, labels = snippet.mask_labels(made, chat)
        learnt.append(made.decode(ids[labels != -100]))
    assert "user" in learnt[0]
    assert learnt[1] == "b <|im_end|> b <|im_end|>"


def test_a_template_without_a_system_role(tokenizer):
    start = "TemplateError: Conversation roles must alternate"
    with raises_as_documented(PAGE, start):
        tokenizer.apply_chat_template(CHAT, chat_template=STRICT)
    question = {"role": "user", "content": "Be short.\n\nassistant?"}
    joined = [question, *CHAT[2:]]
    tokenizer.apply_chat_template(joined, chat_template=STRICT)
