"""Every linalg op through tile-run, against upstream's own lowering or numpy. Use: linalg_named_ops.py TILE_RUN DOC INCLUDE_FOLDER… [--only=REGEX of families] [--chip=CHIP] [--every=N]

For each op: static and dynamic shapes and the element types of its family, odd sizes, strides and dilations, seeded
unsymmetric inputs. The reference is the same program without convert-linalg-to-tile (upstream's loops), or numpy
where upstream has no loops for it. The number of fallback_ops must be what the table in DOC (docs/linalg-coverage.md)
says, and every op that MLIR's headers declare must have a row there. Programs of a family run as one module; one that
disagrees is run again op by op, to name it.
With --chip the programs run on this GPU's emulator, which also finds races. With --every only one program in N runs.
"""
import json
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Callable, Optional

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import float_formats  # noqa: E402

DTYPES = {"f16": np.float16, "f32": np.float32, "f64": np.float64, "i1": np.bool_, "i8": np.int8, "i16": np.int16,
          "i32": np.int32, "i64": np.int64}
BATCH = 48  # programs of one module: tile-run takes at most 64 results
CODES = {"bf16": np.uint16, "f8E4M3FN": np.uint8, "f8E5M2": np.uint8}  # numpy has their bits only
SIZES = {"n": 2, "c": 5, "f": 19, "g": 3, "m": 2, "d": 6, "h": 11, "w": 23}
WINDOW = {"d": 2, "h": 3, "w": 2}
STRIDE = {"d": 1, "h": 2, "w": 2}
DILATION = {"d": 2, "h": 1, "w": 3}


def encode(dtype, array):
    """Numbers near these, as bits."""
    if dtype == "bf16":
        return (np.asarray(array, np.float32).view(np.uint32) >> 16).astype(np.uint16)
    numbers = float_formats.decode(dtype)
    codes = np.flatnonzero(np.isfinite(numbers))
    codes = codes[np.argsort(numbers[codes], kind="stable")]
    return np.asarray(codes[np.searchsorted(numbers[codes], array).clip(0, len(codes) - 1)], np.uint8)


def decoded(dtype, array):
    if dtype == "bf16":
        return (array.astype(np.uint32) << 16).view(np.float32).astype(np.float64)
    return float_formats.decode(dtype)[array] if dtype in CODES else array


@dataclass
class Case:
    """One op. `text` holds {r} for the result type, {i0}, {i1}, … for typed operands and {a0}, … for their names."""
    op: str
    types: list  # of each operand, the outs last
    shapes: list  # () for a tensor of rank 0, None for a scalar
    text: str
    values: str = "normal"
    expect: Optional[Callable] = None
    results: int = 1
    dynamic: bool = False
    tolerance: float = 1e-5
    arrays: list = field(default_factory=list)

    def type_of(self, i):
        if self.shapes[i] is None:
            return self.types[i]
        return f"tensor<{''.join(('?' if self.dynamic else str(s)) + 'x' for s in self.shapes[i])}{self.types[i]}>"

    def make_inputs(self, rng):
        for dtype, shape in zip(self.types, self.shapes):
            shape = () if shape is None else shape
            if dtype == "i1":
                array = rng.integers(0, 2, shape)
            elif dtype[0] == "i":
                array = rng.integers(1, 9, shape) if self.values == "positive" else rng.integers(-9, 9, shape)
            else:
                array = rng.normal(size=shape)
                array = np.abs(array) + 0.25 if self.values == "positive" else array
            self.arrays.append(encode(dtype, array) if dtype in CODES else np.asarray(array, DTYPES[dtype]))

    def body(self, number, first):
        names = {f"a{i}": f"%a{first + i}" for i in range(len(self.types))}
        names |= {f"t{i}": self.type_of(i) for i in range(len(self.types))}
        names |= {f"i{i}": f"{names[f'a{i}']} : {names[f't{i}']}" for i in range(len(self.types))}
        names |= {f"e{i}": t for i, t in enumerate(self.types)}
        ins, outs = self.types[:-self.results], range(len(self.types) - self.results, len(self.types))
        names["ins"] = f"ins({', '.join(names[f'a{i}'] for i in range(len(ins)))} : " \
                       f"{', '.join(names[f't{i}'] for i in range(len(ins)))})"
        names["outs"] = f"outs({', '.join(names[f'a{i}'] for i in outs)} : {', '.join(names[f't{i}'] for i in outs)})"
        names["o"] = f"{names['ins']} {names['outs']} -> {self.type_of(len(self.types) - 1)}"
        text = re.sub(r"\{(\w+)\}", lambda m: names.get(m[1], m[0]), self.text)
        return f"  %r{number}{f':{self.results}' if self.results > 1 else ''} = linalg.{text}\n"


# --- The table of programs --------------------------------------------------------------------------------------------

def conv_cases(name):
    """Layouts from the name: conv_2d_nhwc_hwcf reads nhwc, filters by hwcf and writes nhwf."""
    quantized = name.endswith("_q")
    parts = name.removesuffix("_q").split("_")
    depthwise = parts[0] == "depthwise"
    rank = int(next(p for p in parts if re.fullmatch(r"\dd", p))[0])
    plain = "dhw"[3 - rank:]
    layouts = parts[parts.index(f"{rank}d") + 1:] or [plain, plain]
    image, kernel = layouts
    out = image + ("m" if "m" in kernel else "") if depthwise else image.replace("c", "f")
    strided = layouts != [plain, plain]
    attributes = " {dilations = dense<[%s]> : tensor<%dxi64>, strides = dense<[%s]> : tensor<%dxi64>}" % (
        ", ".join(str(DILATION[x]) for x in plain), rank, ", ".join(str(STRIDE[x]) for x in plain), rank)
    shapes = [[SIZES[x] for x in image], [WINDOW.get(x, SIZES[x]) for x in kernel],
              window_output(out, strided)]
    scalars = [None, None] if quantized else []
    kinds = [("i8", "i8", "i32")] if quantized else [("f32",) * 3, ("i8", "i8", "i32"), ("f64",) * 3, ("f16", "f16", "f32")]
    if "2d" in name and not quantized:
        kinds += [("bf16", "bf16", "f32"), ("f8E4M3FN", "f8E4M3FN", "f32")]
    for a, b, c in kinds:
        yield Case(name, [a, b] + ["i32"] * len(scalars) + [c], shapes[:2] + scalars + shapes[2:],
                   name + (attributes if strided else "") + " {o}", tolerance=1e-4 if a == "f16" else 1e-5)


def window_output(layout, strided):
    def extent(x):
        if x not in WINDOW:
            return SIZES[x]
        stride, dilation = (STRIDE[x], DILATION[x]) if strided else (1, 1)
        return (SIZES[x] - dilation * (WINDOW[x] - 1) - 1) // stride + 1
    return [extent(x) for x in layout]


def pooling_cases(name):
    image, plain = name.split("_")[1], [x for x in name.split("_")[1] if x in WINDOW]
    attributes = " {dilations = dense<[%s]> : tensor<%dxi64>, strides = dense<[%s]> : tensor<%dxi64>}" % (
        ", ".join(str(DILATION[x]) for x in plain), len(plain), ", ".join(str(STRIDE[x]) for x in plain), len(plain))
    shapes = [[SIZES[x] for x in image], [WINDOW[x] for x in plain], window_output(image, True)]
    narrow = ["bf16", "f8E5M2"] if "nhwc" in name and "sum" not in name else []  # a sum of them is rounded at each step
    for a in ["i32", "i8"] if "unsigned" in name else ["f32", "f16", "f64", "i32", "i8"] + narrow:
        yield Case(name, [a] * 3, shapes, name + attributes + " {o}", tolerance=1e-2 if a == "f16" else 1e-5)


def elementwise_cases():
    shape = [7, 37]
    for name in "abs ceil erf exp floor log negf reciprocal round rsqrt sqrt square tanh".split():
        for a in ["f32", "f16", "f64", "bf16", "f8E4M3FN"]:
            yield Case(name, [a] * 2, [shape] * 2, name + " {o}", "positive" if name in ("log", "rsqrt", "sqrt") else "normal",
                       tolerance=2e-3 if a == "f16" else 1e-6)
    for name in "add sub mul div max min".split():
        for a in ["f32", "f64", "i32", "i64", "i8", "f16", "bf16", "f8E4M3FN", "f8E5M2"]:
            yield Case(name, [a] * 3, [shape] * 3, name + " {o}", "positive" if name == "div" else "normal",
                       tolerance=2e-3 if a == "f16" else 1e-6)
    yield Case("add", ["i1"] * 3, [shape] * 3, "add {o}")
    yield Case("div_unsigned", ["i32"] * 3, [shape] * 3, "div_unsigned {o}", "positive")
    yield Case("powf", ["f32"] * 3, [shape] * 3, "powf {o}", "positive")
    yield Case("select", ["i1", "f32", "f32", "f32"], [shape] * 4, "select {o}")
    yield Case("copy", ["f32"] * 2, [shape] * 2, "copy {o}")
    yield Case("copy", ["i8", "i32"], [shape] * 2, "copy {o}")
    yield Case("fill", ["f32"] * 2, [None, shape], "fill {o}")
    yield Case("fill", ["i8"] * 2, [None, [5]], "fill {o}")
    yield Case("fill_rng_2d", ["f64", "f64", "i32", "f32"], [None, None, None, shape], "fill_rng_2d {o}", "positive")
    yield Case("elementwise", ["f32"] * 3, [shape] * 3, "elementwise kind=#linalg.elementwise_kind<sub> {o}")
    yield Case("broadcast", ["f32"] * 2, [[37], shape], "broadcast {ins} {outs} dimensions = [0]")
    yield Case("broadcast", ["f32"] * 2, [[], shape], "broadcast {ins} {outs} dimensions = [0, 1]")
    yield Case("broadcast", ["i64"] * 2, [[7], shape], "broadcast {ins} {outs} dimensions = [1]")
    yield Case("transpose", ["f32"] * 2, [[3, 7, 41], [41, 3, 7]], "transpose {ins} {outs} permutation = [2, 0, 1]")
    yield Case("transpose", ["i8"] * 2, [[37, 7], [7, 37]], "transpose {ins} {outs} permutation = [1, 0]")
    yield Case("map", ["f32"] * 3, [shape] * 3, "map { arith.subf } {ins} {outs}")
    for combiner, a in ("arith.addf", "f32"), ("arith.maxsi", "i32"), ("arith.mulf", "f64"), ("arith.andi", "i8"):
        yield Case("reduce", [a] * 2, [[7, 19, 5], [7, 5]], "reduce { %s } {ins} {outs} dimensions = [1]" % combiner)


def product_cases():
    m, n, k, b = 13, 37, 29, 3
    shapes = {"matmul": "mk kn mn", "batch_matmul": "bmk bkn bmn", "batch_reduce_matmul": "bmk bkn mn",
              "matvec": "mk k m", "vecmat": "k kn n", "batch_matvec": "bmk bk bm", "batch_vecmat": "bk bkn bn",
              "dot": "k k ", "mmt4d": "mkpr nkqr mnpq", "batch_mmt4d": "bmkpr bnkqr bmnpq", "contract": "bkm bnk mbn"}
    sizes = {"m": m, "n": n, "k": k, "b": b, "p": 5, "q": 9, "r": 2}
    for name, letters in shapes.items():
        small = sizes | ({"m": 3, "n": 4, "k": 7} if "mmt4d" in name else {})
        maps = ", ".join(f"affine_map<(b, m, n, k) -> ({', '.join(x)})>" for x in letters.split(" "))
        text = f"contract indexing_maps = [{maps}] {{o}}" if name == "contract" else name + " {o}"
        for a, c in ("f32", "f32"), ("i8", "i32"), ("f64", "f64"), ("f16", "f32"), ("i64", "i64"), ("i16", "i32"), ("i1", "i1"), \
                ("bf16", "f32"), ("f8E4M3FN", "f32"), ("f8E5M2", "f16"):
            yield Case(name, [a, a, c], [[small[x] for x in part] for part in letters.split(" ")], text,
                       tolerance=1e-3 if a == "f16" else 2e-2 if c == "f16" else 1e-5)
    for name, letters in ("quantized_matmul", "mk kn mn"), ("quantized_batch_matmul", "bmk bkn bmn"):
        s = [[sizes[x] for x in part] for part in letters.split()]
        yield Case(name, ["i8", "i8", "i32", "i32", "i32"], s[:2] + [None, None] + s[2:], name + " {o}")


def softmax(x, _):
    if not x.size:
        return x
    e = np.exp(x.astype(np.float64) - x.max(1, keepdims=True))
    return e / e.sum(1, keepdims=True)


ARGMAX = """generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i)>],
      iterator_types = ["parallel", "reduction"]} {ins} {outs} {
  ^bb0(%x: {e0}, %v: {e1}, %at: {e2}):
    %j = linalg.index 1 : index
    %n = arith.index_cast %j : index to {e2}
    %c = arith.cmpf ogt, %x, %v : {e0}
    %w = arith.select %c, %x, %v : {e0}
    %s = arith.select %c, %n, %at : {e2}
    linalg.yield %w, %s : {e1}, {e2}
  } -> ({t1}, {t2})"""
RUNNING = """generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "reduction"]} {ins} {outs} {
  ^bb0(%x: {e0}, %v: {e1}, %y: {e2}):
    %s = arith.addf %x, %v : {e0}
    %t = arith.mulf %s, %y : {e0}
    linalg.yield %s, %t : {e1}, {e2}
  } -> ({t1}, {t2})"""
DIAGONAL = """generic {indexing_maps = [affine_map<(i, j) -> (i, i, j)>, affine_map<(i, j) -> (%s)>, affine_map<(i, j) -> (j, i)>],
      iterator_types = ["parallel", "parallel"]} {ins} {outs} {
  ^bb0(%%x: {e0}, %%v: {e1}, %%y: {e2}):
    %%s = arith.subf %%x, %%v : {e0}
    linalg.yield %%s : {e2}
  } -> {t2}"""


def generic_cases():
    yield Case("softmax", ["f32"] * 2, [[7, 37]] * 2, "softmax dimension(1) {o}", expect=softmax)
    for shape in [9, 301], [301, 9], [1, 5], [5, 1]:
        yield Case("generic", ["f32", "f32", "i32"], [shape, shape[:1], shape[:1]], ARGMAX, results=2)
        yield Case("generic", ["f32"] * 3, [shape, shape[:1], shape], RUNNING, results=2)
    yield Case("generic", ["f32"] * 3, [[7, 7, 41], [], [41, 7]], DIAGONAL % "")
    yield Case("generic", ["f32"] * 3, [[7, 7, 41], [1, 41], [41, 7]], DIAGONAL % "0, j")
    strides = "{dilations = dense<1> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>}"
    for n, h, w, c, f, kh, kw in ((0, 5, 7, 3, 4, 2, 2), (1, 1, 1, 1, 1, 1, 1), (2, 5, 7, 0, 4, 2, 2), (2, 5, 7, 1, 4, 3, 3),
                                  (1, 3, 3, 33, 1, 3, 3), (1, 2, 90, 70, 65, 2, 1)):
        out = [n, (h - kh) // 2 + 1, (w - kw) // 2 + 1, f]
        yield Case("conv_2d_nhwc_hwcf", ["f32"] * 3, [[n, h, w, c], [kh, kw, c, f], out],
                   f"conv_2d_nhwc_hwcf {strides} {{o}}")
        yield Case("pooling_nhwc_max", ["f32"] * 3, [[n, h, w, c], [kh, kw], out[:3] + [c]],
                   f"pooling_nhwc_max {strides} {{o}}")


def edge_cases():
    """Dimensions of 0 and 1, each alone and all at once, in every family of kernels."""
    for sizes in (0, 5, 7), (5, 0, 7), (5, 7, 0), (1, 1, 1), (40, 33, 1), (1, 40, 33):
        m, n, k = sizes
        for a, c in ("f32", "f32"), ("i8", "i32"):
            yield Case("matmul", [a, a, c], [[m, k], [k, n], [m, n]], "matmul {o}")
        yield Case("batch_matmul", ["f32"] * 3, [[k, m, n], [k, n, m], [k, m, m]], "batch_matmul {o}")
        yield Case("matvec", ["f32"] * 3, [[m, k], [k], [m]], "matvec {o}")
        yield Case("dot", ["i32"] * 3, [[m], [m], []], "dot {o}")
        yield Case("quantized_matmul", ["i8", "i8", "i32", "i32", "i32"], [[m, k], [k, n], None, None, [m, n]],
                   "quantized_matmul {o}")
        yield Case("add", ["f32"] * 3, [[m, n, k]] * 3, "add {o}")
        yield Case("exp", ["f16"] * 2, [[k, m]] * 2, "exp {o}", tolerance=2e-3)
        yield Case("transpose", ["f32"] * 2, [[m, n, k], [k, m, n]], "transpose {ins} {outs} permutation = [2, 0, 1]")
        yield Case("broadcast", ["f32"] * 2, [[m], [n, m, k]], "broadcast {ins} {outs} dimensions = [0, 2]")
        yield Case("reduce", ["f32"] * 2, [[m, n, k], [m, k]], "reduce { arith.addf } {ins} {outs} dimensions = [1]")
        yield Case("reduce", ["i32"] * 2, [[m, n, k], []], "reduce { arith.maxsi } {ins} {outs} dimensions = [0, 1, 2]")
        yield Case("softmax", ["f32"] * 2, [[m, n]] * 2, "softmax dimension(1) {o}", expect=softmax)
        yield Case("generic", ["f32", "f32", "i32"], [[m, n], [m], [m]], ARGMAX, results=2)
        yield Case("conv_1d_nwc_wcf", ["f32"] * 3, [[m, n + 1, k], [2, k, m], [m, n, m]], "conv_1d_nwc_wcf {o}")
        yield Case("depthwise_conv_1d_nwc_wc", ["f32"] * 3, [[m, n + 1, k], [2, k], [m, n, k]], "depthwise_conv_1d_nwc_wc {o}")
        yield Case("pooling_nwc_max", ["f32"] * 3, [[m, n + 1, k], [2], [m, n, k]], "pooling_nwc_max {o}")


def relayout_cases():
    """Against numpy: upstream has no loops for pack and unpack."""
    def pack(x, _):
        padded = np.zeros((24, 40), x.dtype)
        padded[:21, :37] = x
        return padded.reshape(3, 8, 5, 8).transpose(2, 0, 3, 1)
    yield Case("pack", ["f32", "f32"], [[21, 37], [5, 3, 8, 8]],
               "pack {a0} padding_value(%zero : f32) outer_dims_perm = [1, 0] inner_dims_pos = [1, 0] "
               "inner_tiles = [8, 8] into {a1} : {t0} -> {t1}", expect=pack)
    yield Case("pack", ["i8", "i8"], [[24, 35], [3, 5, 8, 7]],
               "pack {a0} inner_dims_pos = [0, 1] inner_tiles = [8, 7] into {a1} : {t0} -> {t1}",
               expect=lambda x, _: x.reshape(3, 8, 5, 7).transpose(0, 2, 1, 3))
    yield Case("unpack", ["f32", "f32"], [[5, 3, 8, 8], [21, 37]],
               "unpack {a0} outer_dims_perm = [1, 0] inner_dims_pos = [1, 0] inner_tiles = [8, 8] into {a1} : {t0} -> {t1}",
               expect=lambda x, _: x.transpose(1, 3, 0, 2).reshape(24, 40)[:21, :37])


def families(ops):
    yield "elementwise", list(elementwise_cases())
    yield "products", list(product_cases())
    yield "generic", list(generic_cases())
    yield "relayout", list(relayout_cases())
    yield "edges", list(edge_cases())
    for rank in "123":  # one program each: starting a process costs as much as ten ops
        yield f"conv_{rank}d", [case for name in sorted(ops) if f"conv_{rank}d" in name for case in conv_cases(name)]
    yield "pooling", [case for name in sorted(ops) if "pooling" in name for case in pooling_cases(name)]


# --- Running ----------------------------------------------------------------------------------------------------------

class Runner:
    def __init__(self, tool, chip):
        self.tool, self.chip = tool, chip
        dump = subprocess.run([str(Path(tool).parent / "tile-opt"), "--tile-to-cpu-pipeline", "--dump-pass-pipeline"],
                              input="module {}", capture_output=True, text=True)
        text = re.sub(r"\s+", " ", re.sub(r"canonicalize\{.*?top-down=true\}", "canonicalize", dump.stderr))
        text = re.search(r"builtin\.module\(.*\)", text)[0]
        self.reference = re.sub(r"convert-linalg-to-tile(\{[^}]*\})?, ", "", text, count=1)
        assert self.reference != text, "the pipeline has no convert-linalg-to-tile"

    def run(self, cases, reference, folder):
        """The results of every case and fallback_ops; None when it does not compile."""
        arguments, lines, types, names = [], "", [], []
        for number, case in enumerate(cases):
            lines += case.body(number, len(arguments))
            arguments += [(case.type_of(i), array) for i, array in enumerate(case.arrays)]
            outs = range(len(case.types) - case.results, len(case.types))
            types += [case.type_of(i) for i in outs]
            names += [f"%r{number}" + (f"#{i}" if case.results > 1 else "") for i in range(case.results)]
        text = "func.func @main(" + ", ".join(f"%a{i}: {t}" for i, (t, _) in enumerate(arguments)) + \
               f") -> ({', '.join(types)}) {{\n  %zero = arith.constant 0.0 : f32\n{lines}" \
               f"  return {', '.join(names)} : {', '.join(types)}\n}}\n"
        (folder / "program.mlir").write_text(text)
        command = [self.tool, str(folder / "program.mlir"), f"--stats={folder}/stats.json"]
        command += [f"--pass-pipeline={self.reference}"] if reference else []
        command += [f"--target=emulate:{self.chip}"] if self.chip and not reference else []
        for i, (_, array) in enumerate(arguments):
            np.save(folder / f"in{i}.npy", array)
            command.append(f"--in={folder}/in{i}.npy")
        command += [f"--out={folder}/out{i}.npy" for i in range(len(names))]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            return None, done.stderr[:2000] or f"status {done.returncode}"
        results = [np.load(folder / f"out{i}.npy") for i in range(len(names))]
        return results, json.loads((folder / "stats.json").read_text())["fallback_ops"]


def differ(result, expected, tolerance):
    if result.shape != expected.shape:
        return f"shape {result.shape}, expected {expected.shape}"
    a, b = result.astype(np.float64), np.asarray(expected, np.float64)
    with np.errstate(invalid="ignore"):
        error = np.where((a == b) | (np.isnan(a) & np.isnan(b)), 0, np.abs(a - b) / (1 + np.abs(b)))
    if error.size == 0 or error.max() <= tolerance:
        return None
    at = np.unravel_index(np.nan_to_num(error, nan=np.inf).argmax(), error.shape)
    return f"at {tuple(map(int, at))}: {a[at]!r}, expected {b[at]!r}"


def check(runner, cases, table, folder):
    """What is wrong with these cases run as one program: a list of sentences."""
    results, fallback = runner.run(cases, False, folder)
    if results is None:
        return [f"tile-run failed: {fallback}"]
    wanted = sum(table[case.op] for case in cases)
    problems = [] if fallback == wanted else [f"fallback_ops is {fallback}, the table says {wanted}"]
    byUpstream = [case for case in cases if not case.expect]
    reference, message = runner.run(byUpstream, True, folder) if byUpstream else ([], 0)
    if reference is None:
        return problems + [f"upstream's lowering failed: {message}"]
    results, reference = iter(results), iter(reference)
    for case in cases:
        for output in range(case.results):
            result = next(results)
            expected = case.expect(*case.arrays) if case.expect else next(reference)
            dtype = case.types[output - case.results]
            problem = differ(decoded(dtype, result), decoded(dtype, expected), case.tolerance)
            if problem:
                problems.append(f"{case.op} {case.types} result {output}: {problem}")
    return problems


def read_table(path):
    """op -> fallback_ops from the rows `| linalg.op | how | 0 |`, and the ops whose row says `refused`."""
    rows = re.findall(r"^\| `linalg\.(\w+)` \|.*\| (\w+) \|$", Path(path).read_text(), re.M)
    return {op: int(n) for op, n in rows if n != "refused"}, {op for op, n in rows if n == "refused"}


def declared_ops(folders):
    """Every op of the dialect, from the headers under the include folders."""
    for folder in folders:
        for header in (Path(folder) / "mlir/Dialect/Linalg/IR").glob("*Ops.h.inc"):
            yield from re.findall(r'"linalg\.(\w+)"', header.read_text())


def is_worth(case, dynamic, chip):
    """No GPU has an erf of f64 yet. With dynamic shapes two element types are enough; pack and unpack then have other types for their tiles."""
    if chip and case.op == "erf" and "f64" in case.types:
        return False
    return not dynamic or (case.types[0] in ("f32", "i32", "i1") and "pack" not in case.op)


def check_family(runner, name, cases, table):
    """(ops, programs, problems) of one family, static and dynamic."""
    tested, programs, problems, made = set(), 0, [], tempfile.TemporaryDirectory()
    for dynamic in False, True:
        rng, chosen = np.random.default_rng(7), [case for case in cases if is_worth(case, dynamic, runner.chip)]
        for case in chosen:
            case.dynamic, case.arrays = dynamic, []
            case.make_inputs(rng)
        tested |= {case.op for case in chosen}
        programs += len(chosen)
        for start in range(0, len(chosen), BATCH):
            batch, folder = chosen[start:start + BATCH], Path(made.name)
            if not check(runner, batch, table, folder):
                continue
            for case in batch:
                problems += [f"{name}, {'dynamic' if dynamic else 'static'}: {case.op} "
                             f"{list(zip(case.types, case.shapes))}: {problem}"
                             for problem in check(runner, [case], table, folder)]
    made.cleanup()
    return tested, programs, problems


def main():
    only, chip, every = (next((a.split("=", 1)[1] for a in sys.argv if a.startswith(f"--{flag}=")), "")
                         for flag in ("only", "chip", "every"))
    runner, (table, untested) = Runner(sys.argv[1], chip), read_table(sys.argv[2])
    declared = set(declared_ops(a for a in sys.argv[3:] if a[0] != "-")) - {"index", "yield"}
    problems = [] if declared else ["no header of the dialect found"]
    problems += [f"no row in the table: linalg.{op}" for op in sorted(declared - set(table) - untested)]
    everything, tested, programs = list(families(table)), set(), 0
    programmed = {case.op for _, cases in everything for case in cases}
    problems += [f"no program for linalg.{op}" for op in sorted(set(table) - programmed)]
    for name, cases in everything:
        if re.search(only, name):
            ops, count, found = check_family(runner, name, cases[::int(every or 1)], table)
            tested, programs, problems = tested | ops, programs + count, problems + found
    if not programs:
        problems.append(f"no family is called {only}")
    print("\n".join(problems))
    print(f"{len(tested)} ops, {programs} programs, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
