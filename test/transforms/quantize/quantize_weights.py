"""tile-collect-hessians and tile-quantize-weights against numpy: codes, scales, errors and what the quantized programs compute.

Usage: quantize_weights.py TILE_OPT TILE_RUN    prints one line per case and how many were wrong.
"""
import os
import re
import subprocess
import sys
import tempfile

import numpy as np

M, K, N, GROUP = 192, 128, 48, 32


def program(w, transposed):
    kind, maps = f"{w.shape[0]}x{w.shape[1]}xf32", ""
    if transposed:
        maps = ("indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>] ")
    return f"""func.func @main(%x: tensor<{M}x{K}xf32>) -> tensor<{M}x{N}xf32> {{
  %w = arith.constant dense<"0x{w.tobytes().hex().upper()}"> : tensor<{kind}>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<{M}x{N}xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<{M}x{N}xf32>) -> tensor<{M}x{N}xf32>
  %c = linalg.matmul {maps}ins(%x, %w : tensor<{M}x{K}xf32>, tensor<{kind}>) outs(%f : tensor<{M}x{N}xf32>) -> tensor<{M}x{N}xf32>
  return %c : tensor<{M}x{N}xf32>
}}
"""


def scale_of(w, bits, symmetric):
    last = np.float32(2 ** bits - 1)
    low, high = np.minimum(w.min(1), 0), np.maximum(w.max(1), 0)
    if symmetric:
        return (2 * np.maximum(high, -low) / last).astype("f4"), np.full(len(w), 2 ** (bits - 1))
    s = ((high - low) / last).astype("f4")
    return s, np.rint(-low / s)


def rounded(w, s, z, bits):
    return (np.clip(np.rint(w / s) + z, 0, 2 ** bits - 1) - z) * s


def to_nearest(w, bits, symmetric):
    parts = [w[:, g:g + GROUP] for g in range(0, K, GROUP)]
    return np.concatenate([rounded(p, *(v[:, None] for v in scale_of(p, bits, symmetric)), bits) for p in parts], 1)


def gptq(w, h, bits, symmetric, by_activation):
    order = np.argsort(-np.diag(h), kind="stable") if by_activation else np.arange(K)
    groups = [scale_of(w[:, g:g + GROUP], bits, symmetric) for g in range(0, K, GROUP)]
    dead = np.diag(h) == 0
    rest, h = np.where(dead, 0, w)[:, order].astype("f8"), (h + np.diag(dead))[np.ix_(order, order)].astype("f8")
    h[np.diag_indices(K)] += .01 * np.mean(np.diag(h))
    u, result = np.linalg.cholesky(np.linalg.inv(h)).T, np.zeros(w.shape)
    for i, k in enumerate(order):
        if not by_activation and i % GROUP == 0:
            groups[i // GROUP] = scale_of(rest[:, i:i + GROUP].astype("f4"), bits, symmetric)
        result[:, k] = rounded(rest[:, i], *groups[k // GROUP], bits)
        rest[:, i:] -= np.outer((rest[:, i] - result[:, k]) / u[i, i], u[i, i:])
    return result


def awq(w, h, bits, symmetric):
    """The weights as the inputs meet them: divided by what multiplies them, of the power that loses least."""
    size, best = np.sqrt(np.diag(h)).astype("f4"), (np.inf, None)
    for power in range(21):
        inputs = np.where(size > 0, np.maximum(size, 1e-30) ** np.float32(power / 20), 1).astype("f4")
        live = inputs[size > 0]
        inputs = np.where(size > 0, inputs / np.sqrt(live.min() * live.max()), 1).astype("f4")
        made = to_nearest(w * inputs, bits, symmetric) / inputs
        lost = (w - made).astype("f8")
        best = min(best, (float(np.einsum("nk,kl,nl->", lost, h.astype("f8"), lost)), made), key=lambda pair: pair[0])
    return best[1]


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(command)}\n{done.stderr}")
    return done.stderr


def main():
    tile_opt, tile_run = sys.argv[1:3]
    rng, wrong = np.random.default_rng(11), 0
    os.chdir(tempfile.mkdtemp())
    w = rng.standard_normal((N, K)).astype("f4")
    x = ((rng.standard_normal((M, 16)) @ rng.standard_normal((16, K)) + .5 * rng.standard_normal((M, K))) * np.exp(.7 * rng.standard_normal(K))).astype("f4")
    x[:, 5] = 0  # a dead input
    np.save("x.npy", x)
    for transposed in (True, False):
        with open("p.mlir", "w") as file:
            file.write(program(w if transposed else np.ascontiguousarray(w.T), transposed))
        run(tile_opt, "p.mlir", "--pass-pipeline=builtin.module(func.func(tile-collect-hessians))", "-o", "h.mlir")
        run(tile_run, "h.mlir", "--in=x.npy", "--out=y.npy", "--out=h.npz")
        h = list(np.load("h.npz").values())[0]
        good = np.allclose(h, x.T.astype("f8") @ x, rtol=1e-4, atol=1e-3) and np.allclose(np.load("y.npy"), x @ w.T, rtol=1e-3, atol=1e-2)
        print(f"hessian {'right' if good else 'WRONG'}")
        wrong += not good
        for bits in (8, 4, 2):
            for symmetric in ("true", "false"):
                for how in ("method=round", "method=gptq hessians=h.npz", "method=gptq order=activation hessians=h.npz", "method=awq hessians=h.npz"):
                    options = f"{how} bits={bits} group={GROUP} symmetric={symmetric} remarks=true"
                    said = run(tile_opt, "p.mlir", f"--pass-pipeline=builtin.module(func.func(tile-quantize-weights{{{options}}}))", "-o", "q.mlir")
                    run(tile_run, "q.mlir", "--in=x.npy", "--out=z.npy", "--stats=s.json")
                    is_symmetric = symmetric == "true"
                    nearest = to_nearest(w, bits, is_symmetric)
                    expected = nearest if "round" in how else awq(w, h, bits, is_symmetric) if "awq" in how else gptq(w, h, bits, is_symmetric, "activation" in how)
                    seen, other = np.load("z.npy").astype("f8"), x.astype("f8") @ expected.T
                    # A weight that lies half way may go either way, and with it what follows: the error is judged, and the sums.
                    error, best = (np.linalg.norm(v - x.astype("f8") @ w.T) / np.linalg.norm(x @ w.T) for v in (seen, other))
                    told = float(re.search(r"error ([0-9.]+)", said).group(1))
                    judged = error if "round" in how else told
                    good = error < 1.05 * best + 1e-4 and abs(judged - error) < 2e-3 + .02 * error
                    if "awq" in how:  # no worse than rounding, whose power is 0
                        good = good and error <= 1.001 * np.linalg.norm(x.astype("f8") @ (nearest - w).T) / np.linalg.norm(x @ w.T)
                    if "round" in how:
                        good = good and np.abs(seen - other).max() < 1e-4 * np.abs(other).max()
                    print(f"{'transposed' if transposed else 'plain'} {options[:-13]}: {'right' if good else f'WRONG {error} {best} {told}'}")
                    wrong += not good
    print(f"{wrong} wrong")
    return wrong > 0


if __name__ == "__main__":
    sys.exit(main())
