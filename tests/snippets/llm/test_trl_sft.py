"""trl-sft: the training by hand, what is learnt by which columns, what it says."""

import runpy
import warnings
from importlib import metadata

import pytest
import torch
from datasets import Dataset, disable_progress_bars
from peft import LoraConfig, get_peft_model
from safetensors.torch import load_file
from tokenizers import processors
from torch.nn import functional as F
from transformers import AutoModelForCausalLM, AutoTokenizer, logging
from trl import SFTConfig, SFTTrainer

from tests.helpers import (
    ROOT,
    assert_documented,
    made_once,
    raises_as_documented,
    recipes,
)

PAGE = "llm/trl-sft"
pytestmark = pytest.mark.filterwarnings(
    "ignore:.*gradient_checkpointing` is deprecated"
)
CHAT = [
    {"role": "user", "content": "of peru?"},
    {"role": "assistant", "content": "lima lima"},
    {"role": "user", "content": "capital"},
    {"role": "assistant", "content": "peru"},
]
TEXT = "user of peru? assistant lima lima [SEP] user capital assistant peru [SEP]"


def run(folder):
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setenv("HF_HUB_DISABLE_TELEMETRY", "1")  # as the program does
        runpy.run_path(str(ROOT / "snippets/llm/trl_sft.py"))


@pytest.fixture(autouse=True)
def ran(tmp_path_factory, tmp_path, monkeypatch):
    """The folder in which the program ran."""
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_DISABLE_TELEMETRY", True)
    disable_progress_bars()
    level = logging.get_verbosity()  # which each Trainer sets for the whole library
    folder = made_once("trl", run, tmp_path_factory)
    monkeypatch.chdir(tmp_path)
    yield folder
    logging.set_verbosity(level)


@pytest.fixture
def tokenizer(ran):
    made = AutoTokenizer.from_pretrained(ran / "tiny-llama")
    alone = processors.TemplateProcessing(single="$A", special_tokens=[])
    made.backend_tokenizer.post_processor = alone  # no [CLS], no [SEP] of BERT
    return made


def config(**options):
    usual = {"use_cpu": True, "disable_tqdm": True, "save_strategy": "no"}
    usual |= {"bf16": False, "log_level": "error"}
    return SFTConfig("runs", **usual | options)


def learnt(trainer, row=0):
    """What the labels of a row spell."""
    ids = [i for i in trainer.train_dataset[row]["labels"] if i != -100]
    return trainer.processing_class.decode(ids)


def test_what_is_the_readers():
    answer = recipes()["trl-sft"].answer
    assert set(answer.yours) == {"name", "data", "lr"}


def test_the_version_that_the_page_names():
    assert metadata.version("trl").startswith("1.16.")


def test_the_adapter_alone_learns_and_the_folder_is_complete(ran):
    before = load_file(ran / "tiny-llama/model.safetensors")
    model = AutoModelForCausalLM.from_pretrained(ran / "tiny-llama")
    model.load_adapter(ran / "adapter")
    after = model.state_dict()
    assert all(
        torch.equal(w, after[k if k in after else k.replace("proj", "proj.base_layer")])
        for k, w in before.items()
    )
    tokenizer = AutoTokenizer.from_pretrained(ran / "adapter")
    ids = tokenizer("user capital of peru? assistant", add_special_tokens=False)
    ids = torch.tensor([ids["input_ids"]])
    found = model(ids).logits[0, -1].argmax().item()
    assert tokenizer.decode([found]) == "lima"
    assert tokenizer.chat_template


def test_the_steps_by_hand(ran, tokenizer):
    """Cross entropy of the answers' tokens, AdamW, a falling rate, clipping."""
    rows = [CHAT, CHAT[2:]]
    data = Dataset.from_list([{"messages": row} for row in rows])
    args = config(
        learning_rate=1e-2,
        assistant_only_loss=True,
        num_train_epochs=4,
        activation_checkpointing=False,
    )
    trainer = SFTTrainer(str(ran / "tiny-llama"), args, train_dataset=data)
    trainer.train()
    model = AutoModelForCausalLM.from_pretrained(ran / "tiny-llama")
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2, weight_decay=0)
    for step in range(4):
        optimizer.param_groups[0]["lr"] = 1e-2 * (1 - step / 4)
        total = count = 0
        for row in rows:
            ids, labels = by_hand(tokenizer, row)
            logits = model(ids[None]).logits[0, :-1]
            total += F.cross_entropy(logits, labels[1:], reduction="sum")
            count += (labels[1:] != -100).sum()
        optimizer.zero_grad()
        (total / count).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
    flat = torch.nn.utils.parameters_to_vector
    torch.testing.assert_close(
        flat(trainer.model.parameters()), flat(model.parameters()), rtol=0, atol=2e-4
    )


def by_hand(tokenizer, chat):
    ids, labels = [], []
    for message in chat:
        said = message["role"] == "assistant"
        for text, kept in [
            (message["role"], False),
            (message["content"] + "[SEP]" * said, said),
        ]:
            new = tokenizer(text, add_special_tokens=False)["input_ids"]
            ids += new
            labels += new if kept else [-100] * len(new)
    return torch.tensor(ids), torch.tensor(labels)


def test_what_is_learnt_by_which_columns(ran, tokenizer):
    name = str(ran / "tiny-llama")

    def labels(row, **options):
        trainer = SFTTrainer(
            name,
            config(**options),
            train_dataset=Dataset.from_list([row]),
            processing_class=tokenizer,
        )
        return learnt(trainer)

    chats = {"messages": CHAT}
    assert labels(chats) == TEXT
    both = "lima lima [SEP] peru [SEP]"
    assert labels(chats, assistant_only_loss=True) == both
    split = {"prompt": CHAT[:-1], "completion": CHAT[-1:]}
    assert labels(split) == "peru [SEP]"
    assert labels({"prompt": "of peru?", "completion": " lima"}) == "lima [SEP]"
    assert labels({"text": "peru"}) == "peru [SEP]"
    assert labels({"content": "peru"}, dataset_text_field="content") == "peru [SEP]"


def test_padding_is_masked_by_its_place(ran, tokenizer):
    tokenizer.pad_token = tokenizer.eos_token
    data = Dataset.from_list([{"messages": CHAT}, {"messages": CHAT[2:]}])
    args = config(assistant_only_loss=True)
    trainer = SFTTrainer(
        str(ran / "tiny-llama"), args, train_dataset=data, processing_class=tokenizer
    )
    (batch,) = trainer.get_train_dataloader()
    end = tokenizer.eos_token_id
    assert (batch["labels"] == end).sum() == 3  # one for each answer
    assert (batch["input_ids"] == end).sum() > 3


def test_the_defaults_that_the_page_names(ran):
    args = SFTConfig("runs", use_cpu=True)
    assert (args.bf16, args.activation_checkpointing) == (True, True)
    assert (args.learning_rate, args.max_length) == (2e-5, 1024)
    assert args.per_device_train_batch_size == 8
    assert args.gradient_accumulation_steps == 1
    assert not SFTConfig("runs", use_cpu=True, fp16=True).bf16
    half = AutoModelForCausalLM.from_pretrained(ran / "tiny-llama", dtype="bfloat16")
    half.save_pretrained("half")
    AutoTokenizer.from_pretrained(ran / "tiny-llama").save_pretrained("half")
    data = Dataset.from_list([{"messages": CHAT}])
    trainer = SFTTrainer("half", config(), train_dataset=data)
    assert trainer.model.dtype == torch.float32
    args = config(model_init_kwargs={"dtype": "bfloat16"})
    assert SFTTrainer("half", args, train_dataset=data).model.dtype == torch.bfloat16


def test_another_end_for_a_base_model(ran):
    args = config(eos_token="lima")
    data = Dataset.from_list([{"messages": CHAT}])
    trainer = SFTTrainer(str(ran / "tiny-llama"), args, train_dataset=data)
    (end,) = trainer.processing_class.convert_tokens_to_ids(["lima"])
    assert end in trainer.model.generation_config.eos_token_id
    trainer.save_model("saved")
    assert AutoTokenizer.from_pretrained("saved").eos_token_id == end


def test_old_names(ran):
    data = Dataset.from_list([{"messages": CHAT}])
    name = str(ran / "tiny-llama")
    with raises_as_documented(PAGE, "TypeError: SFTTrainer.__init__() got"):
        SFTTrainer(name, config(), train_dataset=data, tokenizer=None)
    for old in ("packing", "dataset_text_field", "max_seq_length"):
        with pytest.raises(TypeError, match="unexpected keyword"):
            SFTTrainer(name, config(), train_dataset=data, **{old: None})
    config(packing=True, dataset_text_field="text")
    with raises_as_documented(PAGE, "TypeError: SFTConfig.__init__() got"):
        config(max_seq_length=512)


def test_templates(ran, tokenizer):
    data = Dataset.from_list([{"messages": CHAT}])
    name, args = str(ran / "tiny-llama"), config(assistant_only_loss=True)
    options = {"train_dataset": data, "processing_class": tokenizer}
    template, marks = tokenizer.chat_template, ("generation", "endgeneration")
    for mark in marks:
        tokenizer.chat_template = tokenizer.chat_template.replace(f"{{% {mark} %}}", "")
    with raises_as_documented(PAGE, "ValueError: The chat template is not"):
        SFTTrainer(name, args, **options)
    split = Dataset.from_list([{"prompt": CHAT[:-1], "completion": CHAT[-1:]}])
    trainer = SFTTrainer(name, config(), **options | {"train_dataset": split})
    assert learnt(trainer) == "peru [SEP]"
    tokenizer.chat_template = None
    with raises_as_documented(PAGE, "ValueError: Cannot use chat template"):
        SFTTrainer(name, config(), **options)
    with pytest.raises(TypeError, match="expected string or bytes-like object"):
        SFTTrainer(name, args, **options)
    file = ran.parent / "own.jinja"
    file.write_text(template)
    args = config(assistant_only_loss=True, chat_template_path=str(file))
    assert learnt(SFTTrainer(name, args, **options)).endswith("peru [SEP]")
    tokenizer.chat_template = None
    args = config(assistant_only_loss=True, chat_template_path=name)
    assert learnt(SFTTrainer(name, args, **options)).endswith("peru [SEP]")


def test_rows_whose_answer_is_cut(ran):
    data = Dataset.from_list([{"messages": CHAT}, {"messages": CHAT[2:]}])
    args = config(assistant_only_loss=True, max_length=4)
    trainer = SFTTrainer(str(ran / "tiny-llama"), args, train_dataset=data)
    assert len(trainer.train_dataset) == 1
    args = config(assistant_only_loss=True, max_length=2)
    trainer = SFTTrainer(str(ran / "tiny-llama"), args, train_dataset=data)
    with raises_as_documented(PAGE, "ValueError: num_samples"):
        trainer.train()


def test_data_that_it_does_not_take(ran, tokenizer):
    name, rows = str(ran / "tiny-llama"), [{"question": "of", "answer": "peru"}]
    with raises_as_documented(PAGE, "TypeError: `train_dataset` must be"):
        SFTTrainer(name, config(), train_dataset=rows)
    data = Dataset.from_list(rows)
    with raises_as_documented(PAGE, "KeyError: 'text'"):
        SFTTrainer(name, config(), train_dataset=data)
    trainer = SFTTrainer(
        name,
        config(),
        train_dataset=data,
        processing_class=tokenizer,
        formatting_func=lambda row: row["answer"],
    )
    assert learnt(trainer) == "peru [SEP]"


def test_devices(ran, monkeypatch):
    monkeypatch.setattr(
        "transformers.training_args.is_torch_bf16_gpu_available", lambda: False
    )
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with raises_as_documented(PAGE, "ValueError: Your setup doesn't support"):
        SFTConfig("runs")
    args = config()
    args._n_gpu = 2
    with raises_as_documented(PAGE, "ValueError: SFTTrainer does not support"):
        SFTTrainer(
            str(ran / "tiny-llama"),
            args,
            train_dataset=Dataset.from_list([{"messages": CHAT}]),
        )


def test_an_old_name_of_transformers():
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        config()
    said = [w for w in told if "gradient_checkpointing`" in str(w.message)]
    message = f"FutureWarning: {said[0].message}"
    assert_documented(PAGE, "FutureWarning: `gradient_checkpointing`", message)


def test_an_adapter_on_top_is_what_peft_makes(ran):
    base = AutoModelForCausalLM.from_pretrained(ran / "tiny-llama")
    by_peft = get_peft_model(base, LoraConfig(r=16, target_modules="all-linear"))
    shapes = {k: v.shape for k, v in by_peft.named_parameters() if "lora" in k}
    saved = load_file(ran / "adapter/adapter_model.safetensors")
    names = {k.replace(".default", ""): shape for k, shape in shapes.items()}
    assert {k: v.shape for k, v in saved.items()} == names
