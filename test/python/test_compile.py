"""tessera.compile: programs as callables, kept in memory and on disk."""
import os
import subprocess
import sys

import numpy as np
import pytest

import tessera

tessera_runtime = pytest.importorskip("tessera_runtime", reason="not built: Python.h is missing")

TEXT = """
func.func @main(%a: tensor<37xf32>, %b: tensor<37xf32>) -> tensor<37xf32> {
  %e = tensor.empty() : tensor<37xf32>
  %0 = linalg.sub ins(%a, %b : tensor<37xf32>, tensor<37xf32>) outs(%e : tensor<37xf32>) -> tensor<37xf32>
  return %0 : tensor<37xf32>
}
"""
A, B = (np.random.default_rng(seed).standard_normal(37).astype("f4") for seed in (0, 1))


@pytest.fixture(autouse=True)
def kept(tmp_path, monkeypatch):
    """A cache of the test's own; what is in memory is forgotten."""
    monkeypatch.setenv("TESSERA_CACHE", str(tmp_path / "cache"))
    forget()
    return tmp_path / "cache" / "programs"


def forget():
    tessera._compile._programs.clear()


def files(folder):
    return sorted(path.name for path in folder.iterdir())


def test_text_modules_and_files_are_compiled(tmp_path):
    path = tmp_path / "sub.mlir"
    path.write_text(TEXT)
    for program in [TEXT, tessera.parse(TEXT), path, str(path)]:
        np.testing.assert_array_equal(tessera.compile(program)(A, B), A - B)


@pytest.mark.parametrize("target", ["interpret", "emulate:sm_80"])
def test_other_targets_are_called_alike(target):
    program = tessera.compile(TEXT, target=target)
    np.testing.assert_array_equal(program(A, B), A - B)
    assert [str(kind) for kind in program.inputs] == ["37xf32", "37xf32"]


@pytest.mark.parametrize("target", ["cpu", "interpret", "emulate:sm_80"])
def test_open_sizes_must_agree(target):
    program = tessera.compile("""func.func @main(%a: tensor<?xf32>, %b: tensor<?xf32>) -> tensor<?xf32> {
  %0 = arith.subf %a, %b : tensor<?xf32>
  return %0 : tensor<?xf32>
}""", target=target)
    np.testing.assert_array_equal(program(A, B), A - B)
    for a, b in [(A, B[:36]), (A[:36], B)]:
        with pytest.raises((tessera.Error, tessera_runtime.Error), match=r"<string>:2:8: .*(must equal|disagree)"):
            program(a, b)


def test_the_same_program_is_compiled_once(kept):
    first = tessera.compile(TEXT)
    assert tessera.compile(TEXT) is first
    forget()
    one = files(kept)
    assert len(one) == 1
    np.testing.assert_array_equal(tessera.compile(TEXT)(A, B), A - B)
    assert files(kept) == one


def test_what_a_program_depends_on_makes_another_one(kept, tmp_path):
    tessera.compile(TEXT)
    tessera.compile(TEXT.replace("linalg.sub", "linalg.add"))
    tessera.compile(TEXT, pipeline="builtin.module(tile-to-cpu-pipeline{chip=x86-64-v3})")
    tessera.compile(TEXT, sparsity="off")
    assert len(files(kept)) == 4
    assert tessera.compile(TEXT, sparsity="off") is not tessera.compile(TEXT)
    (tmp_path / "odd.machine").write_text("")
    try:
        tessera.set_machine_path(tmp_path)
        tessera.compile(TEXT)
        assert len(files(kept)) == 5
        (tmp_path / "odd.machine").write_text("# edited\n")
        tessera.compile(TEXT)
        assert len(files(kept)) == 6
    finally:
        tessera.set_machine_path(None)


def test_an_edited_file_is_compiled_again(tmp_path):
    path = tmp_path / "program.mlir"
    path.write_text(TEXT)
    np.testing.assert_array_equal(tessera.compile(path)(A, B), A - B)
    path.write_text(TEXT.replace("linalg.sub", "linalg.add "))
    np.testing.assert_array_equal(tessera.compile(path)(A, B), A + B)


@pytest.mark.unsanitized
def test_another_process_finds_what_is_kept(kept):
    tessera.compile(TEXT)
    before = files(kept)
    script = "import sys, numpy, tessera; f = tessera.compile(sys.stdin.read()); print(f(*numpy.ones((2, 37), 'f4')).sum())"
    done = subprocess.run([sys.executable, "-c", script], input=TEXT, capture_output=True, text=True,
                          env={**os.environ, "PATH": ""}, check=True)
    assert done.stdout == "0.0\n" and files(kept) == before


@pytest.mark.parametrize("damage", [lambda data: data[:100], lambda data: b"", lambda data: data[:-9] + b"x" + data[-8:]])
def test_a_damaged_file_is_compiled_again(kept, damage):
    tessera.compile(TEXT)
    forget()
    [path] = kept.iterdir()
    whole = path.read_bytes()
    path.unlink()  # this process has it loaded
    path.write_bytes(damage(whole))
    np.testing.assert_array_equal(tessera.compile(TEXT)(A, B), A - B)
    [path] = kept.iterdir()
    assert path.read_bytes() == whole


def test_the_cache_is_bounded(kept, monkeypatch):
    monkeypatch.setattr(tessera._compile, "_LARGEST_CACHE", 20000)
    for i in range(8):
        tessera.compile(TEXT.replace("37", str(37 + i)))
    total = sum(path.stat().st_size for path in kept.iterdir())
    assert 0 < total <= 20000


def test_nothing_is_kept_where_that_is_not_wanted(kept, monkeypatch):
    monkeypatch.setenv("TESSERA_CACHE", "none")
    np.testing.assert_array_equal(tessera.compile(TEXT)(A, B), A - B)
    assert not kept.exists()


def test_a_folder_that_others_may_write_to_is_not_believed(kept):
    kept.mkdir(parents=True)
    kept.chmod(0o777)
    with pytest.warns(UserWarning, match="not kept: .* others may write to it"):
        np.testing.assert_array_equal(tessera.compile(TEXT)(A, B), A - B)
    assert files(kept) == []


@pytest.mark.parametrize("target", ["cpu", "emulate:sm_80"])
def test_choices_are_those_of_the_tools(target):
    np.testing.assert_array_equal(tessera.compile(TEXT, target=target, sparsity="finite")(A, B), A - B)
    with pytest.raises(tessera.Error, match="sparsity is 'some'; exact, finite and off are accepted"):
        tessera.compile(TEXT, target=target, sparsity="some")
    with pytest.raises(TypeError, match="'sparse'; choices of a pipeline are policy, fusion, persistent, sparsity"):
        tessera.compile(TEXT, target=target, sparse="off")
    with pytest.raises(TypeError, match="sparsity: expected str, got bool"):
        tessera.compile(TEXT, target=target, sparsity=True)


SCALABLE = """func.func @main() -> index {
  %r = vector.step : vector<[4]xindex>
  %x = vector.extract %r[0] : index from vector<[4]xindex>
  return %x : index
}
"""


def test_errors_are_located(kept, tmp_path):
    with pytest.raises(tessera.Error, match=r"<string>:2:3: error: .*\n(.*\n)*<string>: not a valid program"):
        tessera.compile("func.func @main() {\n  foo.bar\n}\n")
    with pytest.raises(tessera.Error, match=r"<string>:2:8: error: .*\n(.*\n)*<string>: could not be compiled"):
        tessera.compile(SCALABLE)
    with pytest.raises(tessera.Error, match="has no entry 'other'; it has: main"):
        tessera.compile(TEXT, entry="other")
    with pytest.raises(tessera.Error, match="a program needs a public func.func to enter by"):
        tessera.compile(TEXT.replace("func.func @", "func.func private @"))
    with pytest.raises(FileNotFoundError):
        tessera.compile(tmp_path / "nosuch.mlir")
    with pytest.raises(tessera.Error, match="not a valid program"):
        (tmp_path / "wrong.mlir").write_text("foo")
        tessera.compile(tmp_path / "wrong.mlir")
    assert not kept.exists() or len(files(kept)) == 1  # the program without the entry 'other'
