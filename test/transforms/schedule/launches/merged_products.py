"""Products of one input become one grid on every target. Use: merged_products.py TILE_RUN FOLDER ROWS COLUMNS TARGET OBJECTIVE

Prints launches and the bytes of global memory, where the target counts them; the interpreter judges the results.
"""
import json
import subprocess
import sys
from pathlib import Path


def program(rows, columns, widths):
    x, products, results, types = f"tensor<{rows}x{columns}xf32>", [], [], []
    for i, width in enumerate(widths):
        w, y = f"tensor<{columns}x{width}xf32>", f"tensor<{rows}x{width}xf32>"
        products.append(f"  %e{i} = tensor.empty() : {y}\n"
                        f"  %i{i} = linalg.fill ins(%z : f32) outs(%e{i} : {y}) -> {y}\n"
                        f"  %y{i} = linalg.matmul ins(%x, %w{i} : {x}, {w}) outs(%i{i} : {y}) -> {y}")
        results.append(f"%y{i}")
        types.append(y)
    arguments = ", ".join(f"%w{i}: tensor<{columns}x{width}xf32>" for i, width in enumerate(widths))
    return (f"func.func @main(%x: {x}, {arguments}) -> ({', '.join(types)}) {{\n  %z = arith.constant 0.0 : f32\n" +
            "\n".join(products) + f"\n  return {', '.join(results)} : {', '.join(types)}\n}}\n")


def main():
    run, folder, rows, columns, target, objective = sys.argv[1:]
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    for widths in ([int(columns)] * 3, [int(columns), 40, 7]):
        file, stats = folder / "products.mlir", folder / "stats.json"
        file.write_text(program(rows, columns, widths))
        for flags in ([], [f"--fusion={objective}"]):
            done = subprocess.run([run, file, f"--target={target}", "--seed=1", "--check-against=interpret",
                                   f"--stats={stats}", *flags], capture_output=True, text=True)
            if done.returncode:
                sys.exit(done.stdout + done.stderr)
            counted = json.loads(stats.read_text())
            megabytes = (counted.get("global_bytes_read", 0) + counted.get("global_bytes_written", 0)) / 1e6
            print(f"widths {widths}, {'merged' if flags else 'apart'}: {counted['launches']} launches, {megabytes:.2f} MB")


if __name__ == "__main__":
    main()
