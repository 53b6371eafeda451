"""Runs every command that README.md and docs/*.md print in a block of the language `sh`, as it stands.

Usage: doc_commands.py ROOT BUILD SCRATCH   prints one line per page; exits 1 if a command fails
       doc_commands.py --self-test          checks that a failing command and a stale row are found

Commands run in SCRATCH, where the tree lies behind links. prepare() makes the files that the pages take for given. A
command that installs, builds or needs another machine is not run here: ELSEWHERE names the test that runs it. A command
that draws many programs draws few of them.
"""
import re
import subprocess
import sys
from pathlib import Path

ELSEWHERE = {  # the beginning of a command: the test that runs it
    "./dev demo": "test/examples/demo.test",
    "./dev check": "test/laws/how_to_executed_long.test",
    "./dev build": "test/laws/how_to_executed_long.test",
    "./dev bench reliability": "test/benchmark/reliability.test",
    "pip install .": "test/python/install_whole_long.test",
    "pip install '.[run]'": "test/python/install_whole_long.test",
    "TESSERA_WHEEL=package pip install": "test/python/install.test",
    "pip install python/runtime": "test/python/install_runtime.test",
    "python test/import/onnx/conformance.py": "test/import/onnx/conformance.test",
    "test/gpu/pack.py": "test/gpu/gpu.test",
    "gpu-tests/run.sh": "test/gpu/gpu.test",
    "gpu-tests/bench.py": "test/gpu/bench.test",
    "cmake --install": "test/examples/out_of_tree.test",
    "tile-opt --load-dialect-plugin=build/poly.so": "test/examples/out_of_tree.test",
    "mlir-opt-22 --load-dialect-plugin=build/poly.so": "test/examples/out_of_tree.test",
}
PROGRAM = """func.func @main(%a: tensor<64x64xf32>, %b: tensor<64x64xf32>, %c: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %r = linalg.matmul ins(%a, %b : tensor<64x64xf32>, tensor<64x64xf32>) outs(%c : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %r : tensor<64x64xf32>
}
"""
SHARED = "module attributes {tile.machine = #tile.machine<\"sm_80\", \"shared.bytes\" = ${shared}>} {\n" + PROGRAM + "}\n"


def commands_of(text):
    """The commands of the sh blocks: lines joined where they end in a backslash, without the comment behind them."""
    for block in re.findall(r"^```sh\n(.*?)^```$", text, re.M | re.S):
        for line in block.replace("\\\n", " ").splitlines():
            command = re.sub(r"\s+# .*$", "", line).strip()
            if command and not command.startswith("#"):
                yield command


def elsewhere(command):
    return next((test for start, test in ELSEWHERE.items() if command.startswith(start)), None)


def blocks(text, language):
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.M | re.S)


def prepare(page, text, folder):
    import numpy as np
    import scipy.sparse
    random = np.random.default_rng(1)

    def save(**shapes):
        for name, shape in shapes.items():
            np.save(folder / f"{name}.npy", random.standard_normal(shape, dtype="f4"))

    if page == "emulator.md":
        save(a=(61, 67), b=(67, 71), c=(61, 71))
    elif page == "running-programs.md":
        save(x=(128, 1000))
    elif page == "sparse.md":
        (folder / "program.mlir").write_text(blocks(text, "mlir")[0])
        scipy.sparse.save_npz(folder / "a.npz", scipy.sparse.random(30, 20, 0.2, "csr", dtype="f4", random_state=1))
        save(x=(20, 16), y=(30, 16))
    elif page == "importing.md":
        sys.path.insert(0, str(folder / "test/import/onnx"))
        from model_writer import FLOAT, model, node, save as save_model, value
        ends = [value(name, FLOAT, ["N", 4]) for name in "xy"]
        save_model(folder / "model.onnx", model([node("Relu", ["x"], ["y"])], ends[:1], ends[1:], opset=17))
        save(x=(3, 4))
    elif page == "low-bit.md":
        weights = random.standard_normal((256, 32), dtype="f4").tobytes().hex().upper()
        (folder / "model.mlir").write_text(f"""func.func @main(%x: tensor<9x256xf32>, %c: tensor<9x32xf32>) -> tensor<9x32xf32> {{
  %w = arith.constant dense<"0x{weights}"> : tensor<256x32xf32>
  %r = linalg.matmul ins(%x, %w : tensor<9x256xf32>, tensor<256x32xf32>) outs(%c : tensor<9x32xf32>) -> tensor<9x32xf32>
  return %r : tensor<9x32xf32>
}}
""")
        save(x=(9, 256), bias=(9, 32), typical=(9, 256))
    elif page == "sweeps.md":
        (folder / "traffic.toml").write_text(blocks(text, "toml")[0])
    elif page == "comparing.md":
        (folder / "kernels").mkdir()
        (folder / "kernels" / "product.mlir").write_text(PROGRAM)
        (folder / "net.mlir").write_text(PROGRAM)
        (folder / "shared.mlir").write_text(SHARED)


def run(command, folder):
    shorter = re.sub(r"--count=\d+", "--count=2", command).replace("python3 ", f"{sys.executable} ")
    done = subprocess.run(["bash", "-c", shorter], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return None if done.returncode == 0 else f"{command}\nexits {done.returncode}:\n{done.stdout[-2000:]}"


def make_folder(root, build, folder):
    folder.mkdir(parents=True)
    for path in root.iterdir():
        if not path.name.startswith((".", "build")):
            (folder / path.name).symlink_to(path)
    (folder / "build").mkdir()
    for path in build.iterdir():
        (folder / "build" / path.name).symlink_to(path)


def main(root, build, scratch):
    root, build, failed = Path(root).resolve(), Path(build).resolve(), 0
    pages = [root / "README.md", *sorted((root / "docs").glob("*.md"))]
    for page in pages:
        text, here, wrong = page.read_text(), 0, []
        commands = [] if page.name.startswith("how-to-add-") else list(commands_of(text))
        folder = Path(scratch) / page.stem
        if any(not elsewhere(command) for command in commands):
            make_folder(root, build, folder)
            prepare(page.name, text, folder)
        for command in commands:
            test = elsewhere(command)
            fault = run(command, folder) if not test else None if (root / test).exists() else f"{command}: no test {test}"
            here += not test
            wrong += [fault] if fault else []
        if commands:
            for fault in wrong:
                print(fault, file=sys.stderr, flush=True)
            print(f"{page.name}: {here} commands run, {len(commands) - here} in other tests, {len(wrong)} wrong", flush=True)
        failed += len(wrong)
    return bool(failed)


def self_test():
    text = "```sh\nls a \\\n  b   # both\n./dev demo\n```\n```text\nrm x\n```\n"
    right = [list(commands_of(text)) == ["ls a    b", "./dev demo"], elsewhere("./dev demo --all") and not elsewhere("ls"),
             run("false", ".") and not run("true", ".")]
    print(f"self-test: {sum(map(bool, right))} of {len(right)} right")
    return not all(right)


if __name__ == "__main__":
    sys.exit(self_test() if sys.argv[1] == "--self-test" else main(*sys.argv[1:]))
