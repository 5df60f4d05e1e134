"""Get features from a timm model: one vector per image, or feature maps."""

import timm
import torch
from torch import nn


def embed(model: nn.Module, images: torch.Tensor) -> torch.Tensor:
    """Return what the classifier of a timm model sees.

    Args:
        model: from ``timm.create_model``, in eval mode.
        images: (N, 3, H, W), prepared as the model's weights expect.

    Returns:
        (N, F), without gradients; F depends on the model.

    Source: https://huggingface.co/docs/timm/feature_extraction
    """
    with torch.no_grad():
        x = model.forward_features(images)  # (N, C, h, w) or (N, tokens, C)
        return model.forward_head(x, pre_logits=True)


if __name__ == "__main__":
    assert "resnet18.a1_in1k" in timm.list_models("resnet*", pretrained=True)

    torch.manual_seed(0)
    images = torch.randn(2, 3, 64, 64)
    # For real work: pretrained=True, a download
    model = timm.create_model("resnet18", pretrained=False).eval()
    features = embed(model, images)  # (2, 512)
    logits = model.get_classifier()(features)  # (2, 1000)
    torch.testing.assert_close(logits, model(images))
    print("vectors", tuple(features.shape))

    # The maps of several stages, for detection or segmentation
    pyramid = timm.create_model(
        "resnet18", pretrained=False, features_only=True, out_indices=(2, 3, 4)
    ).eval()
    strides = pyramid.feature_info.reduction()
    for stride, x in zip(strides, pyramid(images), strict=True):
        assert x.shape[2:] == (64 // stride, 64 // stride)
        print("stride", stride, tuple(x.shape))
