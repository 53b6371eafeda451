// Small questions and answers about IR that every pass asks.
#pragma once

#include "lib/capi/common.h"
#include "lib/support/text.h"

#include <stdarg.h>
#include <string.h>

// Inline, so that the length of a literal is a constant.
static inline MlirStringRef tileString(const char *text) { return mlirStringRefCreate(text, strlen(text)); }
static inline bool tileStringEquals(MlirStringRef string, const char *text) {
  return strlen(text) == string.length && !memcmp(string.data, text, string.length);
}
static inline bool tileStringStartsWith(MlirStringRef string, const char *start) {
  return string.length >= strlen(start) && !memcmp(string.data, start, strlen(start));
}

// An MlirStringCallback for what mlir-c prints: `text` is a tessera_text_t.
void tileTextAppend(MlirStringRef piece, void *text);
// A printf text of any length. The caller frees the text.
char *tileFormatText(const char *format, va_list arguments) __attribute__((format(printf, 1, 0)));
// Errors, warnings, remarks at an op ("'tile.mma' op …") with printf formats. tileError always returns false.
bool tileError(MlirOperation op, const char *format, ...) __attribute__((format(printf, 2, 3)));
bool tileErrorAt(MlirLocation location, const char *format, ...) __attribute__((format(printf, 2, 3)));
// The note points at `where`.
bool tileErrorWithNote(MlirOperation op, MlirLocation where, const char *note, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
void tileWarningAt(MlirLocation location, const char *format, ...) __attribute__((format(printf, 2, 3)));
void tileWarning(MlirOperation op, const char *format, ...) __attribute__((format(printf, 2, 3)));
void tileRemark(MlirOperation op, const char *format, ...) __attribute__((format(printf, 2, 3)));
bool tileEmit(MlirExtEmitter emitter, const char *format, ...) __attribute__((format(printf, 2, 3))); // returns false

static inline MlirStringRef tileOpName(MlirOperation op) { return mlirIdentifierStr(mlirOperationGetName(op)); }
static inline bool tileOpIs(MlirOperation op, const char *name) { // false for a null op
  return !mlirOperationIsNull(op) && tileStringEquals(tileOpName(op), name);
}
static inline bool tileOpIsOfDialect(MlirOperation op, const char *dialect) { // "gpu"; false for a null op
  return !mlirOperationIsNull(op) && tileStringStartsWith(tileOpName(op), dialect) &&
         tileOpName(op).data[strlen(dialect)] == '.';
}
MlirOperation tileDefiningOp(MlirValue value);                     // null for block arguments
MlirAttribute tileOpAttribute(MlirOperation op, const char *name); // inherent or discardable; null when absent
// arith's fastmath flags, as bits of arith::FastMathFlags. tileOpAllows: whether the op's fastmath has the flag, or is
// `fast` (docs/numerics.md §7).
typedef enum TileFastMath {
  TileFastMath_None = 0,
  TileFastMath_Reassociate = 1,
  TileFastMath_NoNans = 2,
  TileFastMath_NoInfs = 4,
  TileFastMath_NoSignedZeros = 8,
  TileFastMath_Approximate = 64
} TileFastMath;
bool tileOpAllows(MlirOperation op, TileFastMath flag);
MlirAttribute tileFastMathAttr(MlirContext context, TileFastMath flag); // #arith.fastmath<afn>
// Whether the op has the flag nsw (signed) or nuw (unsigned). Its result is then poison if the number overflows.
typedef enum TileOverflow { TileOverflow_Signed = 1, TileOverflow_Unsigned = 2 } TileOverflow;
bool tileOpForbids(MlirOperation op, TileOverflow flag);
MlirType tileOperandType(MlirOperation op, intptr_t index);
MlirType tileResultType(MlirOperation op, intptr_t index);
// The only operand or result of an op of any kind; an assertion fails if there are several. Code that knows the op's
// kind asks the generated accessors: tileLoadOpGetSource. Nobody counts positions (test/laws/op_name_laws.py).
MlirValue tileOnlyOperand(MlirOperation op);
MlirValue tileOnlyResult(MlirOperation op);
MlirType tileOnlyOperandType(MlirOperation op);
MlirType tileOnlyResultType(MlirOperation op);
// For ops whose first operand or result stands for all of them (formats of elements, inputs of one shape), or is the
// tile that ops of several kinds transform (tile.reshape, tile.slice).
MlirValue tileFirstOperand(MlirOperation op);
void tileSetFirstOperand(MlirOperation op, MlirValue value);
MlirType tileFirstOperandType(MlirOperation op);
MlirValue tileFirstResult(MlirOperation op);
MlirType tileFirstResultType(MlirOperation op);
// The sides of an op of any kind that combines two values: arith.addf, llvm.mul, math.powf.
MlirValue tileBinaryLhs(MlirOperation op);
MlirValue tileBinaryRhs(MlirOperation op);
MlirOperation tileParentOp(MlirOperation op, bool (*isA)(MlirOperation op)); // nearest enclosing; null: none
bool tileIsWithin(MlirOperation op, MlirOperation around);                   // or is that op
MlirOperation tileFindSymbol(MlirOperation from, const char *name);          // in the symbol tables around; null: none
// A name that no symbol around `from` has: stem_0, stem_1, …
MlirAttribute tileFreshSymbol(MlirOperation from, const char *stem);
bool tileSymbolIsPublic(MlirOperation symbol);
MlirBlock tileOnlyBlock(MlirRegion region);
bool tileHasOneUse(MlirValue value);
bool tileHasUses(MlirValue value, int count);
bool tileIsDefinedIn(MlirValue value, MlirBlock block);
bool tileConstantIndex(MlirValue value, int64_t *constant); // arith.constant of index or integer type
bool tileConstantFloat(MlirValue value, double *constant);  // arith.constant of one float, a splat too
bool tileIsPlusZero(MlirValue value);                       // such a constant of 0 that is not -0

unsigned tileElementWidth(MlirType element); // bits of an integer or a float; 0 of others
// In memory, where index and pointers have 64 bits.
static inline unsigned tileMemoryBits(MlirType element) {
  return tileElementWidth(element) ? tileElementWidth(element) : 64;
}
int64_t tileMemoryBytes(MlirType shaped); // of one element

// A growing list of ops, as walks collect them.
typedef struct TileOps {
  MlirOperation *items;
  intptr_t count, capacity;
} TileOps;
void tileOpsAppend(TileOps *ops, MlirOperation op);
void tileOpsFree(TileOps *ops);
// All ops of that name under `root` (null: every op), in walk order (post order). The caller frees the list.
TileOps tileCollect(MlirOperation root, const char *name);
// All ops under `root` for which `isA` is true: tileCollectOps(module, tileKernelOpIsA). The caller frees the list.
TileOps tileCollectOps(MlirOperation root, bool (*isA)(MlirOperation op));

// The bytes of a constant that is not a splat, or of a resource (lib/capi/elements.h), which own them; else null.
// The number of elements of !llvm.array; -1 for any other type.
int64_t tileLlvmArraySize(MlirType type);
const unsigned char *tileElementsBytes(MlirAttribute attribute, size_t *size);

// Where the op was written: of an op that was inlined, its place in the function; of fused ops, that of the first one.
MlirLocation tileWrittenAt(MlirOperation op);

// `#ml_program.extern : TYPE`: the value of a global whose data lie elsewhere.
MlirAttribute tileExternAttribute(MlirType type);

// Type text for messages: writes "tensor<4xf32>" (cut off with … at `capacity`) and returns `buffer`.
const char *tileTypeText(MlirType type, char *buffer, size_t capacity);
const char *tileAttributeText(MlirAttribute attribute, char *buffer, size_t capacity);
