"""compile-cold-start: compilations, counted by a backend that compiles nothing."""

import runpy

import pytest
import torch
import torch._functorch.config
import torch._inductor.config
from torch import nn
from torch._dynamo.testing import CompileCounter

from tests.helpers import ROOT, load_snippet

snippet = load_snippet("performance/compile_cold_start.py")
SINCE_2_14 = torch.__version__ >= "2.14"
# Dynamo looks at the gradient of each input, and does not mean to.
pytestmark = pytest.mark.filterwarnings("ignore:The .grad attribute")


@pytest.fixture(autouse=True)
def fresh():
    torch._dynamo.reset()
    # The default; a library that another test imports may raise it.
    with torch._dynamo.config.patch(recompile_limit=8):
        yield
    torch._dynamo.reset()


def versions(blocks, *inputs, dynamic=None, train=False):
    """How often the blocks are compiled."""
    counter = CompileCounter()
    for block in blocks:
        block.compile(backend=counter, dynamic=dynamic)
    for x in inputs:
        with torch.set_grad_enabled(train):
            for block in blocks:
                x = block(x)
    return counter.frame_count


def test_what_is_printed_counted_by_hand(capsys):
    """A block has three operations: linear, relu and the addition."""
    path = ROOT / "snippets/performance/compile_cold_start.py"
    runpy.run_path(str(path), run_name="__main__")
    out = capsys.readouterr().out
    assert out == f"operations: {12 * 3}, by blocks {3}\n"


@pytest.mark.parametrize("layers", [1, 4])
def test_the_whole_grows_with_the_layers(layers):
    model = snippet.Model(n_layer=layers)
    assert next(iter(model.state_dict())) == "blocks.0.linear.weight"
    model.compile()
    assert snippet.count(model) == 3 * layers
    assert next(iter(model.state_dict())) == "blocks.0.linear.weight"


def test_the_model_computes_what_a_loop_computes():
    model = snippet.Model(n_layer=3, n_embd=5)
    x = torch.randn(2, 5)
    expected = x.double().numpy()
    for block in model.blocks:
        weight, bias = (p.detach().double().numpy() for p in block.parameters())
        expected = expected + (expected @ weight.T + bias).clip(min=0)
    for block in model.blocks:
        block.compile(backend="eager")
    found = model(x).detach().double()
    torch.testing.assert_close(found, torch.from_numpy(expected), rtol=1e-4, atol=1e-5)


def test_blocks_share_one_version():
    blocks = snippet.Model().blocks
    assert versions(blocks, torch.ones(2, 16)) == 1


def test_in_training_the_first_block_has_its_own():
    blocks = snippet.Model().blocks
    assert versions(blocks, torch.ones(2, 16), train=True) == 2


def test_another_shape_has_its_own():
    blocks = snippet.Model().blocks
    blocks[3].linear = nn.Linear(16, 16, bias=False)
    assert versions(blocks, torch.ones(2, 16)) == 2


@pytest.mark.parametrize(("dynamic", "count"), [(None, 2), (True, 1), (False, 4)])
def test_sizes(dynamic, count):
    inputs = [torch.ones(size, 16) for size in (2, 3, 4, 5)]
    assert versions(snippet.Model().blocks, *inputs, dynamic=dynamic) == count


class Numbered(snippet.Block):
    def __init__(self, layer_idx, used):
        super().__init__(16)
        self.layer_idx, self.used = layer_idx, used

    def forward(self, x):
        return super().forward(x) * (self.layer_idx if self.used else 1)


@pytest.mark.parametrize(("used", "count"), [(True, 8), (False, 1)])
def test_a_number_in_the_block(used, count):
    blocks = [Numbered(number, used) for number in range(12)]
    assert versions(blocks, torch.ones(2, 16)) == count


@pytest.mark.parametrize("own", [False, True])
def test_modules_of_torch_before_2_14(own):
    class Own(nn.Module):
        def __init__(self, block):
            super().__init__()
            self.block = block

        def forward(self, x):
            return self.block(x)

    for make in (
        lambda: nn.Sequential(nn.Linear(16, 16), nn.ReLU()),
        lambda: nn.TransformerEncoderLayer(16, 2, 32, 0.0, batch_first=True),
    ):
        torch._dynamo.reset()
        blocks = [Own(make()) if own else make() for _ in range(3)]
        count = versions(blocks, torch.ones(2, 3, 16))
        assert count == (1 if SINCE_2_14 or own else 0)


def test_the_caches_that_are_on():
    """Unless the environment, or a test before, has switched them off."""
    default = torch._inductor.config._config["fx_graph_cache"].default
    assert default in (None, True)
    assert torch._inductor.config.fx_graph_cache
    assert torch._functorch.config.enable_autograd_cache
    assert not torch._dynamo.config.caching_precompile


def test_the_folder(monkeypatch, tmp_path):
    from torch._inductor.runtime.cache_dir_utils import cache_dir, default_cache_dir

    assert "torchinductor_" in default_cache_dir()
    monkeypatch.setenv("TORCHINDUCTOR_CACHE_DIR", str(tmp_path / "mine"))
    assert cache_dir() == str(tmp_path / "mine")
    assert (tmp_path / "mine").is_dir()


def test_artifacts_survive_the_way_to_another_process(monkeypatch):
    """One cache entry of our own, instead of a compilation of seconds."""
    from torch.compiler import _cache

    monkeypatch.setattr(_cache.CacheArtifactFactory, "_artifact_types", {})
    loaded = {}

    @_cache.CacheArtifactFactory.register
    class Entry(_cache.CacheArtifact):
        def populate_cache(self):
            loaded[self.key] = self.content

        @staticmethod
        def type():
            return "inductor"

    with _cache.CacheArtifactManager.with_fresh_cache():
        assert torch.compiler.save_cache_artifacts() is None
        _cache.CacheArtifactManager.record_artifact("inductor", "key", b"code")
        data, info = torch.compiler.save_cache_artifacts()
    assert info.inductor_artifacts == ["key"]
    with _cache.CacheArtifactManager.with_fresh_cache():
        assert torch.compiler.load_cache_artifacts(data).inductor_artifacts == ["key"]
    assert loaded == {"key": b"code"}
