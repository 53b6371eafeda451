"""A training step in JAX (a small CNN, Adam): jax.jit lowers it to StableHLO, Tessera compiles and runs it.

    pip install jax; PYTHONPATH=python python examples/models/jax_training.py

The task: which of four quarters of a noisy image is bright? Forward, backward and Adam are one program.
"""
import tempfile

import jax
import jax.numpy as jnp
import numpy as np
import tessera

generator = np.random.default_rng(7)


def model(weights, images):
    x = jax.lax.conv_general_dilated(images, weights[0], (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))
    x = jax.lax.reduce_window(jax.nn.relu(x), -jnp.inf, jax.lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")
    return x.reshape(x.shape[0], -1) @ weights[1] + weights[2]


def loss(weights, images, labels):
    return -jnp.take_along_axis(jax.nn.log_softmax(model(weights, images)), labels[:, None], 1).mean()


def step(weights, means, squares, count, images, labels):
    value, slopes = jax.value_and_grad(loss)(weights, images, labels)
    count += 1
    means = [0.9 * m + 0.1 * g for m, g in zip(means, slopes)]
    squares = [0.999 * s + 0.001 * g * g for s, g in zip(squares, slopes)]
    rate = 0.01 * jnp.sqrt(1 - 0.999**count) / (1 - 0.9**count)
    weights = [w - rate * m / (jnp.sqrt(s) + 1e-8) for w, m, s in zip(weights, means, squares)]
    return (value, *weights, *means, *squares, count)


def batch(size=32):
    labels = generator.integers(0, 4, size).astype("i4")
    images = generator.standard_normal((size, 8, 8, 1)).astype("f4")
    for image, label in zip(images, labels):
        image[4 * (label // 2):4 * (label // 2) + 4, 4 * (label % 2):4 * (label % 2) + 4] += 1.5
    return images, labels


shapes = [(3, 3, 1, 8), (4 * 4 * 8, 4), (4, )]
weights = [0.1 * generator.standard_normal(shape).astype("f4") for shape in shapes]
zeros = [np.zeros(shape, "f4") for shape in shapes]
state = [*weights, *zeros, *zeros, np.float32(0)]
lowered = jax.jit(lambda *x: step(list(x[:3]), list(x[3:6]), list(x[6:9]), *x[9:])).lower(*state, *batch())
with tempfile.NamedTemporaryFile("w", suffix=".mlir") as file:
    file.write(lowered.as_text())
    file.flush()
    program = tessera.load(file.name).compile("cpu")
for i in range(61):
    result = program(*state, *batch())
    state = list(result.results[1:])
    if i % 20 == 0:
        print(f"step {i:2}: loss {float(result[0]):.3f}")
print("fallback_ops", program.statistics["fallback_ops"])
