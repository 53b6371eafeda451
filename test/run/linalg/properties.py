"""Linalg families on the CPU against numpy, over seeded shapes and types. Use: properties.py TILE_RUN [--seed=N] [--rounds=M] [--only=REGEX]

Per round one program per case of a family: contractions, convolutions, pooling, elementwise, reductions, softmax,
movement (transpose, broadcast, fill, copy, pack) and generics. Sizes are 0, 1, odd and prime; each dimension is static
or dynamic by chance. numpy computes in f64 (integers: in 64 bits, then wrapped); a float of roundoff eps may differ by
terms * eps * (sum of magnitudes), docs/numerics.md §4. linalg_named_ops.py holds every op to upstream; this holds the
families to their meaning.
"""
import argparse
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

SIZES = (0, 1, 1, 2, 3, 5, 7, 13, 16, 17, 31, 37)
DTYPES = {"f16": np.float16, "f32": np.float32, "f64": np.float64, "i1": np.bool_, "i8": np.int8, "i16": np.int16, "i32": np.int32,
          "i64": np.int64}
EPSILON = {"f16": 2.0**-11, "f32": 2.0**-24, "f64": 2.0**-53}
TINY = {"f16": 2.0**-24, "f32": 2.0**-149, "f64": 2.0**-1074}


class Case:
    """One op: text with {0}, {1}, … for operands (`name : type`), their arrays, and what must come out."""

    def __init__(self, rng, text, arrays, elements, expected, error=0.0):
        self.text, self.arrays, self.elements, self.expected, self.error = text, arrays, elements, expected, error
        # The verifiers of transpose and broadcast want sizes dynamic on both sides or on none.
        chance = rng.choice([0, 1]) if re.search(r"linalg\.(transpose|broadcast|reduce)\b", text) else 0.5
        self.types = []
        for array, element in zip(arrays, elements):
            shown = ["?" if rng.random() < chance else str(n) for n in array.shape]
            self.types.append(f"tensor<{''.join(n + 'x' for n in shown)}{element}>")

    def body(self, number, first):
        names = [f"%a{first + i}" for i in range(len(self.arrays))]
        ins = f"ins({', '.join(names[:-1])} : {', '.join(self.types[:-1])})"
        outs = f"outs({names[-1]} : {self.types[-1]})"
        text = self.text.replace("{ins}", ins).replace("{outs}", outs)
        arrow = "" if re.search(r"linalg\.(transpose|broadcast|reduce|map)\b", text) else f" -> {self.types[-1]}"
        return f"  %r{number} = {text}{arrow}\n"


def array(rng, shape, element, positive=False):
    if element == "i1":
        return rng.integers(0, 2, shape).astype(bool)
    if element[0] == "i":
        return rng.integers(1 if positive else -9, 10, shape).astype(DTYPES[element])
    x = rng.normal(size=shape)
    return np.asarray(np.abs(x) + 0.25 if positive else x, DTYPES[element])


def wide(x):
    return x.astype(np.float64 if x.dtype.kind == "f" else np.int64)


def size(rng):
    return int(rng.choice(SIZES))


def sums(rng, text, ins, out, element, compute):
    """A case that adds products or elements to `out`; compute(arrays) in wide numbers."""
    exact = wide(out) + compute(*map(wide, ins))
    magnitudes = np.abs(wide(out)) + compute(*[np.abs(wide(x)) for x in ins])
    terms = 2 + compute(*[np.ones(x.shape) for x in ins])  # how many each sum has
    error = (terms * EPSILON[element] * magnitudes + TINY[element]) if element[0] == "f" else 0
    kinds = {v: k for k, v in DTYPES.items()}
    return Case(rng, text, [*ins, out], [kinds[x.dtype.type] for x in [*ins, out]], exact, error)


# --- The families -------------------------------------------------------------------------------------------------------

PRODUCTS = (("f32", "f32"), ("f64", "f64"), ("f16", "f32"), ("i8", "i32"), ("i32", "i32"), ("i64", "i64"), ("i16", "i32"))


def contractions(rng):
    for name, letters in {"matmul": "mk kn mn", "batch_matmul": "bmk bkn bmn", "matvec": "mk k m", "vecmat": "k kn n", "dot": "k k ",
                          "batch_matvec": "bmk bk bm", "batch_reduce_matmul": "bmk bkn mn", "mmt4d": "mkpr nkqr mnpq",
                          "contract": "kbm bnk nmb"}.items():
        a, b, c = letters.split(" ")
        element, sum = PRODUCTS[rng.integers(len(PRODUCTS))]
        sizes = {x: min(size(rng), 7) if len(a) > 3 else size(rng) for x in "bmnkpqr"}
        maps = ", ".join(f"affine_map<(b, m, n, k) -> ({', '.join(x)})>" for x in (a, b, c))
        words = f" indexing_maps = [{maps}]" if name == "contract" else ""
        x, y = (array(rng, [sizes[d] for d in letters], element) for letters in (a, b))
        out = array(rng, [sizes[d] for d in c], sum)
        yield sums(rng, f"linalg.{name}{words} {{ins}} {{outs}}", [x, y], out, sum, lambda x, y: np.einsum(f"{a},{b}->{c}", x, y))


def windows(image, spatial, kernel, strides, dilations, out):
    """The image with a new axis for each kernel axis, after the others: [..., out..., kernel...]."""
    shape, steps = list(image.shape), list(image.strides)
    for axis, k, s, d, n in zip(spatial, kernel, strides, dilations, out):
        shape[axis], steps[axis] = n, image.strides[axis] * s
    return np.lib.stride_tricks.as_strided(image, shape + list(kernel), steps + [image.strides[a] * d for a, d in zip(spatial, dilations)])


def geometry(rng, rank):
    kernel = [int(rng.choice([1, 2, 3])) for _ in range(rank)]
    strides, dilations = ([int(rng.choice([1, 1, 2, 3])) for _ in range(rank)] for _ in range(2))
    out = [int(rng.choice([1, 1, 2, 5, 11])) for _ in range(rank)]
    extents = [(n - 1) * s + (k - 1) * d + 1 + int(rng.integers(0, s)) for n, k, s, d in zip(out, kernel, strides, dilations)]
    words = " {dilations = dense<%s> : tensor<%dxi64>, strides = dense<%s> : tensor<%dxi64>}" % (dilations, rank, strides, rank)
    return kernel, strides, dilations, out, extents, words


def convolutions(rng):
    for name, image, kernel, equation, result in (
            ("conv_2d_nhwc_hwcf", "nhwc", "hwcf", "nhwcxy,xycf->nhwf", "nhwf"), ("conv_2d_nchw_fchw", "nchw", "fchw", "nchwxy,fcxy->nfhw", "nfhw"),
            ("conv_1d_nwc_wcf", "nwc", "wcf", "nwcx,xcf->nwf", "nwf"), ("conv_1d_ncw_fcw", "ncw", "fcw", "ncwx,fcx->nfw", "nfw"),
            ("conv_3d_ndhwc_dhwcf", "ndhwc", "dhwcf", "ndhwcxyz,xyzcf->ndhwf", "ndhwf"),
            ("depthwise_conv_2d_nhwc_hwc", "nhwc", "hwc", "nhwcxy,xyc->nhwc", "nhwc"),
            ("depthwise_conv_2d_nhwc_hwcm", "nhwc", "hwcm", "nhwcxy,xycm->nhwcm", "nhwcm"),
            ("depthwise_conv_1d_ncw_cw", "ncw", "cw", "ncwx,cx->ncw", "ncw")):
        space = [x for x in "dhw" if x in image]
        taps, strides, dilations, out, extents, words = geometry(rng, len(space))
        sizes = {x: int(rng.choice([0, 1, 2, 3, 5, 17])) if x == "c" else int(rng.choice([0, 1, 2, 3])) for x in "ncfm"}
        element, sum = PRODUCTS[rng.integers(len(PRODUCTS))]
        full, tap, point = (dict(sizes, **dict(zip(space, numbers))) for numbers in (extents, taps, out))
        x, w = array(rng, [full[d] for d in image], element), array(rng, [tap[d] for d in kernel], element)
        y = array(rng, [point[d] for d in result], sum)
        axes = [image.index(d) for d in space]
        yield sums(rng, f"linalg.{name}{words} {{ins}} {{outs}}", [x, w], y, sum,
                   lambda x, w: np.einsum(equation, windows(x, axes, taps, strides, dilations, out), w))


def pooling(rng):
    for name, image, reduction in (("pooling_nhwc_sum", "nhwc", None), ("pooling_nchw_sum", "nchw", None), ("pooling_nhwc_max", "nhwc", np.maximum),
                                   ("pooling_nchw_max", "nchw", np.maximum), ("pooling_nhwc_min", "nhwc", np.minimum),
                                   ("pooling_nwc_max", "nwc", np.maximum), ("pooling_ndhwc_sum", "ndhwc", None)):
        space = [x for x in "dhw" if x in image]
        taps, strides, dilations, out, extents, words = geometry(rng, len(space))
        sizes = {x: int(rng.choice([0, 1, 3, 17])) for x in "nc"}
        element = str(rng.choice(["f32", "f64", "i32", "i8"]))
        full, point = (dict(sizes, **dict(zip(space, numbers))) for numbers in (extents, out))
        x, y = (array(rng, [sizes[d] for d in image], element) for sizes in (full, point))
        axes, text = [image.index(d) for d in space], f"linalg.{name}{words} {{ins}} {{outs}}"
        shape = np.zeros(taps, DTYPES[element])
        last = tuple(range(-len(space), 0))

        def view(x):
            return windows(x, axes, taps, strides, dilations, out)
        if reduction is None:
            yield sums(rng, text, [x, shape], y, element, lambda x, _: view(x).sum(axis=last))
        else:
            yield Case(rng, text, [x, shape, y], [element] * 3, reduction(reduction.reduce(view(x), axis=last), y))


def elementwise(rng):
    unary = {"abs": np.abs, "ceil": np.ceil, "floor": np.floor, "negf": np.negative, "sqrt": np.sqrt, "exp": np.exp, "log": np.log,
             "tanh": np.tanh, "rsqrt": lambda x: 1 / np.sqrt(x), "square": np.square, "reciprocal": lambda x: 1 / x}
    binary = {"add": np.add, "sub": np.subtract, "mul": np.multiply, "max": np.maximum, "min": np.minimum, "div": np.divide}
    for name, function in {**unary, **binary}.items():
        shape = [size(rng) for _ in range(rng.integers(0, 4))]
        isUnary = name in unary
        element = str(rng.choice(["f32", "f64", "f16"] if isUnary or name == "div" else ["f32", "f64", "f16", "i32", "i64", "i8", "i16"]))
        ins = [array(rng, shape, element, name in ("sqrt", "log", "rsqrt", "div")) for _ in range(1 if isUnary else 2)]
        exact = np.asarray(function(*map(wide, ins)))
        error = (4 * EPSILON[element] * np.abs(exact) + TINY[element]) if element[0] == "f" else 0
        yield Case(rng, f"linalg.{name} {{ins}} {{outs}}", [*ins, array(rng, shape, element)], [element] * (len(ins) + 1), exact, error)


def reductions(rng):
    for name, function in {"addf": None, "maximumf": np.maximum, "minimumf": np.minimum, "addi": None, "maxsi": np.maximum, "minsi": np.minimum,
                           "andi": np.bitwise_and, "ori": np.bitwise_or, "xori": np.bitwise_xor}.items():
        shape = [size(rng) for _ in range(rng.integers(1, 4))]
        element = str(rng.choice(["f32", "f64"] if name.endswith("f") else ["i32", "i64", "i8"]))
        axes = sorted(rng.choice(len(shape), rng.integers(1, len(shape) + 1), replace=False).tolist())
        x = array(rng, shape, element)
        y = array(rng, [n for a, n in enumerate(shape) if a not in axes], element)
        text = f"linalg.reduce {{ arith.{name} }} {{ins}} {{outs}} dimensions = {axes}"
        if function is None:
            yield sums(rng, text, [x], y, element, lambda x: x.sum(axis=tuple(axes)))
        else:
            result = y.copy()
            for index in np.ndindex(*[shape[a] for a in axes]):
                at = [slice(None)] * len(shape)
                for axis, i in zip(axes, index):
                    at[axis] = i
                result = np.asarray(function(result, x[tuple(at)]))
            yield Case(rng, text, [x, y], [element] * 2, result)


def softmax(rng):
    for _ in range(2):
        shape, element = [size(rng) for _ in range(rng.integers(1, 4))], str(rng.choice(["f32", "f64"]))
        axis, x = int(rng.integers(len(shape))), array(rng, shape, element)
        e = np.exp(wide(x) - (wide(x).max(axis=axis, keepdims=True) if x.size else 0))
        exact = e / e.sum(axis=axis, keepdims=True) if x.size else e
        yield Case(rng, f"linalg.softmax dimension({axis}) {{ins}} {{outs}}", [x, array(rng, shape, element)], [element] * 2, exact,
                   (shape[axis] + 16) * EPSILON[element] * np.abs(exact) + TINY[element])


def movement(rng):
    for element in "f32", "f16", "i8", "i64", "i1":
        shape = [size(rng) for _ in range(rng.integers(1, 5))]
        while np.prod(shape) > 40000:
            shape.pop()
        x, order = array(rng, shape, element), rng.permutation(len(shape)).tolist()
        y = x.transpose(order)
        yield Case(rng, f"linalg.transpose {{ins}} {{outs}} permutation = {order}", [x, np.zeros_like(y)], [element] * 2, y)
        axis, n = int(rng.integers(len(shape) + 1)), size(rng) % 8
        y = np.repeat(np.expand_dims(x, axis), n, axis)
        yield Case(rng, f"linalg.broadcast {{ins}} {{outs}} dimensions = [{axis}]", [x, np.zeros_like(y)], [element] * 2, y)
        yield Case(rng, "linalg.copy {ins} {outs}", [x, np.zeros_like(x)], [element] * 2, x)


def generics(rng):
    """out[some of the dimensions] += a[…] * b[…] over random maps, as einsum says it; and elementwise ones."""
    for _ in range(4):
        letters = "ijkl"[:rng.integers(1, 5)]
        sizes = {x: min(size(rng), 17) for x in letters}
        a = "".join(rng.permutation(list(letters)))
        b = "".join(rng.permutation(list(letters))[:rng.integers(0, len(letters) + 1)])
        c = "".join(rng.permutation(list(letters))[:rng.integers(0, len(letters) + 1)])
        element = str(rng.choice(["f32", "f64", "i32", "i64"]))
        maps = ", ".join(f"affine_map<({', '.join(letters)}) -> ({', '.join(x)})>" for x in (a, b, c))
        kinds = ", ".join('"parallel"' if x in c else '"reduction"' for x in letters)
        op = "f" if element[0] == "f" else "i"
        text = f"linalg.generic {{indexing_maps = [{maps}], iterator_types = [{kinds}]}} {{ins}} {{outs}} {{\n" \
               f"  ^bb0(%x: {element}, %y: {element}, %z: {element}):\n    %p = arith.mul{op} %x, %y : {element}\n" \
               f"    %q = arith.add{op} %z, %p : {element}\n    linalg.yield %q : {element}\n  }}"
        ins = [array(rng, [sizes[d] for d in x], element) for x in (a, b)]
        yield sums(rng, text, ins, array(rng, [sizes[d] for d in c], element), element, lambda x, y: np.einsum(f"{a},{b}->{c}", x, y))


FAMILIES = (contractions, convolutions, pooling, elementwise, reductions, softmax, movement, generics)


# --- Running ------------------------------------------------------------------------------------------------------------


def run(tool, cases, folder):
    """Results of the cases as one program, or a message."""
    arguments, lines = [], ""
    for number, case in enumerate(cases):
        lines += case.body(number, len(arguments))
        arguments += list(zip(case.types, case.arrays))
    results = ", ".join(case.types[-1] for case in cases)
    head = ", ".join(f"%a{i}: {t}" for i, (t, _) in enumerate(arguments))
    names = ", ".join(f"%r{i}" for i in range(len(cases)))
    (folder / "program.mlir").write_text(f"func.func @main({head}) -> ({results}) {{\n{lines}  return {names} : {results}\n}}\n")
    command = [tool, str(folder / "program.mlir"), "--threads=2"]
    for i, (_, values) in enumerate(arguments):
        np.save(folder / f"in{i}.npy", values)
        command.append(f"--in={folder}/in{i}.npy")
    done = subprocess.run(command + [f"--out={folder}/out{i}.npy" for i in range(len(cases))], capture_output=True, text=True)
    if done.returncode:
        return None, done.stderr[:1000]
    return [np.load(folder / f"out{i}.npy") for i in range(len(cases))], ""


def problem_of(case, result):
    expected = np.asarray(case.expected)
    if result.shape != expected.shape:
        return f"shape {result.shape}, expected {expected.shape}"
    if result.dtype.kind != "f":
        wrong = result != expected.astype(result.dtype)
    else:
        with np.errstate(invalid="ignore"):
            wrong = ~((np.abs(wide(result) - expected) <= case.error) | (np.isnan(result) & np.isnan(expected)))
    if not wrong.any():
        return None
    at = tuple(map(int, np.argwhere(wrong)[0])) if wrong.ndim else ()
    return f"at {at}: {result[at]!r}, expected {expected[at]!r}; {wrong.sum()} of {wrong.size} wrong"


def check(tool, cases):
    with tempfile.TemporaryDirectory() as folder:
        results, message = run(tool, cases, Path(folder))
    if results is None:
        return [f"tile-run failed: {message}"] if len(cases) == 1 else [p for case in cases for p in check(tool, [case])]
    return [f"{case.text.splitlines()[0]} on {', '.join(case.types)}: {problem}" for case, result in zip(cases, results)
            if (problem := problem_of(case, result))]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tool")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    programs, problems = 0, []
    for family in FAMILIES:
        for seed in range(options.seed, options.seed + options.rounds):
            if not re.search(options.only, family.__name__):
                continue
            cases = list(family(np.random.default_rng([seed, len(family.__name__)])))
            found = check(options.tool, cases)
            programs += len(cases)
            problems += found
            for problem in found:
                print(f"{family.__name__}, seed {seed}: {problem}", flush=True)
    print(f"{programs} programs, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
