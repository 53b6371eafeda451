"""Products whose weights are converted from fewer bits, as exporters write them: every width and zero, scales by tensor, row
and group, weights by rows of n or of k, tables; against numpy in 64 bits and the interpreter.

Usage: low_bit.py TILE_RUN [--only=TEXT] [--target=NAME]    prints one line per program and how many were wrong. A program
names how many products read codes (+) or stay as they are (-).
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile

import numpy as np

NF4 = np.array([-1, -.6961928, -.52507305, -.3949175, -.28444138, -.18477343, -.09105004, 0, .0795803, .1609302, .2461123,
                .33791524, .44070983, .562617, .72295684, 1], "f4")
NUMPY = {"f32": "f4", "f16": "f2"}


def tensor(shape, element):
    return f"tensor<{'x'.join(map(str, shape))}x{element}>"


def generic(name, dims, operands, out, body, yielded, reductions=0):
    """operands: (value, type, element, axes); out: (value, type, element, axes); the body's arguments are a0, a1, …"""
    maps = ", ".join(f"affine_map<({', '.join(dims)}) -> ({', '.join(axes)})>" for *_, axes in operands + [out])
    kinds = ["parallel"] * (len(dims) - reductions) + ["reduction"] * reductions
    arguments = [f"%{name}a{i}: {element}" for i, (_, _, element, _) in enumerate(operands)] + [f"%{name}o: {out[2]}"]
    lines = "\n".join(f"    {line}" for line in body)
    return f"""  %{name} = linalg.generic {{indexing_maps = [{maps}], iterator_types = [{', '.join(f'"{k}"' for k in kinds)}]}}
      ins({', '.join(v for v, *_ in operands)} : {', '.join(t for _, t, *_ in operands)}) outs({out[0]} : {out[1]}) {{
  ^bb0({', '.join(arguments)}):
{lines}
    linalg.yield {yielded} : {out[2]}
  }} -> {out[1]}"""


class Program:
    """x[m, k] times the converted w: bits a code, groups of `group` along k, weights by rows of n or (along="n") of k."""

    def __init__(self, m, n, k, bits=4, group=32, zero="int", scale="f32", rows_of="n", table=False, order="low", real="f32", stack=False):
        self.__dict__.update(locals())
        self.per_byte = 8 // bits

    def text(self):
        m, n, k, g, group, bits = self.m, self.n, self.k, self.k // self.group, self.group, self.bits
        shape = (n, k) if self.rows_of == "n" else (k, n)
        axes = ("n", "k") if self.rows_of == "n" else ("k", "n")
        arguments, text = [f"%x: {tensor((m, k), self.real)}"], []
        # codes
        packed = tuple(s // self.per_byte if a == "k" else s for s, a in zip(shape, axes))
        arguments.append(f"%p: {tensor(packed, 'i8')}")
        codes, whole = "%p", tensor(shape, "i8")
        if self.stack:  # torch.stack([p & 15, p >> 4], -1).reshape(n, k)
            half, parts = tensor(packed, "i8"), tensor((*packed, 2), "i8")
            one = f"[[0], [1, 2]] output_shape [{n}, {k // 2}, 1] : {half} into tensor<{n}x{k // 2}x1xi8>"
            text += ["  %mask = arith.constant 15 : i8", "  %four = arith.constant 4 : i8", f"  %he = tensor.empty() : {half}", f"  %pe = tensor.empty() : {parts}",
                     generic("lo", axes, [("%p", half, "i8", axes)], ("%he", half, "i8", axes), ["%lv = arith.andi %loa0, %mask : i8"], "%lv"),
                     generic("hi", axes, [("%p", half, "i8", axes)], ("%he", half, "i8", axes), ["%hv = arith.shrui %hia0, %four : i8"], "%hv"),
                     f"  %lox = tensor.expand_shape %lo {one}", f"  %hix = tensor.expand_shape %hi {one}",
                     f"  %i0 = tensor.insert_slice %lox into %pe[0, 0, 0] [{n}, {k // 2}, 1] [1, 1, 1] : tensor<{n}x{k // 2}x1xi8> into {parts}",
                     f"  %i1 = tensor.insert_slice %hix into %i0[0, 0, 1] [{n}, {k // 2}, 1] [1, 1, 1] : tensor<{n}x{k // 2}x1xi8> into {parts}",
                     f"  %uc = tensor.collapse_shape %i1 [[0], [1, 2]] : {parts} into {whole}"]
            codes = "%uc"
        elif bits < 8:
            parts, dims = [], []
            for s, a in zip(packed, axes):
                parts += [s, self.per_byte] if a == "k" else [s]
                dims += ["k", "t"] if a == "k" else [a]
            order = range(self.per_byte) if self.order == "low" else reversed(range(self.per_byte))
            text += [f"  %shifts = arith.constant dense<[{', '.join(str(i * bits) for i in order)}]> : tensor<{self.per_byte}xi8>",
                     f"  %mask = arith.constant {2 ** bits - 1} : i8", f"  %ue = tensor.empty() : {tensor(parts, 'i8')}",
                     generic("u", dims, [("%p", tensor(packed, "i8"), "i8", axes), ("%shifts", f"tensor<{self.per_byte}xi8>", "i8", ["t"])],
                             ("%ue", tensor(parts, "i8"), "i8", dims),
                             ["%v = arith.shrui %ua0, %ua1 : i8", "%vm = arith.andi %v, %mask : i8"], "%vm"),
                     f"  %uc = tensor.collapse_shape %u [{'[0], [1, 2]' if self.rows_of == 'n' else '[0, 1], [2]'}] : {tensor(parts, 'i8')} into {whole}"]
            codes = "%uc"
        # groups
        cut = (n, g, group) if self.rows_of == "n" else (g, group, n)
        dims = ("n", "g", "k") if self.rows_of == "n" else ("g", "k", "n")
        groups = "[[0], [1, 2]]" if self.rows_of == "n" else "[[0, 1], [2]]"
        text.append(f"  %q = tensor.expand_shape {codes} {groups} output_shape [{', '.join(map(str, cut))}] : {whole} into {tensor(cut, 'i8')}")
        numbers = (n, g, 1) if self.rows_of == "n" else (g, 1, n)
        number_axes = ("n", "g", "0") if self.rows_of == "n" else ("g", "0", "n")
        operands = [("%q", tensor(cut, "i8"), "i8", dims)]
        if self.scale == "tensor":
            arguments.append("%s: f32")
            operands.append(("%s", "f32", "f32", []))
        else:
            arguments.append(f"%s: {tensor(numbers, self.scale)}")
            operands.append(("%s", tensor(numbers, self.scale), self.scale, number_axes))
        element = "f32" if self.scale == "tensor" else self.scale
        body, value = [], "%d"
        if self.table:
            text.append(f"  %table = arith.constant dense<[{', '.join('%.9e' % v for v in NF4)}]> : tensor<16xf32>")
            body += ["%i = arith.index_castui %wa0 : i8 to index", "%d = tensor.extract %table[%i] : tensor<16xf32>"]
        elif self.zero == "none":
            body += ["%d = arith.sitofp %wa0 : i8 to f32"]
        elif self.zero == "packed":
            half = (g, n // 2, 2)
            arguments.append(f"%z: {tensor(half[:2], 'i8')}")
            text += ["  %zshifts = arith.constant dense<[0, 4]> : tensor<2xi8>", "  %zmask = arith.constant 15 : i8",
                     "  %one = arith.constant 1 : i8", f"  %ze = tensor.empty() : {tensor(half, 'i8')}",
                     generic("zu", ("g", "n", "t"), [("%z", tensor(half[:2], "i8"), "i8", ("g", "n")), ("%zshifts", "tensor<2xi8>", "i8", ["t"])],
                             ("%ze", tensor(half, "i8"), "i8", ("g", "n", "t")),
                             ["%zv = arith.shrui %zua0, %zua1 : i8", "%zm = arith.andi %zv, %zmask : i8", "%zz = arith.addi %zm, %one : i8"], "%zz"),
                     f"  %zc = tensor.collapse_shape %zu [[0], [1, 2]] : {tensor(half, 'i8')} into {tensor((g, n), 'i8')}",
                     f"  %zx = tensor.expand_shape %zc [[0, 1], [2]] output_shape [{g}, 1, {n}] : {tensor((g, n), 'i8')} into {tensor(numbers, 'i8')}"]
            operands.append(("%zx", tensor(numbers, "i8"), "i8", number_axes))
            body += ["%c = arith.uitofp %wa0 : i8 to f32", "%zf = arith.uitofp %wa2 : i8 to f32", "%d = arith.subf %c, %zf : f32"]
        else:
            zero = "i8" if self.zero == "int" else "f32"
            arguments.append(f"%z: {tensor(numbers, zero)}")
            operands.append(("%z", tensor(numbers, zero), zero, number_axes))
            body += ["%c = arith.uitofp %wa0 : i8 to f32"]
            body += ["%zf = arith.uitofp %wa2 : i8 to f32"] if zero == "i8" else []
            body += [f"%d = arith.subf %c, {'%zf' if zero == 'i8' else '%wa2'} : f32"]
        body += [f"%sf = arith.extf %wa1 : {element} to f32"] if element != "f32" else []
        body += [f"%y = arith.mulf %d, {'%sf' if element != 'f32' else '%wa1'} : f32"]
        real = self.real
        body += [f"%yr = arith.truncf %y : f32 to {real}"] if real != "f32" else []
        text += [f"  %we = tensor.empty() : {tensor(cut, real)}",
                 generic("w", dims, operands, ("%we", tensor(cut, real), real, dims), body, "%yr" if real != "f32" else "%y"),
                 f"  %b = tensor.collapse_shape %w {groups} : {tensor(cut, real)} into {tensor(shape, real)}",
                 f"  %zero = arith.constant 0.0 : {real}", f"  %e = tensor.empty() : {tensor((m, n), real)}",
                 f"  %f = linalg.fill ins(%zero : {real}) outs(%e : {tensor((m, n), real)}) -> {tensor((m, n), real)}",
                 generic("r", ("m", "n", "k"), [("%x", tensor((m, k), real), real, ("m", "k")), ("%b", tensor(shape, real), real, axes)],
                         ("%f", tensor((m, n), real), real, ("m", "n")),
                         [f"%pr = arith.mulf %ra0, %ra1 : {real}", f"%sm = arith.addf %ro, %pr : {real}"], "%sm", 1)]
        head = f"func.func @main({', '.join(arguments)}) -> {tensor((m, n), real)} {{"
        return "\n".join([head, *text, f"  return %r : {tensor((m, n), real)}", "}", ""])

    def data(self, rng):
        """The arguments, and the result in 64 bits. Every code appears at every place of a byte."""
        n, k, g = self.n, self.k, self.k // self.group
        codes = rng.integers(0, 2 ** self.bits, (n, k))
        packed = codes.reshape(n, -1, self.per_byte) << (np.arange(self.per_byte) * self.bits)[::1 if self.order == "low" else -1]
        packed = packed.sum(-1).astype("u1")
        x = rng.standard_normal((self.m, k)).astype(NUMPY[self.real])
        values, arguments = codes, [x, packed if self.rows_of == "n" else np.ascontiguousarray(packed.T)]
        turn = (lambda a: a[:, :, None]) if self.rows_of == "n" else (lambda a: np.ascontiguousarray(a.T)[:, None, :])
        scale = np.float32(.37) if self.scale == "tensor" else rng.uniform(.01, 1, (n, g)).astype(NUMPY[self.scale])
        arguments.append(scale if self.scale == "tensor" else turn(scale))
        if self.table:
            values = NF4[codes].astype("f8")
        elif self.zero == "none":
            values = codes if self.bits < 8 else codes.astype("i1")
        elif self.zero == "packed":  # as AutoGPTQ: along n, and one less
            zero = rng.integers(0, 16, (g, n))
            arguments.append((zero[:, ::2] | zero[:, 1::2] << 4).astype("u1"))
            values = codes - np.repeat(zero.T.astype("f8") + 1, self.group, 1)
        else:
            zero = rng.integers(0, 2 ** self.bits, (n, g)).astype("u1") if self.zero == "int" else rng.uniform(0, 9, (n, g)).astype("f4")
            arguments.append(turn(zero))
            values = codes - np.repeat(zero.astype("f8"), self.group, 1)
        spread = scale.astype("f8") if self.scale == "tensor" else np.repeat(scale.astype("f8"), self.group, 1)
        return arguments, x.astype("f8") @ (values * spread).astype("f4").astype(NUMPY[self.real]).astype("f8").T


PROGRAMS = {
    "nibbles": Program(1, 37, 192), "nibbles-2": Program(2, 64, 128), "nibbles-5": Program(5, 33, 96),
    "high-first": Program(3, 21, 64, order="high"), "bytes": Program(1, 45, 96, bits=8, group=48),
    "signed-bytes": Program(2, 19, 256, bits=8, zero="none", group=128), "crumbs": Program(1, 50, 160, bits=2),
    "bits": Program(1, 24, 64, bits=1, zero="float"), "float-zeros": Program(4, 40, 64, zero="float", group=16),
    "half-scales": Program(1, 31, 128, scale="f16", group=64), "one-scale": Program(2, 35, 64, scale="tensor", zero="none"),
    "row-scales": Program(1, 26, 96, group=96), "by-k": Program(1, 48, 128, rows_of="k"), "by-k-4": Program(4, 50, 64, rows_of="k"),
    "by-k-bytes": Program(2, 80, 64, bits=8, rows_of="k", group=64), "nf4": Program(1, 40, 128, table=True, group=64),
    "short-groups": Program(1, 17, 60, group=6), "short-groups-9": Program(9, 17, 60, group=6),
    "nibbles-7": Program(7, 37, 192), "nibbles-16": Program(16, 130, 384, group=128), "nibbles-33": Program(33, 33, 96),
    "bytes-16": Program(16, 45, 96, bits=8, group=48), "crumbs-7": Program(7, 50, 160, bits=2), "nf4-16": Program(16, 64, 128, table=True, group=64),
    "half-scales-33": Program(33, 31, 128, scale="f16", group=64), "one-scale-5": Program(5, 35, 64, scale="tensor", zero="none"),
    "deep": Program(6, 20, 4224, bits=8, group=4224), "deep-groups": Program(5, 70, 3072, group=128), "prime": Program(5, 16, 1031, bits=8, group=1031),
    "half-7": Program(7, 64, 128, real="f16", scale="f16"), "half-by-k-9": Program(9, 64, 128, real="f16", rows_of="k"),
    "half-bytes-1": Program(1, 20, 64, real="f16", bits=8),
    "stacked": Program(1, 40, 128, stack=True), "stacked-9": Program(9, 40, 128, stack=True, zero="float"),
    "autogptq": Program(1, 64, 256, rows_of="k", zero="packed", group=64), "autogptq-9": Program(9, 48, 256, rows_of="k", zero="packed"),
    "by-k-7": Program(7, 130, 192, rows_of="k"), "by-k-33": Program(33, 33, 96, rows_of="k", bits=2), "by-k-deep": Program(9, 20, 3072, rows_of="k", group=128),
}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tile_run")
    parser.add_argument("--only", default="")
    parser.add_argument("--target", default="cpu")
    options = parser.parse_args()
    rng, wrong, count = np.random.default_rng(7), 0, 0
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for name, program in PROGRAMS.items():
            if options.only not in name:
                continue
            arguments, expected = program.data(rng)
            with open("p.mlir", "w") as file:
                file.write(program.text())
            flags = []
            for i, argument in enumerate(arguments):
                bits = argument.view("i1") if argument.dtype == np.uint8 else argument
                np.save(f"{i}.npy", bits)
                flags.append(f"--in={i}.npy")
            run = subprocess.run([options.tile_run, "p.mlir", *flags, "--out=r.npy", "--stats=s.json", f"--target={options.target}",
                                  "--check-against=interpret"], capture_output=True, text=True)
            bound = (1e-5 if program.real == "f32" else 1e-3) * np.abs(expected).max()
            right = run.returncode == 0 and not np.abs(np.load("r.npy") - expected).max() > bound
            found = sum(p.get("found", 0) for key, p in json.load(open("s.json"))["passes"].items() if "low-bit" in key) if right else 0
            print(f"{name}: {'right' if right else 'WRONG'} {'+' if found else '-'}", run.stderr if not right else "")
            wrong, count = wrong + (not right), count + 1
    print(f"{count} programs, {wrong} wrong")
    return wrong > 0


if __name__ == "__main__":
    sys.exit(main())
