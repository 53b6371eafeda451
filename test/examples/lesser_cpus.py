"""Runs the programs of examples/demo.py on lesser CPUs, which qemu-user emulates, against numpy and the interpreter.

Use: lesser_cpus.py BUILD CPU... (names of qemu-x86_64 -cpu). Prints "N programs on N CPUs, N wrong".
"""
import sys
import tempfile
from pathlib import Path
from types import SimpleNamespace

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "examples"))
import demo  # noqa: E402


def tools_on(cpu, build, folder):
    """A folder whose tile-run runs on the CPU."""
    tools = folder / cpu
    tools.mkdir()
    tool = tools / "tile-run"
    tool.write_text(f'#!/bin/sh\nexec qemu-x86_64 -cpu {cpu} {build}/bin/tile-run "$@"\n')
    tool.chmod(0o755)
    return tools


def main():
    build, cpus, wrong = Path(sys.argv[1]), sys.argv[2:], 0
    programs = [demo.digits(), demo.transformer(), demo.softmax(), demo.masked(), demo.routed(), demo.gcn()]
    options = SimpleNamespace(repeat=1, threads=1)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for cpu in cpus:
            tools = tools_on(cpu, build, folder)
            for program in programs:
                row = demo.run(program, tools, options, tools, tools)
                wrong += not row["passed"]
                print(f"{cpu}: {program.name}: {'right' if row['passed'] else 'WRONG'}, to numpy {row['error']:.1e}", flush=True)
    print(f"{len(programs)} programs on {len(cpus)} CPUs, {wrong} wrong")
    return wrong != 0


if __name__ == "__main__":
    sys.exit(main())
