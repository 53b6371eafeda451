"""GPTQ's comparison (Frantar et al., ICLR 2023) on a generated layer, since no checkpoint is at hand:
./dev reproduce gptq [--quick] [--json=FILE]

A layer of 256 x 512 weights from a normal distribution, groups of 128, and 2048 rows of inputs: sums of 128 factors with as
much noise as half a factor, scaled by exp(0.7 n), so that inputs differ in size and depend on each other. For 4 and 2 bits
(what tile-quantize-weights has, of the paper's 4, 3 and 2) and 8 beside them, the error |X (W - Q)'| / |X W'| of rounding,
of GPTQ in the order of k, of GPTQ by activation and of AWQ, with the seconds that each pass takes. The reference column is an
implementation in numpy by this file, of the same rules.

Exits 1 where GPTQ does not beat rounding, or where an error differs from the reference by more than a tenth.
"""
import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time

import numpy as np

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../.."))
TOOLS = os.path.join(ROOT, "build", "bin")
N, K, M, GROUP = 256, 512, 2048, 128


def program(weights):
    n, k = weights.shape
    return f"""func.func @main(%x: tensor<{M}x{k}xf32>) -> tensor<{M}x{n}xf32> {{
  %w = arith.constant dense<"0x{weights.tobytes().hex().upper()}"> : tensor<{n}x{k}xf32>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<{M}x{n}xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<{M}x{n}xf32>) -> tensor<{M}x{n}xf32>
  %c = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
      ins(%x, %w : tensor<{M}x{k}xf32>, tensor<{n}x{k}xf32>) outs(%f : tensor<{M}x{n}xf32>) -> tensor<{M}x{n}xf32>
  return %c : tensor<{M}x{n}xf32>
}}
"""


def layer(rng):
    weights = rng.standard_normal((N, K)).astype("f4")
    factors = min(128, K)
    rows = rng.standard_normal((M, factors)) @ rng.standard_normal((factors, K)) + .5 * rng.standard_normal((M, K))
    return weights, (rows * np.exp(.7 * rng.standard_normal(K))).astype("f4")


def scale_of(weights, bits):
    return 2 * np.abs(weights).max(1) / (2 ** bits - 1), 2 ** (bits - 1)


def rounded(weights, scale, zero, bits):
    return (np.clip(np.rint(weights / scale) + zero, 0, 2 ** bits - 1) - zero) * scale


def to_nearest(weights, bits):
    parts = [weights[:, g:g + GROUP] for g in range(0, K, GROUP)]
    return np.concatenate([rounded(p, scale_of(p, bits)[0][:, None], 2 ** (bits - 1), bits) for p in parts], 1)


def gptq(weights, hessian, bits, by_activation):
    order = np.argsort(-np.diag(hessian), kind="stable") if by_activation else np.arange(K)
    groups = [scale_of(weights[:, g:g + GROUP], bits) for g in range(0, K, GROUP)]
    rest, h = weights[:, order].astype("f8"), hessian[np.ix_(order, order)].astype("f8")
    h[np.diag_indices(K)] += .01 * np.mean(np.diag(h))
    upper, result = np.linalg.cholesky(np.linalg.inv(h)).T, np.zeros(weights.shape)
    for i, k in enumerate(order):
        if not by_activation and i % GROUP == 0:
            groups[i // GROUP] = scale_of(rest[:, i:i + GROUP], bits)
        result[:, k] = rounded(rest[:, i], *groups[k // GROUP], bits)
        rest[:, i:] -= np.outer((rest[:, i] - result[:, k]) / upper[i, i], upper[i, i:])
    return result


def awq(weights, hessian, bits):
    """Activation-aware scales (Lin et al., MLSys 2024), beside GPTQ: the power of the inputs' size that loses least."""
    size, found = np.sqrt(np.diag(hessian)).astype("f4"), []
    for power in range(21):
        inputs = size ** np.float32(power / 20)
        inputs /= np.sqrt(inputs.min() * inputs.max())
        made = to_nearest(weights * inputs, bits) / inputs
        lost = (weights - made).astype("f8")
        found.append((np.einsum("nk,kl,nl->", lost, hessian.astype("f8"), lost, optimize=True), made))
    return min(found, key=lambda pair: pair[0])[1]


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(command[:3])}\n{done.stderr[-2000:]}")
    return done.stderr


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a smaller layer")
    parser.add_argument("--json", metavar="FILE")
    arguments = parser.parse_args()
    if arguments.quick:
        globals().update(N=48, K=256, M=256)
    weights, x = layer(np.random.default_rng(7))
    opt, wrong, table = os.path.join(TOOLS, "tile-opt"), 0, []
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        np.save("x.npy", x)
        with open("p.mlir", "w") as file:
            file.write(program(weights))
        run(opt, "p.mlir", "--pass-pipeline=builtin.module(func.func(tile-collect-hessians))", "-o", "h.mlir")
        run(os.path.join(TOOLS, "tile-run"), "h.mlir", "--in=x.npy", "--out=y.npy", "--out=h.npz", "--stats=s.json")
        manifest = json.load(open("s.json"))["manifest"]
        hessian = next(iter(np.load("h.npz").values()))
        dense = x.astype("f8") @ weights.T.astype("f8")
        print(f"{N} x {K} weights, groups of {GROUP}, {M} rows; error of the product")
        print(f"{'bits':>4} {'method':22} {'ours':>8} {'reference':>10} {'by rounding':>12} {'seconds':>8}")
        for bits in (8, 4, 2):
            least = None
            for label, options in (("round", "method=round"), ("gptq", "method=gptq hessians=h.npz"),
                                   ("gptq, by activation", "method=gptq hessians=h.npz order=activation"), ("awq", "method=awq hessians=h.npz")):
                start = time.monotonic()
                said = run(opt, "p.mlir", f"--pass-pipeline=builtin.module(func.func(tile-quantize-weights{{{options} bits={bits} group={GROUP} remarks=true}}))",
                           "-o", "q.mlir")
                seconds = time.monotonic() - start
                run(os.path.join(TOOLS, "tile-run"), "q.mlir", "--in=x.npy", "--out=z.npy")
                expected = (to_nearest(weights, bits) if label == "round" else awq(weights, hessian, bits) if label == "awq"
                            else gptq(weights, hessian, bits, "activation" in label))
                ours, reference = (float(np.linalg.norm(v - dense) / np.linalg.norm(dense))
                                   for v in (np.load("z.npy").astype("f8"), x.astype("f8") @ expected.T))
                least = least or ours
                good = abs(ours - reference) <= .1 * reference and (label == "round" or ours <= least)
                wrong += not good
                table.append({"bits": bits, "method": label, "error": ours, "reference": reference, "seconds": seconds,
                              "told": float(re.search(r"error ([0-9.e-]+)", said).group(1)) if "error" in said else None})
                print(f"{bits:4} {label:22} {ours:8.4f} {reference:10.4f} {ours / least:12.2f} {seconds:8.2f}{'' if good else '  WRONG'}", flush=True)
    if arguments.json:
        with open(arguments.json, "w") as file:
            json.dump({"table": table, "manifest": manifest}, file, indent=1)
    return wrong > 0


if __name__ == "__main__":
    sys.exit(main())
