"""The part of onnxruntime that packages with ONNX models use, over tessera.load. Import this module ahead of them:

    import session            # is `onnxruntime` from here on
    import magika

Sizes that a model leaves open stay open: one program serves all. `fallbacks()` counts the ops without a kernel.
"""
import sys
import types

import numpy as np
import tessera

SESSIONS = []


def fields(data):
    """(number, bytes or int) of each field of a protobuf message."""
    at = 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at, value, shift = at + 1, value | (byte & 127) << shift, shift + 7
            if byte < 128:
                return value
    while at < len(data):
        number, wire = divmod(varint(), 8)
        size = {1: 8, 5: 4}.get(wire) or varint()
        yield number, data[at:at + size] if wire else size
        at += size if wire else 0


class InferenceSession:
    def __init__(self, path, sess_options=None, providers=None, **_):
        with open(path, "rb") as file:
            model = list(fields(memoryview(file.read())))
        graph = [item for number, message in model if number == 7 for item in fields(message)]
        name = {field: [str(dict(fields(item))[1], "utf-8") for number, item in graph if number == field] for field in (11, 12)}
        weights = {str(dict(fields(item)).get(8, b""), "utf-8") for number, item in graph if number == 5}
        self.inputs, self.outputs = [item for item in name[11] if item not in weights], name[12]
        self.metadata = {str(item[1], "utf-8"): str(item[2], "utf-8") for item in (dict(fields(m)) for n, m in model if n == 14)}
        self.program = tessera.load(path).compile("cpu")
        SESSIONS.append(self)

    def run(self, names, feed, options=None):
        arrays = [np.array(feed[name], kind.dtype, order="C") for name, kind in zip(self.inputs, self.program.inputs)]
        results = dict(zip(self.outputs, self.program(*arrays).results))
        return [results[name] for name in names or self.outputs]

    def get_inputs(self):
        return [types.SimpleNamespace(name=name, shape=list(kind.shape)) for name, kind in zip(self.inputs, self.program.inputs)]

    def get_outputs(self):
        return [types.SimpleNamespace(name=name, shape=list(kind.shape)) for name, kind in zip(self.outputs, self.program.outputs)]

    def get_modelmeta(self):
        return types.SimpleNamespace(custom_metadata_map=self.metadata)

    def get_providers(self):
        return ["CPUExecutionProvider"]


class SessionOptions:
    def add_session_config_entry(self, key, value):
        pass


def fallbacks():
    return sum(session.program.statistics.get("fallback_ops", 0) for session in SESSIONS)


module = sys.modules["onnxruntime"] = types.ModuleType("onnxruntime")
module.InferenceSession, module.SessionOptions = InferenceSession, SessionOptions
module.GraphOptimizationLevel = types.SimpleNamespace(ORT_ENABLE_ALL=99, ORT_DISABLE_ALL=0)
module.get_available_providers, module.get_device = lambda: ["CPUExecutionProvider"], lambda: "CPU"
module.disable_telemetry_events = lambda: None
module.__version__ = "1.20.0"
capi = sys.modules["onnxruntime.capi"] = module.capi = types.ModuleType("onnxruntime.capi")
capi._pybind_state = module
