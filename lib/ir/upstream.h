// Upstream's ops as numbers, for code that chooses an op at run time. The rows are in lib/ir/upstream.def; each
// generated header "upstream/DIALECT.h" (builders, accessors, IsA) includes this one.
//
// The enumerators of all upstream dialects are numbers of one sequence, so that one switch may span dialects:
//   switch (tileUpstreamKind(op)) { case ArithOp_AddF: case MathOp_Exp: … case LlvmOp_FAdd: … }
#pragma once

#include "lib/ir/builder.h"

typedef int TileUpstream; // ArithOp_AddF, MathOp_Exp, …; -1: none
enum { TileUpstream_None = -1 };

TileUpstream tileUpstreamKind(MlirOperation op);         // None for null and for ops without a row
TileUpstream tileUpstreamKindOfName(MlirStringRef name); // "arith.addf"
const char *tileUpstreamName(TileUpstream kind);         // "arith.addf"
// The number of the text that the attribute prints as; -1: none of them. `texts` ends with null.
int tileUpstreamWord(MlirAttribute attribute, const char *const *texts);
intptr_t tileUpstreamNumOps(void);
unsigned tileUpstreamProperties(TileUpstream kind); // TileProperty bits of the row; 0 of None
// What C, CUDA C++ and HIP say for an op: the column `source` of its row, in which {#N} is operand N of the row and
// {=N} a result. tileUpstreamSourceOperands: which operands of the op are operand N of the row.
typedef struct TileUpstreamSource {
  const char *text; // null: they cannot say it
  int numGroups, loose;
  bool hasSegments;
} TileUpstreamSource;
const TileUpstreamSource *tileUpstreamSource(TileUpstream kind); // null for None
void tileUpstreamSourceOperands(MlirOperation op, const TileUpstreamSource *source, intptr_t group, intptr_t *begin,
                                intptr_t *count);
bool tileUpstreamIsOneOf(MlirOperation op, const TileUpstream *kinds); // a list that ends with None

// An op whose only result has the type of its (first) operand: arith.addf, math.exp, llvm.fadd.
MlirValue tileBuildUnary(TileBuilder *builder, TileUpstream kind, MlirValue operand);
MlirValue tileBuildBinary(TileBuilder *builder, TileUpstream kind, MlirValue lhs, MlirValue rhs);
// An op of one operand and one result of another type: arith.extf, arith.index_cast, memref.cast.
MlirValue tileBuildCast(TileBuilder *builder, TileUpstream kind, MlirValue operand, MlirType type);

// The op of arith that a combining kind of vector (null: add) stands for; none: the kind has no meaning for the type.
TileUpstream tileVectorCombiner(MlirAttribute kindOrNull, bool isFloat);

// A number, or a vector of numbers, as another integer, index or float type: widened or cut by the op of arith that the
// widths say; the value itself where the types are equal.
MlirValue tileBuildIntegerCast(TileBuilder *builder, MlirValue value, MlirType element, bool isSigned); // or index
MlirValue tileBuildFloatCast(TileBuilder *builder, MlirValue value, MlirType element);
MlirType tileNumberType(MlirValue value);                    // its element, of a vector
MlirType tileNumberTypeAs(MlirValue like, MlirType element); // the element in like's shape

// For generated accessors. Values [begin, begin + count) of a group among `total`; `loose` is the only optional or
// variadic group, -1: none. Segment: the op keeps the groups' sizes; an op without them has groups of one value, and
// from `loose` on groups of one size (SameVariadicResultSize).
void tileUpstreamGroup(intptr_t total, intptr_t numGroups, intptr_t loose, intptr_t group, intptr_t *begin,
                       intptr_t *count);
void tileUpstreamOperandSegment(MlirOperation op, intptr_t numGroups, intptr_t loose, intptr_t group, intptr_t *begin,
                                intptr_t *count);
void tileUpstreamResultSegment(MlirOperation op, intptr_t numGroups, intptr_t loose, intptr_t group, intptr_t *begin,
                               intptr_t *count);
