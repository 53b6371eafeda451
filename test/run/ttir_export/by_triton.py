"""Compiles every TTIR that we write with Triton's own compiler: no GPU is needed.

by_triton.py TILE_TRANSLATE [--targets=sm_80,sm_90,gfx942] [--only=REGEX] [--list=FILE]

What it compiles:
  corpus       the TTIR of test/run/triton_kernels and test/run/triton/Inputs, printed by our tools
  read back    these kernels as tile kernels, written as TTIR
  exports      test/run/ttir_export and test/run/cuda_tile_export, through pointers and through descriptors
  cuTile       the bytecode files of test/run/cuda_tile, written as TTIR
Each kernel goes through the stages of triton.compile after `ttir`, to PTX for NVIDIA and to assembly for AMD. Prints a line for
each kernel that Triton refuses, what we refuse to write, and a count for each group and target. Exits 1 if Triton refuses a kernel
that is not among REFUSED, or if our tool does not write one.
"""
import argparse
import collections
import os
import re
import subprocess
import sys
import tempfile

# What Triton 3.9 does not compile, by group and name, by target.
REFUSED = [
    (r"corpus/block_pointers", r".*", "ops of Triton 3.5"),
    (r"corpus/table_of_pointers", r".*", "Triton 3.9 has no pointers to pointers"),
    (r"corpus/histogram_(i64_masked|i8)", r".*", "Triton counts i32 only; our export widens"),
    (r"corpus/(expm1|gelu_tanh|log1p|mish|power|rsqrt|elementwise)", r"gfx", "functions of NVIDIA's library; our export has arithmetic"),
    (r"corpus/dependent_grids", r"gfx", "grids that wait for grids are NVIDIA's"),
    (r"corpus/reduced_block_(max|min)_i32", r"sm_80|gfx", "descriptors with a maximum or minimum need TMA"),
    (r".*/(scaled_.*e4m3.*|through_f8)", r"sm_80", "f8E4M3FN needs sm_89"),
]

HERE = os.path.dirname(os.path.abspath(__file__))
RUN = os.path.dirname(HERE)


def last_line(text):
    lines = [line for line in text.splitlines() if "error" in line or "Assert" in line or "failed" in line] or text.splitlines()[-1:]
    return re.sub(r"\S*/", "", lines[0])[:180] if lines else "no message"


def write(translate, source, flags, path):
    """What our tool says against it, or nothing."""
    with open(path, "w", encoding="utf-8") as out:
        run = subprocess.run([translate, source, *flags], stdout=out, stderr=subprocess.PIPE, text=True, check=False)
    return last_line(run.stderr) if run.returncode else None


def texts(translate, folder):
    """(group, name, path) of each text, and the refusals of our own."""
    for script in ("kernels", "rare"):
        subprocess.run([sys.executable, f"{RUN}/triton_kernels/{script}.py", f"--write={folder}"], check=True, stdout=subprocess.DEVNULL)
    corpus = sorted(f"{where}/{name}" for where in (folder, f"{RUN}/triton/Inputs") for name in os.listdir(where) if name.endswith(".ttir"))
    bytecode = sorted(f"{RUN}/cuda_tile/Inputs/{name}" for name in os.listdir(f"{RUN}/cuda_tile/Inputs") if name.endswith(".tileirbc"))
    own = [f"{RUN}/{room}/Inputs/kernels.mlir" for room in ("ttir_export", "cuda_tile_export")]
    made, refused = [], []

    def add(group, source, *steps):
        name = os.path.splitext(os.path.basename(source))[0]
        if source in own:
            name = os.path.basename(os.path.dirname(os.path.dirname(source)))
        for number, flags in enumerate(steps):
            path = f"{folder}/{len(made)}_{number}{'.ttir' if number + 1 == len(steps) else '.mlir'}"
            if reason := write(translate, source, flags, path):
                refused.append((group, name, reason))
                return
            source = path
        for kernel, apart in kernels_apart(path):
            made.append((group, kernel if kernel.startswith(name) else f"{name}.{kernel}", apart))

    for path in corpus:
        add("corpus", path, ["--tile-to-ttir"])
        add("read back", path, ["--import-ttir"], ["--tile-to-ttir"])
    for path in own:
        add("exports", path, ["--tile-to-ttir"])
        add("exports by descriptors", path, ["--tile-to-ttir", "--descriptors"])
    for path in bytecode:
        add("cuTile", path, ["--tile-to-ttir"])
    return made, refused


def kernels_apart(path):
    """A file for each kernel: Triton compiles modules of one."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    kernel = re.compile(r"^  tt\.func (?:public )?@(\w+).*?^  }.*?\n", re.M | re.S)
    names = [found[1] for found in kernel.finditer(text)]
    for name in names:
        with open(f"{path}.{name}.ttir", "w", encoding="utf-8") as file:
            file.write(kernel.sub(lambda found, name=name: found[0] if found[1] == name else "", text))
        yield name, f"{path}.{name}.ttir"


def compile_for(target, path):
    from triton._C.libtriton import ir
    from triton.backends.compiler import Language
    from triton.compiler.compiler import IRSource, make_backend
    backend, context = make_backend(target), ir.context()
    source = IRSource(path, context, backend)
    options = backend.parse_options(source.parse_options())
    metadata, stages = {"target": target, **options.__dict__}, {}
    backend.add_stages(stages, options, Language.TRITON)
    module = source.make_ir(target, options, backend.get_codegen_implementation(options), backend.get_module_map(), context)
    # triton.compile begins a file behind `ttir`, the stage in which Triton replaces descriptors on chips that have none.
    for name in list(stages)[0 if "descriptor" in str(module) and target.arch != 90 else 1:-1]:
        module = stages[name](module, metadata)
    return module


def child(target, path):
    """Nothing, or why Triton failed. In a child, since some failures end the process."""
    with tempfile.TemporaryFile("w+") as messages:
        pid = os.fork()
        if pid == 0:
            os.dup2(messages.fileno(), 1)
            os.dup2(messages.fileno(), 2)
            try:
                text = compile_for(target, path)
                os._exit(0 if text else 1)
            except BaseException as error:  # whatever it is, the parent prints it
                os.write(2, f"\n{type(error).__name__}: {error}\n".encode())
                os._exit(1)
        status = os.waitpid(pid, 0)[1]
        messages.seek(0)
        return None if status == 0 else f"status {os.waitstatus_to_exitcode(status)}: {last_line(messages.read())}"


def main():
    from triton.backends.compiler import GPUTarget
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("translate")
    parser.add_argument("--targets", default="sm_80,sm_90,gfx942")
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    targets = {name: GPUTarget("cuda", int(name[3:]), 32) if name.startswith("sm_") else GPUTarget("hip", name, 64)
               for name in options.targets.split(",")}
    counts, bad = collections.Counter(), 0
    with tempfile.TemporaryDirectory() as folder:
        made, refused = texts(options.translate, folder)
        for group, name, path in made:
            if not re.search(options.only, f"{group}/{name}"):
                continue
            for target in targets:
                reason = child(targets[target], path)
                counts[group, target, reason is None] += 1
                known = next((why for kernels, chips, why in REFUSED
                              if re.fullmatch(kernels, f"{group}/{name}") and re.match(chips, target)), None)
                if reason:
                    print(f"{group}/{name} for {target}: {known or reason}", flush=True)
                    bad += not known
    for group, name, reason in refused:
        print(f"not written: {group}/{name}: {reason}")
    for group in dict.fromkeys(group for group, _, _ in made):
        print(f"{group}: " + ", ".join(f"{target} {counts[group, target, True]} of {counts[group, target, True] + counts[group, target, False]}"
                                       for target in targets))
    print(f"{bad} refused for no known reason, {len(refused)} not written")
    return 1 if bad or refused else 0


sys.exit(main())
