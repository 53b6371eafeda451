"""Programs of jax.export with symbolic shapes, run for several sizes and compared with JAX. Needs the package jax.

Usage: exported.py TILE_RUN FOLDER [TARGET ...]
"""
import os
import subprocess
import sys

os.environ["JAX_PLATFORMS"] = "cpu"
import jax
import jax.numpy as jnp
import numpy as np
from jax import export

N, T = export.symbolic_shape("n, t")
SIZES = [{"n": 1, "t": 1}, {"n": 5, "t": 3}, {"n": 2, "t": 17}]


def mlp(x, w, b):
    return jax.nn.softmax(jnp.maximum(x @ w + b, 0))


def layernorm(x):
    mean = x.mean(-1, keepdims=True)
    return (x - mean) * jax.lax.rsqrt(((x - mean)**2).mean(-1, keepdims=True) + 1e-5)


def attention(q, k, v):
    return jnp.einsum("bqk,bkd->bqd", jax.nn.softmax(jnp.einsum("bqd,bkd->bqk", q, k) / 2.0), v)


def moved(x):
    return x.reshape(x.shape[0], -1), jnp.arange(x.shape[0]), x.reshape(-1), x.transpose(1, 0, 2), jnp.concatenate([x, x + 1], 0)


PROGRAMS = {mlp: [(N, 8), (8, 3), (3, )], layernorm: [(N, 5)], attention: [(N, T, 8)] * 3, moved: [(N, 2, 3)]}


def main():
    tile_run, folder, *targets = sys.argv[1:]
    draw, right, wrong = np.random.default_rng(1), 0, 0
    for function, shapes in PROGRAMS.items():
        path = os.path.join(folder, function.__name__)
        arguments = [jax.ShapeDtypeStruct(shape, jnp.float32) for shape in shapes]
        with open(path + ".mlir", "w") as file:
            file.write(export.export(jax.jit(function))(*arguments).mlir_module())
        for sizes in SIZES:
            given = [draw.standard_normal([sizes.get(str(size), size) for size in shape]).astype("f4") for shape in shapes]
            results = function(*given)
            results = results if isinstance(results, tuple) else (results, )
            for k, array in enumerate(given):
                np.save(f"{path}.in{k}.npy", array)
            for target in targets or ["cpu"]:
                subprocess.run([tile_run, path + ".mlir", f"--target={target}", *(f"--in={path}.in{k}.npy" for k in range(len(given))),
                                *(f"--out={path}.out{k}.npy" for k in range(len(results)))], check=True)
                for k, wanted in enumerate(results):
                    seen = np.load(f"{path}.out{k}.npy")
                    good = seen.shape == wanted.shape and np.allclose(seen, wanted, rtol=1e-4, atol=1e-5)
                    right, wrong = right + good, wrong + (not good)
                    if not good:
                        print(f"{function.__name__} of {sizes} on {target}: result {k} is wrong")
    print(f"{right} results right, {wrong} wrong")
    return wrong > 0


if __name__ == "__main__":
    sys.exit(main())
