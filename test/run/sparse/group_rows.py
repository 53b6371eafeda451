"""Layers whose matrix a row chooses, against numpy. Use: group_rows.py FOLDER_OF_TOOLS TARGET… [--mutant]

Forms: `extract` (tensor.extract in the product's body), `top` (two experts a token, with gates), `loop` (a loop over experts with a
select) and `sum` (the loop adds what its select keeps). Each has two layers and a relu between. One compiled program per form runs
on idle and crowded experts and on no tokens at all; in loops some tokens have no expert. Values are small integers: every answer is
exact. The interpreter runs the programs as they are written, other targets what sparse-group-rows makes of them.
"""
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

EXPERTS, IN, HIDDEN, OUT = 5, 13, 37, 9


def layer(number, rows, x, ids, w, inner, columns, axes, seed, turned):
    """%yN = x[r, k] · w[id[r], k, n], rows of `axes` axes; x has the first of them, or all."""
    r = ["t", "s"][:axes]
    dims = ", ".join([*r, "n", "k"])
    xs = r if number == 1 else r[:1]
    shape = "?x" * 1 + ("2x" if axes == 2 else "")
    of_x = "?x" + ("2x" if len(xs) == 2 else "")
    place = "%j, %k" if turned else "%k, %j"
    matrix = f"tensor<{EXPERTS}x{columns}x{inner}xf32>" if turned else f"tensor<{EXPERTS}x{inner}x{columns}xf32>"
    result = f"tensor<{shape}{columns}xf32>"
    return f"""  %e{number} = tensor.empty(%n) : {result}
  %f{number} = linalg.fill ins(%z : f32) outs(%e{number} : {result}) -> {result}
  %y{number} = linalg.generic {{indexing_maps = [affine_map<({dims}) -> ({', '.join([*xs, 'k'])})>, affine_map<({dims}) -> ({', '.join(r)})>,
      affine_map<({dims}) -> ({', '.join([*r, 'n'])})>], iterator_types = [{', '.join(['"parallel"'] * (axes + 1))}, "reduction"]}}
      ins({x}, {ids} : tensor<{of_x}{inner}xf32>, tensor<{shape}i64>) outs(%f{number} : {result}) {{
  ^bb0(%a: f32, %b: i64, %o: f32):
    %q = arith.index_cast %b : i64 to index
    %j = linalg.index {axes} : index
    %k = linalg.index {axes + 1} : index
    %c = tensor.extract {w}[%q, {place}] : {matrix}
    %m = arith.mulf %a, %c : f32
    %s = arith.addf %o, %m : f32
    linalg.yield %s : f32
  }} -> {result}
"""


def relu(name, x, type_):
    rank = type_.count("x") if type_.endswith("f32>") else 2
    dims = ", ".join("abcd"[:rank])
    return f"""  {name} = linalg.generic {{indexing_maps = [affine_map<({dims}) -> ({dims})>, affine_map<({dims}) -> ({dims})>],
      iterator_types = [{', '.join(['"parallel"'] * rank)}]}} ins({x} : {type_}) outs({x}e : {type_}) {{
  ^bb0(%u: f32, %o: f32):
    %m = arith.maximumf %u, %z : f32
    linalg.yield %m : f32
  }} -> {type_}
"""


def program(form):
    w, v = f"tensor<{EXPERTS}x{IN}x{HIDDEN}xf32>", f"tensor<{EXPERTS}x{OUT}x{HIDDEN}xf32>"
    if form in ("loop", "sum"):
        v = f"tensor<{EXPERTS}x{HIDDEN}x{OUT}xf32>"
    ids, gates = ("tensor<?x2xi64>", "tensor<?x2xf32>") if form == "top" else ("tensor<?xi64>", "tensor<?xf32>")
    hidden, result = f"tensor<?x{'2x' if form == 'top' else ''}{HIDDEN}xf32>", f"tensor<?x{OUT}xf32>"
    head = f"""func.func @main(%x: tensor<?x{IN}xf32>, %ids: {ids}, %gates: {gates}, %w: {w}, %v: {v}, %init: {result}) -> {result} {{
  %z = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tensor.dim %x, %c0 : tensor<?x{IN}xf32>
"""
    if form == "extract":
        body = layer(0, None, "%x", "%ids", "%w", IN, HIDDEN, 1, 0, False) + f"  %y0e = tensor.empty(%n) : {hidden}\n" + relu("%h", "%y0", hidden)
        body += layer(1, None, "%h", "%ids", "%v", HIDDEN, OUT, 1, 0, True) + "  %r = tensor.cast %y1 : " + f"{result} to {result}\n"
    elif form == "top":
        pairs = f"tensor<?x2x{OUT}xf32>"
        body = layer(0, None, "%x", "%ids", "%w", IN, HIDDEN, 2, 0, False) + f"  %y0e = tensor.empty(%n) : {hidden}\n" + relu("%h", "%y0", hidden)
        body += layer(1, None, "%h", "%ids", "%v", HIDDEN, OUT, 2, 0, True)
        body += f"""  %r = linalg.generic {{indexing_maps = [affine_map<(t, n, s) -> (t, s, n)>, affine_map<(t, n, s) -> (t, s)>, affine_map<(t, n, s) -> (t, n)>],
      iterator_types = ["parallel", "parallel", "reduction"]}} ins(%y1, %gates : {pairs}, {gates}) outs(%init : {result}) {{
  ^bb0(%a: f32, %g: f32, %o: f32):
    %m = arith.mulf %a, %g : f32
    %s = arith.addf %o, %m : f32
    linalg.yield %s : f32
  }} -> {result}
"""
    else:
        first = "%init" if form == "loop" else "%f"
        keep = "    %q = arith.select %p, %a, %o : f32\n" if form == "loop" else """    %g1 = arith.mulf %a, %g : f32
    %kept = arith.select %p, %g1, %z : f32
    %q = arith.addf %o, %kept : f32
"""
        body = f"""  %ce = arith.constant {EXPERTS} : index
  %e = tensor.empty(%n) : {result}
  %f = linalg.fill ins(%z : f32) outs(%e : {result}) -> {result}
  %r = scf.for %expert = %c0 to %ce step %c1 iter_args(%acc = {first}) -> ({result}) {{
    %w1 = tensor.extract_slice %w[%expert, 0, 0] [1, {IN}, {HIDDEN}] [1, 1, 1] : {w} to tensor<{IN}x{HIDDEN}xf32>
    %v1 = tensor.extract_slice %v[%expert, 0, 0] [1, {HIDDEN}, {OUT}] [1, 1, 1] : {v} to tensor<{HIDDEN}x{OUT}xf32>
    %he = tensor.empty(%n) : {hidden}
    %hf = linalg.fill ins(%z : f32) outs(%he : {hidden}) -> {hidden}
    %y0 = linalg.matmul ins(%x, %w1 : tensor<?x{IN}xf32>, tensor<{IN}x{HIDDEN}xf32>) outs(%hf : {hidden}) -> {hidden}
    %y0e = tensor.empty(%n) : {hidden}
{relu("%h", "%y0", hidden)}    %y1 = linalg.matmul ins(%h, %v1 : {hidden}, tensor<{HIDDEN}x{OUT}xf32>) outs(%f : {result}) -> {result}
    %number = arith.index_cast %expert : index to i64
    %next = linalg.generic {{indexing_maps = [affine_map<(t, n) -> (t)>, affine_map<(t, n) -> (t)>, affine_map<(t, n) -> (t, n)>, affine_map<(t, n) -> (t, n)>],
        iterator_types = ["parallel", "parallel"]}} ins(%ids, %gates, %y1 : {ids}, {gates}, {result}) outs(%acc : {result}) {{
    ^bb0(%b: i64, %g: f32, %a: f32, %o: f32):
      %p = arith.cmpi eq, %b, %number : i64
{keep}      linalg.yield %q : f32
    }} -> {result}
    scf.yield %next : {result}
  }}
"""
    return head + body + f"  return %r : {result}\n}}\n"


FORMS = ["extract", "top", "loop", "sum"]
TOKENS = {"some": 67, "none": 0, "one": 1, "crowd": 150}


def draw(rng, form, kind):
    tokens = TOKENS[kind]
    shape = (tokens, 2) if form == "top" else (tokens,)
    ids = rng.integers(0, 1 if kind == "crowd" else EXPERTS, shape) + (2 if kind == "crowd" else 0)
    ids[ids == 1] = 0  # expert 1 is idle
    if form in ("loop", "sum"):
        ids[rng.random(shape) < .2] = rng.choice([-1, EXPERTS, 77])
    x, gates, w, v, init = (rng.integers(-3, 4, s).astype("f4") for s in (
        (tokens, IN), shape, (EXPERTS, IN, HIDDEN), (EXPERTS, HIDDEN, OUT), (tokens, OUT)))
    has = (ids >= 0) & (ids < EXPERTS)
    safe = np.where(has, ids, 0)
    rows = x[:, None] if form == "top" else x
    hidden = np.maximum(np.einsum("...k,...kn->...n", rows, w[safe]), 0)
    y = np.einsum("...k,...kn->...n", hidden, v[safe])
    want = {"extract": lambda: y, "top": lambda: init + (y * gates[..., None]).sum(1), "loop": lambda: np.where(has[:, None], y, init),
            "sum": lambda: np.where(has[:, None], y * gates[:, None], 0)}[form]()
    return [x, ids, gates, w, v if form in ("loop", "sum") else v.transpose(0, 2, 1).copy(), init], want


def main():
    mutant = "--mutant" in sys.argv
    tools, targets = Path(sys.argv[1]), [t for t in sys.argv[2:] if t != "--mutant"]
    runs = wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        for target in targets:
            for form in FORMS:
                rng = np.random.default_rng([FORMS.index(form)])
                text, program_file = folder / f"{form}.mlir", folder / f"{form}.o"
                text.write_text(program(form))
                if target == "cpu":
                    subprocess.run([tools / "tile-translate", text, "--tile-to-program", "-o", program_file], check=True)
                for kind in TOKENS if target in ("cpu", "interpret") else ["some", "none"]:
                    arrays, want = draw(rng, form, kind)
                    files = [f"--out={folder / 'r.npy'}"]
                    for i, array in enumerate(arrays):
                        np.save(folder / f"{i}.npy", array)
                        files.append(f"--in={folder / f'{i}.npy'}")
                    command = [tools / "tile-exec", program_file, *files] if target == "cpu" else [tools / "tile-run", text, f"--target={target}", *files]
                    done = subprocess.run(command, capture_output=True, text=True)
                    runs += 1
                    seen = np.load(folder / "r.npy") if done.returncode == 0 else None
                    if seen is None or seen.shape != want.shape or not (seen == want + mutant).all():
                        wrong += not mutant or want.size > 0
                        print(f"{form} {kind} on {target}: {done.stderr[:2000]}\n{seen}\nwanted\n{want}")
    print(f"{runs} runs, {wrong} wrong")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
