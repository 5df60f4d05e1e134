"""imbalanced-sampler: weights against scikit-learn, draws against chi-square."""

import numpy as np
import pytest
import torch
from scipy import stats
from sklearn.utils.class_weight import compute_sample_weight
from torch.utils.data import DataLoader, WeightedRandomSampler

from tests.helpers import load_snippet, raises_as_documented

balanced_sampler = load_snippet("data/imbalanced_sampler.py").balanced_sampler
PAGE = "data/imbalanced-sampler"
TARGET = torch.tensor([0] * 60 + [2] * 30 + [1] * 9 + [5])  # 3 and 4 are absent


def test_weights_are_scikit_learns_up_to_a_factor():
    weights = balanced_sampler(TARGET).weights
    expected = torch.from_numpy(compute_sample_weight("balanced", TARGET))
    ratio = expected / weights
    torch.testing.assert_close(ratio, ratio[:1].expand(100), rtol=1e-12, atol=0)


def test_the_weights_of_a_class_add_up_to_one():
    weights = balanced_sampler(TARGET).weights
    assert weights.dtype == torch.float64
    for c in TARGET.unique():
        total = weights[c == TARGET].sum()
        assert total.item() == pytest.approx(1, rel=1e-12)


def test_every_class_is_drawn_equally_often():
    generator = torch.Generator().manual_seed(0)
    sampler = balanced_sampler(TARGET, generator)
    drawn = torch.tensor([index for _ in range(40) for index in sampler])
    assert len(drawn) == 40 * len(TARGET)
    classes = torch.bincount(TARGET[drawn])
    assert stats.chisquare(classes[classes > 0]).pvalue > 0.01
    assert torch.equal(classes > 0, torch.bincount(TARGET) > 0)
    within = torch.bincount(drawn, minlength=100)[:60]  # no sample preferred
    assert stats.chisquare(within).pvalue > 0.01


def test_an_epoch_is_n_draws_with_replacement():
    sampler = balanced_sampler(TARGET)
    assert len(sampler) == len(list(sampler)) == 100
    assert sampler.replacement
    indices = list(balanced_sampler(TARGET, torch.Generator().manual_seed(0)))
    assert indices.count(99) > 1  # the only sample of class 5
    assert len(set(indices)) < 100


def test_the_generator_makes_draws_repeatable():
    def draws(seed):
        return list(balanced_sampler(TARGET, torch.Generator().manual_seed(seed)))

    torch.manual_seed(0)
    first = draws(0)
    assert first == draws(0)
    assert first != draws(1)
    torch.manual_seed(0)
    default = list(balanced_sampler(TARGET))
    torch.manual_seed(0)
    assert default == list(balanced_sampler(TARGET))
    assert default != list(balanced_sampler(TARGET))


def test_a_generator_of_the_loader_does_not_reach_the_sampler():
    def order():
        generator = torch.Generator().manual_seed(0)
        sampler = balanced_sampler(TARGET)
        return list(DataLoader(range(100), None, sampler=sampler, generator=generator))

    assert order() != order()


@pytest.mark.parametrize("dtype", [torch.uint8, torch.int32])
def test_small_integer_labels(dtype):
    sampler = balanced_sampler(torch.tensor([1, 0, 1, 1]).to(dtype))
    assert sampler.weights.tolist() == pytest.approx([1 / 3, 1, 1 / 3, 1 / 3])


def test_one_class_and_one_sample():
    assert balanced_sampler(torch.tensor([7, 7])).weights.tolist() == [0.5, 0.5]
    assert list(balanced_sampler(torch.tensor([3]))) == [0]


def test_bad_labels_are_refused():
    with raises_as_documented(PAGE):
        balanced_sampler(torch.tensor([0, -1]))
    with raises_as_documented(PAGE):
        balanced_sampler(torch.eye(3, dtype=torch.int64))
    with raises_as_documented(PAGE):
        balanced_sampler(torch.tensor([0.0, 1.0]))
    with pytest.raises(ValueError, match="positive integer"):
        balanced_sampler(torch.tensor([], dtype=torch.int64))


def test_the_other_documented_errors():
    sampler = balanced_sampler(TARGET)
    with raises_as_documented(PAGE):
        DataLoader(range(100), sampler=sampler, shuffle=True)
    with raises_as_documented(PAGE):
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


def test_the_milder_variant_lies_between():
    count = torch.bincount(TARGET)
    mild = count[TARGET] ** -0.5
    share = torch.bincount(TARGET, mild) / mild.sum()
    assert 1 / 100 < share[5] < 1 / 4
    assert 1 / 4 < share[0] < 60 / 100
