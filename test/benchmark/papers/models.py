"""Models of papers as linalg, f32: a builder of text, and the generators that several papers share.

Weights and inputs are arguments, which tile-run draws from its seed. Sizes are the generators' arguments, so a table can
have the paper's sizes or smaller ones. Images are NHWC.
"""
import random


def tensor(shape):
    return "tensor<" + "".join(f"{size}x" for size in shape) + "f32>"


class Model:
    """Values are pairs of a name and a shape."""

    def __init__(self):
        self.arguments, self.lines, self.count, self.index = [], [], 0, None
        self.lines += ["  %zero = arith.constant 0.0 : f32", "  %one = arith.constant 1.0 : f32"]

    def name(self):
        self.count += 1
        return f"%v{self.count}"

    def argument(self, *shape):
        value = (f"%a{len(self.arguments)}", shape)
        self.arguments.append(value)
        return value

    def op(self, shape, text):
        value = (self.name(), tuple(shape))
        self.lines.append(f"  {value[0]} = {text}")
        return value

    def empty(self, shape):
        return self.op(shape, f"tensor.empty() : {tensor(shape)}")

    def zeros(self, *shape):
        empty = self.empty(shape)
        return self.op(shape, f"linalg.fill ins(%zero : f32) outs({empty[0]} : {tensor(shape)}) -> {tensor(shape)}")

    def named(self, op, inputs, shape):
        """A named op of linalg that adds to zeros."""
        out, names, types = self.zeros(*shape), ", ".join(n for n, _ in inputs), ", ".join(tensor(s) for _, s in inputs)
        return self.op(shape, f"{op} ins({names} : {types}) outs({out[0]} : {tensor(shape)}) -> {tensor(shape)}")

    def product(self, a, b):
        return self.named("linalg.matmul", [a, b], (a[1][0], b[1][1]))

    def contraction(self, a, b, maps, dims, reductions, shape):
        """The sum of products over `reductions`, one letter for each dimension: maps of both factors and of the result."""
        out, names = self.zeros(*shape), ", ".join(dims)
        loops = ", ".join('"reduction"' if d in reductions else '"parallel"' for d in dims)
        texts = ", ".join(f"affine_map<({names}) -> ({', '.join(m)})>" for m in maps)
        return self.op(shape, f"linalg.generic {{indexing_maps = [{texts}], iterator_types = [{loops}]}} ins({a[0]}, {b[0]} : {tensor(a[1])}, "
                              f"{tensor(b[1])}) outs({out[0]} : {tensor(shape)}) {{\n  ^bb0(%x: f32, %w: f32, %s: f32):\n"
                              "    %p = arith.mulf %x, %w : f32\n    %r = arith.addf %s, %p : f32\n    linalg.yield %r : f32\n"
                              f"  }} -> {tensor(shape)}")

    def elementwise(self, inputs, body, results=1):
        """`body` computes %r0, %r1, … from %x0, %x1, …; a vector among the inputs is the same in each row."""
        shape = inputs[0][1]
        dims = ", ".join(f"d{i}" for i in range(len(shape)))
        whole = f"affine_map<({dims}) -> ({dims})>"
        row = f"affine_map<({dims}) -> (d{len(shape) - 1})>"
        maps = [whole if s == shape else row for _, s in inputs] + [whole] * results
        outs = [self.empty(shape) for _ in range(results)]
        name, kind = self.name(), tensor(shape)
        label = name if results == 1 else f"{name}:{results}"
        types = ", ".join([kind] * results)
        loops = ", ".join(['"parallel"'] * len(shape))
        arguments = ", ".join([f"%x{i}: f32" for i in range(len(inputs))] + [f"%o{i}: f32" for i in range(results)])
        self.lines.append(
            f"  {label} = linalg.generic {{indexing_maps = [{', '.join(maps)}], iterator_types = [{loops}]}} "
            f"ins({', '.join(n for n, _ in inputs)} : {', '.join(tensor(s) for _, s in inputs)}) "
            f"outs({', '.join(n for n, _ in outs)} : {types}) {{\n  ^bb0({arguments}):\n" +
            "".join(f"    {line}\n" for line in body) +
            f"    linalg.yield {', '.join(f'%r{i}' for i in range(results))} : {', '.join(['f32'] * results)}\n  }} -> " +
            (types if results == 1 else f"({types})"))
        return (name, shape) if results == 1 else [(f"{name}#{i}", shape) for i in range(results)]

    def add(self, a, b):
        return self.elementwise([a, b], ["%r0 = arith.addf %x0, %x1 : f32"])

    def relu(self, a):
        return self.elementwise([a], ["%r0 = arith.maximumf %x0, %zero : f32"])

    def affine_relu(self, a, scale, shift):
        """What is left of a batch normalization, and relu."""
        return self.elementwise([a, scale, shift], ["%p = arith.mulf %x0, %x1 : f32", "%s = arith.addf %p, %x2 : f32",
                                                    "%r0 = arith.maximumf %s, %zero : f32"])

    def columns(self, a, first, count):
        rows = a[1][0]
        return self.op((rows, count), f"tensor.extract_slice {a[0]}[0, {first}] [{rows}, {count}] [1, 1] : {tensor(a[1])} to "
                                      f"{tensor((rows, count))}")

    def padded(self, a, amount):
        n, h, w, c = a[1]
        shape = (n, h + 2 * amount, w + 2 * amount, c)
        return self.op(shape, f"tensor.pad {a[0]} low[0, {amount}, {amount}, 0] high[0, {amount}, {amount}, 0] {{\n"
                              "  ^bb0(%i0: index, %i1: index, %i2: index, %i3: index):\n    tensor.yield %zero : f32\n"
                              f"  }} : {tensor(a[1])} to {tensor(shape)}")

    def convolution(self, a, features, size, stride=1):
        """Padded so that a stride of 1 keeps the image's size."""
        image = self.padded(a, size // 2) if size > 1 else a
        n, h, w, c = image[1]
        weights = self.argument(size, size, c, features)
        shape = (n, (h - size) // stride + 1, (w - size) // stride + 1, features)
        return self.named(f"linalg.conv_2d_nhwc_hwcf {{strides = dense<{stride}> : tensor<2xi64>}}", [image, weights], shape)

    def block(self, a, features, size, stride=1):
        """Convolution, normalization, relu."""
        return self.affine_relu(self.convolution(a, features, size, stride), self.argument(features), self.argument(features))

    def concatenated(self, parts):
        """Along the last axis."""
        shape = parts[0][1][:-1] + (sum(p[1][-1] for p in parts),)
        whole, at = self.empty(shape), 0
        for part in parts:
            offsets = ", ".join(["0"] * (len(shape) - 1) + [str(at)])
            sizes = ", ".join(map(str, part[1]))
            whole = self.op(shape, f"tensor.insert_slice {part[0]} into {whole[0]}[{offsets}] [{sizes}] [{', '.join(['1'] * len(shape))}] : "
                                   f"{tensor(part[1])} into {tensor(shape)}")
            at += part[1][-1]
        return whole

    def flat(self, a):
        """One row for each image."""
        count = 1
        for size in a[1][1:]:
            count *= size
        return self.op((a[1][0], count), f"tensor.collapse_shape {a[0]} [[0], [1, 2, 3]] : {tensor(a[1])} into {tensor((a[1][0], count))}")

    def loop(self, sequence, carried, body):
        """Rounds over the first axis of `sequence`: body(element, values) gives the values of the next round, whose number is `index`."""
        steps, shape = sequence[1][0], sequence[1][1:]
        names, label, types = [self.name() for _ in carried], self.name(), ", ".join(tensor(s) for _, s in carried)
        start, end, step, index = (self.name() for _ in range(4))
        for name, value in ((start, 0), (end, steps), (step, 1)):
            self.lines.append(f"  {name} = arith.constant {value} : index")
        initial = ", ".join(f"{n} = {v}" for n, (v, _) in zip(names, carried))
        self.index = index
        self.lines.append(f"  {label}:{len(carried)} = scf.for {index} = {start} to {end} step {step} iter_args({initial}) -> ({types}) {{")
        offsets, ones = ", ".join([index] + ["0"] * len(shape)), ", ".join(["1"] * (1 + len(shape)))
        element = self.op(shape, f"tensor.extract_slice {sequence[0]}[{offsets}] [1, {', '.join(map(str, shape))}] [{ones}] : "
                                 f"{tensor(sequence[1])} to {tensor(shape)}")
        results = body(element, [(n, s) for n, (_, s) in zip(names, carried)])
        self.lines.append(f"  scf.yield {', '.join(n for n, _ in results)} : {types}\n  }}")
        return [(f"{label}#{i}", s) for i, (_, s) in enumerate(carried)]

    def text(self, result):
        arguments = ", ".join(f"{n}: {tensor(s)}" for n, s in self.arguments)
        kind = tensor(result[1])
        return f"func.func @main({arguments}) -> {kind} {{\n" + "\n".join(self.lines) + f"\n  return {result[0]} : {kind}\n}}\n"


SIGMOID = ("%n{0} = arith.negf %x{0} : f32", "%e{0} = math.exp %n{0} : f32", "%d{0} = arith.addf %e{0}, %one : f32",
           "%s{0} = arith.divf %one, %d{0} : f32")


def lstm_cell(model, weights, x, h, c):
    """The four gates are columns of one product: i, f, g, o."""
    w, u, bias = weights
    hidden = h[1][1]
    gates = model.elementwise([model.product(x, w), model.product(h, u), bias],
                              ["%p = arith.addf %x0, %x1 : f32", "%r0 = arith.addf %p, %x2 : f32"])
    parts = [model.columns(gates, k * hidden, hidden) for k in range(4)]
    body = [line.format(k) for k in (0, 1, 3) for line in SIGMOID]
    body += ["%t = math.tanh %x2 : f32", "%p = arith.mulf %s1, %x4 : f32", "%q = arith.mulf %s0, %t : f32",
             "%r1 = arith.addf %p, %q : f32", "%v = math.tanh %r1 : f32", "%r0 = arith.mulf %s3, %v : f32"]
    return model.elementwise([*parts, c], body, results=2)


def lstm_stack(model, inputs, layers, hidden, states=None):
    """Outputs of the last layer, and the last states of all layers."""
    batch = inputs[0][1][0]
    ends = []
    for layer in range(layers):
        width = inputs[0][1][1]
        weights = model.argument(width, 4 * hidden), model.argument(hidden, 4 * hidden), model.argument(4 * hidden)
        h, c = states[layer] if states else (model.zeros(batch, hidden), model.zeros(batch, hidden))
        outputs = []
        for x in inputs:
            h, c = lstm_cell(model, weights, x, h, c)
            outputs.append(h)
        ends.append((h, c))
        inputs = outputs
    return inputs, ends


def lstm(batch, layers, steps, hidden):
    model = Model()
    outputs, _ = lstm_stack(model, [model.argument(batch, hidden) for _ in range(steps)], layers, hidden)
    return model.text(outputs[-1])


def seq2seq(batch, layers, steps, decoder_layers, decoder_steps, hidden):
    """The decoder starts from the states of the encoder's first layers and takes the encoder's last output in each step."""
    model = Model()
    outputs, states = lstm_stack(model, [model.argument(batch, hidden) for _ in range(steps)], layers, hidden)
    outputs, _ = lstm_stack(model, [outputs[-1]] * decoder_steps, decoder_layers, hidden, states)
    return model.text(outputs[-1])


def resnext(batch, size, branches, width, blocks):
    """Stages of one width; the input of a block is added to its end."""
    model = Model()
    x = model.block(model.argument(batch, size, size, 3), width, 3)
    for _ in range(blocks):
        parts = [model.block(model.block(x, width, 1), width, 3) for _ in range(branches)]
        x = model.relu(model.add(model.block(model.concatenated(parts), width, 1), x))
    return model.text(model.product(model.flat(x), model.argument(size * size * width, 10)))


def alexnet(batch, size, width, classes):
    """Five convolutions and three products, one behind the other."""
    model = Model()
    x = model.argument(batch, size, size, 3)
    for features, kernel, stride in ((width, 5, 2), (3 * width, 5, 2), (6 * width, 3, 1), (4 * width, 3, 1), (4 * width, 3, 1)):
        x = model.block(x, features, kernel, stride)
    x = model.flat(x)
    for features in (16 * width, 16 * width, classes):
        x = model.relu(model.product(x, model.argument(x[1][1], features)))
    return model.text(x)


def deepspeech(batch, frames, bands, filters, layers, hidden):
    """Two convolutions; each frame of their result is a step of the recurrent layers."""
    model = Model()
    x = model.block(model.block(model.argument(batch, frames, bands, 1), filters, 5, 2), filters, 3, 2)
    n, steps, height, features = x[1]
    rows = []
    for t in range(steps):
        frame = model.op((n, 1, height, features), f"tensor.extract_slice {x[0]}[0, {t}, 0, 0] [{n}, 1, {height}, {features}] [1, 1, 1, 1] : "
                                                   f"{tensor(x[1])} to {tensor((n, 1, height, features))}")
        rows.append(model.flat(frame))
    outputs, _ = lstm_stack(model, rows, layers, hidden)
    return model.text(model.product(outputs[-1], model.argument(hidden, 29)))


def lstm_loop(batch, layers, steps, hidden):
    """A loop over steps that carries the states of all layers."""
    model = Model()
    weights = [(model.argument(hidden, 4 * hidden), model.argument(hidden, 4 * hidden), model.argument(4 * hidden)) for _ in range(layers)]

    def body(x, states):
        result = []
        for layer in range(layers):
            x, c = lstm_cell(model, weights[layer], x, *states[2 * layer:2 * layer + 2])
            result += [x, c]
        return result
    states = [model.argument(batch, hidden) for _ in range(2 * layers)]
    return model.text(model.loop(model.argument(steps, batch, hidden), states, body)[-2])


def nas_cell(model, weights, x, m, c):
    """Eight gates: sigmoid, relu and tanh of the sums, as Cocktailer's artifact has them."""
    w, u = weights
    hidden = m[1][1]
    sums = model.add(model.product(x, w), model.product(m, u))
    gates = [model.columns(sums, k * hidden, hidden) for k in range(8)]
    body = []
    for k, kind in enumerate("srsrtsts"):
        if kind == "s":
            body += [line.format(k) for line in SIGMOID]
        else:
            body.append(f"%s{k} = arith.maximumf %x{k}, %zero : f32" if kind == "r" else f"%s{k} = math.tanh %x{k} : f32")
    body += ["%g0 = arith.mulf %s0, %s1 : f32", "%a = math.tanh %g0 : f32", "%g1 = arith.addf %s2, %s3 : f32", "%b = math.tanh %g1 : f32",
             "%g2 = arith.mulf %s4, %s5 : f32", "%d = math.tanh %g2 : f32", "%g3 = arith.addf %s6, %s7 : f32", "%ng = arith.negf %g3 : f32",
             "%eg = math.exp %ng : f32", "%dg = arith.addf %eg, %one : f32", "%e = arith.divf %one, %dg : f32",
             "%ca = arith.addf %x8, %a : f32", "%r1 = arith.mulf %ca, %b : f32", "%de = arith.addf %d, %e : f32", "%td = math.tanh %de : f32",
             "%h = arith.mulf %r1, %td : f32", "%r0 = math.tanh %h : f32"]
    return model.elementwise([*gates, c], body, results=2)


def nasrnn(batch, steps, hidden):
    model = Model()
    weights = model.argument(hidden, 8 * hidden), model.argument(hidden, 8 * hidden)
    states = [model.argument(batch, hidden) for _ in range(2)]
    return model.text(model.loop(model.argument(steps, batch, hidden), states, lambda x, s: nas_cell(model, weights, x, *s))[0])


def rnn(batch, steps, hidden):
    """The shortest round there is: one product and tanh."""
    model = Model()
    u = model.argument(hidden, hidden)

    def body(x, states):
        return [model.elementwise([model.product(states[0], u), x], ["%s = arith.addf %x0, %x1 : f32", "%r0 = math.tanh %s : f32"])]
    return model.text(model.loop(model.argument(steps, batch, hidden), [model.argument(batch, hidden)], body)[0])


def attention(batch, heads, first, rounds, width):
    """Decoding with caches of keys and values: each round writes row `first` + t of both, adds row t of the masks to the scores of all rows,
    and gives what the next one begins with."""
    model = Model()
    rows, shape = first + rounds, (batch, heads, width)
    weights = [model.argument(heads, width, width) for _ in range(4)]
    masks = model.argument(rounds, rows)
    model.lines.append(f"  %first = arith.constant {first} : index")

    def project(x, w):
        return model.contraction(x, w, ["bhk", "hkj", "bhj"], "bhjk", "k", shape)

    def stored(cache, x, row):
        return model.op(cache[1], f"tensor.insert_slice {x[0]} into {cache[0]}[{row}, 0, 0, 0] [1, {batch}, {heads}, {width}] [1, 1, 1, 1] : "
                                  f"{tensor(shape)} into {tensor(cache[1])}")

    def body(x, state):
        x, row, t = model.add(x, state[0]), model.name(), model.index
        model.lines.append(f"  {row} = arith.addi {t}, %first : index")
        q, k, v = (project(x, w) for w in weights[:3])
        keys, values = stored(state[1], k, row), stored(state[2], v, row)
        mask = model.op((rows,), f"tensor.extract_slice {masks[0]}[{t}, 0] [1, {rows}] [1, 1] : {tensor(masks[1])} to {tensor((rows,))}")
        s = model.contraction(q, keys, ["bhj", "rbhj", "bhr"], "bhrj", "j", (batch, heads, rows))
        masked = model.elementwise([s, mask], ["%f = arith.constant 0.125 : f32", "%p = arith.mulf %x0, %f : f32", "%r0 = arith.addf %p, %x1 : f32"])
        empty, kind = model.empty(s[1]), tensor(s[1])
        p = model.op(s[1], f"linalg.softmax dimension(2) ins({masked[0]} : {kind}) outs({empty[0]} : {kind}) -> {kind}")
        o = model.contraction(p, values, ["bhr", "rbhj", "bhj"], "bhjr", "r", shape)
        return [project(o, weights[3]), keys, values]
    cache = (rows, batch, heads, width)
    state = [model.argument(*shape), model.argument(*cache), model.argument(*cache)]
    return model.text(model.loop(model.argument(rounds, *shape), state, body)[0])


def sum_of_squares(model, x):
    """A scalar."""
    none, name, value = model.zeros(), model.name(), model.name()
    dims, loops = ", ".join(f"d{i}" for i in range(len(x[1]))), ", ".join(['"reduction"'] * len(x[1]))
    model.lines.append(
        f"  {name} = linalg.generic {{indexing_maps = [affine_map<({dims}) -> ({dims})>, affine_map<({dims}) -> ()>], iterator_types = "
        f"[{loops}]}} ins({x[0]} : {tensor(x[1])}) outs({none[0]} : tensor<f32>) {{\n"
        "  ^bb0(%x: f32, %s: f32):\n    %q = arith.mulf %x, %x : f32\n    %r = arith.addf %s, %q : f32\n    linalg.yield %r : f32\n"
        f"  }} -> tensor<f32>\n  {value} = tensor.extract {name}[] : tensor<f32>")
    return value


def branch(model, condition, x, body):
    """body() or x."""
    name, kind = model.name(), tensor(x[1])
    model.lines.append(f"  {name} = scf.if {condition} -> {kind} {{")
    result = body()
    model.lines.append(f"  scf.yield {result[0]} : {kind}\n  }} else {{\n  scf.yield {x[0]} : {kind}\n  }}")
    return name, x[1]


def is_above(model, value, bound):
    limit, name = model.name(), model.name()
    model.lines.append(f"  {limit} = arith.constant {bound:e} : f32\n  {name} = arith.cmpf ogt, {value}, {limit} : f32")
    return name


def residual(model, x, width):
    return model.add(model.product(model.relu(model.product(x, model.argument(x[1][1], width))), model.argument(width, x[1][1])), x)


def blockdrop(batch, blocks, hidden):
    """One policy, computed ahead of all blocks, says which of them run; for the first row of the batch."""
    model = Model()
    x = model.argument(batch, hidden)
    policy = model.product(x, model.argument(hidden, blocks))
    for k in range(blocks):
        row, column, score = model.name(), model.name(), model.name()
        model.lines.append(f"  {row} = arith.constant 0 : index\n  {column} = arith.constant {k} : index\n"
                           f"  {score} = tensor.extract {policy[0]}[{row}, {column}] : {tensor(policy[1])}")
        x = branch(model, is_above(model, score, 0.0), x, lambda x=x: residual(model, x, hidden))
    return model.text(x)


def skipnet(batch, blocks, hidden):
    """A gate looks at what the blocks before it gave: half of them run."""
    model = Model()
    x = model.argument(batch, hidden)
    for k in range(blocks):
        size = sum_of_squares(model, model.product(x, model.argument(hidden, 4)))
        x = branch(model, is_above(model, size, 1e-3 if k % 2 else 1e9), x, lambda x=x: residual(model, x, hidden))
    return model.text(x)


def while_rnn(batch, steps, hidden):
    """Rounds of one product and tanh, until the state is small or `steps` have run."""
    model = Model()
    u, h = model.argument(hidden, hidden), model.argument(batch, hidden)
    kind, label, state, step, bound, start, end = tensor(h[1]), *(model.name() for _ in range(6))
    model.lines.append(f"  {start} = arith.constant 0 : i32\n  {step} = arith.constant 1 : i32\n  {end} = arith.constant {steps} : i32\n"
                       f"  {label}:2 = scf.while ({state} = {h[0]}, {bound} = {start}) : ({kind}, i32) -> ({kind}, i32) {{")
    large = is_above(model, sum_of_squares(model, (state, h[1])), 1e-6)
    more, go = model.name(), model.name()
    model.lines.append(f"  {more} = arith.cmpi slt, {bound}, {end} : i32\n  {go} = arith.andi {more}, {large} : i1\n"
                       f"  scf.condition({go}) {state}, {bound} : {kind}, i32\n  }} do {{\n  ^bb0({state}: {kind}, {bound}: i32):")
    result = model.elementwise([model.product((state, h[1]), u)], ["%r0 = math.tanh %x0 : f32"])
    count = model.name()
    model.lines.append(f"  {count} = arith.addi {bound}, {step} : i32\n  scf.yield {result[0]}, {count} : {kind}, i32\n  }}")
    return model.text((f"{label}#0", h[1]))


def decoder(batch, steps, hidden, words):
    """A cell of an LSTM takes the word that the step before found the best, until all rows have found the last word."""
    model = Model()
    embedding, scores = model.argument(words, hidden), model.argument(hidden, words)
    weights = model.argument(hidden, 4 * hidden), model.argument(hidden, 4 * hidden), model.argument(4 * hidden)
    h, c = model.argument(batch, hidden), model.argument(batch, hidden)
    kind, rows = tensor(h[1]), f"tensor<{batch}xi64>"
    model.lines.append(f"""  %i0 = arith.constant 0 : i32
  %i1 = arith.constant 1 : i32
  %steps = arith.constant {steps} : i32
  %none = arith.constant 0 : i64
  %one64 = arith.constant 1 : i64
  %end_word = arith.constant {words - 1} : i64
  %low = arith.constant 0xFF800000 : f32
  %no_words = tensor.empty() : {rows}
  %first = linalg.fill ins(%none : i64) outs(%no_words : {rows}) -> {rows}
  %all:4 = scf.while (%h = {h[0]}, %c = {c[0]}, %word = %first, %round = %i0) : ({kind}, {kind}, {rows}, i32) -> ({kind}, {kind}, {rows}, i32) {{
  %no_count = tensor.empty() : tensor<i64>
  %zero_count = linalg.fill ins(%none : i64) outs(%no_count : tensor<i64>) -> tensor<i64>
  %counted = linalg.generic {{indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>], iterator_types = ["reduction"]}}
      ins(%word : {rows}) outs(%zero_count : tensor<i64>) {{
  ^bb0(%w: i64, %s: i64):
    %is_open = arith.cmpi ne, %w, %end_word : i64
    %bit = arith.extui %is_open : i1 to i64
    %sum = arith.addi %s, %bit : i64
    linalg.yield %sum : i64
  }} -> tensor<i64>
  %open = tensor.extract %counted[] : tensor<i64>
  %some = arith.cmpi sgt, %open, %none : i64
  %more = arith.cmpi slt, %round, %steps : i32
  %go = arith.andi %some, %more : i1
  scf.condition(%go) %h, %c, %word, %round : {kind}, {kind}, {rows}, i32
  }} do {{
  ^bb0(%h: {kind}, %c: {kind}, %word: {rows}, %round: i32):
  %no_x = tensor.empty() : {kind}
  %x = linalg.generic {{indexing_maps = [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}}
      ins(%word : {rows}) outs(%no_x : {kind}) {{
  ^bb0(%w: i64, %o: f32):
    %row = arith.index_cast %w : i64 to index
    %column = linalg.index 1 : index
    %value = tensor.extract {embedding[0]}[%row, %column] : {tensor(embedding[1])}
    linalg.yield %value : f32
  }} -> {kind}""")
    h1, c1 = lstm_cell(model, weights, ("%x", h[1]), ("%h", h[1]), ("%c", c[1]))
    found = model.product(h1, scores)
    model.lines.append(f"""  %no_best = tensor.empty() : tensor<{batch}xf32>
  %lowest = linalg.fill ins(%low : f32) outs(%no_best : tensor<{batch}xf32>) -> tensor<{batch}xf32>
  %no_next = tensor.empty() : {rows}
  %nothing = linalg.fill ins(%none : i64) outs(%no_next : {rows}) -> {rows}
  %best:2 = linalg.generic {{indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i)>],
      iterator_types = ["parallel", "reduction"]}} ins({found[0]} : {tensor(found[1])}) outs(%lowest, %nothing : tensor<{batch}xf32>, {rows}) {{
  ^bb0(%v: f32, %m: f32, %i: i64):
    %at = linalg.index 1 : index
    %at64 = arith.index_cast %at : index to i64
    %above = arith.cmpf ogt, %v, %m : f32
    %mm = arith.select %above, %v, %m : f32
    %ii = arith.select %above, %at64, %i : i64
    linalg.yield %mm, %ii : f32, i64
  }} -> (tensor<{batch}xf32>, {rows})
  %next_round = arith.addi %round, %i1 : i32
  scf.yield {h1[0]}, {c1[0]}, %best#1, %next_round : {kind}, {kind}, {rows}, i32
  }}""")
    return model.text(("%all#0", h[1]))


def random_tree(nodes):
    """Children of each node of a binary tree of an odd number of nodes, -1: none. The root is 0; a node stands ahead of its children."""
    draw, left, right, leaves = random.Random(1), [-1] * nodes, [-1] * nodes, [0]
    for child in range(1, nodes, 2):
        parent = leaves.pop(draw.randrange(len(leaves)))
        left[parent], right[parent] = child, child + 1
        leaves += [child, child + 1]
    return left, right


def rae(batch, nodes, hidden):
    """A recursive autoencoder: an inner node is tanh of a product of its children side by side, a leaf a row of the input."""
    model = Model()
    x, w = model.argument(nodes, batch, hidden), [model.argument(hidden, hidden) for _ in range(2)]
    left, right = random_tree(nodes)
    names, kind, children = [x, *w], tensor((batch, hidden)), f"tensor<{nodes}xi32>"
    handed, types = ", ".join(f"%t{k}" for k in range(5)), f"{children}, {children}, " + ", ".join(tensor(s) for _, s in names)
    body = Model()
    sides = [("%a", (batch, hidden)), ("%b", (batch, hidden))]
    result = body.elementwise([body.product(sides[k], (f"%t{3 + k}", w[k][1])) for k in range(2)],
                              ["%s = arith.addf %x0, %x1 : f32", "%r0 = math.tanh %s : f32"])
    constants, ops = "\n".join(body.lines[:2]), "\n".join(body.lines[2:])
    call = f"func.call @node(%{{}}, {handed}) : (index, {types}) -> {kind}"
    function = f"""func.func private @node(%n: index, %t0: {children}, %t1: {children}, %t2: {tensor(x[1])}, %t3: {tensor(w[0][1])}, %t4: {tensor(w[1][1])}) -> {kind} {{
{constants}
  %none = arith.constant 0 : i32
  %left = tensor.extract %t0[%n] : {children}
  %is_leaf = arith.cmpi slt, %left, %none : i32
  %r = scf.if %is_leaf -> {kind} {{
  %row = tensor.extract_slice %t2[%n, 0, 0] [1, {batch}, {hidden}] [1, 1, 1] : {tensor(x[1])} to {kind}
  scf.yield %row : {kind}
  }} else {{
  %l = arith.index_cast %left : i32 to index
  %a = {call.format("l")}
  %right = tensor.extract %t1[%n] : {children}
  %g = arith.index_cast %right : i32 to index
  %b = {call.format("g")}
{ops}
  scf.yield {result[0]} : {kind}
  }}
  return %r : {kind}
}}
"""
    model.lines += [f"  %children{k} = arith.constant dense<{list(side)}> : {children}" for k, side in enumerate((left, right))]
    model.lines.append(f"  %root = arith.constant 0 : index\n  %y = func.call @node(%root, %children0, %children1, "
                       f"{', '.join(n for n, _ in names)}) : (index, {types}) -> {kind}")
    return function + model.text(("%y", (batch, hidden)))
