"""Draws kernels as Python source, and what numpy makes of the same source.

    draw.py SEED                    prints one
    draw.py SEED TARGET [FOLDER]    runs it there: "TARGET: right", or "TARGET: wrong: …" and exit status 1

The source is run twice: by tessera, and by Python itself with `ts` standing for NumpyLanguage below. What is drawn keeps
rounding errors small (no step multiplies them much) and compares only what is exact, so that a difference is a fault.
"""
import ast
import functools
import importlib.util
import math
import random
import sys
import tempfile
import types
from pathlib import Path

import numpy as np


class NumpyKernel:
    """A drawn function, run for each place of a grid."""

    def __init__(self, function, language):
        self.function, self.language = function, language

    def __call__(self, grid, *arrays, **constants):
        for place in np.ndindex(*grid):
            self.language.place = place
            self.function(*arrays, **constants)


class NumpyLanguage(types.SimpleNamespace):
    """What `ts` means to numpy."""
    f32, i32, index = np.float32, np.int32, np.int64
    Constant = int

    def __init__(self):
        same = ("exp tanh sqrt maximum minimum where clip sin concatenate sum max min sort argmax argmin".split())
        super().__init__(place=(), static_range=range, **{name: getattr(np, name) for name in same})
        self.Array = type("Array", (), {"__class_getitem__": classmethod(lambda cls, items: None)})

    def kernel(self, function):
        return NumpyKernel(function, self)

    @staticmethod
    def func(function):
        return function

    def program_id(self, axis):
        return np.int64(self.place[axis])

    @staticmethod
    def arange(n):
        return np.arange(n)

    @staticmethod
    def cumsum(x, axis):
        return np.cumsum(x, axis, dtype=x.dtype)

    @staticmethod
    def gather(array, indices, bounds):
        return array[tuple(np.clip(index, 0, size - 1) for index, size in zip(np.broadcast_arrays(*indices), array.shape))]

    @staticmethod
    def insert(x, part, offsets):
        x = x.copy()
        x[tuple(slice(at, at + size) for at, size in zip(offsets, part.shape))] = part
        return x

    @staticmethod
    def topk(x, k, axis):
        at = np.take(np.argsort(-x.astype("i8"), axis, kind="stable"), np.arange(k), axis)
        return np.take_along_axis(x, at, axis), at.astype("i4")

    @staticmethod
    def argsort(x, axis):
        return np.argsort(x, axis, kind="stable").astype("i4")

    @staticmethod
    def take_along_axis(x, at, axis):
        return np.take_along_axis(x, at.astype("i8"), axis)

    @staticmethod
    def scan(x, function, axis, reverse=False):
        return np.flip(np.maximum.accumulate(np.flip(x, axis), axis), axis) if reverse else np.maximum.accumulate(x, axis)

    @staticmethod
    def zeros(shape, dtype=np.float32):
        return np.zeros(shape, dtype)

    @staticmethod
    def full(shape, value):
        return np.full(shape, value, np.float32)

    @staticmethod
    def mma(a, b, c):
        return a @ b + c

    @staticmethod
    def reduce(x, function, axis, neutral=None):
        parts = [np.take(x, i, axis) for i in range(x.shape[axis])]
        total = parts[0]
        for part in parts[1:]:
            total = function(total, part)
        return total

    @staticmethod
    def load(array, index, shape, pad="zero", step=None):
        tile = np.full(shape, {"zero": 0, "neg_inf": -np.inf}[pad], array.dtype)
        for place in np.ndindex(*shape):
            at = tuple(int(i) * s + t for i, s, t in zip(index, step or shape, place))
            if all(0 <= one < size for one, size in zip(at, array.shape)):
                tile[place] = array[at]
        return tile

    @staticmethod
    def store(array, index, tile):
        for place in np.ndindex(*tile.shape):
            at = tuple(int(i) * s + t for i, s, t in zip(index, tile.shape, place))
            if all(0 <= one < size for one, size in zip(at, array.shape)):
                array[at] = tile[place]


HELPERS = '''@ts.func
def squash(v):
    return ts.tanh(v) + 0.25

@ts.func
def pick(n, a, b):
    if n % 3 == 0:
        return a
    if n > 4:
        return a + b
    return b
'''


class Draw:
    """One kernel: `x` and `z` of f32 and `c` of i32 are read, `y` (f32) and `d` (i32) are written."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.rows, self.columns = self.random.choice([2, 3, 4, 5, 8]), self.random.choice([3, 4, 7, 8, 12, 16])
        self.lines, self.count = [], 0
        self.floats, self.integers = [], []  # (name, shape)

    def say(self, text, depth):
        self.lines.append("    " * depth + text)

    def fresh(self, prefix):
        self.count += 1
        return f"{prefix}{self.count}"

    def one_of(self, values, shape=None):
        fitting = [name for name, its in values if shape is None or its == shape]
        return self.random.choice(fitting) if fitting else None

    def number(self):
        return repr(round(self.random.uniform(-1.5, 1.5), 3))

    def float_of(self, shape, depth=0):
        """An expression of f32 and this shape, whose errors are at most twice those of its parts."""
        r = self.random
        name = self.one_of(self.floats, shape)
        kind = r.randrange(12) if depth < 3 else 0
        if kind <= 1 and name:
            return name
        if kind == 2:
            return f"({self.float_of(shape, depth + 1)} {r.choice('+-')} {self.float_of(shape, depth + 1)}) * 0.5"
        if kind == 3:
            return f"({self.float_of(shape, depth + 1)} * {self.number()})"
        if kind == 4:
            return f"ts.{r.choice(['maximum', 'minimum'])}({self.float_of(shape, depth + 1)}, {r.choice([self.number(), self.float_of(shape, depth + 1)])})"
        if kind == 5:
            return f"ts.where({self.condition(shape)}, {self.float_of(shape, depth + 1)}, {self.float_of(shape, depth + 1)})"
        if kind == 6:
            return f"ts.tanh({self.float_of(shape, depth + 1)})"
        if kind == 7:
            e = self.float_of(shape, depth + 1)
            return f"ts.sqrt({e} * 0.5 * ts.tanh({e}) + 2.0)"
        if kind == 8:
            return f"ts.exp(ts.minimum({self.float_of(shape, depth + 1)}, 0.5))"
        if kind == 9:
            return f"squash({self.float_of(shape, depth + 1)})"
        if kind == 10 and len(shape) == 2:
            return f"({self.float_of(shape, depth + 1)} + {self.row_or_column(shape)})"
        if name:
            return f"(-{name})"
        return f"ts.full({shape}, {self.number()})"

    def row_or_column(self, shape):
        row = self.one_of(self.floats, (shape[1], ))
        column = self.one_of(self.floats, (shape[0], ))
        choices = [f"{row}[None, :]" if self.random.random() < 0.5 else row] if row else []
        choices += [f"{column}[:, None]"] if column else []
        return self.random.choice(choices) if choices else self.number()

    def integer_of(self, shape, depth=0):
        r = self.random
        name = self.one_of(self.integers, shape)
        kind = r.randrange(7) if depth < 2 else 0
        if not name:
            return f"ts.zeros({shape}, ts.i32)"
        if kind <= 1:
            return name
        left, right = self.integer_of(shape, depth + 1), self.integer_of(shape, depth + 1)
        if kind == 2:
            return f"({left} {r.choice(['+', '-', '&', '|', '^'])} {right})"
        if kind == 3:
            return f"({left} {r.choice(['//', '%'])} {r.choice([-7, -2, 3, 5, 11])})"
        if kind == 4:
            return f"({left} {r.choice(['//', '%'])} ({right} % 9 + {r.choice([1, -12])}))"
        if kind == 5:
            return f"(({left} % 1000) * {r.randrange(-9, 9)})"
        return f"ts.where({self.condition(shape)}, {left}, {right})"

    def condition(self, shape):
        r = self.random
        left = self.one_of(self.integers, shape)
        if not left:
            return f"{self.one_of([('i', ()), ('j', ())])} {r.choice(['<', '>=', '=='])} {r.randrange(3)}"
        kind = r.randrange(3)
        if kind == 0:
            return f"({r.randrange(-20, 0)} <= {left} < {r.randrange(0, 25)})"
        one = f"({left} {r.choice(['<', '<=', '>', '>=', '==', '!='])} {r.randrange(-9, 9)})"
        return one if kind == 1 else f"({one} {r.choice('&|^')} ~({left} % 2 == {r.randrange(2)}))"

    def shape(self):
        return self.random.choice([(self.rows, self.columns)] * 4 + [(self.columns, ), (self.rows, )])

    def statement(self, depth):
        r = self.random
        kind = r.randrange(19)
        if kind <= 3 or depth > 3:
            shape, name = self.shape(), self.fresh("f")
            self.say(f"{name} = {self.float_of(shape)}", depth)
            self.floats.append((name, shape))
        elif kind == 4:
            shape, name = self.shape(), self.fresh("n")
            self.say(f"{name} = {self.integer_of(shape)}", depth)
            self.integers.append((name, shape))
        elif kind == 5:
            self.reduction(depth)
        elif kind == 6:
            self.cut(depth)
        elif kind <= 8:
            self.loop(depth)
        elif kind <= 10:
            self.branch(depth)
        elif kind == 11:
            shape = self.shape()
            name = self.fresh("f")
            self.say(f"{name} = pick({r.choice(['i', 'j', 'i + j'])}, {self.float_of(shape, 1)}, {self.float_of(shape, 1)})", depth)
            self.floats.append((name, shape))
        elif kind == 12:
            shape = self.shape()
            a, b = self.fresh("f"), self.fresh("f")
            self.say(f"{a}, {b} = {self.float_of(shape, 1)}, {self.float_of(shape, 1)}", depth)
            self.say(f"{a}, {b} = {b}, {a}", depth)
            self.floats += [(a, shape), (b, shape)]
        elif kind == 13:
            self.product(depth)
        elif kind <= 16:
            self.places(depth)
        elif kind == 17:
            self.scalars(depth)
        else:
            self.pairs(depth)

    def places(self, depth):
        """What chooses elements by numbers, all exact."""
        r, rows, columns = self.random, self.rows, self.columns
        shape, name = (rows, columns), self.fresh("n")
        floats, integers = self.one_of(self.floats, shape), self.one_of(self.integers, shape)
        if not floats or not integers:
            return
        k, axis = r.randrange(1, columns), r.randrange(2)
        kept = ((columns, ), (rows, ))[axis]
        made, kind, result = r.choice([
            (f"ts.argsort({integers} % 7, axis={axis})", "i", shape),
            (f"ts.i32(ts.argmax({integers} % 9, axis={axis}))", "i", kept),
            (f"ts.i32(ts.argmin({integers} % 9, axis={axis}))", "i", kept),
            (f"ts.concatenate((ts.topk({integers} % 50, {k}, axis=1)[r_], {integers}[:, :{columns - k}]), axis=1)".replace("r_", str(r.randrange(2))),
             "i", shape),
            (f"ts.take_along_axis({floats}, {integers} % {shape[axis]}, axis={axis})", "f", shape),
            (f"ts.gather(x, ({integers} % 3 - 1, {integers} % 5), bounds=\"clamp\")", "f", shape),
            (f"ts.gather(c, ({integers} % 4, i % 2), bounds=\"clamp\")", "i", shape),
            (f"ts.insert({floats}, {floats}[:1, :{k}] * 0.5, ({r.randrange(rows)}, {r.randrange(columns - k + 1)}))", "f", shape),
            (f"{floats}[:, j:j + {columns - 1}].sum(1) * 0.1", "f", (rows, )),
            (f"{integers}[i % {rows}] + {integers}[i % {rows}, j]", "i", (columns, )),
            (f"ts.cumsum({floats}, axis={axis}) * 0.1", "f", shape),
            (f"ts.scan({floats}, lambda a, b: ts.maximum(a, b), axis={axis}, reverse={r.random() < 0.5})", "f", shape),
            (f"{integers}.astype(ts.f32) * 0.001", "f", shape),
        ])
        self.say(f"{name} = {made}", depth)
        (self.floats if kind == "f" else self.integers).append((name, result))

    def scalars(self, depth):
        """Numbers that a loop carries from Python's literals."""
        name, number, counter = self.fresh("s"), self.fresh("q"), self.fresh("k")
        source = self.one_of(self.floats, (self.rows, self.columns))
        if not source:
            return
        self.say(f"{name}, {number} = 0.0, {self.random.randrange(3)}", depth)
        self.say(f"for {counter} in range({self.random.choice(['2', 'i + 1', 'j'])}):", depth)
        self.say(f"{name} = {name} * 0.5 + x[{counter} % 2, j] * {self.number()}", depth + 1)
        self.say(f"{number} += {counter} * 2 - i // 2", depth + 1)
        self.say(f"if {number} > {self.random.randrange(4)} or {number} % 3 == 1:", depth)
        self.say(f"{source} = {source} * 0.5 + {name}", depth + 1)

    def pairs(self, depth):
        """A tuple that a loop carries."""
        name, shape = self.fresh("p"), self.shape()
        self.say(f"{name} = ({self.float_of(shape, 2)}, {self.float_of(shape, 2)})", depth)
        self.say(f"for {self.fresh('k')} in range(2):", depth)
        self.say(f"{name} = (({name}[1] - {name}[0]) * 0.5, ts.tanh({name}[0]))", depth + 1)
        first, second = self.fresh("f"), self.fresh("f")
        self.say(f"{first}, {second} = {name}", depth)
        self.floats += [(first, shape), (second, shape)]

    def reduction(self, depth):
        shape = (self.rows, self.columns)
        axis = self.random.randrange(2)
        kept = ((self.columns, ), (self.rows, ))[axis]
        name, source = self.fresh("f"), self.float_of(shape, 1)
        text = self.random.choice([
            f"ts.max({source}, axis={axis})", f"ts.min({source}, axis={axis - 2})", f"(ts.sum({source}, {axis}) * {1 / shape[axis]:.3f})",
            f"ts.reduce({source}, lambda a, b: ts.maximum(a, b), axis={axis})", f"({source}).sum(axis={axis}, keepdims=True).reshape({kept[0]}) * 0.1",
        ])
        self.say(f"{name} = {text}", depth)
        self.floats.append((name, kept))
        if self.random.random() < 0.4:
            integers, other = self.one_of(self.integers, shape), self.fresh("n")
            if integers:
                text = self.random.choice([f"ts.sum({integers} % 100, axis={axis})", f"ts.max({integers}, axis={axis})",
                                           f"ts.sort({integers}, axis={axis})", f"ts.cumsum({integers} % 50, axis={axis})"])
                self.say(f"{other} = {text}", depth)
                self.integers.append((other, shape if "sort" in text or "cumsum" in text else kept))

    def cut(self, depth):
        r, rows, columns = self.random, self.rows, self.columns
        source, name = self.one_of(self.floats, (rows, columns)), self.fresh("f")
        if not source:
            return
        at, middle = r.randrange(1, columns), r.randrange(rows)
        text, shape = r.choice([
            (f"ts.concatenate(({source}[:, {at}:], {source}[:, :{at}]), axis=1)", (rows, columns)),
            (f"{source}[{middle}]", (columns, )), (f"{source}[:, -{at}]", (rows, )),
            (f"{source}.T.reshape({rows}, {columns})", (rows, columns)), (f"({source}.T)[{at}, :]", (rows, )),
            (f"{source}[{middle}:{middle + 1}, :] + {source}", (rows, columns)),
        ])
        self.say(f"{name} = {text}", depth)
        self.floats.append((name, shape))

    def product(self, depth):
        left, right = (self.one_of(self.floats, (self.rows, self.columns)) for _ in range(2))
        if not left:
            return
        name = self.fresh("f")
        self.say(f"{name} = ts.tanh(({left} * 0.2) @ ({right} * 0.2).T) @ ({left} * 0.2)", depth)
        self.floats.append((name, (self.rows, self.columns)))

    def scoped(self, lines, depth):
        """Draws statements whose new names do not outlive the block."""
        floats, integers = list(self.floats), list(self.integers)
        for _ in range(lines):
            self.statement(depth)
        update = self.random.choice([name for name, _ in floats])
        shape = dict(floats)[update]
        self.say(f"{update} = {self.float_of(shape, 1)} * 0.5", depth)
        self.floats, self.integers = floats, integers

    def loop(self, depth):
        r = self.random
        if r.random() < 0.3:
            name = self.fresh("w")
            self.say(f"{name} = {r.choice(['i', '0'])} + 0", depth)
            self.say(f"while {name} < {r.randrange(2, 4)}:" if r.random() < 0.7 else "while True:", depth)
            self.scoped(r.randrange(2), depth + 1)
            self.say(f"{name} += 1", depth + 1)
            self.say(f"if {name} > {r.randrange(2, 4)}:", depth + 1)
            self.say("break", depth + 2)
            self.scoped(r.randrange(2), depth + 1)
            return
        counter = self.fresh("k")
        bounds = r.choice(["range(2)", "range(i)", "range(1, i + 2)", "range(3, 0, -1)", "range(j, 3)", "ts.static_range(2)", "range(5, i, -2)"])
        self.say(f"for {counter} in {bounds}:", depth)
        if r.random() < 0.4:
            self.scoped(r.randrange(2), depth + 1)
            self.say(f"if {r.choice([f'{counter} == 1', f'{counter} > i', f'{counter} % 2 == j', 'i > j'])}:", depth + 1)
            self.scoped(r.randrange(2), depth + 2)
            self.say(r.choice(["break", "continue"] + ["return"] * (depth == 1 and r.random() < 0.1)), depth + 2)
        self.scoped(1 + r.randrange(2), depth + 1)

    def branch(self, depth):
        r = self.random
        condition = r.choice(["i > 0", "i == j", "i % 2 == 1 and j < 1", "not (i > 1)", "0 <= i < 2", "i > 0 or j > 0", "W > 2"])
        self.say(f"if {condition}:", depth)
        self.scoped(1 + r.randrange(2), depth + 1)
        if r.random() < 0.6:
            self.say("else:", depth)
            self.scoped(1, depth + 1)

    def source(self, name):
        rows, columns = self.rows, self.columns
        self.say("i, j = ts.program_id(0), ts.program_id(1)", 1)
        step = self.random.choice(["", f", step=({rows}, {max(1, columns - 2)})"])
        self.say(f"a = ts.load(x, (i, j), ({rows}, {columns}){step})", 1)
        self.say(f"b = ts.load(z, (j, i), ({rows}, {columns}))", 1)
        self.say(f"m = ts.load(c, (i, j), ({rows}, {columns}))", 1)
        self.floats += [("a", (rows, columns)), ("b", (rows, columns))]
        self.integers.append(("m", (rows, columns)))
        for _ in range(self.random.randrange(4, 9)):
            self.statement(1)
        if self.random.random() < 0.3:
            self.say("if i == 1 and j == 0:", 1)
            self.say("return", 2)
        self.say(f"ts.store(y, (i, j), {self.float_of((rows, columns))})", 1)
        self.say(f"ts.store(d, (i, j), {self.integer_of((rows, columns))})", 1)
        head = [f"@ts.kernel\ndef {name}(x: ts.Array[ts.f32, None, None], z: ts.Array[ts.f32, None, None], c: ts.Array[ts.i32, None, None], "
                'y: ts.Array[ts.f32, "M", "N"], d: ts.Array[ts.i32, "M", "N"], W: ts.Constant):']
        return "\n".join(head + self.lines) + "\n"

    def arrays(self, seed):
        rng = np.random.default_rng(seed)
        m, n = self.rows * 2 + rng.integers(0, self.rows), self.columns * 2 - rng.integers(0, self.columns)
        floats = [rng.uniform(-2, 2, (m, n)).astype("f4") for _ in range(2)]
        return [*floats, rng.integers(-40, 40, (m, n)).astype("i4"), np.zeros((m, n), "f4"), np.zeros((m, n), "i4")]


def module_source(seeds):
    """The text of a module with a kernel for each seed."""
    return "\n\n".join(["import tessera as ts\n", HELPERS, *(Draw(seed).source(f"kernel_{seed}") for seed in seeds)])


class Chains(ast.NodeTransformer):
    """a < b < c as (a < b) & (b < c), which is what it means element by element."""

    def visit_Compare(self, node):
        self.generic_visit(node)
        parts = [node.left, *node.comparators]
        ones = [ast.Compare(left, [op], [right]) for left, op, right in zip(parts, node.ops, parts[1:])]
        return functools.reduce(lambda a, b: ast.BinOp(a, ast.BitAnd(), b), ones)


def by_numpy(text, seed):
    """What numpy makes of the kernel: all arrays."""
    names = {"ts": NumpyLanguage(), "math": math}
    tree = ast.fix_missing_locations(Chains().visit(ast.parse(text.replace("import tessera as ts", "", 1))))
    exec(compile(tree, "<drawn>", "exec"), names)
    arrays = Draw(seed).arrays(seed)
    with np.errstate(all="ignore"):
        names[f"kernel_{seed}"]((3, 2), *arrays, W=seed % 5)
    return arrays


def run(seed, target, folder):
    """Compares all arrays after the kernel with numpy's; raises AssertionError where they differ."""
    text = module_source([seed])
    path = Path(folder) / f"drawn_{seed}.py"
    path.write_text(text)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    arrays, right = Draw(seed).arrays(seed), by_numpy(text, seed)
    getattr(module, f"kernel_{seed}")[3, 2](*arrays, W=seed % 5, target=target)
    np.testing.assert_allclose(arrays[3], right[3], rtol=2e-3, atol=2e-3, err_msg=target)
    np.testing.assert_array_equal(arrays[4], right[4], err_msg=target)


def main(seed, target=None, folder=None):
    if target is None:
        print(module_source([int(seed)]))
        return 0
    with tempfile.TemporaryDirectory() as scratch:
        try:
            run(int(seed), target, folder or scratch)
        except Exception as error:  # whatever the package raises is what the caller counts
            print(f"{target}: wrong: {type(error).__name__}: {error}")
            return 1
    print(f"{target}: right")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
