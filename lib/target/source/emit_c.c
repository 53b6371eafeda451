// Emits a program as a file of C: its kernels, each with the text that it had as a tile kernel, what they call, and the
// host's functions, which launch them. Expects the level that --tile-to-c-source-pipeline leaves. See source.h.
//
// A function `f(%x: memref<4x?xf32>) -> memref<4xf32>` is `void f(float *p0, uint64_t p0_size1, float *r0)`: results
// whose sizes are known are memory of the caller's. Any other result is `float **r0` and its sizes, and is freed by
// the caller.
#include "lib/target/source/source.h"

#include "dialects/tile/ops.h"
#include "lib/capi/op.h"
#include "lib/ir/support.h"
#include "lib/machine/machine.h"
#include "upstream/func.h"

#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"

#include <stdlib.h>
#include <string.h>

enum { GridRank = 3 };

static const char *textOf(SourceWriter *w, MlirValue value) { return tileSourceTextOf(w, value)->text; }

static MlirBlock bodyOf(MlirOperation function) { return mlirRegionGetFirstBlock(mlirOperationGetRegion(function, 0)); }

static MlirType typeOfFunction(MlirOperation function) {
  return mlirTypeAttrGetValue(tileOpAttribute(function, "function_type"));
}

//===--- results ------------------------------------------------------------------------------------------===//

static bool isClosed(MlirType type) { return mlirTypeIsAMemRef(type) && mlirShapedTypeHasStaticShape(type); }

// A function with one result that is no array returns it.
static bool returnsValue(MlirType function) {
  return mlirFunctionTypeGetNumResults(function) == 1 && !mlirTypeIsAMemRef(mlirFunctionTypeGetResult(function, 0));
}

static int numOpenSizes(MlirType type) {
  int count = 0;
  for (intptr_t i = 0; mlirTypeIsAMemRef(type) && i < mlirShapedTypeGetRank(type); ++i)
    count += mlirShapedTypeIsDynamicDim(type, i);
  return count;
}

// Writes the pointers through which results leave: "float *r0, float **r1, uint64_t *r1_size0".
static const char *resultParameters(SourceWriter *w, MlirOperation function, const char *before) {
  MlirType type = typeOfFunction(function);
  const char *text = before;
  if (returnsValue(type))
    return text;
  for (intptr_t i = 0; i < mlirFunctionTypeGetNumResults(type); ++i) {
    MlirType result = mlirFunctionTypeGetResult(type, i);
    const char *name = tileSourceType(w, result, function), *comma = *text ? ", " : "";
    if (!name)
      return NULL;
    const char *star = mlirTypeIsAMemRef(result) && !isClosed(result) ? "*" : mlirTypeIsAMemRef(result) ? "" : " *";
    text = tileArenaPrintf(&w->arena, "%s%s%s%sr%d", text, comma, name, star, (int)i);
    for (int k = 0; k < numOpenSizes(result); ++k)
      text = tileArenaPrintf(&w->arena, "%s, uint64_t *r%d_size%d", text, (int)i, k);
  }
  return text;
}

// The open sizes of an array, in order.
static const char *openSize(const SourceArray *array, MlirType type, int number) {
  for (int i = 0; i < array->rank; ++i)
    if (mlirShapedTypeIsDynamicDim(type, i) && number-- == 0)
      return array->sizes[i];
  return "0";
}

static bool writeResult(SourceWriter *w, MlirOperation op, intptr_t i) {
  MlirValue value = mlirOperationGetOperand(op, i);
  MlirType type = mlirValueGetType(value);
  if (!mlirTypeIsAMemRef(type)) {
    tileSourceLine(w, "*r%d = %s;", (int)i, textOf(w, value));
    return true;
  }
  const SourceArray *array = tileSourceArrayOf(w, value, op);
  const char *name = tileArenaPrintf(&w->arena, "r%d", (int)i);
  if (!array)
    return false;
  if (isClosed(type)) {
    if (strcmp(array->base, name) == 0)
      return true;
    if (!tileSourceCopy(w, op, value, (MlirValue){NULL}, name))
      return false;
    tileSourceLine(w, "free(%s);", array->base);
    return true;
  }
  if (strcmp(array->place, array->base) != 0)
    return tileError(op, "cannot be written in %s: a result that is a part of an array", w->language->name);
  tileSourceLine(w, "*%s = %s;", name, array->base);
  for (int k = 0; k < numOpenSizes(type); ++k)
    tileSourceLine(w, "*%s_size%d = %s;", name, k, openSize(array, type, k));
  return true;
}

static bool writeReturn(SourceWriter *w, MlirOperation op) {
  if (returnsValue(typeOfFunction(mlirOperationGetParentOperation(op)))) {
    tileSourceLine(w, "return %s;", textOf(w, tileOnlyOperand(op)));
    return true;
  }
  bool ok = true;
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op) && ok; ++i)
    ok = writeResult(w, op, i);
  return ok;
}

//===--- calls --------------------------------------------------------------------------------------------===//

static const char *append(SourceWriter *w, const char *text, const char *argument) {
  return tileArenaPrintf(&w->arena, "%s%s%s", text, *text ? ", " : "", argument);
}

// Appends the parts of an operand that `kept` marks (null: all). Null after an error.
static const char *appendParts(SourceWriter *w, const char *text, MlirOperation op, MlirValue value,
                               const bool **kept) {
  SourcePart parts[SourceMaxParts];
  int count;
  if (!tileSourceParts(w, value, op, parts, &count))
    return NULL;
  if (tileSourceIsMask(mlirValueGetType(value)))
    parts[0].text = tileSourceMaskText(w, value, 32);
  for (int i = 0; i < count; ++i)
    if (!*kept || *(*kept)++)
      text = append(w, text, parts[i].text);
  return text;
}

// Memory for a result, and its address as an argument.
static const char *appendResult(SourceWriter *w, const char *text, MlirOperation op, intptr_t i) {
  MlirValue value = mlirOperationGetResult(op, i);
  SourcePart parts[SourceMaxParts];
  int count;
  if (!tileSourceNewParts(w, value, op, parts, &count))
    return NULL;
  for (int k = 0; k < count; ++k) {
    const char *space = parts[k].type[strlen(parts[k].type) - 1] == '*' ? "" : " ";
    if (isClosed(mlirValueGetType(value)))
      tileSourceLine(w, "%s%s = allocate(%s * sizeof(%s));", parts[k].type, parts[k].text,
                     tileSourceNumElements(w, tileSourceArrayOf(w, value, op)),
                     tileSourceType(w, mlirShapedTypeGetElementType(mlirValueGetType(value)), op));
    else
      tileSourceLine(w, "%s%s%s;", parts[k].type, space, parts[k].text);
    text = append(w, text,
                  tileArenaPrintf(&w->arena, "%s%s", isClosed(mlirValueGetType(value)) ? "" : "&", parts[k].text));
  }
  return text;
}

// A kernel's own memory of a known size is there once for each thread.
static bool isOwnMemory(MlirOperation call, const char *callee, int64_t *bytes) {
  static const char allocate[] = "tessera_local_alloc", release[] = "tessera_local_free";
  MlirOperation op = strcmp(callee, release) == 0 ? tileDefiningOp(tileOnlyOperand(call)) : call;
  if (strcmp(callee, allocate) != 0 && strcmp(callee, release) != 0)
    return false;
  return !mlirOperationIsNull(op) && funcCallOpIsA(op) && mlirOperationGetNumOperands(op) == 1 &&
         tileConstantIndex(tileOnlyOperand(op), bytes) && *bytes > 0;
}

bool tileSourceIsPlan(MlirOperation op) {
  return funcCallOpIsA(op) && !mlirAttributeIsNull(mlirOperationGetDiscardableAttributeByName(op, tileString("lives")));
}

// Where buffers lie whose sizes the call knows. A plan is kept for the next call.
static bool writePlan(SourceWriter *w, MlirOperation op) {
  MlirAttribute lives = mlirOperationGetDiscardableAttributeByName(op, tileString("lives"));
  intptr_t count = mlirOperationGetNumOperands(op);
  int number = w->numValues++;
  const char *times = "", *bytes = "";
  for (intptr_t i = 0; i < count; ++i) {
    times = tileArenaPrintf(&w->arena, "%s%s{%lld, %lld}", times, i ? ", " : "",
                            (long long)mlirDenseI64ArrayGetElement(lives, 2 * i),
                            (long long)mlirDenseI64ArrayGetElement(lives, 2 * i + 1));
    bytes = append(w, bytes, textOf(w, mlirOperationGetOperand(op, i)));
  }
  tileSourceLine(w, "static const uint32_t lives%d[][2] = {%s};", number, times);
  tileSourceLine(w, "static _Thread_local uint64_t places%d[%lld];", number, (long long)(2 * count + 1));
  tileSourceLine(w, "plan_memory(%lld, lives%d, (const uint64_t[]){%s}, places%d);", (long long)count, number, bytes,
                 number);
  for (intptr_t i = 0; i <= count; ++i) {
    const char *name = tileSourceNewName(w, mlirOperationGetResult(op, i));
    tileSourceDeclare(w, "uint64_t ", name, tileArenaPrintf(&w->arena, "places%d[%lld]", number, (long long)i));
  }
  return true;
}

static bool writeCall(SourceWriter *w, MlirOperation op) {
  MlirStringRef symbol = mlirFlatSymbolRefAttrGetValue(tileOpAttribute(op, "callee"));
  const char *name = tileArenaString(&w->arena, symbol.data, symbol.length), *text = "";
  MlirOperation function = tileFindSymbol(op, name);
  const bool *all = NULL;
  int64_t bytes;
  if (isOwnMemory(op, name, &bytes)) {
    if (mlirOperationGetNumResults(op))
      tileSourceLine(w, "static _Thread_local _Alignas(64) char %s[%lld];", tileSourceNewName(w, tileOnlyResult(op)),
                     (long long)bytes);
    return true;
  }
  if (tileSourceIsPlan(op))
    return writePlan(w, op);
  bool isDefined = !mlirOperationIsNull(function) && funcFuncOpIsA(function) && !mlirBlockIsNull(bodyOf(function));
  bool isHelper = !isDefined && tileSourceHasHelper(w->language, name);
  if (!isHelper && !isDefined)
    return tileError(op, "cannot be written in %s: a call of '%s', which has no body", w->language->name, name);
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op) && text; ++i)
    text = appendParts(w, text, op, mlirOperationGetOperand(op, i), &all);
  bool isValue = isHelper || returnsValue(typeOfFunction(function));
  for (intptr_t i = 0; !isValue && i < mlirOperationGetNumResults(op) && text; ++i)
    text = appendResult(w, text, op, i);
  if (!text)
    return false;
  text = tileArenaPrintf(&w->arena, "%s(%s)", isHelper ? name : tileSourceFunctionName(w, function, "program"), text);
  if (isValue && mlirOperationGetNumResults(op))
    return tileSourceAssign(w, op, text);
  tileSourceLine(w, "%s;", text);
  return true;
}

// "launch(n, kernel(…, begin, end));" of the programs of a grid.
static bool writeLaunch(SourceWriter *w, MlirOperation op) {
  MlirOperation kernel = mlirExtSymbolLookup(op, tileLaunchOpGetKernel(op));
  intptr_t rank = tileLaunchOpGetNumGrid(op);
  const bool *kept = mlirOperationIsNull(kernel) ? NULL : tileTableFind(&w->kernels, kernel.ptr);
  const char *text = "", *count = "", *sizes[GridRank];
  if (!kept)
    return tileError(op, "cannot be written in %s: it launches no kernel", w->language->name);
  for (intptr_t i = rank; i < mlirOperationGetNumOperands(op) && text; ++i)
    text = appendParts(w, text, op, mlirOperationGetOperand(op, i), &kept);
  for (int i = 0; i < GridRank && text; ++i) {
    int64_t known = 1;
    bool isKnown = i >= rank || tileConstantIndex(tileLaunchOpGetGrid(op, i), &known);
    known = known < 0 ? 0 : known;
    sizes[i] = isKnown ? tileArenaPrintf(&w->arena, "%lld", (long long)known)
                       : tileArenaPrintf(&w->arena, "grid_size(%s)", textOf(w, tileLaunchOpGetGrid(op, i)));
    if (i < rank || i == 0)
      count = tileArenaPrintf(&w->arena, "%s%s%s", count, *count ? " * " : "", sizes[i]);
    if (*kept++)
      text = append(w, text, sizes[i]);
  }
  if (!text)
    return false;
  tileSourceLine(w, "launch(%s, %s(%s%sbegin, end));", count, tileSourceFunctionName(w, kernel, "kernel"), text,
                 *text ? ", " : "");
  return true;
}

SourceWrite tileSourceOfProgram(MlirOperation op) {
  if (tileLaunchOpIsA(op))
    return writeLaunch;
  switch (tileUpstreamKind(op)) {
  case FuncOp_Call:
    return writeCall;
  case FuncOp_Return:
    return writeReturn;
  default:
    return NULL;
  }
}

//===--- functions ------------------------------------------------------------------------------------------===//

typedef struct File {
  SourceWriter *writer;
  MlirOperation module;
  TileOps functions, launches, calls;
} File;

static bool isLaunched(const File *file, MlirOperation function) {
  MlirStringRef name = mlirStringAttrGetValue(tileOpAttribute(function, "sym_name"));
  for (intptr_t i = 0; i < file->launches.count; ++i)
    if (mlirStringRefEqual(name, mlirFlatSymbolRefAttrGetValue(tileLaunchOpGetKernel(file->launches.items[i]))))
      return true;
  return false;
}

static bool isCalled(const File *file, MlirOperation function) {
  MlirStringRef name = mlirStringAttrGetValue(tileOpAttribute(function, "sym_name"));
  for (intptr_t i = 0; i < file->calls.count; ++i)
    if (mlirStringRefEqual(name, mlirFlatSymbolRefAttrGetValue(tileOpAttribute(file->calls.items[i], "callee"))))
      return true;
  return false;
}

// A function of arithmetic: what tile-outline-functions made.
static bool isOutlined(MlirOperation function) {
  MlirType type = typeOfFunction(function);
  for (intptr_t i = 0; i < mlirFunctionTypeGetNumInputs(type); ++i)
    if (mlirTypeIsAMemRef(mlirFunctionTypeGetInput(type, i)))
      return false;
  return !tileSymbolIsPublic(function) && returnsValue(type);
}

typedef struct Parameters {
  SourcePart parts[4096];
  int count;
} Parameters;

static bool nameParameters(SourceWriter *w, MlirOperation function, Parameters *parameters) {
  MlirBlock body = bodyOf(function);
  for (intptr_t i = 0; i < mlirBlockGetNumArguments(body); ++i) {
    int count;
    if (parameters->count + SourceMaxParts > (int)(sizeof parameters->parts / sizeof *parameters->parts))
      return tileError(function, "cannot be written in %s: its number of parameters", w->language->name);
    if (!tileSourceNewParts(w, mlirBlockGetArgument(body, i), function, parameters->parts + parameters->count, &count))
      return false;
    parameters->count += count;
  }
  return true;
}

// The last parameters of a kernel: the sizes of the grid, the first program and the one behind the last.
static void nameGrid(SourceWriter *w, MlirBlock body, Parameters *parameters) {
  static const char *const names[] = {"grid0", "grid1", "grid2", "begin", "end"};
  enum { NumNames = sizeof names / sizeof *names };
  intptr_t first = mlirBlockGetNumArguments(body) - NumNames;
  for (int i = 0; i < NumNames; ++i) {
    tileSourceSetText(w, mlirBlockGetArgument(body, first + i), names[i], true, false);
    parameters->parts[parameters->count - NumNames + i].text = names[i];
  }
}

static const char *spaceBehind(const char *type) { return type[strlen(type) - 1] == '*' ? "" : " "; }

// The parameters, without those that are unused where `kept` says which stay.
static const char *listParameters(SourceWriter *w, const Parameters *parameters, const bool *kept) {
  const char *text = "";
  for (int i = 0; i < parameters->count; ++i)
    if (!kept || kept[i])
      text = append(w, text,
                    tileArenaPrintf(&w->arena, "%s%s%s", parameters->parts[i].type,
                                    spaceBehind(parameters->parts[i].type), parameters->parts[i].text));
  return text;
}

static const char *nameOfSymbol(SourceWriter *w, MlirOperation function) {
  MlirStringRef name = mlirStringAttrGetValue(tileOpAttribute(function, "sym_name"));
  return tileArenaString(&w->arena, name.data, name.length);
}

// Writes the body to a text of its own, since the parameters that it does not name are left out.
static char *writeBody(SourceWriter *w, MlirOperation function, size_t *size) {
  FILE *out = w->out;
  tessera_text_t text;
  bool ok =
      (w->out = tessera_text_open(&text)) && tileSourceWriteBody(w, function, mlirOperationGetRegion(function, 0));
  ok = tessera_text_close(&text, w->out) && ok;
  w->out = out;
  if (ok)
    *size = tileSourceDropUnused(text.data, text.size, w->numValues);
  else
    tessera_text_free(&text);
  return text.data;
}

static bool writeFunction(const File *file, MlirOperation function) {
  SourceWriter *w = file->writer;
  Parameters *parameters = tileArenaAllocate(&w->arena, sizeof *parameters);
  bool isKernel = isLaunched(file, function), isValue = returnsValue(typeOfFunction(function));
  MlirType type = typeOfFunction(function);
  intptr_t numResults = mlirFunctionTypeGetNumResults(type);
  const char **results = tileArenaAllocate(&w->arena, (size_t)(numResults + 1) * sizeof *results);
  size_t size = 0;
  for (intptr_t i = 0; i < numResults; ++i)
    results[i] = tileArenaPrintf(&w->arena, "r%d", (int)i);
  parameters->count = w->numValues = 0;
  w->results = results;
  w->isUncalled = w->header && !isKernel && !isCalled(file, function);
  if (!nameParameters(w, function, parameters))
    return false;
  int numArguments = parameters->count;
  if (isKernel)
    nameGrid(w, bodyOf(function), parameters);
  char *body = writeBody(w, function, &size);
  if (!body)
    return false;
  bool *kept = tileArenaAllocate(&w->arena, (size_t)(numArguments + 1) * sizeof *kept);
  for (int i = 0; i < numArguments; ++i)
    kept[i] = !isKernel || i >= numArguments - 2 || tileSourceNames(body, size, parameters->parts[i].text);
  if (isKernel)
    tileTableSet(&w->kernels, function.ptr, kept);
  const char *text = resultParameters(w, function, listParameters(w, parameters, kept));
  const char *result = isValue ? tileSourceType(w, mlirFunctionTypeGetResult(type, 0), function) : "void";
  if (text && result) {
    if (w->header && !isKernel && tileSymbolIsPublic(function))
      fprintf(w->header, "%s %s(%s);\n", result, tileSourceFunctionName(w, function, "program"), *text ? text : "void");
    fputc('\n', w->out);
    tileSourceWriteKernelText(w, file->module, nameOfSymbol(w, function));
    fprintf(w->out, "%s%s %s(%s) {\n",
            isOutlined(function)                        ? "static inline "
            : isKernel || !tileSymbolIsPublic(function) ? "static "
                                                        : "",
            result, tileSourceFunctionName(w, function, isKernel ? "kernel" : "program"), *text ? text : "void");
    for (int i = 0; i < numArguments && !isKernel; ++i)
      if (!tileSourceNames(body, size, parameters->parts[i].text))
        fprintf(w->out, "  (void)%s;\n", parameters->parts[i].text);
    fwrite(body, 1, size, w->out);
  }
  free(body);
  return text && result;
}

//===--- the file -------------------------------------------------------------------------------------------===//

// What is called stands before who calls it: functions of arithmetic, kernels, functions of the program.
static bool writeKind(const File *file, int kind) {
  bool ok = true;
  for (intptr_t i = 0; i < file->functions.count && ok; ++i) {
    MlirOperation function = file->functions.items[i];
    int its = isLaunched(file, function) ? 1 : isOutlined(function) ? 0 : 2;
    if (its == kind && !mlirBlockIsNull(bodyOf(function)))
      ok = writeFunction(file, function);
  }
  return ok;
}

// Functions that are called, perhaps before they are written.
static bool declareFunctions(const File *file) {
  SourceWriter *w = file->writer;
  for (intptr_t i = 0; i < file->functions.count; ++i) {
    MlirOperation function = file->functions.items[i];
    if (isLaunched(file, function) || isOutlined(function) || mlirBlockIsNull(bodyOf(function)) ||
        !isCalled(file, function))
      continue;
    Parameters *parameters = tileArenaAllocate(&w->arena, sizeof *parameters);
    parameters->count = w->numValues = 0;
    bool isValue = returnsValue(typeOfFunction(function));
    if (!nameParameters(w, function, parameters))
      return false;
    const char *text = resultParameters(w, function, listParameters(w, parameters, NULL));
    const char *result =
        isValue ? tileSourceType(w, mlirFunctionTypeGetResult(typeOfFunction(function), 0), function) : "void";
    if (!text || !result)
      return false;
    fprintf(w->out, "\n%s%s %s(%s);\n", tileSymbolIsPublic(function) ? "" : "static ", result,
            tileSourceFunctionName(w, function, "program"), *text ? text : "void");
  }
  return true;
}

static bool writeAll(void *userData) {
  const File *file = userData;
  return writeKind(file, 0) && writeKind(file, 1) && declareFunctions(file) && writeKind(file, 2);
}

bool tileSourceWriteProgram(SourceWriter *w, MlirOperation module, TileArtifact *artifact, tessera_error_t *error) {
  static const SourceLanguage c = {
      "C", "c",
      "// Written by Tessera in C11 with the vectors of gcc 12 and clang.\n"
      "//   gcc -O3 -march=native -ffp-contract=off -c FILE    with -fopenmp: on all cores\n",
      true};
  File file = {w, module, tileCollectOps(module, funcFuncOpIsA), tileCollectOps(module, tileLaunchOpIsA),
               tileCollectOps(module, funcCallOpIsA)};
  w->language = &c;
  bool ok = tileSourceWriteFile(w, writeAll, &file, artifact, error);
  tileOpsFree(&file.functions);
  tileOpsFree(&file.launches);
  tileOpsFree(&file.calls);
  return ok;
}

static bool emitC(const TileTranslation *translation, TileArtifact *artifact, tessera_error_t *error) {
  SourceWriter writer = {.language = NULL, .hasLines = translation->hasLines};
  bool ok = tileSourceWriteProgram(&writer, translation->module, artifact, error);
  tileSourceFreeWriter(&writer);
  return ok;
}

static bool checkChip(const char *chip, tessera_error_t *error) {
  TileMachine *machine = tileMachineLoad(chip, NULL, NULL, 0, NULL);
  const char *kind = machine ? tileMachineGetText(machine, "kind") : NULL;
  bool isCpu = kind && strcmp(kind, "cpu") == 0;
  tileMachineDestroy(machine);
  if (isCpu)
    return true;
  TESSERA_LIST(known);
  tileMachineListWhere("kind", "cpu", &known);
  return tessera_fail(error, "unknown CPU '%s'; known: %s", chip, known.text);
}

const TileCodeTarget tileCSourceTarget = {
    .name = "c-source",
    .pipeline = "tile-to-c-source-pipeline",
    .defaultChip = "x86-64-v4",
    .checkChip = checkChip,
    .forms = (const TileForm[]){{"c-source", "the program as C", .emit = emitC},
                                {"c-project", "a folder with the program as C, its weights and a Makefile",
                                 .isFolder = true, .emit = tileSourceEmitProject},
                                {NULL}},
};
