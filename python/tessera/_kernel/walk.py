"""Walks the tree of a kernel and builds its ops.

What is known now (numbers, strings, types, tuples) is computed by Python itself; what is known only when the kernel runs is
a Tile or an Array. Statements on the former are decided now, on the latter they become scf.if, scf.for and scf.while.
"""
from __future__ import annotations

import ast
import math
import operator
from types import FunctionType, ModuleType
from typing import Any, Callable, Iterator, Sequence

from . import _ops, _upstream, jumps, language
from .builder import Builder, DType, bool_, f32, i32, index
from .errors import CompileError, Refused, Where
from .source import MISSING, Reads, Source, plain
from .tiles import Array, Sparse, Tile, as_index, as_tile, binary, broadcast_to, compare, convert, described, unary

_OPERATORS: dict[type, str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%", ast.Pow: "**", ast.MatMult: "@",
    ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^", ast.LShift: "<<", ast.RShift: ">>", ast.USub: "-", ast.UAdd: "+",
    ast.Invert: "~", ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">="
}  # yapf: disable
_PYTHON: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv, "//": operator.floordiv, "%": operator.mod,
    "**": operator.pow, "&": operator.and_, "|": operator.or_, "^": operator.xor, "<<": operator.lshift, ">>": operator.rshift,
    "==": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge
}  # yapf: disable
_NUMBER = (bool, int, float)
_MOST_CALLS = 64  # of functions, one within another
_MOST_UNROLLED = 1 << 14


class Missing:
    """A name that has no value here, and why."""

    def __init__(self, why: str, where: Where | None) -> None:
        self.why, self.where = why, where


class Return:

    def __init__(self, value: Any, where: Where | None) -> None:
        self.value, self.where = value, where


class StaticRange:
    """tessera.static_range: a loop that is unrolled."""

    def __init__(self, *bounds: Any) -> None:
        for bound in bounds:
            if isinstance(bound, bool) or not isinstance(bound, int):
                raise Refused(f"static_range of {described(bound)}, expected constants")
        self.numbers = range(*bounds)


class Range:
    """range: a loop of the kernel."""

    def __init__(self, *bounds: Any) -> None:
        if not 1 <= len(bounds) <= 3:
            raise Refused(f"range of {len(bounds)} arguments, expected 1 to 3")
        start, stop, step = (0, bounds[0], 1) if len(bounds) == 1 else (*bounds, 1)[:3]
        for bound in (start, stop, step):
            if isinstance(bound, bool) or isinstance(bound, float) or not isinstance(bound, (int, Tile)):
                raise Refused(f"range of {described(bound)}, expected integers")
        if isinstance(step, Tile):
            raise Refused("the step of a range is known only when the kernel runs, expected a constant", ("it is made here", step.where))
        if step == 0:
            raise Refused("the step of a range is 0")
        self.start, self.stop, self.step = start, stop, step


class Lambda:
    """A lambda of the kernel's, or a function defined in it."""

    def __init__(self, walker: "Walker", frame: "Frame", node: ast.Lambda) -> None:
        self.walker, self.frame, self.node = walker, frame, node

    def __call__(self, *given: Any) -> Any:
        node, frame = self.node, self.frame
        names = [argument.arg for argument in node.args.args]
        if node.args.vararg or node.args.kwarg or node.args.kwonlyargs or node.args.defaults:
            raise Refused("the lambda has parameters other than plain ones")
        if len(names) != len(given):
            raise Refused(f"the lambda takes {len(names)} arguments, {len(given)} are given")
        inner = Frame(frame.source, {**frame.names, **dict(zip(names, given))})
        return self.walker.expression(inner, node.body)


class Frame:
    """A function that is being walked, and what its names are."""

    def __init__(self, source: Source, names: dict[str, Any]) -> None:
        self.source, self.names = source, names


def static_range(*bounds: Any) -> Any:
    """In a kernel: like range, of constants, and unrolled."""
    return StaticRange(*bounds)


def static_assert(condition: Any, message: str = "") -> None:
    """In a kernel: refuses to compile unless the condition, a constant, holds."""
    if isinstance(condition, Tile):
        raise Refused("static_assert of what is known only when the kernel runs: use assert", ("it is made here", condition.where))
    if not condition:
        raise Refused(message or "static_assert failed")


for _function in (static_range, static_assert):
    language.FUNCTIONS[_function.__name__] = _function
    setattr(_function, "tessera_language", True)


def _is_tile(value: Any) -> bool:
    return isinstance(value, Tile)


def _is_static(value: Any) -> bool:
    """Known now, with all that it holds."""
    return not isinstance(value, (Tile, Array, Sparse)) and (not isinstance(value, (tuple, list)) or all(map(_is_static, value)))


def assigned(nodes: Sequence[ast.AST]) -> list[str]:
    """Names that the statements may give a value, in the order in which they stand."""
    found: dict[str, None] = {}
    for node in nodes:
        for inner in ast.walk(node):
            if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Store):
                found[inner.id] = None
    return list(found)


class Walker:

    def __init__(self, builder: Builder) -> None:
        self.b, self.reads = builder, Reads()
        self.stack: list[Source] = []

    # --- where, and what is wrong ---

    def refuse(self, frame: Frame, node: ast.AST, message: str, *notes: tuple[str, Where | None]) -> CompileError:
        return CompileError(message, frame.source.where(node), (*notes, *self._callers()))

    def _callers(self) -> tuple[tuple[str, Where | None], ...]:
        return tuple((f"in the call of '{name}'", where) for name, where in reversed(self._calls()))

    def _calls(self) -> list[tuple[str, Where]]:
        return [(source.name, where) for source, where in zip(self.stack[1:], self.call_places)]

    call_places: list[Where] = []

    # --- functions ---

    def function(self, source: Source, names: dict[str, Any]) -> Any:
        """Walks a function's body. Gives what it returns."""
        self.stack.append(source)
        try:
            done = self.statements(Frame(source, names), jumps.without_returns(source.node.body))
            return done.value if isinstance(done, Return) else None
        finally:
            self.stack.pop()

    def statements(self, frame: Frame, nodes: Sequence[ast.stmt]) -> Return | None:
        for i, node in enumerate(nodes):
            self.b.where = frame.source.where(node)
            if isinstance(node, ast.If):
                return_here = jumps.first_return([node])
                condition = self.truth(frame, node.test)
                if not _is_tile(condition):
                    chosen = node.body if condition else node.orelse
                    if return_here is not None:  # what follows belongs to the ways that do not return
                        return self.statements(frame, [*chosen, *nodes[i + 1:]])
                    self.statements(frame, chosen)
                elif return_here is not None:
                    return self.leaving_if(frame, node, condition, nodes[i + 1:])
                else:
                    self.branch(frame, node, condition)
                continue
            method = getattr(self, f"do_{type(node).__name__}", None)
            if method is None:
                raise self.refuse(frame, node, _refusal(node))
            try:
                done = method(frame, node)
            except Refused as refused:
                raise self.refuse(frame, node, refused.message, *refused.notes) from None
            if done is not None:
                return done  # type: ignore[no-any-return]
        return None

    # --- simple statements ---

    def do_Pass(self, frame: Frame, node: ast.Pass) -> None:
        pass

    def do_Expr(self, frame: Frame, node: ast.Expr) -> None:
        if not (isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)):
            self.expression(frame, node.value)

    def do_Return(self, frame: Frame, node: ast.Return) -> Return:
        value = self.expression(frame, node.value) if node.value else None
        if len(self.stack) == 1 and value is not None:
            raise self.refuse(frame, node, f"a kernel returns nothing, this gives {described(value)}: store it to an array")
        return Return(value, frame.source.where(node))

    def do_Assign(self, frame: Frame, node: ast.Assign) -> None:
        value = self.expression(frame, node.value)
        for target in node.targets:
            self.assign(frame, target, value)

    def do_AnnAssign(self, frame: Frame, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.assign(frame, node.target, self.expression(frame, node.value))

    def do_AugAssign(self, frame: Frame, node: ast.AugAssign) -> None:
        name = _OPERATORS[type(node.op)]
        if isinstance(node.target, ast.Name):
            left = self.expression(frame, ast.copy_location(ast.Name(node.target.id, ast.Load()), node.target))
        elif isinstance(node.target, ast.Subscript):
            target = ast.Subscript(node.target.value, node.target.slice, ast.Load())
            left = self.expression(frame, ast.copy_location(target, node.target))
        else:
            raise self.refuse(frame, node.target, "this cannot be assigned to")
        right = self.expression(frame, node.value)
        self.b.where = frame.source.where(node)
        self.assign(frame, node.target, self.at(frame, node, self.operate, name, left, right))

    def do_Assert(self, frame: Frame, node: ast.Assert) -> None:
        condition = self.condition(frame, node.test)
        message = self.expression(frame, node.msg) if node.msg else ast.unparse(node.test)
        if not isinstance(message, str):
            raise self.refuse(frame, node.msg or node, f"the message is {described(message)}, expected a constant text")
        if not _is_tile(condition):
            if not condition:
                raise self.refuse(frame, node, f"the assertion does not hold: {message}")
            return
        if condition.dtype is not bool_:
            raise self.refuse(frame, node.test, f"the condition is {condition!r}, expected elements of type i1, as a comparison gives")
        self.b.where = frame.source.where(node)
        _ops.assert_(self.b, condition, message=message)

    def assign(self, frame: Frame, target: ast.AST, value: Any) -> None:
        if isinstance(target, ast.Name):
            frame.names[target.id] = value
        elif isinstance(target, (ast.Tuple, ast.List)):
            if not isinstance(value, (tuple, list, range)):
                raise self.refuse(frame, target, f"{described(value)} cannot be taken apart into {len(target.elts)} names")
            items = list(value)
            starred = next((one for one in target.elts if isinstance(one, ast.Starred)), None)
            if starred is not None:
                raise self.refuse(frame, starred, "a starred name is not supported: take the parts by their numbers")
            if len(items) != len(target.elts):
                raise self.refuse(frame, target, f"{len(items)} values for {len(target.elts)} names")
            for one, item in zip(target.elts, items):
                self.assign(frame, one, item)
        elif isinstance(target, ast.Subscript):
            self.assign_item(frame, target, value)
        else:
            raise self.refuse(frame, target, f"{ast.unparse(target)} cannot be assigned to in a kernel")

    def assign_item(self, frame: Frame, target: ast.Subscript, value: Any) -> None:
        base = self.expression(frame, target.value)
        if _is_tile(base):
            raise self.refuse(frame, target, f"{base!r} is a value, whose parts do not change: write x = tessera.insert(x, part, offsets)")
        if not isinstance(base, Array):
            raise self.refuse(frame, target, f"{described(base)} cannot be assigned to by [ ]")
        place = self.at(frame, target, base.item, self.key(frame, target.slice))
        if place.ndim:
            raise self.refuse(frame, target, f"{place!r} is more than one element: write tessera.store")
        self.b.where = frame.source.where(target)
        element = self.at(frame, target, lambda: as_tile(value, base.dtype, "the value"))
        if element.dtype is not base.dtype or element.shape:
            raise self.refuse(frame, target, f"the value is {element!r}, expected a scalar {base.dtype}", ("it is made here", element.where))
        base.write()
        places = [place.fixed[dim] for dim in range(len(place.parameter.sizes))]
        self.at(frame, target, _upstream.memref_store, self.b, element, place.parameter.value, places)

    # --- branches ---

    def truth(self, frame: Frame, node: ast.expr) -> Any:
        """A condition: a Python bool where it is known now, else a scalar of i1."""
        value = self.condition(frame, node)
        self.b.where = frame.source.where(node)
        if isinstance(value, Array):
            raise self.refuse(frame, node, f"the condition is {value!r}, expected a scalar")
        if not _is_tile(value):
            return bool(value)
        if value.shape:
            raise self.refuse(frame, node, f"the condition is {value!r}, expected a scalar: choose elements by tessera.where, or reduce "
                              "by tessera.any or tessera.all", ("it is made here", value.where))
        return self.at(frame, node, convert, value, bool_)

    def branch(self, frame: Frame, node: ast.If, condition: Tile) -> None:
        """Both ways of an `if`; each name that one of them assigns gets one value."""
        before = dict(frame.names)
        ends: list[dict[str, Any]] = []
        holder, blocks = self.b.holder([(), ()])
        around, where = self.b.block, frame.source.where(node)
        try:
            for block, body in zip(blocks, (node.body, node.orelse)):
                self.b.block, frame.names = block, dict(before)
                self.statements(frame, body)
                ends.append(frame.names)
        finally:
            self.b.block, frame.names = around, before
        names = [name for name in assigned([*node.body, *node.orelse])
                 if ends[0].get(name, MISSING) is not ends[1].get(name, MISSING) or ends[0].get(name) is not before.get(name)]
        pairs = []
        for name in names:
            one, other = (end.get(name, Missing(f"'{name}' is assigned on one way of the if only", where)) for end in ends)
            if isinstance(one, Missing) or isinstance(other, Missing):
                before[name] = one if isinstance(one, Missing) else other
            else:
                pairs.append((name, one, other))
        self.b.where = where
        merged = self.merge(frame, node, condition, holder, blocks, [(f"'{name}'", one, other) for name, one, other in pairs])
        for (name, _, _), value in zip(pairs, merged):
            before[name] = value

    def merge(self, frame: Frame, node: ast.AST, condition: Tile, holder: Any, blocks: list[Any],
              pairs: Sequence[tuple[str, Any, Any]]) -> list[Any]:
        """Ends the two blocks, makes the scf.if, and gives for each pair the value that both have become."""
        around = self.b.block
        leaves: tuple[list[Tile], list[Tile]] = ([], [])
        shapes = []
        for what, one, other in pairs:
            shapes.append(self.unify(frame, node, what, one, other, blocks, leaves))
        for block, values in zip(blocks, leaves):
            self.b.block = block
            self.b.create("scf.yield", [values], [], {}, [])
        self.b.block = around
        regions = self.b.take(holder)
        made = iter([Tile(value) for value in _upstream.scf_if(self.b, condition, results=[value.type for value in leaves[0]],
                                                               thenRegion=regions[0], elseRegion=regions[1])])
        return [shape(made) for shape in shapes]

    def unify(self, frame: Frame, node: ast.AST, what: str, one: Any, other: Any, blocks: list[Any],
              leaves: tuple[list[Tile], list[Tile]]) -> Callable[[Iterator[Tile]], Any]:
        """Adds to `leaves` what the two values are at run time; gives the function that makes one value of the results."""
        if one is other or (_is_static(one) and _is_static(other) and type(one) is type(other) and one == other):
            return lambda _: one
        if isinstance(one, tuple) and isinstance(other, tuple) and len(one) == len(other):
            parts = [self.unify(frame, node, f"{what}[{i}]", a, b, blocks, leaves) for i, (a, b) in enumerate(zip(one, other))]
            return lambda made: tuple(part(made) for part in parts)
        if not all(isinstance(value, (Tile, *_NUMBER)) for value in (one, other)):
            raise self.refuse(frame, node, f"{what} is {described(one)} on one way and {described(other)} on the other: these cannot be "
                              "chosen when the kernel runs")
        dtype, shape = next(((value.dtype, value.shape) for value in (one, other) if _is_tile(value)), (None, ()))
        if dtype is None:
            dtype = f32 if float in (type(one), type(other)) else bool_ if type(one) is type(other) is bool else index
        around, tiles = self.b.block, []
        for value, block in zip((one, other), blocks):
            self.b.block = block
            tiles.append(value if _is_tile(value) else self.at(frame, node, lambda v=value: broadcast_to(as_tile(v, dtype), shape)))
        self.b.block = around
        if tiles[0].type.ptr != tiles[1].type.ptr:
            raise self.refuse(frame, node, f"{what} is {tiles[0]!r} on one way and {tiles[1]!r} on the other, expected one type and shape",
                              ("one is made here", tiles[0].where), ("the other is made here", tiles[1].where))
        for leaf, tile in zip(leaves, tiles):
            leaf.append(tile)
        return next

    def leaving_if(self, frame: Frame, node: ast.If, condition: Tile, rest: Sequence[ast.stmt]) -> Return:
        """An `if` of which a way returns: what follows belongs to the ways that do not."""
        names, around = frame.names, self.b.block
        holder, blocks = self.b.holder([(), ()])
        ends = []
        try:
            for block, body in zip(blocks, (node.body, node.orelse)):
                self.b.block, frame.names = block, dict(names)
                ends.append(self.statements(frame, [*body, *rest]) or Return(None, frame.source.where(node)))
        finally:
            self.b.block, frame.names = around, names
        self.b.where = frame.source.where(node)
        value = self.merge(frame, node, condition, holder, blocks, [("the returned value", ends[0].value, ends[1].value)])
        return Return(value[0], ends[0].where)

    # --- loops ---

    def do_For(self, frame: Frame, node: ast.For) -> None:
        self.expect_loop(frame, node)
        items = self.expression(frame, node.iter)
        self.b.where = frame.source.where(node)
        if isinstance(items, Range):
            self.loop_until(frame, node, items) if jumps.breaks(node) else self.loop(frame, self.without_jumps(node), items)
            return
        if isinstance(items, StaticRange):
            items = items.numbers
        if not isinstance(items, (tuple, list, range)):
            raise self.refuse(frame, node.iter, f"a loop over {described(items)}, expected range, tessera.static_range or a tuple")
        if len(items) > _MOST_UNROLLED:
            raise self.refuse(frame, node.iter, f"a loop unrolled {len(items)} times, expected at most {_MOST_UNROLLED}: use range")
        self.do_Turns(frame, jumps.Turns(node, items))

    def do_Turns(self, frame: Frame, node: jumps.Turns) -> None:
        """Those of an unrolled loop. Once a turn may have left it, the others stand under an `if`."""
        loop, goes_on = node.loop, jumps.name_of("goes on", node.loop)
        body = jumps.without_jumps(loop.body, goes_on)
        for i, item in enumerate(node.items):
            self.assign(frame, loop.target, item)
            frame.names[goes_on] = True
            self.statements(frame, body)
            goes = frame.names[goes_on]
            if _is_tile(goes) and i + 1 < len(node.items):
                rest: ast.stmt = jumps.Turns(loop, node.items[i + 1:])
                self.branch(frame, ast.copy_location(ast.If(jumps.load(goes_on, loop), [rest], []), loop), goes)
            if _is_tile(goes) or not goes:
                return

    def expect_loop(self, frame: Frame, node: jumps.Loop) -> None:
        if node.orelse:
            raise self.refuse(frame, node.orelse[0], "a loop's else is not supported")
        found = jumps.first_return(node.body)
        if found is not None:
            raise self.refuse(frame, found, "return of a value within a loop is not supported: assign the value, and return it after the loop")

    def without_jumps(self, node: ast.For) -> ast.For:
        if not jumps.jumps(node):
            return node
        return ast.copy_location(ast.For(node.target, node.iter, jumps.without_jumps(node.body, ""), []), node)

    def loop_until(self, frame: Frame, node: ast.For, bounds: Range) -> None:
        """A loop over range that may be left becomes one with a condition."""
        turn, turns, goes_on = (jumps.name_of(word, node) for word in ("turn", "turns", "goes on"))
        given = next((bound.dtype for bound in (bounds.start, bounds.stop) if _is_tile(bound)), index)
        start, _, count = self.turns(frame, node, bounds, always=True)
        start = self.at(frame, node, as_index, start, "start")
        frame.names.update({turn: as_tile(0, index), turns: count, goes_on: True})
        begin = jumps.Count(node, turn, lambda at: convert(binary("+", start, binary("*", at, bounds.step)), given))
        test = ast.Compare(jumps.load(turn, node), [ast.Lt()], [jumps.load(turns, node)])
        loop = ast.While(ast.BoolOp(ast.And(), [jumps.load(goes_on, node), test]),
                         [begin, *jumps.without_jumps(node.body, goes_on)], [])
        self.repeat(frame, ast.fix_missing_locations(ast.copy_location(loop, node)))
        for name in (turn, turns, goes_on):
            frame.names.pop(name, None)
        for name in assigned([node.target]):
            frame.names[name] = Missing(f"'{name}' counts the turns of a loop, which may not run", frame.source.where(node))

    def do_Count(self, frame: Frame, node: jumps.Count) -> None:
        turn = frame.names[node.turn.id]
        self.assign(frame, node.target, node.number(turn))
        frame.names[node.turn.id] = binary("+", turn, 1)

    def carried(self, frame: Frame, node: ast.For | ast.While) -> list[str]:
        """Names that a turn of the loop takes from the one before."""
        own = assigned([node.target]) if isinstance(node, ast.For) else []
        return [name for name in assigned(node.body + ([node.test] if isinstance(node, ast.While) else []))
                if name in frame.names and not isinstance(frame.names[name], Missing) and name not in own]

    def loop(self, frame: Frame, node: ast.For, bounds: Range) -> None:
        if not isinstance(node.target, ast.Name):
            raise self.refuse(frame, node.target, "a loop over range has one name")
        where, around, before = frame.source.where(node), self.b.block, frame.names
        given = next((bound.dtype for bound in (bounds.start, bounds.stop) if _is_tile(bound)), index)
        start, stop, turns = self.turns(frame, node, bounds)
        bounds_now = (start, stop, bounds.step) if turns is None else (0, turns, 1)
        first = [self.at(frame, node, as_index, value, "a bound of range") for value in bounds_now]
        names = self.carried(frame, node)
        guesses: dict[tuple[str, int], tuple[tuple[int, ...], DType]] = {}
        while True:
            self.b.where = where
            leaves, rebuild, free = self.initial(frame, node, names, guesses)
            holder, (block, ) = self.b.holder([[first[0].type, *(leaf.type for leaf in leaves)]])
            arguments = [Tile(value) for value in self.b.arguments(block)]
            self.b.block, frame.names = block, {**before, **rebuild(iter(arguments[1:]))}
            number = arguments[0]
            if turns is not None:
                number = binary("+", self.at(frame, node, as_index, start, "start"), binary("*", number, bounds.step))
            frame.names[node.target.id] = convert(number, given)
            try:
                self.statements(frame, node.body)
                self.b.where = where
                ends = self.ends(frame, node, names, leaves, free, guesses)
            finally:
                self.b.block, after, frame.names = around, frame.names, before
            if ends is None:
                self.b.drop(holder)
                continue
            self.b.block = block
            self.b.create("scf.yield", [ends], [], {}, [])
            self.b.block = around
            break
        made = _upstream.scf_for(self.b, first[0], first[1], first[2], leaves, region=self.b.take(holder)[0])
        before.update(rebuild(iter([Tile(value) for value in made])))
        self.forget(frame, node, after)

    def turns(self, frame: Frame, node: ast.For, bounds: Range, always: bool = False) -> tuple[Any, Any, Any]:
        """Of a loop that counts down, or always, how many turns it takes; else None."""
        if bounds.step > 0 and not always:
            return bounds.start, bounds.stop, None
        distance = self.at(frame, node, self.operate, "-", *(value if not _is_tile(value) else convert(value, index)
                                                             for value in (bounds.start, bounds.stop)))
        turns = language.FUNCTIONS["cdiv"](distance, -bounds.step)
        turns = language.FUNCTIONS["maximum"](turns, 0) if _is_tile(turns) else max(turns, 0)
        return bounds.start if not _is_tile(bounds.start) else convert(bounds.start, index), None, as_index(turns, "turns")

    def initial(self, frame: Frame, node: ast.AST, names: Sequence[str], guesses: dict[tuple[str, int], Any]) -> Any:
        """The tiles that enter the loop; the function that makes the names' values of tiles; which were Python numbers."""
        leaves: list[Tile] = []
        free: list[tuple[str, int] | None] = []
        kept: dict[str, Any] = {}

        def add(name: str, value: Any, count: list[int]) -> Callable[[Iterator[Tile]], Any]:
            if isinstance(value, tuple):
                parts = [add(name, part, count) for part in value]
                return lambda made: tuple(part(made) for part in parts)
            if _is_tile(value):
                count[0] += 1
                leaves.append(value)
                free.append(None)
                return next
            if isinstance(value, _NUMBER):
                key = name, count[0]
                count[0] += 1
                shape, dtype = guesses.get(key) or ((), as_dtype(value))
                leaves.append(self.at(frame, node, lambda: broadcast_to(as_tile(value, dtype), shape)))
                free.append(key)
                return next
            return lambda _: value

        makers = {name: add(name, frame.names[name], [0]) for name in names}
        kept = {name: frame.names[name] for name in names}
        return leaves, (lambda made: {name: makers[name](made) for name in names}), (free, kept)

    def ends(self, frame: Frame, node: ast.AST, names: Sequence[str], leaves: Sequence[Tile], free: Any,
             guesses: dict[tuple[str, int], Any]) -> list[Tile] | None:
        """What the names are after a turn, as the tiles that the next one takes. None: a guess was wrong, and is corrected."""
        keys, kept = free
        flat: list[Any] = []

        def take(name: str, before: Any, value: Any) -> None:
            if isinstance(value, Missing):
                raise self.refuse(frame, node, value.why, (f"'{name}' is carried from turn to turn of this loop", value.where))
            if isinstance(before, tuple):
                if not isinstance(value, tuple) or len(value) != len(before):
                    raise self.refuse(frame, node, f"'{name}' is a tuple of {len(before)} before the loop and {described(value)} after a turn")
                for one, other in zip(before, value):
                    take(name, one, other)
            elif isinstance(before, (Tile, *_NUMBER)):
                if not isinstance(value, (Tile, *_NUMBER)):
                    raise self.refuse(frame, node, f"'{name}' is {described(before)} before the loop and {described(value)} after a turn")
                flat.append((name, value))
            elif value is not before and not (_is_static(value) and type(value) is type(before) and value == before):
                raise self.refuse(frame, node, f"'{name}' is {described(before)} before the loop and {described(value)} after a turn: what is "
                                  "not a number or tile cannot change in a loop; use tessera.static_range")

        for name in names:
            take(name, kept[name], frame.names[name])
        results, again = [], False
        for (name, value), leaf, key in zip(flat, leaves, keys):
            if not _is_tile(value):
                if key and isinstance(value, float) and not leaf.dtype.is_float and key not in guesses:
                    guesses[key], again = ((), f32), True
                    continue
                value = self.at(frame, node, lambda v=value, t=leaf: broadcast_to(as_tile(v, t.dtype), t.shape))
            if value.type.ptr != leaf.type.ptr:
                if key and guesses.get(key) != (value.shape, value.dtype):
                    guesses[key], again = (value.shape, value.dtype), True
                    continue
                raise self.refuse(frame, node, f"'{name}' is {leaf!r} before the loop and {value!r} after a turn, expected one type and shape",
                                  ("before the loop it is made here", leaf.where), ("in the loop it is made here", value.where))
            results.append(value)
        return None if again else results

    def forget(self, frame: Frame, node: ast.For | ast.While, after: dict[str, Any]) -> None:
        """Names that only the body gives a value: it may not have run."""
        where = frame.source.where(node)
        for name in assigned([node]):
            known = frame.names.get(name)
            if name in after and (known is None or isinstance(known, Missing)) and name not in self.carried(frame, node):
                frame.names[name] = Missing(f"'{name}' is assigned in a loop only, which may not run", where)
        if isinstance(node, ast.For):
            for name in assigned([node.target]):
                frame.names[name] = Missing(f"'{name}' counts the turns of a loop, which may not run", where)

    def do_While(self, frame: Frame, node: ast.While) -> None:
        self.expect_loop(frame, node)
        if not jumps.jumps(node):
            self.repeat(frame, node)
            return
        goes_on, test = jumps.name_of("goes on", node), node.test
        if jumps.breaks(node):
            frame.names[goes_on] = True
            test = ast.copy_location(ast.BoolOp(ast.And(), [jumps.load(goes_on, node), test]), test)
        self.repeat(frame, ast.copy_location(ast.While(test, jumps.without_jumps(node.body, goes_on), []), node))
        frame.names.pop(goes_on, None)

    def repeat(self, frame: Frame, node: ast.While) -> None:
        where, around, before = frame.source.where(node), self.b.block, frame.names
        names = self.carried(frame, node)
        guesses: dict[tuple[str, int], Any] = {}
        while True:
            self.b.where = where
            leaves, rebuild, free = self.initial(frame, node, names, guesses)
            types = [leaf.type for leaf in leaves]
            holder, blocks = self.b.holder([types, types])
            try:
                tested = [Tile(value) for value in self.b.arguments(blocks[0])]
                self.b.block, frame.names = blocks[0], {**before, **rebuild(iter(tested))}
                condition = self.truth(frame, node.test)
                if not _is_tile(condition):
                    raise self.refuse(frame, node.test, f"the condition is always {condition}: what the loop's body assigns does not enter it")
                self.b.create("scf.condition", [condition, tested], [], {}, [])
                self.b.block = blocks[1]
                frame.names = {**before, **rebuild(iter([Tile(value) for value in self.b.arguments(blocks[1])]))}
                self.statements(frame, node.body)
                self.b.where = where
                ends = self.ends(frame, node, names, leaves, free, guesses)
                if ends is not None:
                    self.b.create("scf.yield", [ends], [], {}, [])
            finally:
                self.b.block, after, frame.names = around, frame.names, before
            if ends is not None:
                break
            self.b.drop(holder)
        regions = self.b.take(holder)
        made = _upstream.scf_while(self.b, leaves, results=types, before=regions[0], after=regions[1])
        before.update(rebuild(iter([Tile(value) for value in made])))
        self.forget(frame, node, after)

    # --- expressions ---

    def at(self, frame: Frame, node: ast.AST, function: Callable[..., Any], *given: Any, **named: Any) -> Any:
        """Calls, and says of what is refused that it stands at `node`."""
        try:
            return function(*given, **named)
        except Refused as refused:
            raise self.refuse(frame, node, refused.message, *refused.notes) from None

    def expression(self, frame: Frame, node: ast.expr) -> Any:
        method = getattr(self, f"of_{type(node).__name__}", None)
        if method is None:
            raise self.refuse(frame, node, _refusal(node))
        return method(frame, node)

    def of_Constant(self, frame: Frame, node: ast.Constant) -> Any:
        if isinstance(node.value, (bytes, complex)):
            raise self.refuse(frame, node, f"{node.value!r} is a {type(node.value).__name__}, which kernels do not have")
        return node.value

    def of_Name(self, frame: Frame, node: ast.Name) -> Any:
        value = frame.names.get(node.id, MISSING)
        if isinstance(value, Missing):
            raise self.refuse(frame, node, value.why, ("it is assigned here", value.where))
        if value is not MISSING:
            return value
        value = frame.source.outer(node.id)
        if value is MISSING:
            raise self.refuse(frame, node, f"'{node.id}' is not defined")
        self.reads.note(frame.source.function, node.id, value)
        return self.outside(frame, node, value)

    def outside(self, frame: Frame, node: ast.AST, value: Any) -> Any:
        """What a kernel may read of the world."""
        value = plain(value)
        if isinstance(value, (bool, int, float, str, DType, ModuleType, type(None), type(Ellipsis), FunctionType, type)) or callable(value):
            return value
        if isinstance(value, tuple):
            return tuple(self.outside(frame, node, item) for item in value)
        raise self.refuse(frame, node, f"{ast.unparse(node)} is a {type(value).__name__}: a kernel reads numbers, texts, types, functions and "
                          "tuples of the world around; arrays are its parameters")

    def of_Attribute(self, frame: Frame, node: ast.Attribute) -> Any:
        base = self.expression(frame, node.value)
        self.b.where = frame.source.where(node)
        if isinstance(base, (Tile, Array, Sparse)):
            if node.attr.startswith("_") or not hasattr(type(base), node.attr) or node.attr in ("raw", "where", "inner", "parameter"):
                raise self.refuse(frame, node, f"{base!r} has no '{node.attr}'")
            return self.at(frame, node, getattr, base, node.attr)
        value = getattr(base, node.attr, MISSING)
        if value is MISSING:
            what = f"module '{base.__name__}'" if isinstance(base, ModuleType) else described(base)
            raise self.refuse(frame, node, f"{what} has no '{node.attr}'")
        if not isinstance(base, ModuleType) or base.__name__ not in ("tessera", "math"):
            self.reads.note_attribute(base, node.attr, value)
        return self.outside(frame, node, value)

    def of_Tuple(self, frame: Frame, node: ast.Tuple | ast.List) -> Any:
        items: list[Any] = []
        for one in node.elts:
            if isinstance(one, ast.Starred):
                part = self.expression(frame, one.value)
                if not isinstance(part, (tuple, list, range)):
                    raise self.refuse(frame, one, f"{described(part)} cannot be taken apart")
                items += part
            else:
                items.append(self.expression(frame, one))
        return tuple(items)

    of_List = of_Tuple

    def of_Slice(self, frame: Frame, node: ast.Slice) -> Any:
        lower, upper, step = (self.expression(frame, part) if part else None for part in (node.lower, node.upper, node.step))
        if _is_tile(lower) and node.lower and node.step is None and isinstance(node.upper, ast.BinOp) and isinstance(node.upper.op, ast.Add):
            size = self.expression(frame, node.upper.right)
            if ast.dump(node.upper.left) == ast.dump(node.lower) and isinstance(size, int):
                return language.Span(lower, size)
        return slice(lower, upper, step)

    def key(self, frame: Frame, node: ast.expr) -> Any:
        if isinstance(node, ast.Tuple):
            return tuple(self.expression(frame, one) for one in node.elts)
        return self.expression(frame, node)

    def of_Subscript(self, frame: Frame, node: ast.Subscript) -> Any:
        base, key = self.expression(frame, node.value), self.key(frame, node.slice)
        self.b.where = frame.source.where(node)
        if isinstance(base, Array):
            place = self.at(frame, node, base.item, key)
            return place if place.ndim else self.at(frame, node, place.element)
        if _is_tile(base):
            return self.at(frame, node, language.item_of, base, key)
        if not isinstance(base, (tuple, list, range, str)):
            raise self.refuse(frame, node, f"{described(base)} has no parts")
        if _is_tile(key):
            raise self.refuse(frame, node.slice, "the index of a tuple is known only when the kernel runs, expected a constant",
                              ("it is made here", key.where))
        try:
            return base[key]
        except (IndexError, TypeError) as error:
            raise self.refuse(frame, node, str(error)) from None

    def operate(self, name: str, left: Any, right: Any) -> Any:
        if isinstance(left, Tile) or isinstance(right, Tile):
            for value in (left, right):
                if not isinstance(value, (Tile, *_NUMBER)):
                    raise Refused(f"{name}: an operand is {described(value)}, expected a tile or a number")
            return compare(name, left, right) if name in ("==", "!=", "<", "<=", ">", ">=") else binary(name, left, right)
        for value in (left, right):
            if isinstance(value, Array):
                raise Refused(f"{name} of {value!r}: read a tile of it by tessera.load")
        try:
            return _PYTHON[name](left, right)
        except (TypeError, ValueError, ArithmeticError, KeyError) as error:
            raise Refused(f"{name}: {error}") from None

    def of_BinOp(self, frame: Frame, node: ast.BinOp) -> Any:
        left, right = self.expression(frame, node.left), self.expression(frame, node.right)
        self.b.where = frame.source.where(node)
        return self.at(frame, node, self.operate, _OPERATORS[type(node.op)], left, right)

    def of_UnaryOp(self, frame: Frame, node: ast.UnaryOp) -> Any:
        is_not = isinstance(node.op, ast.Not)
        value = self.condition(frame, node.operand) if is_not else self.expression(frame, node.operand)
        self.b.where = frame.source.where(node)
        if is_not:
            if not _is_tile(value):
                return not value
            self.scalar_logic(frame, node, value, "not", "~")
            return self.at(frame, node, unary, "~", convert(value, bool_))
        name = _OPERATORS[type(node.op)]
        if _is_tile(value):
            return self.at(frame, node, unary, name, value)
        try:
            return -value if name == "-" else +value if name == "+" else ~value
        except TypeError as error:
            raise self.refuse(frame, node, str(error)) from None

    def scalar_logic(self, frame: Frame, node: ast.AST, value: Tile, word: str, sign: str) -> None:
        if value.shape:
            raise self.refuse(frame, node, f"'{word}' of {value!r} has no meaning element by element: write {sign}, with each comparison in "
                              "parentheses", ("the operand is made here", value.where))

    def of_BoolOp(self, frame: Frame, node: ast.BoolOp) -> Any:
        return self.logic(frame, node, node.values, self.expression)

    def condition(self, frame: Frame, node: ast.expr) -> Any:
        """An expression of which only the truth counts: of `and` and `or`, the operands may be of several types."""
        return self.logic(frame, node, node.values, self.condition) if isinstance(node, ast.BoolOp) else self.expression(frame, node)

    def logic(self, frame: Frame, node: ast.BoolOp, values: Sequence[ast.expr], read: Callable[[Frame, ast.expr], Any]) -> Any:
        """As Python's: what follows is computed only if it counts, and the value is that of an operand."""
        is_and, is_condition = isinstance(node.op, ast.And), read == self.condition
        value = read(frame, values[0])
        if len(values) == 1:
            if _is_tile(value):
                self.scalar_logic(frame, values[0], value, "and" if is_and else "or", "&" if is_and else "|")
            return value
        if not _is_tile(value):
            return self.logic(frame, node, values[1:], read) if bool(value) == is_and else value
        self.scalar_logic(frame, values[0], value, "and" if is_and else "or", "&" if is_and else "|")
        self.b.where = frame.source.where(node)
        condition = convert(value, bool_)

        def rest() -> Any:
            return self.logic(frame, node, values[1:], read)

        def this() -> Any:
            return not is_and if is_condition else value

        return self.choose(frame, node, condition, rest if is_and else this, this if is_and else rest, as_bool=is_condition)

    def choose(self, frame: Frame, node: ast.AST, condition: Tile, then: Callable[[], Any], otherwise: Callable[[], Any],
               as_bool: bool = False) -> Any:
        holder, blocks = self.b.holder([(), ()])
        around, values = self.b.block, []
        try:
            for block, function in zip(blocks, (then, otherwise)):
                self.b.block = block
                value = function()
                values.append(self.at(frame, node, convert, value, bool_) if as_bool else value)
        finally:
            self.b.block = around
        self.b.where = frame.source.where(node)
        return self.merge(frame, node, condition, holder, blocks, [("the value", values[0], values[1])])[0]

    def of_IfExp(self, frame: Frame, node: ast.IfExp) -> Any:
        condition = self.truth(frame, node.test)
        if not _is_tile(condition):
            return self.expression(frame, node.body if condition else node.orelse)
        return self.choose(frame, node, condition, lambda: self.expression(frame, node.body), lambda: self.expression(frame, node.orelse))

    def of_Compare(self, frame: Frame, node: ast.Compare) -> Any:
        left, result = self.expression(frame, node.left), None
        for kind, part in zip(node.ops, node.comparators):
            right = self.expression(frame, part)
            self.b.where = frame.source.where(node)
            one = self.compare_one(frame, node, kind, left, right)
            if not _is_tile(one) and not one:
                return False
            if _is_tile(one):
                result = one if result is None else self.at(frame, node, binary, "&", result, one)
            left = right
        return True if result is None else result

    def compare_one(self, frame: Frame, node: ast.Compare, kind: ast.cmpop, left: Any, right: Any) -> Any:
        if isinstance(kind, (ast.Is, ast.IsNot)):
            return (left is right) == isinstance(kind, ast.Is)
        if isinstance(kind, (ast.In, ast.NotIn)):
            if _is_static(left) and isinstance(right, (tuple, list, range, str)) and _is_static(right):
                return (left in right) == isinstance(kind, ast.In)
            raise self.refuse(frame, node, "'in' of what is known only when the kernel runs: compare by == and combine by |")
        return self.at(frame, node, self.operate, _OPERATORS[type(kind)], left, right)

    def of_Lambda(self, frame: Frame, node: ast.Lambda) -> Lambda:
        return Lambda(self, frame, node)

    def of_NamedExpr(self, frame: Frame, node: ast.NamedExpr) -> Any:
        value = self.expression(frame, node.value)
        self.assign(frame, node.target, value)
        return value

    def of_ListComp(self, frame: Frame, node: ast.ListComp | ast.GeneratorExp) -> Any:
        if len(node.generators) != 1:
            raise self.refuse(frame, node, "a comprehension has more than one for, expected one")
        loop = node.generators[0]
        items = self.expression(frame, loop.iter)
        if isinstance(items, Range) and all(isinstance(bound, int) for bound in (items.start, items.stop)):
            items = range(items.start, items.stop, items.step)
        if isinstance(items, StaticRange):
            items = items.numbers
        if not isinstance(items, (tuple, list, range)):
            raise self.refuse(frame, loop.iter, f"a comprehension over {described(items)}, expected constants or a tuple")
        inner, made = Frame(frame.source, dict(frame.names)), []
        for item in items:
            self.assign(inner, loop.target, item)
            if all(self.known(inner, test) for test in loop.ifs):
                made.append(self.expression(inner, node.elt))
        return tuple(made)

    of_GeneratorExp = of_ListComp

    def known(self, frame: Frame, node: ast.expr) -> bool:
        value = self.truth(frame, node)
        if _is_tile(value):
            raise self.refuse(frame, node, "the condition of a comprehension is known only when the kernel runs, expected a constant")
        return bool(value)

    def of_JoinedStr(self, frame: Frame, node: ast.JoinedStr) -> str:
        text, values = self.formatted(frame, node)
        if values:
            raise self.refuse(frame, node, "a text of what is known only when the kernel runs: only print can show it")
        return text

    def formatted(self, frame: Frame, node: ast.JoinedStr) -> tuple[str, list[Tile]]:
        """The text of an f-string with {} for each tile, and the tiles."""
        text, values = "", []
        for part in node.values:
            if isinstance(part, ast.Constant):
                text += str(part.value)
                continue
            assert isinstance(part, ast.FormattedValue)
            value = self.expression(frame, part.value)
            spec = self.expression(frame, part.format_spec) if part.format_spec else ""
            if not _is_tile(value):
                text += self.at(frame, part.value, _formatted, value, part.conversion, spec)
                continue
            if spec:
                raise self.refuse(frame, part.value, f"the format '{spec}' of what is known only when the kernel runs is not supported")
            text += "{}"
            values.append(value)
        return text, values

    # --- calls ---

    def of_Call(self, frame: Frame, node: ast.Call) -> Any:
        function = self.expression(frame, node.func)
        if function is print:
            return self.print(frame, node)
        if function is breakpoint:
            return self.breakpoint(frame, node)
        given: list[Any] = []
        for one in node.args:
            if isinstance(one, ast.Starred):
                given += self.of_Tuple(frame, ast.copy_location(ast.Tuple([one], ast.Load()), one))
            else:
                given.append(self.expression(frame, one))
        named: dict[str, Any] = {}
        for keyword in node.keywords:
            if keyword.arg is None:
                raise self.refuse(frame, keyword.value, "** in a call is not supported: name the arguments")
            named[keyword.arg] = self.expression(frame, keyword.value)
        self.b.where = frame.source.where(node)
        try:
            return self.call(frame, node, function, given, named)
        except Refused as refused:
            name = ast.unparse(node.func)
            message = refused.message if refused.message.startswith(("'", name)) else f"{name}: {refused.message}"
            raise self.refuse(frame, node, message, *refused.notes) from None

    def call(self, frame: Frame, node: ast.Call, function: Any, given: list[Any], named: dict[str, Any]) -> Any:
        from .kernel import Function, Kernel
        if isinstance(function, Function):
            return self.inline(frame, node, function.source, given, named)
        if isinstance(function, Lambda):
            return function(*given)
        if isinstance(function, Kernel):
            raise Refused("a kernel cannot be called by a kernel: make it a @tessera.func")
        replaced = _replacement(function)
        if replaced is not None:
            function = replaced
        owner = getattr(function, "__self__", None)
        is_ours = getattr(function, "tessera_language", False) or isinstance(function, DType) or isinstance(owner, Tile)
        is_math = isinstance(owner, ModuleType) and owner is math or getattr(function, "__module__", None) == "math"
        if not is_ours and not is_math and replaced is None and not (isinstance(owner, str) and _is_static(given)):
            what = getattr(function, "__qualname__", None) or described(function)
            raise Refused(f"'{what}' is not a function that kernels can call: write it with @tessera.func, or use tessera's own")
        if is_math and not _is_static(given):
            raise Refused(f"math.{function.__name__} of what is known only when the kernel runs: use tessera.{function.__name__}")
        if is_ours and isinstance(owner, Tile) is False and not isinstance(function, DType):
            given = [self.callable_(value) for value in given]
            named = {name: self.callable_(value) for name, value in named.items()}
        try:
            return function(*given, **named)
        except TypeError as error:
            raise Refused(str(error).replace("_reduction.<locals>.", "")) from None
        except (ValueError, ArithmeticError) as error:
            raise Refused(str(error)) from None

    def callable_(self, value: Any) -> Any:
        """A @tessera.func given to reduce or scan."""
        from .kernel import Function
        if isinstance(value, Function):
            source = value.source

            def call(*given: Any) -> Any:
                names = [argument.arg for argument in source.node.args.args]
                if len(names) != len(given):
                    raise Refused(f"'{source.name}' takes {len(names)} arguments, {len(given)} are given")
                return self.function(source, dict(zip(names, given)))

            return call
        return value

    def inline(self, frame: Frame, node: ast.Call, source: Source, given: list[Any], named: dict[str, Any]) -> Any:
        if any(known.function is source.function for known in self.stack):
            raise self.refuse(frame, node, f"'{source.name}' calls itself: recursion is not supported, use a loop")
        if len(self.stack) >= _MOST_CALLS:
            raise self.refuse(frame, node, f"calls nest deeper than {_MOST_CALLS}")
        names = self.at(frame, node, bind, source, given, named)
        for attribute in ("__defaults__", "__kwdefaults__"):
            self.reads.note_attribute(source.function, attribute, getattr(source.function, attribute))
        where = frame.source.where(node)
        self.b.calls.append(self.b.locate(where))
        self.call_places = [*self.call_places, where]
        try:
            return self.function(source, names)
        finally:
            self.b.calls.pop()
            self.call_places = self.call_places[:-1]
            self.b.where = where

    def print(self, frame: Frame, node: ast.Call) -> None:
        if node.keywords:
            raise self.refuse(frame, node.keywords[0].value, f"print has no '{node.keywords[0].arg}' in a kernel")
        parts, values = [], []
        for one in node.args:
            if isinstance(one, ast.JoinedStr):
                text, tiles = self.formatted(frame, one)
            else:
                value = self.expression(frame, one)
                if isinstance(value, Array):
                    raise self.refuse(frame, one, f"print of {value!r}: read a tile of it by tessera.load")
                text, tiles = ("{}", [value]) if _is_tile(value) else (str(value), [])
            if text.count("{}") > len(tiles):
                raise self.refuse(frame, one, "the text to print has {}, which stands for a value")
            parts.append(text)
            values += tiles
        self.b.where = frame.source.where(node)
        self.at(frame, node, _ops.print_, self.b, values, message=" ".join(parts))

    def breakpoint(self, frame: Frame, node: ast.Call) -> None:
        if node.args or node.keywords:
            raise self.refuse(frame, node, "breakpoint takes no arguments in a kernel")
        if self.b.breakpoints is not None:
            names = {name: value for name, value in frame.names.items() if not isinstance(value, Missing)}
            self.b.breakpoints.add(self.b, frame.source.where(node), frame.source.function.__module__, names)


def _formatted(value: Any, conversion: int, spec: str) -> str:
    """{value!r:spec} of an f-string."""
    value = repr(value) if conversion == ord("r") else ascii(value) if conversion == ord("a") else str(value) if conversion == ord("s") else value
    try:
        return format(value, spec)
    except (TypeError, ValueError) as error:
        raise Refused(str(error)) from None


def _text(function: Callable[[Any], str]) -> Callable[[Any], str]:
    """str or repr, of what is known now."""

    def of(value: Any) -> str:
        if not _is_static(value):
            raise Refused(f"the text of {described(value)}, which is known only when the kernel runs: only print can show it")
        return function(value)

    return of


def as_dtype(value: bool | int | float) -> DType:
    return bool_ if isinstance(value, bool) else index if isinstance(value, int) else f32


def bind(source: Source, given: Sequence[Any], named: dict[str, Any]) -> dict[str, Any]:
    """Parameters and what they are given, defaults included."""
    arguments = source.node.args
    names = [argument.arg for argument in (*arguments.posonlyargs, *arguments.args)]
    if len(given) > len(names):
        raise Refused(f"'{source.name}' takes {len(names)} arguments, {len(given)} are given")
    bound = dict(zip(names, given))
    for name, value in named.items():
        if name in bound or name not in (*names, *(argument.arg for argument in arguments.kwonlyargs)):
            raise Refused(f"'{source.name}' has no parameter '{name}'" if name not in bound else f"'{source.name}': '{name}' is given twice")
        bound[name] = value
    defaults = dict(zip(names[::-1], (source.function.__defaults__ or ())[::-1]))
    defaults.update(source.function.__kwdefaults__ or {})
    for name in (*names, *(argument.arg for argument in arguments.kwonlyargs)):
        if name not in bound:
            if name not in defaults:
                raise Refused(f"'{source.name}' needs its parameter '{name}'")
            bound[name] = plain(defaults[name])
    return bound


def _python_max(*items: Any) -> Any:
    return _fold("maximum", max, items)


def _python_min(*items: Any) -> Any:
    return _fold("minimum", min, items)


def _fold(name: str, python: Callable[..., Any], items: Sequence[Any]) -> Any:
    if len(items) == 1 and isinstance(items[0], Tile):
        raise Refused(f"{python.__name__} of a tile: use tessera.{python.__name__}")
    items = items[0] if len(items) == 1 else items
    if _is_static(tuple(items)):
        return python(items)
    result = items[0]
    for item in items[1:]:
        result = language.FUNCTIONS[name](result, item)
    return result


def _python_sum(items: Any) -> Any:
    if isinstance(items, Tile):
        raise Refused("sum of a tile: use tessera.sum")
    result: Any = 0
    for i, item in enumerate(items):
        result = item if i == 0 else result + item
    return result


def _length(value: Any) -> int:
    if isinstance(value, (Tile, Array)):
        if not value.ndim:
            raise Refused(f"len of {value!r}, which has no axes")
        return value.shape[0]
    return len(value)


def _number(python: Callable[[Any], Any], dtype: DType) -> Callable[[Any], Any]:
    return lambda value: convert(value, dtype) if isinstance(value, Tile) else python(value)


def _replacement(function: Any) -> Callable[..., Any] | None:
    """What Python's own functions mean in a kernel."""
    import tessera
    table: list[tuple[Any, Callable[..., Any]]] = [
        (range, Range), (len, _length), (max, _python_max), (min, _python_min), (sum, _python_sum), (abs, _absolute), (int, _number(int, i32)),
        (float, _number(float, f32)), (bool, _number(bool, bool_)), (tuple, tuple), (enumerate, _enumerate), (zip, _zip),
        (pow, lambda a, b: binary("**", a, b) if not _is_static((a, b)) else a**b), (round, _round), (isinstance, isinstance),
        (reversed, lambda items: tuple(items)[::-1]), (str, _text(str)), (repr, _text(repr)), (divmod, _divmod), (tessera.load, language.load)
    ]  # yapf: disable
    return next((meaning for known, meaning in table if known is function), None)


def _absolute(value: Any) -> Any:
    return language.FUNCTIONS["abs"](value) if isinstance(value, Tile) else abs(value)


def _round(value: Any) -> Any:
    if isinstance(value, Tile):
        raise Refused("round of a tile: use tessera.rint")
    return round(value)


def _divmod(a: Any, b: Any) -> Any:
    return (binary("//", a, b), binary("%", a, b)) if not _is_static((a, b)) else divmod(a, b)


def _enumerate(items: Any, start: int = 0) -> tuple[Any, ...]:
    return tuple(enumerate(_items(items), start))


def _zip(*lists: Any) -> tuple[Any, ...]:
    return tuple(zip(*map(_items, lists)))


def _items(value: Any) -> Any:
    if isinstance(value, StaticRange):
        return value.numbers
    if isinstance(value, (tuple, list, range)):
        return value
    raise Refused(f"{described(value)} is not a tuple")


def _refusal(node: ast.AST) -> str:
    """Why a statement or an expression is not supported."""
    words = {
        "Try": "try", "TryStar": "try", "With": "with", "AsyncWith": "async with", "AsyncFor": "async for", "Raise": "raise",
        "FunctionDef": "a function within a kernel", "AsyncFunctionDef": "an async function", "ClassDef": "a class within a kernel",
        "Delete": "del", "Global": "global", "Nonlocal": "nonlocal", "Import": "import", "ImportFrom": "import", "Match": "match",
        "Yield": "yield (a generator)", "YieldFrom": "yield (a generator)", "Await": "await", "Dict": "a dictionary", "Set": "a set",
        "DictComp": "a dictionary", "SetComp": "a set", "Starred": "a starred expression", "Break": "break", "Continue": "continue",
        "TypeAlias": "type",
    }  # yapf: disable
    what = words.get(type(node).__name__, type(node).__name__)
    advice = {"Raise": ": use assert", "FunctionDef": ": write it outside, with @tessera.func", "Try": "", "Match": ": use if"}
    return f"{what} is not supported in a kernel{advice.get(type(node).__name__, '')}"
