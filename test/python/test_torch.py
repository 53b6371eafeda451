"""tessera.torch: torch.compile's backend and operators of kernels, against PyTorch itself. Needs PyTorch."""
import copy

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("tessera_runtime", reason="not built: Python.h is missing")

import tessera.torch  # noqa: E402
import tessera as ts  # noqa: E402
from torch import nn  # noqa: E402
from torch.nn import functional as F  # noqa: E402


@pytest.fixture(autouse=True)
def fresh(monkeypatch, tmp_path, recwarn):
    monkeypatch.setenv("TESSERA_CACHE", str(tmp_path))
    torch._dynamo.reset()
    torch.manual_seed(3)
    tessera.torch.report(clear=True)


class Residual(nn.Module):
    """Two convolutions with a batch norm."""

    def __init__(self):
        super().__init__()
        self.a, self.n, self.b = nn.Conv2d(5, 7, 3, padding=1, stride=2), nn.BatchNorm2d(7), nn.Conv2d(7, 7, 3, padding=1)

    def forward(self, x):
        y = torch.relu(self.n(self.a(x)))
        return torch.relu(y + self.b(y))


class Gpt(nn.Module):
    """A block of a decoder."""

    def __init__(self, d=24, heads=3):
        super().__init__()
        self.heads, self.before, self.after = heads, nn.LayerNorm(d), nn.LayerNorm(d)
        self.qkv, self.out, self.up, self.down = nn.Linear(d, 3 * d), nn.Linear(d, d), nn.Linear(d, 2 * d), nn.Linear(2 * d, d)

    def forward(self, x):
        b, t, d = x.shape
        q, k, v = (y.view(b, t, self.heads, -1).transpose(1, 2) for y in self.qkv(self.before(x)).split(d, -1))
        x = x + self.out(F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(b, t, d))
        return x + self.down(F.gelu(self.up(self.after(x)), approximate="tanh"))


def agree(model, x, training=False):
    """Results and all gradients, those of the input included, equal eager PyTorch's."""
    model.train(training)
    other = copy.deepcopy(model)
    ours, theirs = x.clone().requires_grad_(), x.clone().requires_grad_()
    y, z = torch.compile(model, backend="tessera")(ours), other(theirs)
    weight = torch.randn_like(z)
    (y * weight).sum().backward(), (z * weight).sum().backward()
    torch.testing.assert_close(y, z, rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(ours.grad, theirs.grad, rtol=1e-3, atol=1e-4)
    for (name, p), q in zip(model.named_parameters(), other.parameters()):
        torch.testing.assert_close(p.grad, q.grad, rtol=1e-3, atol=1e-4, msg=lambda said, name=name: f"{name}: {said}")
    for p, q in zip(model.buffers(), other.buffers()):
        torch.testing.assert_close(p, q, rtol=1e-4, atol=1e-5)
    return tessera.torch.report()


@pytest.mark.parametrize("model, shape, training", [
    (nn.Sequential(nn.Linear(13, 19), nn.GELU(), nn.LayerNorm(19), nn.Linear(19, 5)), (7, 13), True),
    (Residual(), (2, 5, 11, 9), True),
    (Gpt(), (2, 11, 24), False),
    (nn.TransformerEncoderLayer(16, 4, 32, batch_first=True, dropout=0.0), (2, 7, 16), False),
])
def test_forward_and_backward(model, shape, training):
    found = agree(model, torch.randn(shape), training)
    assert found.share >= 0.9 and found.programs >= 2, str(found)


def test_what_is_left_is_named():

    def function(x):
        return torch.fft.rfft(x.sin()).abs() + 1

    x = torch.randn(3, 10)
    torch.testing.assert_close(torch.compile(function, backend="tessera")(x), function(x), rtol=1e-4, atol=1e-5)
    found = tessera.torch.report()
    assert found.taken >= 1 and 0 < found.share < 1
    assert any(what.startswith("aten._fft_r2c.default: ") for what in found.left), str(found)
    assert "left to PyTorch: 1 x aten._fft_r2c.default" in str(found)


def test_refused_arguments_leave_only_their_operator():

    def function(x):
        return F.avg_pool2d(x.exp(), 2, divisor_override=3).log()

    x = torch.randn(1, 2, 6, 4)
    torch.testing.assert_close(torch.compile(function, backend="tessera")(x), function(x), rtol=1e-4, atol=1e-5)
    found = tessera.torch.report()
    assert (found.taken, sum(found.left.values())) == (2, 1), str(found)
    assert "argument 'divisor_override' is not supported" in next(iter(found.left))


def test_open_sizes_are_compiled_by_size():
    model = Gpt().eval()
    fast = torch.compile(model, backend="tessera", dynamic=True)
    with torch.no_grad():
        for length in (5, 9, 5):
            x = torch.randn(1, length, 24)
            torch.testing.assert_close(fast(x), model(x), rtol=1e-4, atol=1e-5)


def test_results_keep_pytorchs_strides():
    function = lambda x: (x + 1).transpose(0, 1)  # noqa: E731
    x = torch.randn(3, 4)
    assert torch.compile(function, backend="tessera")(x).stride() == function(x).stride()


def test_inputs_in_another_order_and_a_mask_without_keys():

    def function(q, mask):
        return F.scaled_dot_product_attention(q.transpose(1, 2), q.transpose(1, 2), q.transpose(1, 2), attn_mask=mask)

    q, mask = torch.randn(2, 5, 3, 8), torch.rand(5, 5) > 0.5
    mask[2] = False
    torch.testing.assert_close(torch.compile(function, backend="tessera")(q, mask), function(q, mask), rtol=1e-4, atol=1e-5)


def test_an_unknown_option_is_refused():
    with pytest.raises(Exception, match="options: 'fast' is unknown; 'limit' is accepted"):
        torch.compile(lambda x: x + 1, backend="tessera", options={"fast": True})(torch.ones(3))


# --- operators of kernels -----------------------------------------------------------------------------------------------------


@ts.kernel
def scaled(x: ts.Array[ts.f32, "N"], y: ts.Array[ts.f32, "N"], by: ts.f32, W: ts.Constant):
    i = ts.program_id(0)
    ts.store(y, (i, ), ts.load(x, (i, ), (W, )) * by)


def scaled_backward(inputs, outputs, gradient):
    return scale(gradient.contiguous(), inputs[1]), None


@tessera.torch.custom_op("tessera_test::scale", backward=scaled_backward)
def scale(x: torch.Tensor, by: float) -> torch.Tensor:
    y = torch.empty_like(x)
    scaled[(-(-x.shape[0] // 16), )](x, y, by, W=16)
    return y


def test_a_kernel_is_an_operator():
    x = torch.randn(37, requires_grad=True)
    y = scale(x, 2.5)
    (y * torch.arange(37)).sum().backward()
    torch.testing.assert_close(y, x * 2.5)
    torch.testing.assert_close(x.grad, torch.arange(37) * 2.5)
    torch.library.opcheck(scale, (torch.randn(37), 2.5), test_utils=("test_schema", "test_faketensor"))


def test_an_operator_within_a_compiled_function():
    function = lambda x: scale(x.exp(), 3.0) + 1  # noqa: E731
    x = torch.randn(21)
    torch.testing.assert_close(torch.compile(function, backend="tessera", fullgraph=True)(x), x.exp() * 3 + 1)
    assert any("tessera_test.scale" in what for what in tessera.torch.report().left)
