"""peft-lora: the merged weights by hand in float64, what is trained, what it says."""

import json
import runpy
import shutil
import warnings
from importlib.util import find_spec

import pytest
import torch
from peft import (
    AutoPeftModelForCausalLM,
    LoraConfig,
    PeftModel,
    get_peft_model,
    prepare_model_for_kbit_training,
)
from peft.utils import TRANSFORMERS_MODELS_TO_LORA_TARGET_MODULES_MAPPING as USUAL
from safetensors.torch import load_file
from torch import nn
from transformers import (
    AutoModel,
    AutoModelForCausalLM,
    AutoModelForSequenceClassification,
    BertConfig,
    BitsAndBytesConfig,
    LlamaConfig,
)

from tests.helpers import ROOT, assert_documented, raises_as_documented, recipes

PAGE = "llm/peft-lora"
ANSWER = recipes()["peft-lora"].answer
pytestmark = pytest.mark.filterwarnings("ignore:`is_gradient_checkpointing`")
IDS = torch.tensor([[1, 2, 3, 4, 5]])


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    """The folder in which the program ran."""
    folder = tmp_path_factory.mktemp("peft")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        runpy.run_path(str(ROOT / "snippets/llm/peft_lora.py"))
    return folder


@pytest.fixture
def base(ran):
    return AutoModelForCausalLM.from_pretrained(ran / "tiny-llama")


def lora(**options):
    usual = {"target_modules": ["q_proj", "v_proj"], "task_type": "CAUSAL_LM"}
    return LoraConfig(**{**usual, **options})


def tiny_llama(tied=False):
    sizes = {"hidden_size": 64, "intermediate_size": 64, "num_hidden_layers": 1}
    config = LlamaConfig(vocab_size=9, tie_word_embeddings=tied, **sizes)
    return AutoModelForCausalLM.from_config(config)


def trained(model):
    return {n for n, p in model.named_parameters() if p.requires_grad}


def step(model, ids=IDS):
    """One step that must move all that is trained."""
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
    for _ in range(2):  # the first moves B alone
        model.train()(input_ids=ids, labels=ids).loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    return model.eval()


def test_what_is_the_readers():
    assert set(ANSWER.yours) == {"name", "device", "lr", "loader", "tokenizer"}


def test_merged_weights_are_w_plus_scaled_b_a(ran):
    before = load_file(ran / "tiny-llama/model.safetensors")
    after = load_file(ran / "merged/model.safetensors")
    adapter = load_file(ran / "adapter/adapter_model.safetensors")
    assert before.keys() == after.keys()
    moved = 0
    for key, weight in before.items():
        name = f"base_model.model.{key.removesuffix('.weight')}"
        expected = weight.double()
        if f"{name}.lora_A.weight" in adapter:
            B, A = (adapter.pop(f"{name}.lora_{x}.weight").double() for x in "BA")
            assert (A.shape[0], B.any()) == (16, True)
            expected = expected + 32 / 16 * B @ A
            moved += 1
        torch.testing.assert_close(after[key].double(), expected, rtol=0, atol=1e-6)
    assert not adapter  # A and B alone
    assert moved == 2 * len("qkvo" + "gud")  # no head, no embedding


def test_loaded_and_merged_say_the_same(ran, base, monkeypatch):
    model = PeftModel.from_pretrained(base, ran / "adapter")
    assert not model.training
    assert not trained(model)
    merged = AutoModelForCausalLM.from_pretrained(ran / "merged")
    logits = model(IDS).logits
    torch.testing.assert_close(merged(IDS).logits, logits)
    plain = AutoModelForCausalLM.from_pretrained(ran / "tiny-llama")(IDS).logits
    assert not torch.allclose(logits, plain, atol=0.1)
    with model.disable_adapter():
        torch.testing.assert_close(model(IDS).logits, plain, rtol=0, atol=0)
    model.load_adapter(ran / "adapter", adapter_name="other")
    model.set_adapter("other")
    torch.testing.assert_close(model(IDS).logits, logits)
    assert model.active_adapters == ["other"]
    monkeypatch.chdir(ran)  # adapter_config.json names the folder of the base
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    model = AutoPeftModelForCausalLM.from_pretrained("adapter")
    torch.testing.assert_close(model(IDS).logits, logits)


def test_only_a_and_b_train_in_float32(ran):
    half = AutoModelForCausalLM.from_pretrained(ran / "tiny-llama", dtype="bfloat16")
    model = get_peft_model(half, lora())
    frozen = {n: p.clone() for n, p in model.named_parameters() if not p.requires_grad}
    dtypes = {(p.dtype, p.requires_grad) for p in model.parameters()}
    assert dtypes == {(torch.bfloat16, False), (torch.float32, True)}
    before = {n: p.clone() for n, p in model.named_parameters()}
    names = trained(step(model))
    after = dict(model.named_parameters())
    assert all(".lora_A." in n or ".lora_B." in n for n in names)
    assert not any(torch.equal(before[n], after[n]) for n in names)
    assert all(torch.equal(p, after[n]) for n, p in frozen.items())
    logits = model(IDS).logits
    assert not torch.equal(model.merge_and_unload()(IDS).logits, logits)  # rounded


def test_names_of_layers(ran, base):
    assert USUAL["bert"] == ["query", "value"]
    assert USUAL["gpt2"] == ["c_attn"]
    for usual in ("llama", "qwen2", "qwen3", "mistral"):
        assert USUAL[usual] == ["q_proj", "v_proj"]
    names = {n.split(".")[-1] for n, m in base.named_modules() if type(m) is nn.Linear}
    assert {"q_proj", "v_proj", "down_proj", "lm_head"} < names
    model = get_peft_model(base, lora(target_modules=None))
    assert {n.split(".")[-4] for n in trained(model)} == {"q_proj", "v_proj"}


def test_names_that_no_layer_has(ran, base):
    with raises_as_documented(PAGE, "NoMatchingPeftModuleError: Target") as caught:
        get_peft_model(base, lora(target_modules=["query"]))
    assert issubclass(caught.type, ValueError)
    body = AutoModel.from_config(LlamaConfig.from_pretrained(ran / "tiny-llama"))
    with pytest.raises(ValueError, match="Target modules"):
        PeftModel.from_pretrained(body, ran / "adapter")


def test_no_gradient(ran, base):
    model = PeftModel.from_pretrained(base, ran / "adapter")
    with raises_as_documented(PAGE, "RuntimeError: element 0"):
        model(input_ids=IDS, labels=IDS).loss.backward()
    again = AutoModelForCausalLM.from_pretrained(ran / "tiny-llama")
    model = PeftModel.from_pretrained(again, ran / "adapter", is_trainable=True)
    assert len(trained(step(model))) == 2 * 14


def test_checkpointing_needs_inputs_with_gradients(base):
    model = get_peft_model(base, lora()).train()
    model.activation_checkpointing_enable({"use_reentrant": True})
    model.disable_input_require_grads()  # as older transformers leave it
    with (
        pytest.warns(UserWarning, match="None of the inputs have requires_grad=True"),
        raises_as_documented(PAGE, "RuntimeError: element 0"),
    ):
        model(input_ids=IDS, labels=IDS).loss.backward()
    model.enable_input_require_grads()
    step(model)


def test_merging_returns_the_model(ran, base, tmp_path):
    model = PeftModel.from_pretrained(base, ran / "adapter")
    model.merge_and_unload()
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        model.save_pretrained(tmp_path)  # the folder of the base is not here
    message = f"UserWarning: {told[0].message}"
    assert_documented(PAGE, "UserWarning: Unable to fetch", message)
    assert load_file(tmp_path / "adapter_model.safetensors") == {}
    with raises_as_documented(PAGE, "AttributeError: 'LlamaForCausalLM'"):
        base.merge_and_unload()


def test_folders_and_versions(ran, base, tmp_path, monkeypatch):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    with raises_as_documented(PAGE, "ValueError: Can't find 'adapter_config.json'"):
        PeftModel.from_pretrained(base, "merged")
    with raises_as_documented(PAGE, "TypeError: LoraConfig.__init__() got"):
        lora(new_option=1)
    shutil.copytree(ran / "adapter", tmp_path, dirs_exist_ok=True)
    file = tmp_path / "adapter_config.json"
    newer = json.loads(file.read_text()) | {"new_option": 1}
    file.write_text(json.dumps(newer))
    with pytest.warns(UserWarning, match="Unexpected keyword") as told:
        PeftModel.from_pretrained(base, tmp_path)
    assert_documented(
        PAGE, "UserWarning: Unexpected keyword", f"UserWarning: {told[0].message}"
    )


def test_a_base_without_the_rows_of_new_tokens(ran, base, tmp_path):
    base.resize_token_embeddings(11, mean_resizing=False)
    model = step(get_peft_model(base, lora()))
    model.save_pretrained(tmp_path, save_embedding_layers=True)
    load = AutoModelForCausalLM.from_pretrained
    with raises_as_documented(PAGE, "RuntimeError: Error(s) in loading") as caught:
        PeftModel.from_pretrained(load(ran / "tiny-llama"), tmp_path)
    assert "size mismatch for base_model.model.model.embed_tokens" in str(caught.value)
    resized = load(ran / "tiny-llama")
    resized.resize_token_embeddings(11)
    loaded = PeftModel.from_pretrained(resized, tmp_path)
    torch.testing.assert_close(loaded(IDS).logits, model(IDS).logits)


def test_a_second_time(base):
    get_peft_model(base, lora())
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always", UserWarning)
        get_peft_model(base, lora())
    message = f"UserWarning: {told[1].message}"
    assert_documented(PAGE, "UserWarning: Already found", message)


def test_peft_asks_by_an_old_name(base):
    with pytest.warns(FutureWarning) as told:
        get_peft_model(base, lora())
    assert_documented(
        PAGE, "FutureWarning: `is_grad", f"FutureWarning: {told[0].message}"
    )


def test_a_new_head_trains_with_its_task():
    config = BertConfig(hidden_size=24, num_hidden_layers=1, vocab_size=9)
    model = AutoModelForSequenceClassification.from_config(config)
    options = {"target_modules": "all-linear", "task_type": "SEQ_CLS"}
    names = trained(get_peft_model(model, LoraConfig(**options)))
    head = {n for n in names if "lora" not in n}
    assert head == {
        f"base_model.model.classifier.modules_to_save.default.{x}"
        for x in ("weight", "bias")
    }
    options = {"target_modules": ["query"]}
    model = AutoModelForSequenceClassification.from_config(config)
    assert all(
        "lora" in n for n in trained(get_peft_model(model, LoraConfig(**options)))
    )


@pytest.mark.parametrize("tied", [True, False])
def test_only_the_rows_of_new_tokens_train(tied):
    model = tiny_llama(tied)
    model.resize_token_embeddings(11, mean_resizing=False)
    old = [model.get_input_embeddings().weight, model.get_output_embeddings().weight]
    old = [weight.detach().clone() for weight in old]
    new = [9, 10]
    rows = new if tied else {"embed_tokens": new, "lm_head": new}
    model = get_peft_model(model, lora(trainable_token_indices=rows))
    step(model, torch.tensor([[1, 9, 2, 10, 9]]))
    model = model.merge_and_unload()
    found = [model.get_input_embeddings().weight, model.get_output_embeddings().weight]
    assert (found[0] is found[1]) == tied
    for was, now in zip(old, found, strict=True):
        assert torch.equal(was[:9], now[:9])
        assert (was[9:] != now[9:]).all()


def test_tied_copies_stay_tied_when_asked():
    options = {"modules_to_save": ["embed_tokens", "lm_head"]}
    model = tiny_llama(tied=True)
    model = get_peft_model(model, lora(**options, ensure_weight_tying=True))
    model = step(model).merge_and_unload()
    assert model.get_input_embeddings().weight is model.get_output_embeddings().weight


def test_the_names_of_qlora():
    """It takes a GPU to run; its names and what it switches on are looked up."""
    config = BitsAndBytesConfig(load_in_4bit=True, bnb_4bit_compute_dtype="bfloat16")
    assert config.load_in_4bit
    assert callable(prepare_model_for_kbit_training)


@pytest.mark.skipif(bool(find_spec("bitsandbytes")), reason="bitsandbytes is there")
def test_four_bits_without_the_library(ran):
    four = BitsAndBytesConfig(load_in_4bit=True)
    with raises_as_documented(PAGE, "ImportError: Using `bitsandbytes` 4-bit"):
        AutoModelForCausalLM.from_pretrained(
            ran / "tiny-llama", quantization_config=four
        )
