"""Attention that tile-specialize-warps divides among groups of warps: kernels with online softmax of several types,
sizes and masks, one for each case.

specialize_attention.py print CASE                the program of a case
specialize_attention.py list                      the names of all cases
specialize_attention.py ptx BUILD [CASE…]         ptxas accepts each case, without spills and advisories
specialize_attention.py run TARGET BUILD [CASE…]  each case on TARGET (interpret, emulate:CHIP, cuda): the interpreter
                                                  runs the divided kernel and gives what numpy does; another target
                                                  gives what the interpreter does with the kernel as it is

Lengths are no multiples of the tiles: TMA fills with zeros, and the kernel hides keys past the last one.
"""
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

PASS = "builtin.module(tile.kernel(tile-specialize-warps,tile-overlap-products,tile-peel-masks))"


class Case:
    """`tile`: queries, keys, channels of Q and K, channels of V. `mask`: none, causal, window (the last 40 keys)."""

    def __init__(self, name, tile, sizes, heads=2, mask="none", element="f16", out=None, is_odd=False, kept="shared",
                 chip="sm_90a"):
        self.name, self.tile, self.sizes, self.heads, self.mask = name, tile, sizes, heads, mask
        self.element, self.out, self.is_odd, self.kept = element, out or element, is_odd, kept
        self.chip = chip

    def program(self):
        q, k, d, e = self.tile
        t, out = self.element, self.out
        stride = 1 if self.is_odd else 8
        scores, sums, row = f"tensor<{q}x{k}xf32>", f"tensor<{q}x{e}xf32>", f"tensor<{q}xf32>"
        views = [f"!tile.view<{q}x{d}x{t}>", f"!tile.view<{d}x{k}x{t}, order = [1, 0]>", f"!tile.view<{k}x{e}x{t}>",
                 f"!tile.view<{q}x{e}x{out}>"]
        memory, stored = f"memref<?x?x?x{t}>", f"memref<?x?x?x{out}>"
        queries = f"tensor<{q}x{d}x{t}>"
        shift = self.sizes[1] - self.sizes[0]
        first, end, mask = "%c0", "%all", f"""%inside = arith.cmpi ult, %column, %lengths : tensor<{q}x{k}xindex>"""
        before = ""
        if self.mask != "none":
            before = f"""  %row0 = arith.muli %i, %tile : index
  %last = arith.addi %row0, %shift : index
  %reach = arith.addi %last, %tile : index
  %upto = arith.maxsi %reach, %c0 : index
  %seen = arith.ceildivui %upto, %block : index
  %some = arith.minui %seen, %all : index
"""
            end = "%some"
            mask = f"""%rows = tile.iota dim 0 from %last : tensor<{q}x{k}xindex>
    %inside = arith.cmpi sle, %column, %rows : tensor<{q}x{k}xindex>"""
        if self.mask == "window":
            before += """  %far = arith.subi %last, %forty : index
  %from = arith.maxsi %far, %c0 : index
  %hidden = arith.divui %from, %block : index
  %begin = arith.minui %hidden, %some : index
"""
            first = "%begin"
            mask = mask.replace("%inside", "%upper") + f"""
    %forties = tile.broadcast %forty : index -> tensor<{q}x{k}xindex>
    %lows = arith.subi %rows, %forties : tensor<{q}x{k}xindex>
    %lower = arith.cmpi sgt, %column, %lows : tensor<{q}x{k}xindex>
    %inside = arith.andi %upper, %lower : tensor<{q}x{k}xi1>"""
        computed = f"\n  %x = arith.addf %loaded, %loaded : {queries}" if self.kept == "registers" else ""
        loaded = "%loaded" if self.kept == "registers" else "%x"
        narrow = f"\n  %h = arith.truncf %y : {sums} to tensor<{q}x{e}x{out}>" if out != "f32" else ""
        return f"""tile.kernel @attention(%q_: {memory}, %k_: {memory}, %v_: {memory}, %o_: {stored})
    attributes {{machine = #tile.machine<"{self.chip}">}} {{
  %i = tile.program_id 0
  %g = tile.program_id 1
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %tile = arith.constant {q} : index
  %block = arith.constant {k} : index
  %shift = arith.constant {shift} : index
  %forty = arith.constant 40 : index
  %qa = tile.assume %q_ align 16 strides [{stride}, {stride}, 1] : {memory}
  %ka = tile.assume %k_ align 16 strides [{stride}, {stride}, 1] : {memory}
  %va = tile.assume %v_ align 16 strides [{stride}, {stride}, 1] : {memory}
  %oa = tile.assume %o_ align 16 strides [{stride}, {stride}, 1] : {stored}
  %Q = tile.view %qa[%g, _, _] : {memory} to {views[0]}
  %V = tile.view %va[%g, _, _] : {memory} to {views[2]}
  %O = tile.view %oa[%g, _, _] : {stored} to {views[3]}
  {loaded} = tile.load %Q[%i, %c0] : {views[0]} -> {queries}{computed}
  %all = tile.num_tiles %V dim 0 : {views[2]}
  %length = memref.dim %k_, %c1 : {memory}
  %lengths = tile.broadcast %length : index -> tensor<{q}x{k}xindex>
{before}  %zero = arith.constant dense<0.0> : {scores}
  %scale = arith.constant dense<0.3> : {scores}
  %low = arith.constant dense<0xFF800000> : {scores}
  %o0 = arith.constant dense<0.0> : {sums}
  %m0 = arith.constant dense<-3.0e38> : {row}
  %l0 = arith.constant dense<1.0e-30> : {row}
  %r:3 = scf.for %j = {first} to {end} step %c1 iter_args(%o = %o0, %m = %m0, %l = %l0) -> ({sums}, {row}, {row}) {{
    %K = tile.view %ka[%g, _, _] : {memory} to {views[1]}
    %kt = tile.load %K[%c0, %j] : {views[1]} -> tensor<{d}x{k}x{t}>
    %qk = tile.mma %x, %kt, %zero : {queries}, tensor<{d}x{k}x{t}> -> {scores}
    %scaled = arith.mulf %qk, %scale : {scores}
    %column0 = arith.muli %j, %block : index
    %column = tile.iota dim 1 from %column0 : tensor<{q}x{k}xindex>
    {mask}
    %present = arith.cmpi ult, %column, %lengths : tensor<{q}x{k}xindex>
    %both = arith.andi %inside, %present : tensor<{q}x{k}xi1>
    %s = arith.select %both, %scaled, %low : tensor<{q}x{k}xi1>, {scores}
    %most = tile.reduce {{arith.maximumf}} %s axes [1] : {scores} -> {row}
    %m1 = arith.maximumf %m, %most : {row}
    %mb = tile.broadcast %m1 axes [1] : {row} -> {scores}
    %sm = arith.subf %s, %mb : {scores}
    %p = math.exp %sm : {scores}
    %md = arith.subf %m, %m1 : {row}
    %a = math.exp %md : {row}
    %la = arith.mulf %l, %a : {row}
    %ps = tile.reduce {{arith.addf}} %p axes [1] : {scores} -> {row}
    %l1 = arith.addf %la, %ps : {row}
    %ab = tile.broadcast %a axes [1] : {row} -> {sums}
    %rescaled = arith.mulf %o, %ab : {sums}
    %w = arith.truncf %p : {scores} to tensor<{q}x{k}x{t}>
    %v = tile.load %V[%j, %c0] : {views[2]} -> tensor<{k}x{e}x{t}>
    %o1 = tile.mma %w, %v, %rescaled : tensor<{q}x{k}x{t}>, tensor<{k}x{e}x{t}> -> {sums}
    scf.yield %o1, %m1, %l1 : {sums}, {row}, {row}
  }}
  %lb = tile.broadcast %r#2 axes [1] : {row} -> {sums}
  %y = arith.divf %r#0, %lb : {sums}{narrow}
  tile.store {"%h" if narrow else "%y"}, %O[%i, %c0] : tensor<{q}x{e}x{out}>, {views[3]}
  tile.return
}}
func.func @main(%q: tensor<?x?x?x{t}>, %k: tensor<?x?x?x{t}>, %v: tensor<?x?x?x{t}>, %o: tensor<?x?x?x{out}>) -> tensor<?x?x?x{out}> {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %heads = tensor.dim %o, %c0 : tensor<?x?x?x{out}>
  %n = tensor.dim %o, %c1 : tensor<?x?x?x{out}>
  %rows = arith.constant {q} : index
  %grid = arith.ceildivui %n, %rows : index
  %r = tile.launch @attention grid(%grid, %heads) ins(%q, %k, %v : tensor<?x?x?x{t}>, tensor<?x?x?x{t}>, tensor<?x?x?x{t}>) outs(%o : tensor<?x?x?x{out}>) -> tensor<?x?x?x{out}>
  return %r : tensor<?x?x?x{out}>
}}
"""

    def data(self):
        """The arguments as they lie in memory, and the result in f64."""
        random = np.random.default_rng(5)
        (queries, keys), (_, _, d, e) = self.sizes, self.tile
        arrays = [random.normal(size=(self.heads, n, c)) for n, c in ((queries, d), (keys, d), (keys, e))]
        encoded = [encode(array, self.element) for array in arrays]
        q, k, v = (decode(array, self.element) for array in encoded)
        if self.kept == "registers":
            q = 2 * q
        s = 0.3 * np.einsum("hid,hjd->hij", q, k)
        at = np.arange(queries)[:, None] + keys - queries - np.arange(keys)[None, :]
        if self.mask != "none":
            s = np.where(at >= 0, s, -np.inf)
        if self.mask == "window":
            s = np.where(at < 40, s, -np.inf)
        with np.errstate(invalid="ignore"):
            p = np.exp(s - np.maximum(s.max(axis=2, keepdims=True, initial=-3e38), -3e38))
        o = np.einsum("hij,hje->hie", p, v) / np.maximum(p.sum(axis=2, keepdims=True), 1e-30)
        return [*encoded, np.zeros((self.heads, queries, e), {"f16": "f2", "bf16": "u2", "f32": "f4"}[self.out])], o


def encode(array, element):
    if element == "bf16":
        return (np.ascontiguousarray(array, "f4").view("u4") >> 16).astype("u2")
    return np.ascontiguousarray(array, {"f16": "f2", "f32": "f4"}[element])


def decode(array, element):
    return (array.astype("u4") << 16).view("f4").astype("f8") if element == "bf16" else array.astype("f8")


CASES = [
    Case("plain", (64, 64, 64, 64), (75, 135)),
    Case("causal", (128, 64, 64, 64), (201, 201), mask="causal"),
    Case("wide", (128, 128, 128, 128), (133, 261), heads=1, mask="causal"),
    Case("late", (64, 64, 64, 64), (70, 200), mask="causal"),
    Case("early", (64, 64, 64, 64), (150, 70), mask="causal"),  # the first queries see no key, the first program none
    Case("window", (64, 64, 64, 64), (150, 190), mask="window"),
    Case("one_key", (128, 64, 64, 64), (129, 1)),
    Case("no_key", (64, 64, 64, 64), (65, 0)),
    Case("one_query", (64, 128, 64, 64), (1, 129)),
    Case("bfloat", (128, 64, 64, 128), (131, 131), heads=1, mask="causal", element="bf16"),
    Case("narrow", (128, 64, 32, 64), (131, 99), heads=1),
    Case("single", (64, 64, 64, 64), (75, 75), out="f32"),
    Case("computed", (64, 64, 64, 64), (75, 75), kept="registers"),
    Case("odd", (64, 64, 64, 64), (75, 75), is_odd=True),
    Case("rounds", (64, 64, 128, 128), (64, 461), heads=1),  # more rounds than stages
]
# Sums in tensor memory: 128 queries, a row in each thread.
CASES += [
    Case("tensor_" + name, *rest, chip="sm_100a", **more) for name, *rest, more in [
        ("causal", (128, 64, 64, 64), (201, 201), {"mask": "causal"}),
        ("wide", (128, 64, 128, 128), (133, 261), {"heads": 1, "mask": "causal"}),
        ("long", (128, 128, 64, 64), (133, 461), {"heads": 1}),
        ("early", (128, 64, 64, 64), (300, 140), {"mask": "causal"}),  # the last programs see all, the first none
        ("window", (128, 64, 64, 64), (150, 190), {"mask": "window"}),
        ("one_key", (128, 64, 64, 64), (129, 1), {}),
        ("no_key", (128, 64, 64, 64), (65, 0), {}),
        ("one_query", (128, 128, 64, 64), (1, 129), {}),
        ("bfloat", (128, 64, 64, 128), (131, 131), {"heads": 1, "mask": "causal", "element": "bf16"}),
        ("single", (128, 64, 64, 64), (75, 75), {"out": "f32"}),
        ("rounds", (128, 32, 64, 64), (128, 461), {"heads": 1}),  # more rounds than stages
    ]
]


def tool(build, name):
    return Path(build).resolve() / "bin" / name


def assemble(case, build, folder):
    source, ptx = folder / "case.mlir", folder / "case.ptx"
    source.write_text(case.program())
    path = os.environ["PATH"] + ":/usr/local/cuda/bin"
    for command in ([tool(build, "tile-translate"), source, "--tile-to-ptx", f"--chip={case.chip}", "-o", ptx],
                    ["ptxas", "-v", f"-arch={case.chip}", ptx, "-o", folder / "case.cubin"]):
        done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "PATH": path})
        said = done.stdout + done.stderr
        if done.returncode:
            return said
    product = "wgmma.mma_async" if case.chip == "sm_90a" else "tcgen05.mma"
    if (product in ptx.read_text()) == case.is_odd:
        return f"{product}, but its rows do not suit TMA" if case.is_odd else f"no {product}"
    return said if "(C75" in said or "0 bytes spill stores, 0 bytes spill loads" not in said else ""


def run(case, target, build, folder):
    source, out, stats = folder / "case.mlir", folder / "out.npy", folder / "stats.json"
    source.write_text(case.program())
    arguments, result = case.data()
    flags = [f"--target={target}", f"--out={out}", f"--stats={stats}", "--timeout=100"]
    for i, array in enumerate(arguments):
        np.save(folder / f"in{i}.npy", array)
        flags.append(f"--in={folder}/in{i}.npy")
    flags.append(f"--pass-pipeline={PASS}" if target == "interpret" else "--check-against=interpret")
    done = subprocess.run([tool(build, "tile-run"), source, *flags], capture_output=True, text=True)
    if done.returncode:
        return done.stderr + done.stdout
    passes = json.loads(stats.read_text())["passes"]
    count = passes["tile-specialize-warps"]["specialized"] if isinstance(passes, dict) else sum(
        row.get("specialized", 0) for row in passes)
    if count != int(not case.is_odd):
        return f"{count} kernels specialized"
    difference = np.abs(decode(np.load(out), case.out) - result)
    most = {"f16": 4e-3, "f32": 4e-3, "bf16": 3e-2}[case.element]
    return "" if not difference.size or (difference <= most).all() else f"{np.nanmax(difference)} from numpy"


def main(arguments):
    cases = {case.name: case for case in CASES}
    if arguments[0] == "list":
        print("\n".join(cases))
        return 0
    if arguments[0] == "print":
        print(cases[arguments[1]].program(), end="")
        return 0
    target, rest = (arguments[1], arguments[2:]) if arguments[0] == "run" else (None, arguments[1:])
    wrong = 0
    chip = target.split(":")[1] if target and ":" in target else None
    for name in rest[1:] or [name for name in cases if chip in (None, cases[name].chip)]:
        with tempfile.TemporaryDirectory() as place:
            case, place = cases[name], Path(place)
            said = run(case, target, rest[0], place) if target else assemble(case, rest[0], place)
        wrong += bool(said)
        print(f"{name}: {'wrong: ' + said[:1500] if said else 'right'}", flush=True)
    print(f"{wrong} wrong")
    return wrong > 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
