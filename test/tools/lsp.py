"""A session with tile-lsp-server over its protocol: what an editor asks, and what it must hear. Use: lsp.py SERVER

The program has a kernel of Tile ops, a launch of it and a sparse type, so that no answer comes from upstream's dialects alone.
Each answer is compared with a place found in the text itself.
"""
import json
import subprocess
import sys

URI = "file:///kernel.mlir"
PROGRAM = """\
func.func @main(%x: tensor<16xf32>) -> tensor<16xf32> {
  %one = arith.constant 1 : index
  %e = tensor.empty() : tensor<16xf32>
  %y = tile.launch @twice grid(%one) ins(%x : tensor<16xf32>) outs(%e : tensor<16xf32>) -> tensor<16xf32>
  return %y : tensor<16xf32>
}
tile.kernel private @twice(%x: memref<16xf32>, %y: memref<16xf32>) {
  %i = tile.program_id 0
  %X = tile.view %x : memref<16xf32> to !tile.view<16xf32>
  %Y = tile.view %y : memref<16xf32> to !tile.view<16xf32>
  %tile = tile.load %X[%i] : !tile.view<16xf32> -> tensor<16xf32>
  %sum = arith.addf %tile, %tile : tensor<16xf32>
  tile.store %sum, %Y[%i] : tensor<16xf32>, !tile.view<16xf32>
  tile.return
}
func.func private @weights() -> tensor<8x8xf32, #sparse.csr>
"""


class Session:
    """Requests and answers of JSON-RPC, each behind its Content-Length."""

    def __init__(self, server):
        self.server = subprocess.Popen([server, "--tile-machine-path=."], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.number = 0

    def send(self, method, params, **more):
        text = json.dumps({"jsonrpc": "2.0", "method": method, "params": params} | more).encode()
        self.server.stdin.write(b"Content-Length: %d\r\n\r\n" % len(text) + text)
        self.server.stdin.flush()

    def receive(self):
        length = 0
        while (line := self.server.stdout.readline().strip()):
            name, _, value = line.partition(b":")
            if name.lower() == b"content-length":
                length = int(value)
        if not length:
            sys.exit("the server ended without an answer")
        return json.loads(self.server.stdout.read(length))

    def ask(self, method, params):
        """The result of a request. Notifications on the way are passed over."""
        self.number += 1
        self.send(method, params, id=self.number)
        while (message := self.receive()).get("id") != self.number:
            pass
        return message["result"]

    def diagnostics(self):
        while (message := self.receive()).get("method") != "textDocument/publishDiagnostics":
            pass
        return message["params"]["diagnostics"]


def place(text, part, occurrence=0):
    """Line and column (from 0) of the given occurrence of a part of the text."""
    at = -1
    for _ in range(occurrence + 1):
        at = text.index(part, at + 1)
    return {"line": text.count("\n", 0, at), "character": at - (text.rfind("\n", 0, at) + 1)}


def at(text, part, occurrence=0):
    found = place(text, part, occurrence)
    return {"textDocument": {"uri": URI}, "position": found | {"character": found["character"] + 1}}


def expect(what, seen, wanted):
    if seen != wanted:
        sys.exit(f"{what}: expected {wanted}, got {seen}")
    print(f"{what}: right")


session = Session(sys.argv[1])
offered = session.ask("initialize", {"processId": None, "rootUri": None, "capabilities": {}})["capabilities"]
expect("definitions, references and hover are offered", all(offered[f"{name}Provider"] for name in ("definition", "references", "hover")), True)
session.send("initialized", {})

session.send("textDocument/didOpen", {"textDocument": {"uri": URI, "languageId": "mlir", "version": 1, "text": PROGRAM}})
expect("no diagnostics", session.diagnostics(), [])


def starts(locations):
    return [location["range"]["start"] for location in locations]


expect("definition of a value", starts(session.ask("textDocument/definition", at(PROGRAM, "%tile, %tile"))), [place(PROGRAM, "%tile = ")])
expect("definition of a kernel", starts(session.ask("textDocument/definition", at(PROGRAM, "@twice"))), [place(PROGRAM, "tile.kernel")])
uses = starts(session.ask("textDocument/references", at(PROGRAM, "%i = ") | {"context": {"includeDeclaration": True}}))
expect("uses of a value", sorted(uses, key=lambda use: use["line"]), [place(PROGRAM, part) for part in ("%i = ", "%i] : !tile", "%i] : tensor")])
hover = session.ask("textDocument/hover", at(PROGRAM, "tile.load"))["contents"]["value"]
expect("hover names the op", '"tile.load"' in hover and "tensor<16xf32>" in hover, True)

# As one types: each change is a whole text, and its diagnostics are those of that text.
for version, (what, old, new, line_of, message) in enumerate([
        ("a wrong operand", "arith.addf %tile, %tile", "arith.addf %tile, %tail", "%tail", "use of undeclared SSA value name"),
        ("an op refused by its verifier", "tile.program_id 0", "tile.program_id 3", "tile.program_id", "axis"),
        ("an unknown encoding", "#sparse.csr", "#sparse.csx", "#sparse.csx", "csx"),
        ("a word cut off", "tile.return\n}", "tile.ret", "tile.ret", "tile.ret")], start=2):
    text = PROGRAM.replace(old, new)
    session.send("textDocument/didChange", {"textDocument": {"uri": URI, "version": version}, "contentChanges": [{"text": text}]})
    found = session.diagnostics()
    if not any(message in one["message"] and one["range"]["start"]["line"] == place(text, line_of)["line"] for one in found):
        sys.exit(f"{what}: no such diagnostic among {json.dumps(found)}")
    print(f"{what}: located")
session.send("textDocument/didChange", {"textDocument": {"uri": URI, "version": 9}, "contentChanges": [{"text": PROGRAM}]})
expect("mended again", session.diagnostics(), [])

session.ask("shutdown", None)
session.send("exit", None)
expect("the server's exit status", session.server.wait(), 0)
