"""The rows of StableHLO and CHLO over types, shapes and odd values, against JAX.

Usage: rows.py TILE_RUN [REGEX] [--part=K/N] [--shapes=N] [--target=NAME …] [--folder=DIR]

A program applies many functions of jax.lax to the same arguments, and gives a result for each. If it is refused, its
functions run one by one. The arguments are seeded; they include infinities, nan, zeros of both signs, and the
extremes of integers. Prints what is right, refused (by op) and wrong, and the rows of both ops.def that no program
had. --part=K/N runs each N-th program from the K-th on. Exits 1 if a result is wrong.
"""
import argparse
import collections
import os
import re
import subprocess
import sys
import tempfile

os.environ["JAX_PLATFORMS"] = "cpu"
import jax
import jax.lax as lax
import jax.numpy as jnp
import ml_dtypes
import numpy as np

jax.config.update("jax_enable_x64", True)
SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), *[os.pardir] * 3)
FLOATS, COMPLEX = ["f32", "f64", "f16", "bf16"], ["c64", "c128"]
INTEGERS = ["i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64"]
TYPES = {"f16": np.float16, "bf16": ml_dtypes.bfloat16, "f32": np.float32, "f64": np.float64, "c64": np.complex64,
         "c128": np.complex128, "bool": np.bool_}
TYPES |= {name: np.dtype(f"{name[0]}{int(name[1:]) // 8}").type for name in INTEGERS}
SHAPES = [(3, 5), (7, ), (), (0, 3), (1, 1), (2, 3, 5), (5, 1, 3), (1, ), (37, ), (2, 0), (13, 17), (1, 4, 1)]
TOLERANCE = {"f16": 4e-3, "bf16": 3e-2, "f32": 2e-5, "f64": 1e-11, "c64": 1e-4, "c128": 1e-10}

# --- Functions ------------------------------------------------------------------------------------------------------

# label -> function of x, y (of one type and shape)
UNARY = {name: getattr(lax, name) for name in (
    "abs cbrt ceil cos exp expm1 floor is_finite log log1p logistic neg round rsqrt sign sin sqrt tan tanh acos acosh asin asinh "
    "atan atanh cosh sinh digamma lgamma erf erf_inv erfc square bitwise_not population_count clz real imag conj exp2 "
    "bessel_i1e").split()}
UNARY |= {"round_even": lambda x: lax.round(x, lax.RoundingMethod.TO_NEAREST_EVEN),
          "reduce_precision": lambda x: lax.reduce_precision(x, 5, 3), "integer_pow": lambda x: lax.integer_pow(x, 3),
          "barrier": lambda x: lax.optimization_barrier(x)}  # yapf: disable
BINARY = {name: getattr(lax, name) for name in (
    "add sub mul div max min rem atan2 nextafter eq ne lt le gt ge bitwise_and bitwise_or bitwise_xor shift_left "
    "shift_right_logical shift_right_arithmetic complex").split()}
BINARY |= {"pow": lax.pow, "select": lambda x, y: lax.select(x == y, x, y), "clamp": lambda x, y: lax.clamp(y, x, y),
           "polygamma": lambda x, y: lax.polygamma(lax.round(lax.abs(y)), x),
           # Steep near 1; and XLA adds bf16 in f32, so that only a rounded sum is an even number for both.
           "zeta": lambda x, y: lax.zeta(lax.reduce_precision(lax.abs(x) + 2, 8, 7), y)}  # yapf: disable


def shapes_of(x, y):
    """Functions of arrays of rank 1 or more that move or combine elements."""
    last, size, rank = x.ndim - 1, x.shape[-1], x.ndim
    found = {
        "concatenate": lambda x, y: lax.concatenate([x, y, x], last),
        "transpose": lambda x, y: lax.transpose(x, tuple(reversed(range(rank)))),
        "reverse": lambda x, y: lax.rev(x, (0, )),
        "reshape": lambda x, y: lax.reshape(x, (x.size, )),
        "broadcast": lambda x, y: lax.broadcast_in_dim(x, (2, *x.shape), tuple(range(1, rank + 1))),
        "slice": lambda x, y: lax.slice(x, (0, ) * last + (size // 3, ), x.shape, (1, ) * last + (2, )),
        "pad": lambda x, y: lax.pad(x, jnp.asarray(1, x.dtype), [(1, -1, 2)] + [(0, 2, 0)] * last),
        "iota": lambda x, y: lax.broadcasted_iota(x.dtype, (3, 4), 1),
        "sort": lambda x, y: lax.sort(x, dimension=last),
        "sort_pair": lambda x, y: lax.sort((x, y), dimension=0, num_keys=2)[1],
        "sum": lambda x, y: lax.reduce_sum(x, axes=(last, )),
        "product": lambda x, y: lax.reduce_prod(x, axes=(0, )),
        "largest": lambda x, y: lax.reduce_max(x, axes=(last, )),
        "smallest": lambda x, y: lax.reduce_min(x, axes=tuple(range(rank))),
        "all": lambda x, y: lax.reduce_and(x == y, axes=(0, )),
        "any": lambda x, y: lax.reduce_or(x < y, axes=(0, )),
        "parity": lambda x, y: lax.reduce_xor(x, axes=(0, )),
        "argmax": lambda x, y: lax.argmax(x, last, jnp.int32),
        "argmin": lambda x, y: lax.argmin(x, 0, jnp.int32),
        "cumsum": lambda x, y: lax.cumsum(x, 0),
        "cummax": lambda x, y: lax.cummax(x, last, reverse=True),
        "window_sum": lambda x, y: lax.reduce_window(x, jnp.asarray(0, x.dtype), lax.add, (1, ) * last + (3, ),
                                                     (1, ) * last + (2, ), "SAME"),
        "window_max": lambda x, y: lax.reduce_window(x, jnp.asarray(0, x.dtype), lax.max, (1, ) * last + (2, ), (1, ) * rank,
                                                     [(0, 0)] * last + [(1, 2)], window_dilation=(1, ) * last + (2, )),
        "dynamic_slice": lambda x, y: lax.dynamic_slice(x, [jnp.int32(7)] * rank, [max(1, s - 1) if s else 0 for s in x.shape]),
        "dynamic_update": lambda x, y: lax.dynamic_update_slice(x, y[..., :max(1, size - 1)], [jnp.int32(-3)] * last + [jnp.int32(9)]),
        "gather": lambda x, y: jnp.take(x, jnp.array([0, 2, -1, 9]), axis=last, mode="clip"),
        "gather_fill": lambda x, y: x.at[jnp.array([0, 2, 9])].get(mode="fill", fill_value=1),
        "gather_batch": lambda x, y: jnp.take_along_axis(x, jnp.zeros(x.shape[:-1] + (2, ), jnp.int32) + 1, last, mode="clip"),
        "scatter": lambda x, y: x.at[jnp.array([0, 2, 2, 9])].set(jnp.asarray(3, x.dtype)),
        "scatter_add": lambda x, y: x.at[..., jnp.array([0, 1, 1])].add(jnp.asarray(1, x.dtype)),
        "scatter_max": lambda x, y: x.at[jnp.array([1, 1])].max(y[:1]),
        "scatter_mul": lambda x, y: x.at[jnp.array([1, 0])].multiply(y[:1]),
        "while": lambda x, y: lax.while_loop(lambda c: c[0] < 3, lambda c: (c[0] + 1, c[1] + y), (0, x))[1],
        "if": lambda x, y: lax.cond(x.size > jnp.sum(x == y), lambda x, y: lax.max(x, y), lambda x, y: x, x, y),
        "case": lambda x, y: lax.switch(jnp.sum(x == y).astype(jnp.int32), [lambda x: x, lambda x: x + x], y),
        "scan": lambda x, y: lax.scan(lambda c, row: (c + row, c), jnp.zeros(x.shape[1:], x.dtype), x)[1],
        "outer": lambda x, y: lax.dot_general(x, y, (((), ()), ((), ()))) if x.size < 40 else x,
        "contract": lambda x, y: lax.dot_general(x, y, (((last, ), (last, )), ((), ()))),
        "batch": lambda x, y: lax.dot_general(x, y, (((last, ), (last, )), (tuple(range(last)), tuple(range(last))))),
    }
    if size >= 2:
        found["top_k"] = lambda x, y: lax.top_k(x, 2)[0]
        found["top_k_places"] = lambda x, y: lax.top_k(x, 2)[1]
    if rank == 2 and x.size:
        found |= {
            "conv": lambda x, y: lax.conv_general_dilated(x[None, None], y[None, None, :2, :2], (1, 2), "SAME"),
            "conv_dilated": lambda x, y: lax.conv_general_dilated(x[None, None], y[None, None, :2, :2], (1, 1), [(1, 2), (2, 1)],
                                                                  lhs_dilation=(2, 1), rhs_dilation=(1, 2)),
            "conv_groups": lambda x, y: lax.conv_general_dilated(jnp.stack([x, y])[None], jnp.stack([x, y])[:, None, :1, :1],
                                                                 (1, 1), "VALID", feature_group_count=2),
            "pool_gradient": lambda x, y: jax.grad(lambda x: lax.reduce_window(x, -np.array(np.inf, x.dtype), lax.max, (2, 2), (1, 2),
                                                                               "SAME").sum())(x),
        }
    if rank == 1 and x.size:
        found |= {"fft": lambda x, y: jnp.fft.fft(x).real, "irfft": lambda x, y: jnp.fft.irfft(jnp.fft.rfft(x), size),
                  "cholesky": lambda x, y: lax.linalg.cholesky(jnp.outer(x, x) + 9 * size * jnp.eye(size, dtype=x.dtype)),
                  "solve": lambda x, y: lax.linalg.triangular_solve(jnp.outer(x, y) + 9 * size * jnp.eye(size, dtype=x.dtype),
                                                                    y[:, None], left_side=True, lower=True)}  # yapf: disable
    return found


def converts():
    return {f"to_{name}": lambda x, name=name: lax.convert_element_type(x, TYPES[name]) for name in TYPES} | {
        f"as_{name}": lambda x, name=name: lax.bitcast_convert_type(x, TYPES[name]) for name in ("i8", "u16", "f16", "f32", "i64")}


# --- Arguments --------------------------------------------------------------------------------------------------------


def values(kind, shape, rng, tame):
    dtype = np.dtype(TYPES[kind])
    if kind == "bool":
        return rng.random(shape) > 0.4
    if kind in INTEGERS:
        low, high = (-4, 9) if dtype.kind == "i" else (0, 9)
        array = rng.integers(low, high, shape).astype(dtype)
        odd = [np.iinfo(dtype).min, np.iinfo(dtype).max, 0, dtype.itemsize * 8]
    else:
        array = rng.standard_normal(shape)
        array = (array + 1j * rng.standard_normal(shape) if kind in COMPLEX else array * 1.5).astype(dtype)
        odd = [] if kind in COMPLEX else [np.inf, np.nan, -0.0, 0.0, -np.inf, 1.0, -2.5, 100.0]
    flat = np.array(array).reshape(-1)
    if not tame and flat.size > 4 and odd:
        places = rng.permutation(flat.size)[:flat.size // 2]
        flat[places] = np.array([odd[i % len(odd)] for i in range(len(places))], dtype)
    return flat.reshape(shape)


def packed(array):
    """As arguments of tile-run: complex numbers as two arrays, bf16 as f32, unsigned as signed."""
    if array.dtype.kind == "c":
        return [array.real.copy(), array.imag.copy()]
    if array.dtype == ml_dtypes.bfloat16:
        return [array.astype(np.float32)]
    return [array.view(f"i{array.itemsize}") if array.dtype.kind == "u" else array]


def unpack(parts, kind):
    if kind in COMPLEX:
        return lax.complex(*parts)
    if kind == "bf16":
        return parts[0].astype(jnp.bfloat16)
    return lax.bitcast_convert_type(parts[0], TYPES[kind]) if kind[0] == "u" else parts[0]


def flattened(result):
    """Results of a program: no complex numbers, no bf16, no unsigned."""
    for leaf in jax.tree.leaves(result):
        if leaf.dtype.kind == "c":
            yield from (lax.real(leaf), lax.imag(leaf))
        elif leaf.dtype == jnp.bfloat16:
            yield leaf.astype(jnp.float32)
        elif leaf.dtype.kind == "u":
            yield lax.bitcast_convert_type(leaf, f"int{leaf.dtype.itemsize * 8}")
        else:
            yield leaf


# --- Programs ---------------------------------------------------------------------------------------------------------

Program = collections.namedtuple("Program", "name kind functions arguments")


def programs(count):
    """Each kind of function by type and shape."""
    for at, shape in enumerate(SHAPES[:count]):
        for kind in [*FLOATS, *INTEGERS, "bool", *COMPLEX]:
            rng = np.random.default_rng([at, sum(map(ord, kind))])
            odd = [values(kind, shape, rng, False) for _ in range(2)]
            tame = [values(kind, shape, rng, True) for _ in range(2)]
            groups = {"unary": (UNARY, odd[:1]), "binary": (BINARY, odd), "convert": (converts(), odd[:1])}
            if shape:
                groups["shape"] = (shapes_of(*tame), tame)
            for group, (functions, arguments) in groups.items():
                yield Program(f"{group}-{kind}-{'x'.join(map(str, shape)) or 'scalar'}", kind, functions, arguments)


def taken(program):
    """The functions that JAX takes, each on the unpacked arguments."""
    found = {}
    for label, function in program.functions.items():
        try:
            jax.jit(function).lower(*program.arguments)
            found[label] = function
        except Exception:
            continue
    return found


def build(program, functions):
    parts = [packed(array) for array in program.arguments]

    def whole(*parts):
        given = [unpack(part, program.kind) for part in parts]
        return [list(flattened(function(*given))) for function in functions.values()]

    return whole, parts


def tolerance_of(program, wanted):
    if wanted.dtype.kind not in "fc":
        return 0
    bound = TOLERANCE.get(program.kind, 2e-5)
    return max(bound, TOLERANCE["f32"] if wanted.dtype.itemsize == 4 else TOLERANCE["f16"] if wanted.dtype.itemsize == 2 else 0)


def compare(program, seen, wanted):
    if seen.dtype != wanted.dtype or seen.shape != wanted.shape:
        return f"{seen.dtype}{list(seen.shape)}, JAX says {wanted.dtype}{list(wanted.shape)}"
    bound = tolerance_of(program, wanted)
    a, b = (array.astype(np.float64) if bound else array for array in (seen, wanted))
    same = np.isclose(a, b, rtol=bound, atol=bound, equal_nan=True) if bound else a == b
    if same.all():
        return ""
    at = np.argwhere(~same)[0]
    return f"{(~same).sum()} of {same.size} differ, at {at.tolist()} {seen[tuple(at)]}, JAX says {wanted[tuple(at)]}"


def run(tool, program, functions, target, folder):
    """(label, verdict, why) for each function."""
    whole, parts = build(program, functions)
    lowered = jax.jit(whole, keep_unused=True).lower(*parts)
    text = lowered.as_text()
    OPS.update(re.findall(r"\b(?:stablehlo|chlo)\.\w+", text))
    expected = [[np.asarray(leaf) for leaf in leaves] for leaves in lowered.compile()(*parts)]
    path = os.path.join(folder, "program.mlir")
    with open(path, "w", encoding="utf-8") as stream:
        stream.write(text)
    command = [tool, path, f"--target={target}", f"--out={folder}/all.npz"]
    for i, array in enumerate(array for arrays in parts for array in arrays):
        np.save(f"{folder}/{i}.npy", array)
        command.append(f"--in={folder}/{i}.npy")
    if os.path.exists(f"{folder}/all.npz"):
        os.remove(f"{folder}/all.npz")
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        why = (done.stderr.strip().splitlines() or [f"status {done.returncode}"])[0]
        if len(functions) == 1:
            yield next(iter(functions)), "refused", why
            return
        half = len(functions) // 2
        items = list(functions.items())
        for part in (items[:half], items[half:]):
            yield from run(tool, program, dict(part), target, folder)
        return
    with np.load(f"{folder}/all.npz") as found:
        arrays = iter([found[name] for name in found.files])
        for label, leaves in zip(functions, expected):
            why = [compare(program, next(arrays), wanted) for wanted in leaves]
            yield label, "wrong" if any(why) else "right", "; ".join(filter(None, why))


OPS = set()


def rows():
    """The names in both tables."""
    found = set()
    for dialect in ("stablehlo", "chlo"):
        with open(os.path.join(SOURCE, "dialects", "foreign", dialect, "ops.def"), encoding="utf-8") as file:
            names = re.findall(r'^(?:TESSERA_OP|UNARY|BINARY)\(\w+, "(\w+)"', file.read(), re.M)
        found |= {f"{dialect}.{name}" for name in names}
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tool")
    parser.add_argument("only", nargs="?", default="")
    parser.add_argument("--part", default="1/1")
    parser.add_argument("--shapes", type=int, default=len(SHAPES))
    parser.add_argument("--target", action="append")
    parser.add_argument("--folder")
    options = parser.parse_args()
    first, step = (int(number) for number in options.part.split("/"))
    seen, refused, count = collections.Counter(), collections.defaultdict(set), 0
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.folder or temporary
        for program in [one for one in programs(options.shapes) if re.search(options.only, one.name)][first - 1::step]:
            functions = taken(program)
            count += bool(functions)
            for target in options.target or ["cpu"]:
                for label, verdict, why in run(options.tool, program, functions, target, folder) if functions else []:
                    seen[verdict] += 1
                    if verdict == "wrong":
                        print(f"{program.name} {label} on {target}: {why}", flush=True)
                    if verdict == "refused":
                        op = re.search(r"'((?:stablehlo|chlo)\.\w+)' op", why)
                        refused[op[1] if op else re.sub(r"^\S+: error: ", "", why)[-90:]].add(label)
    for op in sorted(refused):
        print(f"refused {op}: {', '.join(sorted(refused[op]))}")
    left = sorted(rows() - OPS)
    print(f"{count} programs, {len(rows()) - len(left)} of {len(rows())} rows; not in them: {', '.join(left)}")
    print(f"{seen['right']} right, {seen['refused']} refused, {seen['wrong']} wrong")
    return 1 if seen["wrong"] else 0


if __name__ == "__main__":
    sys.exit(main())
