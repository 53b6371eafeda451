"""sparse-cover-with-formats chooses by price and changes no result. Use: cover.py TILE_OPT TILE_RUN [--rounds=N] [--seed=N].

First, weights of known patterns: which formats cover them, and where the product has to stay. Then per round a random chain of
products by constants with blocks, single weights, both or few zeros, from the left and from the right, of f32, f64, i32 and i64,
with activations that are finite or may not be; infinities are among the inputs. The covered program runs on the interpreter and
on the CPU, and the given program on the interpreter.
"""
import argparse
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

KINDS = {"f32": "f4", "f64": "f8", "i32": "i4", "i64": "i8"}


def constant(array, element):
    return f"dense<\"0x{np.ascontiguousarray(array.astype(KINDS[element])).tobytes().hex().upper()}\"> : tensor<{'x'.join(map(str, array.shape))}x{element}>"


def pattern(rng, shape, kind, block=32, blocks=.1, singles=.02):
    w = rng.integers(1, 4, shape) * rng.choice([-1, 1], shape)
    stays = np.kron(rng.random([-(-s // block) for s in shape]) < blocks, np.ones((block, block), bool))[:shape[0], :shape[1]]
    single = rng.random(shape) < singles
    return w * {"blocks": stays, "singles": single, "both": stays | single, "dense": single < 2, "half": rng.random(shape) < .5, "none": single > 1}[kind]


def windows(rng, shape, kept, m, lines):
    """Weights of which each window of m keeps so many, at places that lines share."""
    places = rng.permuted(np.tile(np.arange(m) < kept, (shape[0] // lines, shape[1] // m, 1)), axis=2).reshape(shape[0] // lines, shape[1])
    return np.repeat(places, lines, 0) * rng.integers(1, 4, shape)


def product(w, element="f32", left=False, start="zeros", x="x", tokens=7):
    """%y = x · w, or w · x; the sum starts from zeros, -0, a constant or an argument."""
    (k, n), t = w.shape, f"x{element}>"
    n, k = (n, k) if not left else (k, n)
    y = (n, tokens) if left else (tokens, n)
    kinds = [f"tensor<{k}x{tokens}{t}" if left else f"tensor<{tokens}x{k}{t}", f"tensor<{w.shape[0]}x{w.shape[1]}{t}", f"tensor<{y[0]}x{y[1]}{t}"]
    zero = {"zeros": "0.0", "minus": "-0.0", "bias": "2.0", "argument": "0.0"}[start] if element[0] == "f" else "0"
    factors = ("%w, %" + x, f"{kinds[1]}, {kinds[0]}") if left else (f"%{x}, %w", f"{kinds[0]}, {kinds[1]}")
    lines = [f"%w = arith.constant {constant(w, element)}", f"%z = arith.constant {zero} : {element}", f"%e = tensor.empty() : {kinds[2]}",
             f"%f = linalg.fill ins(%z : {element}) outs(%e : {kinds[2]}) -> {kinds[2]}",
             f"%y = linalg.matmul ins({factors[0]} : {factors[1]}) outs({'%c' if start == 'argument' else '%f'} : {kinds[2]}) -> {kinds[2]}"]
    return lines, kinds[0], kinds[2]


def program(lines, arguments, result, kind):
    return f"func.func @main({', '.join(f'%{n}: {k}' for n, k in arguments)}) -> {kind} {{\n  " + "\n  ".join(lines) + f"\n  return {result} : {kind}\n}}\n"


def cover(tools, text, options):
    done = subprocess.run([tools.tile_opt, "-", f"--pass-pipeline=builtin.module(sparse-cover-with-formats{{{options}}})"], input=text,
                          capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{text[:300]}\n{done.stderr[:3000]}")
    return done.stdout


def formats(text):
    return " ".join(re.findall(r"sparse.pack [^\n]*(bsr\d*|csr|nm)\d*>", text)) or "none"


def choices(tools):
    """Weights whose cover is known. (name, weights, what covers them, options, arguments of `product`)."""
    rng, finite, wrong = np.random.default_rng(5), "chip=x86-64-v4 sparsity=finite", 0
    blocks, singles, both = (pattern(rng, (160, 96), kind) for kind in ("blocks", "singles", "both"))
    rows = [("blocks", blocks, "bsr", finite, {}), ("single weights", singles, "csr", finite, {}), ("both", both, "bsr csr", finite, {}),
            ("from the left", both, "bsr csr", finite, {"left": True}), ("one value", pattern(rng, (64, 64), "none"), "none", finite, {"element": "i32"}),
            ("dense", pattern(rng, (64, 96), "dense"), "none", finite, {}), ("half", pattern(rng, (64, 96), "half"), "none", finite, {}),
            ("small", pattern(rng, (40, 64), "singles"), "none", finite, {}), ("the other factor may be infinite", both, "none", "chip=x86-64-v4", {}),
            ("integers", both, "bsr csr", "chip=x86-64-v4", {"element": "i64"}), ("off", both, "none", "chip=x86-64-v4 sparsity=off", {}),
            ("a GPU", both, "none", "chip=sm_80 sparsity=finite", {}), ("starts at -0", both, "none", finite, {"start": "minus"}),
            ("starts at a bias", both, "bsr csr", finite, {"start": "bias"}), ("starts at an argument", both, "none", finite, {"start": "argument"})]
    for name, w, wanted, options, more in rows:
        lines, x, y = product(w, **more)
        found = formats(cover(tools, program(lines, [("x", x), ("c", y)], "%y", y), options))
        if found != wanted:
            print(f"{name}: {found}, wanted {wanted}")
            wrong += 1
    for name, kept, m, lines, left, tokens, wanted in (
            ("1 of 4", 1, 4, 1, True, 32, "n = 1, m = 4>"), ("8 of 32, 4 columns together", 8, 32, 4, False, 33, "n = 8, m = 32, axis = 0, vector = [1, 4]>"),
            ("16 of 32, 32 lines together", 16, 32, 32, True, 40, "n = 16, m = 32, vector = [32, 1]>"), ("few columns", 1, 4, 1, True, 31, None)):
        w = windows(rng, (64, 96), kept, m, lines)
        text = cover(tools, program(product(w if left else w.T, left=left, tokens=tokens)[0], [("x", f"tensor<{96}x{tokens}xf32>" if left else f"tensor<{tokens}x96xf32>")], "%y", f"tensor<64x{tokens}xf32>" if left else f"tensor<{tokens}x64xf32>"), finite)
        if wanted not in text if wanted else "sparse.nm" in text:
            print(f"{name}: {re.findall('#sparse[^>]*>', text)}")
            wrong += 1
    text = cover(tools, program(product(pattern(rng, (128, 128), "blocks", block=8, blocks=.2, singles=0))[0], [("x", "tensor<7x128xf32>")], "%y", "tensor<7x128xf32>"), finite)
    if "block = [8, 8]" not in text:
        print(f"blocks of 8: {formats(text)}")
        wrong += 1
    print(f"{len(rows) + 5} patterns, {wrong} wrong")
    return wrong


def chain(rng):
    """Products by constants one after the other. Each has its names; the sizes are odd."""
    element, tokens = str(rng.choice(list(KINDS))), int(rng.choice([1, 3, 6, 33]))
    sizes = [int(s) for s in rng.choice([64, 65, 71, 96, 130], int(rng.integers(2, 4)))]
    lines, at, x = [], "x", f"tensor<{tokens}x{sizes[0]}x{element}>"
    for i, (k, n) in enumerate(zip(sizes, sizes[1:])):
        w = pattern(rng, (k, n), str(rng.choice(["blocks", "singles", "both", "both", "half"])), int(rng.choice([8, 16, 32])), .2)
        if tokens >= 32 and k % 32 == 0:
            w = windows(rng, (n, k), 8, 32, 4 if n % 4 == 0 else 1).T
        made, _, y = product(w, element, start=str(rng.choice(["zeros", "bias"])), x=at, tokens=tokens)
        lines += [re.sub(r"%([wzefy])\b", rf"%\g<1>{i}", line) for line in made]
        at = f"y{i}"
        if element[0] == "f" and rng.random() < .6:
            activation = str(rng.choice(["linalg.tanh", "linalg.abs"]))
            lines.append(f"%a{i} = {activation} ins(%{at} : {y}) outs(%e{i} : {y}) -> {y}")
            at = f"a{i}"
    return program(lines, [("x", x)], f"%{at}", y), element, (tokens, sizes[0])


def run(tools, folder, text, target):
    (folder / "p.mlir").write_text(text)
    done = subprocess.run([tools.tile_run, folder / "p.mlir", f"--target={target}", f"--in={folder / 'x.npy'}", f"--out={folder / 'r.npy'}"],
                          capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stderr[:3000])
    return np.load(folder / "r.npy")


def check(tools, rng, folder):
    text, element, shape = chain(rng)
    mode = str(rng.choice(["exact", "finite"]))
    covered = cover(tools, text, f"chip=x86-64-v4 sparsity={mode}")
    x = rng.integers(-3, 4, shape).astype(KINDS[element])
    if mode == "exact" and element[0] == "f":
        x[rng.random(shape) < .05] = rng.choice([np.inf, -np.inf, np.nan])
    np.save(folder / "x.npy", x)
    wanted = run(tools, folder, text, "interpret")
    for target in ("interpret", "cpu"):
        got = run(tools, folder, covered, target)
        same = np.array_equal(got, wanted) if element[0] == "i" else np.allclose(got, wanted, rtol=1e-4, atol=1e-4, equal_nan=True)
        if not same:
            return f"{target}, {mode}\n{got}\nwanted\n{wanted}", covered
    return None, covered


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tile_opt")
    parser.add_argument("tile_run")
    parser.add_argument("--rounds", type=int, default=16)
    parser.add_argument("--seed", type=int, default=1)
    tools = parser.parse_args()
    failed, changed, wrong = choices(tools), 0, []
    for number in range(tools.rounds):
        with tempfile.TemporaryDirectory() as folder:
            said, covered = check(tools, np.random.default_rng([tools.seed, number]), Path(folder))
            changed += "sparse." in covered
            wrong += [said] if said else []
    print(*wrong[:1], sep="\n")
    print(f"{tools.rounds} programs, {len(wrong)} wrong, {'many' if 4 * changed > tools.rounds else 'few'} covered: {changed}")
    return bool(failed or wrong)


sys.exit(main())
