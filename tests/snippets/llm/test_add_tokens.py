"""add-tokens: old logits stay, new rows are as told, what trains, what it says."""

import runpy

import pytest
import torch
from tokenizers import Tokenizer, models
from transformers import (
    AutoModelForCausalLM,
    AutoTokenizer,
    DataCollatorForLanguageModeling,
    LlamaConfig,
    LlamaForCausalLM,
    PreTrainedTokenizerFast,
)

from tests.helpers import ROOT, raises_as_documented, recipes

PAGE = "llm/add-tokens"
ANSWER = recipes()["add-tokens"].answer
OLD = torch.tensor([[0, 1, 2, 3]])


def parts(vocab=8, tied=False):
    torch.manual_seed(0)
    table = Tokenizer(models.BPE({c: i for i, c in enumerate("adlot<>/")}, []))
    config = LlamaConfig(
        vocab_size=vocab,
        hidden_size=64,
        intermediate_size=64,
        num_hidden_layers=1,
        tie_word_embeddings=tied,
    )
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=table)
    return tokenizer, LlamaForCausalLM(config).eval()


def extended(folder, vocab=8, tied=False):
    """The answer as it is pasted below a model and a tokenizer."""
    tokenizer, model = parts(vocab, tied)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        exec(ANSWER.text, {"tokenizer": tokenizer, "model": model})
    return tokenizer, model


def test_what_is_the_readers():
    assert set(ANSWER.yours) == {"tokenizer", "model"}


@pytest.mark.parametrize("tied", [True, False])
def test_old_logits_stay_and_new_rows_are_the_mean(tmp_path, tied):
    _, before = parts(tied=tied)
    tokenizer, model = extended(tmp_path, tied=tied)
    assert (len(tokenizer), tokenizer.vocab_size) == (10, 8)
    torch.testing.assert_close(model(OLD).logits[..., :8], before(OLD).logits)
    tables = [model.get_input_embeddings().weight, model.get_output_embeddings().weight]
    was = [before.get_input_embeddings().weight, before.get_output_embeddings().weight]
    assert (tables[0] is tables[1]) == tied
    for old, now in zip(was, tables, strict=True):
        assert now.shape == (64, 64)
        assert torch.equal(now[:8], old)
        mean = old.double().mean(0).float().expand(56, -1)
        torch.testing.assert_close(now[8:], mean, rtol=0, atol=1e-5)
    assert model.config.vocab_size == 64
    ids = tokenizer("<tool>add</tool>", return_tensors="pt").input_ids
    assert ids.tolist() == [[8, 0, 1, 1, 9]]
    assert tokenizer.decode(ids[0], skip_special_tokens=True) == "a d d"
    loaded = AutoModelForCausalLM.from_pretrained(tmp_path / "extended")
    again = AutoTokenizer.from_pretrained(tmp_path / "extended")
    assert again("<tool>add</tool>").input_ids == ids[0].tolist()
    torch.testing.assert_close(loaded(ids).logits, model(ids).logits)


def test_rows_to_spare_are_kept(tmp_path):
    _, model = extended(tmp_path, vocab=16)
    assert model.get_input_embeddings().num_embeddings == 16
    model.resize_token_embeddings(10)  # what the page warns of
    assert model.get_input_embeddings().num_embeddings == 10


def test_small_random_rows():
    _, model = parts()
    model.resize_token_embeddings(500, mean_resizing=False)
    new = model.get_input_embeddings().weight[8:]
    assert new.std().item() == pytest.approx(model.config.initializer_range, rel=0.05)
    assert new.mean().item() == pytest.approx(0, abs=1e-3)


def test_not_resized(tmp_path):
    tokenizer, model = parts()
    tokenizer.add_tokens(["<tool>"])
    ids = tokenizer("a<tool>", return_tensors="pt").input_ids
    with raises_as_documented(PAGE, "IndexError: index out of range"):
        model(ids)
    with pytest.raises(IndexError, match=r"Target 8 is out of bounds\."):
        model(OLD, labels=torch.full_like(OLD, 8))


def test_sizes_that_do_not_fit(tmp_path):
    _, model = extended(tmp_path)
    _, fresh = parts()
    with raises_as_documented(PAGE, "RuntimeError: Error(s) in loading state_dict"):
        fresh.load_state_dict(model.state_dict())
    fresh.resize_token_embeddings(64)
    fresh.load_state_dict(model.state_dict())
    with raises_as_documented(PAGE, "RuntimeError: You set"):
        AutoModelForCausalLM.from_pretrained(tmp_path / "extended", vocab_size=8)


def test_padding():
    tokenizer, _ = parts()
    with raises_as_documented(PAGE, "ValueError: Asking to pad"):
        tokenizer(["a", "ad"], padding=True)
    tokenizer.add_special_tokens({"eos_token": "<end>"})
    tokenizer.pad_token = tokenizer.eos_token
    collate = DataCollatorForLanguageModeling(tokenizer, mlm=False)
    assert collate([tokenizer("ad<end>")])["labels"].tolist() == [[0, 1, -100]]
    tokenizer.add_special_tokens({"pad_token": "<pad>"})
    assert (tokenizer.pad_token_id, len(tokenizer)) == (9, 10)
    labels = collate([tokenizer("ad<end>"), tokenizer("a<end>")])["labels"]
    assert labels.tolist() == [[0, 1, 8], [0, 8, -100]]


def test_what_add_special_tokens_takes():
    tokenizer, _ = parts()
    with raises_as_documented(PAGE, "ValueError: dictionary update sequence"):
        tokenizer.add_special_tokens(["<tool>"])
    with raises_as_documented(PAGE, "ValueError: Key tool_token"):
        tokenizer.add_special_tokens({"tool_token": "<tool>"})
    for key, token in (
        ("additional_special_tokens", "<a>"),
        ("extra_special_tokens", "<d>"),
    ):
        assert tokenizer.add_special_tokens({key: [token]}) == 1
        assert tokenizer.all_special_tokens == [token]
    assert tokenizer.tokenize("<a><d>") == ["<a>", "<d>"]
    kept = {"replace_extra_special_tokens": False}
    tokenizer.add_special_tokens({"extra_special_tokens": ["<a>"]}, **kept)
    assert tokenizer.all_special_tokens == ["<d>", "<a>"]


def test_a_row_from_old_pieces():
    tokenizer, model = parts()
    pieces = tokenizer("toad", add_special_tokens=False).input_ids
    assert pieces == [4, 3, 0, 1]
    tokenizer.add_tokens(["toad"])
    model.resize_token_embeddings(len(tokenizer))
    weight = model.get_input_embeddings().weight
    new_id = tokenizer.convert_tokens_to_ids("toad")
    with torch.no_grad():
        weight[new_id] = weight[pieces].mean(0)
    expected = sum(weight[i].double() for i in pieces) / 4
    torch.testing.assert_close(weight[8].double(), expected, rtol=0, atol=1e-7)


def test_the_file_ends_in_one_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(ROOT / "snippets/llm/add_tokens.py"))
    files = {path.name for path in (tmp_path / "extended").iterdir()}
    assert {"config.json", "model.safetensors", "tokenizer.json"} <= files
