"""Attention kernels of tools/tile-bench/attention_kernel.py, compiled and interpreted, against numpy in float64: causal, sliding
window, shared keys (GQA), additive bias, gate (OpenFold's triangle attention), variable lengths, odd sizes, and all of them at once.

Use: attention.py TILE_RUN FOLDER. Exit status 1 if an answer is wrong.
"""
import subprocess
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "tools" / "tile-bench"))
from attention_kernel import program  # noqa: E402

CASES = {
    "plain": dict(heads=2, queries=32, keys=64, d=16),
    "odd": dict(heads=1, queries=5, keys=67, d=7),
    "causal": dict(heads=2, queries=70, keys=70, d=16, causal=True),
    "causal_late": dict(heads=1, queries=3, keys=130, d=16, causal=True),
    "window": dict(heads=1, queries=150, keys=150, d=8, causal=True, window=20),
    "shared_keys": dict(heads=4, queries=9, keys=65, d=16, group=2),
    "bias": dict(heads=2, queries=33, keys=65, d=16, bias=True),
    "triangle": dict(heads=2, queries=33, keys=65, d=16, bias=True, gate=True),
    "lengths": dict(heads=3, queries=9, keys=130, d=8, lengths=True),
    "all": dict(heads=4, queries=77, keys=150, d=8, causal=True, group=2, window=90, bias=True, gate=True, lengths=True),
}


def inputs(random, heads, queries, keys, d, group=1, bias=False, gate=False, lengths=False, **_):
    draw = lambda *shape: random.normal(size=shape).astype("f4")  # noqa: E731
    arrays = {"q": draw(heads, queries, d), "k": draw(heads // group, keys, d), "v": draw(heads // group, keys, d)}
    if bias:
        arrays["bias"] = draw(heads, queries, keys)
    if gate:
        arrays["gate"] = draw(heads, queries, d)
    if lengths:  # every query sees a key
        arrays["lengths"] = (keys - np.arange(heads) * 37 % 60).astype("i4")
    return arrays


def exact(arrays, heads, queries, keys, d, causal=False, group=1, window=0, **_):
    x = {name: array.astype("f8") for name, array in arrays.items()}
    k, v = (np.repeat(x[name], group, axis=0) for name in "kv")
    scores = x["q"] @ k.swapaxes(1, 2) / np.sqrt(d) + x.get("bias", 0)
    key, query = np.arange(keys), np.arange(queries)[:, None] + keys - queries
    seen = key < x["lengths"][:, None, None] if "lengths" in x else np.ones((1, 1, keys), bool)
    if causal:
        seen = seen & (key <= query)
    if window:
        seen = seen & (key > query - window)
    scores = np.where(seen, scores, -np.inf)
    p = np.exp(scores - scores.max(axis=-1, keepdims=True))
    y = p @ v / p.sum(axis=-1, keepdims=True)
    return y / (1 + np.exp(-x["gate"])) if "gate" in x else y


def run(tool, folder, name, case, *flags):
    arrays = inputs(np.random.default_rng(11), **case)
    (folder / "attention.mlir").write_text(program(**case))
    command = [tool, folder / "attention.mlir", f"--out={folder}/y.npy", *flags]
    for argument, array in arrays.items():
        np.save(folder / f"{argument}.npy", array)
        command.append(f"--in={folder}/{argument}.npy")
    if subprocess.run(command, stdout=subprocess.DEVNULL).returncode:
        return f"{name}: tile-run {' '.join(flags)} failed"
    want = exact(arrays, **case)
    error = np.abs(np.load(folder / "y.npy") - want).max()
    return None if error < 2e-6 * (1 + np.abs(want).max()) else f"{name} {' '.join(flags)}: differs by {error:g}"


def main():
    tool, folder = sys.argv[1], Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    wrong = []
    for name, case in CASES.items():
        wrong.append(run(tool, folder, name, case))
        if case["queries"] * case["keys"] * case["d"] * case["heads"] < 500_000:
            wrong.append(run(tool, folder, name, case, "--target=interpret"))
    wrong = [text for text in wrong if text]
    print("\n".join([*wrong, f"{len(CASES)} attentions, {len(wrong)} wrong"]))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
