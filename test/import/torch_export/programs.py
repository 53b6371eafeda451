"""Writes the arguments and results of Inputs/*.pt2 as .npy, and damaged programs. Usage: programs.py INPUTS FOLDER"""
import io
import json
import os
import sys
import zipfile

import numpy as np

NAMES = ("mlp", "cnn", "block", "count", "rnn", "edges", "train")


def members(path):
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def packed(files, method=zipfile.ZIP_STORED):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as archive:
        for name, data in files.items():
            archive.writestr(zipfile.ZipInfo(name), data, method)
    return buffer.getvalue()


def changed(files, name, change):
    """The same files; change(json) may return a new value of the member whose name ends so."""
    member = next(key for key in files if key.endswith(name))
    value = json.loads(files[member])
    return packed({**files, member: json.dumps(change(value) or value).encode()})


def nodes(model):
    return model["graph_module"]["graph"]["nodes"]


def first_weight(config):
    return next(iter(config["config"].values()))


def damaged(files):
    weights, model = "model_weights_config.json", "models/model.json"
    return {
        "compressed": packed(files, zipfile.ZIP_DEFLATED),
        "cut": packed(files)[:-40],
        "none": packed({"a/readme": b"no program"}),
        "text": packed({**files, "mlp/models/model.json": b'{"graph_module": [1,'}),
        "big": packed({**files, "mlp/byteorder": b"big"}),
        "schema": changed(files, model, lambda m: m["schema_version"].update(major=9)),
        "operator": changed(files, model, lambda m: nodes(m)[0].update(target="torch.ops.aten.sinc.default")),
        "missing": changed(files, model, lambda m: nodes(m)[1]["inputs"][0]["arg"]["as_tensor"].update(name="later")),
        "pickle": changed(files, weights, lambda c: first_weight(c).update(use_pickle=True)),
        "lost": changed(files, weights, lambda c: first_weight(c).update(path_name="weight_99")),
        "outside": changed(files, weights, lambda c: first_weight(c)["tensor_meta"]["storage_offset"].update(as_int=1 << 40)),
        "train": changed(files, model, lambda m: nodes(m)[0].update(target="torch.ops.aten.dropout.default", inputs=[
            {"name": "input", "arg": {"as_tensor": {"name": "x"}}}, {"name": "p", "arg": {"as_float": 0.5}},
            {"name": "train", "arg": {"as_bool": True}}])),
        # relu_ of a view: what it is a view of would have to change too.
        "shared": changed(files, model, lambda m: nodes(m).insert(1, {
            "target": "torch.ops.aten.transpose_.int", "inputs": [
                {"name": "self", "arg": {"as_tensor": {"name": "x"}}}, {"name": "dim0", "arg": {"as_int": 0}},
                {"name": "dim1", "arg": {"as_int": 1}}], "outputs": [{"as_tensor": {"name": "linear"}}], "metadata": {}}) or nodes(m).insert(1, {
            "target": "torch.ops.aten.unsqueeze.default", "inputs": [
                {"name": "self", "arg": {"as_tensor": {"name": "x"}}}, {"name": "dim", "arg": {"as_int": 0}}],
            "outputs": [{"as_tensor": {"name": "above"}}], "metadata": {}}) or
            m["graph_module"]["graph"]["tensor_values"].update(above={"dtype": 7})),
    }  # yapf: disable


def main():
    inputs, folder = sys.argv[1:]
    for name in NAMES:
        arrays = np.load(os.path.join(inputs, f"{name}.npz"))
        for part, array in arrays.items():
            np.save(os.path.join(folder, f"{name}.{part}.npy"), array)
    np.save(os.path.join(folder, "count.n.npy"), 1 + np.load(os.path.join(inputs, "count.npz"))["x"])
    np.save(os.path.join(folder, "many.npy"), np.zeros((65, 12), "f4"))
    for name, data in damaged(members(os.path.join(inputs, "mlp.pt2"))).items():
        with open(os.path.join(folder, f"{name}.pt2"), "wb") as file:
            file.write(data)


if __name__ == "__main__":
    main()
