"""The source of a function, and what its names mean: its globals and its closure."""
from __future__ import annotations

import ast
import inspect
import textwrap
from types import FunctionType, ModuleType
from typing import Any

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


class Reads:
    """What a kernel reads of the world, and the values seen. A kernel is compiled again if one of them changed."""

    def __init__(self) -> None:
        self.seen: dict[tuple[FunctionType, tuple[str, ...]], Any] = {}
        self._plain: list[tuple[dict[str, Any], str, Any]] | None = None

    def note(self, function: FunctionType, path: tuple[str, ...], value: Any) -> None:
        self.seen[function, path] = value

    def hold(self) -> bool:
        if self._plain is None:  # globals are most of them: asked for at once
            self._plain = [(function.__globals__, path[0], value) for (function, path), value in self.seen.items()
                           if len(path) == 1 and path[0] not in function.__code__.co_freevars and path[0] in function.__globals__]
            done = {(id(names), name) for names, name, _ in self._plain}
            self.seen = {key: value for key, value in self.seen.items() if (id(key[0].__globals__), key[1][0]) not in done
                         or len(key[1]) > 1}
        for names, name, value in self._plain:
            now = names.get(name, MISSING)
            if now is not value and not _same(now, value):
                return False
        for (function, path), value in self.seen.items():
            now = outer(function, path[0])
            for name in path[1:]:
                now = getattr(now, name, MISSING)
            if now is not value and not _same(now, value):
                return False
        return True


def _same(now: Any, value: Any) -> bool:
    return type(now) is type(value) and isinstance(now, (bool, int, float, str, tuple)) and repr(now) == repr(value)
