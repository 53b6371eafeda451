"""--tile-machine-path=DIR: a new chip, sm_80 with twice the shared memory, is tried without building.

Use: machine_path.py TILE_OPT TILE_RUN TILE_TRANSLATE TILE_REDUCE SOURCE FOLDER
"""
import os
import re
import subprocess
import sys
from pathlib import Path

OPT, RUN, TRANSLATE, REDUCE, SOURCE = sys.argv[1:6]
FOLDER = Path(sys.argv[6])
FLAG = f"--tile-machine-path={FOLDER}"
MATMUL = """
func.func @main(%a: tensor<4096x4096xf16>, %b: tensor<4096x4096xf16>) -> tensor<4096x4096xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<4096x4096xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  %c = linalg.matmul ins(%a, %b : tensor<4096x4096xf16>, tensor<4096x4096xf16>) outs(%init : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  return %c : tensor<4096x4096xf32>
}
"""


def run(*command, text=None, wanted=0, environment=None):
    done = subprocess.run(command, input=text, capture_output=True, text=True, env=os.environ | (environment or {}))
    assert done.returncode == wanted, (command, done.returncode, done.stderr)
    return done


def schedule(chip, *flags, **others):
    passes = f"builtin.module(func.func(linalg-generalize-named-ops,tile-construct-tiles{{chip={chip}}}))"
    text = run(OPT, f"--pass-pipeline={passes}", *flags, "-", text=MATMUL, **others).stdout
    return re.findall(r"#tile.schedule<.*?>", text)


def main():
    FOLDER.mkdir(parents=True, exist_ok=True)
    built_in = (Path(SOURCE) / "lib" / "machine" / "sm_80.machine").read_text()
    doubled = re.sub(r"^(shared\.(?:per_block\.)?bytes) = (\d+)", lambda m: f"{m[1]} = {2 * int(m[2])}", built_in, flags=re.M)
    assert doubled.count("\n") == built_in.count("\n") and doubled != built_in
    (FOLDER / "big.machine").write_text(doubled)
    (FOLDER / "wrong.machine").write_text("base = sm_80\nshared.size = 4\n")

    # Another decision; the flag and the environment variable say the same; a file of the folder is read each time.
    plain, big = schedule("sm_80"), schedule("big", FLAG)
    assert plain != big, plain
    assert schedule("big", environment={"TESSERA_MACHINE_PATH": str(FOLDER)}) == big
    (FOLDER / "sm_80.machine").write_text(doubled)
    assert schedule("sm_80", FLAG) == big
    (FOLDER / "sm_80.machine").unlink()

    # The other tools.
    program = FOLDER / "program.mlir"
    program.write_text(MATMUL.replace("4096", "64"))
    run(RUN, str(program), "--target=emulate:big", "--check-against=interpret", FLAG)
    assert ".target sm_80" in run(TRANSLATE, str(program), "--tile-to-ptx", "--chip=big", FLAG).stdout
    for tool in (OPT, RUN, TRANSLATE):
        assert "tile-machine-path" in run(tool, "--help").stdout, tool
    run(REDUCE, FLAG, "--help")  # mlir-reduce lists passes only

    # What is wrong names what there is.
    def complaint(chip, *flags):
        return run(OPT, f"--tile-to-nvvm-pipeline=chip={chip}", *flags, "-", text=MATMUL, wanted=1).stderr.splitlines()[0]

    assert "unknown machine 'big'; known: gfx1100, " in complaint("big")
    assert "unknown machine 'small'; known: big, gfx1100, " in complaint("small", FLAG)
    assert "wrong.machine:2: unknown key 'shared.size'; known: base, kind, isa, " in complaint("wrong", FLAG)

    # A folder that is not there is one line, whoever named it.
    missing = "error: folder of machines /no/such/folder: No such file or directory"
    for tool in (OPT, RUN, TRANSLATE, REDUCE):
        assert run(tool, "--tile-machine-path=/no/such/folder", str(program), wanted=1).stderr == f"{Path(tool).name}: {missing}\n", tool
    said = run(OPT, str(program), wanted=1, environment={"TESSERA_MACHINE_PATH": "/no/such/folder"}).stderr
    assert said == f"tile-opt: {missing}\n", said
    print("a chip was tried without building")


if __name__ == "__main__":
    main()
