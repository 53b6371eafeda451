"""Programs of sparse_tensor over all level formats, compiled and interpreted, judged by numpy on dense tensors.

Usage: levels.py FOLDER [SEED…]      tile-run is found on PATH; prints a line per seed, exits 1 at the first wrong result

Each seed draws formats for the operands, sizes (odd ones, and 0 entries in one of four), and data with empty rows; every
result comes back dense, with how many entries it stored.
"""
import subprocess
import sys
from pathlib import Path

import numpy as np

MATRICES = {
    "csr": "(i, j) -> (i : dense, j : compressed)",
    "csc": "(i, j) -> (j : dense, i : compressed)",
    "dcsr": "(i, j) -> (i : compressed, j : compressed)",
    "dcsc": "(i, j) -> (j : compressed, i : compressed)",
    "coo": "(i, j) -> (i : compressed(nonunique), j : singleton)",
    "coo_soa": "(i, j) -> (i : compressed(nonunique), j : singleton(soa))",
    "coo_free": "(i, j) -> (i : compressed(nonunique, nonordered), j : singleton(nonordered))",
    "loose": "(i, j) -> (i : dense, j : loose_compressed)",
    "rows": "(i, j) -> (i : compressed, j : dense)",
    "dense": "(i, j) -> (i : dense, j : dense)",
    "blocks": "(i, j) -> (i floordiv 2 : compressed, j floordiv 3 : compressed, i mod 2 : dense, j mod 3 : dense)",
    "bsr": "(i, j) -> (i floordiv 2 : dense, j floordiv 3 : compressed, i mod 2 : dense, j mod 3 : dense)",
}
CUBES = {
    "ccc": "(i, j, k) -> (i : compressed, j : compressed, k : compressed)",
    "dcd": "(i, j, k) -> (i : dense, j : compressed, k : dense)",
    "kji": "(i, j, k) -> (k : compressed, j : dense, i : compressed)",
    "coo": "(i, j, k) -> (i : compressed(nonunique), j : singleton(nonunique), k : singleton)",
}
VECTORS = {"v": "(i) -> (i : compressed)", "dv": "(i) -> (i : dense)"}
TYPES = {"f64": np.float64, "f32": np.float32, "i32": np.int32, "i64": np.int64}


class Program:
    def __init__(self, element):
        self.element, self.isFloat = element, element[0] == "f"
        self.lines, self.results, self.count = [], [], 0

    def name(self):
        self.count += 1
        return f"%x{self.count}"

    def dense(self, shape):
        return f"tensor<{''.join(f'{s}x' for s in shape)}{self.element}>"

    def encoded(self, shape, format):
        return self.dense(shape)[:-1] + f", #{format}>"

    def pack(self, value, shape, format):
        made = self.name()
        self.lines.append(f"{made} = sparse_tensor.convert {value} : {self.dense(shape)} to {self.encoded(shape, format)}")
        return made

    def convert(self, value, shape, format, to):
        made = self.name()
        self.lines.append(f"{made} = sparse_tensor.convert {value} : {self.encoded(shape, format)} to {self.encoded(shape, to)}")
        return made

    def op(self, name):
        return f"arith.{name}{'f' if self.isFloat else 'i'}"

    def generic(self, maps, iterators, operands, shape, format, body, init=None):
        """operands: (value, type). The body computes %r from %a, %b, …, %o."""
        made, out = self.name(), init
        type = self.encoded(shape, format) if format else self.dense(shape)
        if out is None:
            out = self.name()
            self.lines.append(f"{out} = tensor.empty() : {type}" if format else f"{out} = arith.constant dense<0{'.0' if self.isFloat else ''}> : {type}")
        arguments = [f"%{'abcdefgh'[i]}: {self.element}" for i in range(len(operands))] + [f"%o: {self.element}"]
        maps = ", ".join(f"affine_map<{m}>" for m in maps)
        iterators = ", ".join(f'"{"reduction" if c == "r" else "parallel"}"' for c in iterators)
        self.lines += [f"{made} = linalg.generic {{indexing_maps = [{maps}], iterator_types = [{iterators}]}}",
                       f"  ins({', '.join(v for v, _ in operands)} : {', '.join(t for _, t in operands)}) outs({out} : {type}) {{",
                       f"^bb0({', '.join(arguments)}):", *body, f"linalg.yield %r : {self.element}", f"}} -> {type}"]
        return made

    def give(self, value, shape, format, want, entries=None):
        """A result, and the number of its entries where it is encoded and `entries` says how many."""
        if format:
            dense = self.name()
            self.lines.append(f"{dense} = sparse_tensor.convert {value} : {self.encoded(shape, format)} to {self.dense(shape)}")
            if entries is not None:
                n, tensor, wide = self.name(), self.name(), self.name()
                self.lines += [f"{n} = sparse_tensor.number_of_entries {value} : {self.encoded(shape, format)}",
                               f"{wide} = arith.index_cast {n} : index to i64",
                               f"{tensor} = tensor.from_elements {wide} : tensor<1xi64>"]
                self.results.append((tensor, "tensor<1xi64>", np.array([entries]), f"entries of {format}"))
            value = dense
        self.results.append((value, self.dense(shape), want, f"{format or 'dense'} result {len(self.results)}"))


def draw(rng, shape, dtype):
    keep = rng.random(shape) < rng.choice([0.15, 0.5])
    d = rng.integers(1, 5, shape) * rng.choice([-1, 1], shape) * keep
    if len(shape) > 1:
        d[rng.integers(0, shape[0])] = 0
    if rng.random() < 0.25:
        d[...] = 0
    return d.astype(dtype)


def elements(format):
    """Whether every entry is one element."""
    return format in ("csr", "csc", "dcsr", "dcsc", "coo", "coo_soa", "coo_free", "loose", "v", "ccc")


def program(rng):
    element = rng.choice(list(TYPES))
    p, dtype = Program(element), TYPES[element]
    f, g, h = rng.choice(list(MATRICES), 3)
    cube, v = rng.choice(list(CUBES)), rng.choice(list(VECTORS))
    m, n, k = 2 * rng.integers(1, 4), 3 * rng.integers(1, 4), 6 * rng.integers(1, 3)
    if not {"bsr", "blocks"} & {f, g, h}:
        m, n, k = rng.choice([1, 3, 5, 7, 8], 3)
    m, n, k, l = int(m), int(n), int(k), int(rng.choice([1, 3, 4]))
    a, b, c = draw(rng, (m, n), dtype), draw(rng, (m, n), dtype), draw(rng, (n, k), dtype)
    x, y, t = draw(rng, (n,), dtype), draw(rng, (m, k), dtype), draw(rng, (m, n, l), dtype)
    inputs = [a, b, c, x, y, t]
    A, B, C = p.pack("%A", (m, n), f), p.pack("%B", (m, n), g), p.pack("%C", (n, k), g)
    X, T = p.pack("%X", (n,), v), p.pack("%T", (m, n, l), cube)
    At, Bt, Ct, Xt, Tt = p.encoded((m, n), f), p.encoded((m, n), g), p.encoded((n, k), g), p.encoded((n,), v), p.encoded((m, n, l), cube)
    add, mul, sub = p.op("add"), p.op("mul"), p.op("sub")
    E = element
    ij, i_, j_ = "(i, j) -> (i, j)", "(i, j) -> (i)", "(i, j) -> (j)"
    into = [f"%r = {add} %o, %a : {E}"]
    # Sums.
    p.give(p.generic([ij, i_], "pr", [(A, At)], (m,), None, into), (m,), None, a.sum(1).astype(dtype))
    p.give(p.generic([ij, j_], "rp", [(A, At)], (n,), None, into), (n,), None, a.sum(0).astype(dtype))
    p.give(p.generic([ij, "(i, j) -> ()"], "rr", [(A, At)], (), None, into), (), None, a.sum().astype(dtype))
    p.give(p.generic([ij, i_], "pr", [(A, At)], (m,), "v", into), (m,), "v", a.sum(1).astype(dtype),
           int((a != 0).any(1).sum()) if elements(f) else None)
    # Products.
    times = [f"%s = {mul} %a, %b : {E}", f"%r = {add} %o, %s : {E}"]
    product = ["(i, j, k) -> (i, k)", "(i, j, k) -> (k, j)", "(i, j, k) -> (i, j)"]
    p.give(p.generic([ij, j_, i_], "pr", [(A, At), (X, Xt)], (m,), None, times), (m,), None, a @ x)
    p.give(p.generic(product, "ppr", [(A, At), ("%C", p.dense((n, k)))], (m, k), None, times, "%Y"), (m, k), None, y + a @ c)
    p.give(p.generic(product, "ppr", [(A, At), (C, Ct)], (m, k), None, times, "%Y"), (m, k), None, y + a @ c)
    made = ((a != 0).astype(int) @ (c != 0)) > 0
    p.give(p.generic(product, "ppr", [(A, At), (C, Ct)], (m, k), h, times), (m, k), h, a @ c,
           int(made.sum()) if all(map(elements, (f, g, h))) else None)
    # Element by element.
    three = [ij, ij, ij]
    count = lambda where: int(where.sum()) if all(map(elements, (f, g, h))) else None
    for op, want, where in ((add, a + b, (a != 0) | (b != 0)), (sub, a - b, (a != 0) | (b != 0)), (mul, a * b, (a != 0) & (b != 0))):
        body = [f"%r = {op} %a, %b : {E}"]
        p.give(p.generic(three, "pp", [(A, At), (B, Bt)], (m, n), None, body), (m, n), None, want)
        p.give(p.generic(three, "pp", [(A, At), (B, Bt)], (m, n), h, body), (m, n), h, want, count(where))
    p.give(p.generic(three, "pp", [(A, At), ("%B", p.dense((m, n)))], (m, n), None, [f"%r = {add} %a, %b : {E}"]), (m, n), None, a + b)
    p.give(p.generic(three, "pp", [(A, At), ("%B", p.dense((m, n)))], (m, n), h, [f"%r = {mul} %a, %b : {E}"]), (m, n), h, a * b)
    p.give(p.generic([ij, "(i, j) -> (j, i)"], "pp", [(A, At)], (n, m), h, [f"%r = {add} %a, %a : {E}"]), (n, m), h, (2 * a.T).astype(dtype))
    # What sparse_tensor says itself: the larger one, or either; entries above 1; where nothing is stored.
    larger = "maximumf" if p.isFloat else "maxsi"
    compare = "cmpf ogt" if p.isFloat else "cmpi sgt"
    one = "1.0" if p.isFloat else "1"
    body = [f"%r = sparse_tensor.binary %a, %b : {E}, {E} to {E}", "overlap = {", f"^bb0(%l: {E}, %m: {E}):",
            f"%w = arith.{larger} %l, %m : {E}", f"sparse_tensor.yield %w : {E}", "} left = identity right = {}"]
    want = np.where((a != 0) & (b != 0), np.maximum(a, b), a)
    if elements(f) and elements(g):
        p.give(p.generic(three, "pp", [(A, At), (B, Bt)], (m, n), h, body), (m, n), h, want, count(a != 0))
    body = [f"%r = sparse_tensor.select %a : {E} {{", f"^bb0(%l: {E}):", f"%c1 = arith.constant {one} : {E}",
            f"%w = arith.{compare}, %l, %c1 : {E}", "sparse_tensor.yield %w : i1", "}"]
    p.give(p.generic([ij, ij], "pp", [(A, At)], (m, n), h, body), (m, n), h, np.where(a > 1, a, 0), count(a > 1))
    if elements(f):
        body = [f"%r = sparse_tensor.unary %a : {E} to {E}", "present = {} absent = {", f"%c1 = arith.constant {one} : {E}",
                f"sparse_tensor.yield %c1 : {E}", "}"]
        p.give(p.generic([ij, ij], "pp", [(A, At)], (m, n), None, body), (m, n), None, (a == 0).astype(dtype))
    body = [f"%id = arith.constant {'0.0' if p.isFloat else '0'} : {E}", f"%r = sparse_tensor.reduce %o, %a, %id : {E} {{", f"^bb0(%l: {E}, %m: {E}):",
            f"%w = arith.{larger} %l, %m : {E}", f"sparse_tensor.yield %w : {E}", "}"]
    p.give(p.generic([ij, i_], "pr", [(A, At)], (m,), "v", body), (m,), "v", np.maximum(a.max(1), 0))
    # Rank 3: with a vector along j, and with two matrices.
    abc, ab = "(i, j, k) -> (i, j, k)", "(i, j, k) -> (i, k)"
    p.give(p.generic([abc, "(i, j, k) -> (j)", ab], "prp", [(T, Tt), (X, Xt)], (m, l), None, times), (m, l), None, np.einsum("ijk,j->ik", t, x))
    both = [f"%s = {mul} %a, %b : {E}", f"%q = {mul} %s, %c : {E}", f"%r = {add} %o, %q : {E}"]
    p.give(p.generic(["(i, j, k, s) -> (i, j, k)", "(i, j, k, s) -> (j, s)", "(i, j, k, s) -> (i, s)", "(i, j, k, s) -> (k, s)"], "prrp",
                     [(T, Tt), ("%C", p.dense((n, k))), ("%Y", p.dense((m, k)))], (l, k), None, both) if False else
           p.generic(["(i, j, k, s) -> (i, j, k)", "(i, j, k, s) -> (j, s)", "(i, j, k, s) -> (i, s)", "(i, j, k, s) -> (k, s)"], "rrpp",
                     [(T, Tt), ("%C", p.dense((n, k))), ("%Y", p.dense((m, k)))], (l, k), None, both), (l, k), None, np.einsum("ijk,js,is->ks", t, c, y))
    # Other formats.
    p.give(p.convert(A, (m, n), f, h), (m, n), h, a)
    # A diagonal, and a sparse matrix with its own transpose.
    square = draw(rng, (6, 6), dtype)
    inputs.append(square)
    S = p.pack("%S", (6, 6), f)
    St = p.encoded((6, 6), f)
    if f not in ("coo_free",):
        p.give(p.generic(["(i) -> (i, i)", "(i) -> (i)"], "p", [(S, St)], (6,), None, [f"%r = {add} %a, %a : {E}"]), (6,), None, (2 * np.diag(square)).astype(dtype))
    p.give(p.generic([ij, "(i, j) -> (j, i)", ij], "pp", [(S, St), (S, St)], (6, 6), h, [f"%r = {add} %a, %b : {E}"]), (6, 6), h, square + square.T)
    arguments = ", ".join(f"%{name}: {p.dense(d.shape)}" for name, d in zip("ABCXYTS", inputs))
    encodings = "".join(f"#{name} = #sparse_tensor.encoding<{{ map = {text} }}>\n" for name, text in [*MATRICES.items(), *VECTORS.items()])
    encodings += f"#{cube} = #sparse_tensor.encoding<{{ map = {CUBES[cube]} }}>\n" if cube != "coo" else ""
    lines = "\n".join(p.lines)
    if cube == "coo":
        encodings += f"#coo3 = #sparse_tensor.encoding<{{ map = {CUBES[cube]} }}>\n"
        lines = lines.replace(Tt, Tt.replace("#coo", "#coo3"))
    types = ", ".join(type for _, type, _, _ in p.results)
    text = f"{encodings}func.func @main({arguments}) -> ({types}) {{\n{lines}\nreturn {', '.join(r for r, _, _, _ in p.results)} : {types}\n}}\n"
    return text, inputs, p.results, f"{element} {f} {g} {h} {cube} {v} {m}x{n}x{k}x{l}"


def check(folder, seed):
    text, inputs, results, what = program(np.random.default_rng(seed))
    (folder / "program.mlir").write_text(text)
    flags = []
    for i, data in enumerate(inputs):
        np.save(folder / f"{i}.npy", data)
        flags.append(f"--in={folder / f'{i}.npy'}")
    flags += [f"--out={folder / f'r{i}.npy'}" for i in range(len(results))]
    for target in ("cpu", "interpret"):
        done = subprocess.run(["tile-run", folder / "program.mlir", f"--target={target}", *flags], capture_output=True, text=True)
        if done.returncode or "left to upstream" in done.stderr:
            sys.exit(f"seed {seed} ({what}) on {target}:\n{done.stderr[:3000]}")
        for i, (_, _, want, name) in enumerate(results):
            got = np.load(folder / f"r{i}.npy")
            if got.shape != np.shape(want) or not (got == want).all():
                sys.exit(f"seed {seed} ({what}) on {target}: {name} ({i}) is\n{got}\nwant\n{want}")
    print(f"seed {seed}: {len(results)} results, right ({what})", flush=True)


for seed in map(int, sys.argv[2:]):
    check(Path(sys.argv[1]), seed)
