"""Every shape and type of nvvm.mma.sync, and forms of rocdl.mfma, from registers to registers: one warp, whole numbers.

Each lane reads its registers of A, B and C from memory, where numpy has put the elements that the manuals' formulas
name, and writes those of D. (test/emulator/lanes_test.c holds the formulas against the manuals.) Use: matrix_ops.py
TILE_RUN.
"""
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))
from emulate import Kernel  # noqa: E402

rng = np.random.default_rng(5)
F16, BF16, F32, F64, I8, I4, B1, I32 = "f16", "bf16", "f32", "f64", "i8", "i4", "b1", "i32"


def encode(values, kind):
    """Whole numbers as bits of `kind`, packed along the last axis as registers hold them; bytes."""
    if kind in (F16, F32, F64):
        return np.ascontiguousarray(values.astype({F16: np.float16, F32: np.float32, F64: np.float64}[kind])).view(np.uint8)
    if kind == BF16:
        return np.ascontiguousarray((values.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)).view(np.uint8)
    if kind in (I32, I8):
        return np.ascontiguousarray(values.astype({I32: np.int32, I8: np.int8}[kind])).view(np.uint8)
    width = {I4: 4, B1: 1}[kind]
    bits = (values.astype(np.int64)[..., None] >> np.arange(width)) & 1
    return np.packbits(bits.astype(np.uint8).reshape(*values.shape[:-1], -1), axis=-1, bitorder="little")


def decode(data, kind):
    return np.ascontiguousarray(data).view({F16: np.float16, F32: np.float32, F64: np.float64, I32: np.int32}[kind]).astype(np.int64)


def numbers(shape, kind, signed=True):
    low, high = {B1: (0, 2), I4: (-8, 8), I8: (-128, 128)}.get(kind, (-8, 9))
    return rng.integers(low, high, shape) if signed else rng.integers(0, high - low, shape)


def warp_kernel(dialect, lanes, a_bytes, b_bytes, c_bytes, d_bytes, op, constants=""):
    """`op` uses %pa, %pb, %pc: where this lane's registers start; %pd likewise."""
    total = {"a": a_bytes, "b": b_bytes, "c": c_bytes, "d": d_bytes}
    lane = "nvvm.read.ptx.sreg.tid.x" if dialect == "nvvm" else "rocdl.workitem.id.x"
    places = "\n".join(f"""      %n{x} = llvm.mlir.constant({size} : i32) : i32
      %o{x} = llvm.mul %t, %n{x} : i32
      %p{x} = llvm.getelementptr %{x}[%o{x}] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i8""" for x, size in total.items())
    arguments = ", ".join(f"%{x} : memref<{lanes}x{size}xi8>" for x, size in total.items())
    return f"""
module attributes {{gpu.container_module}} {{
  gpu.module @kernels {{
    llvm.func @k(%a: !llvm.ptr<1>, %b: !llvm.ptr<1>, %c: !llvm.ptr<1>, %d: !llvm.ptr<1>) attributes {{gpu.kernel}} {{
      %t = {lane} : i32
{constants}
{places}
{op}
      llvm.return
    }}
  }}
  func.func @main({arguments}) {{
    %one = arith.constant 1 : index
    %threads = arith.constant {lanes} : index
    gpu.launch_func @kernels::@k blocks in (%one, %one, %one) threads in (%threads, %one, %one) args({arguments})
    return
  }}
}}
"""


def registers(pointer, kind, count, bytes_each):
    """Loads `count` registers of one operand; returns lines and names."""
    lines, names = [], []
    for i in range(count):
        name = f"%{pointer}{i}"
        lines.append(f"      %q{pointer}{i} = llvm.getelementptr %p{pointer}[{i * bytes_each}] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8\n"
                     f"      {name} = llvm.load %q{pointer}{i} {{alignment = {min(bytes_each, 8)} : i64}} : !llvm.ptr<1> -> {kind}")
        names.append(name)
    return "\n".join(lines), names


def fill(places, matrix, kind):
    return encode(matrix[places[..., 0], places[..., 1]], kind)


# --- mma.sync: w elements in a register, g = lane / 4, t = lane % 4 ---------------------------------------------------

def mma_places(m, k, w):
    lane = np.arange(32)[:, None]
    g, t, tall = lane // 4, lane % 4, m // 8
    i = np.arange(m * k // 32)[None]
    a = np.stack(np.broadcast_arrays(g + 8 * (i // w % tall), w * t + i % w + 4 * w * (i // w // tall)), -1)
    i = np.arange(k * 8 // 32)[None]
    b = np.stack(np.broadcast_arrays(w * t + i % w + 4 * w * (i // w), g), -1)
    i = np.arange(m * 8 // 32)[None]
    return a, b, np.stack(np.broadcast_arrays(g + 8 * (i // 2), 2 * t + i % 2), -1)


# m, k, type of A and B, of C, register types of A and C, PTX type names (or none: inferred), more attributes
MMA = [
    (16, 16, F16, F32, "vector<2xf16>", F32, None, ""), (16, 8, F16, F32, "vector<2xf16>", F32, None, ""),
    (16, 16, F16, F16, "vector<2xf16>", "vector<2xf16>", None, ""),
    (16, 16, BF16, F32, "i32", F32, ("bf16", "bf16"), ""), (16, 8, BF16, F32, "i32", F32, ("bf16", "bf16"), ""),
    (16, 8, F32, F32, "i32", F32, ("tf32", "tf32"), ""), (16, 4, F32, F32, "i32", F32, ("tf32", "tf32"), ""),
    (16, 32, I8, I32, "i32", I32, ("s8", "s8"), ", intOverflowBehavior = #nvvm.mma_int_overflow<wrapped>"),
    (16, 16, I8, I32, "i32", I32, ("u8", "s8"), ", intOverflowBehavior = #nvvm.mma_int_overflow<satfinite>"),
    (8, 16, I8, I32, "i32", I32, ("s8", "u8"), ", intOverflowBehavior = #nvvm.mma_int_overflow<wrapped>"),
    (16, 64, I4, I32, "i32", I32, ("s4", "s4"), ", intOverflowBehavior = #nvvm.mma_int_overflow<wrapped>"),
    (16, 32, I4, I32, "i32", I32, ("u4", "s4"), ", intOverflowBehavior = #nvvm.mma_int_overflow<satfinite>"),
    (8, 32, I4, I32, "i32", I32, ("s4", "s4"), ", intOverflowBehavior = #nvvm.mma_int_overflow<wrapped>"),
    (8, 128, B1, I32, "i32", I32, ("b1", "b1"), ", b1Op = #nvvm.mma_b1op<xor_popc>"),
    (16, 256, B1, I32, "i32", I32, ("b1", "b1"), ", b1Op = #nvvm.mma_b1op<and_popc>"),
    (8, 4, F64, F64, F64, F64, None, ""),
]
BITS = {F16: 16, BF16: 16, F32: 32, F64: 64, I8: 8, I4: 4, B1: 1, I32: 32}


def check_small_floats(tool, accumulator):
    """8-bit floats come as LLVM's intrinsic; e4m3 times e5m2, small whole numbers by their codes."""
    codes = {"e4m3": {0: 0, 1: 0x38, 2: 0x40, 3: 0x44, -1: 0xb8, -2: 0xc0}, "e5m2": {0: 0, 1: 0x3c, 2: 0x40, 4: 0x44, -1: 0xbc, -3: 0xc2}}
    a_places, b_places, c_places = mma_places(16, 32, 4)
    a, b = rng.choice(list(codes["e4m3"]), (16, 32)), rng.choice(list(codes["e5m2"]), (32, 8))
    c = numbers((16, 8), accumulator)
    code = lambda values, kind: np.vectorize(codes[kind].get)(values).astype(np.uint8)
    data = [code(a, "e4m3")[a_places[..., 0], a_places[..., 1]], code(b, "e5m2")[b_places[..., 0], b_places[..., 1]],
            fill(c_places, c, accumulator)]
    register = F32 if accumulator == F32 else "vector<2xf16>"
    count = data[2].shape[1] // 4
    load_a, a_names = registers("a", "i32", 4, 4)
    load_b, b_names = registers("b", "i32", 2, 4)
    load_c, c_names = registers("c", register, count, 4)
    result = f"!llvm.struct<({', '.join([register] * count)})>"
    op = f"""{load_a}
{load_b}
{load_c}
      %r = llvm.call_intrinsic "llvm.nvvm.mma.m16n8k32.row.col.{accumulator}.e4m3.e5m2.{accumulator}"
        ({', '.join(a_names + b_names + c_names)}) : ({', '.join(['i32'] * 6 + [register] * count)}) -> {result}
""" + "\n".join(f"""      %d{i} = llvm.extractvalue %r[{i}] : {result}
      %qd{i} = llvm.getelementptr %pd[{4 * i}] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
      llvm.store %d{i}, %qd{i} {{alignment = 4 : i64}} : {register}, !llvm.ptr<1>""" for i in range(count))
    text = warp_kernel("nvvm", 32, *(array.shape[1] for array in data), data[2].shape[1], op)
    outputs, _ = Kernel(tool, "emulate:sm_90a", text).run(
        [array.view(np.int8) for array in (*data, np.zeros_like(data[2]))])
    return np.array_equal(decode(outputs[3], accumulator), (a @ b + c)[c_places[..., 0], c_places[..., 1]])


def check_mma(tool, m, k, kind, accumulator, in_register, c_register, names, more):
    w = max(32 // BITS[kind], 1)
    a_places, b_places, c_places = mma_places(m, k, w)
    a = numbers((m, k), kind, not (names and names[0].startswith("u")))
    b = numbers((k, 8), kind, not (names and names[1].startswith("u")))
    c = numbers((m, 8), accumulator)
    register = 8 if kind == F64 else 4
    c_each = {F64: 8}.get(accumulator, 4)
    data = [fill(a_places, a, kind), fill(b_places, b, kind), fill(c_places, c, accumulator)]
    counts = [data[0].shape[1] // register, data[1].shape[1] // register, data[2].shape[1] // c_each]
    load_a, a_names = registers("a", in_register, counts[0], register)
    load_b, b_names = registers("b", in_register, counts[1], register)
    load_c, c_names = registers("c", c_register, counts[2], c_each)
    result = f"!llvm.struct<({', '.join([c_register] * counts[2])})>"
    types = "" if not names else (f", multiplicandAPtxType = #nvvm.mma_type<{names[0]}>"
                                  f", multiplicandBPtxType = #nvvm.mma_type<{names[1]}>")
    op = f"""{load_a}
{load_b}
{load_c}
      %r = nvvm.mma.sync A[{', '.join(a_names)}] B[{', '.join(b_names)}] C[{', '.join(c_names)}]
        {{layoutA = #nvvm.mma_layout<row>, layoutB = #nvvm.mma_layout<col>{types}{more},
          shape = #nvvm.shape<m = {m}, n = 8, k = {k}>}} : ({in_register}, {in_register}, {c_register}) -> {result}
""" + "\n".join(f"""      %d{i} = llvm.extractvalue %r[{i}] : {result}
      %qd{i} = llvm.getelementptr %pd[{i * c_each}] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
      llvm.store %d{i}, %qd{i} {{alignment = 4 : i64}} : {c_register}, !llvm.ptr<1>""" for i in range(counts[2]))
    text = warp_kernel("nvvm", 32, *(array.shape[1] for array in data), data[2].shape[1], op)
    outputs, _ = Kernel(tool, "emulate:sm_80", text).run([array.view(np.int8) for array in (*data, np.zeros_like(data[2]))])
    product = a @ b
    if kind == B1:
        product = (a[:, :, None] & b[None] if "and" in more else a[:, :, None] ^ b[None]).sum(axis=1)
    expected = (product + c)[c_places[..., 0], c_places[..., 1]]
    return np.array_equal(decode(outputs[3], accumulator), expected)


# --- mfma: L operands, R results in a lane ----------------------------------------------------------------------------

def mfma_places(m, k, f64=False):
    lane = np.arange(64)[:, None]
    length, i = m * k // 64, np.arange(m * k // 64)[None]
    a = np.stack(np.broadcast_arrays(lane % m, i + length * (lane // m)), -1)
    i = np.arange(m * m // 64)[None]
    row = i * 4 + lane // m if f64 else i % 4 + 4 * (lane // m) + 256 // m * (i // 4)
    return a, a[..., ::-1], np.stack(np.broadcast_arrays(row, lane % m), -1)


MFMA = [  # chip, name, m, k, type of A, of C, operand type, result type
    ("gfx942", "mfma.f32.16x16x16f16", 16, 16, F16, F32, "vector<4xf16>", "vector<4xf32>"),
    ("gfx942", "mfma.f32.32x32x8f16", 32, 8, F16, F32, "vector<4xf16>", "vector<16xf32>"),
    ("gfx942", "mfma.f32.16x16x16bf16.1k", 16, 16, BF16, F32, "vector<4xi16>", "vector<4xf32>"),
    ("gfx942", "mfma.i32.16x16x32.i8", 16, 32, I8, I32, "i64", "vector<4xi32>"),
    ("gfx942", "mfma.f32.16x16x8.xf32", 16, 8, F32, F32, "vector<2xf32>", "vector<4xf32>"),
    ("gfx942", "mfma.f32.16x16x4f32", 16, 4, F32, F32, "f32", "vector<4xf32>"),
    ("gfx942", "mfma.f64.16x16x4f64", 16, 4, F64, F64, "f64", "vector<4xf64>"),
]


def check_mfma(tool, chip, name, m, k, kind, accumulator, operand, result):
    a_places, b_places, c_places = mfma_places(m, k, kind == F64)
    a, b, c = numbers((m, k), kind), numbers((k, m), kind), numbers((m, m), accumulator)
    data = [fill(a_places, a, kind), fill(b_places, b, kind), fill(c_places, c, accumulator)]
    whole = data[2].shape[1]
    load = "\n".join(f"      %{x} = llvm.load %p{x} {{alignment = 4 : i64}} : !llvm.ptr<1> -> {kind_}".replace(f"%{x} =", f"%v{x} =")
                     for x, kind_ in (("a", operand), ("b", operand), ("c", result)))
    op = f"""{load}
      %r = rocdl.{name} %va, %vb, %vc, %zero, %zero, %zero : ({operand}, {operand}, {result}, i32, i32, i32) -> {result}
      llvm.store %r, %pd {{alignment = 4 : i64}} : {result}, !llvm.ptr<1>"""
    text = warp_kernel("rocdl", 64, data[0].shape[1], data[1].shape[1], whole, whole, op,
                       "      %zero = llvm.mlir.constant(0 : i32) : i32")
    outputs, _ = Kernel(tool, f"emulate:{chip}", text).run([array.view(np.int8) for array in (*data, np.zeros_like(data[2]))])
    return np.array_equal(decode(outputs[3], accumulator), (a @ b + c)[c_places[..., 0], c_places[..., 1]])


def check_smfmac(tool, abid):
    """2 of every 4 along k: each lane holds the two values and their places, 4 bits for a pair."""
    lane, (m, k, length) = np.arange(64), (16, 32, 8)
    chosen = np.sort(np.argsort(rng.random((m, k // 4, 4)), axis=2)[:, :, :2], axis=2)
    values = numbers((m, k // 4, 2), F16)
    dense = np.zeros((m, k // 4, 4), np.int64)
    np.put_along_axis(dense, chosen, values, axis=2)
    rows, pairs = lane % m, length // 4 * (lane // m)[:, None] + np.arange(length // 4)
    a = values[rows[:, None], pairs].reshape(64, -1)
    places = (chosen[rows[:, None], pairs] << np.array([0, 2])).sum(axis=2) << (4 * np.arange(length // 4))
    indices = (places.sum(axis=1) << (8 * abid)).astype(np.int32).reshape(64, 1)
    _, b_places, c_places = mfma_places(m, k)
    b, c = numbers((k, m), F16), numbers((m, m), F32)
    data = [np.concatenate([encode(a, F16), encode(indices, I32)], axis=1), fill(b_places, b, F16),
            fill(c_places, c, F32)]
    op = f"""      %va = llvm.load %pa {{alignment = 4 : i64}} : !llvm.ptr<1> -> vector<4xf16>
      %pi = llvm.getelementptr %pa[8] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
      %vi = llvm.load %pi {{alignment = 4 : i64}} : !llvm.ptr<1> -> i32
      %vb = llvm.load %pb {{alignment = 4 : i64}} : !llvm.ptr<1> -> vector<8xf16>
      %vc = llvm.load %pc {{alignment = 4 : i64}} : !llvm.ptr<1> -> vector<4xf32>
      %r = rocdl.smfmac.f32.16x16x32.f16 %va, %vb, %vc, %vi, %zero, %abid
        : (vector<4xf16>, vector<8xf16>, vector<4xf32>, i32, i32, i32) -> vector<4xf32>
      llvm.store %r, %pd {{alignment = 4 : i64}} : vector<4xf32>, !llvm.ptr<1>"""
    text = warp_kernel("rocdl", 64, *(array.shape[1] for array in data), data[2].shape[1], op,
                       f"      %zero = llvm.mlir.constant(0 : i32) : i32\n      %abid = llvm.mlir.constant({abid} : i32) : i32")
    outputs, _ = Kernel(tool, "emulate:gfx942", text).run(
        [array.view(np.int8) for array in (*data, np.zeros_like(data[2]))])
    expected = dense.reshape(m, k) @ b + c
    return np.array_equal(decode(outputs[3], F32), expected[c_places[..., 0], c_places[..., 1]])


if __name__ == "__main__":
    wrong = [f"mma.sync m{row[0]}n8k{row[1]} {row[2]} {row[6]}" for row in MMA if not check_mma(sys.argv[1], *row)]
    wrong += [f"8-bit floats to {kind}" for kind in (F16, F32) if not check_small_floats(sys.argv[1], kind)]
    wrong += [row[1] for row in MFMA if not check_mfma(sys.argv[1], *row)]
    wrong += [f"smfmac, abid {abid}" for abid in (0, 3) if not check_smfmac(sys.argv[1], abid)]
    print(f"{len(MMA) + len(MFMA) + 4} instructions, wrong: {wrong}")
    sys.exit(len(wrong) > 0)
