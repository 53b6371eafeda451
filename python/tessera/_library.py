"""The C library: where it is, and its functions by name, with their types.

`lib.mlirOperationGetName(op)` looks the function up at its first use. What may be called stands in PROTOTYPES, as in the
headers: `result name(parameters)`. Handles of mlir-c are structs of one pointer; each has a class of its own here, so that
ctypes refuses a type where a value belongs.
"""
from __future__ import annotations

import contextlib
import ctypes
import os
import re
import sys
import threading
from pathlib import Path
from typing import Any, Callable, Iterator

FILE = "libtessera-execution.so"


class Lock:
    """Held while the process's own things are at work: pass statistics, the runtime's threads, diagnostic handlers. While it
    is held, a small allocation that fails in C++, which can raise nothing, ends the process with a sentence and status 1;
    else C++ would abort. Outside, the process's other libraries see to their own."""

    def __init__(self) -> None:
        self._lock, self._depth, self._here = threading.RLock(), 0, threading.local()
        self.was_used = self.was_forked = False
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._note_fork)

    def _note_fork(self) -> None:
        """In a child: the library's threads, and perhaps this lock's holder, stayed with the parent."""
        self.was_forked = self.was_used

    @contextlib.contextmanager
    def lent(self) -> Iterator[None]:
        """In a callback: whoever called the library holds the lock, on another thread perhaps (the interpreter's)."""
        before, self._here.is_lent = getattr(self._here, "is_lent", False), True
        try:
            yield
        finally:
            self._here.is_lent = before

    def __enter__(self) -> None:
        if getattr(self._here, "is_lent", False):
            return
        if self.was_forked:
            from ._diagnostics import Error
            raise Error("this process was forked after tessera was used, and the threads that compile and run programs stayed with "
                        "its parent; start processes by 'spawn'")
        self.was_used = True
        self._lock.acquire()
        self._depth += 1
        if self._depth == 1:
            lib.mlirExtToolWhenOutOfMemory(lib.out_of_memory)

    def __exit__(self, *_: object) -> None:
        if getattr(self._here, "is_lent", False):
            return
        self._depth -= 1
        if self._depth == 0:
            lib.mlirExtToolWhenOutOfMemory(OutOfMemory())
        self._lock.release()


lock = Lock()


class LibraryNotFound(ImportError):
    """No libtessera-execution.so could be loaded. The message says where it was looked for, and what was there."""


# --- Finding it -------------------------------------------------------------------------------------------------


def _below(prefix: Path) -> list[Path]:
    """Where the library may lie in an installed prefix, or in a build folder."""
    machine = os.uname().machine
    return [prefix / folder / FILE for folder in ("lib", f"lib/{machine}-linux-gnu", "lib64", ".")]


def _clone() -> Path | None:
    """The clone that this package lies in, or that `pip install .` took it from: pip notes that folder (PEP 610)."""
    package = Path(__file__).resolve().parent
    if (package.parents[1] / "CMakeLists.txt").exists():
        return package.parents[1]
    import importlib.metadata  # these take longer than all else of an import, and a clone needs none
    import json
    from urllib.parse import unquote, urlparse
    for distribution in importlib.metadata.distributions(name="tessera", path=[str(package.parent)]):
        url = urlparse(json.loads(distribution.read_text("direct_url.json") or "{}").get("url", ""))
        if url.scheme == "file":
            return Path(unquote(url.path))
    return None


def candidates() -> list[Path | str]:
    """Where to look, in order. TESSERA_HOME, where it is set, is the only place."""
    home = os.environ.get("TESSERA_HOME")
    if home:
        return [*_below(Path(home))]
    clone = _clone()
    built = [clone / "build" / FILE] if clone else []
    # Last the dynamic linker: LD_LIBRARY_PATH and the system's own folders.
    return [*built, *_below(Path(sys.prefix)), *_below(Path("/usr/local")), FILE + ".0"]


def _open(path: str) -> ctypes.CDLL:
    """ctypes would bind every function of libMLIR and libLLVM at once, which takes longer than all else of an import. The
    symbols stay the library's own: other packages have an MLIR of theirs."""
    c = ctypes.CDLL(None)
    c.dlopen.restype, c.dlerror.restype = ctypes.c_void_p, ctypes.c_char_p
    handle = c.dlopen(path.encode(), os.RTLD_LOCAL | os.RTLD_LAZY)
    if not handle:
        raise OSError(c.dlerror().decode("utf-8", "replace"))
    return ctypes.CDLL(path, handle=handle)


def _load() -> tuple[ctypes.CDLL, str]:
    said = []
    for path in candidates():
        if isinstance(path, Path) and not path.exists():
            said.append(f"  {path}: not there")
            continue
        try:
            return _open(str(path)), str(path)
        except OSError as error:
            said.append(f"  {path}: {error}")
    if any("libMLIR" in line or "libLLVM" in line for line in said):
        said.append("LLVM or MLIR 22 is missing: install Debian's package libmlir-22.")
    raise LibraryNotFound("\n".join([
        f"{FILE} could not be loaded. Looked at:", *said,
        f"Run ./dev build in {_clone() or 'a clone of Tessera'}, or set TESSERA_HOME to an installed prefix or to the "
        "build folder of a clone."
    ]))


# --- Types ------------------------------------------------------------------------------------------------------


class StringRef(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("length", ctypes.c_size_t)]

    def __str__(self) -> str:
        return ctypes.string_at(self.data, self.length).decode("utf-8", "replace") if self.length else ""


class Handle(ctypes.Structure):
    """A struct of one pointer, as every handle of mlir-c."""
    _fields_ = [("ptr", ctypes.c_void_p)]

    def __bool__(self) -> bool:
        return self.ptr is not None


def _handle(name: str) -> type[Handle]:
    return type(name, (Handle,), {})


class LogicalResult(ctypes.Structure):
    _fields_ = [("value", ctypes.c_int8)]

    def __bool__(self) -> bool:
        return bool(self.value != 0)


class CArray(ctypes.Structure):
    """TesseraArray of lib/execution/program.h."""
    _fields_ = [("element", ctypes.c_char_p), ("rank", ctypes.c_int64), ("sizes", ctypes.POINTER(ctypes.c_int64)),
                ("data", ctypes.c_void_p), ("isMemref", ctypes.c_bool)]


class CJudgement(ctypes.Structure):
    """TesseraJudgement of lib/execution/program.h."""
    _fields_ = [("right", ctypes.c_bool), ("wrong", ctypes.c_int64), ("at", ctypes.c_int64), ("maxAbsolute", ctypes.c_double),
                ("maxRelative", ctypes.c_double)]


class CError(ctypes.Structure):
    """tessera_error_t of lib/support/status.h."""
    _fields_ = [("text", ctypes.c_char * 1024)]

    def __str__(self) -> str:
        return bytes(self.text).decode("utf-8", "replace")


class CText(ctypes.Structure):
    """tessera_text_t of lib/support/text.h."""
    _fields_ = [("data", ctypes.c_void_p), ("size", ctypes.c_size_t), ("capacity", ctypes.c_size_t), ("failed", ctypes.c_bool)]


class NamedAttribute(ctypes.Structure):
    pass


class OperationState(ctypes.Structure):
    """MlirOperationState of mlir-c/IR.h: filled by mlirOperationStateAdd…, taken by mlirOperationCreate."""


StringCallback = ctypes.CFUNCTYPE(None, StringRef, ctypes.c_void_p)
StatisticCallback = ctypes.CFUNCTYPE(None, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_uint64, ctypes.c_void_p)

StopCallback = ctypes.CFUNCTYPE(ctypes.c_bool, ctypes.c_int64, ctypes.c_ssize_t, ctypes.POINTER(CArray))

_types: dict[str, Any] = {
    "void": None,
    "bool": ctypes.c_bool,
    "int": ctypes.c_int,
    "unsigned": ctypes.c_uint,
    "int64_t": ctypes.c_int64,
    "intptr_t": ctypes.c_ssize_t,
    "double": ctypes.c_double,
    "char*": ctypes.c_char_p,
    "char**": ctypes.POINTER(ctypes.c_char_p),
    "void*": ctypes.c_void_p,
    "double*": ctypes.POINTER(ctypes.c_double),
    "int64_t*": ctypes.POINTER(ctypes.c_int64),
    "StringRef": StringRef,
    "LogicalResult": LogicalResult,
    "StringCallback": StringCallback,
    "StatisticCallback": StatisticCallback,
    "StopCallback": StopCallback,
    "Array": CArray,
    "Array*": ctypes.POINTER(CArray),
    "Judgement*": ctypes.POINTER(CJudgement),
    "Text*": ctypes.POINTER(CText),
    "Error*": ctypes.POINTER(CError),
    "NamedAttribute": NamedAttribute,
    "NamedAttribute*": ctypes.POINTER(NamedAttribute),
    "OperationState": OperationState,
    "OperationState*": ctypes.POINTER(OperationState),
}
for _name in ("Attribute Block Context Diagnostic Dialect DialectRegistry Identifier Location Module OpOperand OpPassManager "
              "OpPrintingFlags Operation PassManager Region Type Value").split():
    _types[_name] = _handle(_name)
NamedAttribute._fields_ = [("name", _types["Identifier"]), ("attribute", _types["Attribute"])]
OperationState._fields_ = [("name", StringRef), ("location", _types["Location"]), *(
    field for what in ("Results", "Operands", "Regions", "Successors", "Attributes")
    for field in ((f"num{what}", ctypes.c_ssize_t), (what, ctypes.c_void_p))), ("inferTypes", ctypes.c_bool)]

# A callback may not return a struct in ctypes: MlirLogicalResult, a struct of one byte, is returned as that byte.
DiagnosticHandler = ctypes.CFUNCTYPE(ctypes.c_int8, _types["Diagnostic"], ctypes.c_void_p)
_types["DiagnosticHandler"] = DiagnosticHandler
OutOfMemory = ctypes.CFUNCTYPE(None)
_types["OutOfMemory"] = OutOfMemory

PROTOTYPES = """
DialectRegistry mlirDialectRegistryCreate()
void mlirDialectRegistryDestroy(DialectRegistry)
void tesseraRegisterAllDialects(DialectRegistry)
void tesseraRegisterAllPasses()
void mlirExtToolWhenOutOfMemory(OutOfMemory)
Context mlirContextCreateWithRegistry(DialectRegistry, bool)
void mlirContextDestroy(Context)
Dialect mlirContextGetOrLoadDialect(Context, StringRef)
void mlirContextSetAllowUnregisteredDialects(Context, bool)
int64_t mlirContextAttachDiagnosticHandler(Context, DiagnosticHandler, void*, void*)
void mlirContextDetachDiagnosticHandler(Context, int64_t)

Location mlirDiagnosticGetLocation(Diagnostic)
int mlirDiagnosticGetSeverity(Diagnostic)
intptr_t mlirDiagnosticGetNumNotes(Diagnostic)
Diagnostic mlirDiagnosticGetNote(Diagnostic, intptr_t)
void mlirDiagnosticPrint(Diagnostic, StringCallback, void*)

Location mlirLocationUnknownGet(Context)
bool mlirLocationEqual(Location, Location)
Context mlirLocationGetContext(Location)
bool mlirLocationIsAFileLineColRange(Location)
Identifier mlirLocationFileLineColRangeGetFilename(Location)
int mlirLocationFileLineColRangeGetStartLine(Location)
int mlirLocationFileLineColRangeGetStartColumn(Location)
bool mlirLocationIsACallSite(Location)
Location mlirLocationCallSiteGetCallee(Location)
bool mlirLocationIsAFused(Location)
unsigned mlirLocationFusedGetNumLocations(Location)
void mlirLocationFusedGetLocations(Location, void*)
bool mlirLocationIsAName(Location)
Location mlirLocationNameGetChildLoc(Location)
void mlirLocationPrint(Location, StringCallback, void*)
StringRef mlirIdentifierStr(Identifier)

Module tileReadModule(Context, StringRef, StringRef)
bool tileIsModel(char*)
bool tileTakesTorchOperator(char*)
Module tileReadModel(Context, char*, Error*)
Module mlirModuleFromOperation(Operation)
Operation mlirModuleGetOperation(Module)
void mlirModuleDestroy(Module)

PassManager mlirPassManagerCreate(Context)
void mlirPassManagerDestroy(PassManager)
OpPassManager mlirPassManagerGetAsOpPassManager(PassManager)
void mlirPassManagerEnableVerifier(PassManager, bool)
LogicalResult mlirPassManagerRunOnOp(PassManager, Operation)
LogicalResult tileReadPipeline(OpPassManager, StringRef, StringCallback, void*)
void mlirPrintPassPipeline(OpPassManager, StringCallback, void*)
void mlirExtStatisticsReset()
void tileMachineSetFolder(char*)
bool tileMachineOfDevice(char*, char*, intptr_t, Error*)
void* tileMachineLoad(char*, char*, void*, intptr_t, Error*)
bool tileMachineGetInteger(void*, char*, int64_t*)
void tileMachineDestroy(void*)
bool tileProgramCacheFolder(char*, intptr_t, Error*)
bool tileProgramCacheKey(char*, intptr_t, char*, char*, char*, char*)
bool tileProgramCacheFind(char*, char*, char*, intptr_t)
bool tileProgramCacheStore(char*, char*, char*, intptr_t, int64_t, char*, intptr_t, Error*)
void mlirExtStatisticsForEach(StatisticCallback, void*)

Module mlirModuleCreateEmpty(Location)
Block mlirModuleGetBody(Module)
Location mlirLocationFileLineColGet(Context, StringRef, unsigned, unsigned)
Location mlirLocationCallSiteGet(Location, Location)
Identifier mlirIdentifierGet(Context, StringRef)
OperationState mlirOperationStateGet(StringRef, Location)
void mlirOperationStateAddResults(OperationState*, intptr_t, void*)
void mlirOperationStateAddOperands(OperationState*, intptr_t, void*)
void mlirOperationStateAddOwnedRegions(OperationState*, intptr_t, void*)
void mlirOperationStateAddAttributes(OperationState*, intptr_t, NamedAttribute*)
void mlirOperationStateEnableResultTypeInference(OperationState*)
Operation mlirOperationCreate(OperationState*)
void mlirOperationDestroy(Operation)
void mlirOperationRemoveFromParent(Operation)
void mlirOperationSetAttributeByName(Operation, StringRef, Attribute)
Region mlirRegionCreate()
void mlirRegionAppendOwnedBlock(Region, Block)
void mlirRegionTakeBody(Region, Region)
Block mlirBlockCreate(intptr_t, void*, void*)
void mlirBlockAppendOwnedOperation(Block, Operation)
Value mlirBlockAddArgument(Block, Type, Location)
void mlirBlockEraseArgument(Block, unsigned)
void mlirValueReplaceAllUsesOfWith(Value, Value)
Type tileReduceTypeGet(Type, intptr_t, void*)
Type tileTransposeTypeGet(Type, intptr_t, void*)
Type tileCatTypeGet(intptr_t, void*, int64_t)
Type tileRandomTypeGet(Type)

Operation mlirOperationClone(Operation)
Identifier mlirOperationGetName(Operation)
Location mlirOperationGetLocation(Operation)
Block mlirOperationGetBlock(Operation)
Operation mlirOperationGetParentOperation(Operation)
Operation mlirOperationGetNextInBlock(Operation)
intptr_t mlirOperationGetNumRegions(Operation)
Region mlirOperationGetRegion(Operation, intptr_t)
intptr_t mlirOperationGetNumOperands(Operation)
Value mlirOperationGetOperand(Operation, intptr_t)
intptr_t mlirOperationGetNumResults(Operation)
Value mlirOperationGetResult(Operation, intptr_t)
intptr_t mlirOperationGetNumSuccessors(Operation)
Block mlirOperationGetSuccessor(Operation, intptr_t)
intptr_t mlirOperationGetNumAttributes(Operation)
NamedAttribute mlirOperationGetAttribute(Operation, intptr_t)
Attribute mlirOperationGetAttributeByName(Operation, StringRef)
bool mlirOperationVerify(Operation)
void mlirOperationPrint(Operation, StringCallback, void*)
void mlirOperationPrintWithFlags(Operation, OpPrintingFlags, StringCallback, void*)
void mlirOperationWriteBytecode(Operation, StringCallback, void*)
OpPrintingFlags mlirOpPrintingFlagsCreate()
void mlirOpPrintingFlagsDestroy(OpPrintingFlags)
void mlirOpPrintingFlagsEnableDebugInfo(OpPrintingFlags, bool, bool)
void mlirOpPrintingFlagsPrintGenericOpForm(OpPrintingFlags)
void mlirOpPrintingFlagsElideLargeElementsAttrs(OpPrintingFlags, intptr_t)
void mlirOpPrintingFlagsElideLargeResourceString(OpPrintingFlags, intptr_t)
void mlirOpPrintingFlagsSkipRegions(OpPrintingFlags)
void mlirOpPrintingFlagsUseLocalScope(OpPrintingFlags)

Block mlirRegionGetFirstBlock(Region)
Block mlirBlockGetNextInRegion(Block)
Region mlirBlockGetParentRegion(Block)
Operation mlirBlockGetParentOperation(Block)
Operation mlirBlockGetFirstOperation(Block)
intptr_t mlirBlockGetNumArguments(Block)
Value mlirBlockGetArgument(Block, intptr_t)

bool mlirValueIsABlockArgument(Value)
Block mlirBlockArgumentGetOwner(Value)
intptr_t mlirBlockArgumentGetArgNumber(Value)
Operation mlirOpResultGetOwner(Value)
intptr_t mlirOpResultGetResultNumber(Value)
Type mlirValueGetType(Value)
void mlirValuePrint(Value, StringCallback, void*)
OpOperand mlirValueGetFirstUse(Value)
OpOperand mlirOpOperandGetNextUse(OpOperand)
Operation mlirOpOperandGetOwner(OpOperand)
unsigned mlirOpOperandGetOperandNumber(OpOperand)

Type tileReadType(Context, StringRef)
void mlirTypePrint(Type, StringCallback, void*)
bool mlirTypeIsAShaped(Type)
bool mlirShapedTypeHasRank(Type)
int64_t mlirShapedTypeGetRank(Type)
bool mlirShapedTypeIsDynamicDim(Type, intptr_t)
int64_t mlirShapedTypeGetDimSize(Type, intptr_t)
Type mlirShapedTypeGetElementType(Type)
bool mlirTypeIsARankedTensor(Type)
Attribute mlirRankedTensorTypeGetEncoding(Type)

Attribute tileReadAttribute(Context, StringRef)
void mlirAttributePrint(Attribute, StringCallback, void*)
Type mlirAttributeGetType(Attribute)
bool mlirAttributeIsABool(Attribute)
bool mlirBoolAttrGetValue(Attribute)
bool mlirAttributeIsAInteger(Attribute)
bool mlirAttributeIsAFloat(Attribute)
double mlirFloatAttrGetValueDouble(Attribute)
bool mlirAttributeIsAString(Attribute)
StringRef mlirStringAttrGetValue(Attribute)
bool mlirAttributeIsAFlatSymbolRef(Attribute)
StringRef mlirFlatSymbolRefAttrGetValue(Attribute)
bool mlirAttributeIsAArray(Attribute)
intptr_t mlirArrayAttrGetNumElements(Attribute)
Attribute mlirArrayAttrGetElement(Attribute, intptr_t)
bool mlirAttributeIsADictionary(Attribute)
intptr_t mlirDictionaryAttrGetNumElements(Attribute)
NamedAttribute mlirDictionaryAttrGetElement(Attribute, intptr_t)
bool mlirAttributeIsAType(Attribute)
Type mlirTypeAttrGetValue(Attribute)
bool mlirAttributeIsAUnit(Attribute)
bool mlirAttributeIsADenseI64Array(Attribute)
bool mlirAttributeIsADenseI32Array(Attribute)
bool mlirAttributeIsADenseBoolArray(Attribute)
intptr_t mlirDenseArrayGetNumElements(Attribute)
int64_t mlirDenseI64ArrayGetElement(Attribute, intptr_t)
int mlirDenseI32ArrayGetElement(Attribute, intptr_t)
bool mlirDenseBoolArrayGetElement(Attribute, intptr_t)

char* tessera_choice_name(intptr_t)
void* tesseraProgramCreate(Module, char*, intptr_t, char**, Error*)
void tesseraProgramDestroy(void*)
intptr_t tesseraProgramGetNumArguments(void*)
intptr_t tesseraProgramGetNumResults(void*)
Array tesseraProgramGetArgumentType(void*, intptr_t)
Array tesseraProgramGetResultType(void*, intptr_t)
bool tesseraProgramCall(void*, Array*, int64_t, int64_t, Error*)
void tesseraProgramOnStop(void*, StopCallback)
Array tesseraProgramGetArgument(void*, intptr_t)
Array tesseraProgramGetResult(void*, intptr_t)
double* tesseraProgramGetArgumentBounds(void*, intptr_t)
double* tesseraProgramGetResultBounds(void*, intptr_t)
char* tesseraProgramGetPassStatistics(void*)
char* tesseraProgramGetStatistics(void*)
void tessera_text_free(Text*)
bool tesseraJudge(Array*, Array*, double*, double, double, Judgement*, Error*)
"""


class Library:
    """The functions of PROTOTYPES as attributes."""

    def __init__(self) -> None:
        self._c, self._path = _load()
        self.append = StringCallback(("tileTextAppend", self._c))  # C's own, to be handed to C
        self.out_of_memory = OutOfMemory(("tessera_guard_out_of_memory", self._c))
        self._prototypes = {}
        for result, name, parameters in re.findall(r"^(\S+) (\w+)\((.*)\)$", PROTOTYPES, re.M):
            self._prototypes[name] = (result, parameters)

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name not in self.__dict__.get("_prototypes", ()):
            raise AttributeError(name)
        result, parameters = self._prototypes[name]
        function: Callable[..., Any] = getattr(self._c, name)
        function.restype = _types[result]  # type: ignore[attr-defined]
        function.argtypes = [_types[text] for text in parameters.split(", ")] if parameters else []  # type: ignore[attr-defined]
        setattr(self, name, function)
        return function


lib = Library()


def library_path() -> str:
    """The file that was loaded."""
    return lib._path


def set_machine_path(folder: str | os.PathLike[str] | None) -> None:
    """Where NAME.machine files are looked for, ahead of the chips built in; None: nowhere. An edited file counts from the
    next call on. A folder that is not there, or not a folder, is an OSError."""
    global _machine_path
    if folder is not None:
        os.scandir(folder).close()
    lib.tileMachineSetFolder(None if folder is None else os.fsencode(folder))
    _machine_path = None if folder is None else os.fspath(folder)


_machine_path: str | None = None


def machine_path() -> str | None:
    """What set_machine_path was given last."""
    return _machine_path


def tool(name: str) -> str:
    """One of the tools that came with the library: in its folder's bin/, or beside the folder."""
    folder = Path(lib._path).resolve().parent
    for path in (folder / "bin" / name, folder.parent / "bin" / name, folder.parent.parent / "bin" / name):
        if path.exists():
            return str(path)
    return name


# --- Text -------------------------------------------------------------------------------------------------------


class Text:
    """UTF-8 bytes for as long as C reads them: `lib.f(Text("cse").ref)` inside one expression is enough."""

    def __init__(self, text: str | bytes) -> None:
        self.bytes = text.encode() if isinstance(text, str) else text
        self.ref = StringRef(ctypes.cast(ctypes.c_char_p(self.bytes), ctypes.c_void_p), len(self.bytes))


def collect_bytes(call: Callable[..., Any], *arguments: Any) -> bytes:
    """What a printing function of mlir-c writes: its last two parameters are the callback and its data."""
    text = CText()
    try:
        with lock:
            call(*arguments, lib.append, ctypes.byref(text))
        if text.failed:
            raise MemoryError
        return ctypes.string_at(text.data, text.size) if text.size else b""
    finally:
        lib.tessera_text_free(ctypes.byref(text))


def collect(call: Callable[..., Any], *arguments: Any) -> str:
    return collect_bytes(call, *arguments).decode("utf-8", "replace")
