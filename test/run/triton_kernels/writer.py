"""Writes kernels in TTIR, as Triton's compiler prints them, without Triton: values with Python's operators.

    k = Kernel("scale", {"x": "*f32", "y": "*f32", "n": "i32"})
    at = k.block(64)                        places of this program's block
    inside = at < k["n"].over(64)
    k.store("y", at, k.load("x", at, inside) * 2.0, inside)
    k.text()
"""


class Value:
    """A scalar or a tile of TTIR."""

    def __init__(self, kernel, name, element, shape=()):
        self.kernel, self.name, self.element, self.shape = kernel, name, element, tuple(shape)

    @property
    def type(self):
        return tile(self.element, self.shape)

    @property
    def is_float(self):
        return self.element[0] in "bf"

    def _like(self, other):
        return other if isinstance(other, Value) else self.kernel.constant(other, self.element, self.shape)

    def _two(self, floats, integers, other, swap=False):
        other = self._like(other)
        a, b = (other, self) if swap else (self, other)
        return self.kernel.op(f"arith.{floats if self.is_float else integers} {a.name}, {b.name} : {self.type}", self.element, self.shape)

    def __add__(self, other):
        return self._two("addf", "addi", other)

    def __radd__(self, other):
        return self._two("addf", "addi", other, True)

    def __sub__(self, other):
        return self._two("subf", "subi", other)

    def __rsub__(self, other):
        return self._two("subf", "subi", other, True)

    def __mul__(self, other):
        return self._two("mulf", "muli", other)

    def __rmul__(self, other):
        return self._two("mulf", "muli", other, True)

    def __truediv__(self, other):
        return self._two("divf", "divsi", other)

    def __rtruediv__(self, other):
        return self._two("divf", "divsi", other, True)

    def __mod__(self, other):
        return self._two("remf", "remsi", other)

    def __and__(self, other):
        return self._two("", "andi", other)

    def __or__(self, other):
        return self._two("", "ori", other)

    def __xor__(self, other):
        return self._two("", "xori", other)

    def __rshift__(self, other):
        return self._two("", "shrsi", other)

    def __lshift__(self, other):
        return self._two("", "shli", other)

    def compare(self, predicate, other):
        other = self._like(other)
        what = f"arith.cmpf {predicate if predicate in ('une', 'uno') else 'o' + predicate}" if self.is_float else (
            f"arith.cmpi {predicate if predicate in ('eq', 'ne') else 's' + predicate}")
        return self.kernel.op(f"{what}, {self.name}, {other.name} : {self.type}", "i1", self.shape)

    def __lt__(self, other):
        return self.compare("lt", other)

    def __le__(self, other):
        return self.compare("le", other)

    def __gt__(self, other):
        return self.compare("gt", other)

    def __ge__(self, other):
        return self.compare("ge", other)

    def equals(self, other):
        return self.compare("eq", other)

    def maximum(self, other):
        return self._two("maxnumf", "maxsi", other)

    def minimum(self, other):
        return self._two("minnumf", "minsi", other)

    def where(self, yes, no):
        yes = yes if isinstance(yes, Value) else no._like(yes)
        no = yes._like(no)
        return self.kernel.op(f"arith.select {self.name}, {yes.name}, {no.name} : {self.type}, {yes.type}", yes.element, yes.shape)

    def math(self, name):
        return self.kernel.op(f"math.{name} {self.name} : {self.type}", self.element, self.shape)

    def call(self, symbol, *others):
        """A function of libdevice."""
        operands = [self, *others]
        names, types = ", ".join(value.name for value in operands), ", ".join(value.type for value in operands)
        return self.kernel.op(f'tt.extern_elementwise {names} {{libname = "", libpath = "", pure = true, symbol = "{symbol}"}} : '
                              f"({types}) -> {self.type}", self.element, self.shape)

    def unary(self, name):
        return self.kernel.op(f"{name} {self.name} : {self.type}", self.element, self.shape)

    def binary(self, name, other):
        return self.kernel.op(f"{name} {self.name}, {other.name} : {self.type}", self.element, self.shape)

    def convert(self, name, element, more=""):
        return self.kernel.op(f"{name} {self.name}{more} : {self.type} -> {tile(element, self.shape)}", element, self.shape)

    def to(self, element):
        bits = {"bf16": 16, "f8E4M3FN": 8, "f8E5M2": 8}
        width = lambda name: bits.get(name) or int(name[1:])
        if element == self.element:
            return self
        float_ = element[0] in "bf"
        if self.is_float and float_:
            name = "extf" if width(element) > width(self.element) else "truncf"
        elif self.is_float:
            name = "fptosi"
        elif float_:
            name = "uitofp" if self.element == "i1" else "sitofp"
        else:
            name = "trunci" if width(element) < width(self.element) else "extui" if self.element == "i1" else "extsi"
        return self.kernel.op(f"arith.{name} {self.name} : {self.type} to {tile(element, self.shape)}", element, self.shape)

    def extend(self, element):
        """Unsigned, to more bits."""
        return self.kernel.op(f"arith.extui {self.name} : {self.type} to {tile(element, self.shape)}", element, self.shape)

    def over(self, *shape):
        """A scalar as a tile, or a tile whose dimensions of size 1 repeat."""
        what = "tt.broadcast" if self.shape else "tt.splat"
        return self.kernel.op(f"{what} {self.name} : {self.type} -> {tile(self.element, shape)}", self.element, shape)

    def expand(self, axis):
        shape = (*self.shape[:axis], 1, *self.shape[axis:])
        return self.kernel.op(f"tt.expand_dims {self.name} {{axis = {axis} : i32}} : {self.type} -> {tile(self.element, shape)}",
                              self.element, shape)

    def reshape(self, *shape):
        return self.kernel.op(f"tt.reshape {self.name} : {self.type} -> {tile(self.element, shape)}", self.element, shape)

    def transpose(self):
        shape = self.shape[::-1]
        return self.kernel.op(f"tt.trans {self.name} {{order = array<i32: 1, 0>}} : {self.type} -> {tile(self.element, shape)}",
                              self.element, shape)

    def _region(self, others, body, end, kind, attributes, results):
        inputs = [self, *others]
        elements = [value.element for value in inputs]
        count = len(inputs)
        arguments = [self.kernel.fresh() for _ in range(2 * count)]
        values = [Value(self.kernel, name, elements[i % count]) for i, name in enumerate(arguments)]
        lines, self.kernel.lines = self.kernel.lines, []
        given = body(*values)
        given = given if isinstance(given, tuple) else (given, )
        inner, self.kernel.lines = self.kernel.lines, lines
        names = [self.kernel.fresh() for _ in results]
        header = ", ".join(f"{name}: {elements[i % count]}" for i, name in enumerate(arguments))
        types = ", ".join(value.type for value in inputs)
        out = ", ".join(tile(value.element, shape) for value, shape in zip(inputs, results))
        out = f"({out})" if count > 1 else out
        self.kernel.lines += [f'{", ".join(names)} = "tt.{kind}"({", ".join(value.name for value in inputs)}) <{{{attributes}}}> ({{',
                              f"^bb0({header}):", *inner,
                              f"tt.{end}.return {', '.join(v.name for v in given)} : {', '.join(v.element for v in given)}",
                              f"}}) : ({types}) -> {out}"]
        made = [Value(self.kernel, name, value.element, shape) for name, value, shape in zip(names, inputs, results)]
        return made[0] if count == 1 else tuple(made)

    def reduce(self, axis, body, *others):
        shape = (*self.shape[:axis], *self.shape[axis + 1:])
        return self._region(others, body, "reduce", "reduce", f"axis = {axis} : i32", [shape] * (1 + len(others)))

    def scan(self, axis, body, *others, reverse=False):
        return self._region(others, body, "scan", "scan", f"axis = {axis} : i32, reverse = {str(reverse).lower()}",
                            [self.shape] * (1 + len(others)))

    def sum(self, axis=0):
        return self.reduce(axis, lambda a, b: a + b)

    def max(self, axis=0):
        return self.reduce(axis, lambda a, b: a.maximum(b))


def tile(element, shape):
    return f"tensor<{'x'.join(map(str, shape))}x{element}>" if shape else element


class Kernel:

    def __init__(self, name, parameters):
        self.name, self.parameters, self.lines, self.count = name, parameters, [], 0

    def fresh(self):
        self.count += 1
        return f"%v{self.count}"

    def op(self, text, element, shape=()):
        name = self.fresh()
        self.lines.append(f"{name} = {text}")
        return Value(self, name, element, shape)

    def __getitem__(self, name):
        return Value(self, f"%{name}", self.parameters[name])

    def constant(self, value, element="i32", shape=()):
        if element[0] in "bf":
            number = f"{float(value):.9e}" if abs(value) != float("inf") else ("0x7F800000" if value > 0 else "0xFF800000")
        elif element == "i1":
            number = "true" if value else "false"
        else:
            number = str(int(value))
        if element == "i1" and not shape:
            return self.op(f"arith.constant {number}", element)
        return self.op(f"arith.constant {f'dense<{number}>' if shape else number} : {tile(element, shape)}", element, shape)

    def id(self, axis=0):
        return self.op(f"tt.get_program_id {'xyz'[axis]} : i32", "i32")

    def range(self, size):
        return self.op(f"tt.make_range {{end = {size} : i32, start = 0 : i32}} : tensor<{size}xi32>", "i32", (size, ))

    def block(self, size, axis=0):
        return (self.id(axis) * size).over(size) + self.range(size)

    def grid(self, rows, columns, stride):
        """Places of a tile: rows * stride + columns. `stride`: a scalar or a number."""
        stride = stride if isinstance(stride, Value) else self.constant(stride)
        shape = (*rows.shape, *columns.shape)
        return (rows * stride.over(*rows.shape)).expand(1).over(*shape) + columns.expand(0).over(*shape)

    def both(self, rows, columns):
        shape = (*rows.shape, *columns.shape)
        return rows.expand(1).over(*shape) & columns.expand(0).over(*shape)

    def pointers(self, name, at):
        element = self.parameters[name][1:]
        pointer = f"!tt.ptr<{element}>"
        if not at.shape:
            made = self.op(f"tt.addptr %{name}, {at.name} : {pointer}, {at.type}", pointer)
            return made.name, element, pointer
        many = f"tensor<{'x'.join(map(str, at.shape))}x{pointer}>"
        base = self.op(f"tt.splat %{name} : {pointer} -> {many}", pointer)
        made = self.op(f"tt.addptr {base.name}, {at.name} : {many}, {at.type}", pointer)
        return made.name, element, many

    def load(self, name, at, mask=None, other=None):
        pointers, element, type_ = self.pointers(name, at)
        value = None if other is None else self.constant(other, element, at.shape)
        operands = ", ".join([pointers, *([mask.name] if mask else []), *([value.name] if value else [])])
        return self.op(f"tt.load {operands} : {type_}", element, at.shape)

    def store(self, name, at, value, mask=None):
        pointers, _, type_ = self.pointers(name, at)
        self.lines.append(f"tt.store {', '.join([pointers, value.name, *([mask.name] if mask else [])])} : {type_}")

    def atomic(self, kind, name, at, value, mask):
        pointers, element, type_ = self.pointers(name, at)
        return self.op(f"tt.atomic_rmw {kind}, relaxed, gpu, {pointers}, {value.name}, {mask.name} : ({type_}, {value.type}, {mask.type}) -> "
                       f"{value.type}", element, value.shape)

    def dot(self, a, b, c, precision="ieee"):
        word = f", inputPrecision = {precision}" if a.element == "f32" else ""
        return self.op(f"tt.dot {a.name}, {b.name}, {c.name}{word} : {a.type} * {b.type} -> {c.type}", c.element, c.shape)

    def loop(self, upper, step, carried, body, lower=0):
        """scf.for over i32; body(counter, *values) gives the next values."""
        bounds = [value if isinstance(value, Value) else self.constant(value) for value in (lower, upper, step)]
        counter, arguments = self.fresh(), [self.fresh() for _ in carried]
        outer, self.lines = self.lines, []
        given = body(Value(self, counter, "i32"), *(Value(self, name, value.element, value.shape) for name, value in zip(arguments, carried)))
        given = given if isinstance(given, tuple) else (given, )
        inner, self.lines = self.lines, outer
        types = ", ".join(value.type for value in carried)
        result = self.fresh()
        pairs = ", ".join(f"{name} = {value.name}" for name, value in zip(arguments, carried))
        self.lines += [f"{result}:{len(carried)} = scf.for {counter} = {bounds[0].name} to {bounds[1].name} step {bounds[2].name} "
                       f"iter_args({pairs}) -> ({types}) : i32 {{", *inner,
                       f"scf.yield {', '.join(value.name for value in given)} : {types}", "}"]
        made = [Value(self, f"{result}#{i}", value.element, value.shape) for i, value in enumerate(carried)]
        return made[0] if len(made) == 1 else tuple(made)

    def return_unless(self, condition):
        """An early return, as Triton writes it: a branch to a block that returns."""
        number = self.fresh()[1:]
        self.lines += [f"cf.cond_br {condition.name}, ^on{number}, ^out{number}", f"^out{number}:", "tt.return", f"^on{number}:"]

    def text(self):
        parameters = ", ".join(f"%{name}: " + (f"!tt.ptr<{kind[1:]}> {{tt.divisibility = 16 : i32}}" if kind[0] == "*" else kind)
                               for name, kind in self.parameters.items())
        body = "\n".join(f"    {line}" for line in self.lines)
        return f"module {{\n  tt.func public @{self.name}({parameters}) attributes {{noinline = false}} {{\n{body}\n    tt.return\n  }}\n}}\n"
