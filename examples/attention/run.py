"""Runs attention forward and backward on targets of tile-run, and compares with numpy in f64.

run.py BUILD [--target=interpret] [--target=emulate:sm_90a] … [--case=NAME]…
run.py BUILD --assemble=sm_90a [--case=NAME]…     ptxas takes the kernels of products without spills
"""
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from kernels import Attention

# channels, causal, element, (queries, keys), (heads of queries, heads of keys)
CASES = {
    "plain": (64, False, "f16", (150, 203), (2, 2)),
    "causal": (64, True, "f16", (201, 201), (2, 2)),
    "late": (64, True, "f16", (70, 200), (1, 1)),
    "early": (64, True, "f16", (200, 70), (1, 1)),  # the first queries see no key
    "grouped": (64, True, "f16", (131, 131), (4, 2)),
    "bfloat": (64, False, "bf16", (129, 65), (1, 1)),
    "wide": (128, True, "f16", (133, 133), (1, 1)),
    "one": (64, False, "f16", (1, 1), (1, 1)),
}


def encode(array, element):
    if element == "bf16":
        return (np.ascontiguousarray(array, "f4").view("u4") >> 16).astype("u2")
    return array.astype("f2")


def decode(array, element):
    return (array.astype("u4") << 16).view("f4").astype("f8") if element == "bf16" else array.astype("f8")


def expected(q, k, v, do, causal):
    """The results o, dq, dk, dv in f64."""
    share, scale = q.shape[0] // k.shape[0], q.shape[2] ** -0.5
    wide_k, wide_v = np.repeat(k, share, 0), np.repeat(v, share, 0)
    s = scale * q @ wide_k.transpose(0, 2, 1)
    if causal:
        n, m = s.shape[1:]
        s = np.where(np.arange(n)[:, None] + m - n >= np.arange(m)[None], s, -np.inf)
    top = np.maximum(s.max(axis=2, keepdims=True), -3e38)
    p = np.exp(s - top)
    p /= np.maximum(p.sum(axis=2, keepdims=True), 1e-30)
    o = p @ wide_v
    ds = p * (do @ wide_v.transpose(0, 2, 1) - (do * o).sum(axis=2, keepdims=True))

    def by_group(x):
        return x.reshape(-1, share, *x.shape[1:]).sum(axis=1)
    return o, scale * ds @ wide_k, by_group(scale * ds.transpose(0, 2, 1) @ q), by_group(p.transpose(0, 2, 1) @ do)


def run(build, name, target, folder):
    channels, causal, element, lengths, heads = CASES[name]
    random = np.random.default_rng(3)
    shapes = [(heads[i], lengths[i], channels) for i in (0, 1, 1, 0)]
    arrays = [encode(random.normal(size=shape), element) for shape in shapes]
    want = expected(*(decode(array, element) for array in arrays), causal)
    source, stats = folder / "attention.mlir", folder / "stats.json"
    source.write_text(Attention(channels, causal, element, heads[0] != heads[1], target.split(":")[-1]).program())
    flags = [f"--target={target}", f"--stats={stats}", "--timeout=500"]
    for i, array in enumerate(arrays):
        np.save(folder / f"in{i}.npy", array)
        flags += [f"--in={folder}/in{i}.npy", f"--out={folder}/out{i}.npy"]
    done = subprocess.run([Path(build) / "bin/tile-run", source, *flags], capture_output=True, text=True)
    if done.returncode:
        return done.stderr[:2000]
    most = {"f16": 4e-3, "bf16": 4e-2}[element]
    errors = []
    for i, result in enumerate(want):
        got = decode(np.load(folder / f"out{i}.npy"), element)
        error = np.abs(got - result).max() / max(1, np.abs(result).max())
        errors.append(error)
    text = ", ".join(f"{label} {error:.1e}" for label, error in zip(("o", "dq", "dk", "dv"), errors))
    passes = json.loads(stats.read_text())["passes"]
    if target == "emulate:sm_90a" and passes["tile-specialize-warps"]["specialized"] != 3:
        return f"wrong: {passes['tile-specialize-warps']['specialized']} of 3 kernels multiply by groups of warps"
    return f"right: {text}" if all(error <= most for error in errors) else f"wrong: {text}"


def assemble(build, name, chip, folder):
    channels, causal, element, _, heads = CASES[name]
    source, stats = folder / "attention.mlir", folder / "stats.json"
    source.write_text(Attention(channels, causal, element, heads[0] != heads[1], chip).program())
    done = subprocess.run([Path(build) / "bin/tile-translate", source, "--tile-to-cubin", f"--chip={chip}", f"--stats={stats}",
                           "-o", folder / "attention.cubin"], capture_output=True, text=True)
    if done.returncode:
        return done.stderr[:2000]
    kernels = {name: entry for name, entry in json.loads(stats.read_text())["kernels"].items() if name != "delta"}
    text = ", ".join(f"{name} {entry['registers']} registers, {entry['spill_bytes']} bytes spilled" for name, entry in kernels.items())
    return f"{'wrong' if any(entry['spill_bytes'] for entry in kernels.values()) else 'right'}: {text}"


def main(arguments):
    def given(flag):
        return [a.split("=", 1)[1] for a in arguments if a.startswith(flag)]
    wrong, judge = 0, assemble if given("--assemble=") else run
    for name in given("--case=") or CASES:
        for target in given("--assemble=") or given("--target=") or ["interpret"]:
            with tempfile.TemporaryDirectory() as place:
                said = judge(arguments[0], name, target, Path(place))
            wrong += not said.startswith("right")
            print(f"{name} {target}: {said}", flush=True)
    print(f"{wrong} wrong")
    return wrong > 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
