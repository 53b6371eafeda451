"""Programs as the fuzzer holds them: values, ops, blocks and functions, printed as MLIR text and cut down op by op.

An op's text holds {0}, {1}, … for its operands, {b0_1} for argument 1 of its region 0's block, and §0, §1 for its
regions. Types stand in the text: no edit changes a type. Printing numbers the values, so equal programs print equally.
"""
import re
from dataclasses import dataclass, field

DYNAMIC = "?"
FLOATS = ("f64", "f32", "f16", "bf16", "f8E4M3FN", "f8E5M2")


def is_float(element):
    return "f" in element


def width(element):
    """Bits of an element; 64 of an index."""
    return 64 if element == "index" else int(re.search(r"\d+", element)[0])


def shaped(kind, shape, element):
    return f"{kind}<{''.join(f'{n}x' for n in shape)}{element}>"


def tile(shape, element):
    """A tile's type; a scalar where there is no axis."""
    return shaped("tensor", shape, element) if shape else element


@dataclass(eq=False)
class Value:
    """`exact`: every right program computes the same bits, so it may decide what happens (a branch, a sort)."""
    shape: tuple
    element: str
    type: str
    exact: bool = True
    finite: bool = True  # no nan, so that its bits may be looked at

    def __repr__(self):
        return f"<{self.type}>"


def tile_value(shape, element, exact=True, finite=True):
    return Value(tuple(shape), element, tile(shape, element), exact, finite)


@dataclass(eq=False)
class Op:
    text: str
    operands: list = field(default_factory=list)
    results: list = field(default_factory=list)
    regions: list = field(default_factory=list)


@dataclass(eq=False)
class Block:
    args: list = field(default_factory=list)
    ops: list = field(default_factory=list)
    header: bool = False  # print ^bb0(…)


@dataclass(eq=False)
class Function:
    """`head` is what stands before the name: `tile.kernel`, `func.func`. A kernel gives nothing, and has `attributes`."""
    head: str
    name: str
    block: Block
    results: list = field(default_factory=list)
    attributes: str = ""


@dataclass(eq=False)
class Program:
    """Functions and the host's `main`; `inputs` say, for each argument of `main`, how its array is made."""
    kernels: list
    main: Function
    inputs: list
    aliases: list = field(default_factory=list)


# --- Printing -----------------------------------------------------------------------------------------------------------


class Printer:
    def __init__(self):
        self.names = {}

    def name(self, value):
        return self.names.setdefault(value, f"%v{len(self.names)}")

    def block(self, block, indent):
        head = ", ".join(f"{self.name(a)}: {a.type}" for a in block.args)
        lines = [f"{indent}^bb0({head}):\n"] if block.header else []
        return "".join(lines + [self.op(op, indent + "  ") for op in block.ops])

    def op(self, op, indent):
        def operand(match):
            word = match[1]
            if word[0] == "b":
                region, argument = map(int, word[1:].split("_"))
                return self.name(op.regions[region].args[argument])
            return self.name(op.operands[int(word)])

        def region(match):
            return "{\n" + self.block(op.regions[int(match[1])], indent) + indent + "}"
        text = re.sub(r"\{(b?\d[\d_]*)\}", operand, op.text)
        text = re.sub(r"§(\d)", region, text)
        results = ", ".join(map(self.name, op.results))
        return f"{indent}{results}{' = ' if results else ''}{text}\n"

    def function(self, function):
        arguments = ", ".join(f"{self.name(a)}: {a.type}" for a in function.block.args)
        body = self.block(function.block, "")
        values, types = ", ".join(map(self.name, function.results)), ", ".join(r.type for r in function.results)
        if function.head == "func.func":
            body += f"  return {values}{' : ' if values else ''}{types}\n"
        gives = f" -> ({types})" if types else ""
        has = f" attributes {{{function.attributes}}}" if function.attributes else ""
        return f"{function.head} @{function.name}({arguments}){gives}{has} {{\n{body}}}\n"


def to_text(program):
    lines = [a + "\n" for a in program.aliases]
    lines += [Printer().function(f) for f in [*program.kernels, program.main]]
    return "".join(f"// in: {i}\n" for i in program.inputs) + "".join(lines)


def merge(programs):
    """Programs side by side as one, whose main does what each main does. Their kernels' names must differ."""
    block, results, kernels, inputs, aliases = Block(), [], [], [], []
    for program in programs:
        block.args += program.main.block.args
        block.ops += program.main.block.ops
        results += program.main.results
        kernels += program.kernels
        inputs += program.inputs
        aliases += [a for a in program.aliases if a not in aliases]
    return Program(kernels, Function("func.func", "main", block, results), inputs, aliases)


# --- Cutting down -------------------------------------------------------------------------------------------------------


def blocks_of(program):
    """Every block with the values visible when it begins."""
    def walk(block, seen):
        yield block, seen
        seen = seen + block.args
        for op in block.ops:
            for region in op.regions:
                yield from walk(region, seen)
            seen = seen + op.results
    for function in [*program.kernels, program.main]:
        yield from walk(function.block, [])


def uses(program):
    counts = {}
    for block, _ in blocks_of(program):
        for op in block.ops:
            for operand in op.operands:
                counts[operand] = counts.get(operand, 0) + 1
    for result in program.main.results:
        counts[result] = counts.get(result, 0) + 1
    return counts


def replace(program, old, new):
    for block, _ in blocks_of(program):
        for op in block.ops:
            op.operands = [new if o is old else o for o in op.operands]
    program.main.results = [new if r is old else r for r in program.main.results]


def zero(value):
    """An op that makes a plain value of the same type, for tiles and scalars."""
    number = "0.0" if is_float(value.element) else "false" if value.element == "i1" else "0"
    if value.type.startswith("!") or value.type.startswith("memref") or DYNAMIC in value.type:
        return None
    made = Value(value.shape, value.element, value.type)
    written = f"dense<{number}>" if value.type.startswith("tensor") else number
    return Op(f"arith.constant {written} : {value.type}" if written != "false" else "arith.constant false", [], [made])


def sweep(program):
    """Drops pure ops that nobody uses: constants, loads, whatever has results."""
    while True:
        counts, dropped = uses(program), False
        for block, _ in list(blocks_of(program)):
            keep = [op for op in block.ops if not op.results or any(counts.get(r) for r in op.results)]
            dropped |= len(keep) < len(block.ops)
            block.ops[:] = keep
        if not dropped:
            return
