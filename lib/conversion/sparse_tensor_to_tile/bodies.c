// linalg.generic on stored tensors: its body, read as what is present where and what value that has. A product is there
// where both factors are, a sum where either is; sparse_tensor.binary, unary, select and reduce say it themselves.
//
// Expects: one result. Leaves: for a dense result one kernel; for an encoded one entries that are stored
// (stored_entries.c). Where a reduction gives one place several entries, they are sorted and combined by the body's
// last op. Upstream's meaning: a reduction over what is stored leaves a dense result as it is where nothing is; a body
// that does not read the result so far begins with zeros.
#include "lib/conversion/sparse_tensor_to_tile/lowering.h"

#include "lib/ir/support.h"
#include "lib/ir/upstream.h"
#include "upstream/arith.h"
#include "upstream/bufferization.h"
#include "upstream/linalg.h"
#include "upstream/math.h"
#include "upstream/memref.h"
#include "upstream/scf.h"
#include "upstream/sparse_tensor.h"
#include "upstream/tensor.h"

#include <stdlib.h>

enum { MaxNames = 256, MaxCaptured = 16 };

typedef struct Name {
  MlirValue from;
  NestTerm term;
} Name;

typedef struct Body {
  MlirOperation op;
  MlirBlock block;
  intptr_t numInputs;
  bool readsOutput;   // as an operand: an encoded one that is not empty
  bool combinesLater; // several entries may have one place
  MlirValue captured[MaxCaptured];
  intptr_t numCaptured, numNames;
  Name names[MaxNames];
  bool isFull;
  const NestPlace *place;
  MlirValue result; // a dense one, inside of the kernel
  NestOperand output;
  LevelStorage storages[NestMaxOperands]; // of the operands, and their values on the host
  MlirValue values[NestMaxOperands][LevelMaxValues];
  bool isInOrder;
} Body;

//===--- ops ------------------------------------------------------------------------===//

static MlirOperation yieldOf(MlirBlock block) { return mlirBlockGetTerminator(block); }
static bool isProduct(MlirOperation op) {
  return tileUpstreamIsOneOf(op, (const TileUpstream[]){ArithOp_MulF, ArithOp_MulI, ArithOp_AndI, TileUpstream_None});
}
static bool isDifference(MlirOperation op) {
  return tileUpstreamIsOneOf(op, (const TileUpstream[]){ArithOp_SubF, ArithOp_SubI, TileUpstream_None});
}
static bool isSum(MlirOperation op) {
  return isDifference(op) || tileUpstreamIsOneOf(op, (const TileUpstream[]){ArithOp_AddF, ArithOp_AddI, ArithOp_OrI,
                                                                            ArithOp_XOrI, TileUpstream_None});
}
// A comparison that does not hold of two zeros: false where neither side is there. One that holds is true there, so it
// is there at every place, and no format leaves a place out.
static bool isComparison(MlirOperation op) {
  if (arithCmpIOpIsA(op)) {
    ArithCmpI predicate = arithCmpIOpGetPredicateValue(op);
    return predicate == ArithCmpI_Ne || predicate == ArithCmpI_Slt || predicate == ArithCmpI_Sgt ||
           predicate == ArithCmpI_Ult || predicate == ArithCmpI_Ugt;
  }
  if (!arithCmpFOpIsA(op))
    return false;
  ArithCmpF predicate = arithCmpFOpGetPredicateValue(op);
  return predicate == ArithCmpF_Ogt || predicate == ArithCmpF_Olt || predicate == ArithCmpF_One ||
         predicate == ArithCmpF_Ugt || predicate == ArithCmpF_Ult || predicate == ArithCmpF_Une ||
         predicate == ArithCmpF_Uno || predicate == ArithCmpF_False;
}
// Zero divided or shifted stays zero.
static bool isScaling(MlirOperation op) {
  return tileUpstreamIsOneOf(op, (const TileUpstream[]){ArithOp_DivF, ArithOp_DivSI, ArithOp_DivUI, ArithOp_ShLI,
                                                        ArithOp_ShRSI, ArithOp_ShRUI, TileUpstream_None});
}
// What upstream's sparsifier takes as keeping zero.
static bool keepsZero(MlirOperation op) {
  return tileUpstreamIsOneOf(
      op, (const TileUpstream[]){ArithOp_NegF,    ArithOp_ExtF,      ArithOp_ExtSI,  ArithOp_ExtUI,  ArithOp_TruncF,
                                 ArithOp_TruncI,  ArithOp_SIToFP,    ArithOp_UIToFP, ArithOp_FPToSI, ArithOp_FPToUI,
                                 ArithOp_Bitcast, ArithOp_IndexCast, MathOp_AbsF,    MathOp_AbsI,    MathOp_Ceil,
                                 MathOp_Floor,    MathOp_Sqrt,       MathOp_ExpM1,   MathOp_Log1p,   MathOp_Sin,
                                 MathOp_Tanh,     TileUpstream_None});
}

static MlirBlock blockOf(MlirRegion region) {
  return mlirRegionIsNull(region) ? (MlirBlock){NULL} : mlirRegionGetFirstBlock(region);
}
static bool hasAttribute(MlirOperation op, const char *name) { return !mlirAttributeIsNull(tileOpAttribute(op, name)); }

// Which value a binary op gives where only one side is there: through its region, as it is, or none.
typedef struct Side {
  MlirBlock block;
  bool isKept;
} Side;
static Side leftOf(MlirOperation op) {
  return (Side){blockOf(sparseTensorBinaryOpGetLeftRegion(op)), hasAttribute(op, "left_identity")};
}
static Side rightOf(MlirOperation op) {
  return (Side){blockOf(sparseTensorBinaryOpGetRightRegion(op)), hasAttribute(op, "right_identity")};
}
static bool sideIsThere(Side side) { return side.isKept || !mlirBlockIsNull(side.block); }

//===--- what may be there ------------------------------------------------------------===//

typedef enum Presence { Presence_Never, Presence_Maybe, Presence_Neutral } Presence;

static Presence both(Presence a, Presence b) {
  return a == Presence_Neutral ? b : b == Presence_Neutral ? a : a < b ? a : b;
}
static Presence either(Presence a, Presence b) {
  return a == Presence_Neutral ? b : b == Presence_Neutral ? a : a > b ? a : b;
}

static bool isOfBody(const Body *body, MlirValue value) {
  if (mlirValueIsABlockArgument(value))
    return tileIsWithin(mlirBlockGetParentOperation(mlirBlockArgumentGetOwner(value)), body->op);
  MlirOperation owner = mlirOpResultGetOwner(value);
  return tileIsWithin(owner, body->op) && !mlirOperationEqual(owner, body->op);
}

static Presence presenceOf(const Body *body, MlirValue value, const bool *present) {
  if (!isOfBody(body, value))
    return Presence_Maybe;
  if (mlirValueIsABlockArgument(value)) {
    intptr_t number = mlirBlockArgumentGetArgNumber(value);
    if (!mlirBlockEqual(mlirBlockArgumentGetOwner(value), body->block))
      return Presence_Maybe;
    if (number < body->numInputs || body->readsOutput)
      return present[number] ? Presence_Maybe : Presence_Never;
    return Presence_Neutral;
  }
  MlirOperation op = tileDefiningOp(value);
  if (sparseTensorBinaryOpIsA(op)) {
    Presence x = presenceOf(body, sparseTensorBinaryOpGetX(op), present);
    Presence y = presenceOf(body, sparseTensorBinaryOpGetY(op), present);
    bool meet = !mlirBlockIsNull(blockOf(sparseTensorBinaryOpGetOverlapRegion(op))) && both(x, y) != Presence_Never;
    return meet || (x != Presence_Never && sideIsThere(leftOf(op))) || (y != Presence_Never && sideIsThere(rightOf(op)))
               ? Presence_Maybe
               : Presence_Never;
  }
  if (sparseTensorUnaryOpIsA(op)) {
    Presence x = presenceOf(body, sparseTensorUnaryOpGetX(op), present);
    bool stays = x != Presence_Never && !mlirBlockIsNull(blockOf(sparseTensorUnaryOpGetPresentRegion(op)));
    return stays || !mlirBlockIsNull(blockOf(sparseTensorUnaryOpGetAbsentRegion(op))) ? Presence_Maybe : Presence_Never;
  }
  if (sparseTensorSelectOpIsA(op))
    return presenceOf(body, sparseTensorSelectOpGetX(op), present);
  if (sparseTensorReduceOpIsA(op))
    return either(presenceOf(body, sparseTensorReduceOpGetX(op), present),
                  presenceOf(body, sparseTensorReduceOpGetY(op), present));
  if (isProduct(op) || isSum(op) || isComparison(op)) {
    Presence x = presenceOf(body, tileBinaryLhs(op), present), y = presenceOf(body, tileBinaryRhs(op), present);
    return isProduct(op) ? both(x, y) : either(x, y);
  }
  if (isScaling(op))
    return presenceOf(body, tileBinaryLhs(op), present);
  return keepsZero(op) ? presenceOf(body, tileOnlyOperand(op), present) : Presence_Maybe;
}

// The side of the body's last op that is not what the result has so far; null where that op does not combine.
static MlirValue contributionOf(const Body *body, MlirOperation *combines) {
  MlirValue yielded = tileOnlyOperand(yieldOf(body->block)), so = mlirBlockGetArgument(body->block, body->numInputs);
  *combines = isOfBody(body, yielded) ? tileDefiningOp(yielded) : (MlirOperation){NULL};
  bool reduces = sparseTensorReduceOpIsA(*combines);
  if (mlirOperationIsNull(*combines) || (!reduces && mlirOperationGetNumOperands(*combines) != 2))
    return (MlirValue){NULL};
  MlirValue x = reduces ? sparseTensorReduceOpGetX(*combines) : tileBinaryLhs(*combines);
  MlirValue y = reduces ? sparseTensorReduceOpGetY(*combines) : tileBinaryRhs(*combines);
  return mlirValueEqual(x, so) ? y : mlirValueEqual(y, so) ? x : (MlirValue){NULL};
}

static bool mayBe(const LevelNest *nest, const bool *present) {
  const Body *body = nest->data;
  return presenceOf(body, tileOnlyOperand(yieldOf(body->block)), present) == Presence_Maybe;
}

//===--- values -----------------------------------------------------------------------===//

static NestTerm evaluate(Body *body, TileBuilder *b, MlirValue value);

static void setName(Body *body, MlirValue from, NestTerm term) {
  body->isFull |= body->numNames == MaxNames;
  if (!body->isFull)
    body->names[body->numNames++] = (Name){from, term};
}

static const NestTerm *nameOf(const Body *body, MlirValue value) {
  for (intptr_t i = body->numNames - 1; i >= 0; --i)
    if (mlirValueEqual(body->names[i].from, value))
      return &body->names[i].term;
  return NULL;
}

static MlirValue always(TileBuilder *b, MlirValue present) {
  return mlirValueIsNull(present) ? tileBuildInteger(b, mlirIntegerTypeGet(b->context, 1), 1) : present;
}
static MlirValue negate(TileBuilder *b, MlirValue condition) {
  return arithXOrIOpBuild(b, condition, tileBuildInteger(b, mlirIntegerTypeGet(b->context, 1), 1));
}

// What a region yields for these arguments.
static MlirValue through(Body *body, TileBuilder *b, MlirBlock block, const MlirValue *arguments) {
  for (intptr_t i = 0; i < mlirBlockGetNumArguments(block); ++i)
    setName(body, mlirBlockGetArgument(block, i), (NestTerm){arguments[i], {NULL}, false});
  return evaluate(body, b, tileOnlyOperand(yieldOf(block))).value;
}

typedef struct Region {
  Body *body;
  MlirBlock block;
  MlirValue arguments[2];
} Region;

static void buildRegion(TileBuilder *b, MlirValue *value, void *data) {
  const Region *region = data;
  intptr_t numNames = region->body->numNames; // what is named inside is not known outside
  *value = through(region->body, b, region->block, region->arguments);
  region->body->numNames = numNames;
}

// `otherwise`, or what the region yields where `condition` holds.
static MlirValue where(Body *body, TileBuilder *b, MlirValue condition, MlirBlock block, MlirValue x, MlirValue y,
                       MlirValue otherwise) {
  Region region = {body, block, {x, y}};
  sparseNestIf(b, condition, 1, &otherwise, buildRegion, NULL, &region);
  return otherwise;
}

static NestTerm evaluateBinary(Body *body, TileBuilder *b, MlirOperation op) {
  NestTerm x = evaluate(body, b, sparseTensorBinaryOpGetX(op)), y = evaluate(body, b, sparseTensorBinaryOpGetY(op));
  MlirValue p = always(b, x.present), q = always(b, y.present), meet = arithAndIOpBuild(b, p, q);
  MlirValue alone[] = {arithAndIOpBuild(b, p, negate(b, q)), arithAndIOpBuild(b, q, negate(b, p))};
  MlirValue values[] = {x.value, y.value}, present = tileBuildInteger(b, mlirIntegerTypeGet(b->context, 1), 0);
  MlirBlock overlap = blockOf(sparseTensorBinaryOpGetOverlapRegion(op));
  const Side sides[] = {leftOf(op), rightOf(op)};
  MlirValue result = sparseNestZero(b, tileOnlyResultType(op));
  for (int i = 0; i < 2; ++i) {
    if (!sideIsThere(sides[i]))
      continue;
    result = sides[i].isKept ? arithSelectOpBuild(b, alone[i], values[i], result)
                             : where(body, b, alone[i], sides[i].block, values[i], values[i], result);
    present = arithOrIOpBuild(b, present, alone[i]);
  }
  if (!mlirBlockIsNull(overlap)) {
    result = where(body, b, meet, overlap, x.value, y.value, result);
    present = arithOrIOpBuild(b, present, meet);
  }
  return (NestTerm){result, present, false};
}

static NestTerm evaluateUnary(Body *body, TileBuilder *b, MlirOperation op) {
  NestTerm x = evaluate(body, b, sparseTensorUnaryOpGetX(op));
  MlirBlock stays = blockOf(sparseTensorUnaryOpGetPresentRegion(op));
  MlirBlock comes = blockOf(sparseTensorUnaryOpGetAbsentRegion(op));
  MlirValue p = always(b, x.present), result = sparseNestZero(b, tileOnlyResultType(op));
  MlirValue absent = negate(b, p), none = tileBuildInteger(b, mlirIntegerTypeGet(b->context, 1), 0);
  if (!mlirBlockIsNull(stays))
    result = where(body, b, p, stays, x.value, x.value, result);
  if (!mlirBlockIsNull(comes))
    result = where(body, b, absent, comes, x.value, x.value, result);
  bool keeps = !mlirBlockIsNull(stays), adds = !mlirBlockIsNull(comes);
  return (NestTerm){result, keeps && adds ? (MlirValue){NULL} : keeps ? x.present : adds ? absent : none, false};
}

static NestTerm evaluateSelect(Body *body, TileBuilder *b, MlirOperation op) {
  NestTerm x = evaluate(body, b, sparseTensorSelectOpGetX(op));
  MlirValue stays = tileBuildInteger(b, mlirIntegerTypeGet(b->context, 1), 0);
  stays = where(body, b, always(b, x.present), blockOf(sparseTensorSelectOpGetRegion(op)), x.value, x.value, stays);
  return (NestTerm){x.value, stays, false};
}

static NestTerm evaluateReduce(Body *body, TileBuilder *b, MlirOperation op) {
  NestTerm x = evaluate(body, b, sparseTensorReduceOpGetX(op)), y = evaluate(body, b, sparseTensorReduceOpGetY(op));
  MlirBlock block = blockOf(sparseTensorReduceOpGetRegion(op));
  if (x.isNeutral || y.isNeutral) {
    NestTerm *so = x.isNeutral ? &x : &y, *other = x.isNeutral ? &y : &x;
    MlirValue value = where(body, b, always(b, other->present), block, x.value, y.value, so->value);
    return (NestTerm){value, other->present, false};
  }
  MlirValue p = always(b, x.present), q = always(b, y.present);
  MlirValue one = arithSelectOpBuild(b, p, x.value, y.value);
  return (NestTerm){where(body, b, arithAndIOpBuild(b, p, q), block, x.value, y.value, one),
                    sparseNestOr(b, x.present, y.present), false};
}

static MlirWalkResult renameOperands(MlirOperation op, void *data) {
  const Body *body = data;
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); ++i) {
    const NestTerm *name = nameOf(body, mlirOperationGetOperand(op, i));
    if (name)
      mlirOperationSetOperand(op, i, name->value);
  }
  return MlirWalkResultAdvance;
}

typedef struct Named {
  Body *body;
  TileBuilder *b;
  MlirOperation around;
} Named;

// Names what an op, and what is in it, reads from around it.
static MlirWalkResult nameOperands(MlirOperation op, void *data) {
  const Named *named = data;
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); ++i) {
    MlirValue value = mlirOperationGetOperand(op, i);
    MlirOperation owner = mlirValueIsABlockArgument(value)
                              ? mlirBlockGetParentOperation(mlirBlockArgumentGetOwner(value))
                              : mlirOpResultGetOwner(value);
    bool isOwn = tileIsWithin(owner, named->around) &&
                 (mlirValueIsABlockArgument(value) || !mlirOperationEqual(owner, named->around));
    if (!isOwn && !nameOf(named->body, value))
      evaluate(named->body, named->b, value);
  }
  return MlirWalkResultAdvance;
}

static MlirValue copy(Body *body, TileBuilder *b, MlirOperation op) {
  Named named = {body, b, op};
  mlirOperationWalk(op, nameOperands, &named, MlirWalkPreOrder);
  MlirOperation made = tileBuilderInsert(b, mlirOperationClone(op));
  mlirOperationWalk(made, renameOperands, body, MlirWalkPreOrder);
  return tileFirstResult(made);
}

// A sum where only one side is there is that side; a difference its negative, where only the right one is.
static NestTerm evaluateSum(Body *body, TileBuilder *b, MlirOperation op) {
  NestTerm x = evaluate(body, b, tileBinaryLhs(op)), y = evaluate(body, b, tileBinaryRhs(op));
  MlirValue value = copy(body, b, op);
  if (x.isNeutral || y.isNeutral)
    return (NestTerm){value, x.isNeutral ? y.present : x.present, false};
  if (!mlirValueIsNull(y.present))
    value = arithSelectOpBuild(b, y.present, value, x.value);
  if (!mlirValueIsNull(x.present)) {
    MlirType type = mlirValueGetType(value);
    MlirValue alone = !isDifference(op)        ? y.value
                      : mlirTypeIsAFloat(type) ? arithNegFOpBuild(b, y.value)
                                               : arithSubIOpBuild(b, sparseNestZero(b, type), y.value);
    value = arithSelectOpBuild(b, x.present, value, alone);
  }
  return (NestTerm){value, sparseNestOr(b, x.present, y.present), false};
}

static NestTerm evaluateOp(Body *body, TileBuilder *b, MlirValue value) {
  MlirOperation op = tileDefiningOp(value);
  if (sparseTensorBinaryOpIsA(op))
    return evaluateBinary(body, b, op);
  if (sparseTensorUnaryOpIsA(op))
    return evaluateUnary(body, b, op);
  if (sparseTensorSelectOpIsA(op))
    return evaluateSelect(body, b, op);
  if (sparseTensorReduceOpIsA(op))
    return evaluateReduce(body, b, op);
  if (linalgIndexOpIsA(op))
    return (NestTerm){body->place->axes[linalgIndexOpGetDimValue(op)], {NULL}, false};
  if (isSum(op))
    return evaluateSum(body, b, op);
  if (isProduct(op)) {
    NestTerm x = evaluate(body, b, tileBinaryLhs(op)), y = evaluate(body, b, tileBinaryRhs(op));
    return (NestTerm){copy(body, b, op), sparseNestAnd(b, x.present, y.present), false};
  }
  if (isComparison(op)) {
    NestTerm x = evaluate(body, b, tileBinaryLhs(op)), y = evaluate(body, b, tileBinaryRhs(op));
    return (NestTerm){copy(body, b, op), sparseNestOr(b, x.present, y.present), false};
  }
  if (isScaling(op) || keepsZero(op))
    return (NestTerm){copy(body, b, op), evaluate(body, b, tileFirstOperand(op)).present, false};
  return (NestTerm){copy(body, b, op), {NULL}, false};
}

static NestTerm evaluate(Body *body, TileBuilder *b, MlirValue value) {
  const NestTerm *known = nameOf(body, value);
  if (known)
    return *known;
  NestTerm term = evaluateOp(body, b, value);
  // An op of several results is copied for each that is asked for.
  if (mlirOperationGetNumResults(tileDefiningOp(value)) > 1)
    term.value = mlirOperationGetResult(mlirOpResultGetOwner(term.value), mlirOpResultGetResultNumber(value));
  setName(body, value, term);
  return term;
}

//===--- places -------------------------------------------------------------------------===//

static NestTerm termAt(LevelNest *nest, TileBuilder *b, const NestPlace *place, MlirValue value,
                       const MlirValue *soFar) {
  Body *body = nest->data;
  intptr_t numNames = body->numNames;
  body->place = place;
  for (intptr_t i = 0; i < nest->numOperands; ++i)
    setName(body, mlirBlockGetArgument(body->block, i), sparseNestLoad(nest, b, place, i));
  if (soFar && !body->readsOutput)
    setName(body, mlirBlockGetArgument(body->block, body->numInputs), (NestTerm){*soFar, {NULL}, true});
  NestTerm term = evaluate(body, b, value);
  body->numNames = numNames;
  return term;
}

static void indicesOf(const Body *body, TileBuilder *b, const NestPlace *place, MlirValue *indices) {
  for (intptr_t i = 0; i < body->output.storage.rank; ++i)
    indices[i] = sparseNestExpression(place, b, mlirAffineMapGetResult(body->output.map, i));
}

static void beginDense(LevelNest *nest, TileBuilder *b, const NestPlace *place, MlirValue *carried) {
  const Body *body = nest->data;
  MlirValue indices[LevelMax];
  indicesOf(body, b, place, indices);
  carried[0] = memrefLoadOpBuild(b, body->result, body->output.storage.rank, indices);
}

static void leafDense(LevelNest *nest, TileBuilder *b, const NestPlace *place, MlirValue *carried) {
  const Body *body = nest->data;
  NestTerm term = termAt(nest, b, place, tileOnlyOperand(yieldOf(body->block)), carried);
  carried[0] = mlirValueIsNull(term.present) ? term.value : arithSelectOpBuild(b, term.present, term.value, carried[0]);
}

static void endDense(LevelNest *nest, TileBuilder *b, const NestPlace *place, const MlirValue *carried) {
  const Body *body = nest->data;
  MlirValue indices[LevelMax];
  indicesOf(body, b, place, indices);
  memrefStoreOpBuild(b, carried[0], body->result, body->output.storage.rank, indices);
}

// What an encoded result has at a place before anything is combined into it.
static MlirValue startOf(Body *body, TileBuilder *b) {
  MlirOperation combines;
  contributionOf(body, &combines);
  if (sparseTensorReduceOpIsA(combines))
    return evaluate(body, b, sparseTensorReduceOpGetIdentity(combines)).value;
  return sparseNestZero(b, body->output.storage.element);
}

static void beginEntries(LevelNest *nest, TileBuilder *b, const NestPlace *place, MlirValue *carried) {
  Body *body = nest->data;
  intptr_t numNames = body->numNames;
  body->place = place;
  carried[0] = startOf(body, b);
  carried[1] = tileBuildInteger(b, mlirIntegerTypeGet(b->context, 1), 0);
  body->numNames = numNames;
}

static void leafEntries(LevelNest *nest, TileBuilder *b, const NestPlace *place, MlirValue *carried) {
  const Body *body = nest->data;
  MlirOperation combines;
  MlirValue wanted = body->combinesLater ? contributionOf(body, &combines) : tileOnlyOperand(yieldOf(body->block));
  NestTerm term = termAt(nest, b, place, wanted, carried);
  MlirValue present = always(b, term.present);
  carried[0] = arithSelectOpBuild(b, present, term.value, carried[0]);
  carried[1] = arithOrIOpBuild(b, carried[1], present);
}

static void endEntries(LevelNest *nest, TileBuilder *b, const NestPlace *place, const MlirValue *carried) {
  sparseLevelEmit(nest, b, place, carried[1], carried[0]);
}

//===--- nests --------------------------------------------------------------------------===//

static MlirAffineMap mapOf(MlirOperation op, intptr_t operand) {
  return mlirAffineMapAttrGetValue(mlirArrayAttrGetElement(linalgGenericOpGetIndexingMaps(op), operand));
}

static bool isReduction(MlirOperation op, intptr_t axis) {
  MlirAttribute type = mlirArrayAttrGetElement(linalgGenericOpGetIteratorTypes(op), axis);
  return linalgIteratorTypeOf(type) == LinalgIteratorType_Reduction;
}

// Operands, sizes of axes and captured values, inside of the kernel.
static void prepareOperands(LevelKernel *kernel, LevelNest *nest, Body *body) {
  intptr_t numOperands = body->numInputs + body->readsOutput;
  body->numNames = 0;
  nest->numOperands = numOperands;
  nest->numAxes = mlirAffineMapGetNumDims(mapOf(body->op, 0));
  for (intptr_t i = 0; i <= body->numInputs; ++i) {
    NestOperand *operand = i < numOperands ? &nest->operands[i] : &body->output;
    operand->storage = body->storages[i];
    operand->map = mapOf(body->op, i);
    if (i < numOperands)
      sparseLevelTakeOperand(kernel, operand, body->values[i]);
    if (i < body->numInputs)
      continue;
    MlirValue sizes[LevelMax];
    if (i < numOperands)
      body->output = *operand;
    sparseLevelSizesOf(&kernel->lowering->builder, &operand->storage, body->values[i], sizes);
    for (intptr_t axis = 0; axis < operand->storage.rank; ++axis)
      body->output.sizes[axis] = sparseLevelKernelTake(kernel, sizes[axis]);
  }
  for (intptr_t axis = 0; axis < nest->numAxes; ++axis)
    nest->isReduction[axis] = isReduction(body->op, axis);
  for (intptr_t i = 0; i <= body->numInputs; ++i) {
    const NestOperand *operand = i < numOperands ? &nest->operands[i] : &body->output;
    for (intptr_t k = 0; k < operand->storage.rank; ++k) {
      MlirAffineExpr expression = mlirAffineMapGetResult(operand->map, k);
      if (mlirAffineExprIsADim(expression))
        nest->sizes[mlirAffineDimExprGetPosition(expression)] = operand->sizes[k];
    }
  }
  for (intptr_t i = 0; i < body->numCaptured; ++i)
    setName(body, body->captured[i], (NestTerm){sparseLevelKernelTake(kernel, body->captured[i]), {NULL}, false});
  nest->mayBe = mayBe;
  nest->data = body;
}

static bool prepareEntries(LevelKernel *kernel, LevelNest *nest, void *data) {
  Body *body = data;
  prepareOperands(kernel, nest, body);
  nest->output = &body->output;
  nest->numCarried = 2;
  nest->begin = beginEntries;
  nest->leaf = leafEntries;
  nest->end = endEntries;
  if (!sparseNestPlan(nest))
    return false;
  bool reduces = false;
  for (intptr_t axis = 0; axis < nest->numAxes; ++axis)
    reduces |= nest->isReduction[axis];
  body->isInOrder = sparseNestIsInOrder(nest);
  body->combinesLater = reduces && !body->isInOrder;
  MlirOperation combines;
  if (body->combinesLater && mlirValueIsNull(contributionOf(body, &combines)))
    return false;
  if (body->combinesLater)
    nest->depth = nest->numVariables;
  return true;
}

//===--- combining -----------------------------------------------------------------------===//

// The value of the body's last op for what there is so far and a contribution.
static MlirValue combine(Body *body, TileBuilder *b, MlirValue soFar, MlirValue contribution) {
  MlirOperation op;
  MlirValue from = contributionOf(body, &op);
  intptr_t numNames = body->numNames;
  setName(body, mlirBlockGetArgument(body->block, body->numInputs), (NestTerm){soFar, {NULL}, true});
  setName(body, from, (NestTerm){contribution, {NULL}, false});
  MlirValue value = evaluate(body, b, tileOnlyResult(op)).value;
  body->numNames = numNames;
  return value;
}

// Sorted entries, those of one place as one.
static void combineEntries(LevelLowering *lowering, Body *body, LevelEntries *entries) {
  const LevelStorage *storage = &body->output.storage;
  TileBuilder *host = &lowering->builder;
  MlirType i64 = mlirIntegerTypeGet(host->context, 64);
  LevelKernel kernel = sparseLevelKernelBegin(lowering);
  TileBuilder *b = &kernel.builder;
  MlirValue from[LevelMax + 1], to[LevelMax + 2], results[LevelMax + 2];
  body->numNames = 0;
  MlirValue n = sparseLevelKernelTake(&kernel, entries->count);
  for (intptr_t l = 0; l < storage->count; ++l)
    from[l] = sparseLevelKernelTake(&kernel, entries->coordinates[l]);
  from[storage->count] = sparseLevelKernelTake(&kernel, entries->values);
  for (intptr_t i = 0; i < body->numCaptured; ++i)
    setName(body, body->captured[i], (NestTerm){sparseLevelKernelTake(&kernel, body->captured[i]), {NULL}, false});
  for (intptr_t l = 0; l < storage->count; ++l)
    to[l] = sparseLevelKernelGive(&kernel, sparseLevelVector(host, i64, entries->count));
  to[storage->count] = sparseLevelKernelGive(&kernel, sparseLevelVector(host, storage->element, entries->count));
  to[storage->count + 1] = sparseLevelKernelGive(&kernel, sparseLevelVector(host, i64, tileBuildIndex(host, 1)));
  MlirValue zero = tileBuildIndex(b, 0), one = tileBuildIndex(b, 1), start = startOf(body, b);
  MlirBlock block;
  MlirOperation loop = tileBuildFor(b, zero, n, one, 2, (MlirValue[]){zero, start}, &block);
  TileBuilder inside = tileBuilderAtEnd(block, b->location);
  MlirValue at = mlirBlockGetArgument(block, 0), used = mlirBlockGetArgument(block, 1);
  MlirValue same = arithCmpIOpBuild(&inside, at, zero, ArithCmpI_Ne), seen[LevelMax];
  MlirValue before = tileBuildMax(&inside, tileBuildSub(&inside, at, one), zero);
  for (intptr_t l = 0; l < storage->count; ++l) {
    seen[l] = memrefLoadOpBuild(&inside, from[l], 1, &at);
    MlirValue last = memrefLoadOpBuild(&inside, from[l], 1, &before);
    same = arithAndIOpBuild(&inside, same, arithCmpIOpBuild(&inside, seen[l], last, ArithCmpI_Eq));
  }
  MlirValue soFar = arithSelectOpBuild(&inside, same, mlirBlockGetArgument(block, 2), start);
  MlirValue value = combine(body, &inside, soFar, memrefLoadOpBuild(&inside, from[storage->count], 1, &at));
  used = arithSelectOpBuild(&inside, same, used, tileBuildAdd(&inside, used, one));
  MlirValue slot = tileBuildSub(&inside, used, one);
  for (intptr_t l = 0; l < storage->count; ++l)
    memrefStoreOpBuild(&inside, seen[l], to[l], 1, &slot);
  memrefStoreOpBuild(&inside, value, to[storage->count], 1, &slot);
  tileBuildYield(&inside, 2, (MlirValue[]){used, value});
  MlirValue total = arithIndexCastOpBuild(b, i64, tileFirstResult(loop));
  memrefStoreOpBuild(b, total, to[storage->count + 1], 1, &zero);
  sparseLevelKernelLaunch(&kernel, "combine_entries", results);
  entries->count = sparseLevelNumber(host, results[storage->count + 1], tileBuildIndex(host, 0));
  for (intptr_t l = 0; l < storage->count; ++l)
    entries->coordinates[l] = sparseLevelFirst(host, results[l], entries->count);
  entries->values = sparseLevelFirst(host, results[storage->count], entries->count);
}

//===--- linalg.generic -------------------------------------------------------------------===//

// What a custom reduction starts from instead of the output's numbers, as upstream's sparsifier has it; null: none.
static MlirValue identityOf(const Body *body) {
  MlirOperation combines;
  bool reduces = false;
  for (intptr_t axis = 0; axis < mlirAffineMapGetNumDims(mapOf(body->op, 0)); ++axis)
    reduces |= isReduction(body->op, axis);
  bool isReduced = reduces && !mlirValueIsNull(contributionOf(body, &combines)) && sparseTensorReduceOpIsA(combines);
  return isReduced ? sparseTensorReduceOpGetIdentity(combines) : (MlirValue){NULL};
}

typedef struct Captures {
  Body *body;
  const char *why;
} Captures;

static MlirWalkResult capture(MlirOperation op, void *data) {
  Captures *captures = data;
  Body *body = captures->body;
  if (mlirOperationEqual(op, body->op))
    return MlirWalkResultAdvance;
  static const char *const dialects[] = {"arith", "math", "linalg", "sparse_tensor", "scf"};
  bool isKnown = false;
  for (size_t i = 0; i < sizeof dialects / sizeof *dialects; ++i)
    isKnown |= tileOpIsOfDialect(op, dialects[i]);
  if (!isKnown)
    captures->why = "has an op in its body that is not known here";
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); ++i) {
    MlirValue value = mlirOperationGetOperand(op, i);
    MlirType type = mlirValueGetType(value);
    bool isTaken = isOfBody(body, value);
    for (intptr_t k = 0; k < body->numCaptured; ++k)
      isTaken |= mlirValueEqual(value, body->captured[k]);
    if (isTaken)
      continue;
    if (body->numCaptured == MaxCaptured ||
        (!mlirTypeIsAInteger(type) && !mlirTypeIsAFloat(type) && !mlirTypeIsAIndex(type)))
      captures->why = "reads a value from around it that a kernel does not take";
    else
      body->captured[body->numCaptured++] = value;
  }
  return MlirWalkResultAdvance;
}

// An encoded output that something may be stored in.
static bool isFilled(MlirValue output) {
  MlirOperation from = tileDefiningOp(output);
  return sparseLevelTypeIsEncoded(mlirValueGetType(output)) && !tensorEmptyOpIsA(from) &&
         !bufferizationAllocTensorOpIsA(from);
}

static const char *bodyOf(MlirOperation op, Body *body) {
  *body = (Body){.op = op, .block = tileOnlyBlock(linalgGenericOpGetRegion(op))};
  body->numInputs = linalgGenericOpGetNumInputs(op);
  if (linalgGenericOpGetNumOutputs(op) != 1 || mlirOperationGetNumResults(op) != 1)
    return "gives more than one result";
  if (body->numInputs >= NestMaxOperands - 1)
    return "reads more operands than a nest of loops takes here";
  body->readsOutput = isFilled(linalgGenericOpGetOutputs(op, 0));
  for (intptr_t i = 0; i <= body->numInputs; ++i) {
    LevelStorage storage;
    MlirAffineMap map = mapOf(op, i);
    if (!sparseLevelStorageOf(tileOperandType(op, i), &storage))
      return "reads or writes a tensor that is not stored here";
    if (mlirAffineMapGetNumDims(map) > NestMaxAxes || mlirAffineMapGetNumSymbols(map))
      return "has more loops than are taken here";
  }
  for (intptr_t axis = 0; axis < mlirAffineMapGetNumDims(mapOf(op, 0)); ++axis) {
    bool isSized = false;
    for (intptr_t i = 0; i <= body->numInputs; ++i)
      for (intptr_t k = 0; k < mlirAffineMapGetNumResults(mapOf(op, i)); ++k) {
        MlirAffineExpr expression = mlirAffineMapGetResult(mapOf(op, i), k);
        isSized |= mlirAffineExprIsADim(expression) && mlirAffineDimExprGetPosition(expression) == axis;
      }
    if (!isSized)
      return "has a loop whose size no operand gives";
  }
  Captures captures = {body, NULL};
  mlirOperationWalk(op, capture, &captures, MlirWalkPreOrder);
  return captures.why;
}

const char *sparseLevelWhyNotGeneric(MlirOperation op) {
  Body *body = malloc(sizeof *body);
  const char *why = bodyOf(op, body);
  bool reduces = false;
  for (intptr_t axis = 0; !why && axis < mlirAffineMapGetNumDims(mapOf(op, 0)); ++axis)
    reduces |= isReduction(op, axis);
  if (!why && reduces && body->readsOutput)
    why = "adds to a sparse tensor that is not empty";
  MlirValue identity = why ? (MlirValue){NULL} : identityOf(body);
  if (!mlirValueIsNull(identity) && isOfBody(body, identity))
    why = "computes the identity of its reduction in its body";
  free(body);
  return why;
}

// What a dense result starts from.
static MlirValue denseStart(const LevelLowering *lowering, const Body *body, TileBuilder *b) {
  MlirValue init = lowering->operands[body->numInputs].values[0], identity = identityOf(body), open[LevelMax];
  MlirType type = mlirValueGetType(init);
  // Upstream's rewrites fuse a sparse result and its conversion into a dense result that starts as tensor.empty.
  bool isUnread = mlirOpOperandIsNull(mlirValueGetFirstUse(mlirBlockGetArgument(body->block, body->numInputs)));
  bool isEmpty = tensorEmptyOpIsA(tileDefiningOp(linalgGenericOpGetOutputs(lowering->op, 0)));
  if (mlirValueIsNull(identity) && !isUnread && !isEmpty)
    return init;
  intptr_t count = 0;
  for (intptr_t axis = 0; axis < mlirShapedTypeGetRank(type); ++axis)
    if (mlirShapedTypeIsDynamicDim(type, axis))
      open[count++] = tileBuildSize(b, init, axis);
  bool hasIdentity = !mlirValueIsNull(identity);
  MlirValue start = hasIdentity ? identity : sparseNestZero(b, mlirShapedTypeGetElementType(type));
  return tensorSplatOpBuild(b, type, start, count, open);
}

static bool lowerDense(LevelLowering *lowering, Body *body, MlirValue *result) {
  MlirValue init = denseStart(lowering, body, &lowering->builder);
  LevelKernel kernel = sparseLevelKernelBegin(lowering);
  LevelNest *nest = calloc(1, sizeof *nest);
  prepareOperands(&kernel, nest, body);
  body->result = sparseLevelKernelGive(&kernel, init);
  nest->output = &body->output;
  nest->numCarried = 1;
  nest->begin = beginDense;
  nest->leaf = leafDense;
  nest->end = endDense;
  bool ok = sparseNestPlan(nest);
  if (ok)
    sparseNestBuild(nest, &kernel.builder);
  sparseLevelKernelLaunch(&kernel, "contract_levels", result);
  free(nest);
  return (ok && !body->isFull) || tileError(lowering->op, "has more loops or ops than a nest takes here");
}

static bool lowerEncoded(LevelLowering *lowering, Body *body, MlirValue *values, intptr_t *count) {
  LevelStorage storage;
  LevelEntries entries;
  MlirValue sizes[LevelMax];
  sparseLevelStorageOf(tileOnlyResultType(lowering->op), &storage);
  sparseLevelSizesOf(&lowering->builder, &storage, lowering->operands[body->numInputs].values, sizes);
  if (!sparseLevelMakeEntries(lowering, &storage, prepareEntries, body, &entries) || body->isFull)
    return tileError(lowering->op,
                     "has more loops or ops than a nest takes here, or combines its result in another way "
                     "than by one op");
  if (!body->isInOrder && !sparseLevelSortEntries(lowering, &storage, sizes, &entries))
    return false;
  if (body->combinesLater)
    combineEntries(lowering, body, &entries);
  *count = sparseLevelStoreEntries(lowering, &storage, sizes, &entries, values);
  return *count > 0;
}

// Every level compressed: what is stored, once each and in order.
static void compress(LevelStorage *storage) {
  storage->numArrays = 0;
  for (intptr_t l = 0; l < storage->count; ++l) {
    StoredLevel *level = &storage->levels[l];
    *level = (StoredLevel){.kind = LevelKind_Compressed,
                           .isUnique = true,
                           .isOrdered = true,
                           .isRest = level->isRest,
                           .dim = level->dim,
                           .by = level->by,
                           .positions = storage->numArrays,
                           .coordinates = storage->numArrays + 1};
    storage->numArrays += 2;
  }
  storage->values = storage->numArrays++;
}

// Whether loops walk the levels of the only encoded operand, from its first to its last.
static bool isWalkedAlone(const Body *body, intptr_t operand) {
  bool present[NestMaxOperands], seen[NestMaxAxes] = {false};
  MlirAffineMap map = mapOf(body->op, operand);
  for (intptr_t i = 0; i < NestMaxOperands; ++i)
    present[i] = i != operand;
  for (intptr_t k = 0; k < mlirAffineMapGetNumResults(map); ++k) {
    MlirAffineExpr expression = mlirAffineMapGetResult(map, k);
    intptr_t axis = mlirAffineExprIsADim(expression) ? mlirAffineDimExprGetPosition(expression) : -1;
    if (axis < 0 || seen[axis])
      return false;
    seen[axis] = true;
  }
  return presenceOf(body, tileOnlyOperand(yieldOf(body->block)), present) != Presence_Maybe;
}

// Operands that may have one place twice, or fill up windows, cannot be merged with others or searched: they are stored
// anew.
static bool takeOperands(LevelLowering *lowering, Body *body) {
  intptr_t numEncoded = 0;
  for (intptr_t i = 0; i <= body->numInputs; ++i) {
    sparseLevelStorageOf(tileOperandType(body->op, i), &body->storages[i]);
    for (intptr_t k = 0; k < lowering->operands[i].count; ++k)
      body->values[i][k] = lowering->operands[i].values[k];
    numEncoded += body->storages[i].count > 0;
  }
  for (intptr_t i = 0; i < body->numInputs + body->readsOutput; ++i) {
    LevelStorage *storage = &body->storages[i], compressed = *storage;
    bool isPlain = sparseLevelStorageIsUnique(storage);
    for (intptr_t l = 0; l < storage->count; ++l)
      isPlain &= storage->levels[l].kind != LevelKind_Structured && storage->levels[l].kind != LevelKind_Singleton;
    if (isPlain || (numEncoded == 1 && isWalkedAlone(body, i)))
      continue;
    LevelEntries entries;
    MlirValue sizes[LevelMax];
    compress(&compressed);
    sparseLevelSizesOf(&lowering->builder, storage, body->values[i], sizes);
    if (!sparseLevelEntriesOf(lowering, storage, body->values[i], &compressed, &entries) ||
        !sparseLevelStoreEntries(lowering, &compressed, sizes, &entries, body->values[i]))
      return false;
    *storage = compressed;
  }
  return true;
}

bool sparseLevelLowerGeneric(LevelLowering *lowering, MlirValue *values, intptr_t *count) {
  Body *body = malloc(sizeof *body);
  const char *why = bodyOf(lowering->op, body);
  bool ok = (!why || tileError(lowering->op, "%s", why)) && takeOperands(lowering, body);
  *count = 1;
  if (ok)
    ok = sparseLevelTypeIsEncoded(tileOnlyResultType(lowering->op)) ? lowerEncoded(lowering, body, values, count)
                                                                    : lowerDense(lowering, body, values);
  free(body);
  return ok;
}
