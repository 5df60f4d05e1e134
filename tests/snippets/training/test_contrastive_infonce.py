"""contrastive-infonce: against loops in float64 and the loss of transformers' CLIP."""

import math

import pytest
import torch
from torch import nn
from torch.nn import functional as F
from transformers.models.clip.modeling_clip import image_text_contrastive_loss

from tests.helpers import (
    ROOT,
    in_two_processes,
    load_snippet,
    raises_as_documented,
)

PAGE = "training/contrastive-infonce"
snippet = load_snippet("training/contrastive_infonce.py")


@pytest.fixture
def views():
    generator = torch.Generator().manual_seed(0)
    return torch.randn(2, 5, 3, generator=generator, dtype=torch.float64)


def cosine(u, v):
    dot = sum(x * y for x, y in zip(u.tolist(), v.tolist(), strict=True))
    return dot / math.hypot(*u.tolist()) / math.hypot(*v.tolist())


def by_loops(views, temperature):
    z, n = [*views[0], *views[1]], len(views[0])
    loss = 0
    for i in range(2 * n):
        terms = {
            j: math.exp(cosine(z[i], z[j]) / temperature)
            for j in range(2 * n)
            if j != i
        }
        loss -= math.log(terms[(i + n) % (2 * n)] / sum(terms.values()))
    return loss / (2 * n)


def test_nt_xent_is_the_formula(views):
    assert snippet.nt_xent(*views).item() == pytest.approx(by_loops(views, 0.5))
    loss = snippet.nt_xent(*views, temperature=0.1)
    assert loss.item() == pytest.approx(by_loops(views, 0.1))


def test_info_nce_is_the_loss_of_clip(views):
    a, b = (F.normalize(v, dim=1) for v in views)
    expected = image_text_contrastive_loss(a @ b.T / 0.1)
    torch.testing.assert_close(snippet.info_nce(*views), expected)
    torch.testing.assert_close(snippet.info_nce(7 * views[0], views[1]), expected)
    torch.testing.assert_close(snippet.info_nce(*views.flip(0)), expected)
    torch.testing.assert_close(
        snippet.info_nce(*views, temperature=0.5),
        image_text_contrastive_loss(a @ b.T / 0.5),
    )


def test_gradients(views):
    views.requires_grad_()
    for loss in (snippet.info_nce, snippet.nt_xent):
        assert torch.autograd.gradcheck(lambda v, f=loss: f(*v), views)


def test_best_and_chance():
    eye = torch.eye(64)
    assert snippet.info_nce(eye, eye) < 0.01
    assert snippet.info_nce(eye, eye, temperature=1.0) > 3  # without a temperature
    same = torch.ones(64, 8)
    assert snippet.info_nce(same, same).item() == pytest.approx(math.log(64))
    assert snippet.nt_xent(same, same).item() == pytest.approx(math.log(127), rel=1e-5)
    assert F.normalize(same, dim=1).std(0).max() < 1e-6


def test_the_number_of_negatives_matters():
    generator = torch.Generator().manual_seed(0)
    a, b = torch.randn(2, 64, 8, generator=generator)
    parts = [snippet.info_nce(a[i : i + 8], b[i : i + 8]) for i in range(0, 64, 8)]
    assert sum(parts) / 8 < snippet.info_nce(a, b) - 1


def test_half():
    logits = torch.randn(4, 4).half()
    eye = torch.eye(4, dtype=torch.bool)
    with raises_as_documented(PAGE, "RuntimeError: value cannot be converted"):
        logits.masked_fill(eye, -1e9)
    a, b = torch.randn(2, 4, 8)
    with torch.autocast("cpu", dtype=torch.float16):
        assert (a @ b.T).dtype == torch.float16
        assert snippet.nt_xent(a, b).isfinite()
        assert snippet.info_nce(a, b).isfinite()


def test_variants(views):
    scale = nn.Parameter(torch.tensor(1 / 0.07).log())
    assert scale.is_leaf
    assert scale.exp().item() == pytest.approx(1 / 0.07)
    a, b = (F.normalize(v, dim=1) for v in views)
    loss = nn.TripletMarginLoss(margin=0.2)(a, b, b.roll(1, 0))
    far = (a - b.roll(1, 0)).norm(dim=1)
    expected = ((a - b).norm(dim=1) - far + 0.2).clamp(min=0).mean()
    torch.testing.assert_close(loss, expected, atol=1e-5, rtol=1e-5)
    logits = a @ b.T
    hardest = logits.detach().clone().fill_diagonal_(-torch.inf).argmax(1)
    for i, j in enumerate(hardest.tolist()):
        assert j == max({0, 1, 2, 3, 4} - {i}, key=lambda k: logits[i, k])


DRIVER = """
import runpy, sys, torch
import torch.distributed as dist

info_nce = runpy.run_path(sys.argv[1])["info_nce"]


def work(rank):
    dist.init_process_group("gloo")
    a, b = torch.randn(2, 8, 4, generator=torch.Generator().manual_seed(0))
    weight = torch.eye(4, requires_grad=True)
    expected, = torch.autograd.grad(info_nce(a @ weight, b @ weight), weight)
    own = slice(4 * rank, 4 * rank + 4)
    both = []
    for v in (a, b):
        v = v[own] @ weight
        parts = [torch.empty_like(v) for _ in range(2)]
        dist.all_gather(parts, v.detach())
        parts[rank] = v
        both.append(torch.cat(parts))
    grad, = torch.autograd.grad(2 * info_nce(*both), weight)
    dist.all_reduce(grad)
    torch.testing.assert_close(grad / 2, expected)  # as DDP averages
    dist.destroy_process_group()
    print("same")
"""


def test_gathered_embeddings_have_the_gradient_of_the_whole_batch(tmp_path):
    path = ROOT / "snippets/training/contrastive_infonce.py"
    printed = in_two_processes(tmp_path, DRIVER, str(path))
    assert printed.count("same") == 2  # a line end may come late
