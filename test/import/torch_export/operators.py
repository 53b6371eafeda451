"""Exports functions that use the rows of operators.def, and compares each result with PyTorch's. Needs the package torch.

Usage: operators.py TILE_RUN FOLDER [--target=cpu] [--decompose] [NAME ...]    --decompose: after run_decompositions()
"""
import argparse
import os
import subprocess
import warnings

import numpy as np
import torch
from torch.nn import functional as F

warnings.filterwarnings("ignore")
torch.manual_seed(1)
x, y, v = torch.randn(3, 4, 5), torch.randn(3, 4, 5) + 0.1, torch.randn(4)
i, j = torch.randint(-5, 6, (3, 4)), torch.randint(1, 5, (3, 4))
A = torch.ops.aten
b, img = x > 0, torch.randn(2, 4, 9, 8)


def arithmetic(x, y):
    return (torch.atan2(x, y), torch.fmod(x, y), torch.fmod(x, 0.4), torch.copysign(x, y), torch.copysign(x, -1.0),
            torch.fmax(x, torch.where(y > 0, y, float("nan"))), torch.fmin(torch.where(y > 0, y, float("nan")), x),
            x + y, x - y * 2, torch.sub(x, y, alpha=3), torch.rsub(x, y, alpha=2), x * y, x / y, x + 1, 2 - x)


def integers(i, j):
    return (i + j, i // j, i % j, i / j, torch.div(i, j, rounding_mode="trunc"), i * 2.5, i > j, i == j, i != 0, -i, i.abs(),
            i & j, i | j, i ^ j, ~i, i.float().remainder(j), torch.fmod(i, j), torch.fmax(i, j), torch.fmin(i, j), torch.atan2(i, j))


def unary(x):
    return (x.exp(), x.abs().log(), x.abs().sqrt(), x.abs().rsqrt(), x.sin(), x.cos(), x.tanh(), x.sigmoid(), x.erf(), x.floor(),
            x.ceil(), x.round(), x.trunc(), x.sign(), x.reciprocal(), x.square(), x.neg(), x.expm1(), x.abs().log1p(),
            x.abs().log2(), x.atan(), torch.isnan(x), x.logical_not())


def activations(x):
    return (F.relu(x), F.gelu(x), F.gelu(x, approximate="tanh"), F.silu(x), F.elu(x), F.leaky_relu(x, 0.2), F.hardtanh(x),
            F.relu6(x * 4), F.hardswish(x), F.hardsigmoid(x), F.softplus(x), F.mish(x), x.clamp(-0.5, 0.5), x.clamp(min=0.1),
            x.clamp_max(0.2))


def choices(x, y, b):
    return (torch.where(b, x, y), x.masked_fill(b, float("-inf")), x.masked_fill(b, 2), b & (y > 0), b | (y > 0),
            b.logical_xor(y > 0), b.sign(), torch.maximum(x, y), torch.minimum(x, y), x.pow(3), x.abs().pow(0.5), x.abs()**y, 2.0**x)


def reductions(x, b):
    return (x.sum(), x.sum(1), x.sum((0, 2), keepdim=True), x.mean(-1), x.amax(1), x.amin((0, 1)), x.max(), x.max(1)[0],
            x.max(1)[1], x.min(-1)[0], x.argmax(), x.argmax(1), x.argmin(2, keepdim=True), x.var(1), x.std(),
            x.var(1, unbiased=False), x.prod(2), b.any(), b.all(1), b.sum(1), x.logsumexp(1), x.cumsum(1), x.softmax(-1),
            x.log_softmax(1), x.topk(2)[0], x.topk(2, 1, largest=False)[1], x.norm(dim=1), torch.linalg.vector_norm(x, 1, (0, 2)))


def shapes(x):
    return (x.view(12, 5), x.reshape(-1, 10), x.flatten(1), x.transpose(0, 2), x.permute(1, 2, 0), x.unsqueeze(1),
            x[:, :1].squeeze(1), x.expand(2, 3, 4, 5), x[:, 1:3], x[..., ::2], x[1], x[-1], torch.cat([x, x], 1),
            torch.stack([x, x], 2), x.split(2, 1)[1], x.chunk(3)[2], x.unbind(1)[2], x.repeat(2, 1, 1), x.flip(0), x.tril(),
            x.triu(1), F.pad(x, (1, 2, 0, 1)), x.narrow(2, 1, 3), x.split([1, 3], 1)[1], x.unflatten(2, (5, 1)),
            F.pad(x, (1, 1), mode="reflect"))


def places(x, j):
    return (x[:, torch.tensor([0, 2])], x[torch.tensor([2, 0])], x[torch.tensor([0, 1]), torch.tensor([3, 2])],
            x.index_select(1, torch.tensor([1, 1])), x.gather(2, j.unsqueeze(2) % 5), F.embedding(j - 1, x[0]),
            torch.zeros(4, 5).scatter_add(0, j[:, :1].expand(3, 5) % 4, x[:, 0]),
            torch.ones(4, 5, dtype=torch.bool).scatter_add(0, j[:, :1].expand(3, 5) % 4, x[:, 0] > -9))


def writes(x, j):
    k, three = j[:, :1].expand(3, 5) % 4, torch.tensor([2, 0, 1])
    middle, apart = x.clone(), x.clone()
    middle[:, three, three + 1] = x[:, :3, 0] * 3
    apart[three, :, three] = x[:, :, 0]
    return (torch.zeros(4, 5).scatter(0, k, 1.5), torch.zeros(4, 5).scatter(0, k[:2, :3], x[:, 0]), x[0].scatter_reduce(0, k, x[:, 0], "amax"),
            x[0].scatter_reduce(0, k, x[:, 0], "prod", include_self=False), x[0].scatter_reduce(0, k, x[:, 0], "amin", include_self=False),
            x.index_put((three, ), x[0]), x.index_put((three, three), x[:, 0] * 2, accumulate=True), middle, apart, x.select_scatter(x[:, 0] * 2, 1, -1),
            x[:, three, three + 1], x[three, :, three], x[:, three[:2].unsqueeze(1), three])


def orders(x, m):
    grid = torch.stack([x[:2, :, 0], x[:2, :, 1]], -1).unsqueeze(1)
    return (*x.sort(), *x.sort(1, descending=True), x.argsort(0), torch.msort(x), x.cumprod(1), *torch.var_mean(x, 1), *torch.var_mean(x, (0, 2), keepdim=True),
            x.diagonal(), x.diagonal(1, 1, 2), x.diagonal(-2, 2, 0), F.selu(x), F.grid_sample(m, grid, align_corners=False),
            F.grid_sample(m, grid, "nearest", "border", align_corners=False), F.grid_sample(m, grid, padding_mode="reflection", align_corners=True),
            F.fold(m.reshape(2, 4, 72), (10, 9), (2, 2), (1, 1)))


def ranked(x, i):
    holes = torch.where(x > 1, float("nan"), x)
    return (*x.kthvalue(2, 1), *holes.median(1), holes.median(), *holes.nanmedian(2, keepdim=True), x.nanmedian(), *i.median(0), i.mode(1)[0],
            *holes.cummax(1), *x.cummin(2), *i.cummin(0), *(i > 0).cummax(1), torch.searchsorted(x.sort(2)[0], x),
            torch.searchsorted(x[0, 0].sort()[0], holes, right=True), torch.bucketize(i, torch.tensor([-2, 0, 3]), right=True),
            *(x > 0).max(1), *(x > 0).min(2), *x.max(2), holes.argmax(1), holes.max(1)[1], holes.argmin(2))


def parts(x, i):
    mask, written = x > 0, x.clone()
    written[mask] = 7.0
    return (x.slice_scatter(x[:, 1:3] * 2, 1, 1, 3), x.slice_scatter(x[:, :, ::2] * 2, 2, 0, 9, 2), x[0].diagonal_scatter(x[1, :3, 0], -1), *torch.frexp(x * 1000),
            torch.signbit(x), torch.angle(x), torch.round(x, decimals=2), torch.round(x * 1000, decimals=-2), torch.dist(x, x.flip(0), 3), x.norm(float("inf"), 1),
            x.norm(0, 2), torch.linalg.vector_norm(x, 2.5, (0, 2)), torch.linalg.vector_norm(x, float("-inf"), 1), i << 3, i >> torch.tensor([1, 2, 70, 0]),
            torch.maximum(mask, x > 1), torch.fmin(mask, x > 1), mask.clamp(min=x > 1), x.clamp(min=x.flip(0), max=x + 1), i.clamp_max(i.flip(1)),
            torch.view_copy(x, (60, )), torch.permute_copy(x, (2, 0, 1)), written)


def taken(x, i, j):
    three = torch.tensor([2, 0, 2])
    return (torch.take(x, j + 3), x.take(-j), x.put(j, i.float()[:3] * 1.5), x.clone().put(j % 3, i.float(), accumulate=True), torch.tril_indices(4, 5, -1),
            torch.triu_indices(3, 6, 2), x.unfold(1, 2, 1), x.unfold(2, 3, 2), torch.unfold_copy(x, 0, 2, 1), x.index_reduce(0, three, x * 2, "amax"),
            x.index_reduce(1, three, x[:, :3], "prod", include_self=False), x[0, 0, 0].argmax(0), x[0, 0, 0].index_select(0, torch.tensor([0])))


def counted(x):  # as many results as there are
    return x[x > 0], x.masked_select(x.abs() < 1), torch.nonzero(x > 0.5), x[0][:, torch.tensor([True, False, True, True, False])]


def statistics(m, g, x):
    training = torch.ops.aten._native_batch_norm_legit_functional(m, g, g, g, g.abs() + 1, True, 0.1, 1e-5)
    running = torch.ops.aten._native_batch_norm_legit_functional(m, None, g, g, g.abs() + 1, False, 0.1, 1e-5)
    return (*training, *running, *torch.native_layer_norm(x, (4, 5), None, None, 1e-5), *torch.native_group_norm(m, g, g, 2, 4, 72, 2, 1e-5),
            *torch.ops.aten._native_batch_norm_legit.no_stats(m, g, None, True, 0.1, 1e-3))


def pools(m, x):
    volume = m.reshape(2, 2, 2, 9, 8)
    return (*F.adaptive_max_pool2d(m, (4, 3), return_indices=True), F.adaptive_avg_pool2d(m, (4, 3)), F.adaptive_avg_pool2d(m[0], (3, 4)), F.adaptive_avg_pool1d(m[0], 5),
            F.adaptive_avg_pool3d(volume, (1, 4, 3)), F.adaptive_max_pool3d(volume, (2, 4, 5)), *F.max_pool2d(m, 3, 2, 1, return_indices=True),
            F.max_pool3d(volume, (2, 3, 2), (1, 2, 2)), F.avg_pool3d(volume, (1, 2, 3)), F.avg_pool2d(m, 3, 2, 1, divisor_override=5), F.max_pool1d(x, 2), F.avg_pool1d(x[0], 2),
            F.conv1d(x, x[:, :, :2]), F.conv1d(x[0], x[:, :, :2]), F.conv1d((x * 9).long(), (x[:, :, :2] * 9).long()))


def without_gradients(x, y):
    more = x + 1
    with torch.no_grad():
        product = more * y
        sums = product.sum(0)
        product.add_(1)
    return product * 2, sums + more[0]


def tensors(x):
    return (torch.arange(5), torch.arange(2, 9, 2), torch.arange(0, 1, 0.25), torch.zeros(2, 3), torch.ones(2, dtype=torch.int32),
            torch.full((2, 2), 3.5), torch.full((2, ), 6, dtype=torch.bool), torch.zeros_like(x), x.new_ones(2), torch.full_like(x, 2) + x, x.to(torch.float16),
            x.to(torch.int64), x.double())


def products(x, y, v):
    return (x @ y.transpose(1, 2), torch.bmm(x, y.transpose(1, 2)), x[0] @ y[0].t(), torch.einsum("bij,bkj->bik", x, y),
            torch.addmm(v[:3].unsqueeze(0)[:, :1], x[0], y[0].t()), x[0].t() @ v, F.linear(x, y[0]),
            torch.baddbmm(x[:, :, :1], x, y.transpose(1, 2), beta=0.5, alpha=2), torch.addbmm(x[0, :, :4] * 1, x, y.transpose(1, 2), alpha=2),
            torch.addmv(v, x[0], y[0, 0], beta=0), F.bilinear(x, y, torch.stack([x[0].t() @ x[0], x[1].t() @ x[0]]), v[:2]), torch.cdist(x, y[:, :3]), torch.cdist(x, y, 1.5),
            torch.cdist(x, y, float("inf")))


def windows(m, w, w1, wt):
    return (F.conv2d(m, w, padding=1), F.conv2d(m, w, stride=2, dilation=2, padding=2), F.conv2d(m, w1, groups=4),
            F.conv2d(m, w, padding="same"), F.conv_transpose2d(m, wt, stride=2),
            F.conv_transpose2d(m, wt, stride=3, padding=1, output_padding=1), F.max_pool2d(m, 3, 2, 1), F.avg_pool2d(m, 2),
            F.avg_pool2d(m, 3, 2, 1, count_include_pad=False), F.adaptive_avg_pool2d(m, 1), F.adaptive_avg_pool2d(m, (3, 4)),
            F.max_pool2d(m, 2, ceil_mode=True), F.pixel_shuffle(m, 2), F.interpolate(m, scale_factor=2),
            F.interpolate(m, size=(5, 7)), F.interpolate(m, scale_factor=1.5, mode="bilinear"),
            F.interpolate(m, size=(11, 13), mode="bilinear", align_corners=True),
            F.interpolate(m, scale_factor=(1.7, 0.6), mode="bilinear", align_corners=True), F.conv1d(m[:, :, 0], w[:, :, 0]))


def norms(m, g, x):
    return (F.batch_norm(m, g, g.abs() + 1, g, g), F.layer_norm(m, (8,)), F.group_norm(m, 2, g, g), F.layer_norm(x, (4, 5)),
            F.rms_norm(x, (5,)), F.batch_norm(m, g, g.abs()))


def attention(q, k, m):
    return (F.scaled_dot_product_attention(q, k, k), F.scaled_dot_product_attention(q, q, q, is_causal=True),
            F.scaled_dot_product_attention(q, k, k, attn_mask=m),
            F.scaled_dot_product_attention(q, k, k, attn_mask=m.float(), scale=0.3))


def in_place(x, y):
    return (x * 1).add_(y).relu_().mul_(2), x.clone().fill_(3), x.clone().copy_(y[0])


def functions(x):
    inside = x.clamp(-0.9, 0.9)
    return (inside.acos(), (x.abs() + 1).acosh(), inside.asin(), x.asinh(), inside.atanh(), x.cosh(), x.erfc(), x.exp2(), x.abs().log10(), x.sinh(), x.tan(),
            A.clamp_min(x, 0.25), torch.clamp_min(x, x.flip(0)), (1 / x.round()).isinf())


def overloads(x, y, i, j):
    b = x > 0
    return (A.sub.Scalar(x, 2), A.div.Scalar(x, 2), A.div.Scalar_mode(x, 0.7, rounding_mode="floor"), A.floor_divide.Scalar(i, 2), A.ne.Tensor(i, j), A.lt.Tensor(x, y),
            A.le.Tensor(x, y), A.ge.Tensor(x, y), A.logical_or(b, y > 0), A.bitwise_and.Scalar(i, 3), A.bitwise_or.Scalar(i, 3), A.bitwise_xor.Scalar(i, 3),
            A.__and__.Scalar(i, 6), A.__or__.Scalar(i, 6), A.__xor__.Scalar(i, 6), A.__lshift__.Tensor(i, j), A.__rshift__.Scalar(i, 1),
            A.bitwise_left_shift.Tensor(i, j), A.bitwise_left_shift.Tensor_Scalar(i, 2), A.bitwise_left_shift.Scalar_Tensor(5, j), A.bitwise_right_shift.Tensor(i, j),
            A.bitwise_right_shift.Tensor_Scalar(i, 2), A.bitwise_right_shift.Scalar_Tensor(-50, j), A.where.Scalar(b, 2, 3), A.masked_fill.Tensor(x, b, torch.tensor(0.5)),
            x.mean(), x.prod(), x.min(), b.all(), A.any.dims(b, [0, 1]), A.all.dims(b, [1, 2]), A.norm.ScalarOpt_dim(x, 1, [1]),
            A.norm.ScalarOpt_dim_dtype(x, 2, [1], True, dtype=torch.float64), A.norm.Scalar(x, 3), A.std.dim(x, [1]), A.alias(x), x.transpose(0, 1).contiguous(),
            F.dropout(x, 0.5, False), A.to.dtype_layout(x, dtype=torch.float16), x.to("cpu", torch.float64), A.to.other(x, i), x.type_as(i), x.clone().zero_(),
            A._unsafe_view(x, [12, 5]), x[:, :1, :1].squeeze(), x[0, 0].expand_as(x))


def made(x, i):
    three = (i % 3).unsqueeze(2)
    return (torch.arange(2, 9), torch.empty(2, 0), x.new_zeros(2, 3), x.new_empty(0, 3), x.new_full((2, ), 4), torch.empty_like(x[:0]), torch.ones_like(x),
            A.scatter.reduce(x, 0, three, x * 2, reduce="add"), A.scatter.value_reduce(x, 1, three[:, :2], 2.0, reduce="multiply"), *torch.sort(i, stable=True),
            A.argsort.stable(i, stable=True, dim=0, descending=True), A.searchsorted.Scalar(x[0, 0].sort()[0], 0.1), torch.mv(x[0], x[1, 0]), torch.dot(x[0, 0], x[1, 1]),
            torch.nonzero(x > 0.3, as_tuple=True)[1])


def more_windows(m, x, w):
    volume = m.reshape(2, 2, 2, 9, 8)
    grid = torch.stack([volume[:, 0, :, :4, :5], volume[:, 1, :, :4, :5], volume[:, 0, :, 4:8, :5]], -1)
    return (F.conv3d(volume, w), A.conv3d.padding(volume, w, padding="same"), F.conv1d(x, x[:, :, :3], padding="same"),
            F.conv_transpose1d(x, x[:3, :, :2].transpose(0, 1)), F.conv_transpose3d(volume, w.transpose(0, 1)), *F.max_pool1d(x, 2, return_indices=True),
            *F.adaptive_max_pool1d(x, 3, return_indices=True), F.grid_sample(volume, grid, align_corners=True),
            *A._batch_norm_with_update_functional(x, x[0, :, 0], x[1, :, 0], x[0, :, 1], x[0, :, 2].abs() + 1, 0.2, 1e-3)[:3])


def specials(x, y, i, j, img):
    small = x.clamp(-0.9, 0.9)
    special = torch.special
    at = A.max_pool2d_with_indices(img, [3, 2], [2, 2], [1, 0])[1]
    return (torch.lgamma(y * 3), torch.digamma(x * 3), torch.erfinv(small), torch.i0(x * 5), special.i0e(x * 5), special.i1(x * 5),
            special.i1e(x * 5), torch.polygamma(0, x), torch.polygamma(1, x * 12), torch.polygamma(4, x * 3), torch.mvlgamma(x.abs() + 2, 3),
            torch.nextafter(x, y), special.zeta(x.abs() + 1.5, y.abs() + 0.1), torch.gcd(i * 6, j * 4), torch.lcm(i, j), x.mT,
            F.rrelu(x, 0.1, 0.5), F.avg_pool2d(img, [3, 2], 2, [1, 0], ceil_mode=True, divisor_override=5),
            A.max_pool2d_with_indices_backward(A.max_pool2d(img, [3, 2], [2, 2], [1, 0]), img, [3, 2], [2, 2], [1, 0], [1, 1], False, at))


def differing(x, i, y):
    where, few = torch.tensor([2, 0, 2]), i.flatten()
    columns = torch.tensor([[0, 3, 3, 1], [1, 1, 2, 2], [3, 0, 0, 0]])
    runs = few.clamp(-1, 1).repeat_interleave(2)
    return (torch.hypot(x, y), x.logcumsumexp(1), torch.nonzero_static(i > 0, size=9, fill_value=-7), torch.nonzero_static(i, size=3),
            A.index_reduce(x, 0, where, y, "mean"), A.index_reduce(i, 0, where, i + 1, "mean", include_self=False),
            A.scatter_reduce(i.float(), 1, columns, i * 0.5, "mean"), A.scatter_reduce(i, 1, columns, i, "mean", include_self=False),
            *torch.unique(few, return_inverse=True, return_counts=True), torch.unique(few > 0, return_counts=True)[1],
            *torch.unique_consecutive(runs, return_inverse=True, return_counts=True), x[0, 0, 0].nonzero(), x[0, 0, 0].unfold(0, 1, 1),
            torch.det(x[:, :, :4]), torch.logdet(x[:, :, :4] @ x[:, :, :4].mT), torch.linalg.det(x[:, :3, :3]))


class Cells(torch.nn.Module):

    def __init__(self):
        super().__init__()
        self.l, self.g, self.r = torch.nn.LSTM(5, 4, 2, bidirectional=True), torch.nn.GRU(5, 3, batch_first=True), torch.nn.RNN(5, 3)

    def forward(self, x):
        return *self.g(x), self.l(x)[0], self.r(x)[0]


def sizes(x):
    n = x.shape[0]
    return x.new_full((n + 1, n - 1, n * 2), 3.0), x.new_full((n // 2, n % 4 + 2), 1.0), x.reshape(x.numel())


def checked(x):
    positive = x[x > 0]
    n = positive.shape[0]
    torch._check(n > 1)
    torch._check(n % 1000 == n)
    return positive * 2, positive.new_full((n + 1, n // 2, n % 7), 1.0)


CASES = {
    arithmetic: (x, y), integers: (i, j), unary: (x,), activations: (x,), choices: (x, y, b), reductions: (x, b), shapes: (x,),
    ranked: (x, i), taken: (x, i, j), parts: (x, i), counted: (x,), statistics: (img, v, x), pools: (img, x), without_gradients: (x, y),
    functions: (x,), overloads: (x, y, i, j), made: (x, i), more_windows: (img, x, torch.randn(3, 2, 2, 2, 2)), sizes: (torch.randn(6, 5),), checked: (x,),
    Cells(): (x,), specials: (x, y, i, j, img), differing: (x, i, y), places: (x, j), writes: (x, j), orders: (x, img), tensors: (x,), products: (x, y, v), in_place: (x, y), norms: (img, v, x),
    windows: (img, torch.randn(6, 4, 3, 3), torch.randn(8, 1, 3, 3), torch.randn(4, 3, 2, 2)),
    attention: (torch.randn(2, 3, 5, 8), torch.randn(2, 3, 7, 8), torch.rand(5, 7) > 0.3),
}  # yapf: disable
DYNAMIC = {sizes: ({0: torch.export.Dim("n", min=4, max=50)},)}


class Module(torch.nn.Module):

    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, *arguments):
        return self.function(*arguments)


def exported(function, arguments):
    """(its name, the module, the program)"""
    module = function if isinstance(function, torch.nn.Module) else Module(function)
    shapes = DYNAMIC.get(function)
    name = getattr(function, "__name__", type(function).__name__.lower())
    return name, module.eval(), torch.export.export(module.eval(), arguments, dynamic_shapes=shapes and (shapes, ))


def agree(seen, wanted):
    tolerance = 1e-2 if wanted.dtype == np.float16 else 1e-4
    return (seen.shape == wanted.shape and seen.dtype == wanted.dtype and
            np.allclose(seen, wanted, rtol=tolerance, atol=1e-5, equal_nan=True))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tile_run")
    parser.add_argument("folder")
    parser.add_argument("names", nargs="*")
    parser.add_argument("--target", default="cpu")
    parser.add_argument("--decompose", action="store_true")
    options = parser.parse_args()
    right = wrong = refused = 0
    for function, arguments in CASES.items():
        if options.names and getattr(function, "__name__", "cells") not in options.names:
            continue
        name, module, program = exported(function, arguments)
        path = os.path.join(options.folder, name)
        torch.export.save(program.run_decompositions() if options.decompose else program, f"{path}.pt2")
        expected = module(*arguments)
        for number, array in enumerate(arguments):
            np.save(f"{path}.in{number}.npy", array.numpy())
        run = subprocess.run([options.tile_run, f"{path}.pt2", f"--target={options.target}",
                              *(f"--in={path}.in{number}.npy" for number in range(len(arguments))),
                              *(f"--out={path}.out{number}.npy" for number in range(len(expected)))], capture_output=True, text=True)
        if run.returncode:
            refused += 1
            print(f"{name}: {run.stderr.strip()[:300]}")
            continue
        for number, wanted in enumerate(expected):
            good = agree(np.load(f"{path}.out{number}.npy"), wanted.detach().numpy())
            right, wrong = right + good, wrong + (not good)
            if not good:
                print(f"{name}: result {number} is wrong")
    print(f"{options.target}: {right} results right, {wrong} wrong, {refused} programs refused")


if __name__ == "__main__":
    main()
