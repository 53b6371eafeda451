"""sparse-shrink-tensors changes no result. Use: shrink.py TILE_OPT TILE_RUN [--rounds=N] [--targets=cpu,…]

Per round a random network: products by constants with zero rows and columns, biases, activations, residual sums,
concatenations, layers with two readers, integers too. The network is shrunk, and both programs run on one input.
"""
import argparse
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from random_programs import dense, type_of

WIDTHS = [3, 5, 8, 31, 33, 40, 64]


class Network:
    def __init__(self, rng):
        self.rng, self.lines, self.count = rng, [], 0
        self.element = str(rng.choice(["f32", "f32", "i32"]))
        self.float = self.element == "f32"
        self.batch = int(rng.choice([1, 3, 6]))
        self.layers = []  # (name, width)

    def line(self, text):
        self.count += 1
        self.lines.append(f"%t{self.count} = {text}")
        return f"%t{self.count}"

    def type(self, *shape):
        return type_of(shape, self.element)

    def numbers(self, shape):
        a = self.rng.integers(-3, 4, shape)
        a[a == 0] = 2
        for axis in range(len(shape)):
            if self.rng.random() < 0.6:
                a[(slice(None),) * axis + (self.rng.random(shape[axis]) < self.rng.choice([0.3, 0.6, 0.95]),)] = 0
        return a.astype(np.float32) if self.float else a

    def constant(self, shape, zero=False):
        a = np.zeros(shape, np.float32 if self.float else np.int64) if zero else self.numbers(shape)
        return self.line(f"arith.constant {dense(a)} : {self.type(*shape)}")

    def zeros(self, *shape):
        value = self.line(f"arith.constant {'0.0' if self.float else '0'} : {self.element}")
        empty = self.line(f"tensor.empty() : {self.type(*shape)}")
        return self.line(f"linalg.fill ins({value} : {self.element}) outs({empty} : {self.type(*shape)}) -> {self.type(*shape)}")

    def generic(self, maps, kinds, inputs, out, body):
        ins = ", ".join(n for n, _ in inputs)
        types = ", ".join(self.type(*s) for _, s in inputs)
        args = ", ".join([f"%a{i}: {self.element}" for i in range(len(inputs))] + [f"%o: {self.element}"])
        maps = ", ".join(f"affine_map<{m}>" for m in maps)
        kinds = ", ".join(f'"{k}"' for k in kinds)
        name, shape = out
        return self.line(f"linalg.generic {{indexing_maps = [{maps}], iterator_types = [{kinds}]}} ins({ins} : {types}) "
                         f"outs({name} : {self.type(*shape)}) {{\n  ^bb0({args}):\n    " + "\n    ".join(body)
                         + f"\n    linalg.yield %r : {self.element}\n  }} -> {self.type(*shape)}")

    def product(self, name, width, wide):
        w = self.constant((width, wide))
        if self.rng.random() < 0.3:  # by a generic, transposed
            w = self.constant((wide, width))
            mul, add = ("arith.mulf", "arith.addf") if self.float else ("arith.muli", "arith.addi")
            return self.generic(["(i, j, k) -> (i, k)", "(i, j, k) -> (j, k)", "(i, j, k) -> (i, j)"], ["parallel", "parallel", "reduction"],
                                [(name, (self.batch, width)), (w, (wide, width))], (self.zeros(self.batch, wide), (self.batch, wide)),
                                [f"%m = {mul} %a0, %a1 : {self.element}", f"%r = {add} %o, %m : {self.element}"])
        return self.line(f"linalg.matmul ins({name}, {w} : {self.type(self.batch, width)}, {self.type(width, wide)}) "
                         f"outs({self.zeros(self.batch, wide)} : {self.type(self.batch, wide)}) -> {self.type(self.batch, wide)}")

    def activation(self, name, width):
        bias, e = self.constant((width,)), self.element
        suffix = "f" if self.float else "i"
        top = "arith.maximumf" if self.float else "arith.maxsi"
        zero = "0.0" if self.float else "0"
        body = [f"%s = arith.add{suffix} %a0, %a1 : {e}"]
        kind = self.rng.integers(4)
        if kind == 0 and self.float:
            body.append(f"%r = math.tanh %s : {e}")
        elif kind == 1 and self.float:
            body.append(f"%r = math.exp2 %a1 : {e}")
        else:
            body += [f"%c = arith.constant {zero} : {e}", f"%r = {top} %s, %c : {e}"]
        return self.generic(["(i, j) -> (i, j)", "(i, j) -> (j)", "(i, j) -> (i, j)"], ["parallel"] * 2,
                            [(name, (self.batch, width)), (bias, (width,))], (self.line(f"tensor.empty() : {self.type(self.batch, width)}"), (self.batch, width)), body)

    def sum_along(self, name, width):
        op = self.rng.choice(["add", "max"])
        op = {"add": "arith.addf", "max": "arith.maximumf"}[op] if self.float else {"add": "arith.addi", "max": "arith.maxsi"}[op]
        return self.generic(["(i, j) -> (i, j)", "(i, j) -> (i)"], ["parallel", "reduction"], [(name, (self.batch, width))],
                            (self.zeros(self.batch), (self.batch,)), [f"%r = {op} %o, %a0 : {self.element}"])

    def draw(self):
        width = int(self.rng.choice(WIDTHS))
        self.width = width
        name, results = "%x", []
        for _ in range(int(self.rng.integers(2, 5))):
            wide = int(self.rng.choice(WIDTHS))
            name, width = self.activation(self.product(name, width, wide), wide), wide
            t = self.type(self.batch, width)
            if self.layers and self.rng.random() < 0.4:
                other, w = self.layers[int(self.rng.integers(len(self.layers)))]
                if w == width:
                    name = self.line(f"linalg.add ins({name}, {other} : {t}, {t}) outs({self.zeros(self.batch, width)} : {t}) -> {t}")
            if self.rng.random() < 0.2:
                name, width = self.line(f"tensor.concat dim(1) {name}, {name} : ({t}, {t}) -> {self.type(self.batch, 2 * width)}"), 2 * width
            if self.rng.random() < 0.2:
                results.append((self.sum_along(name, width), (self.batch,)))
            self.layers.append((name, width))
        last = int(self.rng.choice([1, 7]))
        results.append((self.product(name, width, last), (self.batch, last)))
        if self.rng.random() < 0.2:
            results.append((self.layers[0][0], (self.batch, self.layers[0][1])))
        types = ", ".join(self.type(*s) for _, s in results)
        self.results = len(results)
        self.text = (f"func.func @main(%x: {self.type(self.batch, self.width)}) -> ({types}) {{\n  " + "\n  ".join(self.lines)
                     + "\n  return " + ", ".join(n for n, _ in results) + f" : {types}\n}}\n")
        return self


def elements(text):
    """Of all tensor types, as often as the text has them."""
    return sum(np.prod([int(n) for n in shape.split("x") if n]) for shape in re.findall(r"tensor<([\dx]*)[fi]32>", text))


def run(tools, folder, program, target, count):
    done = subprocess.run([tools.tile_run, program, f"--target={target}", f"--in={folder / 'x.npy'}"]
                          + [f"--out={folder / f'r{i}.npy'}" for i in range(count)], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(done.stderr + Path(program).read_text())
    return [np.load(folder / f"r{i}.npy") for i in range(count)]


def check(seed, tools, folder, counts):
    rng = np.random.default_rng(seed)
    network = Network(rng).draw()
    (folder / "given.mlir").write_text(network.text)
    mode = str(rng.choice(["exact", "finite"]))
    done = subprocess.run([tools.tile_opt, folder / "given.mlir", f"--sparse-shrink-tensors=sparsity={mode}"],
                          capture_output=True, text=True)
    if done.returncode:
        return f"{seed}: {done.stderr}"
    counts["cut"] += elements(done.stdout) < elements(network.text)
    (folder / "shrunk.mlir").write_text(done.stdout)
    x = rng.integers(-4, 5, (network.batch, network.width))
    if network.float:
        x = x.astype(np.float32)
        if mode == "exact" and rng.random() < 0.5:
            x[rng.random(x.shape) < 0.2] = rng.choice([np.inf, -np.inf, np.nan])
    np.save(folder / "x.npy", x if network.float else x.astype(np.int32))
    wanted = run(tools, folder, folder / "given.mlir", "interpret", network.results)
    for target in tools.targets.split(","):
        got = run(tools, folder, folder / "shrunk.mlir", target, network.results)
        for a, b in zip(got, wanted):
            # What is cut were exact zeros; only compiled programs sum in another order.
            equal = np.array_equal(a, b, equal_nan=True) if target == "interpret" or not network.float else \
                np.allclose(a, b, rtol=1e-4, atol=1e-4 * (1 + np.abs(b[np.isfinite(b)]).max(initial=0)), equal_nan=True)
            if not equal:
                return f"{seed}: {target}, {mode}\n{network.text}\n{done.stdout}\n{a}\nwanted\n{b}"
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tile_opt")
    parser.add_argument("tile_run")
    parser.add_argument("--rounds", type=int, default=24)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--targets", default="interpret")
    tools = parser.parse_args()
    wrong, counts = [], {"cut": 0}
    for number in range(tools.rounds):
        with tempfile.TemporaryDirectory() as folder:
            wrong += filter(None, [check([tools.seed, number], tools, Path(folder), counts)])
    print(*wrong[:2], sep="\n")
    print(f"{tools.rounds} networks, {len(wrong)} wrong")
    print(f"{'most' if 2 * counts['cut'] > tools.rounds else 'few'} became smaller: {counts['cut']}")
    return bool(wrong)


sys.exit(main())
