"""An unrolled LSTM as linalg: layers × steps cells of two products and two elementwise ops. Use: lstm.py LAYERS STEPS HIDDEN [BATCH]"""
import sys


def program(layers, steps, hidden, batch=1):
    lines, count = [], 0
    state, gates = f"tensor<{batch}x{hidden}xf32>", f"tensor<{batch}x{4 * hidden}xf32>"
    weight, bias = f"tensor<{hidden}x{4 * hidden}xf32>", f"tensor<{4 * hidden}xf32>"
    arguments = [f"%x{t}: {state}" for t in range(steps)]
    for layer in range(layers):
        arguments += [f"%w{layer}: {weight}", f"%u{layer}: {weight}", f"%b{layer}: {bias}"]
    lines.append(f"func.func @main({', '.join(arguments)}) -> {state} {{\n  %z = arith.constant 0.0 : f32\n  %one = arith.constant 1.0 : f32\n"
                 f"  %es = tensor.empty() : {state}\n  %eg = tensor.empty() : {gates}\n"
                 f"  %zero = linalg.fill ins(%z : f32) outs(%es : {state}) -> {state}\n"
                 f"  %none = linalg.fill ins(%z : f32) outs(%eg : {gates}) -> {gates}")
    inputs = [f"%x{t}" for t in range(steps)]
    identity, columns = "affine_map<(i, j) -> (i, j)>", "affine_map<(i, j) -> (j)>"
    kinds = 'iterator_types = ["parallel", "parallel"]'
    for layer in range(layers):
        h = c = "%zero"
        outputs = []
        for t in range(steps):
            n, count = f"{layer}_{t}", count + 1
            lines.append(f"  %p{n} = linalg.matmul ins({inputs[t]}, %w{layer} : {state}, {weight}) outs(%none : {gates}) -> {gates}\n"
                         f"  %q{n} = linalg.matmul ins({h}, %u{layer} : {state}, {weight}) outs(%none : {gates}) -> {gates}\n"
                         f"  %g{n} = linalg.generic {{indexing_maps = [{identity}, {identity}, {columns}, {identity}], {kinds}}} "
                         f"ins(%p{n}, %q{n}, %b{layer} : {gates}, {gates}, {bias}) outs(%eg : {gates}) {{\n"
                         f"  ^bb0(%p: f32, %q: f32, %b: f32, %o: f32):\n    %s = arith.addf %p, %q : f32\n    %r = arith.addf %s, %b : f32\n"
                         f"    linalg.yield %r : f32\n  }} -> {gates}")
            for k, gate in enumerate("ifgo"):
                lines.append(f"  %{gate}{n} = tensor.extract_slice %g{n}[0, {k * hidden}] [{batch}, {hidden}] [1, 1] : {gates} to {state}")
            sigmoid = ("    %n{0} = arith.negf %{0} : f32\n    %e{0} = math.exp %n{0} : f32\n    %d{0} = arith.addf %e{0}, %one : f32\n"
                       "    %s{0} = arith.divf %one, %d{0} : f32\n")
            maps = ", ".join([identity] * 7)
            lines.append(f"  %s{n}:2 = linalg.generic {{indexing_maps = [{maps}], {kinds}}} ins(%i{n}, %f{n}, %g{n}_, %o{n}, {c} : "
                         .replace(f"%g{n}_", f"%g_{n}") + f"{', '.join([state] * 5)}) outs(%es, %es : {state}, {state}) {{\n"
                         "  ^bb0(%i: f32, %f: f32, %g: f32, %o: f32, %c: f32, %a: f32, %h: f32):\n" +
                         "".join(sigmoid.format(v) for v in "ifo") +
                         "    %t = math.tanh %g : f32\n    %x = arith.mulf %sf, %c : f32\n    %y = arith.mulf %si, %t : f32\n"
                         "    %w = arith.addf %x, %y : f32\n    %v = math.tanh %w : f32\n    %k = arith.mulf %so, %v : f32\n"
                         f"    linalg.yield %k, %w : f32, f32\n  }} -> ({state}, {state})")
            h, c = f"%s{n}#0", f"%s{n}#1"
            outputs.append(h)
        inputs = outputs
    text = "\n".join(lines)
    for layer in range(layers):  # the slice named g would be the gates themselves
        for t in range(steps):
            n = f"{layer}_{t}"
            text = text.replace(f"  %g{n} = tensor.extract_slice", f"  %g_{n} = tensor.extract_slice")
    return text + f"\n  return {inputs[-1]} : {state}\n}}\n"


if __name__ == "__main__":
    print(program(*map(int, sys.argv[1:])))
