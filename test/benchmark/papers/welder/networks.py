"""One block of each of Welder's ten models as linalg, f32; pixels or tokens are rows. Sizes are arguments.

What a block keeps of its model: the order of products, norms, activations, depthwise convolutions and attention. What it
leaves out: strides, biases of products, positions, and repetition; Swin's windows come in their order, unshifted.
"""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from models import Model, tensor  # noqa: E402


class Network(Model):
    def generic(self, out, loops, inputs, maps, out_map, body, starts=True):
        """`maps` and `out_map` name the dims of each operand, as in 'hd,td->…': letters of `loops`; capital ones are folded."""
        dims = ", ".join(loops.lower())
        kinds = ", ".join('"reduction"' if dim.isupper() else '"parallel"' for dim in loops)
        texts = ", ".join(f"affine_map<({dims}) -> ({', '.join(names.lower())})>" for names in [*maps, out_map])
        into = self.zeros(*out) if starts else self.empty(out)
        arguments = ", ".join([f"%x{i}: f32" for i in range(len(inputs))] + ["%acc: f32"])
        lines = "".join(f"    {line}\n" for line in body)
        return self.op(out, f"linalg.generic {{indexing_maps = [{texts}], iterator_types = [{kinds}]}} "
                            f"ins({', '.join(n for n, _ in inputs)} : {', '.join(tensor(s) for _, s in inputs)}) "
                            f"outs({into[0]} : {tensor(out)}) {{\n  ^bb0({arguments}):\n{lines}    linalg.yield %r0 : f32\n  }} -> {tensor(out)}")

    def contract(self, out, loops, a, a_map, b, b_map, out_map):
        return self.generic(out, loops, [a, b], [a_map, b_map], out_map, ["%p = arith.mulf %x0, %x1 : f32", "%r0 = arith.addf %acc, %p : f32"])

    def map(self, a, body, *others):
        """Elementwise; vectors among the others belong to columns, those of `rows` (a pair) to rows."""
        maps, inputs = ["mn"], [a]
        for other in others:
            is_row = isinstance(other, list)
            inputs.append(other[0] if is_row else other)
            maps.append("m" if is_row else "n" if len(other[1]) == 1 else "mn")
        return self.generic(a[1], "mn", inputs, maps, "mn", body, starts=False)

    def gelu(self, a):
        return self.map(a, ["%h = arith.constant 0.5 : f32", "%q = arith.constant 0.70710678 : f32", "%t = arith.mulf %x0, %q : f32",
                            "%e = math.erf %t : f32", "%u = arith.addf %e, %one : f32", "%v = arith.mulf %x0, %h : f32",
                            "%r0 = arith.mulf %u, %v : f32"])

    def swish(self, a):
        return self.map(a, ["%n = arith.negf %x0 : f32", "%e = math.exp %n : f32", "%d = arith.addf %e, %one : f32", "%r0 = arith.divf %x0, %d : f32"])

    def times(self, a, b):
        return self.map(a, ["%r0 = arith.mulf %x0, %x1 : f32"], b)

    def norm(self, a):
        rows, n = a[1]
        total = self.generic((rows,), "mN", [a], ["mn"], "m", ["%r0 = arith.addf %acc, %x0 : f32"])
        squares = self.generic((rows,), "mN", [a], ["mn"], "m", ["%p = arith.mulf %x0, %x0 : f32", "%r0 = arith.addf %acc, %p : f32"])
        return self.map(a, [f"%c = arith.constant {1 / n!r} : f32", "%eps = arith.constant 1.0e-5 : f32", "%m = arith.mulf %x1, %c : f32",
                            "%q = arith.mulf %x2, %c : f32", "%mm = arith.mulf %m, %m : f32", "%v = arith.subf %q, %mm : f32",
                            "%w = arith.addf %v, %eps : f32", "%s = math.rsqrt %w : f32", "%d = arith.subf %x0, %m : f32",
                            "%y = arith.mulf %d, %s : f32", "%z = arith.mulf %y, %x3 : f32", "%r0 = arith.addf %z, %x4 : f32"],
                        [total], [squares], self.argument(n), self.argument(n))

    def softmax(self, a):
        kind, out = tensor(a[1]), self.empty(a[1])
        return self.op(a[1], f"linalg.softmax dimension({len(a[1]) - 1}) ins({a[0]} : {kind}) outs({out[0]} : {kind}) -> {kind}")

    def linear(self, a, features):
        return self.product(a, self.argument(a[1][1], features))

    def attention(self, a, heads):
        """softmax(q kᵀ / √e) v of each head, and the product behind it."""
        tokens, width = a[1]
        e = width // heads
        q, k, v = (self.contract((heads, tokens, e), "hteD", a, "td", self.argument(heads, width, e), "hde", "hte") for _ in range(3))
        scores = self.contract((heads, tokens, tokens), "htuE", q, "hte", k, "hue", "htu")
        scaled = self.generic(scores[1], "htu", [scores], ["htu"], "htu", [f"%c = arith.constant {e ** -0.5!r} : f32", "%r0 = arith.mulf %x0, %c : f32"],
                              starts=False)
        mixed = self.contract((heads, tokens, e), "hteU", self.softmax(scaled), "htu", v, "hue", "hte")
        return self.contract((tokens, width), "tfHE", mixed, "hte", self.argument(heads, e, width), "hef", "tf")

    def depthwise(self, a, side, size=3):
        """Of an image of side × side pixels, padded to keep its size."""
        rows, c = a[1]
        image = self.op((rows // (side * side), side, side, c), f"tensor.expand_shape {a[0]} [[0, 1, 2], [3]] output_shape "
                        f"[{rows // (side * side)}, {side}, {side}, {c}] : {tensor(a[1])} into {tensor((rows // (side * side), side, side, c))}")
        out = self.named("linalg.depthwise_conv_2d_nhwc_hwc", [self.padded(image, size // 2), self.argument(size, size, c)], image[1])
        return self.op(a[1], f"tensor.collapse_shape {out[0]} [[0, 1, 2], [3]] : {tensor(out[1])} into {tensor(a[1])}")

    def mlp(self, a, wide):
        return self.linear(self.gelu(self.linear(a, wide)), a[1][1])


def scores(heads, tokens, e):
    """The paper's first example: a product of each head, divided and masked, and softmax."""
    m = Network()
    product = m.contract((heads, tokens, tokens), "htuE", m.argument(heads, tokens, e), "hte", m.argument(heads, e, tokens), "heu", "htu")
    masked = m.generic(product[1], "htu", [product, m.argument(heads, tokens)], ["htu", "hu"], "htu",
                       [f"%c = arith.constant {e ** -0.5!r} : f32", "%s = arith.mulf %x0, %c : f32", "%r0 = arith.addf %s, %x1 : f32"], starts=False)
    return m.text(m.softmax(masked))


def mobilenetv2(side, c, wide):
    m = Network()
    x = m.argument(side * side, c)
    h = m.relu(m.depthwise(m.relu(m.linear(x, wide)), side))
    return m.text(m.add(m.linear(h, c), x))


def bert(tokens, width, heads):
    m = Network()
    x = m.argument(tokens, width)
    y = m.norm(m.add(x, m.attention(x, heads)))
    return m.text(m.norm(m.add(y, m.mlp(y, 4 * width))))


def vit(tokens, width, heads):
    m = Network()
    x = m.argument(tokens, width)
    y = m.add(x, m.attention(m.norm(x), heads))
    return m.text(m.add(y, m.mlp(m.norm(y), 4 * width)))


def swin(tokens, width, heads):
    """Of one window: ViT's block with a bias for each pair of tokens, and another one behind it."""
    m = Network()
    y = m.argument(tokens, width)
    for _ in range(2):
        y = m.add(y, m.attention(m.norm(y), heads))
        y = m.add(y, m.mlp(m.norm(y), 2 * width))
    return m.text(y)


def bsrn(side, c):
    """Three separable convolutions, each beside a distilled part; the parts side by side."""
    m = Network()
    x = m.argument(side * side, c)
    y, parts = x, []
    for _ in range(3):
        parts.append(m.gelu(m.linear(y, c // 2)))
        y = m.gelu(m.add(m.depthwise(m.linear(y, c), side), y))
    parts.append(m.linear(y, c // 2))
    return m.text(m.add(m.linear(m.concatenated(parts), c), x))


def nafnet(side, c):
    m = Network()
    x = m.argument(side * side, c)
    wide = m.depthwise(m.linear(m.norm(x), 2 * c), side)
    gated = m.times(m.columns(wide, 0, c), m.columns(wide, c, c))
    pooled = m.generic((1, c), "oMn", [gated], ["mn"], "on", ["%r0 = arith.addf %acc, %x0 : f32"])
    weights = m.linear(pooled, c)
    scaled = m.times(gated, m.op((c,), f"tensor.collapse_shape {weights[0]} [[0, 1]] : {tensor((1, c))} into {tensor((c,))}"))
    y = m.add(m.linear(scaled, c), x)
    wide = m.linear(m.norm(y), 2 * c)
    return m.text(m.add(m.linear(m.times(m.columns(wide, 0, c), m.columns(wide, c, c)), c), y))


def restormer(side, c):
    """Attention between channels: its matrix is c × c."""
    m = Network()
    x = m.argument(side * side, c)
    q, k, v = (m.depthwise(m.linear(m.norm(x), c), side) for _ in range(3))
    scores = m.contract((c, c), "cdM", q, "mc", k, "md", "cd")
    y = m.add(m.linear(m.contract((side * side, c), "mcD", v, "md", m.softmax(scores), "cd", "mc"), c), x)
    wide = m.depthwise(m.linear(m.norm(y), 4 * c), side)
    return m.text(m.add(m.linear(m.times(m.gelu(m.columns(wide, 0, 2 * c)), m.columns(wide, 2 * c, 2 * c)), c), y))


def mobilevit(side, c, width, heads):
    m = Network()
    x = m.argument(side * side, c)
    t = m.linear(m.swish(m.depthwise(x, side)), width)
    t = m.add(t, m.attention(m.norm(t), heads))
    t = m.add(t, m.mlp(m.norm(t), 2 * width))
    return m.text(m.swish(m.linear(m.concatenated([x, m.swish(m.linear(t, c))]), c)))


def conformer(side, width, heads):
    """Its depthwise convolution goes over a square of frames here."""
    m = Network()
    half = ["%h = arith.constant 0.5 : f32", "%p = arith.mulf %x1, %h : f32", "%r0 = arith.addf %x0, %p : f32"]
    x = m.argument(side * side, width)
    y = m.map(x, half, m.linear(m.swish(m.linear(m.norm(x), 4 * width)), width))
    y = m.add(y, m.attention(m.norm(y), heads))
    wide = m.linear(m.norm(y), 2 * width)
    glu = m.map(m.columns(wide, 0, width), ["%n = arith.negf %x1 : f32", "%e = math.exp %n : f32", "%d = arith.addf %e, %one : f32",
                                            "%r0 = arith.divf %x0, %d : f32"], m.columns(wide, width, width))
    y = m.add(y, m.linear(m.swish(m.depthwise(glu, side)), width))
    y = m.map(y, half, m.linear(m.swish(m.linear(m.norm(y), 4 * width)), width))
    return m.text(m.norm(y))


def nerf(points, width):
    m = Network()
    y = m.argument(points, width)
    for _ in range(7):
        y = m.relu(m.linear(y, width))
    return m.text(y)
