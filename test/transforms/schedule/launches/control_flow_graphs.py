"""Drawn programs of loops and branches on data, nested, of zero rounds too: one launch gives the bits of separate launches.
Use: control_flow_graphs.py TILE_RUN FIRST COUNT CHIP

Two tensors and two numbers go through elementwise ops and sums. Prints a program that differs.
"""
import random
import subprocess
import sys
import tempfile
from pathlib import Path

T = "tensor<3x5xf32>"
TYPES = f"{T}, {T}, i32, i32"


class Drawn:
    def __init__(self, seed):
        self.random, self.count, self.lines = random.Random(seed), 0, []

    def name(self):
        self.count += 1
        return f"%v{self.count}"

    def line(self, text):
        self.lines.append(text)

    def combine(self, a, b, op):
        empty, name = self.name(), self.name()
        self.line(f'{empty} = tensor.empty() : {T}\n{name} = linalg.generic {{indexing_maps = [#m, #m, #m], iterator_types = ["parallel", '
                  f'"parallel"]}} ins({a}, {b} : {T}, {T}) outs({empty} : {T}) {{\n^bb0(%p: f32, %q: f32, %o: f32):\n%x = arith.{op} %p, %q '
                  f': f32\n%y = math.tanh %x : f32\nlinalg.yield %y : f32 }} -> {T}')
        return name

    def sum(self, a):
        empty, first, name, value = (self.name() for _ in range(4))
        self.line(f'{empty} = tensor.empty() : tensor<f32>\n{first} = linalg.fill ins(%zero : f32) outs({empty} : tensor<f32>) -> tensor<f32>\n'
                  f'{name} = linalg.generic {{indexing_maps = [#m, #s], iterator_types = ["reduction", "reduction"]}} ins({a} : {T}) '
                  f'outs({first} : tensor<f32>) {{\n^bb0(%p: f32, %q: f32):\n%x = arith.addf %p, %q : f32\nlinalg.yield %x : f32 }} -> '
                  f'tensor<f32>\n{value} = tensor.extract {name}[] : tensor<f32>')
        return value

    def condition(self, state):
        name, kind = self.name(), self.random.randrange(3)
        if kind == 0:
            self.line(f"{name} = arith.cmpf ogt, {self.sum(state[self.random.randrange(2)])}, %zero : f32")
        elif kind == 1:
            self.line(f"{name} = arith.cmpi slt, {state[2]}, {state[3]} : i32")
        else:
            bit = self.name()
            self.line(f"{bit} = arith.andi {state[2 + self.random.randrange(2)]}, %i1 : i32\n{name} = arith.cmpi eq, {bit}, %i1 : i32")
        return name

    def branch(self, state, depth):
        condition, name = self.condition(state), self.name()
        self.line(f"{name}:4 = scf.if {condition} -> ({TYPES}) {{")
        self.line(f"scf.yield {', '.join(self.body(state, depth + 1))} : {TYPES}\n}} else {{")
        otherwise = self.body(state, depth + 1) if self.random.random() < 0.6 else state
        self.line(f"scf.yield {', '.join(otherwise)} : {TYPES}\n}}")
        return [f"{name}#{i}" for i in range(4)]

    def loop(self, state, depth):
        name, types = self.name(), f"{TYPES}, i32"
        asked, carried = [self.name() for _ in range(5)], [self.name() for _ in range(5)]
        initial = ", ".join(f"{a} = {v}" for a, v in zip(asked, [*state, "%i0"]))
        self.line(f"{name}:5 = scf.while ({initial}) : ({types}) -> ({types}) {{")
        go = self.name()
        self.line(f"{go} = arith.cmpi slt, {asked[4]}, {self.random.choice(['%i0', '%i1', '%i3', '%i3', '%i5'])} : i32")
        if self.random.random() < 0.6:
            more, both = self.condition(asked), self.name()
            self.line(f"{both} = arith.andi {go}, {more} : i1")
            go = both
        arguments = ", ".join(f"{c}: {t}" for c, t in zip(carried, types.split(", ")))
        self.line(f"scf.condition({go}) {', '.join(asked)} : {types}\n}} do {{\n^bb0({arguments}):")
        result, number = self.body(carried[:4], depth + 1), self.name()
        self.line(f"{number} = arith.addi {carried[4]}, %i1 : i32\nscf.yield {', '.join([*result, number])} : {types}\n}}")
        return [f"{name}#{i}" for i in range(4)]

    def body(self, state, depth):
        state = list(state)
        for _ in range(self.random.randrange(1, 4)):
            kind = self.random.randrange(8)
            if kind < 2:
                state[self.random.randrange(2)] = self.combine(state[0], state[1], self.random.choice(["addf", "subf", "mulf"]))
            elif kind == 2:
                name, other = self.name(), self.random.choice([state[3], "%i1", "%i3"])
                self.line(f"{name} = arith.{self.random.choice(['addi', 'subi', 'xori'])} {state[2]}, {other} : i32")
                state[2 + self.random.randrange(2)] = name
            elif kind == 3:
                state[0], state[1] = state[1], state[0]
            elif kind == 4:
                state[2], state[3] = state[3], state[2]
            elif depth < 2:
                state = self.branch(state, depth) if kind == 5 else self.loop(state, depth)
        return state

    def text(self):
        state = self.body(self.loop(self.body(["%a", "%b", "%i", "%j"], 0), 0), 0)
        numbers = "\n".join(f"%i{k} = arith.constant {k} : i32" for k in (0, 1, 3, 5))
        return (f"#m = affine_map<(d0, d1) -> (d0, d1)>\n#s = affine_map<(d0, d1) -> ()>\nfunc.func @main(%a: {T}, %b: {T}, %i: i32, %j: i32) -> "
                f"({TYPES}) {{\n%zero = arith.constant 0.0 : f32\n{numbers}\n" + "\n".join(self.lines) +
                f"\nreturn {', '.join(state)} : {TYPES}\n}}\n")


def run(tool, program, folder, *flags):
    names = [folder / f"{i}.npy" for i in range(4)]
    done = subprocess.run([tool, program, "--seed=1", *flags, *(f"--out={name}" for name in names)], capture_output=True, text=True)
    return [name.read_bytes() for name in names] if done.returncode == 0 else done.stderr


def main():
    tool, first, count, chip = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        for seed in range(first, first + count):
            program = folder / "drawn.mlir"
            program.write_text(Drawn(seed).text())
            apart = run(tool, program, folder, f"--target=emulate:{chip}")
            together = run(tool, program, folder, f"--target=emulate:{chip}", "--persistent=always")
            if isinstance(apart, str) or apart != together:
                print(f"seed {seed}: {together if isinstance(together, str) else 'DIFFERENT'}\n{program.read_text()}")
                return 1
    print(f"{count} programs on {chip}: equal bits")
    return 0


if __name__ == "__main__":
    sys.exit(main())
