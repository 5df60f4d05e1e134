"""grad-wrt-input: against finite differences in float64, and each pitfall."""

import pytest
import torch
from torch import nn

from tests.chains.pasted import answer
from tests.helpers import load_snippet, raises_as_documented

PAGE = "autograd/grad-wrt-input"
snippet = load_snippet("autograd/grad_wrt_input.py")


def loss_of(image: torch.Tensor, n: int) -> float:
    """The cross entropy of one image, spelled out, in float64."""
    layer = snippet.model[1]
    logits = layer.weight.double() @ image.flatten() + layer.bias.double()
    return (logits.logsumexp(0) - logits[snippet.target[n]]).item()


@pytest.mark.parametrize("place", [(0, 0, 3, 4), (7, 0, 2, 3), (1796, 0, 5, 5)])
def test_finite_differences(place):
    image = snippet.images[place[0]].double()
    step = torch.zeros_like(image)
    step[place[1:]] = 1e-5
    slope = (loss_of(image + step, place[0]) - loss_of(image - step, place[0])) / 2e-5
    assert snippet.grad[place].item() == pytest.approx(slope, abs=1e-4)


def test_saliency_and_step():
    by_hand = snippet.grad.abs().max(dim=1).values
    torch.testing.assert_close(snippet.saliency, by_hand)
    moved = snippet.adversarial - snippet.images
    assert moved.abs().max().item() == pytest.approx(0.1, abs=1e-6)
    assert snippet.adversarial.min() >= 0
    assert snippet.adversarial.max() <= 1
    inside = (snippet.images > 0.1) & (snippet.images < 0.9)
    assert torch.equal(moved.sign()[inside], snippet.grad.sign()[inside])
    for n in range(5):
        image, moved = snippet.images[n].double(), snippet.adversarial[n].double()
        assert loss_of(moved, n) > loss_of(image, n)


def test_the_step_is_worse_than_noise_of_the_same_size():
    def accuracy(images):
        return (snippet.model(images).argmax(1) == snippet.target).float().mean()

    noise = torch.randint(0, 2, snippet.images.shape) * 0.2 - 0.1
    noisy = (snippet.images + noise).clamp(0, 1)
    assert accuracy(snippet.images) > 0.95
    assert accuracy(noisy) > 0.9
    assert accuracy(snippet.adversarial) < 0.6


def test_the_answer_for_a_model_in_train_mode_with_frozen_weights():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4), nn.Flatten())
    model.append(nn.Linear(16, 3)).requires_grad_(False).train()
    images, target = torch.rand(3, 1, 4, 4), torch.tensor([0, 2, -100])
    names = {"model": model, "images": images, "target": target, "epsilon": 0.1}
    exec(answer("grad-wrt-input"), names)
    assert not names["grad"][2].any()  # an ignored label
    assert names["grad"][:2].any()
    whole = names["grad"]
    names |= {"images": images[:1], "target": target[:1]}
    exec(answer("grad-wrt-input"), names)
    torch.testing.assert_close(names["grad"], whole[:1])  # alone as in the batch
    assert not names["adversarial"].requires_grad


def test_the_weights_get_no_gradient():
    assert not snippet.model.training
    names = {"model": nn.Linear(3, 2), "target": torch.tensor([1]), "epsilon": 0.1}
    exec(answer("grad-wrt-input"), names | {"images": torch.rand(1, 3)})
    assert all(p.grad is None for p in names["model"].parameters())


def test_a_tensor_computed_from_the_marked_one_is_no_leaf():
    x = (torch.ones(2, requires_grad=True)) / 255
    x.retain_grad()
    x.sum().backward()
    assert not x.is_leaf
    torch.testing.assert_close(x.grad, torch.ones(2))


def test_an_unused_tensor():
    x, other = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
    with raises_as_documented(PAGE, "RuntimeError: The differentiated Tensor at"):
        torch.autograd.grad(other.sum(), x)


def test_integers():
    with raises_as_documented(PAGE, "RuntimeError: only Tensors of floating point"):
        torch.zeros(2, dtype=torch.uint8).requires_grad_(True)


def test_a_mean_divides_by_the_batch():
    x = snippet.images.clone().requires_grad_(True)
    mean = nn.functional.cross_entropy(snippet.model(x), snippet.target)
    (grad,) = torch.autograd.grad(mean, x)
    torch.testing.assert_close(grad * len(x), snippet.grad, rtol=1e-3, atol=1e-5)
