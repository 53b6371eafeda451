"""Conversions of narrow floats, compiled, against the formats' definitions. Use: float_formats.py TILE_RUN [--target=NAME].

The numbers of each format come from its definition (exponent, fraction, bias, specials); rounding is the nearest of
them in the list of all, by f64. Every bit pattern is widened; narrowed are all numbers of the format, the middles
between neighbours, these moved by one ulp either way, specials, and random bits, from f16, bf16, f32 and f64, in every
direction.
"""
import bisect
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

# name: width, exponent bits, fraction bits, bias, specials
FORMATS = {
    "f8E5M2": (8, 5, 2, 15, "ieee"), "f8E4M3FN": (8, 4, 3, 7, "nan"), "f8E5M2FNUZ": (8, 5, 2, 16, "minus"),
    "f8E4M3FNUZ": (8, 4, 3, 8, "minus"), "f6E2M3FN": (6, 2, 3, 1, "none"), "f6E3M2FN": (6, 3, 2, 3, "none"),
    "f4E2M1FN": (4, 2, 1, 1, "none"), "f8E8M0FNU": (8, 8, 0, 127, "scale"),
}
DIRECTIONS = ["to_nearest_even", "downward", "upward", "toward_zero", "to_nearest_away"]
SOURCES = {"f16": np.float16, "bf16": None, "f32": np.float32, "f64": np.float64}
np.seterr(all="ignore")  # inf and nan are meant
rng = np.random.default_rng(5)


def decode(name):
    """The number of every bit pattern."""
    width, exponents, fractions, bias, specials = FORMATS[name]
    bits = np.arange(2 ** width)
    if specials == "scale":
        return np.where(bits == 255, np.nan, 2.0 ** (bits - bias))
    fraction, exponent = bits % 2 ** fractions, (bits >> fractions) % 2 ** exponents
    magnitude = np.where(exponent == 0, fraction * 2.0 ** (1 - bias - fractions),
                         (fraction + 2 ** fractions) * 2.0 ** (exponent - bias - fractions))
    value = np.where(bits >> (width - 1), -magnitude, magnitude)
    if specials == "ieee":
        top = exponent == 2 ** exponents - 1
        value = np.where(top, np.where(fraction > 0, np.nan, np.sign(value) * np.inf), value)
    if specials == "nan":
        value[[127, 255]] = np.nan
    if specials == "minus":
        value[128] = np.nan
    return value


def round_one(name, x, direction, numbers):
    """What x becomes: a number of the format, inf or nan. `numbers`: a list, ascending, negative ones included."""
    specials, largest = FORMATS[name][4], numbers[-1]
    if np.isnan(x):
        return np.nan
    beyond = {"ieee": np.copysign(np.inf, x), "none": np.copysign(largest, x)}.get(specials, np.nan)
    if np.isinf(x):
        return beyond
    step = largest - numbers[-2]  # beyond the largest the numbers go on, to be cut off afterwards
    if specials == "scale":
        step = largest
    if abs(x) > largest + step:
        return beyond
    line = [-largest - step, *numbers, largest + step]
    above = bisect.bisect_left(line, x)
    if line[above] == x:
        chosen = x
    else:
        low, high = line[above - 1], line[above]
        nearer = low if x - low < high - x else high
        tie = x - low == high - x
        # The numbers are even and odd in turn, and 0 is even; of two scales the upper one is the even multiple.
        even = high if specials == "scale" or (above - 1 - line.index(0)) % 2 else low
        chosen = {"downward": low, "upward": high, "toward_zero": low if x > 0 else high,
                  "to_nearest_even": even if tie else nearer,
                  "to_nearest_away": (high if x > 0 else low) if tie else nearer}[direction]
    return beyond if abs(chosen) > largest else chosen


def numbers_of(name):
    values = decode(name)
    return np.unique(values[np.isfinite(values)])


def inputs(name, source):
    numbers = numbers_of(name)
    middles = (numbers[1:] + numbers[:-1]) / 2
    far = [numbers[-1] + (numbers[-1] - numbers[-2]) * k for k in (0.25, 0.5, 0.75, 1, 3)]
    edge = np.concatenate([numbers, middles, far, [-f for f in far], [0.0, -0.0, np.inf, -np.inf, np.nan]])
    kind = SOURCES[source] or np.float32
    word = np.dtype(f"u{np.dtype(kind).itemsize}").type
    bits = edge.astype(kind).view(word)
    if source == "bf16":
        bits >>= 16
    bits = np.concatenate([bits, bits + word(1), bits - word(1), rng.integers(0, 2 ** 63, 500).astype(word) * word(2)])
    values = ((bits << 16 if source == "bf16" else bits).view(kind)).astype(np.float64)
    kept = ~(values < 2.0 ** -127) if FORMATS[name][4] == "scale" else slice(None)
    return bits[kept].astype(f"i{int(source.lstrip('bf')) // 8}"), values[kept]


def generic(k, from_type, to_type, body):
    """One linalg.generic on a vector, from argument or value number k."""
    return f"""  %n{k} = tensor.dim %x{k}, %c0 : tensor<?x{from_type}>
  %e{k} = tensor.empty(%n{k}) : tensor<?x{to_type}>
  %r{k} = linalg.generic {{indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>],
      iterator_types = ["parallel"]}} ins(%x{k} : tensor<?x{from_type}>) outs(%e{k} : tensor<?x{to_type}>) {{
  ^bb0(%a: {from_type}, %o: {to_type}):
{body}    linalg.yield %z : {to_type}
  }} -> tensor<?x{to_type}>
"""


def widening(name):
    width = FORMATS[name][0]
    cut = f"    %b = arith.trunci %a : i8 to i{width}\n" if width < 8 else ""
    return (f"{cut}    %f = arith.bitcast {'%b' if cut else '%a'} : i{width} to {name}\n"
            f"    %z = arith.extf %f : {name} to f32\n")


def narrowing(name, source, direction):
    width = FORMATS[name][0]
    word = int(source.lstrip("bf"))
    grow = f"    %z = arith.extui %b : i{width} to i8\n" if width < 8 else ""
    return (f"    %s = arith.bitcast %a : i{word} to {source}\n"
            f"    %f = arith.truncf %s {direction} : {source} to {name}\n"
            f"    {'%b' if grow else '%z'} = arith.bitcast %f : {name} to i{width}\n{grow}")


def program(parts):
    arguments = ", ".join(f"%x{k}: tensor<?x{p[0]}>" for k, p in enumerate(parts))
    types = ", ".join(f"tensor<?x{p[1]}>" for p in parts)
    body = "".join(generic(k, *p) for k, p in enumerate(parts))
    values = ", ".join(f"%r{k}" for k in range(len(parts)))
    return (f"func.func @main({arguments}) -> ({types}) {{\n  %c0 = arith.constant 0 : index\n{body}"
            f"  return {values} : {types}\n}}\n")


def run(tool, parts, arrays):
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        (folder / "program.mlir").write_text(program(parts))
        command = [tool, folder / "program.mlir", *sys.argv[2:]]
        for k, array in enumerate(arrays):
            np.save(folder / f"in{k}.npy", array)
            command += [f"--in={folder}/in{k}.npy"]
        command += [f"--out={folder}/out{k}.npy" for k in range(len(arrays))]
        subprocess.run(command, check=True)
        return [np.load(folder / f"out{k}.npy") for k in range(len(arrays))]


def same(got, want):
    return (np.isnan(got) & np.isnan(want)) | ((got == want) & (np.signbit(got) == np.signbit(want)))


def main():
    tool, failures = sys.argv[1], 0
    names = list(FORMATS)
    patterns = [np.arange(2 ** FORMATS[n][0]).astype(np.uint8).view(np.int8) for n in names]
    for name, got in zip(names, run(tool, [("i8", "f32", widening(n)) for n in names], patterns)):
        wrong = ~same(got.astype(np.float64), decode(name))
        failures += wrong.any()
        for bits in np.flatnonzero(wrong)[:4]:
            print(f"{name} {bits:#x} widens to {got[bits]}, expected {decode(name)[bits]}")
    for source in SOURCES:
        cases = [(n, d) for n in names for d in DIRECTIONS]
        given = [inputs(n, source) for n, _ in cases]
        word = f"i{int(source.lstrip('bf'))}"
        results = run(tool, [(word, "i8", narrowing(n, source, d)) for n, d in cases], [g[0] for g in given])
        for (name, direction), (_, values), got in zip(cases, given, results):
            numbers = numbers_of(name).tolist()
            want = np.array([round_one(name, x, direction, numbers) for x in values.tolist()])
            want = np.where(want == 0, np.copysign(want, values), want)
            if FORMATS[name][4] == "minus":
                want = np.where(want == 0, 0.0, want)
            read = decode(name)[got.view(np.uint8)]
            if FORMATS[name][4] == "none":  # no nan: any number will do
                want = np.where(np.isnan(values), read, want)
            wrong = ~same(read, want)
            failures += wrong.any()
            for i in np.flatnonzero(wrong)[:4]:
                print(f"{source} {values[i]!r} narrows {direction} to {name} {read[i]}, expected {want[i]}")
    print(f"{len(FORMATS)} formats, {failures} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
