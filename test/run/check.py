"""Runs a program on the CPU and compares it with numpy. Use: check.py TILE_RUN FILE [flags for tile-run].

The program says in comments what goes in and what must come out; each `in` line is one case:

  // in: normal(7, 13), normal(13)           arguments x0, x1, …: any numpy expression
  // expect: np.exp(x0) + x1                 one expression per result
  // tolerance: 1e-6                         largest |difference| / (1 + |expected|); 0 for exact (the default: 1e-5)

Helpers: normal(shape…), uniform(shape…) in [0, 1), integers(low, high, shape…) of int32, all seeded and unsymmetric;
f16 f32 f64 i8 i32 i64; erf. fallback_ops must be 0 unless the program says `// fallback: N`. NaN must meet NaN.
"""
import json
import math
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

rng = np.random.default_rng(12345)
names = {
    "np": np, "normal": lambda *shape: rng.normal(size=shape).astype(np.float32),
    "uniform": lambda *shape: rng.random(size=shape).astype(np.float32),
    "integers": lambda low, high, *shape: rng.integers(low, high, size=shape).astype(np.int32),
    "erf": lambda x: np.vectorize(math.erf, otypes=[np.float64])(x),
    "f16": np.float16, "f32": np.float32, "f64": np.float64, "i8": np.int8, "i32": np.int32, "i64": np.int64,
}


def said(text, key):
    return re.findall(rf"^// {key}: *(.+)$", text, re.MULTILINE)


def differ(result, expected, tolerance):
    """The largest scaled difference; infinite for a wrong shape or an unmatched NaN."""
    expected = np.asarray(expected)
    if result.shape != expected.shape:
        return math.inf, f"shape {result.shape}, expected {expected.shape}"
    if result.size == 0:
        return 0.0, ""
    a, b = result.astype(np.float64), expected.astype(np.float64)
    alike = (np.isnan(a) & np.isnan(b)) | (a == b)
    with np.errstate(invalid="ignore"):
        difference = np.where(alike, 0, np.abs(a - b) / (1 + np.abs(b)))
    difference = np.where(np.isnan(difference), np.inf, difference)
    at = np.unravel_index(difference.argmax(), difference.shape)
    return float(difference[at]), f"at {tuple(map(int, at))}: {a[at]!r}, expected {b[at]!r}"


def run(tool, file, flags, arrays, outputs, folder):
    command = [tool, file, f"--stats={folder}/stats.json", *flags]
    for i, array in enumerate(arrays):
        np.save(folder / f"in{i}.npy", array)
        command.append(f"--in={folder}/in{i}.npy")
    command += [f"--out={folder}/out{i}.npy" for i in range(outputs)]
    if subprocess.run(command).returncode:
        sys.exit(f"{file}: tile-run failed")
    stats = json.loads((folder / "stats.json").read_text())
    return [np.load(folder / f"out{i}.npy") for i in range(outputs)], stats


def main():
    tool, file, flags = sys.argv[1], sys.argv[2], sys.argv[3:]
    text = Path(file).read_text()
    cases, expressions = said(text, "in"), said(text, "expect")
    tolerance = float((said(text, "tolerance") or ["1e-5"])[0])
    fallback = int((said(text, "fallback") or ["0"])[0])
    if not cases or not expressions:
        sys.exit(f"{file}: needs `// in:` and `// expect:` lines")
    failures = 0
    for case in cases:
        arrays = [np.asarray(a) for a in eval(f"[{case}]", dict(names))]
        with tempfile.TemporaryDirectory() as folder:
            results, stats = run(tool, file, flags, arrays, len(expressions), Path(folder))
        values = dict(names, **{f"x{i}": a for i, a in enumerate(arrays)})
        for i, (result, expression) in enumerate(zip(results, expressions)):
            error, where = differ(result, eval(expression, values), tolerance)
            if not error <= tolerance:
                print(f"{file}: in: {case}\n  result {i} differs by {error:.3g} {where} (tolerance {tolerance:g})")
                failures += 1
        if stats["fallback_ops"] != fallback and "--pass-pipeline" not in " ".join(flags):
            print(f"{file}: in: {case}\n  fallback_ops is {stats['fallback_ops']}, expected {fallback}")
            failures += 1
    print(f"{len(cases)} cases, {failures} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
