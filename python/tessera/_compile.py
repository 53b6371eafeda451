"""tessera.compile: a program as a callable on arrays, compiled once and kept, in memory and on disk.

The program becomes a shared object (tile-translate --tile-to-program, a process of its own), which tessera_runtime calls.
A kept program is found by all that it depends on: its text, the passes, the compiler, the machine, the machine files.
"""
from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Callable

from . import _library
from ._choices import choice_flags
from ._diagnostics import Error
from ._ir import Module, load, parse

if TYPE_CHECKING:
    from tessera_runtime import Program as Compiled

_LARGEST_CACHE = 1 << 30  # bytes of programs on disk; the ones not used for longest go first
_MOST_IN_MEMORY = 256
_STRING = "<string>"  # the file of a text, in messages
_programs: dict[Any, Any] = {}  # by what identifies them in this process, oldest first


def _runtime() -> Any:
    """tessera_runtime: installed, or as the build has it that the library is from."""
    try:
        import tessera_runtime
    except ImportError:
        built = Path(_library.library_path()).resolve().parent / "python"
        if not (built / "tessera_runtime").is_dir():
            raise Error("tessera.compile needs the package tessera-runtime: pip install python/runtime (in a clone of "
                        "Tessera)") from None
        sys.path.append(str(built))
        import tessera_runtime
    return tessera_runtime


def _file_state(path: Path) -> str:
    try:
        state = path.stat()
    except OSError:
        return f"{path}: not there"
    return f"{path} {state.st_size} {state.st_mtime_ns} {state.st_ino}"


# --- on disk (lib/target/program_cache.h) -----------------------------------------------------------------------------


def _key(source: bytes, pipeline: str | None, chip: str | None, choices: list[str]) -> str:
    """All that a program depends on: its text, the passes, the chip, the compiler, the machine and its files."""
    import ctypes
    key = ctypes.create_string_buffer(65)
    texts = [None if text is None else text.encode() for text in (pipeline, chip, " ".join(sorted(choices)) or None)]
    _library.lib.tileProgramCacheKey(source, len(source), *texts, key)
    return key.value.decode()


def _folder() -> Path | None:
    """Where programs are kept. None: nothing is kept."""
    import ctypes
    folder, error = ctypes.create_string_buffer(4096), _library.CError()
    if _library.lib.tileProgramCacheFolder(folder, len(folder), error):
        return Path(os.fsdecode(folder.value))
    if str(error):
        import warnings
        warnings.warn(f"compiled programs are not kept: {error}", stacklevel=4)
    return None


def _find(folder: Path, key: str) -> Path | None:
    import ctypes
    path = ctypes.create_string_buffer(4096)
    found = _library.lib.tileProgramCacheFind(os.fsencode(folder), key.encode(), path, len(path))
    return Path(os.fsdecode(path.value)) if found else None


def _keep(folder: Path, key: str, made: Path) -> Path:
    """The file that is kept, or what was made if that cannot be."""
    import ctypes
    data, path, error = made.read_bytes(), ctypes.create_string_buffer(4096), _library.CError()
    if _library.lib.tileProgramCacheStore(os.fsencode(folder), key.encode(), data, len(data), _LARGEST_CACHE, path, len(path),
                                          error):
        return Path(os.fsdecode(path.value))
    import warnings
    warnings.warn(f"the compiled program is not kept: {error}", stacklevel=4)
    return made


# --- compiling --------------------------------------------------------------------------------------------------------------


def _is_device(target: str) -> bool:
    return target.partition(":")[0] in ("cuda", "rocm")


def _chip_of(device: str) -> str:
    """What to compile for: the GPU's chip with all that it has, or an older one whose code it runs."""
    import ctypes
    runtime, text, error = _runtime(), ctypes.create_string_buffer(64), _library.CError()
    try:
        seen = runtime.chip(device)
    except runtime.Error as wrong:
        raise Error(f"target '{device}': {wrong}") from None
    if not _library.lib.tileMachineOfDevice(seen.encode(), text, len(text), error):
        raise Error(f"target '{device}': {error.text.decode()}")
    return text.value.decode()


def _translate(source: bytes, name: str, pipeline: str | None, chip: str | None, choices: list[str], made: Path,
               limit: float | None) -> None:
    import subprocess  # these two take a tenth of the time of importing tessera
    command = [_library.tool("tile-translate"), "-", "--tile-to-program", "-o", str(made)]
    command += [*choices, *([f"--target={chip}"] if chip else [])]
    command += [f"--pass-pipeline={pipeline}"] if pipeline is not None else []
    command += [f"--tile-machine-path={_library.machine_path()}"] if _library.machine_path() else []
    try:
        child = subprocess.run(command, input=source, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False, timeout=limit)
    except subprocess.TimeoutExpired:
        raise Error(f"{name}: not compiled after {limit:g} s") from None
    if child.returncode:
        said = re.sub(r"^-:(?=\d)", f"{name}:", child.stderr.decode("utf-8", "replace").strip(), flags=re.M)
        raise Error(f"{said}\n{name}: could not be compiled" if said else
                    f"{name}: could not be compiled: tile-translate ended with status {child.returncode}")


def _load(path: Path, entry: str, name: str, device: str | None) -> "Compiled":
    runtime = _runtime()
    try:
        program: "Compiled" = runtime.load(path, entry, device)
        return program
    except runtime.Error as error:
        raise Error(str(error).replace(str(path), name)) from None


def _compiled(source: bytes, name: str, entry: str, target: str, pipeline: str | None, limit: float | None,
              choices: list[str]) -> "Compiled":
    _runtime()  # it tells what is missing, before anything is compiled
    device = target if _is_device(target) else None
    chip = _chip_of(device) if device else None
    folder, key = _folder(), _key(source, pipeline, chip, choices)
    kept = _find(folder, key) if folder else None
    if kept:
        try:
            return _load(kept, entry, name, device)
        except Error:
            pass  # its weights may have moved; what else is wrong shows again
    import tempfile
    with tempfile.TemporaryDirectory(prefix="tessera-") as scratch:
        made = Path(scratch) / "program.so"
        _translate(_located(source, name), name, pipeline, chip, choices, made, limit)
        return _load(_keep(folder, key, made) if folder else made, entry, name, device)


def _text_of(module: Module) -> bytes:
    return module.text(locations=True).encode()


def _located(source: bytes, name: str) -> bytes:
    """A text that the caller gave: its places say `name`, also when the program fails. The compiler reads a stream."""
    return _text_of(parse(source, name=name)) if name == _STRING else source


def _given(program: Any) -> tuple[Any, Callable[[], bytes], str]:
    """What identifies the program in this process, its text, and its name in messages."""
    if isinstance(program, Module):
        text = _text_of(program)
        return text, lambda: text, program._name
    if isinstance(program, str) and "\n" in program:
        source = program.encode()
        return source, lambda: source, _STRING
    path = Path(program)
    with open(path, "rb"):  # an OSError where it cannot be read
        pass
    return _file_state(path.resolve()), lambda: _text_of(load(path)), str(path)


class OnTarget:
    """A program on a target that judges or emulates, called as the CPU's is: module.compile gives its counts."""

    def __init__(self, module: Module, target: str, entry: str, pipeline: str | None, choices: dict[str, Any]) -> None:
        self._program = module.compile(target, entry, pipeline=pipeline, **choices)
        self.inputs, self.outputs = self._program.inputs, self._program.outputs

    def __repr__(self) -> str:
        return repr(self._program)

    def __call__(self, *arrays: Any) -> Any:
        results = self._program(*arrays).results
        return results[0] if len(results) == 1 else results or None


def compile(program: Module | str | os.PathLike[str], *, entry: str = "main", target: str = "cpu",
            pipeline: str | None = None, threads: int | None = None, limit: float | None = None, **choices: str) -> Any:
    """The program as a callable: f(x, y) gives the result, a tuple of several, or None.

    program: a Module, the path of a file, or text (which has more than one line). target: "cpu" gives a
    tessera_runtime.Program: arrays of numpy, PyTorch and JAX without copies. "cuda", "rocm" (":1": the second one) give
    one that runs on that GPU. "interpret" and "emulate:CHIP" take numpy's arrays and raise Error for what they find. pipeline: passes in place of the target's.
    threads: how many the programs of this process use. limit: seconds that compiling for the CPU or a GPU may take.
    choices of the target's own pipeline, as tile-run's flags: policy, fusion, persistent, sparsity ("exact", "finite", "off").

    The same program is compiled once: it stays in memory and in TESSERA_CACHE (docs/python.md).

    Raises Error, with the compiler's located text, for a program that cannot be compiled.
    """
    if threads is not None:
        _runtime().set_threads(threads)
    if target != "cpu" and not _is_device(target):
        module = program if isinstance(program, Module) else parse(str(program)) if "\n" in str(program) else load(program)
        return OnTarget(module, target, entry, pipeline, choices)
    flags = choice_flags(choices)
    identity, read, name = _given(program)
    key = identity, entry, target, _key(b"", pipeline, None, flags)
    found = _programs.get(key)
    if found is None:
        if len(_programs) >= _MOST_IN_MEMORY:
            _programs.pop(list(_programs)[0], None)  # list: in one step, beside other threads
        found = _programs[key] = _compiled(read(), name, entry, target, pipeline, limit, flags)
    return found
