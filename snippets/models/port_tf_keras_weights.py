"""Copy the weights of a Keras model into a PyTorch model, layer by layer."""

from types import SimpleNamespace as Layer  # stands in for a Keras layer

import numpy as np
import torch
from torch import nn


def copy_keras(layer, keras_layer):
    """Copy a Dense, Conv, DepthwiseConv2D, Embedding or norm layer."""
    arrays = [torch.from_numpy(array) for array in keras_layer.get_weights()]
    if arrays[0].ndim > 1 and not isinstance(layer, nn.Embedding):
        # Keras: (height, width, in, out). PyTorch: (out, in, height, width)
        spatial = range(arrays[0].ndim - 2)
        arrays[0] = arrays[0].permute(-1, -2, *spatial)
    if hasattr(keras_layer, "depth_multiplier"):  # DepthwiseConv2D
        arrays[0] = arrays[0].transpose(0, 1).flatten(0, 1).unsqueeze(1)
    names = ["weight", "bias", "running_mean", "running_var"]
    layer.load_state_dict(dict(zip(names, arrays, strict=False)))
    if hasattr(keras_layer, "epsilon"):  # the defaults differ
        layer.eps = keras_layer.epsilon


if __name__ == "__main__":
    rng = np.random.default_rng(0)
    shapes = [(3, 3, 3, 2), (6,)], [(6,)] * 4, [(6, 5), (5,)]
    conv, norm, dense = [[rng.random(s, "float32") for s in g] for g in shapes]
    keras_model = Layer(  # yours: a keras.Model
        layers=[
            Layer(get_weights=lambda: conv, depth_multiplier=2),
            Layer(get_weights=lambda: norm, epsilon=1e-3),
            Layer(get_weights=list),  # Flatten
            Layer(get_weights=lambda: dense),
        ]
    )
    parts = nn.Conv2d(3, 6, 3, groups=3), nn.BatchNorm2d(6)  # depthwise
    model = nn.Sequential(*parts, nn.Flatten(), nn.Linear(6, 5))

    layers = [m for m in model.modules() if [*m.parameters(recurse=False)]]
    keras_layers = [k for k in keras_model.layers if k.get_weights()]
    for layer, keras_layer in zip(layers, keras_layers, strict=True):
        copy_keras(layer, keras_layer)

    print(model.eval()(torch.ones(1, 3, 3, 3)).shape, model[1].eps)
