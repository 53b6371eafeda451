// Attention of several heads along the entries of one pattern, as one launch that reads the pattern once
// (attend_heads):
//
//   for k: weights = softmax(maps(sddmm(from[:, k], to[:, k], pattern)));  out[:, k] += weights · values[:, k]
//
// Goes before the conversion of single ops, which then finds no loop. Expects: heads side by side, as axis 1 of every
// tensor; scores of one term; maps of elementwise ops. Other loops stay, and run a launch for each head.
#include <float.h>
#include <math.h>

#include "dialects/sparse/ops.h"
#include "dialects/tile/ops.h"
#include "lib/capi/op.h"
#include "lib/conversion/sparse_to_tile/lists.h"
#include "lib/ir/enclosing.h"
#include "lib/ir/op_query.h"
#include "upstream/cf.h"

enum {
  Scores = 512,     // that are held, of all heads
  SomeEntries = 8,  // that threads of a GPU take at once
  MostFeatures = 64 // tiles of narrow heads are no wider than this many heads
};

// A loop over heads. `from` and `to` are nodes × heads; `values` and `init` are nodes × heads × features.
typedef struct Heads {
  MlirOperation loop, product;
  MlirBlock body;
  SparseAttention attention;
  MlirValue from, to, values, init;
  int64_t count, features;
} Heads;

//===--- what is matched ----------------------------------------------------===//

static int64_t entryOf(MlirAttribute array, intptr_t i) { return mlirDenseI64ArrayGetElement(array, i); }

// Places of a slice that is head `step` of `whole`, from the first node on.
static bool isHead(const Heads *heads, MlirType whole, MlirAttribute offsets, MlirAttribute sizes,
                   MlirAttribute strides) {
  intptr_t rank = mlirShapedTypeGetRank(whole);
  if (mlirShapedTypeGetDimSize(whole, 1) != heads->count || entryOf(sizes, 1) != 1 ||
      entryOf(offsets, 1) != mlirShapedTypeGetDynamicSize())
    return false;
  for (intptr_t axis = 0; axis < rank; ++axis)
    if (entryOf(strides, axis) != 1 || (axis != 1 && entryOf(offsets, axis) != 0))
      return false;
  return rank == 2 || (rank == 3 && entryOf(sizes, 2) == mlirShapedTypeGetDimSize(whole, 2));
}

// The tensor whose head `step` is `part`; null if there is none.
static MlirValue wholeOf(const Heads *heads, MlirValue part, intptr_t rank) {
  MlirOperation op = tileDefiningOp(part);
  if (tensorExpandShapeOpIsA(op))
    op = tileDefiningOp(tensorExpandShapeOpGetSrc(op));
  if (!tensorExtractSliceOpIsA(op) || tensorExtractSliceOpGetNumOffsets(op) != 1 ||
      !mlirValueEqual(tensorExtractSliceOpGetOffsets(op, 0), mlirBlockGetArgument(heads->body, 0)))
    return (MlirValue){NULL};
  MlirType type = tensorExtractSliceOpGetSourceType(op);
  bool isPart = mlirShapedTypeGetRank(type) == rank &&
                isHead(heads, type, tensorExtractSliceOpGetStaticOffsets(op), tensorExtractSliceOpGetStaticSizes(op),
                       tensorExtractSliceOpGetStaticStrides(op));
  return isPart ? tensorExtractSliceOpGetSource(op) : (MlirValue){NULL};
}

static bool isOutside(const Heads *heads, MlirValue value) {
  return !mlirValueIsNull(value) && tileIsOutside(heads->loop, value);
}

// Both tensors are filled with one number.
static bool areAlike(MlirValue one, MlirValue other) {
  MlirOperation p = tileDefiningOp(one), q = tileDefiningOp(other);
  return linalgFillOpIsA(p) && linalgFillOpIsA(q) &&
         mlirValueEqual(linalgFillOpGetInputs(p, 0), linalgFillOpGetInputs(q, 0));
}

//===--- what stands before the loop ----------------------------------------===//

// The size of a tensor of the loop along axis 0, which is the same in each step. With a builder `*size` is that.
static bool sizeOf(const Heads *heads, TileBuilder *b, MlirValue tensor, MlirValue *size) {
  MlirOperation op = tileDefiningOp(tensor);
  if (sparseSpmmOpIsA(op))
    return sizeOf(heads, b, sparseSpmmOpGetInit(op), size);
  bool isOut = mlirValueEqual(tensor, mlirBlockGetArgument(heads->body, 1));
  if (isOut || tileIsOutside(heads->loop, tensor)) {
    *size = b ? tileBuildSize(b, isOut ? scfForOpGetInitArgs(heads->loop, 0) : tensor, 0) : tensor;
    return true;
  }
  if (!tensorExtractSliceOpIsA(op))
    return false;
  int64_t known = entryOf(tensorExtractSliceOpGetStaticSizes(op), 0);
  bool isOpen = mlirShapedTypeIsDynamicSize(known);
  *size = isOpen ? tensorExtractSliceOpGetSizes(op, 0) : b ? tileBuildIndex(b, known) : tensor;
  return !isOpen || tileIsOutside(heads->loop, *size);
}

// A value that is the same in each step. With a builder `*moved` is built there.
static bool moveOut(const Heads *heads, TileBuilder *b, MlirValue value, MlirValue *moved) {
  enum { MostOperands = 3 };
  MlirValue operands[MostOperands];
  MlirOperation op = tileDefiningOp(value);
  int64_t axis;
  *moved = value;
  if (tileIsOutside(heads->loop, value))
    return true;
  if (tensorDimOpIsA(op))
    return tileConstantIndex(tensorDimOpGetIndex(op), &axis) && axis == 0 &&
           sizeOf(heads, b, tensorDimOpGetSource(op), moved);
  intptr_t count = mlirOperationIsNull(op) ? 0 : mlirOperationGetNumOperands(op);
  if (mlirOperationIsNull(op) || !(tileOpIsElementwise(op) || arithConstantOpIsA(op)) ||
      mlirOperationGetNumResults(op) != 1 || mlirOperationGetNumRegions(op) || count > MostOperands)
    return false;
  for (intptr_t i = 0; i < count; ++i)
    if (!moveOut(heads, b, mlirOperationGetOperand(op, i), &operands[i]))
      return false;
  MlirType type = mlirValueGetType(value);
  if (b)
    *moved = tileOnlyResult(tileBuildLike(b, op, operands, 1, &type));
  return true;
}

// Comparisons of sizes that the loop makes in each step.
static void moveAsserts(const Heads *heads, TileBuilder *b) {
  for (MlirOperation op = mlirBlockGetFirstOperation(heads->body); !mlirOperationIsNull(op);
       op = mlirOperationGetNextInBlock(op)) {
    MlirValue condition;
    if (cfAssertOpIsA(op) && moveOut(heads, b, cfAssertOpGetArg(op), &condition))
      tileBuildLike(b, op, &condition, 0, NULL);
  }
}

//===--- the loop -----------------------------------------------------------===//

static bool isPart(const Heads *heads, MlirOperation op) {
  MlirValue condition;
  return mlirExtOperationIsPure(op) || scfYieldOpIsA(op) ||
         (cfAssertOpIsA(op) && moveOut(heads, NULL, cfAssertOpGetArg(op), &condition));
}

// The loop goes over all heads, and each step does nothing but put a head in its place.
static bool matchLoop(MlirOperation loop, Heads *heads) {
  int64_t first, end, by;
  *heads = (Heads){.loop = loop, .body = tileOnlyBlock(scfForOpGetRegion(loop))};
  if (mlirOperationGetNumResults(loop) != 1 || !tileConstantIndex(scfForOpGetLowerBound(loop), &first) ||
      !tileConstantIndex(scfForOpGetUpperBound(loop), &end) || !tileConstantIndex(scfForOpGetStep(loop), &by) ||
      first != 0 || by != 1 || end < 1)
    return false;
  heads->count = end;
  MlirValue out = mlirBlockGetArgument(heads->body, 1);
  MlirOperation last = tileDefiningOp(tileOnlyOperand(mlirBlockGetTerminator(heads->body)));
  if (!tensorInsertSliceOpIsA(last) || !mlirValueEqual(tensorInsertSliceOpGetDest(last), out) ||
      tensorInsertSliceOpGetNumOffsets(last) != 1 ||
      !mlirValueEqual(tensorInsertSliceOpGetOffsets(last, 0), mlirBlockGetArgument(heads->body, 0)) ||
      mlirShapedTypeGetRank(mlirValueGetType(out)) != 3 ||
      !isHead(heads, mlirValueGetType(out), tensorInsertSliceOpGetStaticOffsets(last),
              tensorInsertSliceOpGetStaticSizes(last), tensorInsertSliceOpGetStaticStrides(last)))
    return false;
  for (MlirOperation op = mlirBlockGetFirstOperation(heads->body); !mlirOperationIsNull(op);
       op = mlirOperationGetNextInBlock(op))
    if (!isPart(heads, op))
      return false;
  heads->product = tileDefiningOp(tensorInsertSliceOpGetSource(last));
  return sparseSpmmOpIsA(heads->product) && mlirShapedTypeGetRank(tensorInsertSliceOpGetSourceType(last)) == 2;
}

static bool matchHeads(MlirOperation loop, Heads *heads) {
  if (!matchLoop(loop, heads) || !sparseFindAttention(heads->product, &heads->attention) ||
      heads->attention.terms != 1 || sparseSpmmOpHasTransposeRhs(heads->product))
    return false;
  MlirOperation sddmm = heads->attention.sddmm;
  for (int i = 0; i < heads->attention.numMaps; ++i)
    if (!sparseBodyIsElementwise(tileOnlyBlock(mlirOperationGetRegion(heads->attention.maps[i], 0))))
      return false;
  MlirValue out = mlirBlockGetArgument(heads->body, 1), init = sparseSpmmOpGetInit(heads->product);
  if (sparseSddmmOpHasTransposeLhs(sddmm) || !sparseSddmmOpHasTransposeRhs(sddmm) ||
      !tileIsOutside(loop, sparseSddmmOpGetPattern(sddmm)))
    return false;
  heads->from = wholeOf(heads, sparseSddmmOpGetLhs(sddmm), 2);
  heads->to = wholeOf(heads, sparseSddmmOpGetRhs(sddmm), 2);
  heads->values = wholeOf(heads, sparseSpmmOpGetRhs(heads->product), 3);
  heads->init = scfForOpGetInitArgs(loop, 0);
  heads->features = mlirShapedTypeGetDimSize(mlirValueGetType(out), 2);
  return isOutside(heads, heads->from) && isOutside(heads, heads->to) && isOutside(heads, heads->values) &&
         heads->features > 0 && (mlirValueEqual(wholeOf(heads, init, 3), out) || areAlike(init, heads->init));
}

//===--- the launch ---------------------------------------------------------===//

// What the maps make of the scores of all heads.
static MlirValue buildWeigh(TileBuilder *b, MlirType result, const MlirValue *operands, const void *data) {
  const SparseAttention *attention = data;
  MlirValue value = operands[0];
  for (int i = 0; i < attention->numMaps; ++i) {
    const MlirValue arguments[] = {value, operands[1], operands[2]};
    value = sparseInlineTiles(b, tileOnlyBlock(mlirOperationGetRegion(attention->maps[i], 0)), 3, arguments, result);
  }
  return value;
}

// Which of so many groups of heads the program has.
static MlirValue buildGroup(TileBuilder *b, MlirType result, const MlirValue *operands, const void *data) {
  return *(const int64_t *)data > 1 ? tileProgramIdOpBuild(b, mlirIntegerAttrGet(mlirIntegerTypeGet(b->context, 64), 1))
                                    : tileBuildIndex(b, 0);
}

// Heads of a program, a power of two: as many as registers hold sums of; 0: not even one.
static int64_t headsOf(const Heads *heads, const TileSearchTarget *machine, MlirType sum) {
  int64_t most = sparseRegistersOf(machine).rowBytes * 8 / sparseBits(sum) / heads->features, all = 1;
  while (all < heads->count)
    all *= 2;
  if (most > MostFeatures)
    most = MostFeatures;
  return most < 1 ? 0 : all < most ? all : sparsePowerBelow(most);
}

static bool launchHeads(SparseLowering *lowering, const Heads *heads, int64_t together) {
  TileBuilder *b = &lowering->builder;
  const TileSearchTarget *machine = &lowering->target->search;
  MlirType sum = sparseElement(heads->init);
  moveAsserts(heads, b);
  MlirValue pattern = sparseSddmmOpGetPattern(heads->attention.sddmm);
  SparseComponent parts[SPARSE_MAX_COMPONENTS];
  MlirType types[SPARSE_MAX_COMPONENTS];
  intptr_t numParts = sparseTypeGetComponents(mlirValueGetType(pattern), parts);
  for (intptr_t i = 0; i < numParts; ++i)
    types[i] = parts[i].type;
  MlirOperation components = sparseDisassembleOpCreate(b, numParts, types, pattern);
  int64_t lanes = machine->vectorBytes * 8 / sparseBits(sum), some = together < lanes ? lanes : together;
  int64_t groups = (heads->count + together - 1) / together;
  const TileAttendHeads attention = {
      .A = sum,
      .P = mlirShapedTypeGetElementType(types[0]),
      .I = mlirShapedTypeGetElementType(types[1]),
      .MULTIPLY = sparseSemiring(heads->attention.sddmm, sum).multiply,
      .COUNT = heads->count,
      .HEADS = together,
      .FEATURES = heads->features,
      .SOME = some,
      .TIMES = some / together,
      .CHUNK = Scores / together,
      .ALL = Scores,
      .LEAST = mlirFloatAttrDoubleGet(b->context, sum, mlirTypeIsAF64(sum) ? -DBL_MAX : -FLT_MAX),
      .group = {buildGroup, &groups},
      .weigh = {buildWeigh, &heads->attention},
  };
  const TileAttendHeadEntries entries = {.A = sum,
                                         .P = attention.P,
                                         .I = attention.I,
                                         .MULTIPLY = attention.MULTIPLY,
                                         .COUNT = heads->count,
                                         .HEADS = together,
                                         .FEATURES = heads->features,
                                         .SOME = SomeEntries,
                                         .LEAST = attention.LEAST,
                                         .HIDDEN = mlirFloatAttrDoubleGet(b->context, sum, -INFINITY),
                                         .group = attention.group,
                                         .weigh = attention.weigh};
  const MlirValue inputs[] = {sparseDisassembleOpGetComponents(components, 0),
                              sparseDisassembleOpGetComponents(components, 1), heads->from, heads->to, heads->values};
  const MlirValue grid[] = {tileBuildSize(b, pattern, 0), tileBuildIndex(b, groups)};
  MlirValue result =
      sparseLaunch(lowering, machine->isGpu ? tileUseAttendHeadEntries(entries) : tileUseAttendHeads(attention), 2,
                   grid, 5, inputs, heads->init);
  if (mlirValueIsNull(result))
    return false;
  mlirValueReplaceAllUsesOfWith(tileOnlyResult(heads->loop), result);
  mlirOperationDestroy(heads->loop);
  return true;
}

bool sparseAttendHeads(MlirOperation module, SparseKernels *kernels, const TileTarget *target) {
  TileOps loops = tileCollectOps(module, scfForOpIsA);
  bool ok = true;
  for (intptr_t i = 0; i < loops.count && ok; ++i) {
    Heads heads;
    if (!matchHeads(loops.items[i], &heads))
      continue;
    int64_t together = headsOf(&heads, &target->search, sparseElement(heads.init));
    SparseLowering lowering = {
        .op = heads.product, .builder = tileBuilderBefore(heads.loop), .kernels = kernels, .target = target};
    ok = !together || launchHeads(&lowering, &heads, together);
  }
  tileOpsFree(&loops);
  return ok;
}
