#!/usr/bin/env python3
"""Graph Challenge inference, compiled, judged by scipy, and its rate beside scipy's.

Checks, in this order: with a bias of -5/16, where every partial sum is exact in f32, y after layers 1 to 4 bit for bit
(survivors too); with the challenge's bias and with varied weights y after layers 1, 2, 4, 8 and 12 against f64, and who is
left after all layers. Then one batch of images through all layers, on one thread, in turns with scipy (csr @ dense in f32),
once with all images to the end and once without those that went, after the same layers. The rate is images × layers ×
neurons × 32 edges over the median thread time, images that went counted.

Use: run.py [--neurons=1024] [--layers=120] [--images=960] [--repeat=5] [--target=cpu] [--build=build]
Other targets are judged, not measured. Exit status 1: something is wrong.
"""
import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
import numpy as np  # noqa: E402

import network  # noqa: E402

HERE = Path(__file__).resolve().parent
EXACT = -5 / 16


class Compiled:
    """The program, for any number of neurons."""

    def __init__(self, build, target, folder):
        self.build, self.folder, program = Path(build) / "bin", Path(folder), Path(folder) / "inference.so"
        self.command = [self.build / "tile-run", HERE / "inference.mlir", f"--target={target}"]
        self.loaded = None
        if target == "cpu":
            subprocess.run([self.build / "tile-translate", HERE / "inference.mlir", "--tile-to-program", "-o", program], check=True)
            sys.path.insert(0, str(Path(build) / "python"))
            import tessera_runtime
            tessera_runtime.set_threads(1)
            self.loaded = tessera_runtime.load(program)

    def __call__(self, weights, bias, images):
        """y, and the names of its columns."""
        if self.loaded:
            return self.loaded(*weights, np.float32(bias), images)
        flags = []
        for i, array in enumerate([*weights, np.float32(bias), images]):
            np.save(self.folder / f"in{i}.npy", array)
            flags.append(f"--in={self.folder / f'in{i}.npy'}")
        outputs = [self.folder / "y.npy", self.folder / "names.npy"]
        subprocess.run([*self.command, *flags, *(f"--out={out}" for out in outputs)], check=True)
        return tuple(np.load(out) for out in outputs)


def first(weights, layers):
    return [part[:layers] for part in weights]


def compare(compiled, weights, bias, images, layers):
    """How far y is from scipy's in f64, relatively; an error where other images are left."""
    tolerance = max(1e-5, 2.0 ** (layers - 24))  # inputs' weights add up to 2: a layer doubles what was rounded before it
    y, names = compiled(first(weights, layers), bias, images)
    want = network.reference(weights, bias, images, layers)
    alive = np.flatnonzero(want.max(axis=0) > 1e-4)  # others may be rounded to nothing
    if not set(alive) <= set(names) or not set(names) <= set(np.flatnonzero(want.max(axis=0) > -1e-4)):
        sys.exit(f"layer {layers}: {len(names)} images are left, expected {len(alive)}")
    error = np.max(np.abs(y - want[:, names]) / np.maximum(want[:, names], 1), initial=0)
    if not error <= tolerance:
        sys.exit(f"layer {layers}: y is {error:.1e} off, expected at most {tolerance:.0e}")
    return error


def check(compiled, options):
    images = network.images(options.neurons, options.images)
    plain, varied = network.weights(options.neurons, options.layers), network.weights(options.neurons, options.layers, varied=True)
    for layers in range(1, min(4, options.layers) + 1):
        y, names = compiled(first(plain, layers), EXACT, images)
        want = network.reference(plain, EXACT, images, layers, np.float32)
        alive = np.flatnonzero(want.max(axis=0) > 0)
        if not np.array_equal(names, alive) or y.tobytes() != np.ascontiguousarray(want[:, alive]).tobytes():
            sys.exit(f"layer {layers} is not scipy's bit for bit")
    print(f"layers 1 to {min(4, options.layers)}: alike bit for bit, {len(alive)} of {options.images} images left")
    bias = network.BIAS[options.neurons]
    for name, weights in (("weights of 1/16", plain), ("varied weights", varied)):
        errors = [compare(compiled, weights, bias, images, n) for n in (1, 2, 4, 8, 12) if n <= options.layers]
        print(f"{name}: at most {max(errors):.1e} from f64")
    return plain, bias, images


def scipy_infer(matrices, bias, y, drops):
    """The same in f32; `drops`: without the images that went, after the same layers."""
    names = np.arange(y.shape[1])
    for layer, matrix in enumerate(matrices):
        y = matrix @ y
        y += bias
        np.clip(y, 0, 32, out=y)
        asks = layer > 1 and layer & (layer + 1) == 0 and drops
        if asks or layer + 1 == len(matrices):
            alive = y.max(axis=0) > 0
            if not alive.all():
                y, names = np.ascontiguousarray(y[:, alive]), names[alive]
    return y, names


def measure(compiled, weights, bias, images, options):
    matrices = [network.matrix(weights, layer) for layer in range(options.layers)]
    edges = options.images * options.layers * options.neurons * 32
    calls = (lambda: compiled(weights, bias, images), lambda: scipy_infer(matrices, np.float32(bias), images, False),
             lambda: scipy_infer(matrices, np.float32(bias), images, True))
    times = [[], [], []]
    for _ in range(options.repeat):
        for call, own in zip(calls, times):
            begin = time.thread_time()
            seen = call()
            own.append(time.thread_time() - begin)
            names, alive = seen[1] if own is times[0] else names, seen[1]
    if not np.array_equal(names, alive):
        sys.exit(f"{len(names)} images are left, scipy has {len(alive)}")
    ours, plain, dropping = (float(np.median(own)) for own in times)
    print(f"{options.neurons} neurons, {options.layers} layers, {options.images} images, {len(names)} left: {edges / ours:.2e} edges/s;"
          f" scipy {edges / plain:.2e}, ratio {plain / ours:.1f}; scipy without images that went {edges / dropping:.2e}, ratio {dropping / ours:.1f}")
    if not plain / ours >= options.bar:
        sys.exit(f"bar {options.bar} times scipy missed")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--neurons", type=int, default=1024, choices=[1024, 4096, 16384, 65536])
    parser.add_argument("--layers", type=int, default=120)
    parser.add_argument("--images", type=int, default=960)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--bar", type=float, default=0, help="exit 1 below that ratio to scipy with all images to the end")
    parser.add_argument("--target", default="cpu")
    parser.add_argument("--build", default=str(HERE.parent.parent / "build"))
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        compiled = Compiled(options.build, options.target, folder)
        inputs = check(compiled, options)
        if options.target == "cpu":
            measure(compiled, *inputs, options)


main()
