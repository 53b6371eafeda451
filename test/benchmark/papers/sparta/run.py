"""SparTA's patterns (Zheng et al., OSDI 2022) in two layers of a transformer, x W1 + b1, relu, W2, on generated weights:
./dev reproduce sparta [--size=small|medium|paper] [--only=REGEX] [--found=FLAGS] [--off=FLAGS] [--stored=FLAGS]
                       [--chips=sm_80,gfx942] [--peer-python=FILE] [--json=FILE]

coarse  40 % of the hidden neurons are dead: columns of W1 and their biases are zero, nothing is said of W2
block   a tenth of the 32 x 32 blocks of W1 and W2 stays
fine    a tenth, a twentieth or a hundredth of the weights stays, at random
mixed   a tenth of the blocks, and a hundredth of the other weights

`found`: the program has dense constants; what Tessera's passes find by themselves. `off`: these passes left out. `stored`: the
program names a format of each weight (bsr, csr, their sum). Passes choose no format yet, so a row can lose where `stored` wins.
Peers multiply the pruned matrices: numpy's OpenBLAS and PyTorch dense ones, scipy bsr or csr. The paper's figure is of latencies on
GPUs, 1.7 to 8.4 times less than its seven peers have, on average. The emulator counts the operations of matrix instructions on
f16; of the coarse pattern they have to be those of the smaller network. Patterns with weights of 8 bits are not here.
Exits 1 if a result of ours is wrong, or the count is not that.
"""
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from sparsity import Table, np  # noqa: E402
import scipy.sparse  # noqa: E402

SIZES = ((16, 64, 160, 64), (128, 768, 3072, 768), (1024, 768, 3072, 768))  # tokens, width, hidden, outputs
BLOCK = 32


def pruned(rng, shape, pattern, share):
    w = rng.standard_normal(shape).astype("f4") / np.float32(np.sqrt(shape[0]))
    if pattern == "coarse":
        return w
    blocks = [-(-s // BLOCK) for s in shape]
    stays = np.kron(rng.random(blocks) < .1, np.ones((BLOCK, BLOCK), bool))[:shape[0], :shape[1]]
    single = rng.random(shape) < share
    return w * {"block": stays, "fine": single, "mixed": stays | single}[pattern]


def layers(sizes, pattern, share):
    tokens, width, hidden, outputs = sizes
    rng = np.random.default_rng(7)
    x, w1, w2 = rng.standard_normal((tokens, width)).astype("f4"), pruned(rng, (width, hidden), pattern, share), pruned(rng, (hidden, outputs), pattern, share)
    b1 = rng.standard_normal(hidden).astype("f4")
    if pattern == "coarse":
        dead = rng.permutation(hidden)[:hidden * 2 // 5]
        w1[:, dead], b1[dead] = 0, 0
    return x, w1, b1, w2


def constant(array, element):
    values = array.astype({"f32": "f4", "f16": "f2"}[element])
    return f"dense<\"0x{values.tobytes().hex().upper()}\"> : tensor<{'x'.join(map(str, array.shape))}x{element}>"


def blocks_of(w):
    """Where 32 x 32 blocks of mostly nonzeros are."""
    return np.kron((w.reshape(w.shape[0] // BLOCK, BLOCK, -1, BLOCK) != 0).mean((1, 3)) > .5, np.ones((BLOCK, BLOCK), bool))


def product(number, x, w, bias, sums, element, pattern):
    """Lines of x · w + bias; `pattern`: the weights are stored so."""
    (k, n), tokens = w.shape, sums.split("x")[0].split("<")[1]
    kind = f"tensor<{k}x{n}x{element}>"
    start = f"""  %e{number} = tensor.empty() : {sums}
  %f{number} = linalg.broadcast ins({bias} : tensor<{n}xf32>) outs(%e{number} : {sums}) dimensions = [0]
"""
    if pattern is None:
        return start + f"""  %w{number} = arith.constant {constant(w, element)}
  %y{number} = linalg.matmul ins({x}, %w{number} : tensor<{tokens}x{k}x{element}>, {kind}) outs(%f{number} : {sums}) -> {sums}
"""
    blocks = blocks_of(w) if pattern in ("block", "mixed") else np.zeros(w.shape, bool)
    parts = [(w * keep, encoding) for keep, encoding in ((blocks, f"#sparse.bsr<block = [{BLOCK}, {BLOCK}]>"), (~blocks, "#sparse.csr")) if (w * keep).any()]
    parts = parts or [(w, "#sparse.csr")]
    lines, last = start, f"%f{number}"
    for i, (part, encoding) in enumerate(parts):
        encoded, made = f"tensor<{k}x{n}x{element}, {encoding}>", f"%y{number}" if i + 1 == len(parts) else f"%p{number}_{i}"
        lines += f"""  %w{number}_{i} = arith.constant {constant(part, element)}
  %s{number}_{i} = sparse.pack %w{number}_{i} : {kind} -> {encoded}
  {made} = sparse.spmm {x}, %s{number}_{i}, {last} : tensor<{tokens}x{k}x{element}>, {encoded}, {sums}
"""
        last = made
    return lines


def program(x, w1, b1, w2, element="f32", pattern=None):
    (tokens, width), (hidden, outputs) = x.shape, w2.shape
    h, y = f"tensor<{tokens}x{hidden}xf32>", f"tensor<{tokens}x{outputs}xf32>"
    narrow = "" if element == "f32" else f"    %t = arith.truncf %m : f32 to {element}\n"
    held = f"tensor<{tokens}x{hidden}x{element}>"
    return f"""func.func @main(%x: tensor<{tokens}x{width}x{element}>) -> {y} {{
  %b0 = arith.constant {constant(b1, 'f32')}
  %b1 = arith.constant dense<0.0> : tensor<{outputs}xf32>
  %zero = arith.constant 0.0 : f32
{product(0, "%x", w1, "%b0", h, element, pattern)}  %eh = tensor.empty() : {held}
  %r = linalg.generic {{indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}}
      ins(%y0 : {h}) outs(%eh : {held}) {{
  ^bb0(%v: f32, %o: {element}):
    %m = arith.maximumf %v, %zero : f32
{narrow}    linalg.yield {'%t' if narrow else '%m'} : {element}
  }} -> {held}
{product(1, "%r", w2, "%b1", y, element, pattern)}  return %y1 : {y}
}}
"""


def expected(x, w1, b1, w2):
    x, w1, b1, w2 = (a.astype("f8") for a in (x, w1, b1, w2))
    return np.maximum(x @ w1 + b1, 0) @ w2, (abs(x) @ abs(w1) + abs(b1)) @ abs(w2)


def main():
    table = Table("sparta", __doc__, {"found": "--sparsity=finite", "off": "--sparsity=off", "stored": ""})
    sizes = SIZES[table.size]
    table.head(f"{sizes[0]} tokens, {sizes[1]} to {sizes[2]} to {sizes[3]}, f32")
    for pattern, share in (("coarse", 0), ("block", 0), ("fine", .1), ("fine", .05), ("fine", .01), ("mixed", .01)):
        name = f"{pattern}{f', {1 - share:.0%} zero' if pattern == 'fine' else ''}"
        if not re.search(table.options.only, name):
            continue
        x, w1, b1, w2 = layers(sizes, pattern, share)
        kind = scipy.sparse.bsr_matrix if pattern == "block" else scipy.sparse.csr_matrix
        more = {"blocksize": (BLOCK, BLOCK)} if pattern == "block" else {}
        s1, s2 = kind(w1.T, **more), kind(w2.T, **more)
        dense = program(x, w1, b1, w2)
        text = {"found": dense, "off": dense} | ({} if pattern == "coarse" else {"stored": program(x, w1, b1, w2, pattern=pattern)})
        peers = {"openblas": lambda: np.maximum(x @ w1 + b1, 0) @ w2, "scipy": lambda: (s2 @ np.maximum(s1 @ x.T + b1[:, None], 0)).T,
                 "torch": ([x, w1, b1, w2], "torch.relu(torch.addmm(x[2], x[0], x[1])) @ x[3]")}
        table.cpu(name, text, [x], *expected(x, w1, b1, w2), peers, "1.7-8.4", policies=list(text))
    tokens, width, hidden, outputs = (16, 64, 160, 64) if table.size == 0 else (64, 128, 320, 128)
    small = hidden - hidden * 2 // 5
    form = 2 * tokens * small * (width + outputs)
    if table.chips and re.search(table.options.only, "counts"):
        table.head_counted(f"{tokens} tokens, {width} to {hidden} to {outputs}, f16, coarse; {small} neurons left: {form} operations")
        x, w1, b1, w2 = (a.astype("f2").astype("f4") for a in layers((tokens, width, hidden, outputs), "coarse", 0))
        exact, terms = expected(x, w1, b1, w2)
        for chip in table.chips:
            table.counted("counts, coarse", program(x, w1, b1, w2, "f16"), [x.astype("f2")], exact, 50 * terms, chip, policies=["found", "off"])
            table.wrong += table.rows[-1]["counts"]["found"]["flops"] != form
    return table.end()


if __name__ == "__main__":
    sys.exit(main())
