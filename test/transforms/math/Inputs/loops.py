"""Prints a module with one loop per function: NAME_loop(x, result) over 4096 floats, powf_loop(x, y, result).

loops.py WIDTH: 1 for scalars, 16 for vector<16xf32>.
"""
import sys

UNARY = ["exp", "exp2", "tanh", "log", "log2", "erf", "sin", "cos", "rsqrt"]
COUNT = 4096


def loop(name, inputs, width):
    buffer = f"memref<{COUNT}xf32>"
    element = "f32" if width == 1 else f"vector<{width}xf32>"
    dialect, types = ("memref", buffer) if width == 1 else ("vector", f"{buffer}, {element}")
    arguments = ", ".join(f"%{i}: {buffer}" for i in inputs + ["result"])
    loads = "\n".join(f"    %{i}e = {dialect}.load %{i}[%i] : {types}" for i in inputs)
    return f"""func.func @{name}_loop({arguments}) {{
  %zero = arith.constant 0 : index
  %count = arith.constant {COUNT} : index
  %step = arith.constant {width} : index
  scf.for %i = %zero to %count step %step {{
{loads}
    %e = math.{name} {", ".join(f"%{i}e" for i in inputs)} : {element}
    {dialect}.store %e, %result[%i] : {types}
  }}
  return
}}"""


width = int(sys.argv[1])
for name in UNARY:
    print(loop(name, ["x"], width))
print(loop("powf", ["x", "y"], width))
