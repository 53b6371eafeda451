"""Exports the small networks of the tests by PyTorch, which only this script needs. Usage: export.py FOLDER [NAME ...]

NAME.pt2 is what torch.export.save writes, without sample inputs and with the traces cut to the lines of this file.
NAME.npz has the arguments and the result.
"""
import json
import sys
import zipfile

import numpy as np
import torch
from torch import nn


class Mlp(nn.Module):

    def __init__(self):
        super().__init__()
        self.a, self.norm, self.b = nn.Linear(12, 20), nn.LayerNorm(20), nn.Linear(20, 5)

    def forward(self, x):
        return torch.softmax(self.b(nn.functional.gelu(self.norm(self.a(x)))), -1)


class Cnn(nn.Module):

    def __init__(self):
        super().__init__()
        self.c, self.b, self.p = nn.Conv2d(3, 8, 3, padding=1, stride=2), nn.BatchNorm2d(8), nn.MaxPool2d(2)
        self.d, self.f = nn.Conv2d(8, 8, 3, groups=8), nn.Linear(8, 4)
        self.register_buffer("scale", torch.tensor(2.0))
        self.register_buffer("mask", torch.arange(8.0), persistent=False)  # a constant of the file

    def forward(self, x):
        y = self.d(self.p(torch.relu(self.b(self.c(x))))) * self.scale
        return self.f(nn.functional.adaptive_avg_pool2d(y, 1).flatten(1) * self.mask)


class Block(nn.Module):

    def __init__(self):
        super().__init__()
        self.e, self.t = nn.Embedding(50, 16), nn.TransformerEncoderLayer(16, 4, 32, batch_first=True, dropout=0.0)

    def forward(self, i):
        return self.t(self.e(i)).mean(1)


class Count(nn.Module):

    def __init__(self):
        super().__init__()
        self.register_buffer("n", torch.ones(3))

    def forward(self, x):
        self.n.add_(x)
        return self.n * 2


class Rnn(nn.Module):

    def __init__(self):
        super().__init__()
        self.l, self.g = nn.LSTM(6, 8, 2, batch_first=True, bidirectional=True), nn.GRU(16, 5)

    def forward(self, x):
        return self.g(self.l(x)[0])[0]


class Edges(nn.Module):
    """Where the meaning of an operator is not that of ONNX's: truth values, and corners of a scaled image."""

    def __init__(self):
        super().__init__()
        self.register_buffer("places", torch.tensor([[1, 1, 0, 2], [1, 0, 0, 4]]), persistent=False)

    def forward(self, x):
        flags = x > 0
        added = torch.ones(5, 4, dtype=torch.bool).scatter_add(0, self.places, flags[0, 0, :2])
        large = nn.functional.interpolate(x, scale_factor=(1.7, 0.6), mode="bilinear", align_corners=True)
        return torch.cat([part.flatten().float() for part in (flags.sign(), added, torch.full((3, ), 6, dtype=torch.bool), large)])


class Train(nn.Module):
    """Decomposed, its graph gives the new running statistics before the result."""

    def __init__(self):
        super().__init__()
        self.b = nn.BatchNorm1d(3)

    def forward(self, x):
        return self.b(x) * 2


def cut(trace):
    """Only the lines of this file, by its name."""
    lines = [line for line in trace.split("\n") if line.lstrip().startswith("File") and __file__ in line]
    return "\n".join(line.replace(__file__, "export.py") for line in lines)


def bare(graph, traces):
    """A graph without what only PyTorch reads."""
    for node in graph["nodes"]:
        node["metadata"] = {"stack_trace": cut(node["metadata"].get("stack_trace", ""))} if traces else {}
        for item in node["inputs"]:
            if "as_graph" in item["arg"]:
                bare(item["arg"]["as_graph"]["graph"], traces)


def save(program, path, traces=True):
    torch.export.save(program, path)
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist() if "/sample_inputs/" not in name}
    name = next(name for name in members if name.endswith("/models/model.json"))
    model = json.loads(members[name])
    bare(model["graph_module"]["graph"], traces)
    model["graph_module"]["module_call_graph"] = []
    members[name] = json.dumps(model).encode()
    with zipfile.ZipFile(path, "w") as archive:
        for member, data in members.items():
            archive.writestr(zipfile.ZipInfo(member), data)


def main():
    folder = sys.argv[1]
    torch.manual_seed(0)
    batch, time = torch.export.Dim("batch", min=1, max=64), torch.export.Dim("time", max=32)
    cases = {"mlp": (Mlp(), torch.randn(3, 12), {0: batch}), "cnn": (Cnn(), torch.randn(2, 3, 16, 16), None),
             "block": (Block(), torch.randint(0, 50, (2, 7)), {0: batch, 1: time}), "count": (Count(), torch.randn(3), None),
             "rnn": (Rnn(), torch.randn(2, 4, 6), None),
             "train": (Train(), torch.randn(4, 3, 5), None),
             "edges": (Edges(), torch.randn(1, 2, 7, 4), {2: torch.export.Dim("height", min=3, max=64)})}
    wanted = sys.argv[2:] or cases
    for name, (module, x, shapes) in [(name, cases[name]) for name in wanted]:
        module.train(name == "train")
        program = torch.export.export(module, (x,), dynamic_shapes=shapes and (shapes,))
        save(program.run_decompositions() if name == "train" else program, f"{folder}/{name}.pt2")
        arrays = {"x": x.numpy(), "y": module(x).detach().numpy()}
        if name == "train":
            arrays.update(mean=module.b.running_mean.numpy(), variance=module.b.running_var.numpy())
        np.savez(f"{folder}/{name}.npz", **arrays)


if __name__ == "__main__":
    main()
