"""What programs print here, by tile-run and by tile-exec, beside what they print by mlir-opt --sparsifier and mlir-runner.
Use: prints.py FOLDER FILE…      All tools are found on PATH; NAME.upstream.txt stays in the folder. Addresses are alike.
"""
import re
import subprocess
import sys
from pathlib import Path

folder = Path(sys.argv[1])


def output(*command, **options):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, **options)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stderr}")
    return done.stdout


def upstream(file):
    lowered = output("mlir-opt", file, "--sparsifier=enable-runtime-library=false")
    libraries = Path(output("llvm-config", "--libdir").strip())
    shared = ",".join(str(libraries / f"libmlir_{name}.so") for name in ("c_runner_utils", "runner_utils"))
    return output("mlir-runner", "-e", "main", "--entry-point-result=void", f"--shared-libs={shared}", input=lowered)


def ours(file):
    output("tile-translate", file, "--tile-to-program", "-o", folder / "program.so")
    return output("tile-run", file), output("tile-exec", folder / "program.so")


for file in map(Path, sys.argv[2:]):
    want, *seen = (re.sub("0x[0-9a-f]+", "ADDRESS", text) for text in (upstream(file), *ours(file)))
    (folder / f"{file.stem}.upstream.txt").write_text(want)
    for text in seen:
        if text != want:
            sys.exit(f"{file.stem}: printed\n{text}\nwant\n{want}")
    print(f"{file.stem}: {len(want.splitlines())} lines, alike")
