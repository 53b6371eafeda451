// Functions and globals: ops are decoded by their rows (dialects/foreign/cuda_tile/bytecode.h).
#include "lib/import/cuda_tile/tile_ir_parts.h"

#include "dialects/foreign/cuda_tile/ops.h"
#include "lib/ir/builder.h"
#include "lib/ir/op_format.h"
#include "lib/support/grow.h"

#include <stdlib.h>

enum { MaxDepth = 64, MaxAttributes = 16, NumOpcodes = 1024 };

typedef struct Values {
  uint64_t count, capacity;
  MlirValue *items;
} Values;

// One function.
typedef struct Code {
  TileIrFile *file;
  const TileOpSpec *specs[NumOpcodes]; // by opcode
  Values values;                       // by number
  uint64_t debugIndex, numOps;
  int depth;
} Code;

//===--- values ---------------------------------------------------------------------===//

static void addValue(Values *values, MlirValue value) {
  // The count falls at the end of a region, and the array stays as long as it was.
  if (values->count == values->capacity)
    values->items = tessera_grow(values->items, (int64_t)values->capacity++, sizeof *values->items);
  values->items[values->count++] = value;
}

static bool takeValue(Code *code, TileIrBytes *bytes, Values *into) {
  uint64_t number = tileIrNumber(bytes);
  if (code->file->failed)
    return false;
  if (number >= code->values.count)
    return tileIrFail(bytes, "value %lu, expected less than %lu", (unsigned long)number,
                      (unsigned long)code->values.count);
  addValue(into, code->values.items[number]);
  return true;
}

static bool takeValues(Code *code, TileIrBytes *bytes, uint64_t count, Values *into) {
  bool ok = true;
  for (uint64_t i = 0; ok && i < count; ++i)
    ok = takeValue(code, bytes, into);
  return ok;
}

//===--- the parts of an op -----------------------------------------------------------===//

typedef struct Op {
  const TileOpSpec *spec;
  MlirLocation location;
  Values operands;
  MlirType *results;
  uint64_t numResults, flags;
  int nextFlag;
  int32_t segments[TileMaxValues];
  MlirNamedAttribute attributes[MaxAttributes];
  intptr_t numAttributes;
  MlirRegion regions[4];
  intptr_t numRegions;
} Op;

static bool isThere(const Code *code, const Op *op, const char *name) {
  return cudaTileSince(op->spec, name) <= code->file->version;
}

static bool takeFlag(Op *op) { return op->flags >> op->nextFlag++ & 1; }

static void addAttribute(const Code *code, Op *op, const char *name, MlirAttribute value) {
  if (!mlirAttributeIsNull(value))
    op->attributes[op->numAttributes++] =
        mlirNamedAttributeGet(mlirIdentifierGet(code->file->context, tileString(name)), value);
}

static bool takeResults(Code *code, TileIrBytes *bytes, Op *op) {
  uint64_t count = 0;
  if (cudaTileCountsResults(op->spec))
    count = tileIrCount(bytes, 1, "results");
  else
    for (int i = 0; i < op->spec->numResults; ++i)
      count += isThere(code, op, op->spec->results[i].name);
  op->results = calloc(count + 1, sizeof *op->results);
  for (; op->numResults < count && !code->file->failed; ++op->numResults)
    op->results[op->numResults] = tileIrType(bytes);
  return !code->file->failed;
}

static MlirAttribute takeWord(const Code *code, TileIrBytes *bytes, const TileAttributeSpec *attribute) {
  const char *const *words = cudaTileWordsOf(attribute->kindName);
  unsigned number = tileIrByte(bytes), i = 0;
  while (words && words[i] && i < number)
    ++i;
  if (words && words[i])
    return mlirStringAttrGet(code->file->context, tileString(words[i]));
  tileIrFail(bytes, "%s %u does not exist", attribute->kindName, number);
  return mlirAttributeGetNull();
}

static MlirAttribute takeI32Array(const Code *code, TileIrBytes *bytes) {
  int64_t wide[CudaTileMaxRank];
  int32_t values[CudaTileMaxRank];
  intptr_t count = tileIrList(bytes, 4, wide, CudaTileMaxRank);
  for (intptr_t i = 0; i < count; ++i)
    values[i] = (int32_t)wide[i];
  return mlirDenseI32ArrayGet(code->file->context, count, values);
}

// Absent if all are false, which older versions cannot say otherwise.
static MlirAttribute takeFlags(const Code *code, TileIrBytes *bytes) {
  int64_t wide[CudaTileMaxRank];
  int values[CudaTileMaxRank];
  intptr_t count = tileIrList(bytes, 1, wide, CudaTileMaxRank);
  bool any = false;
  for (intptr_t i = 0; i < count; ++i)
    any |= values[i] = wide[i] != 0;
  return any ? mlirDenseBoolArrayGet(code->file->context, count, values) : mlirAttributeGetNull();
}

static MlirAttribute takeArray(const Code *code, TileIrBytes *bytes) {
  uint64_t count = tileIrCount(bytes, 1, "attributes");
  MlirAttribute *items = calloc(count + 1, sizeof *items);
  for (uint64_t i = 0; i < count && !code->file->failed; ++i)
    items[i] = tileIrTagged(bytes);
  MlirAttribute made =
      code->file->failed ? mlirAttributeGetNull() : mlirArrayAttrGet(code->file->context, (intptr_t)count, items);
  free(items);
  return made;
}

static MlirAttribute takeAttribute(const Code *code, TileIrBytes *bytes, const Op *op,
                                   const TileAttributeSpec *attribute) {
  MlirContext context = code->file->context;
  switch (cudaTileEncodingOf(attribute)) {
  case CudaTileEncoding_Word:
    return takeWord(code, bytes, attribute);
  case CudaTileEncoding_Number:
    return mlirIntegerAttrGet(mlirIntegerTypeGet(context, 64), (int64_t)tileIrNumber(bytes));
  case CudaTileEncoding_Bool:
    return mlirBoolAttrGet(context, tileIrByte(bytes) != 0);
  case CudaTileEncoding_String:
    return mlirStringAttrGet(context, tileIrString(bytes));
  case CudaTileEncoding_Symbol:
    return mlirFlatSymbolRefAttrGet(context, tileIrString(bytes));
  case CudaTileEncoding_I32Array:
    return takeI32Array(code, bytes);
  case CudaTileEncoding_Flags:
    return takeFlags(code, bytes);
  case CudaTileEncoding_Constant:
    return tileIrConstant(bytes, op->numResults ? op->results[0] : (MlirType){NULL});
  case CudaTileEncoding_Array:
    return takeArray(code, bytes);
  case CudaTileEncoding_Tagged:
    return tileIrTagged(bytes);
  case CudaTileEncoding_Hints:
    return tileIrDictionary(bytes);
  }
  return mlirAttributeGetNull();
}

static bool takeAttributes(Code *code, TileIrBytes *bytes, Op *op) {
  for (int i = 0; i < op->spec->numAttributes && !code->file->failed; ++i) {
    const TileAttributeSpec *attribute = &op->spec->attributes[i];
    if (!isThere(code, op, attribute->name) || (cudaTileAttributeIsFlagged(attribute) && !takeFlag(op)))
      continue;
    addAttribute(code, op, attribute->name,
                 attribute->isUnit ? mlirUnitAttrGet(code->file->context) : takeAttribute(code, bytes, op, attribute));
  }
  return !code->file->failed;
}

// With a single group that is not one value, one count stands before all operands.
static bool takeAllOperands(Code *code, TileIrBytes *bytes, Op *op, int loose) {
  uint64_t count = tileIrCount(bytes, 1, "operands"), least = (uint64_t)op->spec->numOperands - 1;
  if (count < least || (op->spec->operands[loose].arity == TileArity_Optional && count > least + 1))
    return tileIrFail(bytes, "%lu operands of %s", (unsigned long)count, op->spec->fullName);
  return takeValues(code, bytes, count, &op->operands);
}

static bool takeOperands(Code *code, TileIrBytes *bytes, Op *op) {
  const TileOpSpec *spec = op->spec;
  if (!spec->operandSegments && spec->looseOperand >= 0)
    return takeAllOperands(code, bytes, op, spec->looseOperand);
  for (int i = 0; i < spec->numOperands && !code->file->failed; ++i) {
    TileArity arity = spec->operands[i].arity;
    uint64_t count = 1;
    if (arity == TileArity_Variadic)
      count = tileIrCount(bytes, 1, "operands");
    else if (arity == TileArity_Optional)
      count = isThere(code, op, spec->operands[i].name) && takeFlag(op);
    op->segments[i] = (int32_t)count;
    takeValues(code, bytes, count, &op->operands);
  }
  if (spec->operandSegments)
    addAttribute(code, op, tileOperandSegmentsName,
                 mlirDenseI32ArrayGet(code->file->context, spec->numOperands, op->segments));
  return !code->file->failed;
}

//===--- ops ------------------------------------------------------------------------===//

static bool takeOps(Code *code, TileIrBytes *bytes, MlirBlock block, uint64_t count);

static bool takeRegion(Code *code, TileIrBytes *bytes, Op *op) {
  MlirRegion region = op->regions[op->numRegions++] = mlirRegionCreate();
  uint64_t blocks = tileIrNumber(bytes), before = code->values.count;
  if (blocks != 1)
    return tileIrFail(bytes, "a region of %lu blocks, expected 1", (unsigned long)blocks);
  uint64_t count = tileIrCount(bytes, 1, "arguments");
  MlirBlock block = mlirBlockCreate(0, NULL, NULL);
  mlirRegionAppendOwnedBlock(region, block);
  for (uint64_t i = 0; i < count; ++i) {
    MlirType type = tileIrType(bytes);
    if (code->file->failed)
      return false;
    addValue(&code->values, mlirBlockAddArgument(block, type, op->location));
  }
  bool ok = ++code->depth <= MaxDepth || tileIrFail(bytes, "regions nest deeper than %d", (int)MaxDepth);
  ok = ok && takeOps(code, bytes, block, tileIrCount(bytes, 1, "ops"));
  --code->depth;
  code->values.count = before;
  return ok;
}

static bool takeRegions(Code *code, TileIrBytes *bytes, Op *op) {
  if (!op->spec->numRegions)
    return true;
  uint64_t count = tileIrNumber(bytes);
  if (count != (uint64_t)op->spec->numRegions)
    return tileIrFail(bytes, "%lu regions of %s, expected %d", (unsigned long)count, op->spec->fullName,
                      op->spec->numRegions);
  for (uint64_t i = 0; i < count; ++i)
    if (!takeRegion(code, bytes, op))
      return false;
  return true;
}

static MlirOperation build(const Code *code, Op *op) {
  MlirOperationState state = mlirOperationStateGet(tileString(op->spec->fullName), op->location);
  mlirOperationStateAddOperands(&state, (intptr_t)op->operands.count, op->operands.items);
  mlirOperationStateAddResults(&state, (intptr_t)op->numResults, op->results);
  mlirOperationStateAddAttributes(&state, op->numAttributes, op->attributes);
  mlirOperationStateAddOwnedRegions(&state, op->numRegions, op->regions);
  op->numRegions = 0;
  return mlirOperationCreate(&state);
}

static const TileOpSpec *specOf(Code *code, TileIrBytes *bytes) {
  uint64_t opcode = tileIrNumber(bytes);
  const TileOpSpec *spec = opcode < NumOpcodes ? code->specs[opcode] : NULL;
  if (!spec || !spec->row)
    tileIrFail(bytes, "unknown opcode %lu", (unsigned long)opcode);
  else if (cudaTileSince(spec, NULL) > code->file->version)
    tileIrFail(bytes, "%s is an op of version 13.%d, but the file has version 13.%d", spec->fullName,
               cudaTileSince(spec, NULL), code->file->version);
  return code->file->failed ? NULL : spec;
}

static bool takeParts(Code *code, TileIrBytes *bytes, Op *op) {
  if (!takeResults(code, bytes, op))
    return false;
  if (cudaTileHasFlags(op->spec, code->file->version))
    op->flags = tileIrNumber(bytes);
  return takeAttributes(code, bytes, op) && takeOperands(code, bytes, op) && takeRegions(code, bytes, op);
}

static bool takeOp(Code *code, TileIrBytes *bytes, MlirBlock block) {
  Op op = {.spec = specOf(code, bytes)};
  if (!op.spec)
    return false;
  ++code->numOps;
  op.location = tileIrLocation(code->file, code->debugIndex, code->numOps, code->numOps);
  bool ok = takeParts(code, bytes, &op);
  if (ok) {
    MlirOperation made = build(code, &op);
    ok = !mlirOperationIsNull(made) || tileIrFail(bytes, "%s does not exist so", op.spec->fullName);
    if (ok) {
      mlirBlockAppendOwnedOperation(block, made);
      for (intptr_t i = 0; i < mlirOperationGetNumResults(made); ++i)
        addValue(&code->values, mlirOperationGetResult(made, i));
    }
  }
  for (intptr_t i = 0; i < op.numRegions; ++i)
    mlirRegionDestroy(op.regions[i]);
  free(op.results);
  free(op.operands.items);
  return ok;
}

static bool takeOps(Code *code, TileIrBytes *bytes, MlirBlock block, uint64_t count) {
  for (uint64_t i = 0; i < count; ++i)
    if (!takeOp(code, bytes, block))
      return false;
  return !code->file->failed;
}

//===--- functions --------------------------------------------------------------------===//

static bool takeBody(Code *code, TileIrBytes *bytes, MlirStringRef name, MlirType type, MlirAttribute hints,
                     MlirBlock into) {
  TileIrFile *file = code->file;
  uint64_t size = tileIrCount(bytes, 1, "bytes of a body");
  if (file->failed)
    return false;
  TileIrBytes body = {file, bytes->at, bytes->at + size};
  bytes->at += size;
  MlirLocation location = tileIrLocation(file, code->debugIndex, 0, 0);
  MlirRegion region = mlirRegionCreate();
  MlirBlock block = mlirBlockCreate(0, NULL, NULL);
  mlirRegionAppendOwnedBlock(region, block);
  for (intptr_t i = 0; i < mlirFunctionTypeGetNumInputs(type); ++i)
    addValue(&code->values, mlirBlockAddArgument(block, mlirFunctionTypeGetInput(type, i), location));
  bool ok = true;
  while (ok && body.at != body.end)
    ok = takeOp(code, &body, block);
  TileBuilder b = tileBuilderAtEnd(into, location);
  if (ok) {
    MlirOperation made =
        cudaTileEntryOpCreate(&b, hints, mlirStringAttrGet(file->context, name), mlirAttributeGetNull(),
                              mlirTypeAttrGet(type), mlirAttributeGetNull(), mlirAttributeGetNull(), region);
    return !mlirOperationIsNull(made);
  }
  mlirRegionDestroy(region);
  return false;
}

static bool takeFunction(Code *code, TileIrBytes *bytes, MlirBlock into) {
  TileIrFile *file = code->file;
  MlirStringRef name = tileIrString(bytes);
  MlirType type = tileIrType(bytes);
  unsigned flags = tileIrByte(bytes);
  code->debugIndex = tileIrNumber(bytes);
  code->values.count = code->numOps = 0;
  MlirAttribute hints = mlirAttributeGetNull();
  if ((flags & CudaTileFlagEntry) && (file->version >= 5 || (flags & CudaTileFlagHints)))
    hints = tileIrTagged(bytes);
  if (!mlirAttributeIsNull(hints) &&
      (!mlirAttributeIsADictionary(hints) || (file->version >= 5 && mlirDictionaryAttrGetNumElements(hints) == 0)))
    hints = mlirAttributeGetNull(); // 13.5 writes an empty one where there is none
  if (file->version >= 5)
    tileIrTagged(bytes); // attributes of the parameters: none are defined
  if (file->failed)
    return false;
  if (!(flags & CudaTileFlagEntry) || !mlirTypeIsAFunction(type) || mlirFunctionTypeGetNumResults(type))
    return tileIrFail(bytes, "function %.*s is no kernel, expected kernels only", (int)name.length, name.data);
  return takeBody(code, bytes, name, type, hints, into);
}

bool tileIrFunctions(TileIrFile *file, MlirBlock block) {
  TileIrBytes *bytes = &file->sections[CudaTileSection_Functions];
  if (!bytes->at)
    return tileIrFail(&(TileIrBytes){file, file->begin, file->begin}, "the file has no functions");
  Code *code = calloc(1, sizeof *code);
  code->file = file;
  const MlirExtDialectDefinition *dialect = cudaTileDialectDefinition();
  for (intptr_t i = 0; dialect && i < dialect->numOps; ++i) {
    const TileOpSpec *spec = dialect->ops[i].data;
    if (!(spec->traits & (MlirExtTrait_Function | MlirExtTrait_Symbol)))
      code->specs[cudaTileOpcode(spec)] = spec;
  }
  uint64_t count = tileIrCount(bytes, 1, "functions");
  for (uint64_t i = 0; i < count && takeFunction(code, bytes, block); ++i)
    continue;
  free(code->values.items);
  free(code);
  return !file->failed;
}

//===--- globals --------------------------------------------------------------------===//

static bool takeGlobal(TileIrFile *file, TileIrBytes *bytes, TileBuilder *b) {
  MlirStringRef name = tileIrString(bytes);
  MlirType type = tileIrType(bytes);
  MlirAttribute value = tileIrConstant(bytes, type);
  uint64_t alignment = tileIrNumber(bytes);
  bool isPrivate = file->version >= 3 && tileIrByte(bytes), isConstant = file->version >= 3 && tileIrNumber(bytes);
  if (file->failed)
    return false;
  MlirAttribute none = mlirAttributeGetNull();
  MlirOperation made =
      cudaTileGlobalOpCreate(b, value, mlirIntegerAttrGet(mlirIntegerTypeGet(file->context, 64), (int64_t)alignment),
                             isConstant ? mlirUnitAttrGet(file->context) : none,
                             isPrivate ? mlirStringAttrGet(file->context, tileString("private")) : none,
                             mlirStringAttrGet(file->context, name), none);
  return !mlirOperationIsNull(made) || tileIrFail(bytes, "a global that does not exist");
}

bool tileIrGlobals(TileIrFile *file, MlirBlock block) {
  TileIrBytes *bytes = &file->sections[CudaTileSection_Global];
  TileBuilder b = tileBuilderAtEnd(block, mlirLocationUnknownGet(file->context));
  uint64_t count = bytes->at ? tileIrCount(bytes, 4, "globals") : 0;
  for (uint64_t i = 0; i < count; ++i)
    if (!takeGlobal(file, bytes, &b))
      return false;
  return !file->failed;
}

//===--- a file ---------------------------------------------------------------------===//

MlirModule tileIrImport(MlirContext context, const char *bytes, size_t size, const char *name, tessera_error_t *error) {
  TileIrFile file = {.context = context, .name = name, .error = error};
  mlirContextGetOrLoadDialect(context, tileString("cuda_tile"));
  MlirModule module = mlirModuleCreateEmpty(mlirLocationFileLineColGet(context, tileString(name), 0, 0));
  MlirBlock block = mlirModuleGetBody(module);
  bool ok =
      tileIrOpen(&file, (const uint8_t *)bytes, size) && tileIrGlobals(&file, block) && tileIrFunctions(&file, block);
  ok = ok && (mlirOperationVerify(mlirModuleGetOperation(module)) || tessera_fail(error, "%s: no valid program", name));
  tileIrClose(&file);
  if (ok)
    return module;
  mlirModuleDestroy(module);
  return (MlirModule){NULL};
}
