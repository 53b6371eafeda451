"""Products on tile registers (AMX) by the stand-in that executes the instructions, judged by the interpreter.

Use: tile_registers.py BUILD FOLDER

Every instruction × tails of m, n and k; then by the code beside it, for a process that may not use the registers. With
the instructions in the processor the stand-in is never asked, and the same programs run on it.
"""
import os
import re
import subprocess
import sys
from pathlib import Path

BUILD, FOLDER = Path(sys.argv[1]), Path(sys.argv[2])
VECTORS = ('"atom.vdpbf16ps" = "1x16x2 bf16,bf16,f32"', '"atom.vpdpbusd" = "1x16x4 i8,i8,i32"')
TILES = ('"atom.tdpbf16ps" = "16x16x32 bf16,bf16,f32"', '"atom.tdpbssd" = "16x16x64 i8,i8,i32"',
         '"atom.tdpfp16ps" = "16x16x32 f16,f16,f32"', '"mma.flops.bf16" = 1024', '"mma.flops.i8" = 2048',
         '"mma.flops.f16" = 1024')
TYPES = (("bf16", "f32", "tdpbf16ps"), ("bf16", "bf16", "tdpbf16ps"), ("i8", "i32", "tdpbssd"),
         ("f16", "f32", "tdpfp16ps"))
# Full registers; a row, a column or an element of k more or fewer; one register of rows; few rows; blocks of k.
SHAPES = ((64, 64, 128), (33, 17, 65), (31, 100, 127), (8, 16, 1), (17, 48, 1000), (9, 100, 640), (130, 33, 3))


def product(number, element, total, m, n, k):
    """The arguments and the lines of one product, which starts from what it is given."""
    a, b, c = f"tensor<{m}x{k}x{element}>", f"tensor<{k}x{n}x{element}>", f"tensor<{m}x{n}x{total}>"
    i = number
    return (f"%a{i}: {a}, %b{i}: {b}, %c{i}: {c}",
            f"  %d{i} = linalg.matmul ins(%a{i}, %b{i} : {a}, {b}) outs(%c{i} : {c}) -> {c}", c)


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
    return {name: int(count) for name, count in re.findall(r"^(\w+): (\d+)$", done.stderr, re.M)}


def main():
    FOLDER.mkdir(parents=True, exist_ok=True)
    for element, total, atom in TYPES:
        parts = [product(i, element, total, *shape) for i, shape in enumerate(SHAPES)]
        counts = run(program(parts))
        assert counts[atom] > 0 and counts["ldtilecfg"] == counts["tilerelease"], counts
        # Two by two registers of sums: as many loads as products, beside those of what sums start from.
        whole = run(program([product(0, element, total, 64, 64, 512)]))
        assert whole["tileloadd"] - whole["tilestored"] <= whole[atom] and whole["tilestored"] <= 16, whole
        refusals = {"TESSERA_TILES": "off"}, {"TESSERA_STANDIN_KINDS": "0"}
        for refusal in refusals:
            counts = run(program(parts), **refusal)
            assert not counts, counts
        print(f"{element} into {total}: right with {atom} and without it")
    # Without instructions on vectors, the code beside is multiply-adds.
    run(program([product(i, *TYPES[i][:2], 20, 20, 70) for i in range(len(TYPES))], TILES), TESSERA_TILES="off")
    # One kind of three is there.
    some = run(program([product(i, *TYPES[i][:2], 20, 20, 70) for i in range(len(TYPES))]), TESSERA_STANDIN_KINDS="2")
    assert some["tdpbssd"] > 0 and "tdpbf16ps" not in some and "tdpfp16ps" not in some, some
    print("a process that may use some kinds uses those")


main()
