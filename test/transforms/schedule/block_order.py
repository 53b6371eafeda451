"""Block order against counted working sets: what the waves of programs touch in memory, each sector once in a wave.

Usage: block_order.py TILE_OPT TILE_RUN CHIP…     constructs a product for machines whose second-level cache is too small for it
and which have few cores, runs it on the emulator as constructed and without `group`, and compares wave_transactions with a
walk over the programs of each wave here. Ragged sizes and a batch among them. Prints a line for each program, order and chip.
"""
import json
import re
import subprocess
import sys
import tempfile

SECTOR = {"sm_80": 32, "sm_90a": 32, "gfx942": 64}
REGISTERS = {"sm_80": 128, "sm_90a": 128, "gfx942": 256}
CORES = 8
# batch, m, n, k; rows of A, B and C fill whole sectors, and blocks of rows end where tensors do
SHAPES = [(1, 512, 768, 256), (1, 448, 1024, 192), (2, 512, 1024, 128)]


def program(chip, batch, m, n, k):
    """Of a machine with few cores and small tiles, whose warps alone limit how many programs a core has at once: the emulator knows
    no registers."""
    shape = lambda *sizes: "tensor<" + "x".join(map(str, (batch, *sizes) if batch > 1 else sizes))
    a, b, c = shape(m, k) + "xf16>", shape(k, n) + "xf16>", shape(m, n) + "xf32>"
    name = "batch_matmul" if batch > 1 else "matmul"
    return f"""module attributes {{tile.machine = #tile.machine<"{chip}", "cores" = {CORES}, "l2.bytes" = 16384, "l2.instances" = 1,
    "registers.per_thread" = {REGISTERS[chip]}, "shared.per_block.bytes" = 32768, "warps.per_core" = 8>}} {{
func.func @main(%a: {a}, %b: {b}) -> {c} {{
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : {c}
  %f = linalg.fill ins(%z : f32) outs(%e : {c}) -> {c}
  %r = linalg.{name} ins(%a, %b : {a}, {b}) outs(%f : {c}) -> {c}
  return %r : {c}
}}
}}
"""


def run(command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)}\n{done.stdout}{done.stderr}")
    return done.stdout


def order(batch, down, across, group):
    """The tile of each program, by its number: Triton's formula, for each matrix of the batch."""
    for matrix in range(batch):
        for number in range(down * across):
            first = number // (group * across) * group
            rows = min(group, down - first)
            inside = number % (group * across)
            yield matrix, first + inside % rows, inside // rows


def walk(tiles, together, size, shape, sector):
    """Sectors that waves of so many programs touch."""
    (tile_m, tile_n), (m, n, k) = size, shape
    touched = 0
    for at in range(0, len(tiles), together):
        wave = tiles[at:at + together]
        rows = {(matrix, row) for matrix, row, _ in wave}
        columns = {(matrix, column) for matrix, _, column in wave}
        touched += sum(min(tile_m, m - row * tile_m) for _, row in rows) * k * 2 // sector
        touched += sum(min(tile_n, n - column * tile_n) for _, column in columns) * k * 2 // sector
        touched += sum(min(tile_m, m - row * tile_m) * min(tile_n, n - column * tile_n) for _, row, column in wave) * 4 // sector
    return touched


def main(tile_opt, tile_run, *chips):
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        path, stats = f"{folder}/a.mlir", f"{folder}/s.json"
        for chip in chips:
            for batch, m, n, k in SHAPES:
                with open(path, "w") as file:
                    file.write(program(chip, batch, m, n, k))
                constructed = run([tile_opt, path, "--pass-pipeline=builtin.module(func.func(linalg-generalize-named-ops,canonicalize,"
                                   "tile-construct-tiles))"])
                block, warps, group = re.search(r"block = (\[.*?\]), warps = (\[.*?\]), stages = \d+, group = \[(\d+)\]",
                                                constructed).groups()
                size, warps, seen = json.loads(block)[-3:-1], json.loads(warps), {}
                together = CORES * (8 // (warps[0] * warps[1]))
                for rows, text in ((int(group), constructed), (1, re.sub(r" group = \[\d+\],", "", constructed))):
                    with open(path, "w") as file:
                        file.write(text)
                    run([tile_run, path, f"--target=emulate:{chip}", "--predict", f"--stats={stats}"])
                    with open(stats) as file:
                        kernel = max(json.load(file)["kernels"].values(), key=lambda each: each["mma_instructions"])
                    tiles = list(order(batch, -(-m // size[0]), -(-n // size[1]), rows))
                    wanted = walk(tiles, together, size, (m, n, k), SECTOR[chip])
                    seen[rows] = kernel["wave_transactions"]
                    right = kernel["programs"] == len(tiles) and kernel["wave_transactions"] == wanted
                    wrong += not right
                    print(f"{batch}x{m}x{n}x{k} on {chip}: {size} in groups of {rows}: {seen[rows]} sectors counted, {wanted} by a walk"
                          + ("" if right else " WRONG"))
                wrong += not (int(group) > 1 and seen[int(group)] < seen[1])
    print(f"{len(SHAPES) * len(chips)} products, {wrong} wrong")
    return wrong > 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
