"""A program of 100 arguments and 70 results, through tile-run, tile-exec and the package: many_values.py TOOLS FOLDER.
With a count instead of TOOLS, prints a program of as many arguments."""
import subprocess
import sys

import numpy

ARGUMENTS, RESULTS = 100, 70


def program(arguments, results):
    """Result i is argument i + argument i + 30; every third argument is a memref that gets its double, every tenth is a
    scalar."""
    kinds = ["f32" if i % 10 == 9 else "memref<5xf32>" if i % 3 == 0 else "tensor<5xf32>" for i in range(arguments)]
    lines = [f"func.func @main({', '.join(f'%a{i}: {kind}' for i, kind in enumerate(kinds))}) -> ("
             f"{', '.join(['tensor<5xf32>'] * results)}) {{"]
    for i, kind in enumerate(kinds):
        if kind == "f32":
            lines.append(f"  %t{i} = tensor.splat %a{i} : tensor<5xf32>")
        elif kind.startswith("memref"):
            lines.append(f"  %b{i} = bufferization.to_tensor %a{i} restrict : memref<5xf32> to tensor<5xf32>")
            lines.append(f"  %e{i} = tensor.empty() : tensor<5xf32>")
            lines.append(f"  %t{i} = linalg.copy ins(%b{i} : tensor<5xf32>) outs(%e{i} : tensor<5xf32>) -> tensor<5xf32>")
        else:
            lines.append(f"  %t{i} = tensor.cast %a{i} : tensor<5xf32> to tensor<5xf32>")
    for i in range(results):
        lines.append(f"  %r{i} = arith.addf %t{i}, %t{(i + 30) % arguments} : tensor<5xf32>")
    for i, kind in enumerate(kinds):
        if kind.startswith("memref"):
            lines.append(f"  linalg.add ins(%a{i}, %a{i} : memref<5xf32>, memref<5xf32>) outs(%a{i} : memref<5xf32>)")
    types = ", ".join(["tensor<5xf32>"] * results)
    lines.append(f"  return {', '.join(f'%r{i}' for i in range(results))} : {types}")
    return "\n".join(lines + ["}"]), kinds


def expect(kinds, arguments, results, written):
    """Checks results and the memrefs that the program wrote."""
    assert len(results) == RESULTS, len(results)
    for i, result in enumerate(results):
        right = arguments[i] + arguments[i + 30] + numpy.zeros(5, "f4")
        assert (result == right).all(), f"result {i}: {result}, expected {right}"
    for i, kind in enumerate(kinds):
        if kind.startswith("memref"):
            assert (written[i] == 2 * arguments[i]).all(), f"argument {i}: {written[i]}"


def main():
    """Runs the program on each target."""
    if sys.argv[1].isdigit():
        print(program(int(sys.argv[1]), 1)[0])
        return
    tools, folder = sys.argv[1:]
    text, kinds = program(ARGUMENTS, RESULTS)
    with open(f"{folder}/many.mlir", "w", encoding="utf-8") as file:
        file.write(text)
    arguments = [numpy.array(i + 1, "f4") if kind == "f32" else numpy.arange(5, dtype="f4") + 10 * i
                 for i, kind in enumerate(kinds)]
    numpy.savez(f"{folder}/in.npz", *arguments)
    subprocess.run([f"{tools}/tile-translate", f"{folder}/many.mlir", "--tile-to-program", "-o", f"{folder}/many.so"],
                   check=True)
    run = [f"{tools}/tile-run", f"{folder}/many.mlir"]
    for command in [[*run, "--target=cpu", "--check-against=interpret", "--repeat=2"], [*run, "--target=interpret"],
                    [*run, "--target=emulate:sm_80"], [*run, "--target=emulate:gfx942"],
                    [f"{tools}/tile-exec", f"{folder}/many.so"], [f"{tools}/tile-exec", f"{folder}/many.so", "--into"]]:
        subprocess.run([*command, f"--in={folder}/in.npz", f"--out={folder}/out.npz"], check=True,
                       stdout=subprocess.DEVNULL)
        with numpy.load(f"{folder}/out.npz") as seen:
            written = {i: seen[f"argument{i}"] for i, kind in enumerate(kinds) if kind.startswith("memref")}
            expect(kinds, arguments, [seen[f"result{i}"] for i in range(RESULTS)], written)
    import tessera  # only here: a program alone is printed without the package
    for target in ["cpu", "interpret", "emulate:sm_80"]:
        own = [array.copy() for array in arguments]  # the program writes its memrefs in place
        result = tessera.parse(text).run(*own, target=target)
        expect(kinds, arguments, result.results, result.arguments)


main()
