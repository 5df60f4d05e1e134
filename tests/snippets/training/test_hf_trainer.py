"""hf-trainer: the same training by hand; what is logged, kept and resumed."""

import copy
import runpy
from pathlib import Path

import numpy as np
import pytest
import torch
from sklearn.metrics import f1_score
from torch import nn
from torch.nn import functional as F
from transformers import (
    BertConfig,
    BertForSequenceClassification,
    Trainer,
    TrainerCallback,
    TrainingArguments,
    logging,
)

from tests.helpers import ROOT, raises_as_documented

PAGE = "training/hf-trainer"
FILE = ROOT / "snippets/training/hf_trainer.py"
QUIET = {"logging_strategy": "no", "save_strategy": "no"}


@pytest.fixture(autouse=True)
def in_a_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    level = logging.get_verbosity()  # which each Trainer sets for the whole library
    yield
    logging.set_verbosity(level)


@pytest.fixture
def model():
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=10,
        hidden_size=8,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=8,
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
    )
    return BertForSequenceClassification(config)


def rows(n, seed=0):
    torch.manual_seed(seed)
    ids = torch.randint(10, (n, 4)).tolist()
    return [{"input_ids": row, "label": int(9 in row)} for row in ids]


DATA, VAL = rows(32), rows(16, seed=1)
UNLABELLED = [{"input_ids": row["input_ids"]} for row in VAL]


def arguments(**options):
    options = {"dataloader_pin_memory": False, "disable_tqdm": True, **options}
    return TrainingArguments("runs", log_level="error", **options)


def vector(model):
    return nn.utils.parameters_to_vector(model.parameters()).detach().clone()


class Record(TrainerCallback):
    def __init__(self):
        self.rates, self.weights = [], {}

    def on_step_end(self, args, state, control, optimizer, **_):
        self.rates.append(optimizer.param_groups[0]["lr"])

    def on_evaluate(self, args, state, control, model, **_):
        self.weights[state.global_step] = vector(model)


def test_the_snippet_keeps_the_epoch_of_the_lowest_loss(capsys):
    names = runpy.run_path(str(FILE), run_name="__main__")
    history = names["trainer"].state.log_history
    losses = {row["step"]: row["eval_loss"] for row in history if "eval_loss" in row}
    assert len(losses) == 3
    best = min(losses, key=losses.get)
    assert capsys.readouterr().out.endswith(f"\nruns/checkpoint-{best}\n")
    saved = BertForSequenceClassification.from_pretrained("best").eval()
    model, tokenizer = names["model"].eval(), names["tokenizer"]
    texts = tokenizer(["a good film", "so bad"], padding=True, return_tensors="pt")
    assert saved(**texts).logits.argmax(1).tolist() == [1, 0]
    torch.testing.assert_close(vector(saved), vector(model).cpu())
    assert Path("best/tokenizer.json").exists()


def test_the_loop_is_adamw_a_falling_rate_and_clipping(model):
    hand, seen = copy.deepcopy(model), []
    hook = model.register_forward_pre_hook(
        lambda _, args, kwargs: seen.append(kwargs), with_kwargs=True
    )
    Trainer(model, arguments(learning_rate=0.01, **QUIET), train_dataset=DATA).train()
    hook.remove()
    assert [len(batch["labels"]) for batch in seen] == [8] * 12  # 3 epochs of 32
    decay = [p for name, p in hand.named_parameters() if decays(name)]
    other = [p for name, p in hand.named_parameters() if not decays(name)]
    groups = [{"params": decay}, {"params": other}]
    optimizer = torch.optim.AdamW(groups, lr=0.01, weight_decay=0)
    for step, batch in enumerate(seen):
        for group in optimizer.param_groups:
            group["lr"] = 0.01 * (1 - step / 12)
        optimizer.zero_grad()
        logits = hand(input_ids=batch["input_ids"].cpu()).logits
        F.cross_entropy(logits, batch["labels"].cpu()).backward()
        nn.utils.clip_grad_norm_(hand.parameters(), 1.0)
        optimizer.step()
    torch.testing.assert_close(vector(model).cpu(), vector(hand), rtol=1e-3, atol=1e-5)


def decays(name):
    return not ("bias" in name or "LayerNorm" in name)


@pytest.mark.parametrize(
    ("name", "best"), [(None, 12), ("accuracy", 8)], ids=["loss", "accuracy"]
)
def test_best_is_the_lowest_loss_unless_a_metric_is_named(model, name, best):
    accuracies, record = iter([0.5, 0.9, 0.7]), Record()
    every = dict.fromkeys(["eval_strategy", "save_strategy"], "epoch")
    args = arguments(
        learning_rate=0.01,
        load_best_model_at_end=True,
        metric_for_best_model=name,
        **every,
    )
    data = [{"input_ids": [9, 9], "label": 1}] * 32  # its loss can only fall
    trainer = Trainer(
        model,
        args,
        train_dataset=data,
        eval_dataset=data[:8],
        compute_metrics=lambda _: {"accuracy": next(accuracies)},
        callbacks=[record],
    )
    trainer.train()
    assert trainer.state.best_model_checkpoint == f"runs/checkpoint-{best}"
    torch.testing.assert_close(vector(model), record.weights[best])
    kept = [r["eval_accuracy"] for r in trainer.state.log_history if "eval_loss" in r]
    assert kept == [0.5, 0.9, 0.7]


def test_without_the_strategies_nothing_is_shown(model):
    args = arguments(save_strategy="no")
    Trainer(model, args, train_dataset=DATA, eval_dataset=VAL).train()
    assert (args.eval_strategy, args.logging_steps, args.report_to) == ("no", 500, [])
    trainer = Trainer(model, args, train_dataset=DATA, eval_dataset=VAL)
    trainer.train()
    keys = {key for row in trainer.state.log_history for key in row}
    assert "train_loss" in keys
    assert not keys & {"loss", "eval_loss"}


def test_a_metric_needs_labels(model):
    every = dict.fromkeys(["eval_strategy", "save_strategy"], "epoch")
    args = arguments(load_best_model_at_end=True, **every)
    given = {"train_dataset": DATA, "compute_metrics": lambda _: {"accuracy": 1.0}}
    trainer = Trainer(model, args, eval_dataset=UNLABELLED, **given)
    with raises_as_documented(PAGE, 'KeyError: "The `metric_for_best_model`'):
        trainer.train()
    args = arguments(load_best_model_at_end=True, metric_for_best_model="f1", **every)
    trainer = Trainer(model, args, eval_dataset=VAL, **given)
    with pytest.raises(KeyError, match="is set to 'eval_f1', which is not found"):
        trainer.train()


class Own(nn.Module):
    def __init__(self):
        super().__init__()
        self.head = nn.Linear(2, 2)

    def forward(self, x, target=None):
        logits = self.head(x)
        return {"loss": F.cross_entropy(logits, target), "logits": logits}


def test_a_model_of_ones_own_names_its_labels():
    data = [{"x": [1.0, float(i)], "target": i % 2} for i in range(16)]
    given = {"eval_dataset": data, "compute_metrics": lambda _: {"accuracy": 1.0}}
    found = Trainer(Own(), arguments(), **given).evaluate()
    assert not found.keys() & {"eval_loss", "eval_accuracy"}
    args = arguments(label_names=["target"], num_train_epochs=1, **QUIET)
    trainer = Trainer(Own(), args, train_dataset=data, **given)
    trainer.train()
    assert {"eval_loss", "eval_accuracy"} <= trainer.evaluate().keys()


def test_what_an_evaluation_keeps(model):
    seen = []

    def look(p, compute_result=None):
        seen.append((type(p.predictions), p.predictions.shape, compute_result))
        return {}

    Trainer(model, arguments(), eval_dataset=VAL, compute_metrics=look).evaluate()
    Trainer(
        model,
        arguments(eval_accumulation_steps=1),
        eval_dataset=VAL,
        compute_metrics=look,
        preprocess_logits_for_metrics=lambda logits, labels: logits.argmax(-1),
    ).evaluate()
    assert seen == [(np.ndarray, (16, 2), None), (np.ndarray, (16,), None)]
    seen.clear()
    batches = arguments(batch_eval_metrics=True)
    Trainer(model, batches, eval_dataset=VAL, compute_metrics=look).evaluate()
    assert [(shape[0], last) for _, shape, last in seen] == [(8, False), (8, True)]


def test_a_resumed_run_keeps_the_old_rate_and_takes_the_new_plan(model):
    def rates(folder=None, **options):
        record = Record()
        args = arguments(logging_strategy="no", **options)
        trainer = Trainer(model, args, train_dataset=DATA, callbacks=[record])
        trainer.train(resume_from_checkpoint=folder)
        return record.rates

    with raises_as_documented(PAGE, "ValueError: No valid checkpoint found"):
        rates(True, num_train_epochs=2, save_strategy="no")
    two = {"num_train_epochs": 2, "save_strategy": "no"}
    rates(num_train_epochs=2, save_strategy="epoch", learning_rate=1e-3)
    old = "runs/checkpoint-4"
    fall = [1e-3 * (1 - step / 8) for step in (5, 6, 7, 8)]
    assert rates(old, learning_rate=5e-3, **two) == pytest.approx(fall)
    constant = rates(old, learning_rate=5e-3, lr_scheduler_type="constant", **two)
    assert constant == [1e-3] * 4
    longer = rates(True, learning_rate=1e-3, num_train_epochs=4, save_strategy="no")
    assert longer == pytest.approx([1e-3 * (1 - step / 16) for step in range(9, 17)])


def test_old_names():
    start = "TypeError: TrainingArguments.__init__() got"
    with raises_as_documented(PAGE, start):
        TrainingArguments("runs", evaluation_strategy="epoch")
    for name in ("warmup_ratio", "no_cuda", "overwrite_output_dir", "logging_dir"):
        with pytest.raises(TypeError, match=f"unexpected keyword argument '{name}'"):
            TrainingArguments("runs", **{name: 1})
    assert arguments(warmup_steps=0.1).get_warmup_steps(200) == 20
    with raises_as_documented(PAGE, "TypeError: Trainer.__init__() got"):
        Trainer(Own(), arguments(), tokenizer=None)


class CustomTrainer(Trainer):
    def compute_loss(self, model, inputs, return_outputs=False):
        raise NotImplementedError


def test_what_is_refused(model):
    trainer = CustomTrainer(model, arguments(**QUIET), train_dataset=DATA)
    with raises_as_documented(PAGE, "TypeError: CustomTrainer.compute_loss() got"):
        trainer.train()
    with raises_as_documented(PAGE, "ValueError: --load_best_model_at_end requires"):
        arguments(load_best_model_at_end=True)
    trainer = Trainer(model, arguments(**QUIET), train_dataset=UNLABELLED)
    with raises_as_documented(PAGE, "ValueError: The model did not return a loss"):
        trainer.train()


def test_the_trainer_needs_accelerate(monkeypatch):
    monkeypatch.setattr("transformers.training_args.is_accelerate_available", bool)
    with raises_as_documented(PAGE, "ImportError: Using the `Trainer` with"):
        _ = arguments().device


def test_on_a_cpu_memory_is_not_pinned(model, monkeypatch):
    monkeypatch.setattr(torch.accelerator, "is_available", lambda: False)
    args = arguments(dataloader_pin_memory=True, **QUIET)
    with raises_as_documented(PAGE, "UserWarning: 'pin_memory' argument"):
        Trainer(model, args, train_dataset=DATA).train()


def test_the_variant_for_f1(model):
    def compute_metrics(p):
        score = f1_score(p.label_ids, p.predictions.argmax(1), average="macro")
        return {"f1": score}

    given = {"eval_dataset": VAL, "compute_metrics": compute_metrics}
    found = Trainer(model, arguments(), **given).evaluate()["eval_f1"]
    batch = torch.tensor([row["input_ids"] for row in VAL])
    with torch.no_grad():
        chosen = model.cpu()(batch).logits.argmax(1).tolist()
    labels = [row["label"] for row in VAL]
    scores = []
    for c in (0, 1):
        right = sum(a == b == c for a, b in zip(chosen, labels, strict=True))
        scores.append(2 * right / (chosen.count(c) + labels.count(c)))
    assert found == pytest.approx(sum(scores) / 2)
