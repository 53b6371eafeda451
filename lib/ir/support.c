// Small questions and answers about IR (support.h).
#include "lib/ir/support.h"

#include "lib/capi/diagnostic.h"
#include "lib/capi/elements.h"
#include "lib/capi/flags.h"
#include "lib/capi/op.h"
#include "lib/ir/op_query.h"
#include "upstream/arith.h"
#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

//===--- diagnostics --------------------------------------------------------===//
char *tileFormatText(const char *format, va_list arguments) {
  va_list again;
  va_copy(again, arguments);
  int length = vsnprintf(NULL, 0, format, again);
  va_end(again);
  char *text = malloc((size_t)length + 1);
  vsnprintf(text, (size_t)length + 1, format, arguments);
  return text;
}

#define FORMAT_TEXT(text, format)                                                                                      \
  va_list arguments;                                                                                                   \
  va_start(arguments, format);                                                                                         \
  char *text = tileFormatText(format, arguments);                                                                      \
  va_end(arguments)

static void reportAtOp(MlirOperation op, MlirDiagnosticSeverity severity, const char *text) {
  mlirExtDiagnosticReport(mlirExtDiagnosticCreateForOp(op, severity, tileString(text)));
}

bool tileError(MlirOperation op, const char *format, ...) {
  FORMAT_TEXT(text, format);
  reportAtOp(op, MlirDiagnosticError, text);
  free(text);
  return false;
}

bool tileErrorAt(MlirLocation location, const char *format, ...) {
  FORMAT_TEXT(text, format);
  mlirExtDiagnosticReport(mlirExtDiagnosticCreate(location, MlirDiagnosticError, tileString(text)));
  free(text);
  return false;
}

void tileWarningAt(MlirLocation location, const char *format, ...) {
  FORMAT_TEXT(text, format);
  mlirExtDiagnosticReport(mlirExtDiagnosticCreate(location, MlirDiagnosticWarning, tileString(text)));
  free(text);
}

bool tileErrorWithNote(MlirOperation op, MlirLocation where, const char *note, const char *format, ...) {
  FORMAT_TEXT(text, format);
  MlirExtDiagnostic diagnostic = mlirExtDiagnosticCreateForOp(op, MlirDiagnosticError, tileString(text));
  mlirExtDiagnosticAddNote(diagnostic, where, tileString(note));
  mlirExtDiagnosticReport(diagnostic);
  free(text);
  return false;
}

void tileWarning(MlirOperation op, const char *format, ...) {
  FORMAT_TEXT(text, format);
  reportAtOp(op, MlirDiagnosticWarning, text);
  free(text);
}

void tileRemark(MlirOperation op, const char *format, ...) {
  FORMAT_TEXT(text, format);
  reportAtOp(op, MlirDiagnosticRemark, text);
  free(text);
}

bool tileEmit(MlirExtEmitter emitter, const char *format, ...) {
  FORMAT_TEXT(text, format);
  mlirExtEmitterError(emitter, tileString(text));
  free(text);
  return false;
}

//===--- questions ----------------------------------------------------------===//
MlirOperation tileDefiningOp(MlirValue value) {
  return mlirValueIsAOpResult(value) ? mlirOpResultGetOwner(value) : (MlirOperation){NULL};
}

MlirAttribute tileOpAttribute(MlirOperation op, const char *name) {
  return mlirOperationGetAttributeByName(op, tileString(name));
}

bool tileOpAllows(MlirOperation op, TileFastMath flag) {
  return mlirExtFastMathFlagsAttrGetValue(tileOpAttribute(op, "fastmath")) & flag;
}

bool tileOpForbids(MlirOperation op, TileOverflow flag) {
  return mlirExtOverflowFlagsAttrGetValue(tileOpAttribute(op, "overflowFlags")) & flag;
}

MlirAttribute tileFastMathAttr(MlirContext context, TileFastMath flag) {
  return mlirExtFastMathFlagsAttrGet(context, flag);
}

MlirType tileOperandType(MlirOperation op, intptr_t index) {
  return mlirValueGetType(mlirOperationGetOperand(op, index));
}

MlirType tileResultType(MlirOperation op, intptr_t index) {
  return mlirValueGetType(mlirOperationGetResult(op, index));
}

MlirValue tileOnlyOperand(MlirOperation op) {
  assert(mlirOperationGetNumOperands(op) == 1);
  return mlirOperationGetOperand(op, 0);
}

MlirValue tileOnlyResult(MlirOperation op) {
  assert(mlirOperationGetNumResults(op) == 1);
  return mlirOperationGetResult(op, 0);
}

MlirType tileOnlyOperandType(MlirOperation op) { return mlirValueGetType(tileOnlyOperand(op)); }
MlirType tileOnlyResultType(MlirOperation op) { return mlirValueGetType(tileOnlyResult(op)); }

MlirValue tileFirstOperand(MlirOperation op) { return mlirOperationGetOperand(op, 0); }
void tileSetFirstOperand(MlirOperation op, MlirValue value) { mlirOperationSetOperand(op, 0, value); }
MlirType tileFirstOperandType(MlirOperation op) { return tileOperandType(op, 0); }
MlirValue tileFirstResult(MlirOperation op) { return mlirOperationGetResult(op, 0); }
MlirType tileFirstResultType(MlirOperation op) { return tileResultType(op, 0); }

MlirValue tileBinaryLhs(MlirOperation op) {
  assert(mlirOperationGetNumOperands(op) == 2);
  return mlirOperationGetOperand(op, 0);
}

MlirValue tileBinaryRhs(MlirOperation op) {
  assert(mlirOperationGetNumOperands(op) == 2);
  return mlirOperationGetOperand(op, 1);
}

static MlirLocation firstOfFused(MlirLocation fused) {
  unsigned count = mlirLocationFusedGetNumLocations(fused);
  MlirLocation *all = malloc(count * sizeof *all), first;
  mlirLocationFusedGetLocations(fused, all);
  first = all[0];
  free(all);
  return first;
}

MlirLocation tileWrittenAt(MlirOperation op) {
  for (MlirLocation location = mlirOperationGetLocation(op);;) {
    if (mlirLocationIsACallSite(location))
      location = mlirLocationCallSiteGetCallee(location);
    else if (mlirLocationIsAName(location))
      location = mlirLocationNameGetChildLoc(location);
    else if (mlirLocationIsAFused(location) && mlirLocationFusedGetNumLocations(location) > 0)
      location = firstOfFused(location);
    else
      return location;
  }
}

MlirOperation tileParentOp(MlirOperation op, bool (*isA)(MlirOperation op)) {
  MlirOperation parent = mlirOperationGetParentOperation(op);
  while (!mlirOperationIsNull(parent) && !isA(parent))
    parent = mlirOperationGetParentOperation(parent);
  return parent;
}

bool tileIsWithin(MlirOperation op, MlirOperation around) {
  while (!mlirOperationIsNull(op) && !mlirOperationEqual(op, around))
    op = mlirOperationGetParentOperation(op);
  return !mlirOperationIsNull(op);
}

MlirOperation tileFindSymbol(MlirOperation from, const char *name) {
  return mlirExtSymbolLookup(from, mlirFlatSymbolRefAttrGet(mlirOperationGetContext(from), tileString(name)));
}

static bool isTaken(MlirOperation from, const char *stem, int number, char *name, size_t capacity) {
  snprintf(name, capacity, "%.80s_%d", stem, number);
  return !mlirOperationIsNull(tileFindSymbol(from, name));
}

// Found by bisection: a look-up walks the module, and names of one stem are taken without gaps.
MlirAttribute tileFreshSymbol(MlirOperation from, const char *stem) {
  char name[96];
  int taken = -1, free = 0;
  while (isTaken(from, stem, free, name, sizeof name)) {
    taken = free;
    free = 2 * free + 1;
  }
  while (free - taken > 1) {
    int middle = taken + (free - taken) / 2;
    *(isTaken(from, stem, middle, name, sizeof name) ? &taken : &free) = middle;
  }
  isTaken(from, stem, free, name, sizeof name);
  return mlirStringAttrGet(mlirOperationGetContext(from), tileString(name));
}

bool tileSymbolIsPublic(MlirOperation symbol) {
  MlirAttribute visibility = tileOpAttribute(symbol, "sym_visibility");
  return mlirAttributeIsNull(visibility) || tileStringEquals(mlirStringAttrGetValue(visibility), "public");
}

MlirBlock tileOnlyBlock(MlirRegion region) {
  MlirBlock block = mlirRegionGetFirstBlock(region);
  bool alone = !mlirBlockIsNull(block) && mlirBlockIsNull(mlirBlockGetNextInRegion(block));
  return alone ? block : (MlirBlock){NULL};
}

bool tileHasOneUse(MlirValue value) {
  MlirOpOperand use = mlirValueGetFirstUse(value);
  return !mlirOpOperandIsNull(use) && mlirOpOperandIsNull(mlirOpOperandGetNextUse(use));
}

bool tileHasUses(MlirValue value, int count) {
  for (MlirOpOperand use = mlirValueGetFirstUse(value); !mlirOpOperandIsNull(use); use = mlirOpOperandGetNextUse(use))
    --count;
  return count == 0;
}

bool tileIsDefinedIn(MlirValue value, MlirBlock block) {
  MlirBlock owner = mlirValueIsABlockArgument(value) ? mlirBlockArgumentGetOwner(value)
                                                     : mlirOperationGetBlock(mlirOpResultGetOwner(value));
  return mlirBlockEqual(owner, block);
}

unsigned tileElementWidth(MlirType element) {
  if (mlirTypeIsAInteger(element))
    return mlirIntegerTypeGetWidth(element);
  return mlirTypeIsAFloat(element) ? mlirFloatTypeGetWidth(element) : 0;
}

int64_t tileMemoryBytes(MlirType shaped) { return (tileMemoryBits(mlirShapedTypeGetElementType(shaped)) + 7) / 8; }

bool tileConstantIndex(MlirValue value, int64_t *constant) {
  MlirOperation op = tileDefiningOp(value);
  if (!arithConstantOpIsA(op))
    return false;
  MlirAttribute attribute = tileOpAttribute(op, "value");
  if (!mlirAttributeIsAInteger(attribute))
    return false;
  *constant = mlirIntegerAttrGetValueInt(attribute);
  return true;
}

MlirAttribute tileListedConstant(MlirValue value) {
  MlirOperation op = tileDefiningOp(value);
  MlirAttribute elements = arithConstantOpIsA(op) ? arithConstantOpGetValue(op) : mlirAttributeGetNull();
  bool isListed = !mlirAttributeIsNull(elements) && mlirAttributeIsASparseElements(elements);
  return isListed ? elements : mlirAttributeGetNull();
}

bool tileConstantFloat(MlirValue value, double *constant) {
  MlirOperation op = tileDefiningOp(value);
  MlirAttribute attribute = arithConstantOpIsA(op) ? tileOpAttribute(op, "value") : mlirAttributeGetNull();
  if (!mlirAttributeIsNull(attribute) && mlirAttributeIsADenseElements(attribute) &&
      mlirDenseElementsAttrIsSplat(attribute))
    attribute = mlirDenseElementsAttrGetSplatValue(attribute);
  if (mlirAttributeIsNull(attribute) || !mlirAttributeIsAFloat(attribute))
    return false;
  *constant = mlirFloatAttrGetValueDouble(attribute);
  return true;
}

bool tileIsPlusZero(MlirValue value) {
  double number;
  return tileConstantFloat(value, &number) && number == 0 && !signbit(number);
}

//===--- lists of ops -------------------------------------------------------===//
void tileOpsAppend(TileOps *ops, MlirOperation op) {
  if (ops->count == ops->capacity) {
    ops->capacity = ops->capacity ? 2 * ops->capacity : 16;
    ops->items = realloc(ops->items, sizeof *ops->items * (size_t)ops->capacity);
  }
  ops->items[ops->count++] = op;
}

void tileOpsFree(TileOps *ops) {
  free(ops->items);
  *ops = (TileOps){0};
}

typedef struct Collector {
  TileOps ops;
  const char *name;
  bool (*isA)(MlirOperation op); // in place of the name; null: none
} Collector;

static MlirWalkResult collect(MlirOperation op, void *userData) {
  Collector *collector = userData;
  if (collector->isA ? collector->isA(op) : !collector->name || tileOpIs(op, collector->name))
    tileOpsAppend(&collector->ops, op);
  return MlirWalkResultAdvance;
}

TileOps tileCollect(MlirOperation root, const char *name) {
  Collector collector = {.name = name};
  mlirOperationWalk(root, collect, &collector, MlirWalkPostOrder);
  return collector.ops;
}

TileOps tileCollectOps(MlirOperation root, bool (*isA)(MlirOperation op)) {
  Collector collector = {.isA = isA};
  mlirOperationWalk(root, collect, &collector, MlirWalkPostOrder);
  return collector.ops;
}

//===--- text ---------------------------------------------------------------===//

void tileTextAppend(MlirStringRef piece, void *text) { tessera_text_append(text, piece.data, piece.length); }

typedef struct Writer {
  char *buffer;
  size_t capacity, used;
  bool isFull;
} Writer;

static void append(MlirStringRef text, void *userData) {
  Writer *writer = userData;
  size_t room = writer->capacity - 1 - writer->used;
  size_t length = text.length < room ? text.length : room;
  memcpy(writer->buffer + writer->used, text.data, length);
  writer->used += length;
  writer->isFull |= length < text.length;
}

// Ends the text; what did not fit leaves a mark.
static const char *finish(Writer *writer) {
  static const char mark[] = "…";
  size_t last = writer->capacity - sizeof mark;
  writer->buffer[writer->used] = 0;
  if (writer->isFull && writer->capacity >= sizeof mark) {
    while (last > 0 && ((unsigned char)writer->buffer[last] & 0xC0) == 0x80) // not within a UTF-8 character
      --last;
    memcpy(writer->buffer + last, mark, sizeof mark);
  }
  return writer->buffer;
}

const char *tileTypeText(MlirType type, char *buffer, size_t capacity) {
  Writer writer = {.buffer = buffer, .capacity = capacity};
  mlirTypePrint(type, append, &writer);
  return finish(&writer);
}

const char *tileAttributeText(MlirAttribute attribute, char *buffer, size_t capacity) {
  Writer writer = {.buffer = buffer, .capacity = capacity};
  mlirAttributePrint(attribute, append, &writer);
  return finish(&writer);
}

// mlir-c has no constructor of this attribute.
MlirAttribute tileExternAttribute(MlirType type) {
  char text[512];
  int length = snprintf(text, sizeof text, "#ml_program.extern : ");
  tileTypeText(type, text + length, sizeof text - (size_t)length);
  return mlirAttributeParseGet(mlirTypeGetContext(type), tileString(text));
}

const unsigned char *tileElementsBytes(MlirAttribute attribute, size_t *size) {
  return mlirExtElementsGetBytes(attribute, size);
}

int64_t tileLlvmArraySize(MlirType type) { return mlirExtLLVMArrayTypeGetNumElements(type); }
