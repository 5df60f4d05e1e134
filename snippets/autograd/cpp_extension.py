"""Write an operator in C++, and build it when the script starts."""

from pathlib import Path

import torch
from torch.utils.cpp_extension import load

source = r"""
#include <torch/csrc/stable/library.h>
#include <torch/csrc/stable/ops.h>
#include <torch/csrc/stable/tensor.h>
using torch::stable::Tensor;
Tensor decay(const Tensor& x, double a) {  // y[t] = x[t] + a * y[t - 1]
  Tensor in = torch::stable::contiguous(x), out = empty_like(in);
  const float* p = in.const_data_ptr<float>();  // another dtype: an error
  float* y = out.mutable_data_ptr<float>();
  const int64_t T = x.size(-1);
  for (int64_t i = 0; i < x.numel(); ++i)
    y[i] = p[i] + (i % T ? a * y[i - 1] : 0);
  return out;
}
STABLE_TORCH_LIBRARY(my, m) { m.def("decay(Tensor x, float a) -> Tensor"); }
STABLE_TORCH_LIBRARY_IMPL(my, CPU, m) { m.impl("decay", TORCH_BOX(&decay)); }
"""
Path("my_ops.cpp").write_text(source)  # or write the file yourself
load("my_ops", ["my_ops.cpp"], ["-O3"], is_python_module=False)
decay = torch.ops.my.decay


@torch.library.register_fake("my::decay")  # for torch.compile: the shape
def _(x, a):
    return torch.empty_like(x)


def setup_context(ctx, inputs, output):
    """Keep what the gradient needs."""
    _, ctx.a = inputs


def backward(ctx, grad):
    """Go through time from its end; one result for each input."""
    return decay(grad.flip(-1), ctx.a).flip(-1), None


torch.library.register_autograd(
    "my::decay", backward, setup_context=setup_context
)

if __name__ == "__main__":
    x = torch.tensor([[1.0, 0, 0, 2]], requires_grad=True)  # (N, T), float32
    y = decay(x, 0.5)
    y.sum().backward()
    print(y.tolist(), x.grad.tolist())
    torch.library.opcheck(decay, (x.detach(), 0.5))  # do the parts fit?
