"""Groups of the kind `group` as one kernel. Use: group_kernels.py TILE_RUN FOLDER TARGET… [--only=REGEX] [--fusion=OBJECTIVE]

Each form is a tile.group with blocks that somebody wrote. Its program runs on the targets and is judged by the
interpreter, which runs the body. The group must have become one kernel. Sizes are odd; blocks are whole and walked.
With --fusion the forms have no groups: tile-fuse-at-memory-level writes those that it chooses.
"""
import json
import re
import subprocess
import sys
from pathlib import Path


class Body:
    """The ops of a group, and what they take and give."""

    def __init__(self, block, element="f32"):
        self.block, self.element = block, element
        self.inputs, self.lines, self.types, self.results, self.count = [], [], {}, [], 0
        self.lines.append(f"%zero = arith.constant 0.0 : {element}")

    def type(self, shape, element=None):
        return f"tensor<{'x'.join(str(size) for size in (*shape, element or self.element))}>"

    def name(self, shape, element=None):
        self.count += 1
        self.types[f"%v{self.count}"] = (tuple(shape), element or self.element)
        return f"%v{self.count}"

    def typeOf(self, value):
        return self.type(*self.types[value])

    def input(self, *shape, element=None):
        value = self.name(shape, element)
        self.inputs.append(value)
        return value

    def empty(self, shape, element=None):
        value = self.name(shape, element)
        self.lines.append(f"{value} = tensor.empty() : {self.typeOf(value)}")
        return value

    def filled(self, shape, constant, element=None):
        element = element or self.element
        empty, value = self.empty(shape, element), self.name(shape, element)
        self.lines.append(f"{value}c = arith.constant {constant} : {element}")
        self.lines.append(f"{value} = linalg.fill ins({value}c : {element}) outs({empty} : {self.typeOf(empty)}) "
                          f"-> {self.typeOf(value)}")
        return value

    def generic(self, dims, folded, inputs, maps, out, outMap, body):
        """`dims`: letters; `maps`: letters of each input; the body names inputs %x0, %x1, … and its output %o."""
        value = self.name(*self.types[out])
        affine = [f"affine_map<({', '.join(dims)}) -> ({', '.join(m)})>" for m in (*maps, outMap)]
        kinds = ", ".join('"reduction"' if d in folded else '"parallel"' for d in dims)
        arguments = [f"%x{i}: {self.types[x][1]}" for i, x in enumerate(inputs)] + [f"%o: {self.types[out][1]}"]
        ins = f"ins({', '.join(inputs)} : {', '.join(map(self.typeOf, inputs))}) " if inputs else ""
        self.lines.append(f"{value} = linalg.generic {{indexing_maps = [{', '.join(affine)}], iterator_types = [{kinds}]}} "
                          f"{ins}outs({out} : {self.typeOf(out)}) {{\n^bb0({', '.join(arguments)}):\n{body}\n"
                          f"}} -> {self.typeOf(out)}")
        return value

    def map(self, dims, inputs, maps, shape, body, element=None):
        return self.generic(dims, "", inputs, maps, self.empty(shape, element), dims, body)

    def fold(self, dims, folded, inputs, maps, shape, start, body, element=None):
        kept = "".join(d for d in dims if d not in folded)
        return self.generic(dims, folded, inputs, maps, self.filled(shape, start, element), kept, body)

    def matmul(self, a, b, op="matmul", element=None):
        element = element or self.element
        shape = (*self.types[a][0][:-1], self.types[b][0][-1])
        start, value = self.filled(shape, "0.0", element), self.name(shape, element)
        self.lines.append(f"{value} = linalg.{op} ins({a}, {b} : {self.typeOf(a)}, {self.typeOf(b)}) "
                          f"outs({start} : {self.typeOf(start)}) -> {self.typeOf(start)}")
        return value

    def softmax(self, x):
        shape, element = self.types[x]
        empty, value = self.empty(shape, element), self.name(shape, element)
        self.lines.append(f"{value} = linalg.softmax dimension({len(shape) - 1}) ins({x} : {self.typeOf(x)}) "
                          f"outs({empty} : {self.typeOf(x)}) -> {self.typeOf(x)}")
        return value

    def give(self, *values):
        self.results = values

    def plain(self):
        """The program without a group."""
        results = ", ".join(map(self.typeOf, self.results))
        parameters = ", ".join(f"{v}: {self.typeOf(v)}" for v in self.inputs)
        lines = "\n".join(self.lines)
        return f"func.func @main({parameters}) -> ({results}) {{\n{lines}\nreturn {', '.join(self.results)} : {results}\n}}\n"

    def text(self):
        types = ", ".join(map(self.typeOf, self.inputs))
        results = ", ".join(map(self.typeOf, self.results))
        lines = "\n".join(self.lines)
        names = ", ".join(f"%a{i}" for i in range(len(self.inputs)))
        arguments = ", ".join(f"{v}: {self.typeOf(v)}" for v in self.inputs)
        given = ", ".join(f"%r#{i}" for i in range(len(self.results))) if len(self.results) > 1 else "%r"
        count = f":{len(self.results)}" if len(self.results) > 1 else ""
        parameters = ", ".join(f"%a{i}: {self.typeOf(v)}" for i, v in enumerate(self.inputs))
        return (f"func.func @main({parameters}) -> ({results}) {{\n"
                f"%r{count} = tile.group ins({names} : {types}) schedule #tile.schedule<kind = \"group\", "
                f"block = {list(self.block)}> -> {results} {{\n^bb0({arguments}):\n{lines}\n"
                f"tile.yield {', '.join(self.results)} : {results}\n}}\nreturn {given} : {results}\n}}\n")


ADD = "%t = arith.addf %o, %x0 : f32\nlinalg.yield %t : f32"


def statistics(b, x, rows, columns):
    """The mean's sum and the squares' sum of each row."""
    m = b.fold("ij", "j", [x], ["ij"], (rows,), "0.0", ADD)
    q = b.fold("ij", "j", [x, m], ["ij", "i"], (rows,), "0.0",
               f"%n = arith.constant {columns}.0 : f32\n%e = arith.divf %x1, %n : f32\n%d = arith.subf %x0, %e : f32\n"
               "%s = arith.mulf %d, %d : f32\n%t = arith.addf %o, %s : f32\nlinalg.yield %t : f32")
    return m, q


def normalized(b, x, m, q, g, rows, columns):
    return b.map("ij", [x, m, q, g], ["ij", "i", "i", "j"], (rows, columns),
                 f"%n = arith.constant {columns}.0 : f32\n%c = arith.constant 1.0e-5 : f32\n"
                 "%e = arith.divf %x1, %n : f32\n%v = arith.divf %x2, %n : f32\n%w = arith.addf %v, %c : f32\n"
                 "%r = math.rsqrt %w : f32\n%d = arith.subf %x0, %e : f32\n%s = arith.mulf %d, %r : f32\n"
                 "%y = arith.mulf %s, %x3 : f32\nlinalg.yield %y : f32")


def layernorm(rows, columns, block):
    b = Body(block)
    x, g = b.input(rows, columns), b.input(columns)
    m, q = statistics(b, x, rows, columns)
    b.give(normalized(b, x, m, q, g, rows, columns))
    return b


def severalResults(rows, columns, block):
    b = Body(block)
    x, g = b.input(rows, columns), b.input(columns)
    m, q = statistics(b, x, rows, columns)
    b.give(normalized(b, x, m, q, g, rows, columns), m, q)
    return b


def embedding(words, rows, columns, block):
    b = Body(block)
    ids, table, bias = b.input(rows, element="index"), b.input(words, columns), b.input(columns)
    e = b.map("ij", [ids, bias], ["i", "j"], (rows, columns),
              f"%n = arith.constant {words} : index\n%w = arith.remui %x0, %n : index\n%j = linalg.index 1 : index\n"
              f"%g = tensor.extract {table}[%w, %j] : {b.typeOf(table)}\n%y = arith.addf %g, %x1 : f32\nlinalg.yield %y : f32")
    m, q = statistics(b, e, rows, columns)
    b.give(normalized(b, e, m, q, bias, rows, columns))
    return b


def products(m, k, j, n, block, element="f32"):
    b = Body(block, element)
    x, w, v = b.input(m, k), b.input(k, j), b.input(j, n)
    h = b.matmul(x, w)
    r = b.map("ij", [h], ["ij"], (m, j), f"%one = arith.constant 1.0 : {element}\n%t = arith.maximumf %x0, %zero : {element}\n"
              f"%y = arith.addf %t, %one : {element}\nlinalg.yield %y : {element}")
    b.give(b.matmul(r, v))
    return b


def pastTheEnd(m, k, j, n, block):
    """Past the end, what lies between the products is -inf, which no zero of the other factor takes away."""
    b = Body(block)
    h = b.matmul(b.input(m, k), b.input(k, j))
    r = b.map("ij", [h], ["ij"], (m, j), "%t = math.absf %x0 : f32\n%y = math.log %t : f32\nlinalg.yield %y : f32")
    b.give(b.matmul(r, b.input(j, n)))
    return b


def layers(m, n, count, block):
    b = Body(block)
    x = b.input(m, n)
    for _ in range(count):
        h = b.matmul(x, b.input(n, n))
        x = b.map("ij", [h], ["ij"], (m, n), "%c = arith.constant 0.1 : f32\n%t = arith.maximumf %x0, %zero : f32\n"
                  "%y = arith.mulf %t, %c : f32\nlinalg.yield %y : f32")
    b.give(x)
    return b


def scores(heads, m, n, k, block):
    b = Body(block)
    q, keys = b.input(heads, m, k), b.input(heads, k, n)
    s = b.matmul(q, keys, "batch_matmul")
    t = b.map("hij", [s], ["hij"], (heads, m, n),
              "%i = linalg.index 1 : index\n%j = linalg.index 2 : index\n%c = arith.cmpi ult, %j, %i : index\n"
              "%n = arith.constant 0.125 : f32\n%l = arith.constant -1.0e9 : f32\n%p = arith.mulf %x0, %n : f32\n"
              "%y = arith.select %c, %l, %p : f32\nlinalg.yield %y : f32")
    b.give(b.softmax(t))
    return b


def attention(m, n, k, c, block, element="f32", softmax=Body.softmax):
    b = Body(block, element)
    q, keys, v = b.input(m, k), b.input(k, n), b.input(n, c)
    b.give(b.matmul(softmax(b, b.matmul(q, keys)), v))
    return b


def softmaxByHand(b, x):
    (rows, columns), shape = b.types[x][0], b.types[x][0]
    top = b.fold("ij", "j", [x], ["ij"], (rows,), "0xFF800000", "%t = arith.maximumf %o, %x0 : f32\nlinalg.yield %t : f32")
    e = b.map("ij", [x, top], ["ij", "i"], shape,
              "%d = arith.subf %x0, %x1 : f32\n%t = math.exp %d : f32\nlinalg.yield %t : f32")
    total = b.fold("ij", "j", [e], ["ij"], (rows,), "0.0", ADD)
    return b.map("ij", [e, total], ["ij", "i"], shape, "%t = arith.divf %x0, %x1 : f32\nlinalg.yield %t : f32")


def turned(m, n, k, c, block):
    """Channels come before the queries, and the scores have the keys first."""
    b = Body(block)
    q, keys, v = b.input(m, k), b.input(n, k), b.input(n, c)
    body = "%t = arith.mulf %x0, %x1 : f32\n%y = arith.addf %o, %t : f32\nlinalg.yield %y : f32"
    s = b.generic("nmk", "k", [keys, q], ["nk", "mk"], b.filled((n, m), "0.0"), "nm", body)
    t = b.map("mn", [s], ["nm"], (m, n), "linalg.yield %x0 : f32")
    b.give(b.generic("cmn", "n", [v, b.softmax(t)], ["nc", "mn"], b.filled((c, m), "0.0"), "cm", body))
    return b


def weighted(heads, m, n, c, block):
    """The scores lie in memory, and are a result of nothing here."""
    b = Body(block)
    b.give(b.matmul(b.softmax(b.input(heads, m, n)), b.input(heads, n, c), "batch_matmul"))
    return b


def ownValues(m, n, k, c, d, block):
    """The values are a product of the group, and another product follows; the scores leave the group too."""
    b = Body(block)
    x, w = b.input(n, k), b.input(k, c)
    s = b.matmul(b.input(m, k), b.input(k, n))
    y = b.matmul(b.softmax(s), b.matmul(x, w))
    b.give(s, b.matmul(y, b.input(c, d)))
    return b


def weightsByColumn(m, n, block):
    """The sums of a softmax's columns: along its rows, whose maxima and sums each program needs."""
    b = Body(block)
    b.give(b.fold("ij", "i", [b.softmax(b.input(m, n))], ["ij"], (n,), "0.0", ADD))
    return b


def rowsOfProduct(m, n, k, block):
    """The largest element of each row of a product, and of each row the sum of what is below it."""
    b = Body(block)
    x, w = b.input(m, k), b.input(k, n)
    p = b.matmul(x, w)
    top = b.fold("ij", "j", [p], ["ij"], (m,), "0xFF800000",
                 "%t = arith.maximumf %o, %x0 : f32\nlinalg.yield %t : f32")
    low = b.fold("ij", "j", [p, top], ["ij", "i"], (m,), "0.0",
                 "%d = arith.subf %x0, %x1 : f32\n%e = math.exp %d : f32\n%t = arith.addf %o, %e : f32\n"
                 "linalg.yield %t : f32")
    b.give(top, low)
    return b


def columnsOfProduct(m, n, k, block):
    """A product with transposed factors, then its sum along m; both results are used."""
    b = Body(block)
    x, w = b.input(k, m), b.input(n, k)
    p = b.generic("nmk", "k", [w, x], ["nk", "km"], b.filled((n, m), "0.0"), "nm",
                  "%t = arith.mulf %x0, %x1 : f32\n%y = arith.addf %o, %t : f32\nlinalg.yield %y : f32")
    s = b.fold("nm", "m", [p], ["nm"], (n,), "0.0", ADD)
    b.give(p, s)
    return b


FORMS = {
    "layernorm": lambda: layernorm(37, 67, [4, 128]),
    "layernorm of one row": lambda: layernorm(1, 129, [2, 256]),
    "layernorm, walked": lambda: layernorm(19, 67, [2, 16]),
    "several results": lambda: severalResults(13, 43, [4, 64]),
    "several results, walked": lambda: severalResults(13, 43, [4, 32]),
    "embedding": lambda: embedding(11, 23, 41, [4, 64]),
    "products": lambda: products(45, 24, 53, 19, [16, 64, 16, 32]),
    "products, middle walked": lambda: products(45, 24, 53, 19, [16, 32, 16, 32]),
    "products, one factor kept": lambda: products(45, 24, 53, 19, [16, 32, 32, 32]),
    "products, all whole": lambda: products(17, 16, 32, 16, [32, 32, 16, 16]),
    "products, f16": lambda: products(33, 17, 35, 21, [16, 32, 16, 32], "f16"),
    "products, past the end": lambda: pastTheEnd(19, 24, 21, 17, [16, 32, 16, 32]),
    "layers": lambda: layers(53, 32, 4, [16, 32, 32, 32, 32, 32]),
    "layers, walked": lambda: layers(37, 64, 3, [16, 16, 32, 16, 64]),
    "layers, rows walked": lambda: layers(37, 35, 3, [16, 16, 16, 64, 16]),
    "scores": lambda: scores(3, 21, 35, 24, [1, 16, 64, 8]),
    "scores, rows walked": lambda: scores(3, 21, 35, 24, [1, 16, 16, 8]),
    "attention": lambda: attention(37, 53, 24, 19, [16, 64, 32, 32]),
    "attention, keys walked": lambda: attention(37, 53, 24, 19, [16, 16, 32, 32]),
    "attention, all walked": lambda: attention(19, 53, 24, 40, [16, 16, 16, 32]),
    "attention, f16": lambda: attention(37, 53, 24, 19, [16, 16, 32, 32], "f16"),
    "attention by hand": lambda: attention(37, 53, 24, 19, [16, 16, 32, 32], softmax=softmaxByHand),
    "attention by hand, whole": lambda: attention(37, 53, 24, 19, [16, 64, 32, 32], softmax=softmaxByHand),
    "attention, turned": lambda: turned(37, 53, 24, 19, [16, 32, 32, 16]),
    "weights from memory": lambda: weighted(3, 21, 45, 19, [1, 16, 16, 32]),
    "values of its own": lambda: ownValues(37, 53, 24, 19, 21, [64, 32, 16, 16, 32, 32]),
    "weights by column": lambda: weightsByColumn(29, 45, [32, 64]),
    "weights by column, both walked": lambda: weightsByColumn(29, 45, [8, 16]),
    "weights by column, rows walked": lambda: weightsByColumn(29, 45, [8, 64]),
    "rows of a product": lambda: rowsOfProduct(37, 29, 24, [16, 32, 16]),
    "rows of a product, walked": lambda: rowsOfProduct(37, 45, 24, [16, 16, 16]),
    "columns of a product": lambda: columnsOfProduct(21, 37, 24, [16, 32, 16]),
}


def main():
    tool, folder, *rest = sys.argv[1:]
    only = [a[7:] for a in rest if a.startswith("--only=")]
    fusion = [a for a in rest if a.startswith("--fusion=")]
    targets = [a for a in rest if not a.startswith("--")]
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    problems = checked = kernels = 0
    for name, form in FORMS.items():
        if only and not re.search(only[0], name):
            continue
        file = folder / f"{re.sub('[^a-z0-9]+', '_', name)}.mlir"
        file.write_text(form().plain() if fusion else form().text())
        for target in targets:
            stats = folder / "stats.json"
            run = subprocess.run([tool, file, f"--target={target}", "--check-against=interpret", f"--stats={stats}", *fusion],
                                 capture_output=True, text=True)
            launches = json.loads(stats.read_text()).get("launches") if run.returncode == 0 else None
            checked += 1
            kernels += launches or 0
            if run.returncode or (launches != 1 and not fusion):
                problems += 1
                print(f"{name} on {target}: {launches} launches\n{run.stdout}{run.stderr[:2000]}")
    print(f"{checked} programs, {kernels} kernels, {problems} problems")
    sys.exit(problems > 0 or checked == 0)


if __name__ == "__main__":
    main()
