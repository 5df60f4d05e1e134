"""knowledge-distillation: against NumPy, and what the teacher must not do."""

import numpy as np
import pytest
import torch
from scipy.special import log_softmax
from torch import nn
from torch.nn import functional as F

from tests.helpers import load_snippet, raises_as_documented, recipes

PAGE = "training/knowledge-distillation"
ANSWER = recipes()["knowledge-distillation"].answer
snippet = load_snippet("training/knowledge_distillation.py")


def test_the_last_loss_is_that_of_numpy():
    with torch.no_grad():
        teacher = snippet.teacher(snippet.x).double().numpy()
    student = snippet.logits.detach().double().numpy()
    p, q = log_softmax(teacher / 4, axis=1), log_softmax(student / 4, axis=1)
    soft = (np.exp(p) * (p - q)).sum() / len(p) * 16
    known = np.arange(100)  # the others are -100
    hard = -log_softmax(student, axis=1)[known, snippet.y[:100]].mean()
    assert snippet.soft.item() == pytest.approx(soft, rel=1e-3)
    assert snippet.loss.item() == pytest.approx(0.7 * soft + 0.3 * hard, rel=1e-4)


def test_the_student_alone_is_trained():
    assert not snippet.teacher.training
    assert not snippet.p.requires_grad
    learned = {id(p) for g in snippet.optimizer.param_groups for p in g["params"]}
    assert not learned & {id(p) for p in snippet.teacher.parameters()}
    assert all(p.grad.abs().sum() > 0 for p in snippet.student.parameters())
    trained = snippet.optimizer.param_groups[0]["params"]
    assert [*map(id, trained)] == [*map(id, snippet.student.parameters())]


def test_the_teacher_helps_where_labels_are_few():
    x, y = snippet.images[1200:], snippet.labels[1200:]
    hits = [
        (m(x).argmax(1) == y).float().mean() for m in (snippet.alone, snippet.student)
    ]
    assert hits[1] > hits[0] + 0.05
    assert (snippet.y != -100).sum() == 100


def test_a_batch_without_labels():
    logits, y = torch.randn(4, 3), torch.full((4,), -100)
    assert F.cross_entropy(logits, y).isnan()
    for known in (0, 2):
        y[:known] = 1
        total = F.cross_entropy(logits, y, reduction="sum")
        mean = total / (y != -100).sum().clamp(min=1)
        expected = F.cross_entropy(logits[:known], y[:known]) if known else 0
        assert mean == pytest.approx(float(expected), rel=1e-5)


def test_the_answer_takes_any_loader():
    """A small last batch in float64, and modes that others have left behind."""
    teacher, student = nn.Sequential(nn.Linear(6, 3), nn.Dropout(0.5)), nn.Linear(6, 3)
    teacher.train().double(), student.double()
    loader = [(torch.randn(n, 6).double(), torch.randint(3, (n,))) for n in (8, 8, 1)]
    names = {"teacher": teacher, "student": student, "loader": loader}
    names["optimizer"] = torch.optim.SGD(student.parameters(), lr=0.1)
    before = student.weight.clone()
    exec(ANSWER.text, names | {"device": torch.device("cpu")})
    assert not teacher.training
    assert teacher[0].weight.grad is None
    assert not torch.equal(student.weight, before)


def norm_at(T, scale, reduction="batchmean"):
    generator = torch.Generator().manual_seed(0)
    student, teacher = torch.randn(2, 8, 5, generator=generator)
    student.requires_grad_()
    log_q, p = F.log_softmax(student / T, 1), F.softmax(teacher / T, 1)
    (F.kl_div(log_q, p, reduction=reduction) * scale).backward()
    return student.grad.norm().item()


@pytest.mark.filterwarnings("ignore:reduction. 'mean'")
def test_t_squared_keeps_the_gradients():
    assert norm_at(20.0, 1) / norm_at(10.0, 1) == pytest.approx(1 / 4, rel=0.05)
    assert norm_at(20.0, 400) == pytest.approx(norm_at(10.0, 100), rel=0.05)
    assert norm_at(4.0, 5, "mean") == pytest.approx(norm_at(4.0, 1))


def test_only_eval_stops_batch_norm():
    teacher, x = nn.BatchNorm1d(3), torch.randn(8, 3)
    student = nn.Linear(3, 3)
    student.teacher = teacher
    student.train()
    assert teacher.training
    with torch.no_grad():
        teacher(x)
    assert teacher.running_mean.abs().sum() > 0
    before = teacher.running_mean.clone()
    teacher.eval()(x)
    assert torch.equal(teacher.running_mean, before)


def test_classes_must_agree():
    log_q, p = torch.randn(4, 5).log_softmax(1), torch.randn(4, 10).softmax(1)
    with raises_as_documented(PAGE, "RuntimeError: The size of tensor a"):
        F.kl_div(log_q, p, reduction="batchmean")
    F.kl_div(log_q, p[:, [0, 2, 4, 6, 8]], reduction="batchmean")


def test_segmentation_as_a_list_of_pixels():
    student, teacher = torch.randn(2, 2, 5, 4, 6)  # (B, C, H, W) each
    y = torch.randint(5, (2, 4, 6))
    y[0, 0] = 255
    q, p = (z.movedim(1, -1)[y != 255] for z in (student, teacher))
    got = F.kl_div(q.log_softmax(1), p.softmax(1), reduction="batchmean")
    log_q, p = student.double().log_softmax(1), teacher.double().softmax(1)
    pixels = (p * (p.log() - log_q)).sum(1)[y != 255]
    assert got.item() == pytest.approx(pixels.mean().item(), rel=1e-5)
    whole = F.kl_div(log_q, p, reduction="batchmean")  # divides by the images alone
    assert whole > 10 * got


def test_language_model_and_features():
    logits, mask = torch.randn(2, 6, 10), torch.rand(2, 6) > 0.5
    assert logits[mask].shape == (int(mask.sum()), 10)
    proj = nn.Linear(8, 16)
    F.mse_loss(proj(torch.randn(4, 8)), torch.randn(4, 16)).backward()
    assert proj.weight.grad is not None
