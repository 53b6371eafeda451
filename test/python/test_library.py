"""Where the library is looked for, and the error when it is nowhere."""
import os
import subprocess
import sys
from pathlib import Path

import pytest
import tessera

PACKAGE = os.path.dirname(os.path.dirname(tessera.__file__))


def run(script, **environment):
    return subprocess.run([sys.executable, "-c", script], capture_output=True, text=True,
                          env={**os.environ, "PYTHONPATH": PACKAGE, **environment})


def test_one_exception_says_where_it_looked(tmp_path):
    done = run("import tessera", TESSERA_HOME=str(tmp_path))
    assert done.returncode == 1
    last = done.stderr[done.stderr.index("LibraryNotFound"):]
    assert f"{tmp_path}/lib/libtessera-execution.so: not there" in last and f"{tmp_path}/libtessera-execution.so: not there" in last
    assert "set TESSERA_HOME" in last


def test_a_library_that_cannot_be_loaded_is_told_from_a_missing_one(tmp_path):
    (tmp_path / "libtessera-execution.so").write_text("no library" * 1000)
    done = run("try:\n import tessera\nexcept ImportError as e:\n print(e)", TESSERA_HOME=str(tmp_path))
    assert "libtessera-execution.so: " in done.stdout and "invalid ELF header" in done.stdout


@pytest.mark.unsanitized
def test_a_build_folder_is_a_home():
    home = os.path.dirname(tessera.library_path())
    done = run("import tessera; print(tessera.library_path())", TESSERA_HOME=home)
    assert done.stdout.strip() == os.path.join(home, "libtessera-execution.so"), done.stderr


def test_every_function_that_is_declared_is_there():
    from tessera import _library
    for name in _library.lib._prototypes:
        assert callable(getattr(_library.lib, name)), name


def test_the_symbols_stay_our_own():
    """Another package's MLIR in the same process must not find ours."""
    import ctypes
    with_all = ctypes.CDLL(None)
    assert not hasattr(with_all, "mlirContextCreate") and not hasattr(with_all, "tessera_call")


def test_an_import_takes_no_slow_modules():
    """`inspect` and what needs it (dataclasses, and so ast, dis and tokenize) take as long as all of this package's own files."""
    done = run("import sys; import tessera; print(*{'inspect', 'dataclasses', 'numpy', 'json'}.intersection(sys.modules))",
               TESSERA_HOME=os.path.dirname(tessera.library_path()))
    assert done.stdout.strip() == "", done.stdout + done.stderr


def test_the_package_is_of_python_3_9():
    """What only a newer one reads: its syntax, and `|` between types where it is computed."""
    import ast
    package = Path(tessera.__file__).parent
    for path in [*package.rglob("*.py"), *(package.parent / "runtime" / "tessera_runtime").glob("*.py")]:
        tree = ast.parse(path.read_text(), feature_version=(3, 9))
        is_late = any(isinstance(node, ast.ImportFrom) and node.module == "__future__" for node in tree.body)
        computed = [node.value for node in tree.body if isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value]
        if not is_late:
            functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
            computed += [node.returns for node in functions if node.returns]
            computed += [one.annotation for node in functions for one in node.args.args if one.annotation]
        unions = [node for value in computed for node in ast.walk(value) if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr)
                  and isinstance(node.left, (ast.Name, ast.Attribute))]
        assert not unions, f"{path}:{unions[0].lineno}"
