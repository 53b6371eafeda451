"""The source of a function, and what its names mean: its globals and its closure."""
from __future__ import annotations

import ast
import inspect
import textwrap
from types import FunctionType, ModuleType
from typing import Any

from .builder import DType
from .errors import CompileError, Where

MISSING = object()


class Source:
    """A function's tree. Lines and columns are those of the file."""

    def __init__(self, function: FunctionType) -> None:
        self.function, self.name = function, function.__name__
        code = function.__code__
        self.file = code.co_filename
        where = Where(self.file, code.co_firstlineno, 1)
        if self.name == "<lambda>":
            raise CompileError("a lambda cannot be a kernel: write a function with def", where)
        try:
            lines, first = inspect.getsourcelines(function)
        except (OSError, TypeError):
            raise CompileError(f"the source of '{self.name}' is not at hand: kernels must stand in a file (not in a REPL, exec or "
                               "python -c)", where) from None
        text = "".join(lines)
        plain = textwrap.dedent(text)
        self.indent = len(lines[0]) - len(lines[0].lstrip()) if plain != text else 0
        node = ast.parse(plain).body[0]
        ast.increment_lineno(node, first - 1)
        if not isinstance(node, ast.FunctionDef):
            kind = "an async function" if isinstance(node, ast.AsyncFunctionDef) else "no function"
            raise CompileError(f"'{self.name}' is {kind}: a kernel is a function written with def", where)
        self.node = node

    def where(self, node: ast.AST) -> Where:
        line, column = getattr(node, "lineno", 1), getattr(node, "col_offset", 0) + self.indent + 1
        end = getattr(node, "end_col_offset", column) + self.indent + 1 if getattr(node, "end_lineno", line) == line else 0
        return Where(self.file, line, column, end)

    def outer(self, name: str) -> Any:
        """What a name means outside the function: in its closure, its globals, or Python itself; else MISSING."""
        return outer(self.function, name)


def outer(function: FunctionType, name: str) -> Any:
    code = function.__code__
    if name in code.co_freevars and function.__closure__:
        cell = function.__closure__[code.co_freevars.index(name)]
        try:
            return cell.cell_contents
        except ValueError:
            return MISSING
    if name in function.__globals__:
        return function.__globals__[name]
    builtins = function.__globals__["__builtins__"]
    return (builtins.__dict__ if isinstance(builtins, ModuleType) else builtins).get(name, MISSING)


def plain(value: Any) -> Any:
    """Python's number for one of numpy, whose arrays without axes may change in place; tuples with such numbers, too."""
    if isinstance(value, tuple):
        items = [plain(item) for item in value]
        return value if all(new is old for new, old in zip(items, value)) else tuple(items)
    is_numpys = type(value).__module__.partition(".")[0] == "numpy" and getattr(value, "shape", None) == ()
    return value.item() if is_numpys else value


# Of these types equal values are one value, and their attributes do not change.
EXACT: frozenset[type] = frozenset((bool, int, str, type(None), DType))
_FIXED: tuple[type, ...] = (*EXACT, float, tuple, range)


def exact(value: Any) -> Any:
    """What is equal for one value of a constant only: 1, 1.0 and True are three, as are 0.0 and -0.0."""
    if isinstance(value, tuple):
        return value.__class__, tuple([exact(item) for item in value])
    return value.__class__, value.hex() if isinstance(value, float) else value


class Reads:
    """What a kernel reads of the world, and the values seen. A kernel is compiled again if one of them changed."""

    def __init__(self) -> None:
        self._names: dict[tuple[int, str], tuple[FunctionType, str, Any]] = {}
        self._attributes: dict[tuple[int, str], tuple[Any, str, Any]] = {}
        self._globals: list[tuple[dict[str, Any], str, Any]] | None = None

    def note(self, function: FunctionType, name: str, value: Any) -> None:
        self._names[id(function), name] = function, name, plain(value)

    def note_attribute(self, owner: Any, name: str, value: Any) -> None:
        if not isinstance(owner, _FIXED):
            self._attributes[id(owner), name] = owner, name, plain(value)

    def hold(self) -> bool:
        if self._globals is None:  # most of what is read: asked for at once
            self._globals = _globals_of(self._names)
        for names, name, value in self._globals:
            now = names.get(name, MISSING)
            if now is not value and not _same(now, value):
                return False
        for function, name, value in self._names.values():
            now = outer(function, name)
            if now is not value and not _same(now, value):
                return False
        for owner, name, value in self._attributes.values():
            now = getattr(owner, name, MISSING)
            if now is not value and not _same(now, value):
                return False
        return True


def _globals_of(names: dict[tuple[int, str], tuple[FunctionType, str, Any]]) -> list[tuple[dict[str, Any], str, Any]]:
    """Takes those out of `names` that are read of modules: each once."""
    found: dict[tuple[int, str], tuple[dict[str, Any], str, Any]] = {}
    for key, (function, name, value) in list(names.items()):
        if name in function.__globals__ and name not in function.__code__.co_freevars:
            found[id(function.__globals__), name] = function.__globals__, name, value
            del names[key]
    return list(found.values())


def _same(now: Any, value: Any) -> bool:
    now = plain(now)
    return type(now) is type(value) and (now is value or isinstance(value, (bool, int, float, str, tuple)) and exact(now) == exact(value))
