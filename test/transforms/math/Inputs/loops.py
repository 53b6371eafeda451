"""Prints a module with one loop per function: NAME_loop(x, result) over 4096 floats, powf_loop(x, y, result).

loops.py WIDTH [TYPE]: 1 for scalars, 16 for vector<16xf32>. TYPE f16 or bf16: the function is of that type, between
buffers of f32; f64: buffers and all functions of f64.
"""
import sys

UNARY = ["exp", "exp2", "tanh", "log", "log2", "erf", "sin", "cos", "rsqrt", "expm1", "log10", "log1p", "sinh", "cosh", "asinh", "acosh",
         "atanh", "erfc", "tan", "asin", "acos", "atan", "cbrt"]
COUNT = 4096


def loop(name, inputs, width, kind):
    held = "f64" if kind == "f64" else "f32"
    buffer = f"memref<{COUNT}x{held}>"
    element = held if width == 1 else f"vector<{width}x{held}>"
    dialect, types = ("memref", buffer) if width == 1 else ("vector", f"{buffer}, {element}")
    computed = element.replace(held, kind)
    arguments = ", ".join(f"%{i}: {buffer}" for i in inputs + ["result"])
    loads = "\n".join(f"    %{i}e = {dialect}.load %{i}[%i] : {types}" for i in inputs)
    narrow = "e" if kind == held else "n"
    body = f"    %{narrow} = math.{name} {', '.join(f'%{i}{narrow}' for i in inputs)} : {computed}"
    if kind != held:
        narrowed = "\n".join(f"    %{i}n = arith.truncf %{i}e : {element} to {computed}" for i in inputs)
        body = f"{narrowed}\n{body}\n    %e = arith.extf %n : {computed} to {element}"
    return f"""func.func @{name}_loop({arguments}) {{
  %zero = arith.constant 0 : index
  %count = arith.constant {COUNT} : index
  %step = arith.constant {width} : index
  scf.for %i = %zero to %count step %step {{
{loads}
{body}
    {dialect}.store %e, %result[%i] : {types}
  }}
  return
}}"""


width = int(sys.argv[1])
kind = sys.argv[2] if len(sys.argv) > 2 else "f32"
for name in UNARY:
    print(loop(name, ["x"], width, kind))
for name in ["powf"] + (["atan2"] if kind == "f64" else []):
    print(loop(name, ["x", "y"], width, kind))
