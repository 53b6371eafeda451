"""Forms of products that reach tile registers (AMX), by the stand-in that executes the instructions, judged by the
interpreter: batches, turned operands, unknown sizes, convolutions, an epilogue, constant weights.

Use: tile_register_forms.py BUILD FOLDER
"""
import os
import re
import subprocess
import sys
from pathlib import Path

BUILD, FOLDER = Path(sys.argv[1]), Path(sys.argv[2])
IS_COUNTED = " amx_tile " not in Path("/proc/cpuinfo").read_text()
MACHINE = ('#tile.machine<"x86-64-v4", "atom.vdpbf16ps" = "1x16x2 bf16,bf16,f32", "atom.vpdpbusd" = "1x16x4 i8,i8,i32", '
           '"atom.tdpbf16ps" = "16x16x32 bf16,bf16,f32", "atom.tdpbssd" = "16x16x64 i8,i8,i32", '
           '"mma.flops.bf16" = 1024, "mma.flops.i8" = 2048>')
SUMS = {"bf16": ("f32", "0.0"), "i8": ("i32", "0")}
EXTEND = """
  ^bb0(%x: bf16, %y: bf16, %o: f32):
    %u = arith.extf %x : bf16 to f32
    %v = arith.extf %y : bf16 to f32
    %t = arith.mulf %u, %v : f32
    %s = arith.addf %o, %t : f32
    linalg.yield %s : f32
"""
PARALLEL = 'iterator_types = ["parallel", "parallel"]'


def function(arguments, result, lines):
    return f"func.func @main({arguments}) -> {result} {{\n{lines}\n  return %r : {result}\n}}\n"


def batched():
    a, b, c = "tensor<3x40x64xbf16>", "tensor<3x64x48xbf16>", "tensor<3x40x48xf32>"
    return function(f"%a: {a}, %b: {b}", c, f"""  %z = arith.constant dense<0.0> : {c}
  %r = linalg.batch_matmul ins(%a, %b : {a}, {b}) outs(%z : {c}) -> {c}""")


def turned():
    a, b, c = "tensor<64x40xbf16>", "tensor<48x64xbf16>", "tensor<40x48xf32>"
    maps = "affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>"
    return function(f"%a: {a}, %b: {b}", c, f"""  %z = arith.constant dense<0.0> : {c}
  %r = linalg.generic {{indexing_maps = [{maps}], iterator_types = ["parallel", "parallel", "reduction"]}}
    ins(%a, %b : {a}, {b}) outs(%z : {c}) {{{EXTEND}  }} -> {c}""")


def unknown():
    a, b, c = "tensor<?x70xi8>", "tensor<70x?xi8>", "tensor<?x?xi32>"
    return function(f"%a: {a}, %b: {b}, %c: {c}", c, f"  %r = linalg.matmul ins(%a, %b : {a}, {b}) outs(%c : {c}) -> {c}")


def convolution(element, window):
    total, zero = SUMS[element]
    side = 9 + window - 1
    a, b = f"tensor<2x{side}x{side}x64x{element}>", f"tensor<{window}x{window}x64x48x{element}>"
    c = f"tensor<2x9x9x48x{total}>"
    return function(f"%a: {a}, %b: {b}", c, f"""  %z = arith.constant dense<{zero}> : {c}
  %r = linalg.conv_2d_nhwc_hwcf ins(%a, %b : {a}, {b}) outs(%z : {c}) -> {c}""")


def epilogue():
    a, b, c, d = "tensor<40x64xbf16>", "tensor<64x48xbf16>", "tensor<40x48xf32>", "tensor<48xf32>"
    maps = "affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (n)>, affine_map<(m, n) -> (m, n)>"
    return function(f"%a: {a}, %b: {b}, %d: {d}", c, f"""  %z = arith.constant dense<0.0> : {c}
  %p = linalg.matmul ins(%a, %b : {a}, {b}) outs(%z : {c}) -> {c}
  %r = linalg.generic {{indexing_maps = [{maps}], {PARALLEL}}} ins(%p, %d : {c}, {d}) outs(%z : {c}) {{
  ^bb0(%x: f32, %y: f32, %o: f32):
    %zero = arith.constant 0.0 : f32
    %s = arith.addf %x, %y : f32
    %t = arith.maximumf %s, %zero : f32
    linalg.yield %t : f32
  }} -> {c}""")


def weights(element, rows, columns, least=1):
    """Constant weights, no two alike in a row; `least`: of bf16, what the smallest is divided by."""
    total, zero = SUMS[element]
    b, c, a = f"tensor<{rows}x{columns}x{element}>", f"tensor<33x{columns}x{total}>", f"tensor<33x{rows}x{element}>"
    numbers = [[(37 * k + 11 * n) % 255 - 127 for n in range(columns)] for k in range(rows)]
    if element == "bf16":
        numbers = [[1 / 64 * x if x != 1 else 1 / least for x in row] for row in numbers]
    return function(f"%a: {a}", c, f"""  %b = arith.constant dense<{numbers}> : {b}
  %z = arith.constant dense<{zero}> : {c}
  %r = linalg.matmul ins(%a, %b : {a}, {b}) outs(%z : {c}) -> {c}""")


def run(name, text, atom):
    path = FOLDER / "program.mlir"
    path.write_text(f"module attributes {{tile.machine = {MACHINE}}} {{\n{text}}}\n")
    for refused in ("", "off"):
        done = subprocess.run([BUILD / "bin/tile-run", path, "--target=cpu", "--check-against=interpret"],
                              capture_output=True, text=True,
                              env={**os.environ, "LD_PRELOAD": str(BUILD / "test/standin/tiles.so"),
                                   "TESSERA_STANDIN_COUNT": "1", "TESSERA_TILES": refused})
        assert done.returncode == 0, (name, done.stdout, done.stderr)
        used = re.findall(r"^(tdp\w+): ", done.stderr, re.M)
        assert not IS_COUNTED or used == ([atom] if atom and not refused else []), (name, refused, done.stderr)
    print(f"{name}: right")


def main():
    FOLDER.mkdir(parents=True, exist_ok=True)
    run("batched", batched(), "tdpbf16ps")
    run("turned", turned(), "tdpbf16ps")
    run("unknown sizes", unknown(), "tdpbssd")
    run("convolution 1x1", convolution("bf16", 1), "tdpbf16ps")
    run("convolution 3x3", convolution("i8", 3), "tdpbssd")
    run("epilogue", epilogue(), "tdpbf16ps")
    run("constant weights of bf16", weights("bf16", 70, 50), "tdpbf16ps")
    run("constant weights that are subnormal", weights("bf16", 70, 50, 2.0**130), None)
    run("constant weights of i8", weights("i8", 600, 48), "tdpbssd")


main()
