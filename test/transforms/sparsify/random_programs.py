"""Random programs on tensors, with zeros of every kind, for tests of facts about elements.

A program is a list of lines in which every tensor op carries `tag = "vN"` for its result %vN. Values have odd and even
sizes, several readers, and constants with zero rows, columns, blocks and single zeros; without `finite`, also with
infinities and nans.
"""
import re

import numpy as np

SIZES = [1, 2, 3, 4, 5, 7]


def dense(array):
    def element(x):
        if array.dtype == bool:
            return "true" if x else "false"
        if array.dtype.kind == "i":
            return str(x)
        if np.isfinite(x):
            return repr(float(x))
        return "0x" + f"{np.float32(x).view(np.uint32):08X}"
    def nested(a):
        return "[" + ", ".join(nested(x) for x in a) + "]" if a.ndim else element(a[()])
    return f"dense<{nested(array)}>" if array.ndim else f"dense<{element(array[()])}>"


def type_of(shape, element="f32"):
    return "tensor<" + "".join(f"{n}x" for n in shape) + element + ">"


class Program:
    def __init__(self, rng, finite):
        self.rng, self.finite = rng, finite
        self.lines, self.values, self.arguments, self.functions, self.numbers = [], [], [], [], 0

    def fresh(self):
        self.numbers += 1
        return self.numbers

    def array(self, shape):
        """Small numbers with zeros in rows, columns, a corner and single places; both signs of zero."""
        rng, a = self.rng, self.rng.integers(-3, 4, shape).astype(np.float32)
        a[a == 0] = 1
        for axis in range(len(shape)):
            if rng.random() < 0.5:
                a[(slice(None),) * axis + (rng.random(shape[axis]) < 0.5,)] = 0
        if rng.random() < 0.3:
            a[tuple(slice(0, int(rng.integers(0, n + 1))) for n in shape)] = 0
        if rng.random() < 0.2:
            a[rng.random(shape) < 0.3] = 0
        if rng.random() < 0.3:
            a[(a == 0) & (rng.random(shape) < 0.5)] = -0.0
        if not self.finite and rng.random() < 0.3:
            a[rng.random(shape) < 0.2] = rng.choice([np.inf, -np.inf, np.nan])
        return a

    def add(self, text, shape):
        number = self.fresh()
        self.lines.append((number, text.replace("TAG", f'tag = "v{number}"'), tuple(shape)))
        self.values.append((number, tuple(shape)))
        return number

    def constant(self, shape):
        return self.add(f"arith.constant {{TAG}} {dense(self.array(shape))} : {type_of(shape)}", shape)

    def filled(self, shape):
        value = self.rng.choice(["0.0", "0.0", "-0.0", "1.5"])
        scalar = self.add(f"arith.constant {{TAG}} dense<{value}> : {type_of(shape)}", shape)
        return scalar

    def pick(self, shape=None, rank=None):
        fitting = [v for v in self.values if (shape is None or v[1] == tuple(shape)) and (rank is None or len(v[1]) == rank)]
        if fitting and self.rng.random() < 0.8:
            return fitting[int(self.rng.integers(len(fitting)))]
        shape = tuple(shape) if shape is not None else tuple(int(n) for n in self.rng.choice(SIZES, rank or 2))
        return self.constant(shape), shape

    def generic(self, maps, kinds, inputs, out, shape, body):
        """inputs: (value, shape); body: lines on %a0, %a1, … and %o; the last line yields %r."""
        names = ", ".join(f"%v{v}" for v, _ in inputs)
        types = ", ".join(type_of(s) for _, s in inputs)
        ins = f"ins({names} : {types}) " if inputs else ""
        arguments = ", ".join([f"%a{i}: f32" for i in range(len(inputs))] + ["%o: f32"])
        maps = ", ".join(f"affine_map<{m}>" for m in maps)
        kinds = ", ".join(f'"{k}"' for k in kinds)
        text = (f"linalg.generic {{indexing_maps = [{maps}], iterator_types = [{kinds}]}} {ins}"
                f"outs(%v{out} : {type_of(shape)}) attrs = {{TAG}} {{\n  ^bb0({arguments}):\n    "
                + "\n    ".join(body) + f"\n    linalg.yield %r : f32\n  }} -> {type_of(shape)}")
        return self.add(text, shape)

    # One op of each kind.
    def product(self):
        (a, (m, k)) = self.pick(rank=2)
        b, (_, n) = next(((v, s) for v, s in reversed(self.values) if len(s) == 2 and s[0] == k), (None, (k, int(self.rng.choice(SIZES)))))
        b = self.constant((k, n)) if b is None else b
        out = self.filled((m, n)) if self.rng.random() < 0.7 else self.pick((m, n))[0]
        self.add(f"linalg.matmul {{TAG}} ins(%v{a}, %v{b} : {type_of((m, k))}, {type_of((k, n))}) "
                 f"outs(%v{out} : {type_of((m, n))}) -> {type_of((m, n))}", (m, n))

    def elementwise(self):
        a, shape = self.pick(rank=int(self.rng.integers(1, 4)))
        b, _ = self.pick(shape)
        dims = ", ".join(f"d{i}" for i in range(len(shape)))
        same = f"({dims}) -> ({dims})"
        flags = "" if not self.finite or self.rng.random() < 0.5 else " fastmath<nnan, ninf>"
        body = self.rng.choice([
            f"%r = arith.addf %a0, %a1 : f32", f"%r = arith.mulf %a0, %a1{flags} : f32", "%r = arith.subf %a0, %a1 : f32",
            "%c = arith.constant 0.0 : f32\n    %r = arith.maximumf %a0, %c : f32",
            "%c = arith.constant 0.0 : f32\n    %p = arith.cmpf ogt, %a0, %c : f32\n    %r = arith.select %p, %a1, %c : f32",
            "%c = arith.constant 1.0 : f32\n    %t = math.tanh %a0 : f32\n    %r = arith.mulf %t, %a1 : f32",
            "%c = arith.constant 1.0 : f32\n    %r = arith.divf %c, %a0 : f32", "%r = arith.negf %a1 : f32",
            "%r = arith.mulf %a0, %o : f32", "%r = math.absf %a0 : f32",
            "%c = arith.constant -2.0 : f32\n    %d = arith.constant 2.0 : f32\n    %t = arith.maxnumf %a0, %c : f32\n"
            "    %u = arith.minnumf %t, %d : f32\n    %r = arith.mulf %u, %a1 : f32",
            "%r = math.copysign %a1, %a0 : f32"])
        self.generic([same] * 3, ["parallel"] * len(shape), [(a, shape), (b, shape)], self.filled(shape), shape, [body])

    def masked(self):
        a, shape = self.pick(rank=2)
        body = ["%i = linalg.index 0 : index", "%j = linalg.index 1 : index",
                "%p = arith.cmpi " + str(self.rng.choice(["sle", "sgt", "eq"])) + ", %i, %j : index",
                "%c = arith.constant 0.0 : f32", "%r = arith.select %p, %a0, %c : f32"]
        same = "(i, j) -> (i, j)"
        self.generic([same] * 2, ["parallel"] * 2, [(a, shape)], self.filled(shape), shape, body)

    def chosen(self):
        a, shape = self.pick(rank=int(self.rng.integers(1, 4)))
        b, _ = self.pick(shape)
        mask = self.add(f"arith.constant {{TAG}} {dense(self.rng.random(shape) < 0.5)} : {type_of(shape, 'i1')}", ("i1",) + shape)
        self.values.pop()
        self.add(f"arith.select %v{mask}, %v{a}, %v{b} {{TAG}} : {type_of(shape, 'i1')}, {type_of(shape)}", shape)

    def reduced(self):
        a, (m, n) = self.pick(rank=2)
        op = self.rng.choice(["arith.addf", "arith.addf", "arith.maximumf", "arith.mulf"])
        out = self.filled((m,)) if self.rng.random() < 0.7 else self.pick((m,))[0]
        self.generic(["(i, j) -> (i, j)", "(i, j) -> (i)"], ["parallel", "reduction"], [(a, (m, n))], out, (m,),
                     [f"%r = {op} %o, %a0 : f32"])

    def spread(self):
        a, (m,) = self.pick(rank=1)
        b, (_, n) = next(((v, s) for v, s in reversed(self.values) if len(s) == 2 and s[0] == m), (None, (m, 3)))
        b = self.constant((m, n)) if b is None else b
        op = self.rng.choice(["arith.addf", "arith.mulf"])
        self.generic(["(i, j) -> (i)", "(i, j) -> (i, j)", "(j, i) -> (i, j)"] if False else
                     ["(i, j) -> (i)", "(i, j) -> (i, j)", "(i, j) -> (j, i)"], ["parallel"] * 2,
                     [(a, (m,)), (b, (m, n))], self.filled((n, m)), (n, m), [f"%r = {op} %a0, %a1 : f32"])

    def window(self):
        a, shape = self.pick(rank=2)
        sizes = [int(self.rng.integers(1, n + 1)) for n in shape]
        offsets = [int(self.rng.integers(0, n - s + 1)) for n, s in zip(shape, sizes)]
        self.add(f"tensor.extract_slice %v{a}[{offsets[0]}, {offsets[1]}] [{sizes[0]}, {sizes[1]}] [1, 1] {{TAG}} : "
                 f"{type_of(shape)} to {type_of(sizes)}", sizes)

    def inserted(self):
        a, shape = self.pick(rank=2)
        b, sizes = next(((v, s) for v, s in reversed(self.values) if len(s) == 2 and s[0] <= shape[0] and s[1] <= shape[1]), (None, None))
        offsets = [int(self.rng.integers(0, n - s + 1)) for n, s in zip(shape, sizes)]
        self.add(f"tensor.insert_slice %v{b} into %v{a}[{offsets[0]}, {offsets[1]}] [{sizes[0]}, {sizes[1]}] [1, 1] {{TAG}} : "
                 f"{type_of(sizes)} into {type_of(shape)}", shape)

    def padded(self):
        a, (m, n) = self.pick(rank=2)
        low, high = self.rng.integers(0, 3, 2), self.rng.integers(0, 2, 2)
        shape = (m + int(low[0] + high[0]), n + int(low[1] + high[1]))
        value = self.rng.choice(["0.0", "2.0"])
        self.add(f"tensor.pad %v{a} low[{low[0]}, {low[1]}] high[{high[0]}, {high[1]}] {{\n  ^bb0(%i: index, %j: index):\n"
                 f"    %c = arith.constant {value} : f32\n    tensor.yield %c : f32\n  }} {{TAG}} : {type_of((m, n))} to {type_of(shape)}", shape)

    def reshaped(self):
        a, shape = self.pick(rank=2)
        flat = (shape[0] * shape[1],)
        b = self.add(f"tensor.collapse_shape %v{a} [[0, 1]] {{TAG}} : {type_of(shape)} into {type_of(flat)}", flat)
        turned = (shape[1], shape[0])
        self.add(f"tensor.expand_shape %v{b} [[0, 1]] output_shape [{turned[0]}, {turned[1]}] {{TAG}} : {type_of(flat)} into {type_of(turned)}", turned)

    def joined(self):
        a, (m, n) = self.pick(rank=2)
        b, (_, k) = next(((v, s) for v, s in self.values if len(s) == 2 and s[0] == m), (a, (m, n)))
        self.add(f"tensor.concat dim(1) %v{a}, %v{b} {{TAG}} : ({type_of((m, n))}, {type_of((m, k))}) -> {type_of((m, n + k))}", (m, n + k))

    def looped(self):
        a, shape = self.pick(rank=2)
        b, _ = self.pick(shape)
        t, op = type_of(shape), self.rng.choice(["arith.addf", "arith.mulf"])
        n = self.fresh()
        self.add(f"scf.for %i{n} = %c0 to %c{int(self.rng.integers(0, 3))} step %c1 iter_args(%x{n} = %v{a}) -> ({t}) {{\n"
                 f"    %y{n} = {op} %x{n}, %v{b} : {t}\n    scf.yield %y{n} : {t}\n  }} {{TAG}}", shape)

    def called(self):
        a, shape = self.pick(rank=2)
        t, n = type_of(shape), self.fresh()
        c = dense(self.array(shape))
        self.functions.append(f"func.func private @f{n}(%x: {t}) -> {t} {{\n  %c = arith.constant {c} : {t}\n"
                              f"  %y = arith.mulf %x, %c : {t}\n  return %y : {t}\n}}\n")
        self.add(f"func.call @f{n}(%v{a}) {{TAG}} : ({t}) -> {t}", shape)

    def draw(self, count):
        for _ in range(2):
            shape = tuple(int(n) for n in self.rng.choice(SIZES, 2))
            number = self.fresh()
            self.arguments.append((number, shape))
            self.values.append((number, shape))
        kinds = [self.product] * 3 + [self.elementwise] * 4 + [self.masked, self.chosen, self.reduced, self.spread, self.window,
                                                              self.inserted, self.padded, self.reshaped, self.joined, self.looped, self.called]
        for _ in range(count):
            kinds[int(self.rng.integers(len(kinds)))]()
        made = [line[0] for line in self.lines if line[2][0] != "i1"]
        self.results = sorted({made[-1], made[int(self.rng.integers(len(made)))]})
        return self

    def shape_of(self, number):
        return next(s for v, s in [(a, b) for a, _, b in self.lines] + self.arguments if v == number)

    def text(self, results=None, change=None):
        """`change`: value → (mask, other values): what its readers see instead."""
        results = self.results if results is None else results
        arguments = ", ".join(f"%v{v}: {type_of(s)}" for v, s in self.arguments)
        types = ", ".join(type_of(self.shape_of(v)) for v in results)
        body, renamed = ["%c0 = arith.constant 0 : index", "%c1 = arith.constant 1 : index", "%c2 = arith.constant 2 : index"], {}
        def rename(text):
            return re.sub(r"%v(\d+)\b", lambda m: renamed.get(int(m[1]), m[0]), text)
        for number, text, shape in self.lines:
            body.append(f"%v{number} = {rename(text)}")
            if change and number in change:
                mask, other = change[number]
                body += [f"%m{number} = arith.constant {dense(mask)} : {type_of(shape, 'i1')}", f"%w{number} = arith.constant {dense(other)} : {type_of(shape)}",
                         f"%u{number} = arith.select %m{number}, %w{number}, %v{number} : {type_of(shape, 'i1')}, {type_of(shape)}"]
                renamed[number] = f"%u{number}"
        body.append("return " + ", ".join(rename(f"%v{v}") for v in results) + f" : {types}")
        return "".join(self.functions) + f"func.func @main({arguments}) -> ({types}) {{\n  " + "\n  ".join(body) + "\n}\n"

    def inputs(self):
        return [self.array(shape) for _, shape in self.arguments]


def facts(text):
    """tag → {zero, dead}: (grain, map), from the text that the passes print."""
    found = {}
    for match in re.finditer(r"sparse\.attribute = #sparse\.attribute<grain = \[([\d, ]*)\](.*?i1>)>, tag = \"v(\d+)\"", text):
        grain, known = [int(n) for n in match[1].split(",")], {}
        for key, values, shape in re.findall(r"(zero|dead) = dense<(.*?)> : tensor<([\dx]*)xi1>", match[2]):
            sizes = [int(n) for n in shape.split("x")]
            flat = [w == "true" for w in re.findall("true|false", values)]
            known[key] = (grain, np.broadcast_to(np.array(flat), sizes) if len(flat) == 1 else np.array(flat).reshape(sizes))
        found[int(match[3])] = known
    return found


def mask_of(fact, shape):
    """Element by element."""
    grain, rectangles = fact
    return rectangles[np.ix_(*(np.arange(n) // g for n, g in zip(shape, grain)))]
