"""tessera.autotune: choices are measured once, judged, kept by key, and ranked by prediction on an emulated GPU."""
import json
import warnings

import numpy as np
import pytest
from kernels import data

import tessera as ts

pytest.importorskip("tessera_runtime", reason="not built: Python.h is missing")


@pytest.fixture(autouse=True)
def kept(tmp_path, monkeypatch):
    monkeypatch.setenv("TESSERA_CACHE", str(tmp_path))
    return tmp_path / "tuning"


@ts.kernel
def plain(x: ts.Array[ts.f32, "N"], y: ts.Array[ts.f32, "N"], BLOCK: ts.Constant, factor: ts.Constant = 2.0):
    i = ts.program_id(0)
    ts.store(y, i, ts.load(x, i, BLOCK) * factor)


def tuned(choices, **options):
    return ts.autotune(choices, seconds=0.01, **options)(plain)


def grid(given):
    return -(-given["x"].shape[0] // given["BLOCK"])


def test_a_choice_is_made_and_kept(kept):
    x, y = data(1000), np.zeros(1000, "f4")
    kernel = tuned([{"BLOCK": 1}, {"BLOCK": 512}], key=["N"])
    kernel[grid](x, y)
    np.testing.assert_array_equal(y, x * 2)
    files = list(kept.iterdir())
    assert len(files) == 1
    found = json.loads(files[0].read_text())
    assert found["kernel"] == "plain" and [row["choice"] for row in found["choices"]] == [{"BLOCK": "1"}, {"BLOCK": "512"}]
    assert all(row["seconds"] > 0 for row in found["choices"])
    found["best"] = 0  # what is kept is believed, without measuring again
    files[0].write_text(json.dumps(found))
    again = tuned([{"BLOCK": 1}, {"BLOCK": 512}], key=["N"])
    assert again.best(grid, (x, y), {}) == 0
    files[0].write_text("damaged")
    assert tuned([{"BLOCK": 1}, {"BLOCK": 512}], key=["N"]).best(grid, (x, y), {}) in (0, 1)
    kernel[grid](data(40), np.zeros(40, "f4"))
    assert len(list(kept.iterdir())) == 2


def test_the_callers_arrays_are_written_once():
    x, y = data(64), np.zeros(64, "f4")

    @ts.kernel
    def more(x: ts.Array[ts.f32, "N"], y: ts.Array[ts.f32, "N"], BLOCK: ts.Constant):
        i = ts.program_id(0)
        ts.store(y, i, ts.load(y, i, BLOCK) + ts.load(x, i, BLOCK))

    ts.autotune([{"BLOCK": 8}, {"BLOCK": 64}], seconds=0.01)(more)[grid](x, y)
    np.testing.assert_array_equal(y, x)


def test_a_wrong_candidate_is_an_error():
    with pytest.raises(ts.Error, match=r"choice \{'BLOCK': 8, 'factor': 3.0\} gives a wrong result in 'y'"):
        tuned([{"BLOCK": 8}, {"BLOCK": 8, "factor": 3.0}])[grid](data(64), np.zeros(64, "f4"))


def test_a_candidate_that_does_not_compile_is_left_out():
    x, y = data(64), np.zeros(64, "f4")
    with pytest.warns(UserWarning, match="does not compile"):
        tuned([{"BLOCK": 8}, {"BLOCK": 0}])[8](x, y)
    np.testing.assert_array_equal(y, x * 2)
    with pytest.raises(ts.CompileError, match="expected at least 1"):
        tuned([{"BLOCK": 0}, {"BLOCK": -1}])[8](x, y)


def test_a_gpu_is_ranked_by_prediction(kept):
    x, y = data(8192), np.zeros(8192, "f4")  # more blocks of one number than the chip holds at once
    with pytest.warns(UserWarning, match="ranked by the emulator's prediction for sm_80, which is not calibrated"):
        tuned([{"BLOCK": 1}, {"BLOCK": 256, "warps": 4}])[grid](x, y, target="emulate:sm_80")
    np.testing.assert_array_equal(y, x * 2)
    found = json.loads(next(kept.iterdir()).read_text())
    assert found["best"] == 1 and found["choices"][0]["predicted_cycles"] > found["choices"][1]["predicted_cycles"]


@ts.autotune([{"W": 8}, {"W": 4}], key=["N"])
@ts.kernel
def half_of_it(x: ts.Array[ts.f32, "N"], y: ts.Array[ts.f32, "N"], W: ts.Constant):
    i = ts.program_id(0)
    ts.store(y, i, ts.load(x, i, W) * (2 if W == 8 else 3))


@ts.autotune([{"W": 8}, {"W": 4}], key=["N"])
@ts.kernel
def racing(x: ts.Array[ts.f32, "N"], y: ts.Array[ts.f32, "N"], W: ts.Constant):
    i = ts.program_id(0)
    ts.store(y, i if W == 8 else 0, ts.load(x, i, W) * 2)


@pytest.mark.parametrize("kernel, message", [(half_of_it, "{'W': 4} gives a wrong result in 'y'"), (racing, "choice {'W': 4}: .*race: write")])
def test_a_wrong_candidate_of_a_gpu_is_an_error(kernel, message, kept):
    x, y = data(64), np.zeros(64, "f4")
    with pytest.warns(UserWarning, match="ranked by"), pytest.raises(ts.Error, match=message):
        kernel[lambda given: (64 // given["W"], )](x, y, target="emulate:sm_80")
    assert not y.any() and not kept.exists()


@ts.kernel
def product(a: ts.Array[ts.f32, "M", "K"], b: ts.Array[ts.f32, "K", "N"], c: ts.Array[ts.f32, "M", "N"], BM: ts.Constant, BN: ts.Constant,
            BK: ts.Constant = 24):
    i, j = ts.program_id(0), ts.program_id(1)
    total = ts.zeros((BM, BN))
    for k in range(ts.cdiv(a.shape[1], BK)):
        total = ts.mma(ts.load(a, (i, k), (BM, BK)), ts.load(b, (k, j), (BK, BN)), total)
    ts.store(c, (i, j), total)


@ts.kernel
def rows(x: ts.Array[ts.f32, "M", "N"], y: ts.Array[ts.f32, "M", "N"], W: ts.Constant):
    i = ts.program_id(0)
    v = ts.load(x, (i, 0), (1, W), pad="neg_inf")
    e = ts.exp(v - ts.max(v, axis=1, keepdims=True))
    ts.store(y, (i, 0), e / ts.sum(e, axis=1, keepdims=True))


def listed(kernel, *arrays, chip=None, **named):
    """The blocks that tile-construct-tiles lists for the operator, and the choices that autotune tries."""
    from tessera._kernel import roller
    constants = list(roller._open(kernel, arrays, named))
    operator = roller._operator(kernel, arrays, named, constants)
    module = ts.parse(operator.text)
    module.run_passes(f"func.func(tile-generalize-named-ops,tile-construct-tiles{{top=10{' chip=' + chip if chip else ''}}})")
    schedules = next(op.attributes["tile.schedules"] for op in module.walk() if "tile.schedules" in op.attributes).value
    return [str(schedule) for schedule in schedules], roller.choices(kernel, arrays, named, chip)


def test_the_compiler_lists_the_choices_of_a_product():
    arrays = data(300, 130), data(130, 257), np.zeros((300, 257), "f4")
    schedules, choices = listed(product, *arrays, chip="sm_80")
    assert len(choices) > 3 and all(choice["schedule"] in schedule for choice, schedule in zip(choices, schedules))
    for choice, schedule in zip(choices, schedules):
        assert f"block = [{choice['BM']}, {choice['BN']}, {choice['BK']}]" in schedule
    _, ours = listed(product, *arrays)
    assert len(ours) > 3 and not any("warps" in choice for choice in ours)
    _, fixed = listed(product, *arrays, chip="sm_80", BK=16)
    assert all("BK" not in choice for choice in fixed)


def test_a_product_without_choices(kept):
    a, b, c = data(70, 90), data(90, 65), np.zeros((70, 65), "f4")

    def places(given):
        return -(-70 // given["BM"]), -(-65 // given["BN"])

    kernel = ts.autotune(seconds=0.01)(product)
    kernel[places](a, b, c)
    np.testing.assert_allclose(c, a @ b, rtol=1e-4, atol=1e-4)
    found = json.loads(next(kept.iterdir()).read_text())
    assert len(found["choices"]) > 3 and all(row["seconds"] > 0 for row in found["choices"])
    chosen = kernel.choice(places, (a, b, c), {})
    assert set(chosen) == {"BM", "BN", "BK"} and {name: repr(size) for name, size in chosen.items()} == found["choices"][found["best"]]["choice"]
    c[:] = 0
    kernel[places](a, b, c, BK=16)  # what the call gives is not chosen
    np.testing.assert_allclose(c, a @ b, rtol=1e-4, atol=1e-4)
    assert set(kernel.choice(places, (a, b, c), {"BK": 16})) == {"BM", "BN"}


def test_a_tile_that_must_hold_its_axis_does():
    x, y = data(5, 433), np.zeros((5, 433), "f4")
    kernel = ts.autotune(seconds=0.01)(rows)
    kernel[5](x, y)
    np.testing.assert_allclose(y.sum(axis=1), 1, rtol=1e-5)
    assert all(choice["W"] >= 433 for choice in listed(rows, x, y, chip="sm_80")[1])


def test_defaults_are_tried_first():
    x, y = data(100), np.zeros(100, "f4")

    @ts.kernel
    def defaults(x: ts.Array[ts.f32, "N"], y: ts.Array[ts.f32, "N"], BLOCK: ts.Constant = 7, factor: ts.Constant = 3):
        i = ts.program_id(0)
        ts.store(y, i, ts.load(x, i, BLOCK) * factor)

    choices = listed(defaults, x, y)[1]
    assert choices[0] == {"BLOCK": 7, "factor": 3} and len(choices) > 1 and all(choice["factor"] == 3 for choice in choices)
    ts.autotune(seconds=0.01)(defaults)[grid](x, y)
    np.testing.assert_array_equal(y, x * 3)


def test_a_list_for_no_kernel_is_refused():
    x, y = data(64), np.zeros(64, "f4")
    with pytest.raises(TypeError, match="'factor' is no size of a tile; expected choices, or its value at the call"):

        @ts.kernel
        def scaled(x: ts.Array[ts.f32, "N"], y: ts.Array[ts.f32, "N"], BLOCK: ts.Constant, factor: ts.Constant):
            i = ts.program_id(0)
            ts.store(y, i, ts.load(x, i, BLOCK) * factor)

        ts.autotune()(scaled)[grid](x, y)
    with pytest.raises(TypeError, match="no Constant is left to choose"):
        ts.autotune()(plain)[grid](x, y, BLOCK=8, factor=2)

    @ts.kernel
    def sums(x: ts.Array[ts.f32, "N"], y: ts.Array[ts.f32, "N"], W: ts.Constant):
        i = ts.program_id(0)
        v = ts.load(x, i, W)
        ts.store(y, i, v - ts.sum(v, axis=0, keepdims=True))

    with pytest.raises(ts.Error, match="gives a wrong result in 'y'; expected Constants that only size tiles, or choices"):
        ts.autotune(seconds=0.01)(sums)[lambda given: -(-64 // given["W"])](x, y)


def test_what_is_refused():
    with pytest.raises(TypeError, match="no parameter 'BLOK'"):
        tuned([{"BLOK": 1}])
    with pytest.raises(TypeError, match="neither a parameter nor a size 'K'"):
        tuned([{"BLOCK": 1}], key=["K"])
    with pytest.raises(TypeError, match="no choices"):
        tuned([])
    with pytest.raises(TypeError, match="stands above tessera.kernel"):
        ts.autotune([{"BLOCK": 1}])(len)


def test_one_choice_is_not_measured(kept):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tuned([{"BLOCK": 8}])[grid](data(64), np.zeros(64, "f4"), target="emulate:sm_80")
    assert not kept.exists()
