"""Calls of kernels: many, from several threads, after fork; and what passes and targets find, at Python lines."""
import array
import os
import signal
import threading

import numpy as np
import pytest
from kernels import data

import tessera as ts

pytest.importorskip("tessera_runtime", reason="not built: Python.h is missing")


@pytest.fixture(autouse=True)
def kept(monkeypatch):
    monkeypatch.setenv("TESSERA_CACHE", "none")


@ts.kernel
def add(x: ts.Array[ts.f32, "N"], y: ts.Array[ts.f32, "N"], z: ts.Array[ts.f32, "N"], BLOCK: ts.Constant = 64):
    i = ts.program_id(0)
    ts.store(z, i, ts.load(x, i, BLOCK) + ts.load(y, i, BLOCK))


def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE")


@pytest.mark.unsanitized
def test_many_calls_hold_nothing():
    x, y, z = data(1024), data(1024, seed=1), np.zeros(1024, "f4")
    for _ in range(2000):
        add[16](x, y, z)
    before = resident()
    for _ in range(20000):
        add[16](x, y, z)
    assert resident() - before < 1 << 20
    np.testing.assert_array_equal(z, x + y)


@pytest.mark.unsanitized
@pytest.mark.parametrize("target", ["interpret", "emulate:sm_80", "emulate:gfx942"])
def test_judged_calls_hold_nothing(target):
    x, y, z = data(1024), data(1024, seed=1), np.zeros(1024, "f4")
    for _ in range(20):
        add[16](x, y, z, target=target)
    before = resident()
    for _ in range(100):
        add[16](x, y, z, target=target)
    assert resident() - before < 1 << 20


def test_several_threads_call_and_compile():
    x, y = data(1000), data(1000, seed=1)
    wrong = []

    def work(block):
        for target in ("cpu", "interpret", "cpu"):
            z = np.zeros(1000, "f4")
            add[-(-1000 // block)](x, y, z, BLOCK=block, target=target)
            if not (z == x + y).all():
                wrong.append((block, target))

    threads = [threading.Thread(target=work, args=(block, )) for block in (8, 32, 32, 100)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_a_forked_process_is_refused():
    x, y, z = data(64), data(64, seed=1), np.zeros(64, "f4")
    add[1](x, y, z)
    add[1](x, y, z, target="emulate:sm_80")
    for work in (lambda: add[1](x, y, z), lambda: add[1](x, y, z, target="emulate:sm_80"), lambda: add[1](x, y, z, BLOCK=32),
                 lambda: ts.parse("module {}")):
        child = os.fork()
        if child == 0:
            signal.alarm(60)  # it waited for the parent's threads
            try:
                work()
            except BaseException as error:
                os._exit(7 if "fork" in str(error) else 8)
            os._exit(0)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7


@ts.kernel
def racing(y: ts.Array[ts.f32, 64]):
    v = ts.load(y, 0, 64)
    ts.store(y, 0, v + ts.f32(ts.program_id(0)))


@pytest.mark.parametrize("target", ["interpret", "emulate:sm_80", "emulate:gfx942"])
def test_races_are_found_at_python_lines(target):
    with pytest.raises(ts.Error) as error:
        racing[4](np.zeros(64, "f4"), target=target)
    load, store = (statement.lineno for statement in racing.source.node.body)
    # A race is reported at the later of its two accesses; on an emulated GPU, either may be the later one.
    found = str(error.value)
    at_load = f"test_calls.py:{load}:9: error: " in found and "\n    v = ts.load(y, 0, 64)\n        ^" in found
    at_store = f"test_calls.py:{store}:5: error: " in found and "\n    ts.store(y, 0, v + ts.f32(ts.program_id(0)))\n    ^" in found
    assert at_load or at_store, found


@ts.kernel
def too_large(x: ts.Array[ts.f32, "N"], y: ts.Array[ts.f32, "N"]):
    ts.store(y, 0, ts.sort(ts.load(x, 0, 65536), axis=0))


def test_a_pass_reports_at_python_lines():
    with pytest.raises(ts.CompileError, match="bytes of shared memory, expected at most sm_80's") as error:
        too_large[1](data(8), np.zeros(8, "f4"), target="emulate:sm_80")
    assert error.value.file == __file__ and error.value.line == too_large.source.node.lineno


def test_an_unknown_target_is_named():
    with pytest.raises(ts.Error, match="unknown machine 'sm_1'"):
        racing[1](np.zeros(64, "f4"), target="emulate:sm_1")
    with pytest.raises(ts.Error, match="nowhere"):
        racing[1](np.zeros(64, "f4"), target="nowhere")


@ts.kernel
def copied(x: ts.Array[ts.f8e4m3fn, "N"], y: ts.Array[ts.f8e4m3fn, "N"]):
    i = ts.program_id(0)
    ts.store(y, i, ts.load(x, i, 16))


@pytest.mark.parametrize("target", ["cpu", "interpret", "emulate:sm_80"])
def test_elements_of_torch_without_dlpack(target):
    torch = pytest.importorskip("torch")
    x, y = torch.arange(20).to(torch.float32).to(torch.float8_e4m3fn), torch.zeros(20).to(torch.float8_e4m3fn)
    copied[2](x, y, target=target)
    assert (x.view(torch.uint8) == y.view(torch.uint8)).all()
    with pytest.raises(TypeError, match="'x' has elements of type torch.float8_e5m2; the program takes f8E4M3FN"):
        copied[2](x.to(torch.float32).to(torch.float8_e5m2), y, target=target)


class Shapeless:
    """An array of a library that has DLPack and no shape."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self):
        return self.array.__dlpack__()


@pytest.mark.parametrize("target", ["cpu", "interpret", "emulate:sm_80"])
def test_sizes_of_buffers_are_checked(target):
    x, z = array.array("f", range(70)), array.array("f", [0]) * 70
    add[2](x, x, z, target=target)
    assert list(z) == [2 * i for i in range(70)]
    with pytest.raises(ValueError, match="add: the size 'N' is 70 in 'x' .* and 69 in 'z'"):
        add[2](x, x, memoryview(z)[:69], target=target)
    with pytest.raises(TypeError, match="add: 'x' is a Shapeless without a shape"):
        add[2](Shapeless(np.zeros(70, "f4")), x, z, target=target)


def test_programs_of_a_kernel_are_bounded(monkeypatch):
    from tessera._kernel import launch
    monkeypatch.setattr(launch, "_MOST_KEYS", 3)
    x, z = np.ones(8, "f4"), np.zeros(8, "f4")
    add._compiled.clear()
    for block in (8, 16, 24, 32, 40, 8):
        add[1](x, x, z, BLOCK=block)
        assert len(add._compiled) <= 3 and (z == 2).all()
