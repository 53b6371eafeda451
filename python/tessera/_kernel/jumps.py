"""break, continue and return within loops, as statements that structured loops can say.

`goes_on` is a name of no Python program: a turn of the loop that leaves the loop sets it to False.
"""
from __future__ import annotations

import ast
import copy
from typing import Any, Callable, Sequence, Union

Loop = Union[ast.For, ast.While]  # of a Python without `|` between types


def name_of(what: str, node: ast.AST) -> str:
    """A name for a loop's own values, of which programs know nothing: no identifier has a blank."""
    return f"{what} {getattr(node, 'lineno', 0)}:{getattr(node, 'col_offset', 0)}"


def load(name: str, node: ast.AST) -> ast.expr:
    return ast.copy_location(ast.Name(name, ast.Load()), node)


def assign(name: str, value: ast.expr, node: ast.AST) -> ast.stmt:
    return ast.copy_location(ast.Assign([ast.copy_location(ast.Name(name, ast.Store()), node)], ast.copy_location(value, node)), node)


def _own(nodes: Sequence[ast.AST]) -> list[ast.AST]:
    """The jumps among the statements, without the breaks and continues of inner loops."""
    found: list[ast.AST] = []
    for node in nodes:
        if isinstance(node, (ast.Break, ast.Continue)):
            found.append(node)
        elif isinstance(node, ast.If):
            found += _own([*node.body, *node.orelse])
    return found


def breaks(loop: Loop) -> bool:
    return any(isinstance(jump, ast.Break) for jump in _own(loop.body))


def jumps(loop: Loop) -> bool:
    return bool(_own(loop.body))


def without_jumps(nodes: Sequence[ast.stmt], goes_on: str) -> list[ast.stmt]:
    """What follows a jump is dropped, and what follows an `if` with a jump goes into its ways."""
    for i, node in enumerate(nodes):
        rest = list(nodes[i + 1:])
        if isinstance(node, ast.Continue):
            return list(nodes[:i])
        if isinstance(node, ast.Break):
            return [*nodes[:i], assign(goes_on, ast.Constant(False), node)]
        if isinstance(node, ast.If) and _own([node]):
            then, otherwise = (without_jumps([*way, *rest], goes_on) for way in (node.body, node.orelse))
            changed = ast.If(node.test, then or [ast.copy_location(ast.Pass(), node)], otherwise)
            return [*nodes[:i], ast.copy_location(changed, node)]
    return list(nodes)


def first_return(nodes: Sequence[ast.AST], of_value: bool = False) -> ast.Return | None:
    """The first return among the statements; of_value: that gives a value."""
    found = (inner for node in nodes for inner in ast.walk(node) if isinstance(inner, ast.Return))
    return next((node for node in found if not of_value or node.value is not None), None)


class _Leaving(ast.NodeTransformer):
    """Of a loop's body: a return without a value sets a name and leaves the loop."""

    def __init__(self, returned: str) -> None:
        self.returned = returned

    def visit_Return(self, node: ast.Return) -> list[ast.stmt]:
        return [assign(self.returned, ast.Constant(True), node), ast.copy_location(ast.Break(), node)]


def without_returns(nodes: Sequence[ast.stmt]) -> list[ast.stmt]:
    """Returns without a value within loops leave these loops, one after the other."""
    result: list[ast.stmt] = []
    for node in nodes:
        if isinstance(node, ast.If):
            node = ast.copy_location(ast.If(node.test, without_returns(node.body), without_returns(node.orelse)), node)
        if not isinstance(node, (ast.For, ast.While)) or not first_return(node.body) or first_return(node.body, of_value=True):
            result.append(node)
            continue
        found, returned = first_return(node.body), name_of("returned", node)
        loop = copy.deepcopy(node)
        loop.body = [changed for inner in without_returns(loop.body) for changed in _as_list(_Leaving(returned).visit(inner))]
        leave = ast.If(load(returned, found or node), [ast.copy_location(ast.Return(None), found or node)], [])
        result += [assign(returned, ast.Constant(False), node), loop, ast.copy_location(leave, found or node)]
    return result


def _as_list(value: ast.AST | list[ast.stmt]) -> list[ast.stmt]:
    return value if isinstance(value, list) else [value]  # type: ignore[list-item]


class Turns(ast.stmt):
    """The turns of an unrolled loop over these items."""
    _fields = ("loop", )
    loop: ast.For

    def __init__(self, loop: ast.For, items: Sequence[object]) -> None:
        super().__init__(loop=loop)  # type: ignore[call-arg]
        self.items = items
        ast.copy_location(self, loop)


class Count(ast.stmt):
    """The start of a turn of a loop over range: `target` takes the turn's number, and `turn` counts on."""
    _fields = ("target", "turn")
    target: ast.expr
    turn: ast.Name

    def __init__(self, loop: ast.For, turn: str, number: Callable[[Any], Any]) -> None:
        super().__init__(target=loop.target, turn=ast.copy_location(ast.Name(turn, ast.Store()), loop))  # type: ignore[call-arg]
        self.number = number
        ast.copy_location(self, loop)
