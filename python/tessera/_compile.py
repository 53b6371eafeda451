"""tessera.compile: a program as a callable on arrays, compiled once and kept, in memory and on disk.

The program becomes a shared object (tile-translate --tile-to-program, a process of its own), which tessera_runtime calls.
A kept program is found by all that it depends on: its text, the passes, the compiler, the machine, the machine files.
"""
from __future__ import annotations

import os
import re
import stat
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Callable

from . import _library
from ._diagnostics import Error
from ._ir import Module, load, parse

if TYPE_CHECKING:
    from tessera_runtime import Program as Compiled

_LARGEST_CACHE = 1 << 30  # bytes of programs on disk; the ones not used for longest go first
_MOST_IN_MEMORY = 256
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


# --- the key ------------------------------------------------------------------------------------------------------------


def _file_state(path: Path) -> str:
    try:
        state = path.stat()
    except OSError:
        return f"{path}: not there"
    return f"{path} {state.st_size} {state.st_mtime_ns} {state.st_ino}"


def _compiler() -> str:
    """Which build compiles: its files, since a build between two releases has no number."""
    folder = Path(_library.library_path()).resolve().parent
    files = [*folder.glob("libtessera*.so*"), Path(_library.tool("tile-translate"))]
    return "\n".join(sorted(_file_state(path.resolve()) for path in files))


def _processor() -> str:
    """What the kernel says of the first processor, without its clock."""
    lines = []
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            for line in file:
                if not line.strip():
                    break
                lines += [] if line.startswith(("cpu MHz", "bogomips")) else [line]
    except OSError:
        pass
    return "".join(lines)


def _machine_files() -> str:
    folders = [_library.machine_path(), os.environ.get("TESSERA_MACHINE_PATH")]
    return "\n".join(_file_state(path) for folder in folders if folder for path in sorted(Path(folder).glob("*.machine")))


def _key(source: bytes, pipeline: str | None, chip: str | None) -> str:
    parts = [source, _compiler().encode(), _processor().encode(), _machine_files().encode(), (pipeline or "").encode(),
             (chip or "").encode()]  # yapf: disable
    import hashlib
    digest = hashlib.sha256()
    for part in parts:
        digest.update(len(part).to_bytes(8, "little") + part)
    return digest.hexdigest()[:40]


# --- on disk --------------------------------------------------------------------------------------------------------------


def _folder() -> Path | None:
    """As the schedules' (lib/search/cache.h): TESSERA_CACHE, else XDG_CACHE_HOME, else ~/.cache. None: nothing is kept.

    Loading a program runs it, so the folder must be this user's, and nobody else may write to it.
    """
    own, base = os.environ.get("TESSERA_CACHE"), os.environ.get("XDG_CACHE_HOME")
    if own == "none":
        return None
    folder = (Path(own) if own else (Path(base) if base else Path.home() / ".cache") / "tessera") / "programs"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        state = folder.stat()
        if state.st_uid == os.geteuid() and not state.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
            return folder
        why = f"{folder} is another user's or others may write to it"
    except (OSError, RuntimeError) as error:
        why = str(error)
    import warnings
    warnings.warn(f"compiled programs are not kept: {why}", stacklevel=4)
    return None


def _digest(data: bytes) -> str:
    import hashlib  # importing it takes a twentieth of the time of importing tessera
    return hashlib.sha256(data).hexdigest()[:24]


def _find(folder: Path, key: str) -> Path | None:
    """The kept program. A file whose bytes are not those that were kept is removed."""
    for path in folder.glob(f"{key}-*.so"):
        try:
            if path.stem.rpartition("-")[2] == _digest(path.read_bytes()):
                os.utime(path)
                return path
            path.unlink()
        except OSError:
            continue  # another process removed it
    return None


def _keep(folder: Path, key: str, made: Path) -> Path:
    """Moves the file into the folder, whole or not at all, and removes what has not been used for longest."""
    kept = folder / f"{key}-{_digest(made.read_bytes())}.so"
    os.replace(made, kept)
    used = sorted(((path.stat().st_mtime, path.stat().st_size, path) for path in folder.glob("*.so") if path != kept),
                  reverse=True)
    total = kept.stat().st_size
    for _, size, path in used:
        total += size
        if total > _LARGEST_CACHE:
            path.unlink(missing_ok=True)
    return kept


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


def _translate(source: bytes, name: str, pipeline: str | None, chip: str | None, made: Path, limit: float | None) -> None:
    import subprocess  # these two take a tenth of the time of importing tessera
    command = [_library.tool("tile-translate"), "-", "--tile-to-program", "-o", str(made)]
    command += [f"--target={chip}"] if chip else []
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


def _compiled(source: bytes, name: str, entry: str, target: str, pipeline: str | None, limit: float | None) -> "Compiled":
    _runtime()  # it tells what is missing, before anything is compiled
    device = target if _is_device(target) else None
    chip = _chip_of(device) if device else None
    folder, key = _folder(), _key(source, pipeline, chip)
    kept = _find(folder, key) if folder else None
    if kept:
        try:
            return _load(kept, entry, name, device)
        except Error:
            if kept.exists():  # it is whole, so the fault is the caller's: no such entry
                raise
    import tempfile
    with tempfile.TemporaryDirectory(dir=folder, prefix="new-") as scratch:
        made = Path(scratch) / "program.so"
        _translate(source, name, pipeline, chip, made, limit)
        return _load(_keep(folder, key, made) if folder else made, entry, name, device)


def _text_of(module: Module) -> bytes:
    return module.text(locations=True).encode()


def _given(program: Any) -> tuple[Any, Callable[[], bytes], str]:
    """What identifies the program in this process, its text, and its name in messages."""
    if isinstance(program, Module):
        text = _text_of(program)
        return text, lambda: text, program._name
    if isinstance(program, str) and "\n" in program:
        source = program.encode()
        return source, lambda: source, "<string>"
    path = Path(program)
    with open(path, "rb"):  # an OSError where it cannot be read
        pass
    return _file_state(path.resolve()), lambda: _text_of(load(path)), str(path)


class OnTarget:
    """A program on a target that judges or emulates, called as the CPU's is: module.compile gives its counts."""

    def __init__(self, module: Module, target: str, entry: str, pipeline: str | None) -> None:
        self._program = module.compile(target, entry, pipeline=pipeline)
        self.inputs, self.outputs = self._program.inputs, self._program.outputs

    def __repr__(self) -> str:
        return repr(self._program)

    def __call__(self, *arrays: Any) -> Any:
        results = self._program(*arrays).results
        return results[0] if len(results) == 1 else results or None


def compile(program: Module | str | os.PathLike[str], *, entry: str = "main", target: str = "cpu",
            pipeline: str | None = None, threads: int | None = None, limit: float | None = None) -> Any:
    """The program as a callable: f(x, y) gives the result, a tuple of several, or None.

    program: a Module, the path of a file, or text (which has more than one line). target: "cpu" gives a
    tessera_runtime.Program: arrays of numpy, PyTorch and JAX without copies. "cuda", "rocm" (":1": the second one) give
    one that runs on that GPU. "interpret" and "emulate:CHIP" take numpy's arrays and raise Error for what they find. pipeline: passes in place of the target's. threads: how many the programs
    of this process use. limit: seconds that compiling for the CPU or a GPU may take.

    The same program is compiled once: it stays in memory and in TESSERA_CACHE (docs/python.md).

    Raises Error, with the compiler's located text, for a program that cannot be compiled.
    """
    if threads is not None:
        _runtime().set_threads(threads)
    if target != "cpu" and not _is_device(target):
        module = program if isinstance(program, Module) else parse(str(program)) if "\n" in str(program) else load(program)
        return OnTarget(module, target, entry, pipeline)
    identity, read, name = _given(program)
    key = identity, entry, target, pipeline, _machine_files()
    found = _programs.get(key)
    if found is None:
        if len(_programs) >= _MOST_IN_MEMORY:
            del _programs[next(iter(_programs))]
        found = _programs[key] = _compiled(read(), name, entry, target, pipeline, limit)
    return found
