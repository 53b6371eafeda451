"""Models of papers as linalg, f32: a builder of text, and the generators that several papers share.

Weights and inputs are arguments, which tile-run draws from its seed. Sizes are the generators' arguments, so a table can
have the paper's sizes or smaller ones. Images are NHWC.
"""


def tensor(shape):
    return "tensor<" + "".join(f"{size}x" for size in shape) + "f32>"


class Model:
    """Values are pairs of a name and a shape."""

    def __init__(self):
        self.arguments, self.lines, self.count = [], [], 0
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
        """Rounds over the first axis of `sequence`: body(element, values) gives the values of the next round."""
        steps, shape = sequence[1][0], sequence[1][1:]
        names, label, types = [self.name() for _ in carried], self.name(), ", ".join(tensor(s) for _, s in carried)
        start, end, step, index = (self.name() for _ in range(4))
        for name, value in ((start, 0), (end, steps), (step, 1)):
            self.lines.append(f"  {name} = arith.constant {value} : index")
        initial = ", ".join(f"{n} = {v}" for n, (v, _) in zip(names, carried))
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
