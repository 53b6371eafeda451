"""MatMulNBits with zero points against numpy, from its definition. Usage: low_bit.py MODELS TILE_RUN"""
import os
import random
import subprocess
import sys

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from model_writer import FLOAT, INT32, UINT8, model, node, save, tensor, value

folder, tile_run = sys.argv[1:]
rng, (m, n, k, block) = np.random.default_rng(3), (4, 18, 96, 32)
b, s, z = rng.integers(0, 256, (n, k // 2)), rng.uniform(.01, .1, (n, k // block)).astype("f4"), rng.integers(0, 256, (n, 2))
save(f"{folder}/zeros.onnx", model(
    [node("MatMulNBits", ["x", "b", "s", "z", "", "bias"], ["y"], domain="com.microsoft", K=k, N=n, bits=4, block_size=block)],
    [value("x", FLOAT, [m, k])], [value("y", FLOAT, [m, n])],
    [tensor("b", UINT8, [n, k // block, block // 2], b.reshape(-1).tolist()), tensor("s", FLOAT, [s.size], s.reshape(-1).tolist()),
     tensor("z", UINT8, [z.size], z.reshape(-1).tolist()), tensor("bias", FLOAT, [n], [float(i) for i in range(n)])], domain="com.microsoft"))
x = rng.standard_normal((m, k)).astype("f4")
np.save(f"{folder}/zeros.npy", x)
subprocess.run([tile_run, f"{folder}/zeros.onnx", f"--in={folder}/zeros.npy", f"--out={folder}/zeros-y.npy"], check=True)
codes = np.stack([b & 15, b >> 4], -1).reshape(n, k)
zeros = np.stack([z & 15, z >> 4], -1).reshape(n, 4)[:, :k // block]  # a row begins with a byte: one code is left over
w = (codes - np.repeat(zeros, block, 1)) * np.repeat(s.astype("f8"), block, 1)
y = np.load(f"{folder}/zeros-y.npy")
if not np.allclose(y, x.astype("f8") @ w.T + np.arange(n), rtol=1e-4, atol=1e-4):
    sys.exit("wrong with zero points")
# An order of groups: index k belongs to group order[k].
order = rng.permutation(np.repeat(np.arange(k // block), block))
save(f"{folder}/order.onnx", model(
    [node("MatMulNBits", ["x", "b", "s", "z", "order", ""], ["y"], domain="com.microsoft", K=k, N=n, bits=4, block_size=block)],
    [value("x", FLOAT, [m, k])], [value("y", FLOAT, [m, n])],
    [tensor("b", UINT8, [n, k // block, block // 2], b.reshape(-1).tolist()), tensor("s", FLOAT, [s.size], s.reshape(-1).tolist()),
     tensor("z", UINT8, [z.size], z.reshape(-1).tolist()), tensor("order", INT32, [k], order.tolist())], domain="com.microsoft"))
subprocess.run([tile_run, f"{folder}/order.onnx", f"--in={folder}/zeros.npy", f"--out={folder}/order-y.npy"], check=True)
w = (codes - zeros[:, order]) * s.astype("f8")[:, order]
sys.exit(not np.allclose(np.load(f"{folder}/order-y.npy"), x.astype("f8") @ w.T, rtol=1e-4, atol=1e-4))
