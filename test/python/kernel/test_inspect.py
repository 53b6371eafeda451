"""tessera.inspect: the levels of a kernel, its layouts and counts, as a page."""
import re

import numpy as np
import pytest
from kernels import data

import tessera as ts
from tessera._inspect import Layout, _passes


@ts.kernel
def product(a: ts.Array[ts.f16, "M", "K"], b: ts.Array[ts.f16, "K", "N"], c: ts.Array[ts.f32, "M", "N"], B: ts.Constant):
    i, j = ts.program_id(0), ts.program_id(1)
    ts.store(c, (i, j), ts.load(a, (i, 0), (B, 32)) @ ts.load(b, (0, j), (32, B)))


def arrays():
    return data(32, 32, dtype="f2"), data(32, 32, dtype="f2"), np.zeros((32, 32), "f4")


@pytest.mark.parametrize("chip", ["sm_80", "gfx942"])
def test_a_kernel_on_a_chip(chip, tmp_path):
    a, b, c = arrays()
    seen = ts.inspect(product, a, b, c, B=32, grid=(1, 1), target=chip)
    assert seen.levels[0].name == "" and "tile.mma" in seen.levels[0].text and len(seen.levels) > 10
    assert "gpu.module" in seen.levels[-1].text
    assert all(one.text != other.text for one, other in zip(seen.levels, seen.levels[1:]))
    assert seen.statistics["mma_flops"] == 2 * 32**3 and seen.statistics["predicted_cycles"] > 0
    assert (c == 0).all(), "the caller's array was written"
    assert seen.layouts and all(layout.svg().startswith("<svg") for layout in seen.layouts)
    seen.save(tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    assert "def product" in page and "mma_flops" in page and page.count("<details") == len(seen.levels) + len(seen.layouts)
    roofline = seen.roofline
    moved = seen.statistics["global_bytes_read"] + seen.statistics["global_bytes_written"]
    assert roofline.intensity == 2 * 32**3 / moved and roofline.rate == pytest.approx(2 * 32**3 / seen.statistics["predicted_ms"] * 1e3)
    peak, bandwidth = {"sm_80": (2048 * 108 * 1.41e9, 2.039e12), "gfx942": (1307.4432e12, 5.3e12)}[chip]
    assert roofline.peaks["mma.flops.f16"] == peak and roofline.bandwidth == bandwidth and roofline.rate < peak
    assert roofline.svg() in page and roofline.svg().count("<polyline") == 2
    assert f"product for {chip}: {len(seen.levels)} levels" in str(seen)


@ts.kernel
def sums(x: ts.Array[ts.f32, "M", "N"], y: ts.Array[ts.f32, "M"], factor: ts.f32, W: ts.Constant):
    i = ts.program_id(0)
    ts.store(y, i, ts.sum(ts.load(x, (i, 0), (1, W)), axis=1) * factor)


def test_a_trace_of_warps(tmp_path):
    x, y = data(3, 300), np.zeros(3, "f4")
    seen = ts.inspect(sums, x, y, 2.0, W=300, grid=3, target="sm_80")
    trace = seen.trace
    assert trace.unit == "instructions"
    assert set(trace.rows) == {f"sums, block {block}, warp {warp}" for block in range(3) for warp in range(4)}
    barriers = [span.until for span in trace.spans if span.until]
    assert barriers and all(re.search(r"test_inspect\.py:\d+:\d+ 'nvvm.barrier", until) for until in barriers)
    assert all(span.length > 0 for span in trace.spans)
    for block in range(3):  # the warps of a block take turns
        spans = sorted((span.start, span.start + span.length) for span in trace.spans if f"block {block}," in span.row)
        assert all(end <= start for (_, end), (start, _) in zip(spans, spans[1:]))
    svg = trace.svg()
    assert svg.count("<rect") == len(trace.spans) and svg.count("block 2") == 4
    seen.save(tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    assert svg in page and "12 in all" in page
    assert not y.any(), "the caller's array was written"


def test_a_trace_of_the_cpu():
    x, y = data(3, 300), np.zeros(3, "f4")
    seen = ts.inspect(sums, x, y, 2.0, W=300, grid=3)
    assert seen.trace.unit == "us" and {span.name for span in seen.trace.spans} == {"sums"}
    assert seen.trace.svg() in seen.html() and not y.any()


def test_a_trace_of_elements_that_numpy_lacks():

    @ts.kernel
    def copy(x: ts.Array[ts.bf16, "N"], y: ts.Array[ts.bf16, "N"]):
        ts.store(y, 0, ts.load(x, 0, 16))

    bits = np.arange(16, dtype="u2")
    assert ts.inspect(copy, bits, np.zeros(16, "u2"), target="gfx942").trace.spans


def test_every_element_of_a_layout_has_a_place():
    a, b, c = arrays()
    for layout in ts.inspect(product, a, b, c, B=32, grid=(1, 1), target="sm_80").layouts:
        assert set(layout.places()) == set(np.ndindex(*layout.shape)), layout.text


def test_a_fragment():
    fragment = Layout((16, 8), "reg [2:d1, 2:d0*8], lane [4:d1*2, 8:d0]")  # mma.sync's accumulator
    places = fragment.places()
    assert places[0, 0] == [(0, 0, 0)] and places[9, 3] == [(0, 5, 3)] and len(places) == 128
    assert len(re.findall("<rect", fragment.svg())) == 128


def test_a_program_for_the_cpu():
    seen = ts.inspect(product.module(*arrays(), 32, grid=2))
    assert "llvm.func" in seen.levels[-1].text and seen.statistics is None and seen.roofline is None
    assert seen.level("canonicalize")
    with pytest.raises(KeyError, match="changed nothing"):
        seen.level("no-such-pass")


def test_what_is_refused():
    with pytest.raises(ts.Error, match="expected cpu, or a chip"):
        ts.inspect(product.module(*arrays(), 32, grid=2), target="vax")
    with pytest.raises(TypeError, match="only kernels take arguments"):
        ts.inspect(product.module(*arrays(), 32, grid=2), 3)


def test_passes_are_told_apart():
    assert _passes("a{x=1,2},func.func(b,c{d={(e,f)}}),g") == ["a{x=1,2}", "func.func(b)", "func.func(c{d={(e,f)}})", "g"]
