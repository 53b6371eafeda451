"""Compares the rows of lib/ir/upstream/*.def with upstream's own definitions (TableGen), or prints rows to add.

Usage: upstream_rows.py PREFIX ROOT       check all rows of the tree against the LLVM installed in PREFIX
       upstream_rows.py PREFIX dialect.op …   print the rows of these ops, to be put into lib/ir/upstream/dialect.def
       upstream_rows.py PREFIX --self-test    damage a row in each way and see that it is found
"""
import glob
import json
import os
import re
import subprocess
import sys

FILES = {
    "builtin": ["IR/BuiltinOps"], "arith": ["Dialect/Arith/IR/ArithOps"], "math": ["Dialect/Math/IR/MathOps"],
    "ub": ["Dialect/UB/IR/UBOps"], "func": ["Dialect/Func/IR/FuncOps"],
    "cf": ["Dialect/ControlFlow/IR/ControlFlowOps"], "scf": ["Dialect/SCF/IR/SCFOps"],
    "tensor": ["Dialect/Tensor/IR/TensorOps"], "memref": ["Dialect/MemRef/IR/MemRefOps"],
    "bufferization": ["Dialect/Bufferization/IR/BufferizationOps"], "affine": ["Dialect/Affine/IR/AffineOps"],
    "linalg": ["Dialect/Linalg/IR/LinalgOps", "Dialect/Linalg/IR/LinalgStructuredOps",
               "Dialect/Linalg/IR/LinalgRelayoutOps"],
    "vector": ["Dialect/Vector/IR/VectorOps"], "gpu": ["Dialect/GPU/IR/GPUOps"],
    "llvm": ["Dialect/LLVMIR/LLVMOps", "Dialect/LLVMIR/LLVMIntrinsicOps"], "nvvm": ["Dialect/LLVMIR/NVVMOps"],
    "rocdl": ["Dialect/LLVMIR/ROCDLOps"], "async": ["Dialect/Async/IR/AsyncOps"],
    "sparse_tensor": ["Dialect/SparseTensor/IR/SparseTensorOps"],
    "ml_program": ["Dialect/MLProgram/IR/MLProgramOps"],
}
COLUMNS = ["operands", "results", "attributes", "regions", "successors", "traits"]
KINDS = {
    "I64Attr": "i64", "I32Attr": "i32", "BoolAttr": "bool", "StrAttr": "string", "SymbolNameAttr": "symbol name",
    "FlatSymbolRefAttr": "symbol", "TypeAttr": "type", "IndexAttr": "index", "DenseI64ArrayAttr": "i64 array",
    "DenseI32ArrayAttr": "i32 array", "AffineMapAttr": "affine map", "ArrayAttr": "array",
    "DictionaryAttr": "dictionary", "F32Attr": "f32", "F64Attr": "f64",
}
STORAGES = {
    "TypeAttr": "type", "StringAttr": "string", "FlatSymbolRefAttr": "symbol", "DenseI64ArrayAttr": "i64 array",
    "DenseI32ArrayAttr": "i32 array", "ArrayAttr": "array",
}
# Results that have the types of a variadic operand, which TableGen does not say.
FOLLOWS = {"scf.for": "initArgs", "scf.parallel": "initVals"}


def camel(name):
    return "".join(part[:1].upper() + part[1:] for part in name.split("_"))


def enum_name(name):
    return re.sub(r"(Predicate)?(Attr|Enum)*$", "", camel(name.split("_", 1)[-1]))


class Definitions:
    """The ops of one dialect as TableGen has them."""

    def __init__(self, prefix, dialect):
        self.include = os.path.join(prefix, "include")
        self.ops, self.words, self.attributes, self.enums = {}, {}, {}, {}
        for file in FILES[dialect]:
            text = subprocess.check_output([os.path.join(prefix, "bin", "llvm-tblgen"), "-I", self.include, "-dump-json",
                                            os.path.join(self.include, "mlir", file + ".td")])
            self.records = json.loads(text)
            self.read_kinds(dialect)
            for name in self.records["!instanceof"].get("Op", []):
                record = self.records[name]
                if self.records[record["opDialect"]["def"]]["name"] == dialect:
                    full = f"{dialect}.{record['opName']}"
                    self.ops[full] = self.row(full, name, record)
        headers = glob.glob(os.path.join(self.include, "mlir", os.path.dirname(FILES[dialect][0]), "*.h.inc"))
        self.infer = set()
        for header in headers:
            with open(header, encoding="utf-8", errors="replace") as lines:
                self.infer.update(re.findall(r"^class (\w+) : public ::mlir::Op<.*InferTypeOpInterface::Trait.*> \{",
                                             lines.read(), re.M))
        for row in self.ops.values():
            known = row["class"] in self.infer and not (row["regions"] and any(k != "any" for _, k in row["results"]))
            if row["results"] and known and not all("like" in kind for _, kind in row["results"]):
                row["traits"] = [("infers types", "")]

    def read_kinds(self, dialect):
        """Words by the text before and behind them, parameters by mnemonic, numbers of words by C name."""
        instances = self.records["!instanceof"]
        for name in instances.get("EnumAttr", []):
            record = self.records[name]
            if self.records[record["dialect"]["def"]]["name"] == dialect:
                around = ".{}<$>" if "<" in record["assemblyFormat"] else "<{} $>"
                self.words[around.format(record["mnemonic"])] = set(self.cases(self.records[record["enum"]["def"]]))
        for name in instances.get("AttrDef", []):
            record = self.records[name]
            if self.records[record["dialect"]["def"]]["name"] == dialect:
                parameters = {word for _, word in record["parameters"]["args"]}
                self.attributes[record["mnemonic"]] = (parameters, bool(record["assemblyFormat"]))
        for name in instances.get("IntEnumAttr", []):
            if "IntEnumAttr" in self.records[name]["!superclasses"]:
                self.enums[enum_name(name)] = self.cases(self.records[name])

    def cases(self, record):
        cases = [self.records[case["def"]] for case in record.get("enumerants") or []]
        return {case["str"]: case["value"] for case in cases}

    def constraint(self, reference):
        record = self.records[reference["def"]]
        while "OpVariable" in record["!superclasses"]:
            record = self.records[record["constraint"]["def"]]
        return record

    def kind(self, record):
        """(is optional, kind)"""
        kinds, name = record["!superclasses"], record["!name"]
        if "Property" in kinds:
            return True, "property"
        if any(kind == "OptionalAttr" or kind.startswith("DefaultValued") for kind in kinds):
            base = record.get("baseAttr")
            return True, self.kind(self.records[base["def"]])[1] if base else "any"
        if name == "UnitAttr" or "UnitAttr" in kinds:
            return False, "unit"
        if record.get("defaultValue"):
            return True, "any"
        if name in KINDS:
            return False, KINDS[name]
        if "IntEnumAttr" in kinds:
            return False, enum_name(name)
        if ("ConfinedAttr" in kinds) and record.get("baseAttr"):
            return self.kind(self.records[record["baseAttr"]["def"]])
        return False, STORAGES.get((record.get("storageType") or "").removeprefix("::mlir::"), "any")

    def row(self, full, name, record):
        row = {column: [] for column in COLUMNS}
        row["class"] = name.split("_", 1)[1] if "_" in name else name
        for reference, word in record["arguments"]["args"]:
            found = self.constraint(reference)
            if {"AttrConstraint", "Property"} & set(found["!superclasses"]):
                optional, kind = self.kind(self.records[reference["def"]] if "OpVariable" not in
                                           self.records[reference["def"]]["!superclasses"] else found)
                row["attributes"].append((word, "optional " * (optional and kind != "unit") + kind))
            else:
                row["operands"].append((word, arity(found) + "any"))
        outputs = record["results"]["args"]
        for i, (reference, word) in enumerate(outputs):
            word = word or ("result" if len(outputs) == 1 else f"result{i}")
            row["results"].append((word, arity(self.constraint(reference)) + "any"))
        for column, variadic in (("regions", "VariadicRegion"), ("successors", "VariadicSuccessor")):
            for reference, word in record[column]["args"]:
                kinds = self.records[reference["def"]]["!superclasses"]
                row[column].append((word, "variadic" if variadic in kinds else ""))
        self.follow(full, row, record)
        taken = set()
        for column in ("attributes", "operands", "regions", "results"):
            for i, (word, kind) in enumerate(row[column]):
                word = (word or column[:-1]) + "_" * (word in taken)
                taken.add(word)
                row[column][i] = (word, kind)
        return row

    def follow(self, full, row, record):
        """`like OPERAND` for results whose type the traits equate with an operand's."""
        single = [word for word, kind in row["operands"] if kind == "any"]
        traits = [self.records[trait["def"]] for trait in record["traits"] if trait["def"] in self.records]
        same = any("SameOperandsAndResultType" in (trait.get("trait") or trait["!name"]) for trait in traits)
        for i, (word, kind) in enumerate(row["results"]):
            equal = [t["values"] for t in traits if "AllTypesMatch" in t["!superclasses"] and word in t["values"]]
            likes = single[:1] if same else [other for values in equal for other in single if other in values]
            if kind == "any" and likes:
                row["results"][i] = (word, "like " + likes[0])
            if full in FOLLOWS:
                row["results"][i] = (word, "variadic like " + FOLLOWS[full])


def arity(record):
    kinds = record["!superclasses"]
    return "optional " if "Optional" in kinds else "variadic " if {"Variadic", "VariadicOfVariadic"} & set(kinds) else ""


def text_of(row, name):
    lines = [f'TESSERA_OP({camel(re.sub("Op$", "", row["class"]))}, "{name.split(".", 1)[1]}"']
    for column in COLUMNS:
        entries = ", ".join(word + (": " + kind if kind else "") for word, kind in row[column])
        if entries:
            piece = f'.{column} = "{entries}"'
            if len(lines[-1]) + len(piece) + 3 > 118:
                lines[-1] += ","
                lines.append("           " + piece)
            else:
                lines[-1] += ", " + piece
        while len(lines[-1]) > 118:
            cut = lines[-1].rfind(", ", 0, 116) + 2
            lines[-1:] = [lines[-1][:cut] + '"', '             "' + lines[-1][cut:]]
    return "\n".join(lines) + ")"


ROW = re.compile(r'^TESSERA_OP\((\w+), "([^"]+)"((?:[^()"]|"[^"]*")*)\)', re.M)


def rows_in(text, dialect):
    """Yields (C name, full name, columns)."""
    for cname, name, columns in ROW.findall(text):
        row = {column: [] for column in COLUMNS}
        for column, strings in re.findall(r'\.(\w+) = ((?:"[^"]*"\s*)+)', columns):
            entries = "".join(re.findall(r'"([^"]*)"', strings)).split(", ")
            row.setdefault(column, []).extend(tuple((entry + ": ").split(": ")[:2]) for entry in entries)
        yield cname, f"{dialect}.{name}", row


def shape(row, column):
    """What must agree: names and how many; for attributes whether they may be absent; the rest is our own wording."""
    def word(kind):
        return "optional" if kind.startswith(("optional", "unit")) else "variadic" if kind.startswith("variadic") else ""
    return [(name, word(kind)) for name, kind in row[column]]


def compare(cname, name, row, real):
    if real is None:
        yield f"{name}: upstream has no op of that name"
        return
    expected = camel(re.sub("Op$", "", real["class"]))
    if cname != expected:
        yield f"{name}: C name {cname}; upstream's class is {expected}"
    for column in COLUMNS[:-1]:
        if shape(row, column) != shape(real, column):
            yield f"{name}: {column} {shape(row, column)}; upstream has {shape(real, column)}"
    infers = ("infers types", "") in row["traits"]
    if infers and real["class"] and ("infers types", "") not in real["traits"]:
        yield f"{name}: says it infers types; upstream does not"
    if any("like" in kind and "like" not in k for (_, kind), (_, k) in zip(row["results"], real["results"])):
        yield f"{name}: results {row['results']}; upstream has {real['results']}"


KIND = re.compile(r'^TESSERA_(ENUM|WORDS|ATTRIBUTE)\((\w+), *((?:[^()"]|"(?:[^"\\]|\\.)*")*)\)', re.M)


def kinds_in(text):
    """Yields (macro, C name, texts)."""
    for macro, cname, rest in KIND.findall(text):
        joined = re.sub(r'"\s*\n\s*"', "", rest)
        yield macro, cname, [word.replace('\\"', '"') for word in re.findall(r'"((?:[^"\\]|\\.)*)"', joined)]


def compare_kind(macro, cname, texts, definitions):
    if macro == "WORDS":
        form, words = texts
        known = definitions.words.get(form)
        if known is None:
            yield f"{cname}: upstream has no attribute {form}"
        elif not set(words.split()) <= known:
            yield f"{cname}: words {sorted(set(words.split()) - known)}; upstream has {sorted(known)}"
    elif macro == "ENUM":
        known, number = definitions.enums.get(cname), -1
        for word in texts[0].split():
            word, _, given = word.partition("=")
            number = int(given) if given else number + 1
            if known is None or known.get(word) != number:
                yield f"{cname}: {word} is {number}; upstream has {known and known.get(word)}"
    else:
        mnemonic = re.match(r"\.([\w.]+)", texts[0]).group(1)
        parameters, is_struct = definitions.attributes.get(mnemonic, (None, False))
        if parameters is None:
            yield f"{cname}: upstream has no attribute {mnemonic}"
        elif is_struct and not set(re.findall(r"(\w+) = ", texts[0])) <= parameters:
            yield f"{cname}: {texts[0]}; upstream's parameters are {sorted(parameters)}"


def check(prefix, root):
    status = 0
    for dialect in FILES:
        definitions = Definitions(prefix, dialect)
        with open(os.path.join(root, "lib/ir/upstream", dialect + ".def"), encoding="utf-8") as file:
            text = file.read()
        rows = list(rows_in(text, dialect))
        if len(rows) != text.count("\nTESSERA_OP("):
            print(f"{dialect}.def: {text.count(chr(10) + 'TESSERA_OP(')} rows, but {len(rows)} could be read")
            status = 1
        for cname, name, row in rows:
            for breach in compare(cname, name, row, definitions.ops.get(name)):
                print(breach)
                status = 1
        for kind in kinds_in(text):
            for breach in compare_kind(*kind, definitions):
                print(f"{dialect}.def: {breach}")
                status = 1
        if len(list(kinds_in(text))) != len(re.findall(r"^TESSERA_(?:ENUM|WORDS|ATTRIBUTE)", text, re.M)):
            print(f"{dialect}.def: an attribute kind could not be read")
            status = 1
        print(f"{dialect}: {len(rows)} rows, {len(list(kinds_in(text)))} attribute kinds")
    return status


def self_test(prefix):
    definitions = Definitions(prefix, "arith")
    good = text_of(definitions.ops["arith.cmpi"], "arith.cmpi")
    damages = [("", "", 0), ("CmpI,", "CmpJ,", 1), ('"cmpi"', '"cmpj"', 1), ("lhs: any, ", "", 1), ("rhs", "rsh", 1),
               ("lhs: any", "lhs: variadic any", 1), ("predicate: ", "predicate: optional ", 1),
               ('"result: any"', '"sum: any"', 1), (', .traits = "infers types"', "", 0)]
    right = 0
    for old, new, breaches in damages:
        cname, name, row = next(rows_in(good.replace(old, new), "arith"))
        right += len(list(compare(cname, name, row, definitions.ops.get(name)))) == breaches
    kinds = [('TESSERA_ENUM(CmpI, 64, "eq ne slt")', "arith", 0), ('TESSERA_ENUM(CmpI, 64, "eq slt")', "arith", 1),
             ('TESSERA_WORDS(Kind, ".kind<$>", "add mul")', "vector", 0),
             ('TESSERA_WORDS(Kind, "<kind $>", "add mul")', "vector", 1),
             ('TESSERA_WORDS(Kind, ".kind<$>", "add mull")', "vector", 1),
             ('TESSERA_ATTRIBUTE(Target, ".target<O = $o, chip = \\"$c\\">")', "rocdl", 0),
             ('TESSERA_ATTRIBUTE(Target, ".targets<O = $o>")', "rocdl", 1),
             ('TESSERA_ATTRIBUTE(Target, ".target<level = $o>")', "rocdl", 1)]
    for text, dialect, breaches in kinds:
        definitions = Definitions(prefix, dialect)
        right += sum(len(list(compare_kind(*kind, definitions))) for kind in kinds_in(text)) == breaches
    print(f"self-test: {right} of {len(damages) + len(kinds)} cases judged rightly")
    return right != len(damages) + len(kinds)


def main(prefix, *words):
    if words[0] == "--self-test":
        return self_test(prefix)
    if os.path.isdir(words[0]):
        return check(prefix, words[0])
    for name in words:
        print(text_of(Definitions(prefix, name.split(".")[0]).ops[name], name))
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
