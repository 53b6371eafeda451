"""breakpoint() in a kernel: on the interpreter the first instance that comes to it stops there, with its names."""
import io
import pdb
import sys

import numpy as np
import pytest

import tessera as ts

pytest.importorskip("tessera_runtime", reason="not built: Python.h is missing")


@ts.func
def halved(v):
    h = v * 0.5
    breakpoint()
    return h


@ts.kernel
def steps(x: ts.Array[ts.f32, "M", 5], y: ts.Array[ts.f32, "M", 5], W: ts.Constant):
    i = ts.program_id(0)
    v = ts.load(x, (i, 0), (1, 5))
    both = (v + 1, "text")
    for k in range(2):
        v = v + W
        if i > 0:
            breakpoint()
    ts.store(y, (i, 0), halved(both[0]) + v)


def arrays():
    x = np.arange(20, dtype="f4").reshape(4, 5)
    return x, np.zeros_like(x)


def right(x, w):
    return (x + 1) * np.float32(0.5) + (x + w + w)


def test_stops_one_instance_with_its_names(monkeypatch):
    seen = []
    monkeypatch.setattr(sys, "breakpointhook", lambda: seen.append((dict(sys._getframe(1).f_locals), sys._getframe(1).f_lineno)))
    x, y = arrays()
    steps[4](x, y, W=3, target="interpret")
    np.testing.assert_array_equal(y, right(x, 3))
    # The loop's breakpoint stops instance 1, in both turns; the function's stops instance 0.
    assert [set(names) for names, _ in seen] == [{"v", "h"}, *[{"i", "k", "v", "both", "W"}] * 2]
    np.testing.assert_array_equal(seen[0][0]["h"], (x[:1] + 1) * np.float32(0.5))
    for turn, (names, line) in enumerate(seen[1:]):
        assert names["i"] == 1 and names["k"] == turn and names["W"] == 3 and names["both"][1] == "text"
        np.testing.assert_array_equal(names["both"][0], x[1:2] + 1)
        np.testing.assert_array_equal(names["v"], x[1:2] + 3 * (turn + 1))
        assert line == steps.source.node.lineno + 7


@pytest.mark.parametrize("target", ["cpu", "emulate:sm_80"])
def test_other_targets_do_not_stop(monkeypatch, capfd, target):
    monkeypatch.setattr(sys, "breakpointhook", lambda: pytest.fail("stopped"))
    x, y = arrays()
    steps[4](x, y, W=3, target=target)
    np.testing.assert_array_equal(y, right(x, 3))
    assert capfd.readouterr().out == ""


def test_pdb_shows_the_line_and_can_quit(monkeypatch):
    said = io.StringIO()
    monkeypatch.setattr(sys, "breakpointhook",
                        lambda: pdb.Pdb(stdin=io.StringIO("p h.sum()\nq\n"), stdout=said, nosigint=True).set_trace(sys._getframe(1)))
    x, y = arrays()
    with pytest.raises(BaseException) as raised:
        steps[4](x, y, W=3, target="interpret")
    assert type(raised.value).__name__ == "BdbQuit"
    assert "test_breakpoints.py(17)" in said.getvalue() and "7.5" in said.getvalue()
    monkeypatch.setattr(sys, "breakpointhook", lambda: None)
    steps[4](x, y, W=3, target="interpret")  # goes on as before
    np.testing.assert_array_equal(y, right(x, 3))


def test_what_the_hook_raises_arrives(monkeypatch):

    def hook():
        raise KeyError("mine")

    monkeypatch.setattr(sys, "breakpointhook", hook)
    with pytest.raises(KeyError, match="mine"):
        steps[4](*arrays(), W=3, target="interpret")
