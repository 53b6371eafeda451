"""Options of pipelines: a chip that does not exist gets one sentence, however long its name; `bufferized` leaves out
the stages on tensors; `into` adds a stage once kernels exist; a value that would change the pipeline's text is refused.

Use: options.py TILE_OPT FILE
"""
import subprocess
import sys

TOOL, FILE = sys.argv[1:]
PIPELINES = ["tile-to-cpu-pipeline", "tile-to-nvvm-pipeline", "tile-to-rocdl-pipeline"]


def run(*flags, source=FILE, text=None):
    return subprocess.run([TOOL, *flags, source], input=text, capture_output=True, text=True)


def first_error(done):
    assert done.returncode == 1, done.returncode
    return done.stderr.splitlines()[0]


def expansion(pipeline):
    done = run(f"--{pipeline}", "--dump-pass-pipeline", source="-", text="module {}")
    assert done.returncode == 0, done.stderr
    return done.stderr.split("builtin.module(", 1)[1]


def main():
    for pipeline in PIPELINES:
        short, long = (first_error(run(f"--{pipeline}=chip={chip}")) for chip in ("foo", "a" * 1000))
        assert "unknown machine 'foo'; known: gfx1100, " in short, short
        assert long.split("'; known: ")[1] == short.split("'; known: ")[1], long
        whole, rest = expansion(pipeline), expansion(f"{pipeline}=bufferized=true")
        assert len(rest) < len(whole) and whole.endswith(rest[rest.index("bufferization-lower"):]), rest
        for value in ("{a b}", "'a)b'"):
            message = first_error(run(f"--pass-pipeline=builtin.module({pipeline}{{chip={value}}})"))
            assert "has a space, a quote or a bracket in it" in message, message
    assert "tile-add-into-entries" not in expansion("tile-to-cpu-pipeline")
    passes = expansion("tile-to-cpu-pipeline=into=true")
    assert passes.index("convert-linalg-to-tile") < passes.index("tile-add-into-entries") < passes.index("tile-bufferize-host"), passes
    print("options are checked")


if __name__ == "__main__":
    main()
