"""Products on tile registers (AMX) by the stand-in that executes the instructions, judged by the interpreter.

Use: tile_registers.py BUILD FOLDER

Every instruction × tails of m, n and k; then by the code beside it, for a process that may not use the registers. A
processor that has the instructions executes them itself, and nothing is counted.
"""
import collections
import os
import re
import subprocess
import sys
from pathlib import Path

IS_COUNTED = " amx_tile " not in Path("/proc/cpuinfo").read_text()
BUILD, FOLDER = Path(sys.argv[1]), Path(sys.argv[2])
VECTORS = ('"atom.vdpbf16ps" = "1x16x2 bf16,bf16,f32"', '"atom.vpdpbusd" = "1x16x4 i8,i8,i32"')
TILES = ('"atom.tdpbf16ps" = "16x16x32 bf16,bf16,f32"', '"atom.tdpbssd" = "16x16x64 i8,i8,i32"',
         '"atom.tdpbusd" = "16x16x64 i8,i8,i32"', '"atom.tdpbsud" = "16x16x64 i8,i8,i32"',
         '"atom.tdpbuud" = "16x16x64 i8,i8,i32"', '"atom.tdpfp16ps" = "16x16x32 f16,f16,f32"', '"mma.flops.bf16" = 1024', '"mma.flops.i8" = 2048',
         '"mma.flops.f16" = 1024')
# Unsigned factors: u8, which the body widens by extui.
TYPES = (("bf16 bf16", "f32", "tdpbf16ps"), ("bf16 bf16", "bf16", "tdpbf16ps"), ("f16 f16", "f32", "tdpfp16ps"),
         ("i8 i8", "i32", "tdpbssd"), ("u8 i8", "i32", "tdpbusd"), ("i8 u8", "i32", "tdpbsud"),
         ("u8 u8", "i32", "tdpbuud"))
# Full registers; a row, a column or an element of k more or fewer; one register of rows; few rows; blocks of k.
SHAPES = ((64, 64, 128), (33, 17, 65), (31, 100, 127), (8, 16, 1), (17, 48, 1000), (9, 100, 640), (130, 33, 3))


MAPS = "affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>"


def product(i, elements, total, m, n, k):
    """The arguments and the lines of product number `i`, which starts from what it is given."""
    signs = ["extui" if element == "u8" else "extsi" for element in elements.split()]
    left, right = ["i8" if element == "u8" else element for element in elements.split()]
    a, b, c = f"tensor<{m}x{k}x{left}>", f"tensor<{k}x{n}x{right}>", f"tensor<{m}x{n}x{total}>"
    op = f"  %d{i} = linalg.matmul ins(%a{i}, %b{i} : {a}, {b}) outs(%c{i} : {c}) -> {c}"
    if "u8" in elements:
        op = f"""  %d{i} = linalg.generic {{indexing_maps = [{MAPS}], iterator_types = ["parallel", "parallel", "reduction"]}}
      ins(%a{i}, %b{i} : {a}, {b}) outs(%c{i} : {c}) {{
    ^bb0(%x: i8, %y: i8, %o: i32):
      %u = arith.{signs[0]} %x : i8 to i32
      %v = arith.{signs[1]} %y : i8 to i32
      %p = arith.muli %u, %v : i32
      %s = arith.addi %o, %p : i32
      linalg.yield %s : i32
    }} -> {c}"""
    return f"%a{i}: {a}, %b{i}: {b}, %c{i}: {c}", op, c


def program(parts, atoms=VECTORS + TILES):
    arguments, lines, types = zip(*parts)
    results = ", ".join(f"%d{i}" for i in range(len(parts)))
    machine = f'#tile.machine<"x86-64-v4", {", ".join(atoms)}>'
    return "\n".join([f"module attributes {{tile.machine = {machine}}} {{",
                      f"func.func @main({', '.join(arguments)}) -> ({', '.join(types)}) {{", *lines,
                      f"  return {results} : {', '.join(types)}", "}", "}", ""])


def run(text, **environment):
    """Runs a program under the stand-in. How often each instruction ran; fails where the interpreter says otherwise."""
    path = FOLDER / "program.mlir"
    path.write_text(text)
    done = subprocess.run([BUILD / "bin/tile-run", path, "--target=cpu", "--check-against=interpret"],
                          capture_output=True, text=True,
                          env={**os.environ, "LD_PRELOAD": str(BUILD / "test/standin/tiles.so"),
                               "TESSERA_STANDIN_COUNT": "1", **environment})
    assert done.returncode == 0, (done.stdout, done.stderr, text)
    return collections.Counter({name: int(n) for name, n in re.findall(r"^(\w+): (\d+)$", done.stderr, re.M)})


def main():
    FOLDER.mkdir(parents=True, exist_ok=True)
    for elements, total, atom in TYPES:
        parts = [product(i, elements, total, *shape) for i, shape in enumerate(SHAPES)]
        counts = run(program(parts))
        assert not IS_COUNTED or counts[atom] > 0 and counts["ldtilecfg"] == counts["tilerelease"], counts
        # Two by two registers of sums: as many loads as products, beside those of what sums start from.
        whole = run(program([product(0, elements, total, 64, 64, 512)]))
        assert whole["tileloadd"] - whole["tilestored"] <= whole[atom] and whole["tilestored"] <= 16, whole
        refusals = {"TESSERA_TILES": "off"}, {"TESSERA_STANDIN_KINDS": "0"}
        for refusal in refusals:
            counts = run(program(parts), **refusal)
            assert not counts, counts
        print(f"{elements} into {total}: right with {atom} and without it")
    mixed = [product(i, *TYPES[i][:2], 20, 20, 70) for i in range(len(TYPES))]
    # Without instructions on vectors, the code beside is multiply-adds.
    run(program(mixed, TILES), TESSERA_TILES="off")
    # One kind of three is there.
    some = run(program(mixed), TESSERA_STANDIN_KINDS="2")
    assert not IS_COUNTED or some["tdpbssd"] > 0 and not some["tdpbf16ps"] + some["tdpfp16ps"], some
    print("a process that may use some kinds uses those")


main()
