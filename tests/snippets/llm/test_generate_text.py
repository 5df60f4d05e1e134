"""generate-text: against argmax in a loop of forward passes; what the messages say."""

import copy
import logging
import runpy
import threading

import pytest
import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import (
    AutoTokenizer,
    LlamaConfig,
    LlamaForCausalLM,
    PreTrainedTokenizerFast,
    TextIteratorStreamer,
    TextStreamer,
    pipeline,
)

from tests.helpers import (
    ROOT,
    assert_documented,
    made_once,
    raises_as_documented,
)

PAGE = "llm/generate-text"
FILE = ROOT / "snippets/llm/generate_text.py"
FACTS = [("Peru ?", "Lima"), ("And what about Chile ?", "It is Santiago")]


def teach(folder):
    write = runpy.run_path(str(FILE))["write_tiny_model"]
    torch.manual_seed(0)
    write(FACTS, folder / "tiny-chat")


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """The lines of the answer on a model that is made once."""
    folder = made_once("generate-text", teach, tmp_path_factory)
    source = FILE.read_text("utf-8")
    answer = source[source.index("    tokenizer = AutoTokenizer") :]
    names = {"name": folder / "tiny-chat", "prompts": [q for q, _ in FACTS]}
    head = source[: source.index("SMALL")]
    exec(head + "if True:\n" + answer, names)
    return names


@pytest.fixture
def model(run):
    return run["model"]


@pytest.fixture
def tokenizer(run):
    return copy.deepcopy(run["tokenizer"])


@pytest.fixture
def one(tokenizer):
    text = "user : And what about Chile ? <end> assistant :"
    return tokenizer(text, return_tensors="pt")


@pytest.fixture
def logged(caplog):
    """What transformers logs, with the warnings that it gives once only."""
    library = logging.getLogger("transformers")
    caplog.set_level(logging.WARNING, library.name)
    library.addHandler(caplog.handler)
    from transformers.utils import logging as own

    own.warning_once.cache_clear()
    yield caplog
    library.removeHandler(caplog.handler)


def greedy(model, ids, end):
    """The most likely token after all those before it, until the end; no cache."""
    new = []
    while not new or new[-1] != end:
        with torch.no_grad():
            logits = model(torch.tensor([ids + new]), use_cache=False).logits
        new.append(logits[0, -1].argmax().item())
    return new


def test_the_whole_file(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(FILE), run_name="__main__")
    assert capsys.readouterr().out == "['Lima', 'It is Santiago']\n"


def test_a_batch_is_greedy_row_by_row(run, model, tokenizer):
    assert not model.training
    assert run["inputs"]["attention_mask"].sum(1).tolist() == [7, 10]
    for row, (q, a) in zip(run["out"].tolist(), FACTS, strict=True):
        ids = tokenizer(f"user : {q} <end> assistant :")["input_ids"]
        new = greedy(model, ids, tokenizer.eos_token_id)
        assert tokenizer.decode(new) == f"{a} <end>"
        row = row[10:]  # the prompt is cut off
        assert row[: len(new)] == new
        assert set(row[len(new) :]) <= {tokenizer.pad_token_id}


def texts(model, tokenizer, **options):
    prompts = [f"user : {q} <end> assistant :" for q, _ in FACTS]
    inputs = tokenizer(prompts, padding=True, return_tensors="pt")
    out = model.generate(**inputs, max_new_tokens=9, do_sample=False, **options)
    new = out[:, inputs["input_ids"].shape[1] :]
    return tokenizer.batch_decode(new, skip_special_tokens=True)


def test_right_padding_gives_another_text(model, tokenizer, logged):
    assert texts(model, tokenizer) == ["Lima", "It is Santiago"]
    assert not logged.text
    tokenizer.padding_side = "right"
    assert texts(model, tokenizer) != ["Lima", "It is Santiago"]
    assert_documented(PAGE, "A decoder-only", logged.messages[0])


def test_without_the_mask_the_padding_counts(run, model, logged):
    ids = run["inputs"]["input_ids"]
    options = {"max_new_tokens": 1, "return_dict_in_generate": True}
    options["output_logits"] = True
    (masked,) = model.generate(**run["inputs"], **options).logits
    model.generate(ids, max_new_tokens=1)
    assert "attention mask" in logged.messages[0]
    everything = torch.ones_like(ids)
    (unmasked,) = model.generate(ids, attention_mask=everything, **options).logits
    assert not torch.allclose(masked[0], unmasked[0], atol=1e-3)
    torch.testing.assert_close(masked[1], unmasked[1])


def test_greedy_is_always_the_same_and_sampling_is_not(model, one):
    options = {"max_new_tokens": 9, "do_sample": True, "temperature": 50.0}
    drawn = {tuple(model.generate(**one, **options)[0].tolist()) for _ in range(9)}
    assert len(drawn) > 1
    kept = copy.deepcopy(model)
    kept.generation_config.do_sample = True  # as generation_config.json says it
    kept.generation_config.temperature = 50.0
    drawn = {tuple(kept.generate(**one, max_new_tokens=9)[0].tolist()) for _ in "1234"}
    assert len(drawn) > 1
    options = {"max_new_tokens": 9, "do_sample": False}
    drawn = {tuple(kept.generate(**one, **options)[0].tolist()) for _ in "1234"}
    assert len(drawn) == 1
    options = {"max_new_tokens": 1, "do_sample": True, "num_return_sequences": 3}
    assert len(model.generate(**one, **options)) == 3


def test_temperature(model, one, logged):
    options = {**one, "max_new_tokens": 2}
    model.generate(**options, do_sample=False, temperature=0.7)
    assert_documented(PAGE, "The following generation flags", logged.messages[0])
    with raises_as_documented(PAGE, "ValueError: `temperature` (=0)"):
        model.generate(**options, do_sample=True, temperature=0)


def test_lengths(model, one):
    assert model.generate(**one, max_new_tokens=2).shape == (1, 12)
    assert model.generate(**one, max_length=12).shape == (1, 12)
    with raises_as_documented(PAGE, "ValueError: Input length of input_ids"):
        model.generate(**one, max_length=5)
    with raises_as_documented(PAGE, "UserWarning: Using the model-agnostic"):
        model.generate(**one)


def test_other_arguments(model, tokenizer, one):
    with raises_as_documented(PAGE, "ValueError: The following `model_kwargs`"):
        model.generate(**one, token_type_ids=one["input_ids"])
    chat = [{"role": "user", "content": "Peru ?"}]
    ids = tokenizer.apply_chat_template(chat, return_tensors="pt", return_dict=False)
    with raises_as_documented(PAGE, "TypeError: transformers.generation.utils"):
        model.generate(**ids)
    tokenizer.chat_template = None
    with raises_as_documented(PAGE, "ValueError: Cannot use chat template"):
        tokenizer.apply_chat_template(chat)


def test_nan(model, one):
    broken = copy.deepcopy(model)
    broken.lm_head.weight.data[0] = torch.nan
    with raises_as_documented(PAGE, "RuntimeError: probability tensor"):
        broken.generate(**one, max_new_tokens=2, do_sample=True)


def test_streams(run, model, tokenizer, one, capsys):
    options = {"skip_prompt": True, "skip_special_tokens": True}
    streamer = TextStreamer(tokenizer, **options)
    model.generate(**one, max_new_tokens=9, streamer=streamer)
    assert capsys.readouterr().out.split() == ["It", "is", "Santiago"]
    with raises_as_documented(PAGE, "ValueError: TextStreamer only"):
        model.generate(**run["inputs"], max_new_tokens=9, streamer=streamer)

    streamer = TextIteratorStreamer(tokenizer, timeout=60, **options)
    kwargs = {**one, "streamer": streamer, "max_new_tokens": 9}
    thread = threading.Thread(target=model.generate, kwargs=kwargs)
    thread.start()
    pieces = list(streamer)
    thread.join()
    assert len(pieces) > 1
    assert "".join(pieces) == "It is Santiago"


def test_a_wrapped_model(model, one):
    wrapped = torch.nn.DataParallel(model)  # as DDP, but without a process group
    with raises_as_documented(PAGE, "AttributeError: 'DataParallel' object"):
        wrapped.generate(**one)
    wrapped.module.generate(**one, max_new_tokens=1)


def test_another_end_and_a_string(tokenizer):
    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    own = Tokenizer(models.BPE({c: i for i, c in enumerate(letters)}, []))
    own.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    own.decoder = decoders.ByteLevel()
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=own)
    torch.manual_seed(0)
    small = {"hidden_size": 16, "intermediate_size": 16, "num_attention_heads": 2}
    config = LlamaConfig(vocab_size=256, num_hidden_layers=1, **small)
    config.eos_token_id = None
    model = LlamaForCausalLM(config).eval()
    inputs = tokenizer("abc", return_tensors="pt")
    options = {"max_new_tokens": 12, "do_sample": False, "pad_token_id": 0}
    new = model.generate(**inputs, **options)[0, 3:].tolist()
    assert len(new) == 12  # no end at all
    letter = next(i for i in new if letters[i].isascii() and letters[i] != "c")
    length = 3 + new.index(letter) + 1
    assert length < 15
    ended = model.generate(**inputs, **options, eos_token_id=[letter, 300])
    assert ended.shape == (1, length)
    options |= {"stop_strings": [letters[letter]], "tokenizer": tokenizer}
    assert model.generate(**inputs, **options).tolist() == ended.tolist()


def test_with_checkpointing_the_text_is_wrong_in_training_mode(model, tokenizer):
    other = copy.deepcopy(model)
    other.activation_checkpointing_enable()
    assert texts(other.train(), tokenizer) != ["Lima", "It is Santiago"]
    assert texts(other, tokenizer, use_cache=False) == ["Lima", "It is Santiago"]
    assert texts(other.eval(), tokenizer) == ["Lima", "It is Santiago"]


def test_the_pipeline_says_the_same(run, model, tokenizer, monkeypatch):
    monkeypatch.setenv("TOKENIZERS_PARALLELISM", "false")  # generate sets it
    answer = pipeline("text-generation", model=model, tokenizer=tokenizer)
    found = answer(run["chats"], max_new_tokens=9, do_sample=False)
    said = [row[0]["generated_text"][-1]["content"] for row in found]
    assert [text.replace("<end>", "").strip() for text in said] == [a for _, a in FACTS]


def test_no_pad_token_in_the_file(run):
    assert AutoTokenizer.from_pretrained(run["name"]).pad_token is None
