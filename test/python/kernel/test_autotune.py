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
