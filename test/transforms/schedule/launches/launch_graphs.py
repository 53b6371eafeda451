"""Draws host programs of launches and checks that passes keep what they compute. Use:
launch_graphs.py TILE_OPT TILE_RUN FOLDER PASSES SEED COUNT TARGET…

A program has some functions. In each, launches of kernels with unequal grids read and write whole buffers, halves of
them by rows and by columns, and arguments, in place too; some stand in loops of 0 to 6 rounds. Temporaries live
shortly. Elements are i32, so that every target gives the same bits. The interpreter runs the program as drawn; each
target runs it after PASSES and must give equal results. PASSES may be flags of tile-run instead. Prints what was checked,
and whether the passes left fewer launches.
"""
import random
import re
import subprocess
import sys
from pathlib import Path

import numpy as np

ROWS, COLUMNS, GRAPHS, BUFFERS, ARGUMENTS = 24, 20, 2, 4, 2
WHOLE = f"memref<{ROWS}x{COLUMNS}xi32>"
# name, first row, first column, rows, columns
PARTS = [("whole", 0, 0, ROWS, COLUMNS), ("top", 0, 0, 12, COLUMNS), ("bottom", 12, 0, 12, COLUMNS),
         ("left", 0, 0, ROWS, 10), ("right", 0, 10, ROWS, 10)]


def partType(part):
    _, row, column, rows, columns = part
    if part[0] == "whole":
        return WHOLE
    return f"memref<{rows}x{columns}xi32, strided<[{COLUMNS}, 1], offset: {row * COLUMNS + column}>>"


class Program:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.loops = random.Random(seed + 1000)
        self.kernels, self.lines, self.count = {}, [], 0

    def name(self):
        self.count += 1
        return f"%v{self.count}"

    def kernel(self, types, tile, usesOld, factors):
        """out = Σ factor · input + program number (+ old out), on tiles of tile × tile."""
        key = (tuple(types), tile, usesOld, tuple(factors))
        if key in self.kernels:
            return self.kernels[key][0]
        name, body = f"@k{len(self.kernels)}", []
        view = f"!tile.view<{tile}x{tile}xi32>"
        shape = f"tensor<{tile}x{tile}xi32>"
        body.append("    %p = tile.program_id 0\n    %q = tile.program_id 1\n    %n = tile.num_programs 0")
        body.append(f"    %m = arith.muli %q, %n : index\n    %l = arith.addi %m, %p : index\n"
                    f"    %w = arith.index_cast %l : index to i32\n    %s0 = tile.broadcast %w : i32 -> {shape}")
        at = 0
        for i, kind in enumerate(types):
            body.append(f"    %x{i} = tile.view %a{i} : {kind} to {view}")
            if i == len(types) - 1 and not usesOld:
                continue
            factor = factors[i]
            body.append(f"    %t{i} = tile.load %x{i}[%q, %p] : {view} -> {shape}\n"
                        f"    %c{i} = arith.constant dense<{factor}> : {shape}\n"
                        f"    %u{i} = arith.muli %t{i}, %c{i} : {shape}\n"
                        f"    %s{at + 1} = arith.addi %s{at}, %u{i} : {shape}")
            at += 1
        body.append(f"    tile.store %s{at}, %x{len(types) - 1}[%q, %p] : {shape}, {view}\n    tile.return")
        arguments = ", ".join(f"%a{i}: {kind}" for i, kind in enumerate(types))
        text = f"  tile.kernel private {name}({arguments}) attributes {{warps = 2 : i32}} {{\n" + "\n".join(body) + "\n  }"
        self.kernels[key] = (name, text)
        return name

    def part(self, buffer, part, indent):
        if part[0] == "whole":
            return buffer
        name = self.name()
        _, row, column, rows, columns = part
        self.lines.append(f"{indent}{name} = memref.subview {buffer}[{row}, {column}] [{rows}, {columns}] [1, 1] : {WHOLE} to "
                          f"{partType(part)}")
        return name

    def launch(self, operands, tile, usesOld, factors, indent):
        types = [partType(part) for _, part in operands]
        kernel = self.kernel(types, tile, usesOld, factors)
        values = [self.part(buffer, part, indent) for buffer, part in operands]
        rows, columns = operands[-1][1][3:]
        grid = self.name(), self.name()
        for name, size in zip(grid, (columns, rows)):
            self.lines.append(f"{indent}{name} = arith.constant {-(-size // tile)} : index")
        inputs = f" ins({', '.join(values[:-1])} : {', '.join(types[:-1])})" if values[:-1] else ""
        self.lines.append(f"{indent}tile.launch {kernel} grid({grid[0]}, {grid[1]}){inputs} outs({values[-1]} : {types[-1]})")

    def temporary(self, buffers, indent):
        """A buffer with a short life. Returns what frees it."""
        draw, memory = self.random, self.name()
        self.lines.append(f"{indent}{memory} = memref.alloc() : {WHOLE}")
        source, other, target = (draw.choice(buffers) for _ in range(3))
        self.launch([(source, PARTS[0]), (memory, PARTS[0])], draw.choice([4, 8]), False, [3], indent)
        inputs = [(memory, PARTS[0])] + ([(other, PARTS[0])] if other != target else [])
        self.launch(inputs + [(target, PARTS[0])], 8, draw.random() < 0.5, [1, 5, 3], indent)
        return f"{indent}memref.dealloc {memory} : {WHOLE}"

    def draw(self, buffers, indent):
        draw = self.random
        shape = draw.choice([PARTS[:1], PARTS[1:3], PARTS[3:]])
        out = draw.choice(buffers), draw.choice(shape)
        # An input of this launch does not overlap its output: programs would race.
        inputs = [(b, draw.choice(shape)) for b in draw.sample([b for b in buffers if b != out[0]], draw.randint(0, 2))]
        usesOld = not inputs or draw.random() < 0.4
        self.launch(inputs + [out], draw.choice([4, 8, 16]), usesOld, [draw.choice([1, 3, 5]) for _ in range(3)], indent)

    def graph(self, number, arguments):
        draw = self.random
        names = [f"%x{i}" for i in range(arguments)]
        self.lines.append(f"  func.func private @g{number}(" + ", ".join(f"{n}: {WHOLE}" for n in names) + ") {")
        buffers = names[:ARGUMENTS]
        for _ in range(BUFFERS):
            buffers.append(self.name())
            self.lines.append(f"    {buffers[-1]} = memref.alloc() : {WHOLE}")
            self.launch([(draw.choice(names[:ARGUMENTS]), PARTS[0]), (buffers[-1], PARTS[0])], draw.choice([4, 8]), False,
                        [draw.choice([1, 3])], "    ")
        ends = []
        for _ in range(draw.randint(4, 14)):
            if draw.random() < 0.15:
                bounds, rounds = [self.name() for _ in range(3)], draw.randint(0, 2) * self.loops.choice([1, 1, 3])
                first, step = self.loops.choice([0, 0, 3, -2]), self.loops.choice([1, 1, 2, 5])
                ragged = self.loops.randint(0, step - 1) if rounds else 0
                for name, value in zip(bounds, (first, first + rounds * step - ragged, step)):
                    self.lines.append(f"    {name} = arith.constant {value} : index")
                self.lines.append(f"    scf.for %i = {bounds[0]} to {bounds[1]} step {bounds[2]} {{")
                frees = [self.temporary(buffers, "      ") for _ in range(draw.randint(0, 2))]
                for _ in range(draw.randint(1, 3)):
                    self.draw(buffers, "      ")
                self.lines += frees + ["    }"]
            elif draw.random() < 0.3:
                ends.append(self.temporary(buffers, "    "))
            else:
                self.draw(buffers, "    ")
        for i in range(BUFFERS):
            result = names[ARGUMENTS + i]
            self.launch([(buffers[ARGUMENTS + i], PARTS[0]), (result, PARTS[0])], 8, False, [1], "    ")
        for buffer in buffers[ARGUMENTS:]:
            self.lines.append(f"    memref.dealloc {buffer} : {WHOLE}")
        self.lines += ends + ["    return\n  }"]

    def text(self):
        total = ARGUMENTS + BUFFERS
        for number in range(GRAPHS):
            self.graph(number, total)
        names = [f"%y{i}" for i in range(total)]
        self.lines.append("  func.func @main(" + ", ".join(f"{n}: {WHOLE}" for n in names) + ") {")
        for number in range(GRAPHS):
            self.lines.append(f"    call @g{number}({', '.join(names)}) : ({', '.join([WHOLE] * total)}) -> ()")
        self.lines.append("    return\n  }")
        return "module {\n" + "\n".join([text for _, text in self.kernels.values()] + self.lines) + "\n}\n"


def results(run, file, target, folder, flags=()):
    outs = [folder / f"{target.replace(':', '_')}_{i}.npy" for i in range(ARGUMENTS + BUFFERS)]
    done = subprocess.run([run, file, f"--target={target}", "--seed=3", *flags, *[f"--out={o}" for o in outs]],
                          capture_output=True, text=True)
    return [np.load(o) for o in outs] if done.returncode == 0 else done.stderr


def main():
    opt, run, folder, passes, seed, count, *targets = sys.argv[1:]
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    problems = before = after = 0
    for number in range(int(seed), int(seed) + int(count)):
        plain, changed = folder / "plain.mlir", folder / "changed.mlir"
        plain.write_text(Program(number).text())
        flags = passes.split() if passes.startswith("--") else []
        pipeline = "" if flags else passes
        subprocess.run([opt, plain, f"--pass-pipeline=builtin.module({pipeline})", "-o", changed], check=True)
        before += len(re.findall("tile.launch", plain.read_text()))
        after += len(re.findall("tile.launch", changed.read_text()))
        expected = results(run, plain, "interpret", folder)
        for target in targets:
            seen = results(run, changed, target, folder, flags)
            if isinstance(expected, str) or isinstance(seen, str) or any((a != b).any() for a, b in zip(expected, seen)):
                problems += 1
                print(f"seed {number}, {target}: differs", expected if isinstance(expected, str) else "",
                      seen if isinstance(seen, str) else "")
    print(f"{count} programs, {problems} differ; fewer launches: {after < before}")
    sys.exit(problems > 0)


if __name__ == "__main__":
    main()
