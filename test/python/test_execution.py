"""Programs on numpy arrays, on every target that needs no GPU."""
import numpy as np
import pytest
import tessera
from programs import AXPY, DOUBLE, MATMUL, identity

TARGETS = ["cpu", "interpret", "emulate:sm_80", "emulate:gfx942"]


def normal(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype("f4")


@pytest.mark.parametrize("target", TARGETS)
def test_a_product_equals_numpys(target):
    a, b, c = normal(5, 7), normal(7, 3, seed=1), normal(5, 3, seed=2)
    result = tessera.parse(MATMUL, name="matmul.mlir").run(a, b, c, target=target)
    assert len(result) == 1 and result[0].dtype == np.float32
    np.testing.assert_allclose(result[0], a.astype("f8") @ b + c, rtol=1e-5, atol=1e-5)
    np.testing.assert_array_equal(result.arguments[0], a)
    manifest = result.statistics["manifest"]
    assert (manifest["target"], manifest["entry"], manifest["file"]) == (target, "main", "matmul.mlir")
    assert (result.bounds is not None) == (target == "interpret")


@pytest.mark.parametrize("target", TARGETS)
def test_one_program_is_called_often_and_counts_each_call_alone(target):
    program = tessera.parse(AXPY).compile(target)
    assert [str(kind) for kind in program.inputs] == ["f32", "?xf32", "?xf32"]
    assert program.inputs[1].dtype == np.float32
    counts = []
    for size in (0, 1, 17, 300, 300):
        x, y = normal(size), normal(size, seed=1)
        result = program(2.0, x, y)
        np.testing.assert_allclose(result[0], 2 * x + y, rtol=1e-6)
        counts.append(result.statistics.get("global_bytes_read"))
    if target.startswith("emulate"):
        assert counts[3] == counts[4] > counts[2] > counts[1] > 0
    assert program.statistics["fallback_ops"] == 0 and "passes" in result.statistics


def test_seeded_data_is_the_same_everywhere_and_judged_by_bounds():
    module = tessera.parse(MATMUL)
    cpu, judge, other = (module.run(target="cpu", seed=3), module.run(target="interpret", seed=3), module.run(target="interpret", seed=4))
    np.testing.assert_array_equal(cpu.arguments[0], judge.arguments[0])
    assert all(cpu.judge(judge)) and (judge.bounds[0] > 0).all()
    assert not all(cpu.judge(other))
    assert all(cpu.judge(other, atol=100)) and not all(cpu.judge(judge, rtol=0, atol=0)) or (cpu[0] == judge[0]).all()
    (judgement,) = cpu.judge(other)
    worst = np.abs(cpu[0].astype("f8") - other[0])
    assert judgement.wrong > 0 and judgement.max_abs_error == pytest.approx(worst.max())
    with pytest.raises(tessera.Error):
        cpu.judge(tessera.parse(identity("f32")).run())


@pytest.mark.parametrize("target", TARGETS[:3])
def test_a_memref_is_written_in_place(target):
    x = normal(4, 3)
    before = x.copy()
    result = tessera.parse(DOUBLE).run(x, target=target)
    np.testing.assert_array_equal(x, 2 * before)
    np.testing.assert_array_equal(result.arguments[0], x)
    assert result.results == () and result.argument_types[0].is_memref
    wide = np.zeros((4, 6), "f4")
    wide[:, ::2] = before
    tessera.parse(DOUBLE).run(wide[:, ::2], target=target)  # a view with strides
    np.testing.assert_array_equal(wide[:, ::2], 2 * before)
    assert not wide[:, 1::2].any()


def test_repeats_begin_from_the_same_arguments():
    x = np.ones((4, 3), "f4")
    result = tessera.parse(DOUBLE).compile()(x, repeat=5)
    assert (x == 2).all() and result.statistics["manifest"]["repeat"] == 5
    assert result.statistics["time_ms_min"] <= result.statistics["time_ms_median"]


@pytest.mark.parametrize("element", ["i1", "i8", "i16", "i32", "i64", "ui8", "ui16", "ui32", "ui64", "f16", "f32", "f64"])
def test_numpys_own_types(element):
    program = tessera.parse(identity(element)).compile("interpret")
    x = (np.arange(12).reshape(4, 3) % 2).astype(program.inputs[0].dtype)
    result = program(x)
    assert result[0].dtype == x.dtype
    np.testing.assert_array_equal(result[0], x)


@pytest.mark.parametrize("element, name", [("bf16", "bfloat16"), ("f8E4M3FN", "float8_e4m3fn"), ("f8E5M2", "float8_e5m2"),
                                           ("f8E8M0FNU", "float8_e8m0fnu")])
def test_types_that_numpy_lacks(element, name, monkeypatch):
    program = tessera.parse(identity(element)).compile("interpret")
    bits = np.arange(12).reshape(4, 3).astype("u2" if element == "bf16" else "u1") + 60
    try:
        import ml_dtypes
    except ImportError:
        ml_dtypes = None
    else:
        given = bits.view(getattr(ml_dtypes, name))
        assert program.inputs[0].dtype == given.dtype
        assert program(given)[0].dtype == given.dtype
        np.testing.assert_array_equal(program(given)[0].view(bits.dtype), bits)
        np.testing.assert_array_equal(program(bits)[0].view(bits.dtype), bits)  # the bits will do
    monkeypatch.setitem(__import__("sys").modules, "ml_dtypes", None)
    assert program.inputs[0].dtype == bits.dtype
    np.testing.assert_array_equal(program(bits)[0], bits)


def test_arithmetic_in_bf16():
    text = """func.func @main(%x: tensor<6xbf16>) -> tensor<6xbf16> {
      %r = linalg.add ins(%x, %x : tensor<6xbf16>, tensor<6xbf16>) outs(%x : tensor<6xbf16>) -> tensor<6xbf16>
      return %r : tensor<6xbf16>
    }"""
    bits = np.array([0x3F80, 0xC000, 0, 0x7F80, 0x4049, 0x0080], "u2")  # 1, -2, 0, inf, pi, the least normal
    for target in TARGETS:
        seen = tessera.parse(text).run(bits, target=target)[0].view("u2")
        np.testing.assert_array_equal(seen, [0x4000, 0xC080, 0, 0x7F80, 0x40C9, 0x0100])


def test_scalars_lists_and_other_packages():
    text = "func.func @main(%x: f32, %n: i32, %i: index, %v: tensor<2x2xi64>) -> (f32, i32, index, tensor<2x2xi64>) { return %x, %n, "
    text += "%i, %v : f32, i32, index, tensor<2x2xi64> }"

    class Tensor:  # as torch's: numpy reads it by __array__
        dtype = "its own"
        shape = (2, 2)

        def __array__(self, dtype=None, copy=None):
            return np.array([[1, 2], [3, 4]], dtype or "i8")

    class Exchanged:  # as a package that has DLPack only
        def __dlpack__(self, **options):
            return np.array([[1, 2], [3, 4]]).__dlpack__(**options)

        def __dlpack_device__(self):
            return (1, 0)

    program = tessera.parse(text).compile("interpret")
    for array in ([[1, 2], [3, 4]], np.array([[1, 2], [3, 4]]), Tensor(), Exchanged(), np.array([[1, 3], [2, 4]]).T):
        result = program(1.5, -3, 2**40, array)
        assert [value.item() for value in result.results[:3]] == [1.5, -3, 2**40]
        np.testing.assert_array_equal(result[3], [[1, 2], [3, 4]])


@pytest.mark.parametrize("arrays, message", [
    ((), "argument 1 has dynamic sizes"),
    ((1.0,), "'main' takes 3 arguments, 1 were given"),
    ((1.0, [1.0], [2.0], [3.0]), "'main' takes 3 arguments, 4 were given"),
    ((1.0, np.zeros(3), np.zeros(3, "f4")), r"argument 1: is 3xfloat64, expected \?xf32 \(float32\)"),
    ((1.0, np.zeros((3, 1), "f4"), np.zeros(3, "f4")), r"argument 1: is 3x1xfloat32, expected \?xf32"),
    ((1.0, "abc", [1.0]), "argument 1: "),
    ((1.0, [None], [1.0]), "argument 1: "),
    ((1.0, object(), [1.0]), "argument 1: "),
    (([1.0], [1.0], [1.0]), "argument 0: is 1xfloat32, expected f32"),
    ((1.0, [[1.0], [1.0, 2.0]], [1.0]), "argument 1: "),
])  # yapf: disable
def test_what_does_not_fit_is_named(arrays, message):
    program = tessera.parse(AXPY).compile("interpret")
    with pytest.raises(tessera.Error, match=message):
        program(*arrays)
    np.testing.assert_array_equal(program(1.0, [1.0], [2.0])[0], [3.0])  # and the program is as good as before


def test_integers_that_do_not_fit_are_refused():
    program = tessera.parse("func.func @main(%x: i8) -> i8 { return %x : i8 }").compile("interpret")
    for value in (300, 1.5, "1", 2**70):
        with pytest.raises(tessera.Error, match="argument 0: "):
            program(value)
    assert program(-128)[0] == -128


@pytest.mark.parametrize("array", [[[0.0] * 3] * 4, np.zeros((4, 3)), np.zeros((3, 4), "f4"), 1.0])
def test_a_memref_takes_only_an_array_that_can_be_written(array):
    with pytest.raises(tessera.Error, match="argument 0: "):
        tessera.parse(DOUBLE).run(array)
    fixed = np.zeros((4, 3), "f4")
    fixed.flags.writeable = False
    with pytest.raises(tessera.Error, match="writable"):
        tessera.parse(DOUBLE).run(fixed)


@pytest.mark.parametrize("options, message", [
    ({"target": "gpu"}, "unknown target; known: cpu, interpret, emulate:CHIP"),
    ({"target": "emulate:sm_1"}, "sm_1"),
    ({"target": ""}, "unknown target"),
    ({"entry": "nosuch"}, "matmul.mlir: has no function 'nosuch'"),
    ({"threads": -1}, "--threads=-1"),
    ({"target": "interpret", "max_steps": 10}, "10"),
    ({"pipeline": "builtin.module(nosuch)"}, "pipeline"),
    ({"pipeline": "builtin.module(cse)"}, "LLVM|llvm"),
    ({"sparsity": "some"}, "sparsity is 'some'; exact, finite and off are accepted"),
    ({"policy": "fixed", "pipeline": "builtin.module(cse)"}, "--policy=fixed: applies only to the target's own pipeline"),
    ({"repeat": 0}, "repeat 0: expected 1"),
])  # yapf: disable
def test_what_cannot_be_run_is_named(options, message):
    with pytest.raises(tessera.Error, match=message):
        tessera.parse(MATMUL, name="matmul.mlir").run(**options)


def test_an_entry_that_cannot_be_called():
    with pytest.raises(tessera.Error, match="vector"):
        tessera.parse("func.func @main(%v: vector<4xf32>) { return }").run()


def test_a_failed_assertion_is_an_exception_on_every_target():
    text = 'func.func @main(%x: i1) { cf.assert %x, "x must hold" return }'
    for target in ("cpu", "interpret"):
        program = tessera.parse(text).compile(target)
        for _ in range(2):
            with pytest.raises(tessera.Error, match="x must hold"):
                program(False)
        program(True)


RACE = """
tile.kernel @k(%m: memref<8xi32>) {
  %z = arith.constant 0 : index
  %i = tile.program_id 0
  %n = arith.index_cast %i : index to i32
  %t = tile.broadcast %n axes [0] : i32 -> tensor<8xi32>
  %V = tile.view %m : memref<8xi32> to !tile.view<8xi32>
  tile.store %t, %V[%z] : tensor<8xi32>, !tile.view<8xi32>
  tile.return
}
func.func @main(%m: memref<8xi32>) {
  %c = arith.constant 4 : index
  tile.launch @k grid(%c) outs(%m : memref<8xi32>)
  return
}
"""


def test_what_a_judge_finds_in_a_kernel_is_located():
    with pytest.raises(tessera.Error) as caught:
        tessera.parse(RACE, name="race.mlir").run(np.zeros(8, "i4"), target="interpret")
    assert any(d.location.file == "race.mlir" for d in caught.value.diagnostics), str(caught.value)


def test_programs_run_in_several_threads():
    from concurrent.futures import ThreadPoolExecutor
    module = tessera.parse(AXPY)

    def one(seed):
        x, y = normal(50, seed=seed), normal(50, seed=seed + 100)
        return np.abs(module.run(2.0, x, y, target="cpu" if seed % 2 else "interpret")[0] - (2 * x + y)).max()

    with ThreadPoolExecutor(4) as pool:
        assert max(pool.map(one, range(8))) < 1e-5


def test_an_error_on_a_thread_of_the_interpreter():
    """Threads of a block are threads of the process; what one of them says must not wait for the thread that called."""
    module = tessera.parse("""
func.func @main() {
  %m = memref.alloc() : memref<2xi32>
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c2, %sy = %c1, %sz = %c1) {
    %v = memref.load %m[%tx] : memref<2xi32>
    %s = gpu.all_reduce add %v {} : (i32) -> (i32)
    memref.store %s, %m[%tx] : memref<2xi32>
    gpu.terminator
  }
  return
}
""")
    with pytest.raises(tessera.Error, match="<string>:8:10: error: 'memref.load' op reads an element that nobody wrote"):
        module.run(target="interpret")
