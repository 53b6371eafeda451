"""Sparse programs against numpy and scipy, over seeded patterns. Use: sparse.py TILE_RUN [--seed=N] [--rounds=M] [--target=T] [--only=FORMAT]

Per round and format one program packs a matrix, takes it apart, converts it to every other format, transposes,
multiplies over every semiring, samples, adds, maps, selects, reduces and weighs. The judge of what is stored where is written
here from the table in dialects/sparse/sparse.h; scipy says the same of csr, csc, coo and bsr. Values are small integers
(in floats too), so that every answer is exact. Sizes are 0, 1, odd and prime; rows, columns and matrices may be empty, square
ones graphs of self loops alone or with isolated nodes. Sums of products have the factors' type or a wider one. With --every a
round has each format in each type over each semiring.
"""
import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

import ml_dtypes
import numpy as np
import scipy.sparse

SIZES = (0, 1, 2, 3, 5, 7, 13, 16, 33)
DTYPES = {"f64": np.float64, "f32": np.float32, "f16": np.float16, "bf16": ml_dtypes.bfloat16, "i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64}

WIDER = {"f32": "f64", "f16": "f32", "bf16": "f32", "i8": "i32", "i16": "i32", "i32": "i64"}


def is_float(dtype):
    return np.dtype(dtype).kind in "fV"  # V: bf16


def ceil(a, b):
    return -(-a // b)


class Format:
    """An encoding: its text, and what its components are for a matrix and the places that are stored in it."""

    def __init__(self, text, kind, **numbers):
        self.text, self.kind = text, kind
        self.__dict__.update(numbers)

    def fill(self, dense, stored, rng):
        """The dense matrix as this format can hold it, and what is then stored: whole blocks, n of each window."""
        if self.kind in ("bsr", "mask"):
            return dense, whole(stored, *self.block)
        if self.kind != "nm":
            return dense, stored
        lines, places = (dense.T, stored.T) if self.axis == 0 else (dense, stored)
        u, v = (self.vector[1], self.vector[0]) if self.axis == 0 else self.vector
        kept = np.zeros_like(places)
        dense = dense.copy()
        lines = dense.T if self.axis == 0 else dense
        for group in range(0, lines.shape[0], u):
            for window in range(0, lines.shape[1], self.m):
                units = range(window, window + self.m, v)
                full = [c for c in units if places[group:group + u, c:c + v].any()]
                chosen = sorted(rng.permutation(full)[:self.n // v]) if len(full) > self.n // v else full
                for c in units:
                    if c not in chosen:
                        lines[group:group + u, c:c + v] = 0
                spare = [c for c in units if c not in chosen][:self.n // v - len(chosen)]
                for c in list(chosen) + spare:
                    kept[group:group + u, c:c + v] = True
        return dense, kept.T if self.axis == 0 else kept

    def components(self, dense, stored):
        rows, columns = dense.shape
        if self.kind in ("csr", "csc"):
            a, s = (dense, stored) if self.kind == "csr" else (dense.T, stored.T)
            return [np.concatenate([[0], np.cumsum(s.sum(axis=1))]).astype("i4"), np.nonzero(s)[1].astype("i4"), a[s]]
        if self.kind == "coo":
            return [np.array(np.nonzero(stored)).astype("i4"), dense[stored]]
        if self.kind == "bsr":
            b0, b1 = self.block
            padded = pad(dense, ceil(rows, b0) * b0, ceil(columns, b1) * b1)
            full = pad(stored, *padded.shape).reshape(ceil(rows, b0), b0, ceil(columns, b1), b1).any(axis=(1, 3))
            blocks = padded.reshape(ceil(rows, b0), b0, ceil(columns, b1), b1).transpose(0, 2, 1, 3)
            return [np.concatenate([[0], np.cumsum(full.sum(axis=1))]).astype("i4"), np.nonzero(full)[1].astype("i4"), blocks[full]]
        if self.kind == "mask":
            b0, b1 = self.block
            full = pad(stored, ceil(rows, b0) * b0, ceil(columns, b1) * b1)
            return [full.reshape(ceil(rows, b0), b0, ceil(columns, b1), b1).any(axis=(1, 3)), dense * stored]
        return self.windows(dense, stored)

    def windows(self, dense, stored):
        """coordinates G×W×n/v, values G×W×n×u; the free places that fill a window up come first."""
        a, s = (dense.T, stored.T) if self.axis == 0 else (dense, stored)
        u, v = (self.vector[1], self.vector[0]) if self.axis == 0 else self.vector
        groups, windows, count = ceil(a.shape[0], u), ceil(a.shape[1], self.m), self.n // v
        a, full = pad(a, groups * u, windows * self.m), pad((a != 0) & s, groups * u, windows * self.m)
        coordinates = np.zeros((groups, windows, count), "i1")
        values = np.zeros((groups, windows, self.n, u), dense.dtype)
        for g in range(groups):
            for w in range(windows):
                block = a[g * u:(g + 1) * u, w * self.m:(w + 1) * self.m]
                used = full[g * u:(g + 1) * u, w * self.m:(w + 1) * self.m].reshape(u, self.m // v, v).any(axis=(0, 2))
                spare = np.flatnonzero(~used)[:count - used.sum()]
                places = np.sort(np.concatenate([np.flatnonzero(used), spare])).astype(int)
                coordinates[g, w] = places
                for at, place in enumerate(places):
                    values[g, w, at * v:(at + 1) * v] = block[:, place * v:(place + 1) * v].T
        return [coordinates, values]


def pad(a, rows, columns):
    return np.pad(a, ((0, rows - a.shape[0]), (0, columns - a.shape[1])))


def whole(stored, rows, columns):
    """Every rectangle of the grid that holds a stored place, all of it."""
    full = pad(stored, ceil(stored.shape[0], rows) * rows, ceil(stored.shape[1], columns) * columns)
    blocks = full.reshape(full.shape[0] // rows, rows, full.shape[1] // columns, columns).any(axis=(1, 3))
    return np.kron(blocks, np.ones((rows, columns), bool)).astype(bool)[:stored.shape[0], :stored.shape[1]]


FORMATS = {
    "csr": Format("#sparse.csr", "csr"),
    "csc": Format("#sparse.csc", "csc"),
    "coo": Format("#sparse.coo", "coo"),
    "bsr": Format("#sparse.bsr<block = [4, 3]>", "bsr", block=(4, 3)),
    "mask": Format("#sparse.mask<tile = [4, 1]>", "mask", block=(4, 1)),
    "nm": Format("#sparse.nm<n = 2, m = 4>", "nm", n=2, m=4, axis=1, vector=(1, 1)),
    "nm_vector": Format("#sparse.nm<n = 3, m = 8, vector = [4, 1]>", "nm", n=3, m=8, axis=1, vector=(4, 1)),
    "nm_block": Format("#sparse.nm<n = 4, m = 8, axis = 0, vector = [2, 4]>", "nm", n=4, m=8, axis=0, vector=(2, 4)),
}


class Program:
    """A function put together from arrays and ops; every result has what must come out of it."""

    def __init__(self, rng, element, isConstant=False, is_whole=False):
        self.rng, self.element, self.isConstant, self.is_whole = rng, element, isConstant, is_whole
        self.arguments, self.body, self.results, self.count = [], [], [], 0

    def name(self):
        self.count += 1
        return f"%v{self.count}"

    def type(self, shape, element=None, encoding=None, dynamic=None):
        dynamic = (self.rng.random() < 0.4 if dynamic is None else dynamic) and not self.isConstant
        return f"tensor<{''.join(('?' if dynamic else str(n)) + 'x' for n in shape)}{element or self.element}{', ' + encoding if encoding else ''}>"

    def argument(self, array, element=None, dynamic=None):
        name = f"%a{len(self.arguments)}"
        kind = self.type(array.shape, element, dynamic=dynamic)
        if self.isConstant:
            values = str((array.astype("f8") if is_float(array.dtype) else array).tolist()) if array.size else ""
            return self.op(f"arith.constant dense<{values}> : {kind}", kind)
        self.arguments.append((f"{name}: {kind}", array))
        return name, kind

    def op(self, text, kind):
        name = self.name()
        self.body.append(f"  {name} = {text}")
        return name, kind

    def expect(self, value, array, what):
        self.results.append((value[0], value[1], array, what))

    def text(self):
        kinds = ", ".join(kind for _, kind, _, _ in self.results)
        values = ", ".join(name for name, _, _, _ in self.results)
        head = f"func.func @main({', '.join(text for text, _ in self.arguments)}) -> ({kinds}) {{\n"
        return head + "\n".join(self.body) + f"\n  return {values} : {kinds}\n}}\n"


SEMIRINGS = {
    "add_mul": (np.add, np.multiply), "max_plus": (np.maximum, np.add), "min_plus": (np.minimum, np.add),
    "max_mul": (np.maximum, np.multiply), "min_mul": (np.minimum, np.multiply), "or_and": (np.bitwise_or, np.bitwise_and),
    "mean_mul": (np.add, np.multiply),
}


def product(semiring, parts, b, init):
    """init ⊕ (⊕ over the stored places of each part ⊗ b), in 64 bits."""
    add, multiply = SEMIRINGS[semiring]
    wide = np.float64 if is_float(init.dtype) else np.int64
    out = init.astype(wide).copy()
    for i in range(out.shape[0]):
        terms = np.concatenate([multiply(a[i, s[i]].astype(wide)[:, None], b[s[i]].astype(wide)) for a, s in parts])
        if not len(terms):
            continue
        total = add.reduce(terms, axis=0)
        if semiring == "mean_mul":
            total = total / len(terms) if wide is np.float64 else (np.abs(total) // len(terms)) * np.sign(total)
        out[i] = add(out[i], total)
    return out


def integers(rng, shape, dtype):
    most = 1 if dtype is ml_dtypes.bfloat16 else 4  # that sums are exact
    return rng.integers(-most, most + 1, shape).astype(dtype)


def draw(rng, shape, dtype):
    density = rng.choice([0.0, 0.1, 0.3, 0.7, 1.0])
    dense = integers(rng, shape, dtype) * (rng.random(shape) < density)
    if shape[0] and rng.random() < 0.3:
        dense[rng.integers(shape[0])] = 0
    if shape[0] == shape[1] and rng.random() < 0.5:  # a graph
        alone = rng.random(shape[0]) < 0.5
        dense = dense * np.eye(shape[0]) if rng.random() < 0.5 else dense * ~alone[:, None] * ~alone
    return dense.astype(dtype)


def scipy_says(fmt, dense, parts):
    """A second judge of the packer that is written here, where scipy has the format."""
    if 0 in dense.shape or fmt.kind not in ("csr", "csc"):
        return
    matrix = (scipy.sparse.csr_array if fmt.kind == "csr" else scipy.sparse.csc_array)(dense.astype("f8"))
    assert (matrix.indptr == parts[0]).all() and (matrix.indices == parts[1]).all() and (matrix.data == parts[2]).all()


def add_format(program, key, others, rng, dtype):
    fmt, element = FORMATS[key], program.element
    m, n, k = (int(rng.choice(SIZES)) for _ in range(3))
    k = m if rng.random() < 0.3 else k
    dense = draw(rng, (m, k), dtype)
    dense, stored = fmt.fill(dense, dense != 0, rng)
    parts = fmt.components(dense, stored)
    scipy_says(fmt, dense, parts)
    argument = program.argument(dense)
    dynamic = "?" in argument[1]
    kind = program.type((m, k), encoding=fmt.text, dynamic=dynamic)
    w = program.op(f"sparse.pack {argument[0]} : {argument[1]} -> {kind}", kind)
    plain = program.type((m, k), dynamic=dynamic)
    program.expect(program.op(f"sparse.unpack {w[0]} : {kind} -> {plain}", plain), dense, f"{key}: unpack")

    add_components(program, fmt, w, dense, parts, f"{key}: components")
    for other in others:
        to = FORMATS[other]
        if to.kind == "nm":
            continue  # may not fit
        there = program.op(f"sparse.convert {w[0]} : {kind} -> {program.type((m, k), encoding=to.text, dynamic=dynamic)}",
                           program.type((m, k), encoding=to.text, dynamic=dynamic))
        add_components(program, to, there, dense, to.components(dense, to.fill(dense, stored, rng)[1]), f"{key} to {other}")
    turned = FORMATS["csc" if fmt.kind == "csr" else "csr"]
    kind_t = program.type((k, m), encoding=turned.text, dynamic=dynamic)
    t = program.op(f"sparse.transpose {w[0]} : {kind} -> {kind_t}", kind_t)
    add_components(program, turned, t, dense.T, turned.components(dense.T, stored.T), f"{key}: transpose")
    add_products(program, key, w, [(dense, stored)], n, rng, dtype)
    add_entries(program, key, fmt, w, [(dense, stored)], rng, dtype)


def add_sum(program, others, rng, dtype):
    """A decomposition: parts of several formats, which may store one place each."""
    keys = rng.permutation(list(others))[:int(rng.integers(2, 5))]
    m, n, k = (int(rng.choice(SIZES)) for _ in range(3))
    dynamic = rng.random() < 0.4 and not program.isConstant
    names, kinds, parts = [], [], []
    for key in keys:
        fmt = FORMATS[key]
        dense = draw(rng, (m, k), dtype)
        parts.append(fmt.fill(dense, dense != 0, rng))
        argument, plain = program.argument(parts[-1][0], dynamic=dynamic)
        kind = program.type((m, k), encoding=fmt.text, dynamic=dynamic)
        packed = program.op(f"sparse.pack {argument} : {plain} -> {kind}", kind)
        own = component_types(fmt, fmt.components(*parts[-1]), program.element)
        name = program.name()
        program.body.append(f"  {name}:{len(own)} = sparse.disassemble {packed[0]} : {kind} -> {', '.join(own)}")
        names += [f"{name}#{i}" for i in range(len(own))]
        kinds += own
    kind = program.type((m, k), encoding=f"#sparse.sum<parts = [{', '.join(FORMATS[key].text for key in keys)}]>", dynamic=dynamic)
    sizes = add_sizes(program, packed, name) if dynamic else ""
    w = program.op(f"sparse.assemble({', '.join(names)}){sizes} : {', '.join(kinds)} -> {kind}", kind)
    dense, stored = sum(d for d, _ in parts).astype(dtype), np.logical_or.reduce([s for _, s in parts])
    what = f"sum of {' '.join(keys)}"
    unpacked(program, w, dense, f"{what}: unpack")
    for other in others:
        to = FORMATS[other]
        if to.kind == "nm":
            continue  # may not fit
        kind = program.type((m, k), encoding=to.text, dynamic=dynamic)
        there = program.op(f"sparse.convert {w[0]} : {w[1]} -> {kind}", kind)
        add_components(program, to, there, dense, to.components(dense, to.fill(dense, stored, rng)[1]), f"{what} to {other}")
    kind = program.type((k, m), encoding="#sparse.csr", dynamic=dynamic)
    t = program.op(f"sparse.transpose {w[0]} : {w[1]} -> {kind}", kind)
    add_components(program, FORMATS["csr"], t, dense.T, FORMATS["csr"].components(dense.T, stored.T), f"{what}: transpose")
    add_products(program, what, w, parts, n, rng, dtype)
    add_entries(program, what, None, w, parts, rng, dtype)


def add_sizes(program, value, name):
    program.body.append(f"  {name}_0 = arith.constant 0 : index\n  {name}_1 = arith.constant 1 : index")
    for axis in (0, 1):
        program.body.append(f"  {name}_s{axis} = tensor.dim {value[0]}, {name}_{axis} : {value[1]}")
    return f" sizes [{name}_s0, {name}_s1]"


def component_types(fmt, parts, element):
    kinds = []
    for part in parts:
        own = {"b": "i1", "i": f"i{8 * part.itemsize}"}.get(part.dtype.kind, element)
        own = element if part is parts[-1] else own
        kinds.append(f"tensor<{'?x' * part.ndim}{own}>")
    if fmt.kind == "coo":
        kinds[0] = "tensor<2x?xi32>"
    if fmt.kind == "bsr":
        kinds[2] = f"tensor<?x{fmt.block[0]}x{fmt.block[1]}x{element}>"
    if fmt.kind == "nm":
        kinds = [f"tensor<?x?x{parts[0].shape[2]}xi8>", f"tensor<?x?x{parts[1].shape[2]}x{parts[1].shape[3]}x{element}>"]
    return kinds


def add_components(program, fmt, value, dense, parts, what):
    kinds = component_types(fmt, parts, program.element)
    name = program.name()
    program.body.append(f"  {name}:{len(parts)} = sparse.disassemble {value[0]} : {value[1]} -> {', '.join(kinds)}")
    for i, (part, kind) in enumerate(zip(parts, kinds)):
        program.expect((f"{name}#{i}", kind), part, f"{what} {i}")
    # Put together again they are the same tensor.
    sizes = add_sizes(program, value, name) if "?" in value[1] else ""
    again = program.op(f"sparse.assemble({', '.join(f'{name}#{i}' for i in range(len(parts)))}){sizes} : {', '.join(kinds)} -> {value[1]}", value[1])
    plain = value[1].split(", #")[0] + ">"
    program.expect(program.op(f"sparse.unpack {again[0]} : {value[1]} -> {plain}", plain), dense, f"{what}, assembled again")


def turned(parts, swapped):
    return [(d.T, s.T) for d, s in parts] if swapped else parts


def add_products(program, key, w, parts, n, rng, dtype):
    m, k = parts[0][0].shape
    for semiring in SEMIRINGS:
        if semiring == "or_and" and is_float(dtype) or rng.random() < 0.4 and not program.is_whole:
            continue
        total = program.element if rng.random() < 0.5 else WIDER.get(program.element, program.element)
        left, swapped, flipped = (rng.random() < 0.5 for _ in range(3))
        if left:
            inner, outer = (m, k) if swapped else (k, m)
            b, init = integers(rng, (inner, n), dtype), integers(rng, (outer, n), DTYPES[total])
            want = product(semiring, turned(parts, swapped), b, init)
            other, start = program.argument(b.T.copy() if flipped else b), program.argument(init, total)
            text = f"sparse.spmm {w[0]}{' transpose' * swapped}, {other[0]}{' transpose' * flipped}, {start[0]} over {semiring} : {w[1]}, {other[1]}, {start[1]}"
        else:
            inner, outer = (k, m) if swapped else (m, k)
            b, init = integers(rng, (n, inner), dtype), integers(rng, (n, outer), DTYPES[total])
            want = product(semiring, turned(parts, not swapped), b.T, init.T).T
            other, start = program.argument(b.T.copy() if flipped else b), program.argument(init, total)
            text = f"sparse.spmm {other[0]}{' transpose' * flipped}, {w[0]}{' transpose' * swapped}, {start[0]} over {semiring} : {other[1]}, {w[1]}, {start[1]}"
        program.expect(program.op(text, start[1]), want, f"{key}: spmm over {semiring}")
        swapped = rng.random() < 0.5
        b, init = integers(rng, (m if swapped else k,), dtype), integers(rng, (k if swapped else m,), DTYPES[total])
        x, start = program.argument(b), program.argument(init, total)
        text = f"sparse.spmv {w[0]}{' transpose' * swapped}, {x[0]}, {start[0]} over {semiring} : {w[1]}, {x[1]}, {start[1]}"
        program.expect(program.op(text, start[1]), product(semiring, turned(parts, swapped), b[:, None], init[:, None])[:, 0], f"{key}: spmv over {semiring}")


def unpacked(program, value, want, what):
    plain = value[1].split(", #")[0] + ">"
    program.expect(program.op(f"sparse.unpack {value[0]} : {value[1]} -> {plain}", plain), want, what)


def add_entries(program, key, fmt, w, parts, rng, dtype):
    """Of a sum, whose fmt is None, what keeps each part's entries where they are."""
    dense, stored = sum(d for d, _ in parts), sum(s.astype(int) for _, s in parts)
    m, k = dense.shape
    depth = int(rng.choice(SIZES))
    wide = np.float64 if is_float(dtype) else np.int64
    q, r = integers(rng, (m, depth), dtype), integers(rng, (k, depth), dtype)
    qa, ra = program.argument(q), program.argument(r)
    s = program.op(f"sparse.sddmm {qa[0]}, {ra[0]} transpose, {w[0]} : {qa[1]}, {ra[1]}, {w[1]}", w[1])
    unpacked(program, s, (q.astype(wide) @ r.T.astype(wide)) * stored, f"{key}: sddmm")

    square = draw(rng, (k, k), dtype)
    sa = program.argument(square)
    kind = program.type((k, k), encoding="#sparse.csc", dynamic="?" in sa[1])
    sc = program.op(f"sparse.pack {sa[0]} : {sa[1]} -> {kind}", kind)
    g = program.op(f"sparse.spgemm {w[0]}, {sc[0]}, {w[0]} : {w[1]}, {kind}, {w[1]}", w[1])
    unpacked(program, g, (dense.astype(wide) @ square.astype(wide)) * stored, f"{key}: spgemm")

    for combine, function, start in (("add", np.add, 0), ("max", np.maximum, -9), ("min", np.minimum, 9)):
        axis = int(rng.integers(2))
        init = np.full(dense.shape[1 - axis], start, dtype)
        ia = program.argument(init)
        masked = np.concatenate([np.where(s, d.astype(wide), start) for d, s in parts], axis=axis)
        want = function.reduce(masked, axis=axis, initial=start) if combine != "add" else masked.sum(axis=axis)
        program.expect(program.op(f"sparse.reduce {combine} {w[0]} along {axis}, {ia[0]} : {w[1]}, {ia[1]}", ia[1]), want, f"{key}: reduce {combine}")

    if fmt and is_float(dtype):  # whose weights are no integers: what they add up to is checked, too
        axis = int(rng.integers(2))
        weighed = program.op(f"sparse.softmax {w[0]} along {axis} : {w[1]}", w[1])
        scores = np.where(parts[0][1], dense.astype("f8"), -np.inf)
        most = scores.max(axis=axis, keepdims=True, initial=-99)
        weights = np.exp(scores - most)
        unpacked(program, weighed, weights / np.maximum(weights.sum(axis=axis, keepdims=True), 1e-9), f"{key}: softmax along {axis}")

    e, plus = program.element, "addf" if is_float(dtype) else "addi"
    mapped = program.op(f"sparse.map {w[0]} : {w[1]} {{\n  ^bb0(%v: {e}, %i: index, %j: index):\n    %s = arith.{plus} %v, %v : {e}\n    sparse.yield %s : {e}\n  }}", w[1])
    unpacked(program, mapped, dense.astype(wide) * 2, f"{key}: map")
    if not fmt or fmt.kind == "nm":
        return
    kept = program.op(f"sparse.select {w[0]} : {w[1]} {{\n  ^bb0(%v: {e}, %i: index, %j: index):\n    %c = arith.cmpi ule, %i, %j : index\n    sparse.yield %c : i1\n  }}", w[1])
    unpacked(program, kept, np.triu(dense), f"{key}: select")
    other = draw(rng, (m, k), dtype)
    oa = program.argument(other, dynamic="?" in w[1])  # sizes known where w's are
    b = program.op(f"sparse.pack {oa[0]} : {oa[1]} -> {w[1]}", w[1])
    unpacked(program, program.op(f"sparse.add {w[0]}, {b[0]} : {w[1]}", w[1]), dense.astype(wide) + other, f"{key}: add")
    unpacked(program, program.op(f"sparse.mul {w[0]}, {b[0]} : {w[1]}", w[1]), dense.astype(wide) * other, f"{key}: mul")


def alike(got, want, what):
    """Integers wrap; a mean and a softmax are rounded, everything else is exact."""
    if not is_float(got.dtype):
        return (got == want.astype(got.dtype)).all()
    tolerance = 8 * float(ml_dtypes.finfo(got.dtype).eps) if "mean" in what or "softmax" in what else 0
    return (np.abs(got.astype("f8") - want) <= tolerance * (1 + np.abs(want))).all()


def run(program, options, folder):
    source = folder / "program.mlir"
    source.write_text(program.text())
    command = [options.tile_run, str(source), f"--target={options.target}"]
    if options.constant:
        folded = subprocess.run([Path(options.tile_run).parent / "tile-opt", source, "--pass-pipeline=builtin.module(func.func(sparse-fold-constants))"], capture_output=True, text=True)
        left = [line for line in folded.stdout.splitlines() if " sparse.pack" in line]
        if folded.returncode or left:
            return [f"not folded: {folded.stderr[:2000]}{left[:1]}"]
        source.write_text(folded.stdout)
    for i, (_, array) in enumerate(program.arguments):
        np.save(folder / f"in{i}.npy", array.view(np.uint16) if array.dtype == ml_dtypes.bfloat16 else array)
        command.append(f"--in={folder / f'in{i}.npy'}")
    command += [f"--out={folder / f'out{i}.npy'}" for i in range(len(program.results))]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    if done.returncode:
        return [f"status {done.returncode}: {done.stderr[:2000]}"]
    wrong = []
    for i, (_, _, want, what) in enumerate(program.results):
        got = np.load(folder / f"out{i}.npy")
        got = got.view(ml_dtypes.bfloat16) if got.dtype == np.uint16 else got
        if got.shape != want.shape or not alike(got, want, what):
            wrong.append(f"{what} is wrong\n{got}\nwant\n{want}")
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tile_run")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--target", default="interpret")
    parser.add_argument("--only", choices=[*FORMATS, "sum"])
    parser.add_argument("--every", action="store_true", help="each format in each type over each semiring")
    parser.add_argument("--constant", action="store_true", help="arrays are constants, which sparse-fold-constants packs")
    parser.add_argument("--keep", help="where the program that failed is left")
    options = parser.parse_args()
    ran = failed = checks = 0
    keys = [options.only] if options.only else [*FORMATS, "sum"]
    works = [(number, key, element) for number in range(options.rounds) for key in keys for element in (DTYPES if options.every else [None])]
    for number, key, element in works:
        seeds = [options.seed, number, [*FORMATS, "sum"].index(key)]
        rng = np.random.default_rng(seeds + [list(DTYPES).index(element)] if element else seeds)
        element = element or str(rng.choice(list(DTYPES)))
        program = Program(rng, element, options.constant, options.every)
        if key == "sum":
            add_sum(program, FORMATS, rng, DTYPES[element])
        else:
            add_format(program, key, FORMATS, rng, DTYPES[element])
        with tempfile.TemporaryDirectory() as folder:
            wrong = run(program, options, Path(folder))
        ran += 1
        checks += len(program.results)
        if wrong:
            failed += 1
            print(f"seed {options.seed}, round {number}, {key} of {element}:", *wrong[:3], sep="\n")
            if options.keep:
                Path(options.keep).write_text(program.text())
    print(f"{ran} programs, {checks} results, {failed} programs wrong")
    return failed > 0 or ran == 0


if __name__ == "__main__":
    sys.exit(main())
