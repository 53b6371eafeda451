"""What the GPU bench measures: programs without any schedule, and the same computation by PyTorch.

A case has a name, the text of its program (made where Tessera is), the shapes of its inputs, PyTorch's best call on the same
inputs, the exact answer (PyTorch in float64), and its work: (operations, bytes moved at least). `bench.py` reads the same table
on the machine with the GPU, where Tessera is not.
"""
import math
import re
from dataclasses import dataclass, field
from typing import Callable

BYTES = {"f16": 2, "bf16": 2, "f32": 4, "i8": 1, "i32": 4}


@dataclass
class Case:
    table: str
    name: str
    text: str
    inputs: list  # (shape, element)
    output: tuple  # (shape, element)
    peer: Callable  # (torch, x, like) -> tensor; `like` is an empty result
    exact: Callable  # (torch, x of float64 or integers) -> tensor
    operations: int
    tolerance: float  # |ours - exact| / |exact|, Frobenius
    peer_name: str = "torch"
    moved: int = field(init=False)

    def __post_init__(self):
        self.moved = sum(math.prod(shape) * BYTES[element] for shape, element in [*self.inputs, self.output])

    @property
    def file(self):
        return re.sub(r"[^A-Za-z0-9]+", "_", f"{self.table}_{self.name}")


def tensor(shape, element):
    return f"tensor<{'x'.join(map(str, shape))}x{element}>"


def maps(*texts):
    return "[" + ", ".join(f"affine_map<{text}>" for text in texts) + "]"


def zeros(name, shape, element):
    kind, zero = tensor(shape, element), "0" if element[0] == "i" else "0.0"
    return f"""  %{name}_z = arith.constant {zero} : {element}
  %{name}_e = tensor.empty() : {kind}
  %{name} = linalg.fill ins(%{name}_z : {element}) outs(%{name}_e : {kind}) -> {kind}
"""


def pointwise(result, sources, shape, element, body, indices=None):
    """A generic over `shape`: `sources` are (value, shape, element, map); `body` yields %y of %x0, %x1, …"""
    d = ", ".join(f"d{i}" for i in range(len(shape)))
    out = tensor(shape, element)
    values = ", ".join(value for value, *_ in sources)
    kinds = ", ".join(tensor(s, e) for _, s, e, _ in sources)
    blocks = ", ".join(f"%x{i}: {e}" for i, (_, _, e, _) in enumerate(sources))
    all_maps = maps(*[f"({d}) -> ({m or d})" for *_, m in sources], f"({d}) -> ({d})")
    kinds_of = ", ".join(['"parallel"'] * len(shape))
    return f"""  %{result}_e = tensor.empty() : {out}
  %{result} = linalg.generic {{indexing_maps = {all_maps}, iterator_types = [{kinds_of}]}}
      ins({values} : {kinds}) outs(%{result}_e : {out}) {{
  ^bb0({blocks}, %o: {element}):
{body}
    linalg.yield %y : {element}
  }} -> {out}
"""


def function(arguments, body, result, kind):
    return f"func.func @main({', '.join(f'%{n}: {tensor(*t)}' for n, t in arguments)}) -> {kind} {{\n{body}  return %{result} : {kind}\n}}\n"


def product(m, n, k, element, result=None, epilogue=None):
    sums = "i32" if element == "i8" else "f32"
    result = result or sums
    arguments = [("a", ((m, k), element)), ("b", ((k, n), element))]
    body = zeros("s", (m, n), sums)
    body += f"""  %c = linalg.matmul ins(%a, %b : {tensor((m, k), element)}, {tensor((k, n), element)})
      outs(%s : {tensor((m, n), sums)}) -> {tensor((m, n), sums)}
"""
    last = "c"
    if epilogue:
        arguments.append(("bias", ((n,), "f32")))
        lines = """    %w = arith.addf %x0, %x1 : f32
    %zero = arith.constant 0.0 : f32
    %r = arith.maximumf %w, %zero : f32
    %y = arith.truncf %r : f32 to """ + result
        body += pointwise("h", [("%c", (m, n), "f32", ""), ("%bias", (n,), "f32", "d1")], (m, n), result, lines)
        last = "h"
    elif result != sums:
        body += pointwise("h", [("%c", (m, n), sums, "")], (m, n), result, f"    %y = arith.truncf %x0 : {sums} to {result}")
        last = "h"
    return function(arguments, body, last, tensor((m, n), result)), [kind for _, kind in arguments]


def gemm(m, n, k, element, result=None):
    text, inputs = product(m, n, k, element, result)
    sums = "i32" if element == "i8" else "f32"

    def peer(torch, x, like):
        if element == "i8":
            return torch._int_mm(x[0], x[1])
        return torch.mm(x[0], x[1], out=like) if (result or sums) == element else torch.mm(x[0], x[1], out_dtype=torch.float32)
    name = f"{element} {m}x{n}x{k}{f' to {result or sums}' if (result or sums) != element else ''}"
    return Case("gemm", name, text, inputs, ((m, n), result or sums), peer, lambda torch, x: x[0] @ x[1],
                2 * m * n * k, {"f16": 2e-3, "bf16": 1e-2, "f32": 2e-5, "i8": 0}[result or sums if element != "i8" else "i8"])


def gemm_bias_relu(m, n, k, element):
    text, inputs = product(m, n, k, element, element, epilogue=True)
    return Case("gemm", f"bias relu {element} {m}x{n}x{k}", text, inputs, ((m, n), element),
                lambda torch, x, like: torch.relu(torch.addmm(x[2].to(x[0].dtype), x[0], x[1])),
                lambda torch, x: torch.relu(x[0] @ x[1] + x[2]), 2 * m * n * k, 2e-3, "torch (addmm, relu)")


def attention(heads, queries, keys, d, causal, element, hidden="0xFF800000"):
    """softmax(q kᵀ / sqrt d) v; scores and sums in f32, weights rounded to the elements' type, as PyTorch does. `hidden`
    is what hidden keys score: -inf unless said."""
    q, kv, s = (heads, queries, d), (heads, keys, d), (heads, queries, keys)
    scale = 1 / math.sqrt(d)
    body = zeros("s", s, "f32")
    body += f"""  %qk = linalg.generic {{indexing_maps = {maps("(h, i, j, k) -> (h, i, k)", "(h, i, j, k) -> (h, j, k)", "(h, i, j, k) -> (h, i, j)")},
      iterator_types = ["parallel", "parallel", "parallel", "reduction"]}}
      ins(%q, %k : {tensor(q, element)}, {tensor(kv, element)}) outs(%s : {tensor(s, "f32")}) {{
  ^bb0(%x0: {element}, %x1: {element}, %o: f32):
    %w0 = arith.extf %x0 : {element} to f32
    %w1 = arith.extf %x1 : {element} to f32
    %p = arith.mulf %w0, %w1 : f32
    %t = arith.addf %o, %p : f32
    linalg.yield %t : f32
  }} -> {tensor(s, "f32")}
"""
    lines = f"    %scale = arith.constant {scale:.9e} : f32\n    %{'w' if causal else 'y'} = arith.mulf %x0, %scale : f32"
    if causal:
        lines += """
    %i = linalg.index 1 : index
    %j = linalg.index 2 : index
    %seen = arith.cmpi sle, %j, %i : index
    %low = arith.constant """ + hidden + """ : f32
    %y = arith.select %seen, %w, %low : f32"""
    body += pointwise("sc", [("%qk", s, "f32", "")], s, "f32", lines)
    body += f"""  %pe = tensor.empty() : {tensor(s, "f32")}
  %p = linalg.softmax dimension(2) ins(%sc : {tensor(s, "f32")}) outs(%pe : {tensor(s, "f32")}) -> {tensor(s, "f32")}
"""
    if element != "f32":
        body += pointwise("ph", [("%p", s, "f32", "")], s, element, f"    %y = arith.truncf %x0 : f32 to {element}")
    weights = "p" if element == "f32" else "ph"
    body += zeros("z", q, "f32")
    widen = "" if element == "f32" else f"    %w0 = arith.extf %x0 : {element} to f32\n    %w1 = arith.extf %x1 : {element} to f32\n"
    if element == "f32":
        body = re.sub(r"    %w\d = arith.extf .*\n", "", body).replace("arith.mulf %w0, %w1", "arith.mulf %x0, %x1")
    body += f"""  %pv = linalg.generic {{indexing_maps = {maps("(h, i, e, j) -> (h, i, j)", "(h, i, e, j) -> (h, j, e)", "(h, i, e, j) -> (h, i, e)")},
      iterator_types = ["parallel", "parallel", "parallel", "reduction"]}}
      ins(%{weights}, %v : {tensor(s, element)}, {tensor(kv, element)}) outs(%z : {tensor(q, "f32")}) {{
  ^bb0(%x0: {element}, %x1: {element}, %o: f32):
{widen}    %p0 = arith.mulf {"%x0, %x1" if element == "f32" else "%w0, %w1"} : f32
    %t = arith.addf %o, %p0 : f32
    linalg.yield %t : f32
  }} -> {tensor(q, "f32")}
"""
    last = "pv"
    if element != "f32":
        body += pointwise("r", [("%pv", q, "f32", "")], q, element, f"    %y = arith.truncf %x0 : f32 to {element}")
        last = "r"
    text = function([("q", (q, element)), ("k", (kv, element)), ("v", (kv, element))], body, last, tensor(q, element))

    def peer(torch, x, like):
        return torch.nn.functional.scaled_dot_product_attention(*(t.unsqueeze(0) for t in x), is_causal=causal)[0]

    def exact(torch, x):
        parts = []
        for head in range(heads):  # scores of one head at a time: float64 is large
            scores = x[0][head] @ x[1][head].T * scale
            if causal:
                scores = scores.masked_fill(~torch.ones_like(scores, dtype=torch.bool).tril(), -math.inf)
            parts.append(torch.softmax(scores, -1) @ x[2][head])
        return torch.stack(parts)
    return Case("attention", f"{element} {heads}x{queries}x{keys}x{d}{' causal' if causal else ''}{'' if hidden[:2] == '0x' else ' by ' + hidden}", text,
                [(q, element), (kv, element), (kv, element)], (q, element), peer, exact,
                4 * heads * queries * keys * d // (2 if causal else 1), 3e-3 if element != "f32" else 2e-5, "torch (SDPA)")




def softmax(m, n, element):
    kind, body = tensor((m, n), element), ""
    source, last = "%x", "p"
    if element != "f32":
        body += pointwise("w", [("%x", (m, n), element, "")], (m, n), "f32", f"    %y = arith.extf %x0 : {element} to f32")
        source = "%w"
    wide = tensor((m, n), "f32")
    body += f"""  %pe = tensor.empty() : {wide}
  %p = linalg.softmax dimension(1) ins({source} : {wide}) outs(%pe : {wide}) -> {wide}
"""
    if element != "f32":
        body += pointwise("r", [("%p", (m, n), "f32", "")], (m, n), element, f"    %y = arith.truncf %x0 : f32 to {element}")
        last = "r"
    return Case("norm", f"softmax {element} {m}x{n}", function([("x", ((m, n), element))], body, last, kind), [((m, n), element)],
                ((m, n), element), lambda torch, x, like: torch.softmax(x[0], -1), lambda torch, x: torch.softmax(x[0], -1), 5 * m * n,
                1e-5 if element == "f32" else 2e-3)


def reduction(name, source, m, n, body):
    return f"""{zeros(name, (m,), "f32").replace(f"%{name} =", f"%{name}_0 =")}  %{name} = linalg.generic {{indexing_maps = {maps("(d0, d1) -> (d0, d1)", "(d0, d1) -> (d0)")},
      iterator_types = ["parallel", "reduction"]}} ins({source} : {tensor((m, n), "f32")}) outs(%{name}_0 : {tensor((m,), "f32")}) {{
  ^bb0(%x0: f32, %o: f32):
{body}
    linalg.yield %y : f32
  }} -> {tensor((m,), "f32")}
"""


def layernorm(m, n):
    shape = (m, n)
    body = reduction("sum", "%x", m, n, "    %y = arith.addf %o, %x0 : f32")
    body += pointwise("mean", [("%sum", (m,), "f32", "")], (m,), "f32",
                      f"    %n = arith.constant {float(n)} : f32\n    %y = arith.divf %x0, %n : f32")
    body += pointwise("centred", [("%x", shape, "f32", ""), ("%mean", (m,), "f32", "d0")], shape, "f32", "    %y = arith.subf %x0, %x1 : f32")
    body += reduction("square", "%centred", m, n, "    %t = arith.mulf %x0, %x0 : f32\n    %y = arith.addf %o, %t : f32")
    body += pointwise("scale", [("%square", (m,), "f32", "")], (m,), "f32",
                      f"""    %n = arith.constant {float(n)} : f32
    %e = arith.constant 1.0e-5 : f32
    %v = arith.divf %x0, %n : f32
    %w = arith.addf %v, %e : f32
    %y = math.rsqrt %w : f32""")
    body += pointwise("r", [("%centred", shape, "f32", ""), ("%scale", (m,), "f32", "d0"), ("%g", (n,), "f32", "d1"), ("%b", (n,), "f32", "d1")],
                      shape, "f32", """    %t = arith.mulf %x0, %x1 : f32
    %u = arith.mulf %t, %x2 : f32
    %y = arith.addf %u, %x3 : f32""")

    def same(torch, x, like=None):
        return torch.nn.functional.layer_norm(x[0], (n,), x[1], x[2])
    return Case("norm", f"layernorm f32 {m}x{n}", function([("x", (shape, "f32")), ("g", ((n,), "f32")), ("b", ((n,), "f32"))], body, "r", tensor(shape, "f32")),
                [(shape, "f32"), ((n,), "f32"), ((n,), "f32")], (shape, "f32"), same, same, 8 * m * n, 1e-5)


def add(n, element):
    body = pointwise("r", [("%x", (n,), element, ""), ("%z", (n,), element, "")], (n,), element, f"    %y = arith.addf %x0, %x1 : {element}")
    return Case("elementwise", f"add {element} {n}", function([("x", ((n,), element)), ("z", ((n,), element))], body, "r", tensor((n,), element)),
                [((n,), element)] * 2, ((n,), element), lambda torch, x, like: torch.add(*x, out=like), lambda torch, x: x[0] + x[1], n,
                1e-6 if element == "f32" else 1e-3)


def gelu(n, approximate):
    flags = " fastmath<afn>" if approximate else ""
    lines = f"""    %half = arith.constant 0.5 : f32
    %one = arith.constant 1.0 : f32
    %root = arith.constant 0.707106769 : f32
    %t = arith.mulf %x0, %root : f32
    %e = math.erf %t{flags} : f32
    %u = arith.addf %e, %one : f32
    %h = arith.mulf %x0, %half : f32
    %y = arith.mulf %h, %u : f32"""
    body = pointwise("r", [("%x", (n,), "f32", "")], (n,), "f32", lines)

    def same(torch, x, like=None):
        return torch.nn.functional.gelu(x[0])
    return Case("elementwise", f"gelu f32 {n}{' afn' if approximate else ''}", function([("x", ((n,), "f32"))], body, "r", tensor((n,), "f32")),
                [((n,), "f32")], ((n,), "f32"), same, same, 10 * n, 1e-6)


def transpose(m, n, element):
    body = f"""  %e = tensor.empty() : {tensor((n, m), element)}
  %r = linalg.transpose ins(%x : {tensor((m, n), element)}) outs(%e : {tensor((n, m), element)}) permutation = [1, 0]
"""
    return Case("elementwise", f"transpose {element} {m}x{n}", function([("x", ((m, n), element))], body, "r", tensor((n, m), element)),
                [((m, n), element)], ((n, m), element), lambda torch, x, like: like.copy_(x[0].T), lambda torch, x: x[0].T, 0, 0)


def row_sum(m, n):
    body = reduction("r", "%x", m, n, "    %y = arith.addf %o, %x0 : f32")
    return Case("norm", f"row sum f32 {m}x{n}", function([("x", ((m, n), "f32"))], body, "r", tensor((m,), "f32")), [((m, n), "f32")], ((m,), "f32"),
                lambda torch, x, like: torch.sum(x[0], -1, out=like), lambda torch, x: torch.sum(x[0], -1), m * n, 1e-5)


def conv(n, h, c, f, r, element):
    """Channels last, no padding, stride 1."""
    x, w, y = (n, h, h, c), (r, r, c, f), (n, h - r + 1, h - r + 1, f)
    body = zeros("s", y, "f32")
    body += f"""  %c = linalg.conv_2d_nhwc_hwcf {{dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>}}
      ins(%x, %w : {tensor(x, element)}, {tensor(w, element)}) outs(%s : {tensor(y, "f32")}) -> {tensor(y, "f32")}
"""
    body += pointwise("h", [("%c", y, "f32", "")], y, element, f"    %y = arith.truncf %x0 : f32 to {element}")

    def peer(torch, v, like):  # views: the memory stays channels last
        image, window = v[0].permute(0, 3, 1, 2), v[1].permute(3, 2, 0, 1).contiguous(memory_format=torch.channels_last)
        return torch.nn.functional.conv2d(image, window).permute(0, 2, 3, 1)

    def exact(torch, v):  # cuDNN tries its float64 algorithms for minutes
        return sum(v[0][:, i:i + y[1], j:j + y[2]] @ v[1][i, j] for i in range(r) for j in range(r))
    return Case("conv", f"{element} {n}x{h}x{h}x{c} to {f}, {r}x{r}", function([("x", (x, element)), ("w", (w, element))], body, "h", tensor(y, element)),
                [(x, element), (w, element)], (y, element), peer, exact, 2 * math.prod(y) * r * r * c, 2e-3, "torch (cuDNN)")


CASES = [
    *(gemm(s, s, s, "f16", "f16") for s in (512, 1024, 2048, 4096, 8192)),
    *(gemm(*s, "f16", "f16") for s in ((128, 4096, 4096), (1, 4096, 4096), (2048, 1024, 4096), (8192, 1024, 1024), (1000, 1000, 1000))),
    *(gemm(s, s, s, "bf16", "bf16") for s in (1024, 4096)),
    gemm(4096, 4096, 4096, "f16"), gemm(4096, 4096, 4096, "i8"),
    *(gemm(s, s, s, "f32") for s in (1024, 4096)),
    gemm_bias_relu(4096, 4096, 1024, "f16"),
    *(attention(16, 4096, 4096, d, causal, "f16") for d in (64, 128) for causal in (False, True)),
    *(attention(8, 16384, 16384, d, True, "f16") for d in (64, 128)), attention(16, 4096, 4096, 128, True, "bf16"),
    attention(16, 4096, 4096, 128, True, "f16", "-1.0e30"), attention(32, 1024, 1024, 128, True, "bf16"), attention(12, 512, 512, 64, False, "f32"),
    softmax(4096, 1024, "f32"), softmax(8192, 4096, "f32"), softmax(8192, 4096, "f16"),
    layernorm(4096, 1024), layernorm(8192, 4096), row_sum(8192, 8192),
    add(1 << 26, "f32"), add(1 << 26, "f16"), gelu(1 << 26, False), gelu(1 << 26, True),
    transpose(8192, 8192, "f32"), transpose(8192, 8192, "f16"),
    conv(32, 58, 128, 128, 3, "f16"), conv(32, 56, 256, 64, 1, "f16"),
]
assert len({case.file for case in CASES}) == len(CASES), "two cases have one file"
