"""tessera_runtime: compiled programs on arrays, without the compiler. Programs are made by tile-translate."""
import array
import ctypes
import gc
import os
import resource
import subprocess
import threading
from pathlib import Path

import numpy as np
import pytest

tessera_runtime = pytest.importorskip("tessera_runtime", reason="not built: Python.h is missing")
TRANSLATE = Path(os.environ["TESSERA_HOME"]) / "bin" / "tile-translate"

ADD = """
func.func @main(%a: tensor<{0}xf32>, %b: tensor<{0}xf32>) -> tensor<{0}xf32> {{
  %c0 = arith.constant 0 : index
  %d = tensor.dim %a, %c0 : tensor<{0}xf32>
  %e = tensor.empty({1}) : tensor<{0}xf32>
  %0 = linalg.add ins(%a, %b : tensor<{0}xf32>, tensor<{0}xf32>) outs(%e : tensor<{0}xf32>) -> tensor<{0}xf32>
  return %0 : tensor<{0}xf32>
}}"""
STATIC, DYNAMIC = ADD.format("37", ""), ADD.format("?", "%d")
NEGATE = """
func.func @main(%a: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %d = tensor.dim %a, %c0 : tensor<?x?xf32>
  %f = tensor.dim %a, %c1 : tensor<?x?xf32>
  %e = tensor.empty(%d, %f) : tensor<?x?xf32>
  %0 = linalg.negf ins(%a : tensor<?x?xf32>) outs(%e : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}"""
DOUBLE = """
func.func @main(%a: tensor<5x7xELEMENT>) -> tensor<5x7xELEMENT> {
  %e = tensor.empty() : tensor<5x7xELEMENT>
  %0 = linalg.copy ins(%a : tensor<5x7xELEMENT>) outs(%e : tensor<5x7xELEMENT>) -> tensor<5x7xELEMENT>
  return %0 : tensor<5x7xELEMENT>
}"""
SCALARS = """
func.func @main(%f: f32, %h: f16, %i: i8, %u: i1, %x: index) -> (f32, f16, i8, i1, index) {
  return %f, %h, %i, %u, %x : f32, f16, i8, i1, index
}"""
IN_PLACE = """
func.func @main(%x: memref<4xf32>, %y: memref<4xf32>) -> memref<4xf32> {
  linalg.add ins(%x, %x : memref<4xf32>, memref<4xf32>) outs(%y : memref<4xf32>)
  return %y : memref<4xf32>
}"""
CHECKED = """
func.func @main(%x: tensor<3xf32>, %ok: i1) -> (tensor<3xf32>, tensor<3xf32>) {
  %e = tensor.empty() : tensor<3xf32>
  %0 = linalg.exp ins(%x : tensor<3xf32>) outs(%e : tensor<3xf32>) -> tensor<3xf32>
  cf.assert %ok, "not ok"
  %1 = linalg.negf ins(%x : tensor<3xf32>) outs(%e : tensor<3xf32>) -> tensor<3xf32>
  return %0, %1 : tensor<3xf32>, tensor<3xf32>
}"""


@pytest.fixture(scope="module")
def compiled(tmp_path_factory):
    folder, made = tmp_path_factory.mktemp("programs"), {}

    def make(text):
        if text not in made:
            source = folder / f"{len(made)}.mlir"
            source.write_text(text)
            made[text] = source.with_suffix(".so")
            subprocess.run([TRANSLATE, "--tile-to-program", source, "-o", made[text]], check=True)
        return made[text]

    return make


@pytest.fixture
def load(compiled):
    return lambda text: tessera_runtime.load(compiled(text))


def numbers(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype("f4")


class Lent:
    """An array of a library that has DLPack alone."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self):
        return self.array.__dlpack__()


def test_a_program_says_what_it_takes(load):
    program = load(DYNAMIC)
    assert [str(kind) for kind in program.inputs] == ["?xf32", "?xf32"]
    assert [str(kind) for kind in program.outputs] == ["?xf32"]
    assert program.manifest["target"] == "cpu" and program.manifest["fallback_ops"] == 0
    assert "main" in repr(program)


def test_results_are_arrays_to_write_to(load):
    a, b = numbers(37), numbers(37, seed=1)
    result = load(STATIC)(a, b)
    np.testing.assert_array_equal(result, a + b)
    assert type(result) is np.ndarray and result.flags.writeable and result.dtype == np.float32


@pytest.mark.parametrize("count", [0, 1, 37, 1000])
def test_dynamic_sizes(load, count):
    a, b = numbers(count), numbers(count, seed=1)
    np.testing.assert_array_equal(load(DYNAMIC)(a, b), a + b)


@pytest.mark.parametrize("sizes", [(37, 36), (36, 37), (37, 0), (1, 37)])
def test_dynamic_sizes_that_disagree(load, sizes):
    a, b = (numbers(size) for size in sizes)
    out = np.full(sizes[0], 7, "f4")
    for arguments in [{}, {"out": out}]:
        with pytest.raises(tessera_runtime.Error, match=r"\d+\.mlir:6:8: .*dimension 0 of argument 1 must equal dimension 0 of "
                           rf"argument 0 \({sizes[1]} and {sizes[0]}\)"):
            load(DYNAMIC)(a, b, **arguments)
    assert (out == 7).all()


@pytest.mark.parametrize("text", [STATIC, DYNAMIC])
def test_results_go_into_arrays_of_the_caller(load, text):
    a, b, c = numbers(37), numbers(37, seed=1), np.zeros(37, "f4")
    assert load(text)(a, b, out=c) is c
    np.testing.assert_array_equal(c, a + b)


def test_an_output_of_another_dynamic_size(load):
    with pytest.raises(tessera_runtime.Error, match="dimension 0 has size 37, the buffer given for it has 38"):
        load(DYNAMIC)(numbers(37), numbers(37), out=np.zeros(38, "f4"))


@pytest.mark.parametrize("element, dtype", [("f16", "f2"), ("f64", "f8"), ("i8", "i1"), ("i64", "i8"), ("i1", "?")])
def test_elements(load, element, dtype):
    x = (numbers(5, 7) * 9).astype(dtype)
    result = load(DOUBLE.replace("ELEMENT", element))(x)
    np.testing.assert_array_equal(result, x)
    assert result.dtype == x.dtype


@pytest.mark.parametrize("element, name, bits", [("bf16", "bfloat16", "u2"), ("f8E4M3FN", "float8_e4m3fn", "u1"),
                                                 ("f8E5M2", "float8_e5m2", "u1"), ("f8E8M0FNU", "float8_e8m0fnu", "u1")])
def test_elements_that_numpy_lacks(load, element, name, bits):
    ml_dtypes = pytest.importorskip("ml_dtypes")
    x = abs(numbers(5, 7)).astype(getattr(ml_dtypes, name))
    program = load(DOUBLE.replace("ELEMENT", element))
    for given in [x, x.view(bits)]:
        result = program(given)
        assert result.dtype == x.dtype
        np.testing.assert_array_equal(result.view(bits), x.view(bits))
    for other in ("float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e8m0fnu", "int4", "V1"):
        if other != name:
            kind = getattr(ml_dtypes, other, other)
            with pytest.raises(TypeError, match="argument 0 has elements of type"):
                program(np.zeros((5, 7), "u1").view(kind))


@pytest.mark.parametrize("element, name", [("f8E4M3FN", "float8_e4m3fn"), ("f8E5M2", "float8_e5m2"), ("f8E8M0FNU", "float8_e8m0fnu")])
def test_f8_of_torch(load, element, name):
    torch = pytest.importorskip("torch")
    program, kind = load(DOUBLE.replace("ELEMENT", element)), getattr(torch, name)
    x = torch.arange(1, 36).reshape(5, 7).to(torch.float32).to(kind)
    result, out = program(x), torch.ones(5, 7).to(kind)
    assert program(x, out=out) is out and result.dtype is kind
    assert (result.view(torch.uint8) == x.view(torch.uint8)).all() and (out.view(torch.uint8) == x.view(torch.uint8)).all()
    other = torch.float8_e4m3fnuz
    with pytest.raises(TypeError, match=f"argument 0 has elements of type {other}; the program takes {element}"):
        program(torch.zeros(5, 7).to(other))


def test_a_tensor_that_torch_does_not_lend(load):
    torch = pytest.importorskip("torch")
    with pytest.raises(TypeError, match="argument 1 lends no memory: .*use tensor.detach"):
        load(STATIC)(torch.ones(37), torch.ones(37, requires_grad=True))


def test_buffers_of_python(load):
    a, b, out = array.array("f", range(37)), bytearray(numbers(37).tobytes()), array.array("f", [0]) * 37
    assert load(STATIC)(a, memoryview(b).cast("f"), out=out) is out
    wanted = np.arange(37, dtype="f4") + np.frombuffer(b, "f4")
    np.testing.assert_array_equal(np.array(out), wanted)
    result = load(STATIC)(a, memoryview(b).cast("f"))
    assert type(result) is np.ndarray and (result == wanted).all()
    b.append(0), a.append(0)  # nothing is held any more
    with pytest.raises(TypeError, match="out 0 is read-only"):
        load(STATIC)(result, result, out=memoryview(bytes(4 * 37)).cast("f"))
    with pytest.raises(ValueError, match="argument 1: dimension 0 has size 38"):
        load(STATIC)(result, a)
    with pytest.raises(TypeError, match="argument 0 has elements of type d"):
        load(STATIC)(array.array("d", range(37)), result)
    with pytest.raises(ValueError, match="argument 0 is not in C order: .* stride of -1"):
        load(STATIC)(memoryview(out)[::-1], result)
    with pytest.raises(ValueError, match="out 0, which the program writes, overlaps argument 0"):
        load(STATIC)(out, result, out=memoryview(out))


def test_numbers(load):
    program = load(SCALARS)
    assert program(1.5, 0.25, -128, True, 2**40) == (1.5, 0.25, -128, True, 2**40)
    assert program(np.float32(1.5), 1, np.int8(7), np.True_, np.int64(3)) == (1.5, 1.0, 7, True, 3)
    assert program(np.float32(1.5), 1, np.int8(7), 0, np.int64(3)) == (1.5, 1.0, 7, False, 3)
    with pytest.raises(ValueError, match="argument 2 is beyond i8"):
        program(1.5, 0.25, 128, True, 0)
    with pytest.raises(ValueError, match="argument 4 is beyond i64"):
        program(1.5, 0.25, 1, True, 2**63)
    with pytest.raises(TypeError, match="argument 0 is no number of type f32"):
        program("1", 0.25, 1, True, 0)
    with pytest.raises(TypeError, match="argument 2 is no number of type i8"):
        program(1.5, 0.25, 1.0, True, 0)


def test_memrefs_are_written_in_place(load):
    x, y = numbers(4), np.zeros(4, "f4")
    result = load(IN_PLACE)(x, y)
    np.testing.assert_array_equal(y, x + x)
    np.testing.assert_array_equal(result, y)
    y[:] = 0  # the program returned its argument: a copy is what the caller got
    np.testing.assert_array_equal(result, x + x)


def test_several_results_and_a_failure(load):
    program, x = load(CHECKED), numbers(3)
    for _ in range(3):
        with pytest.raises(tessera_runtime.Error, match="not ok"):
            program(x, False)
        first, second = program(x, True)
        np.testing.assert_allclose(first, np.exp(x), rtol=1e-6)
        np.testing.assert_array_equal(second, -x)
    pair = np.zeros(3, "f4"), np.zeros(3, "f4")
    assert program(x, True, out=pair) is pair
    np.testing.assert_array_equal(pair[1], -x)


def test_results_outlive_their_program(load):
    x = numbers(3)
    results = [load(CHECKED)(x, True) for _ in range(10)]
    gc.collect()
    for first, second in results:
        np.testing.assert_array_equal(second, -x)


def test_other_libraries_lend_by_dlpack(load):
    a, b = numbers(37), numbers(37, seed=1)
    np.testing.assert_array_equal(load(STATIC)(Lent(a), Lent(b)), a + b)


@pytest.mark.parametrize("name", ["torch", "jax"])
def test_results_are_of_the_first_arguments_library(load, name):
    if name == "torch":
        torch = pytest.importorskip("torch")
        a = torch.arange(37, dtype=torch.float32)
        result = load(STATIC)(a, a)
        assert type(result) is torch.Tensor and torch.equal(result, a + a)
    else:
        jax = pytest.importorskip("jax")
        a = jax.numpy.arange(37, dtype="f4")
        result = load(STATIC)(a, a)
        assert isinstance(result, jax.Array) and (result == a + a).all()
        with pytest.raises(TypeError, match="out 0 is read-only"):
            load(STATIC)(a, a, out=jax.numpy.zeros(37, "f4"))


class Consumed:
    """Lends a capsule that somebody took."""

    def __init__(self):
        self.capsule = np.zeros(37, "f4").__dlpack__()
        self.array = np.from_dlpack(type("Once", (), {
            "__dlpack__": lambda _, **options: self.capsule,
            "__dlpack_device__": lambda _: (1, 0)
        })())

    def __dlpack__(self):
        return self.capsule


class Strange:
    """An array interface that makes no sense."""
    __array_interface__ = {"shape": "37", "typestr": "<f4", "data": None, "version": 3}


WRONG = [
    ("another count", lambda a: (a, ), TypeError, "takes 2 arguments, not 1"),
    ("no array", lambda a: (a, [1.0] * 37), TypeError, "argument 1 is no array"),
    ("another element", lambda a: (a, a.astype("f8")), TypeError, "argument 1 has elements of type f64; .* takes f32"),
    ("complex numbers", lambda a: (a, a.astype("c8")), TypeError, "argument 1 has elements of type complex64"),
    ("another byte order", lambda a: (a, a.astype(">f4")), TypeError, "argument 1 has elements of type >f4"),
    ("another size", lambda a: (a[:36].copy(), a), ValueError, "argument 0: dimension 0 has size 36; .* takes 37"),
    ("another rank", lambda a: (a, a.reshape(37, 1)), ValueError, "argument 1 has 2 dimensions; the program takes 1"),
    ("a negative stride", lambda a: (a[::-1], a), ValueError, "argument 0 is not in C order: .* stride of -1"),
    ("a stride of 0", lambda a: (np.broadcast_to(a[:1], (37, )), a), ValueError, "argument 0 is not in C order"),
    ("every other element", lambda a: (np.zeros(74, "f4")[::2], a), ValueError, "stride of 2 elements, expected 1"),
    ("a broken address", lambda a: (np.zeros(149, "u1")[1:].view("f4"), a), ValueError, "is not aligned to its .* 4 bytes"),
    ("a consumed capsule", lambda a: (a, Consumed()), ValueError, "argument 1: .* one that was consumed"),
    ("a strange interface", lambda a: (a, Strange()), TypeError, "__array_interface__ that cannot be read"),
]


@pytest.mark.parametrize("what, arguments, error, message", WRONG, ids=[row[0] for row in WRONG])
def test_what_does_not_fit(load, what, arguments, error, message):
    with pytest.raises(error, match=message):
        load(STATIC)(*arguments(numbers(37)))


def view(generator):
    """A random view of two dimensions into memory of its own: any offset, order and step, a negative or no step too."""
    sizes = generator.integers(0, 6, 2)
    steps = generator.choice([1, 1, 1, 2, 3, -1, 0], 2)
    memory = np.zeros(8192, "u1")
    begin = int(generator.choice([0, 4, 12, 64, 3])) + 4096
    strides = [4 * int(steps[1]) * max(int(sizes[1]), 1) * int(generator.choice([1, 1, 2])) * int(steps[0]), 4 * int(steps[1])]
    array = np.ndarray(sizes, "f4", memory, begin, strides)
    return array.T if generator.integers(4) == 0 else array


@pytest.mark.parametrize("lend", [lambda a: a, Lent], ids=["array interface", "DLPack"])
def test_any_view_is_read_in_place_or_refused(load, lend):
    """What lies in C order at an aligned address is taken, wherever it begins; all else is refused before anything runs."""
    program, generator = load(NEGATE), np.random.default_rng(23)
    seen = {True: 0, False: 0}
    for _ in range(1500):
        array = view(generator)
        fits = bool(array.flags.c_contiguous and array.flags.aligned)
        seen[fits] += 1
        out = np.full(array.shape, 7, "f4")
        if fits:
            if array.size and 0 not in array.strides:
                array[...] = generator.standard_normal(array.shape, "f4")
            assert program(lend(array), out=out) is out
            np.testing.assert_array_equal(out, -array)
        else:
            with pytest.raises((ValueError, BufferError)):
                program(lend(array), out=out)
            assert (out == 7).all()
    assert min(seen.values()) > 300


def test_memory_that_may_not_be_written(load):
    program, a, memory = load(STATIC), numbers(37), np.zeros(80, "f4")
    locked = np.zeros(37, "f4")
    locked.flags.writeable = False
    np.testing.assert_array_equal(program(a, locked), a)  # reading is fine
    with pytest.raises(TypeError, match="out 0 is read-only"):
        program(a, a, out=locked)
    with pytest.raises(ValueError, match="out 0, which the program writes, overlaps argument 1"):
        program(a, memory[:37], out=memory[36:73])
    np.testing.assert_array_equal(program(a, memory[:37], out=memory[37:74]), a)
    with pytest.raises(TypeError, match="takes 1 array in out, not 2"):
        program(a, a, out=(a, a))
    with pytest.raises(ValueError, match="argument 0, which the program writes, overlaps argument 1"):
        load(IN_PLACE)(a[:4], a[1:5])


def test_files_that_are_no_programs(tmp_path, compiled):
    program = Path(compiled(STATIC))
    with pytest.raises(tessera_runtime.Error, match="No such file"):
        tessera_runtime.load(tmp_path / "nosuch.so")
    (tmp_path / "text.so").write_text("text")
    with pytest.raises(tessera_runtime.Error, match="is not a program"):
        tessera_runtime.load(tmp_path / "text.so")
    (tmp_path / "cut.so").write_bytes(program.read_bytes()[:3000])
    with pytest.raises(tessera_runtime.Error, match="is cut short"):
        tessera_runtime.load(tmp_path / "cut.so")
    with pytest.raises(tessera_runtime.Error, match="has no entry 'other'; it has: main"):
        tessera_runtime.load(program, "other")
    with pytest.raises(tessera_runtime.Error, match="has no tessera_manifest"):
        tessera_runtime.load(tessera_runtime._runtime.__file__)


def test_threads_call_at_the_same_time(load):
    program, wrong = load(DYNAMIC), []

    def work(seed):
        for i in range(200):
            a, b = numbers(100 + i, seed=seed), numbers(100 + i, seed=i)
            if not np.array_equal(program(a, b), a + b):
                wrong.append((seed, i))

    threads = [threading.Thread(target=work, args=(seed, )) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


@pytest.mark.unsanitized
def test_calls_leave_nothing(load):
    program, a = load(STATIC), numbers(37)
    most = []
    for _ in range(3):
        for _ in range(10000):
            program(a, a)
        most.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
    assert most[-1] - most[0] < 1024  # KiB
    references = ctypes.c_ssize_t.from_address(id(a)).value
    program(a, a)
    assert ctypes.c_ssize_t.from_address(id(a)).value == references


def test_a_forked_child_is_refused(load):
    program, a = load(STATIC), numbers(37)
    program(a, a)
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        try:
            program(a, a)
            text = "ran"
        except tessera_runtime.Error as error:
            text = str(error)
        os.write(writing, text.encode())
        os._exit(0)
    os.close(writing)
    said = os.read(reading, 1000).decode()
    os.waitpid(child, 0)
    assert "this process was forked" in said and "spawn" in said
    program(a, a)
