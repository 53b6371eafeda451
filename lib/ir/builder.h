// Builds IR from C so that passes read like C. A builder holds the insertion point and the location of new ops.
//
//   TileBuilder b = tileBuilderBefore(op);            // or tileBuilderAtEnd(block, location)
//   MlirValue sum = tileBuildValue(&b, "arith.addf", type, 2, (MlirValue[]){x, y}, NULL);
//   MlirValue c1 = tileBuildIndex(&b, 1);
//
// If `rewriter` is set (inside a pattern), the builder reports each insertion to the rewriter.
#pragma once

#include "lib/capi/common.h"

typedef struct TileMemo TileMemo;
typedef struct TileBuilder {
  MlirContext context;
  MlirLocation location;
  MlirBlock block;
  MlirOperation before;      // null: at the end of `block`
  MlirRewriterBase rewriter; // null: none
  TileMemo *memo;            // null: none
} TileBuilder;

typedef struct TileAttributeEntry {
  const char *name; // null ends a list
  MlirAttribute value;
} TileAttributeEntry;

TileBuilder tileBuilderBefore(MlirOperation op);
TileBuilder tileBuilderAfter(MlirOperation op);
TileBuilder tileBuilderAtStart(MlirBlock block, MlirLocation location);
TileBuilder tileBuilderAtEnd(MlirBlock block, MlirLocation location);
TileBuilder tileBuilderAtTop(MlirOperation module);
// Makes a region of one block with these arguments. Returns a builder at the end of the block, at `around`'s location.
TileBuilder tileBuilderInRegion(const TileBuilder *around, MlirRegion *region, intptr_t count,
                                const MlirType *arguments);
TileBuilder tileBuilderInPattern(MlirPatternRewriter rewriter, MlirOperation at);

// Any op by name. `attributes` is null or ends with a null name; entries without a value are skipped. The op takes over
// `regions`. numResults -1: the result types are inferred. Returns a null op, after a diagnostic, if inference fails.
MlirOperation tileBuild(TileBuilder *builder, const char *name, intptr_t numOperands, const MlirValue *operands,
                        intptr_t numResults, const MlirType *results, const TileAttributeEntry *attributes,
                        intptr_t numRegions, const MlirRegion *regions);
// A copy of `like`, with its attributes and the bodies of its regions, on other operands and with other result types.
MlirOperation tileBuildLike(TileBuilder *builder, MlirOperation like, const MlirValue *operands, intptr_t numResults,
                            const MlirType *results);
// An op of another name, on the operands of `op` and with its result types, in its place: for tables of ops that stand
// for others. `attribute`: one that it has, by its text; null: none. `op` is gone.
MlirOperation tileBuildRenamed(MlirOperation op, const char *name, const char *attribute, const char *text);
// An op with one result and no regions; returns that result.
MlirValue tileBuildValue(TileBuilder *builder, const char *name, MlirType result, intptr_t numOperands,
                         const MlirValue *operands, const TileAttributeEntry *attributes);
// Builds an op from the operand and result groups of the op's row. The generated tileMmaOpCreate calls this function.
// `operandSegments`, `resultSegments`: the op keeps the groups' sizes in an attribute. numResultGroups -1: inferred.
typedef struct TileValueGroup {
  intptr_t count;
  const MlirValue *values;
} TileValueGroup;
typedef struct TileTypeGroup {
  intptr_t count;
  const MlirType *types; // null: the types of `like`
  const MlirValue *like;
} TileTypeGroup;
typedef struct TileBuildGroups {
  intptr_t numOperandGroups, numResultGroups, numRegions;
  const TileValueGroup *operands;
  const TileTypeGroup *results;
  const TileAttributeEntry *attributes;
  const MlirRegion *regions; // null ones become empty regions
  bool operandSegments, resultSegments;
  intptr_t numMoreRegions, numSuccessors, numMoreSuccessors;
  const MlirRegion *moreRegions; // behind `regions`
  const MlirBlock *successors, *moreSuccessors;
} TileBuildGroups;
MlirOperation tileBuildGroups(TileBuilder *builder, const char *name, const TileBuildGroups *groups);
// The integer attribute of `bits` bits that stands for a C enum's value.
MlirAttribute tileBuildEnum(const TileBuilder *builder, unsigned bits, int64_t value);
// llvm.alloca of one element and llvm.getelementptr of element number `index`.
MlirValue tileBuildAlloca(TileBuilder *builder, MlirType element);
MlirValue tileBuildElementAddress(TileBuilder *builder, MlirValue base, MlirType element, int32_t index);
// builtin.unrealized_conversion_cast of one value; cf.assert.
MlirValue tileBuildConversionCast(TileBuilder *builder, MlirType type, MlirValue value);
void tileBuildAssert(TileBuilder *builder, MlirValue condition, const char *message);
// A constant global of the text and its end ('\0'), internal to the module, and its address.
void tileBuildText(TileBuilder *builder, const char *symbol, const char *text);
MlirValue tileBuildTextAddress(TileBuilder *builder, const char *symbol);
// The address of a new text constant of the module, named stem_0, stem_1, …
MlirValue tileBuildNewText(TileBuilder *builder, MlirOperation module, const char *stem, const char *text);
// llvm.call of the function of that name. `result` null: the function returns nothing, and the call gives a null value.
MlirValue tileBuildLlvmCall(TileBuilder *builder, const char *function, MlirType result, intptr_t count,
                            const MlirValue *operands);
// llvm.func of that name and type (mlirLLVMFunctionTypeGet) without a body; a private func.func without a body.
void tileBuildLlvmDeclaration(TileBuilder *builder, const char *function, MlirType type);
void tileBuildDeclaration(TileBuilder *builder, const char *function, MlirType type);
// func.call of the function of that name, which returns nothing.
void tileBuildCall(TileBuilder *builder, const char *function, intptr_t count, const MlirValue *operands);
// Inserts a detached op at the builder's place (through the rewriter if there is one) and returns it.
MlirOperation tileBuilderInsert(TileBuilder *builder, MlirOperation op);

// Constants and index arithmetic. Arithmetic folds on constants on the spot.
MlirValue tileBuildIndex(TileBuilder *builder, int64_t value);
MlirValue tileBuildInteger(TileBuilder *builder, MlirType type, int64_t value);
MlirValue tileBuildFloat(TileBuilder *builder, MlirType type, double value); // scalar, vector or tensor: splat
MlirValue tileBuildConstant(TileBuilder *builder, MlirAttribute value);      // of the attribute's type
MlirValue tileBuildAdd(TileBuilder *builder, MlirValue a, MlirValue b);      // of one type: integers or index
MlirValue tileBuildSub(TileBuilder *builder, MlirValue a, MlirValue b);
MlirValue tileBuildMul(TileBuilder *builder, MlirValue a, MlirValue b);
MlirValue tileBuildMin(TileBuilder *builder, MlirValue a, MlirValue b); // signed
MlirValue tileBuildMax(TileBuilder *builder, MlirValue a, MlirValue b);
MlirValue tileBuildCeilDiv(TileBuilder *builder, MlirValue a, MlirValue b);
MlirValue tileBuildDim(TileBuilder *builder, MlirValue shaped, int64_t axis);  // memref.dim or tensor.dim
MlirValue tileBuildSize(TileBuilder *builder, MlirValue shaped, int64_t axis); // a constant where the type knows it

// memref.alloc of constant sizes, aligned as bufferization aligns.
MlirValue tileBuildBuffer(TileBuilder *builder, MlirType memref);

// tensor.empty of a type whose sizes are those of `like`, and a matrix with its axes swapped (linalg.transpose).
MlirValue tileBuildEmptyLike(TileBuilder *builder, MlirType type, MlirValue like);
MlirValue tileBuildSwapped(TileBuilder *builder, MlirValue matrix);
// iterator_types of a linalg.generic: parallel loops, then reductions.
MlirAttribute tileBuildIteratorTypes(const TileBuilder *builder, intptr_t parallel, intptr_t reductions);

// An attribute by its text, which must parse: for the functions that the generator makes from lib/ir/upstream.def.
MlirAttribute tileBuildAttribute(const TileBuilder *builder, const char *text);
__attribute__((format(printf, 2, 3))) MlirAttribute tileBuildAttributeWith(const TileBuilder *builder,
                                                                           const char *format, ...);

// For code that builds thousands of ops. With a memo, each constant is one op at the start of `block`, and each text is
// parsed once. `block` must dominate every insertion point. The caller destroys the memo after the last builder.
TileMemo *tileMemoCreate(MlirBlock block);
void tileMemoDestroy(TileMemo *memo);
MlirValue tileMemoFind(const TileMemo *memo, const void *key); // null: not there
void tileMemoAdd(TileMemo *memo, const void *key, MlirValue value);
MlirBlock tileMemoBlock(const TileMemo *memo);

// scf.for with iteration arguments. The body's block has [induction variable, arguments…] and no terminator yet:
// fill it with a builder at its end, then tileBuildYield.
MlirOperation tileBuildFor(TileBuilder *builder, MlirValue lower, MlirValue upper, MlirValue step, intptr_t count,
                           const MlirValue *initial, MlirBlock *body);
void tileBuildYield(TileBuilder *builder, intptr_t count, const MlirValue *values); // scf.yield
