"""test-time-augmentation: masks are turned back before the mean, in NumPy."""

import numpy as np
import torch
from torch.nn.functional import interpolate

from tests.helpers import load_snippet

snippet = load_snippet("evaluation/test_time_augmentation_masks.py")


def softmax(x, axis):
    e = np.exp(x - x.max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)


def outputs(model, x):
    with torch.no_grad():
        return model(x.clone()).double().numpy()


def test_the_mask_is_turned_back():
    x, segmenter = snippet.images, snippet.segmenter
    mirrored = torch.from_numpy(x.numpy()[:, :, :, ::-1].copy())
    first = softmax(outputs(segmenter, x), 1)
    second = softmax(outputs(segmenter, mirrored), 1)[:, :, :, ::-1]
    expected = (first + second) / 2
    np.testing.assert_allclose(snippet.probs.numpy(), expected, rtol=1e-4, atol=1e-6)
    np.testing.assert_array_equal(snippet.mask.numpy(), expected.argmax(1))


def test_eight_views_of_a_mask_each_turned_back():
    segmenter = snippet.segmenter

    def predict(x):
        total = 0
        for flip in (False, True):
            for k in range(4):
                view = (x.flip(-1) if flip else x).rot90(k, (-2, -1))
                out = segmenter(view).softmax(1).rot90(-k, (-2, -1))
                total = total + (out.flip(-1) if flip else out)
        return total / 8

    x = snippet.images.clone()
    with torch.no_grad():
        torch.testing.assert_close(predict(x.flip(-2)), predict(x).flip(-2))
        turned = predict(x.rot90(1, (-2, -1)))
        torch.testing.assert_close(turned, predict(x).rot90(1, (-2, -1)))
    views = [v.rot90(k, (-2, -1)) for v in (x, x.flip(-1)) for k in range(4)]
    assert len({tuple(v.flatten().tolist()) for v in views}) == 8


def test_another_scale_resized_back():
    def resized(x, **to):
        return interpolate(x, mode="bilinear", **to)

    x = torch.full((1, 3, 8, 8), 0.5)  # constant: resizing changes nothing
    with torch.no_grad():
        out = snippet.segmenter(resized(x, scale_factor=1.25))
        assert out.shape[-2:] == (10, 10)
        back = resized(out, size=(8, 8))[..., 2:-2, 2:-2]
        torch.testing.assert_close(back, snippet.segmenter(x)[..., 2:-2, 2:-2])
