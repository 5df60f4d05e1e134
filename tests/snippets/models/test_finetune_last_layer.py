"""finetune-last-layer: what moves and what does not, against an untouched model."""

import copy

import pytest
import torch
from PIL import Image
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader
from torchvision import models
from torchvision.datasets import ImageFolder
from torchvision.transforms import v2

from tests.helpers import ROOT, load_snippet, raises_as_documented, recipes

SNIPPET = "models/finetune_last_layer.py"
PAGE = "models/finetune-last-layer"
snippet = load_snippet(SNIPPET)


@pytest.fixture
def images():
    return torch.randn(4, 3, 32, 32, generator=torch.Generator().manual_seed(0))


@pytest.fixture
def model():
    torch.manual_seed(0)
    model = models.resnet18()
    model.requires_grad_(False)
    model.fc = nn.Linear(model.fc.in_features, 3)
    return model.eval()


def step(model, optimizer, images):
    optimizer.zero_grad()
    F.cross_entropy(model(images), torch.arange(len(images)) % 3).backward()
    optimizer.step()


def moved(module, before):
    state = module.state_dict()
    return {name for name in before if not torch.equal(state[name], before[name])}


def test_only_the_new_layer_of_the_snippet_has_moved():
    torch.manual_seed(0)  # as the snippet does
    untouched = models.resnet18()
    torch.testing.assert_close(
        snippet.model.layer4.state_dict(), untouched.layer4.state_dict(), rtol=0, atol=0
    )
    assert moved(snippet.model.bn1, untouched.bn1.state_dict()) == set()
    torch.randint(256, (4, 3, 300, 400), dtype=torch.uint8)
    fresh = nn.Linear(512, 5)  # the next draw, as in the snippet
    assert moved(snippet.model.fc, fresh.state_dict()) == {"weight", "bias"}
    trained = {name for name, p in snippet.model.named_parameters() if p.requires_grad}
    assert trained == {"fc.weight", "fc.bias"}
    (group,) = snippet.optimizer.param_groups
    assert [p.shape for p in group["params"]] == [(5, 512), (5,)]
    assert not any(module.training for module in snippet.model.modules())


def test_each_step_of_the_snippet_is_adamw_on_the_features():
    """The same three steps on features of an untouched model, worked out by hand."""
    torch.manual_seed(0)
    untouched = models.resnet18().eval()
    torch.randint(256, (4, 3, 300, 400), dtype=torch.uint8)
    layer = nn.Linear(512, 5).double()
    untouched.fc = nn.Identity()
    x = untouched(snippet.images).detach().double()
    parameters = [layer.weight.detach(), layer.bias.detach()]
    moments = [[torch.zeros_like(p), torch.zeros_like(p)] for p in parameters]
    for t in (1, 2, 3):
        weight, bias = parameters
        error = (x @ weight.T + bias).softmax(1) - F.one_hot(snippet.target, 5)
        gradients = error.T @ x / 4, error.mean(0)
        for p, g, m in zip(parameters, gradients, moments, strict=True):
            m[0], m[1] = 0.9 * m[0] + 0.1 * g, 0.999 * m[1] + 0.001 * g**2
            scale = (m[1] / (1 - 0.999**t)).sqrt() + 1e-8
            p -= 1e-3 * (0.01 * p + m[0] / (1 - 0.9**t) / scale)
    for p, q in zip(parameters, snippet.model.fc.parameters(), strict=True):
        torch.testing.assert_close(p, q.double(), rtol=1e-4, atol=1e-5)


def test_the_images_are_prepared_as_the_weights_expect():
    assert snippet.images.shape == (4, 3, 224, 224)
    black = snippet.preprocess(torch.zeros(3, 300, 400, dtype=torch.uint8))
    mean, std = torch.tensor([0.485, 0.456, 0.406]), torch.tensor([0.229, 0.224, 0.225])
    torch.testing.assert_close(black[:, 0, 0], -mean / std)


def test_images_without_three_channels():
    grey, with_alpha = Image.new("L", (300, 280), 90), Image.new("RGBA", (300, 280))
    with raises_as_documented(PAGE, "RuntimeError: output with shape [1, 224, 224]"):
        snippet.preprocess(grey)
    with pytest.raises(RuntimeError, match=r"tensor a \(4\) must match .* b \(3\)"):
        snippet.preprocess(with_alpha)
    prepare = v2.Compose([v2.RGB(), snippet.preprocess])
    colour = Image.new("RGB", (300, 280), (90, 90, 90))
    torch.testing.assert_close(prepare(grey), snippet.preprocess(colour))
    assert prepare(with_alpha).shape == (3, 224, 224)


def test_the_answer_trains_any_batch_and_keeps_the_backbone(images):
    """A last batch of one image, a model that somebody left in train() mode."""
    answer = recipes()["finetune-last-layer"].answer
    assert set(answer.yours) == {"model", "loader"}
    model = models.resnet18().train()
    before = copy.deepcopy(model.state_dict())
    batches = [(images, torch.tensor([0, 1, 2, 4])), (images[:1], torch.tensor([3]))]
    names = {"model": model, "loader": batches}
    exec(answer.text, names)
    del before["fc.weight"], before["fc.bias"]
    assert moved(model.cpu(), before) == set()
    assert names["epoch"] == 2


def test_no_graph_is_kept_below_the_new_layer(model, images):
    entered = []
    model.fc.register_forward_hook(lambda module, args, output: entered.append(args[0]))
    assert model(images).requires_grad
    assert not entered[0].requires_grad


def test_the_line_for_your_code_loads_weights(monkeypatch, tmp_path):
    """With the file where the page says; the download is checked only when it runs."""
    source = (ROOT / "snippets" / SNIPPET).read_text()
    line = 'model = resnet18(weights=None)  # yours: weights="DEFAULT"'
    assert line in source
    line = line.replace("weights=None", 'weights="DEFAULT"')
    folder = tmp_path / "hub" / "checkpoints"
    folder.mkdir(parents=True)
    weights = models.resnet18().state_dict()
    torch.save(weights, folder / "resnet18-f37072fd.pth")
    url = models.ResNet18_Weights.DEFAULT.url
    assert url.endswith("/resnet18-f37072fd.pth")
    monkeypatch.setenv("TORCH_HOME", str(tmp_path))
    names = {"resnet18": snippet.resnet18}
    exec(line, names)
    torch.testing.assert_close(names["model"].state_dict(), weights)
    monkeypatch.delenv("TORCH_HOME")
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert torch.hub.get_dir() == str(tmp_path / ".cache" / "torch" / "hub")


def test_in_train_mode_batchnorm_drifts_and_the_override_prevents_it(model, images):
    before = copy.deepcopy(model.state_dict())
    optimizer = torch.optim.AdamW(model.fc.parameters(), lr=0.1)
    step(model.train().eval(), optimizer, images)  # eval() after train()
    assert moved(model, before) == {"fc.weight", "fc.bias"}

    class Frozen(nn.Module):
        def __init__(self):
            super().__init__()
            self.net = model

        def train(self, mode=True):
            return super().train(False)

        def forward(self, x):
            return self.net(x)

    step(Frozen().train(), optimizer, images)
    assert moved(model, before) == {"fc.weight", "fc.bias"}
    step(model.train(), optimizer, images)
    assert "bn1.running_mean" in moved(model, before)
    assert "bn1.weight" not in moved(model, before)


def test_the_unfreezing_variant(model, images):
    optimizer = torch.optim.AdamW(model.fc.parameters(), lr=0.1)
    model.layer4.requires_grad_(True)
    before = copy.deepcopy(model.state_dict())
    step(model, optimizer, images)
    assert model.layer4[0].conv1.weight.grad is not None
    assert moved(model, before) == {"fc.weight", "fc.bias"}

    optimizer.add_param_group({"params": model.layer4.parameters(), "lr": 1e-5})
    step(model, optimizer, images)
    names = {name for name, _ in model.layer4.named_parameters(prefix="layer4")}
    assert moved(model, before) == {"fc.weight", "fc.bias"} | names


def test_ones_own_images(tmp_path):
    for name in ("cat", "dog", "emu"):
        (tmp_path / name).mkdir()
        Image.new("RGB", (300, 280)).save(tmp_path / name / "1.png")
    dataset = ImageFolder(tmp_path, transform=snippet.preprocess)
    assert len(dataset.classes) == 3
    images, target = next(iter(DataLoader(dataset, 3)))
    assert images.shape == (3, 3, 224, 224)
    assert target.tolist() == [0, 1, 2]


def test_the_last_layers_the_page_names():
    with torch.device("meta"):
        assert models.resnet50().fc.in_features == 2048
        for build in [
            models.mobilenet_v2,
            models.mobilenet_v3_small,
            models.efficientnet_b0,
            models.vgg11,
            models.convnext_tiny,
        ]:
            model = build()
            last = list(model.modules())[-1]
            assert isinstance(last, nn.Linear)
            assert model.classifier[-1] is last
        assert models.vit_b_16().heads.head.out_features == 1000
        dropout = models.efficientnet_b0().eval()
        dropout.classifier.train()
        assert dropout.classifier[0].training
        assert not dropout.features.training


def test_the_documented_errors(model, images):
    with raises_as_documented(PAGE, "ValueError: The parameter 'num_classes'"):
        models.resnet18(weights=models.ResNet18_Weights.DEFAULT, num_classes=5)
    with raises_as_documented(PAGE, "UserWarning: The parameter 'pretrained'"):
        models.resnet18(pretrained=True)
    with raises_as_documented(PAGE, "RuntimeError: addmm: mat1 and"):
        nn.Linear(512, 5)(torch.ones(2, 2048))
    model.requires_grad_(False)
    with raises_as_documented(PAGE, "RuntimeError: element 0 of"):
        model(images).sum().backward()


def test_inception_has_a_second_output_in_training():
    with torch.device("meta"):  # shapes alone: it is a large network
        model = models.inception_v3(weights=None, init_weights=False)
        model.fc = nn.Linear(model.fc.in_features, 5)
        model.AuxLogits.fc = nn.Linear(model.AuxLogits.fc.in_features, 5)
        images, y = torch.randn(2, 3, 299, 299), torch.zeros(2, dtype=torch.int64)
    logits, aux = model.train()(images)
    assert logits.shape == aux.shape == (2, 5)
    (F.cross_entropy(logits, y) + 0.4 * F.cross_entropy(aux, y)).backward()
    assert model.AuxLogits.fc.weight.grad.shape == (5, 768)
    assert model.eval()(images).shape == (2, 5)
