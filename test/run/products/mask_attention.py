"""Attention with run-time masks of i1, against numpy in f64. Use: mask_attention.py FOLDER_OF_TOOLS TARGET… [--mutant | --traffic]

Hidden scores are -inf or a finite number, by a select, by a negated one, or by adding a select of 0 and -inf; causal too, with a mask for each
head, and with one that is transposed. The masks hide all but blocks, most elements, nothing, whole rows (a query that sees nothing gets linalg's answer: nan, or the mean of all values), or everything.
Sizes do not divide blocks. One compiled program serves all masks. With --traffic, a GPU's copies of keys and values are counted, with sizes that
divide blocks: those of the blocks that are seen, none of the others.
"""
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

HEADS, QUERIES, KEYS, DEPTH = 2, 131, 611, 16


def mask_shape(form):
    return (KEYS, QUERIES) if form == "turned" else (HEADS,) * (form == "heads") + (QUERIES, KEYS)


def program(form, hidden):
    q, k, s, m = (f"tensor<{'x'.join(map(str, shape))}x{element}>" for shape, element in (
        ((HEADS, QUERIES, DEPTH), "f32"), ((HEADS, KEYS, DEPTH), "f32"), ((HEADS, QUERIES, KEYS), "f32"), (mask_shape(form), "i1")))
    at = {"heads": "(h, q, k)", "turned": "(k, q)"}.get(form, "(q, k)")
    body = {"select": "    %r = arith.select %bb, %t, %hidden : f32\n",
            "negated": "    %r = arith.select %bb, %hidden, %t : f32\n",
            "add": "    %g = arith.select %bb, %z, %hidden : f32\n    %r = arith.addf %t, %g : f32\n",
            "causal": """    %i = linalg.index 1 : index
    %j = linalg.index 2 : index
    %c = arith.cmpi sle, %j, %i : index
    %both = arith.andi %c, %bb : i1
    %r = arith.select %both, %t, %hidden : f32
"""}["select" if form in ("heads", "turned") else form]
    return f"""func.func @main(%q: {q}, %k: {k}, %v: {k}, %m: {m}) -> {q} {{
  %scale = arith.constant 0.25 : f32
  %hidden = arith.constant {hidden} : f32
  %z = arith.constant 0.0 : f32
  %se = tensor.empty() : {s}
  %sf = linalg.fill ins(%z : f32) outs(%se : {s}) -> {s}
  %s = linalg.generic {{indexing_maps = [affine_map<(h, q, k, d) -> (h, q, d)>, affine_map<(h, q, k, d) -> (h, k, d)>, affine_map<(h, q, k, d) -> (h, q, k)>],
      iterator_types = ["parallel", "parallel", "parallel", "reduction"]}} ins(%q, %k : {q}, {k}) outs(%sf : {s}) {{
  ^bb0(%a: f32, %b: f32, %o: f32):
    %pp = arith.mulf %a, %b : f32
    %r = arith.addf %o, %pp : f32
    linalg.yield %r : f32
  }} -> {s}
  %x = linalg.generic {{indexing_maps = [affine_map<(h, q, k) -> (h, q, k)>, affine_map<(h, q, k) -> {at}>, affine_map<(h, q, k) -> (h, q, k)>],
      iterator_types = ["parallel", "parallel", "parallel"]}} ins(%s, %m : {s}, {m}) outs(%se : {s}) {{
  ^bb0(%vv: f32, %bb: i1, %o: f32):
    %t = arith.mulf %vv, %scale : f32
{body}    linalg.yield %r : f32
  }} -> {s}
  %p = linalg.softmax dimension(2) ins(%x : {s}) outs(%se : {s}) -> {s}
  %oe = tensor.empty() : {q}
  %of = linalg.fill ins(%z : f32) outs(%oe : {q}) -> {q}
  %y = linalg.generic {{indexing_maps = [affine_map<(h, q, d, k) -> (h, q, k)>, affine_map<(h, q, d, k) -> (h, k, d)>, affine_map<(h, q, d, k) -> (h, q, d)>],
      iterator_types = ["parallel", "parallel", "parallel", "reduction"]}} ins(%p, %v : {s}, {k}) outs(%of : {q}) {{
  ^bb0(%a: f32, %b: f32, %o: f32):
    %t = arith.mulf %a, %b : f32
    %r = arith.addf %o, %t : f32
    linalg.yield %r : f32
  }} -> {q}
  return %y : {q}
}}
"""


FORMS = [("select", "-1.0e9"), ("select", "0xFF800000"), ("select", "-3.0e4"), ("negated", "-1.0e9"), ("negated", "0xFF800000"),
         ("add", "0xFF800000"), ("causal", "0xFF800000"), ("causal", "-1.0e9"), ("heads", "-1.0e9"), ("heads", "0xFF800000"), ("turned", "-1.0e9")]
MASKS = ["blocks", "few", "all", "rows", "none"]


def draw_mask(rng, kind):
    if kind == "blocks":
        blocks = rng.random((-(-QUERIES // 64), -(-KEYS // 64))) < .4
        return np.repeat(np.repeat(blocks, 64, 0), 64, 1)[:QUERIES, :KEYS]
    if kind in ("all", "none"):
        return np.full((QUERIES, KEYS), kind == "all")
    mask = rng.random((QUERIES, KEYS)) < .03
    if kind == "rows":
        mask[rng.random(QUERIES) < .7] = False
    return mask


def reference(q, k, v, shown, hidden):
    with np.errstate(invalid="ignore"):
        scores = np.where(shown, np.einsum("hqd,hkd->hqk", q.astype("f8"), k) * .25, hidden)
        weights = np.exp(scores - scores.max(-1, keepdims=True))
        return np.einsum("hqk,hkd->hqd", weights / weights.sum(-1, keepdims=True), v)


def traffic(tools, targets):
    """Copies of keys and values with a mask of blocks of 64, by those without: the share of the blocks that are seen."""
    global QUERIES, KEYS
    QUERIES = KEYS = 256
    blocks = np.random.default_rng(5).random((4, 4)) < .4
    shown = np.repeat(np.repeat(blocks, 64, 0), 64, 1)
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        for target in targets:
            for hidden in ("0xFF800000", "-1.0e9"):
                (folder / "attention.mlir").write_text(program("select", hidden))
                copied = []
                for mask in (shown, np.ones_like(shown)):
                    np.save(folder / "3.npy", mask | ~shown.any(1)[:, None])  # somebody who sees nothing reads all
                    for i in range(3):
                        np.save(folder / f"{i}.npy", np.ones((HEADS, 256, DEPTH), "f4"))
                    subprocess.run([tools / "tile-run", folder / "attention.mlir", f"--target={target}", f"--stats={folder / 's.json'}",
                                    *[f"--in={folder / f'{i}.npy'}" for i in range(4)]], check=True)
                    queries = HEADS * QUERIES * DEPTH * 4
                    copied.append(json.loads((folder / "s.json").read_text())["async_bytes"] - queries)
                share = (blocks | ~blocks.any(1)[:, None]).mean()
                print(f"{target} {hidden}: {copied[0]} of {copied[1]} bytes, {share:.4f} of the blocks")
                wrong += copied[0] != share * copied[1]
    print(f"traffic: {wrong} wrong")
    return bool(wrong)


def main():
    if "--traffic" in sys.argv:
        return traffic(Path(sys.argv[1]), [t for t in sys.argv[2:] if t != "--traffic"])
    mutant = "--mutant" in sys.argv
    tools, targets = Path(sys.argv[1]), [t for t in sys.argv[2:] if t != "--mutant"]
    runs = wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        for target in targets:
            compiled = target == "cpu"
            isGpu = target.startswith("emulate")
            for form, hidden in FORMS if compiled or isGpu else FORMS[:2]:
                rng = np.random.default_rng([FORMS.index((form, hidden))])
                text, program_file = folder / "attention.mlir", folder / "attention.o"
                text.write_text(program(form, hidden))
                if compiled:
                    subprocess.run([tools / "tile-translate", text, "--tile-to-program", "-o", program_file], check=True)
                for kind in MASKS if compiled else ["blocks", "rows"] if isGpu and form == "select" else ["rows"]:
                    q, k, v = (rng.standard_normal((HEADS, n, DEPTH)).astype("f4") for n in (QUERIES, KEYS, KEYS))
                    shown = np.stack([draw_mask(rng, kind) for _ in range(HEADS)]) if form == "heads" else draw_mask(rng, kind)
                    mask = ~shown if form == "negated" else shown.T if form == "turned" else shown
                    if form == "causal":
                        shown = shown & (np.arange(KEYS) <= np.arange(QUERIES)[:, None])
                    want = reference(q, k, v, shown, -np.inf if hidden.startswith("0x") else float(hidden))
                    files = [f"--out={folder / 'y.npy'}"]
                    for i, array in enumerate((q, k, v, mask)):
                        np.save(folder / f"{i}.npy", array)
                        files.append(f"--in={folder / f'{i}.npy'}")
                    done = subprocess.run([tools / "tile-exec", program_file, *files] if compiled else [tools / "tile-run", text, f"--target={target}", *files],
                                          capture_output=True, text=True)
                    runs += 1
                    seen = np.load(folder / "y.npy") if done.returncode == 0 else None
                    if seen is None or not np.allclose(seen, want + mutant, rtol=2e-5, atol=2e-6, equal_nan=True):
                        wrong += 1
                        print(f"{form} {hidden} {kind} on {target}: {done.stderr[:1000]}\n{seen}\nwanted\n{want}")
    print(f"{runs} runs, {wrong} wrong")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
