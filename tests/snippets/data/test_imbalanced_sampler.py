"""imbalanced-sampler: weights against scikit-learn, draws against chi-square."""

import numpy as np
import pytest
import torch
from scipy import stats
from sklearn.utils.class_weight import compute_sample_weight
from torch import nn
from torch.utils.data import DataLoader, Subset, TensorDataset, WeightedRandomSampler

from tests.chains.pasted import answer
from tests.helpers import ROOT, load_snippet, raises_as_documented

SNIPPET = "data/imbalanced_sampler.py"
PAGE = "data/imbalanced-sampler"
snippet = load_snippet(SNIPPET)
TARGET = torch.tensor([0] * 60 + [2] * 30 + [1] * 9 + [4])  # 3 is absent


def on(target: torch.Tensor) -> dict:
    """The variables of the snippet, run on these labels."""
    source = (ROOT / "snippets" / SNIPPET).read_text("utf-8")
    line = next(text for text in source.splitlines() if text.startswith("target ="))
    source = source.replace(line, "target = given").replace("1000", "len(target)")
    names = {"given": target}
    exec(source, names)
    return names


@pytest.mark.parametrize("target", [snippet.target, TARGET], ids=["its own", "ours"])
def test_weights_are_scikit_learns_up_to_a_factor(target):
    weights = on(target)["sampler"].weights
    expected = torch.from_numpy(compute_sample_weight("balanced", target))
    ratio = expected / weights
    torch.testing.assert_close(ratio, ratio[:1].expand(len(target)))
    for c in target.unique():
        assert weights[c == target].sum().item() == pytest.approx(1)


def test_the_loader_draws_an_epoch_with_replacement():
    assert len(snippet.sampler) == len(snippet.drawn) == 1000
    assert snippet.sampler.replacement
    assert snippet.loader.sampler is snippet.sampler
    assert [len(y) for _, y in snippet.loader] == [32] * 31 + [8]
    drawn = list(on(TARGET)["sampler"])
    assert len(drawn) == 100
    assert drawn.count(99) > 1  # the only sample of class 4
    assert len(set(drawn)) < 100


def test_every_class_is_drawn_equally_often():
    torch.manual_seed(0)
    sampler = on(TARGET)["sampler"]
    drawn = torch.tensor([index for _ in range(40) for index in sampler])
    classes = torch.bincount(TARGET[drawn])
    assert stats.chisquare(classes[classes > 0]).pvalue > 0.01
    assert torch.equal(classes > 0, torch.bincount(TARGET) > 0)
    within = torch.bincount(drawn, minlength=100)[:60]  # no sample preferred
    assert stats.chisquare(within).pvalue > 0.01
    own = torch.bincount(snippet.drawn)
    assert stats.chisquare(own).pvalue > 0.01


def test_the_answer_alone_on_a_subset():
    """Labels of 1 and 4 only, in an odd number; as many draws as samples."""
    whole = TensorDataset(torch.arange(40), torch.tensor([1] * 30 + [4] * 10))
    dataset = Subset(whole, range(0, 40, 3))  # 10 and 4
    names = {"dataset": dataset, "target": torch.tensor([y for _, y in dataset])}
    exec(answer("imbalanced-sampler"), names)
    torch.manual_seed(0)
    drawn = torch.cat([y for _ in range(50) for _, y in names["loader"]])
    assert len(drawn) == 50 * 14
    assert stats.chisquare(torch.bincount(drawn)[[1, 4]]).pvalue > 0.01


@pytest.mark.parametrize("dtype", [None, "int32", "uint8", "float32"])
def test_labels_of_any_kind(dtype):
    """A list, as of ImageFolder, and arrays."""
    labels = [2, 0, 2, 2]
    given = labels if dtype is None else np.array(labels, dtype=dtype)
    names = {"target": given, "dataset": range(4)}
    exec(answer("imbalanced-sampler"), names)
    expected = compute_sample_weight("balanced", labels) * 2 / 4  # 1 / count
    np.testing.assert_allclose(names["sampler"].weights, expected, rtol=1e-6)


def test_one_class_and_one_sample():
    assert on(torch.tensor([2, 2]))["sampler"].weights.tolist() == [0.5, 0.5]
    assert list(on(torch.tensor([3]))["sampler"]) == [0]


def test_bad_labels_are_refused():
    with raises_as_documented(PAGE, "RuntimeError: bincount only supports"):
        on(torch.tensor([0, -1]))
    with raises_as_documented(PAGE, "RuntimeError: bincount only supports"):
        on(torch.eye(3, dtype=torch.int64))
    with raises_as_documented(PAGE, 'NotImplementedError: "bincount_cpu" not'):
        torch.bincount(torch.tensor([0.0, 1.0]))
    with (
        raises_as_documented(PAGE, "IndexError: The shape of"),
        pytest.warns(UserWarning, match="uint8"),
    ):
        torch.tensor([2, 1, 1])[torch.tensor([0, 1, 2, 0], dtype=torch.uint8)]


def test_the_other_documented_errors():
    with raises_as_documented(PAGE, "ValueError: sampler option is"):
        DataLoader(range(1000), sampler=snippet.sampler, shuffle=True)
    with raises_as_documented(PAGE, "RuntimeError: number of categories"):
        list(WeightedRandomSampler(torch.ones(2**24 + 1), 1))


def test_class_weights_in_place_of_sample_weights():
    sampler = WeightedRandomSampler(torch.tensor([0.1, 0.9]), 200)
    assert set(sampler) == {0, 1}
    assert len(sampler.weights) != 200


def test_log_priors_restore_the_probabilities_of_the_data():
    count = torch.tensor([900.0, 90.0, 10.0], dtype=torch.float64)
    rng = np.random.default_rng(0)
    likelihood = torch.from_numpy(rng.dirichlet(np.ones(4), size=3))  # p(x|y), 4 x's
    joint = likelihood * (count / count.sum())[:, None]
    natural = (joint / joint.sum(0)).T  # Bayes, (x, y)
    balanced = (likelihood / likelihood.sum(0)).T  # what balanced training fits
    corrected = (balanced.log() + torch.log(count / count.sum())).softmax(1)
    torch.testing.assert_close(corrected, natural)
    # Class weights fit the same: the weighted cross entropy is least there.
    weighted = joint * (count.sum() / (3 * count))[:, None]
    torch.testing.assert_close((weighted / weighted.sum(0)).T, balanced)


@pytest.mark.filterwarnings("error")  # torch.tensor warns of a tensor, MNIST's
@pytest.mark.parametrize("kind", [list, torch.tensor], ids=["a list", "a tensor"])
def test_labels_of_a_dataset_and_of_a_subset(kind):
    dataset = TensorDataset(torch.arange(4), torch.tensor([0, 0, 1, 2]))
    dataset.targets = kind([0, 0, 1, 2])
    subset = Subset(dataset, [3, 0, 2])
    target = torch.as_tensor(subset.dataset.targets)[subset.indices]
    assert target.tolist() == [y.item() for _, y in subset] == [2, 0, 1]
    assert torch.equal(target, torch.tensor([int(y) for _, y in subset]))


def test_the_milder_variant_lies_between():
    count = torch.bincount(TARGET)
    mild = count[TARGET] ** -0.5
    share = torch.bincount(TARGET, mild) / mild.sum()
    assert 1 / 100 < share[4] < 1 / 4
    assert 1 / 4 < share[0] < 60 / 100


def test_the_generator_belongs_to_the_sampler():
    def order(**options):
        sampler = WeightedRandomSampler(snippet.weight, 100, **options)
        return list(sampler)

    def seeded(seed):
        return torch.Generator().manual_seed(seed)

    assert order(generator=seeded(0)) == order(generator=seeded(0))
    assert order(generator=seeded(0)) != order(generator=seeded(1))

    def through_the_loader():
        sampler = WeightedRandomSampler(snippet.weight, 100)
        return list(DataLoader(range(1000), None, sampler=sampler, generator=seeded(0)))

    assert through_the_loader() != through_the_loader()


def test_a_positive_weight_for_one_logit():
    logit, y = torch.tensor([0.3, -1.0, 2.0]), torch.tensor([1.0, 0.0, 0.0])
    loss = nn.BCEWithLogitsLoss(pos_weight=torch.tensor(2.0), reduction="none")
    p = logit.sigmoid()
    expected = torch.stack([-2 * p[0].log(), -(1 - p[1]).log(), -(1 - p[2]).log()])
    torch.testing.assert_close(loss(logit, y), expected)
