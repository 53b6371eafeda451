"""Seeded arrays from one line of text, so that a program's file says all of what goes in: `// in: KIND TYPE SHAPE SEED`.

  normal f32 7x5 3       floats around 0, integers from -9 to 9        positive   the same, at least 0.25 or 1
  wild f16 11 4          with inf, nan, both zeros, subnormals, the largest; integers with both ends
  special f32 7x5 2          as wild, but nothing so large that products overflow
  inside:9 i32 4x4 1     from 0 to 8        near:9   from -3 to 11        zero, ones   what they say
  permutation i64 12 5   0 to 11, mixed     value:4 index - 0    one number; SHAPE is `-` for rank 0

bf16 and the f8 types travel as their bits, as tile-run wants them (docs/running-programs.md).
"""
import numpy as np

BITS = {"bf16": np.uint16, "f8E4M3FN": np.uint8, "f8E5M2": np.uint8}
DTYPES = {"f16": np.float16, "f32": np.float32, "f64": np.float64, "i1": np.bool_, "i8": np.int8, "i16": np.int16,
          "i32": np.int32, "i64": np.int64, "index": np.int64}
SPECIAL = [np.inf, -np.inf, np.nan, 0.0, -0.0, 1.0, -1.0, 0.5, 3e38, -3e38, 65504, 65536, 1e-40, 6e-8, 2.0**31, -2.0**63, 1e300]


def shape_of(text):
    return () if text == "-" else tuple(map(int, text.split("x")))


def shape_text(shape):
    return "x".join(map(str, shape)) or "-"


def floats(kind, shape, rng):
    x = rng.normal(size=shape)
    if kind == "positive":
        return np.abs(x) + 0.25
    if kind in ("wild", "special"):
        chosen = SPECIAL if kind == "wild" else [s for s in SPECIAL if not 1e4 < abs(s) < np.inf]
        return np.where(rng.random(shape) < 0.2, rng.choice(chosen, size=shape), x)
    return x


def integers(kind, dtype, shape, rng):
    if kind == "positive":
        return rng.integers(1, 10, shape)
    x = rng.integers(-9, 10, shape)
    if kind in ("wild", "special"):
        ends = np.iinfo(dtype)
        return np.where(rng.random(shape) < 0.2, rng.choice([ends.min, ends.max, 0, 1, -1], size=shape), x)
    return x


def as_type(x, element):
    if element not in BITS:
        with np.errstate(over="ignore", invalid="ignore"):
            return np.asarray(x, DTYPES[element])
    with np.errstate(over="ignore"):
        bits = np.asarray(x, np.float32).view(np.uint32)
    if element == "bf16":  # nearest even; a nan keeps its upper half, which the wild ones have
        return np.where(np.isnan(x), bits >> 16, (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)
    # Any bits but nan's will do for 8-bit floats: their values are few.
    raw = np.asarray(bits >> 7 & 0xFF, np.uint8)
    largest = 0x7E if element == "f8E4M3FN" else 0x7B
    return np.where(raw & 0x7F > largest, raw & 0xBF, raw).astype(np.uint8)


def make(line):
    """The array that a line `KIND TYPE SHAPE SEED` describes."""
    kind, element, shape, seed = line.split()
    shape, rng = shape_of(shape), np.random.default_rng(int(seed))
    number = int(kind.split(":")[1]) if ":" in kind else 0
    if kind.startswith("inside"):
        x = rng.integers(0, max(number, 1), shape)
    elif kind.startswith("near"):
        x = rng.integers(-3, number + 3, shape)
    elif kind.startswith("value"):
        x = np.full(shape, number)
    elif kind in ("zero", "ones"):
        x = np.full(shape, int(kind == "ones"))
    elif kind == "permutation":
        x = rng.permutation(int(np.prod(shape))).reshape(shape)
    elif element == "i1":
        x = rng.integers(0, 2, shape)
    elif element in DTYPES and DTYPES[element](0).dtype.kind == "i":
        x = integers(kind, DTYPES[element], shape, rng)
    else:
        x = floats(kind, shape, rng)
    return as_type(x, element)
