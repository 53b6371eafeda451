"""Products of f32 rows by weights of narrower floats, widened in the body: compiled against the interpreter.

Usage: mixed_types.py TILE_RUN FOLDER    prints one line per program and how many were wrong.
"""
import subprocess
import sys

tile_run, folder = sys.argv[1:]
wrong = count = 0
for element in ("f8E4M3FN", "f8E5M2", "bf16", "f16"):
    for m in (1, 9):
        for axes, shape in (("(n, k)", "37x96"), ("(k, n)", "96x37")):
            x, w, c = f"tensor<{m}x96xf32>", f"tensor<{shape}x{element}>", f"tensor<{m}x37xf32>"
            with open(f"{folder}/p.mlir", "w") as file:
                file.write(f"""func.func @main(%x: {x}, %w: {w}, %c: {c}) -> {c} {{
  %r = linalg.generic {{indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> {axes}>, affine_map<(m, n, k) -> (m, n)>],
      iterator_types = ["parallel", "parallel", "reduction"]}} ins(%x, %w : {x}, {w}) outs(%c : {c}) {{
  ^bb0(%a: f32, %b: {element}, %o: f32):
    %f = arith.extf %b : {element} to f32
    %p = arith.mulf %a, %f : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  }} -> {c}
  return %r : {c}
}}
""")
            run = subprocess.run([tile_run, f"{folder}/p.mlir", "--check-against=interpret"], capture_output=True, text=True)
            print(f"{element} {m} {axes}: {'right' if run.returncode == 0 else 'WRONG ' + run.stderr}")
            wrong, count = wrong + (run.returncode != 0), count + 1
print(f"{count} programs, {wrong} wrong")
sys.exit(wrong > 0)
