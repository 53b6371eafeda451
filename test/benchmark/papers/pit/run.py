"""PIT's tables (Zheng et al., SOSP 2023) on generated masks: dynamic sparsity, one program for all masks of a row's shape.
./dev reproduce pit [--size=small|medium|paper] [--only=REGEX] [--masked=FLAGS] [--dense=FLAGS] [--chips=sm_80,gfx942]
                    [--peer-python=FILE] [--json=FILE]

1. Products whose left factor a mask hides (the paper's figure 16): 32 x 1 micro-tiles and single elements at random, a share of them hidden.
2. The online index (figure 17): sparse.detect of a mask, beside scipy's and PyTorch's conversions of the dense matrix to csr.
3. Experts that tokens choose (figure 8), shares by Zipf, two layers, beside a loop over the experts by OpenBLAS.
4. Attention (figures 10 and 11): padded sentences, lengths from a log-normal distribution; a window with global tokens (Longformer).
5. Activations that relu makes zero (figure 9): the program has no mask, only values. Nothing is gathered here: a loss.
6. Counts of the emulator for a product with 20 % of its micro-tiles shown.

`masked` is our program, `dense` the same program by other flags of tile-run (by default --sparsity=off: the select, then a dense
product), so that other policies can take the place of either. The paper has figures of GPUs: up to 5.9 times as fast as the best of
its peers, 2.43 on average; `paper` repeats the figure where a row is the case it is of. Exits 1 if a result of ours is wrong.
"""
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from sparsity import Table, np  # noqa: E402
import mask_attention  # noqa: E402
import scipy.sparse  # noqa: E402
from masks import masked  # noqa: E402
from routing import routed  # noqa: E402

PRODUCT = ((128, 64, 128), (4096, 256, 4096), (4096, 4096, 4096))  # m, n, k
EXPERTS = ((16, 3, 16, 32), (1024, 64, 256, 512), (1024, 128, 768, 3072))  # tokens, experts, width, hidden
ATTENTION = ((2, 128, 16), (8, 1024, 64), (12, 4096, 64))  # heads, length, depth
BLOCK = 64


def products(table, chosen):
    m, n, k = PRODUCT[table.size]
    table.head(f"1. {m}x{k} by {k}x{n}, f32, a share of the left factor hidden")
    for form, shares in (("tiles", (0, .5, .8, .9, .95, .99)), ("elements", (.9,)), ("random", (.9, .99))):
        for zero in shares:
            if not chosen(name := f"product, {form}, {zero:.0%}"):
                continue
            case = dict(m=m, n=n, k=k, form=form, zero=zero)
            arrays = masked.arrays(np.random.default_rng(7), **case)
            exact, terms = masked.exact(arrays, **case)
            a, b = masked.dense(arrays, **case)
            peers = {"openblas": lambda: a @ b, "scipy": lambda: scipy.sparse.csr_matrix(a) @ b, "torch": ([a, b], "x[0] @ x[1]")}
            table.cpu(name, masked.program(**case), arrays, exact, terms, peers, "5.9" if (form, zero) == ("tiles", .95) else "")


def index(table, chosen):
    rows = PRODUCT[table.size][0]
    table.head(f"2. the index of a {rows}x{rows} mask, beside conversions to csr")
    for lines in (32, 1):
        if not chosen(name := f"index, {lines}x1 tiles, 90%"):
            continue
        shape, matrix = (rows // lines, rows), np.zeros((rows, rows), "f4")
        mask = np.random.default_rng(7).random(shape) >= .9
        matrix[:] = np.repeat(mask, lines, 0)
        kind, stored = f"tensor<{shape[0]}x{shape[1]}xi1>", f"tensor<{rows}x{rows}xf32, #sparse.mask<tile = [{lines}, 1]>>"
        values, counts = f"tensor<{rows}x{rows}xf32>", f"tensor<{rows // lines + 1}xi32>"
        text = f"""func.func @main(%m: {kind}, %v: {values}) -> {counts} {{
  %a = sparse.assemble(%m, %v) : {kind}, {values} -> {stored}
  %p, %c = sparse.detect %a along 1 by 1 lines {lines} : {stored} -> {counts}, tensor<?xi32>
  return %p : {counts}
}}
"""
        exact = np.concatenate([[0], np.cumsum(mask.sum(1))])
        table.cpu(name, text, [mask, matrix], exact, 0, {"scipy": lambda: scipy.sparse.csr_matrix(matrix),
                                                         "torch": ([matrix, exact.astype("i4")], "(x[0].to_sparse_csr(), x[1])[1]")}, policies=["masked"])


def experts(table, chosen):
    tokens, number, width, hidden = EXPERTS[table.size]
    table.head(f"3. {number} experts, {tokens} tokens, {width} to {hidden} to {width} (openblas: a loop over the experts)")
    for share in ("zipf", "equal"):
        if chosen(name := f"experts, {share}"):
            case = dict(tokens=tokens, experts=number, width=width, hidden=hidden, share=share)
            arrays = routed.arrays(np.random.default_rng(7), **case)
            table.cpu(name, routed.program(**case), arrays, *routed.exact(arrays, **case), {"openblas": lambda: routed.loop(arrays)}, policies=["masked"])


def attention_mask(kind, length):
    at, rng = np.arange(length), np.random.default_rng(7)
    if kind == "padding":  # the batch's sentences after another, each sees itself
        lengths = np.maximum(1, (length / 8 * rng.lognormal(0, .6, 64)).astype(int))
        sentence = np.searchsorted(np.cumsum(lengths), at, "right")
        return sentence[:, None] == sentence[None, :]
    near = abs(at[:, None] - at[None, :]) <= length // 16
    return near | (at[None, :] < BLOCK // 4) | (at[:, None] < BLOCK // 4) if kind == "longformer" else np.ones((length, length), bool)


def attention(table, chosen):
    heads, length, depth = ATTENTION[table.size]
    table.head(f"4. attention, {heads} heads of {length}, depth {depth}, f32; dense: our kernel where all is seen")
    dense = None
    for kind in ("all", "padding", "longformer"):
        if not chosen(name := f"attention, {kind}"):
            continue
        mask, rng = attention_mask(kind, length), np.random.default_rng(9)
        vars(mask_attention).update(HEADS=heads, QUERIES=length, KEYS=length, DEPTH=depth)
        q, k, v = (rng.standard_normal((heads, length, depth)).astype("f4") for _ in range(3))
        score = np.where(mask, .25 * (q.astype("f8") @ k.transpose(0, 2, 1).astype("f8")), -np.inf)
        weights = np.exp(score - score.max(2, keepdims=True))
        weights /= weights.sum(2, keepdims=True)
        call = "torch.nn.functional.scaled_dot_product_attention(*(y[None] for y in x[:3]), attn_mask=x[3], scale=.25)[0]"
        found = table.cpu(f"{name}, {mask.mean():.0%} seen", mask_attention.program("select", "0xFF800000"), [q, k, v, mask], weights @ v,
                          50 * (weights @ abs(v.astype("f8"))), {"torch": ([q, k, v, mask], call)}, policies=["masked"], known=dense)
        dense = dense or {"dense": found["masked"]}


def activations(table, chosen):
    m, n, k = PRODUCT[table.size]
    table.head(f"5. relu of a {m}x{k} matrix, then a product by {k}x{n}")
    for zero in (.9, .99):
        if not chosen(name := f"activations, {zero:.0%} zero"):
            continue
        rng = np.random.default_rng(7)
        x = (rng.standard_normal((m, k)) - {.9: 1.2816, .99: 2.3263}[zero]).astype("f4")
        b = rng.uniform(-1, 1, (k, n)).astype("f4")
        xs, bs, cs = f"tensor<{m}x{k}xf32>", f"tensor<{k}x{n}xf32>", f"tensor<{m}x{n}xf32>"
        text = f"""func.func @main(%x: {xs}, %b: {bs}) -> {cs} {{
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : {xs}
  %out = tensor.empty() : {cs}
  %f = linalg.fill ins(%zero : f32) outs(%out : {cs}) -> {cs}
  %r = linalg.generic {{indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}}
      ins(%x : {xs}) outs(%e : {xs}) {{
  ^bb0(%v: f32, %o: f32):
    %y = arith.maximumf %v, %zero : f32
    linalg.yield %y : f32
  }} -> {xs}
  %c = linalg.matmul ins(%r, %b : {xs}, {bs}) outs(%f : {cs}) -> {cs}
  return %c : {cs}
}}
"""
        relu = np.maximum(x, 0).astype("f8")
        peers = {"openblas": lambda: np.maximum(x, 0) @ b, "scipy": lambda: scipy.sparse.csr_matrix(np.maximum(x, 0)) @ b, "torch": ([x, b], "torch.relu(x[0]) @ x[1]")}
        table.cpu(name, text, [x, b], relu @ b, relu @ abs(b.astype("f8")), peers)


def counts(table, chosen):
    m, n, k = ((128, 64, 128), (512, 64, 512), (512, 64, 512))[table.size]
    if table.chips and chosen("counts"):
        table.head_counted(f"6. {m}x{k} by {k}x{n}, f32, 20 % of 32 x 1 micro-tiles shown; needed: each once, the rows that it meets, lists and mask")
    for chip in table.chips:
        if not chosen("counts"):
            continue
        case = dict(m=m, n=n, k=k, form="tiles", zero=.8)
        arrays = masked.arrays(np.random.default_rng(7), **case)
        listed = int(arrays[0].sum())
        needed = listed * (32 + n) * 4 + listed * 4 + arrays[0].nbytes
        table.counted("counts, tiles, 80%", masked.program(**case), arrays, *masked.exact(arrays, **case), chip,
                      more=lambda found: f"  {found['masked']['bytes'] / needed:.2f} of the bytes needed")


def main():
    table = Table("pit", __doc__, {"masked": "", "dense": "--sparsity=off"})

    def chosen(name):
        return re.search(table.options.only, name)
    for part in (products, index, experts, attention, activations, counts):
        part(table, chosen)
    return table.end()


if __name__ == "__main__":
    sys.exit(main())
