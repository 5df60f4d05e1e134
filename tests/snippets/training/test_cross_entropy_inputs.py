"""cross-entropy-inputs: the loss against a loop and scikit-learn; every message."""

import math

import pytest
import torch
from sklearn.metrics import log_loss
from torch.nn import functional as F

from tests.helpers import load_snippet, raises_as_documented

PAGE = "training/cross-entropy-inputs"
snippet = load_snippet("training/cross_entropy_inputs.py")
LOGITS, TARGET = torch.randn(4, 3), torch.tensor([0, 2, 1, 2])


def test_the_loss_is_that_of_scikit_learn():
    p = snippet.logits.detach().double().softmax(1)
    assert snippet.loss.item() == pytest.approx(log_loss(snippet.target, p), rel=1e-5)


def test_the_data_are_as_described():
    assert snippet.logits.shape == (4, 3)
    assert snippet.target.tolist() == [0, 2, 1, 2]
    assert snippet.column.shape == (4, 1)
    assert snippet.column.dtype == torch.float32
    assert snippet.one_hot.tolist() == [[1, 0, 0], [0, 0, 1], [0, 1, 0], [0, 0, 1]]


@pytest.mark.parametrize(("classes", "floor"), [(3, "0.55"), (10, "1.46")])
def test_a_softmax_sets_a_floor(classes, floor):
    target = torch.arange(classes)
    right = 100 * torch.eye(classes)
    assert F.cross_entropy(right, target) == 0
    loss = F.cross_entropy(right.softmax(1), target).item()
    assert f"{loss:.2f}" == floor
    assert loss == pytest.approx(math.log(1 + (classes - 1) / math.e))


def test_the_output_of_the_snippet(capsys):
    load_snippet("training/cross_entropy_inputs.py")
    assert capsys.readouterr().out == "logits 0.00\nsoftmax first 0.55\n"


def test_the_logarithm_of_a_softmax_is_not_exact():
    far = torch.tensor([[200.0, 0.0]])
    assert far.softmax(1).log()[0, 1] == -math.inf
    assert F.cross_entropy(far, torch.tensor([1])) == 200


@pytest.mark.parametrize("shape", [(2, 3, 4, 5), (2, 3, 6)], ids=["masks", "tokens"])
def test_more_dimensions_are_one_long_batch(shape):
    logits = torch.randn(shape)
    target = torch.randint(3, (shape[0], *shape[2:]))
    rows = logits.movedim(1, -1)  # (N, …, C)
    flat = F.cross_entropy(rows.flatten(0, -2), target.flatten())
    torch.testing.assert_close(F.cross_entropy(logits, target), flat)


def test_variants():
    loss = F.cross_entropy(LOGITS, TARGET)
    torch.testing.assert_close(F.nll_loss(LOGITS.log_softmax(1), TARGET), loss)
    soft = F.one_hot(TARGET, 3).float()
    torch.testing.assert_close(F.cross_entropy(LOGITS, soft), loss)
    torch.testing.assert_close(F.cross_entropy(LOGITS, TARGET.byte()), loss)
    assert F.cross_entropy(LOGITS, TARGET, reduction="none").shape == (4,)
    assert F.cross_entropy(LOGITS[:, :1], torch.zeros(4).long()) == 0


def test_labels_that_do_not_count():
    log_p = LOGITS.double().log_softmax(1)
    half = -(log_p[0, 0] + log_p[1, 2]) / 2
    for label, options in ((255, {"ignore_index": 255}), (-100, {})):
        loss = F.cross_entropy(LOGITS, torch.tensor([0, 2, label, label]), **options)
        assert loss.item() == pytest.approx(half.item(), rel=1e-5)


def test_several_ones_in_a_row_raise_nothing():
    two = torch.tensor([[1.0, 1, 0]] * 4)
    log_p = LOGITS.double().log_softmax(1)
    expected = -(log_p[:, 0] + log_p[:, 1]).mean()
    loss = F.cross_entropy(LOGITS, two)
    assert loss.item() == pytest.approx(expected.item(), rel=1e-5)


@pytest.mark.skipif(
    torch.__version__ < "2.12", reason="PyTorch 2.11 words it differently"
)
@pytest.mark.parametrize("name", ["Int", "Bool"])
def test_other_dtypes_raise_the_same(name):
    dtype = {"Int": torch.int32, "Bool": torch.bool}[name]
    with pytest.raises(RuntimeError, match=f"Long or Byte, but got {name}"):
        F.cross_entropy(LOGITS, TARGET.to(dtype))


def test_small_maps_become_as_large_as_the_masks():
    mask = torch.zeros(2, 8, 8).long()
    logits = F.interpolate(MASKS, size=mask.shape[-2:], mode="bilinear")
    assert F.cross_entropy(logits, mask).isfinite()


MASKS, TOKENS = torch.randn(2, 3, 4, 4), torch.zeros(2, 5).long()


@pytest.mark.parametrize(
    ("start", "logits", "target"),
    [
        ("RuntimeError: 0D or 1D", LOGITS, TARGET[:, None]),
        ("RuntimeError: 0D or 1D", LOGITS, TARGET[:, None].float()),
        ("RuntimeError: Expected floating", LOGITS, F.one_hot(TARGET)),
        ("RuntimeError: Expected floating", LOGITS[:, 0], TARGET),
        ("RuntimeError: Expected target size", torch.randn(2, 5, 7), TOKENS),
        ("IndexError: Target 3", LOGITS, TARGET + 1),
        ("ValueError: Expected input batch_size", LOGITS[:1], TARGET),
        ("RuntimeError: only batches", MASKS, torch.zeros(2, 1, 4, 4).long()),
        ("RuntimeError: size mismatch", MASKS, torch.zeros(2, 8, 8).long()),
        ("TypeError: cross_entropy_loss(): argument 'input'", (LOGITS,), TARGET),
        ("RuntimeError: expected scalar", MASKS, torch.zeros(2, 4, 4).byte()),
        ("TypeError: cross_entropy_loss(): argument 'target'", LOGITS, TARGET.numpy()),
    ],
)
def test_messages(start, logits, target):
    with raises_as_documented(PAGE, start):
        F.cross_entropy(logits, target)


@pytest.mark.skipif(
    torch.__version__ < "2.12", reason="PyTorch 2.11 words it differently"
)
def test_float_labels():
    with raises_as_documented(PAGE, "RuntimeError: expected target dtype"):
        F.cross_entropy(LOGITS, TARGET.float())


def test_logits_of_one_dimension():
    with raises_as_documented(PAGE, "IndexError: Dimension out of range"):
        LOGITS[0].log_softmax(1)
    loss = F.cross_entropy(LOGITS[0][None], TARGET[:1])
    torch.testing.assert_close(loss, F.cross_entropy(LOGITS[:1], TARGET[:1]))
