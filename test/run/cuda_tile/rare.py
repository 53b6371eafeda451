"""Kernels of CUDA Tile IR with the ops that cuTile rarely writes, as text of ours, against numpy: rare.py TILE_RUN TILE_TRANSLATE TARGET…
rare.py --write=FOLDER only writes the kernels there.

Each is written as bytecode of 13.5 first. Prints one line for each output that is wrong, then how many were right.
"""
import os
import re
import subprocess
import sys
import tempfile

import ml_dtypes
import numpy as np

folder_to_write = next((a.removeprefix("--write=") for a in sys.argv if a.startswith("--write=")), None)
tile_run, translate, *targets = sys.argv[1:] if not folder_to_write else (None, None)
random = np.random.default_rng(11)
counts = {"right": 0, "wrong": 0}
TYPES = {"f32": np.float32, "i32": np.int32, "i8": np.int8, "f16": np.float16, "i64": np.int64}


class Kernel:
    """kernel.load("x", (16, 32)) gives the name of a tile with the elements of x in rows; store writes one."""

    def __init__(self, name, parameters):
        self.name, self.parameters, self.lines, self.count = name, parameters, [], 0

    def op(self, text):
        self.count += 1
        self.lines.append(f"%v{self.count} = cuda_tile.{text}")
        return f"%v{self.count}"

    def constant(self, value, element="i32", shape=()):
        return self.op(f"constant dense<{value}> : tensor<{''.join(f'{s}x' for s in shape)}{element}>")

    def places(self, name, shape, first=0):
        element, size = f"ptr<{self.parameters[name]}>", int(np.prod(shape))
        at = self.op(f"iota : tile<{size}xi32>")
        if first:
            at = self.op(f"addi {at}, {self.constant(first, 'i32', (size, ))} : tile<{size}xi32>")
        one = self.op(f"reshape %{name} : tile<{element}> -> tile<1x{element}>")
        many = self.op(f"broadcast {one} : tile<1x{element}> -> tile<{size}x{element}>")
        many = self.op(f"offset {many}, {at} : tile<{size}x{element}>, tile<{size}xi32>")
        if len(shape) == 1:
            return many
        return self.op(f"reshape {many} : tile<{size}x{element}> -> tile<{tile(shape, element)}>")

    def load(self, name, shape, first=0):
        element = self.parameters[name]
        at = self.places(name, shape, first)
        return self.op(f"load_ptr_tko weak {at} : (tile<{tile(shape, f'ptr<{element}>')}>) -> (tile<{tile(shape, element)}>, token)") + "#0"

    def store(self, name, shape, value, first=0):
        element = self.parameters[name]
        at = self.places(name, shape, first)
        self.op(f"store_ptr_tko weak {at}, {value} : (tile<{tile(shape, f'ptr<{element}>')}>, tile<{tile(shape, element)}>) -> token")

    def text(self):
        lines = [re.sub(r"^(%v\d+) =", r"\1:2 =", line) if "load_ptr_tko" in line or line.endswith(", token)") else line for line in self.lines]
        parameters = ", ".join(f"%{name}: tensor<!cuda_tile.ptr<{element}>>" if element[0] != "=" else f"%{name}: tensor<{element[1:]}>"
                               for name, element in self.parameters.items())
        body = "\n".join(f"    {line}" for line in lines)
        return f"module {{\n  cuda_tile.entry @{self.name}({parameters}) {{\n{body}\n    cuda_tile.return\n  }}\n}}\n"


def tile(shape, element):
    return "x".join([*map(str, shape), element])


def judge(kernel, arguments, grid, wanted, tolerance=0.0):
    if folder_to_write:
        with open(f"{folder_to_write}/{kernel.name}.mlir", "w", encoding="utf-8") as stream:
            stream.write(kernel.text())
        return
    with tempfile.TemporaryDirectory() as folder:
        text, code = f"{folder}/{kernel.name}.mlir", f"{folder}/{kernel.name}.tileirbc"
        with open(text, "w", encoding="utf-8") as stream:
            stream.write(kernel.text())
        subprocess.run([translate, text, "--tile-to-cuda-tile=13.5", "-o", code], check=True)
        inputs = []
        for number, argument in enumerate([*arguments, *(np.int64(size) for size in (*grid, 1, 1)[:3])]):
            np.save(f"{folder}/{number}.npy", argument)
            inputs.append(f"--in={folder}/{number}.npy")
        for target in targets:
            done = subprocess.run([tile_run, code, f"--entry=launch_{kernel.name}", f"--target={target}", *inputs, f"--out={folder}/out.npz"],
                                  capture_output=True, text=True, check=False, timeout=300)
            good = not done.returncode
            if good:
                with np.load(f"{folder}/out.npz") as out:
                    for number, value in wanted.items():
                        seen, value = out[f"argument{number}"].astype(np.float64), np.asarray(value, np.float64).ravel()
                        good &= np.allclose(seen, value, rtol=tolerance, atol=tolerance, equal_nan=True)
                        good &= bool(np.all(np.signbit(seen) == np.signbit(value))) or tolerance != 0
            counts["right" if good else "wrong"] += 1
            if not good:
                print(f"{kernel.name} on {target} is wrong", *[line for line in done.stderr.splitlines() if "error" in line][:2])


def normal(*shape):
    return random.standard_normal(shape).astype(np.float32)


def numbers(n=32):
    k = Kernel("numbers", {"x": "f32", "y": "f32", "i": "i32", "j": "i32", "f": "f32", "out": "i32"})
    x, y, i, j, t = k.load("x", (n, )), k.load("y", (n, )), k.load("i", (n, )), k.load("j", (n, )), f"tile<{n}xi32>"
    k.store("f", (n, ), k.op(f"remf {x}, {y} : tile<{n}xf32>"))
    three = k.constant(3, "i32", (n, ))
    k.store("f", (n, ), k.op(f"fpowi {x}, {three} : tile<{n}xf32>, {t}"), n)
    k.store("f", (n, ), k.op(f"atan2 {x}, {y} : tile<{n}xf32>"), 2 * n)
    for place, text in enumerate((f"absi {i} : {t}", f"negi {i} : {t}", f"mulhii {i}, {j} : {t}", f"bitcast {x} : tile<{n}xf32> -> {t}")):
        k.store("out", (n, ), k.op(text), place * n)
    x, y = normal(n) * 5, normal(n)
    i, j = (random.integers(-2**31 + 1, 2**31, n).astype(np.int32) for _ in range(2))
    high = ((i.view(np.uint32).astype(np.uint64) * j.view(np.uint32).astype(np.uint64)) >> 32).astype(np.uint32).view(np.int32)
    judge(k, [x, y, i, j, np.zeros(3 * n, np.float32), np.zeros(4 * n, np.int32)], (1, ),
          {4: np.concatenate([np.fmod(x, y), x.astype(np.float64)**3, np.arctan2(x, y)]), 5: np.concatenate([abs(i), -i, high, x.view(np.int32)])}, 2e-5)


def flushes(n=32):
    """Subnormal operands and results become zeros of their sign."""
    k = Kernel("flushes", {"x": "f32", "y": "f32", "out": "f32"})
    x, y, t = k.load("x", (n, )), k.load("y", (n, )), f"tile<{n}xf32>"
    for place, text in enumerate((f"addf {x}, {y} flush_to_zero : {t}", f"mulf {x}, {y} flush_to_zero : {t}",
                                  f"fma {x}, {y}, {x} flush_to_zero : {t}", f"maxf {x}, {y} flush_to_zero : {t}")):
        k.store("out", (n, ), k.op(text), place * n)
    x, y = normal(n), normal(n)
    x[0:8] = [1e-40, -1e-40, 1e-30, -1e-30, 3e-38, -3e-38, 1e-45, -0.0]
    y[0:8] = [1, 1, 1e-10, 1e-10, -2.9e-38, 2.9e-38, 1e-45, 1]
    flush = lambda a: np.where(abs(a) < 2.0**-126, np.copysign(np.float32(0), a), a).astype(np.float32)
    a, b = flush(x), flush(y)
    fused = flush((a.astype(np.float64) * b + a).astype(np.float32))
    judge(k, [x, y, np.zeros(4 * n, np.float32)], (1, ), {2: np.concatenate([flush(a + b), flush(a * b), fused, np.maximum(a, b)])})


def signs(left, right, m=16, n=16, depth=32):
    k = Kernel(f"signs_{left}_{right}", {"a": "i8", "b": "i8", "out": "i32"})
    a, b, c = k.load("a", (m, depth)), k.load("b", (depth, n)), k.constant(3, "i32", (m, n))
    k.store("out", (m, n), k.op(f"mmai {a}, {b}, {c} {left} {right} : (tile<{m}x{depth}xi8>, tile<{depth}x{n}xi8>, tile<{m}x{n}xi32>) -> "
                                f"tile<{m}x{n}xi32>"))
    a, b = (random.integers(-128, 128, shape).astype(np.int8) for shape in ((m, depth), (depth, n)))
    of = lambda x, sign: (x.view(np.uint8) if sign == "unsigned" else x).astype(np.int64)
    judge(k, [a.ravel(), b.ravel(), np.zeros(m * n, np.int32)], (1, ), {2: of(a, left) @ of(b, right) + 3})


def scaled(m=16, n=32, depth=64):
    """e4m3 by e5m2, a scale for each 32; and e2m1 by e2m1 out of bytes, a scale of e4m3 for each 16."""
    k = Kernel("scaled", {"a": "i8", "b": "i8", "sa": "i8", "sb": "i8", "out": "f32"})
    bits = lambda name, shape, element: k.op(f"bitcast {k.load(name, shape)} : tile<{tile(shape, 'i8')}> -> tile<{tile(shape, element)}>")
    a, b = bits("a", (m, depth), "f8E4M3FN"), bits("b", (depth, n), "f8E5M2")
    sa, sb = bits("sa", (m, depth // 32), "f8E8M0FNU"), bits("sb", (depth // 32, n), "f8E8M0FNU")
    c, t = k.constant(1.0, "f32", (m, n)), f"tile<{m}x{n}xf32>"
    k.store("out", (m, n), k.op(f"mmaf_scaled {a}, {b}, {c}, {sa}, {sb} : (tile<{m}x{depth}xf8E4M3FN>, tile<{depth}x{n}xf8E5M2>, {t}, "
                                f"tile<{m}x{depth // 32}xf8E8M0FNU>, tile<{depth // 32}x{n}xf8E8M0FNU>) -> {t}"))
    a = (normal(m, depth) * 2).astype(ml_dtypes.float8_e4m3fn)
    b = (normal(depth, n) * 2).astype(ml_dtypes.float8_e5m2)
    sa, sb = (random.integers(120, 132, shape).astype(np.uint8) for shape in ((m, depth // 32), (depth // 32, n)))
    power = lambda s: 2.0**(s.astype(int) - 127)
    wanted = (a.astype(np.float64) * np.repeat(power(sa), 32, 1)) @ (b.astype(np.float64) * np.repeat(power(sb), 32, 0)) + 1
    judge(k, [x.view(np.int8).ravel() for x in (a, b, sa, sb)] + [np.zeros(m * n, np.float32)], (1, ), {4: wanted}, 2e-4)


def scaled_halves(m=16, n=16, depth=64):
    k = Kernel("scaled_halves", {"a": "i8", "b": "i8", "sa": "i8", "sb": "i8", "out": "f32"})

    def halves(name, rows, columns):
        count = rows * columns
        line = k.op(f"unpack {k.load(name, (count // 2, ))} : tile<{count // 2}xi8> -> tile<{count}xf4E2M1FN>")
        return k.op(f"reshape {line} : tile<{count}xf4E2M1FN> -> tile<{rows}x{columns}xf4E2M1FN>")

    bits = lambda name, shape: k.op(f"bitcast {k.load(name, shape)} : tile<{tile(shape, 'i8')}> -> tile<{tile(shape, 'f8E4M3FN')}>")
    a, b, sa, sb = halves("a", m, depth), halves("b", depth, n), bits("sa", (m, depth // 16)), bits("sb", (depth // 16, n))
    c, t = k.constant(0.0, "f32", (m, n)), f"tile<{m}x{n}xf32>"
    k.store("out", (m, n), k.op(f"mmaf_scaled {a}, {b}, {c}, {sa}, {sb} : (tile<{m}x{depth}xf4E2M1FN>, tile<{depth}x{n}xf4E2M1FN>, {t}, "
                                f"tile<{m}x{depth // 16}xf8E4M3FN>, tile<{depth // 16}x{n}xf8E4M3FN>) -> {t}"))
    values = np.array([0, .5, 1, 1.5, 2, 3, 4, 6, -0., -.5, -1, -1.5, -2, -3, -4, -6])
    a, b = random.integers(0, 16, (m, depth)), random.integers(0, 16, (depth, n))
    sa, sb = ((abs(normal(*shape)) + 0.1).astype(ml_dtypes.float8_e4m3fn) for shape in ((m, depth // 16), (depth // 16, n)))
    pairs = lambda codes: (codes.ravel()[0::2] | codes.ravel()[1::2] << 4).astype(np.uint8).view(np.int8)
    wanted = (values[a] * np.repeat(sa.astype(np.float64), 16, 1)) @ (values[b] * np.repeat(sb.astype(np.float64), 16, 0))
    judge(k, [pairs(a), pairs(b), sa.view(np.int8).ravel(), sb.view(np.int8).ravel(), np.zeros(m * n, np.float32)], (1, ), {4: wanted}, 2e-4)


def bytes_(element, n=32):
    """Elements to bytes, which are turned by 3, and back."""
    size = TYPES[element]().itemsize
    k = Kernel(f"bytes_{element}", {"x": element, "bytes": "i8", "out": element})
    k.store("bytes", (n * size, ), k.op(f"pack {k.load('x', (n, ))} : tile<{n}x{element}> -> tile<{n * size}xi8>"))
    k.store("out", (n, ), k.op(f"unpack {k.load('bytes', (n * size, ), n * size)} : tile<{n * size}xi8> -> tile<{n}x{element}>"))
    x = random.integers(-100, 100, n).astype(TYPES[element]) if element[0] == "i" else normal(n).astype(TYPES[element])
    turned = np.roll(x.view(np.int8), 8)
    room = np.concatenate([np.zeros(n * size, np.int8), turned])
    judge(k, [x, room, np.zeros(n, TYPES[element])], (1, ), {1: np.concatenate([x.view(np.int8), turned]), 2: turned.view(TYPES[element])})


def inserted():
    k = Kernel("inserted", {"x": "f32", "y": "f32", "i": "=i32", "out": "f32"})
    x, y, three = k.load("x", (2, 4)), k.load("y", (8, 16)), k.constant(3)
    k.store("out", (8, 16), k.op(f"insert {x} into {y}[%i, {three}] : (tile<2x4xf32>, tile<8x16xf32>, tile<i32>, tile<i32>) -> tile<8x16xf32>"))
    x, y = normal(2, 4), normal(8, 16)
    wanted = y.copy()
    wanted[4:6, 12:16] = x
    judge(k, [x.ravel(), y.ravel(), np.int32(2), np.zeros(128, np.float32)], (1, ), {3: wanted})


def views(grid):
    """A tensor's sizes, tiles that overlap, and a tile that is added to memory."""
    k = Kernel("views", {"x": "f32", "m": "=i32", "n": "=i32", "sizes": "i32", "out": "f32"})
    view = "tensor_view<?x?xf32, strides=[?,1]>"
    make = lambda name: k.op(f"make_tensor_view %{name}, shape = [%m, %n], strides = [%n] : (tile<ptr<f32>>, tile<i32>, tile<i32>, tile<i32>) -> {view}")
    x, out, ids = make("x"), make("out"), k.op("get_tile_block_id : tile<i32>")
    k.lines[-1] = k.lines[-1].replace(f"{ids} =", f"{ids}:3 =")
    sizes = k.op(f"get_tensor_shape {x} : ({view}) -> (tile<i32>, tile<i32>)")
    k.lines[-1] = k.lines[-1].replace(f"{sizes} =", f"{sizes}:2 =")
    for place in range(2 if grid == (1, 1) else 0):
        one = k.op(f"reshape {sizes}#{place} : tile<i32> -> tile<1xi32>")
        k.store("sizes", (1, ), one, place)
    kind = f"strided_view<tile=(8x8), traversal_strides=[4,8], padding_value = zero, {view}>"
    part = k.op(f"make_strided_view {x} : {kind}")
    loaded = k.op(f"load_view_tko weak {part}[{ids}#0, {ids}#1] : ({kind}, tile<i32>, tile<i32>) -> (tile<8x8xf32>, token)")
    to = f"partition_view<tile=(8x8), {view}>"
    target = k.op(f"make_partition_view {out} : {to}")
    k.op(f"atomic_red_view_tko relaxed device {target}[{ids}#0, {ids}#1], addf, {loaded}#0 : ({to}, tile<i32>, tile<i32>, tile<8x8xf32>) -> token")
    m, n = 13, 21
    x, y = normal(m, n), normal(m, n)
    padded, wanted = np.zeros((40, 40), np.float32), y.copy()
    padded[:m, :n] = x
    for i in range(grid[0]):
        for j in range(grid[1]):
            block = wanted[8 * i:8 * i + 8, 8 * j:8 * j + 8]
            block += padded[4 * i:4 * i + 8, 8 * j:8 * j + 8][:block.shape[0], :block.shape[1]]
    judge(k, [x.ravel(), np.int32(m), np.int32(n), np.zeros(2, np.int32), y.ravel()], grid,
          {4: wanted, **({3: [m, n]} if grid == (1, 1) else {})}, 1e-6)


def memory():
    """Pointers cast to another type, an exchange, ids, fences, hints for grids that depend on each other."""
    k = Kernel("memory", {"x": "f32", "out": "i32"})
    k.op("gdc_wait_tko : () -> token")
    place = k.op("ptr_to_ptr %x : tile<ptr<f32>> -> tile<ptr<i32>>")
    word = k.op(f"load_ptr_tko weak {place} : (tile<ptr<i32>>) -> (tile<i32>, token)") + "#0"
    one = k.op(f"reshape {word} : tile<i32> -> tile<1xi32>")
    k.store("out", (1, ), one)
    address = k.op("ptr_to_int %out : tile<ptr<i32>> -> tile<i64>")
    address = k.op(f"addi {address}, {k.constant(4, 'i64')} : tile<i64>")
    second = k.op(f"int_to_ptr {address} : tile<i64> -> tile<ptr<i32>>")
    old = k.op(f"atomic_cas_tko acq_rel device {second}, {k.constant(5)}, {k.constant(8)} : (tile<ptr<i32>>, tile<i32>, tile<i32>) -> (tile<i32>, token)")
    blocks = k.op("get_num_tile_blocks : tile<i32>")
    k.lines[-1] = k.lines[-1].replace(f"{blocks} =", f"{blocks}:3 =")
    token = k.op("make_token : token")
    k.op(f"memory_fence_alias_tko {token} : (token) -> token")
    total = k.op(f"addi {old}#0, {blocks}#1 : tile<i32>")
    k.lines.append(f'cuda_tile.assert {k.op(f"cmpi greater_than {total}, {k.constant(0)}, signed : tile<i32> -> tile<i1>")}, "positive" : tile<i1>')
    k.store("out", (1, ), k.op(f"reshape {total} : tile<i32> -> tile<1xi32>"), 2)
    k.op("gdc_launch_dependents_tko : () -> token")
    judge(k, [np.array([1.5], np.float32), np.array([0, 5, 0], np.int32)], (1, 1), {1: [0x3FC00000, 8, 6]})


numbers()
flushes()
for pair in (("unsigned", "signed"), ("signed", "unsigned"), ("unsigned", "unsigned")):
    signs(*pair)
scaled()
scaled_halves()
for name in ("f16", "i32", "f32", "i64"):
    bytes_(name)
inserted()
views((1, 1))
views((2, 3))
memory()
print(f"{counts['right']} right, {counts['wrong']} wrong")
