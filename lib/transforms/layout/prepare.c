// Rewrites that layouts require before they can be assigned: calls are inlined, products padded up to their atom.
#include "lib/transforms/layout/graph.h"

#include "lib/support/integer.h"

#include "dialects/tile/ops.h"
#include "dialects/tile/questions.h"
#include "dialects/tile/sparse_product.h"
#include "dialects/tile/tile.h"
#include "lib/capi/op.h"
#include "lib/ir/op_format.h"
#include "mlir-c/BuiltinAttributes.h"

//===--- calls --------------------------------------------------------------------------===//

static void replaceUses(MlirValue from, MlirValue to) { mlirValueReplaceAllUsesOfWith(from, to); }

// Moves the ops of a copy of the callee before the call.
static void inlineOne(MlirOperation call, MlirOperation callee) {
  MlirOperation copy = mlirOperationClone(callee);
  MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(copy, 0)), block = mlirOperationGetBlock(call);
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(call); ++i)
    replaceUses(mlirBlockGetArgument(body, i), mlirOperationGetOperand(call, i));
  MlirOperation end = mlirBlockGetTerminator(body);
  for (intptr_t i = 0; i < mlirOperationGetNumResults(call); ++i)
    replaceUses(mlirOperationGetResult(call, i), mlirOperationGetOperand(end, i));
  for (MlirOperation op = mlirBlockGetFirstOperation(body), next; !mlirOperationEqual(op, end); op = next) {
    next = mlirOperationGetNextInBlock(op);
    mlirOperationRemoveFromParent(op);
    mlirBlockInsertOwnedOperationBefore(block, call, op);
  }
  mlirOperationDestroy(call);
  mlirOperationDestroy(copy);
}

bool layoutInlineCalls(MlirOperation kernel) {
  enum { MaxRounds = 64 };
  for (int round = 0;; ++round) {
    TileOps calls = tileCollectOps(kernel, tileCallOpIsA);
    if (!calls.count)
      return true;
    MlirOperation call = calls.items[0];
    tileOpsFree(&calls);
    MlirOperation callee = mlirExtSymbolLookup(kernel, tileOpAttribute(call, "callee"));
    bool hasBody =
        !mlirOperationIsNull(callee) && !mlirBlockIsNull(mlirRegionGetFirstBlock(mlirOperationGetRegion(callee, 0)));
    if (!hasBody)
      return tileError(call, "calls a function without a body here, expected one to inline");
    if (round == MaxRounds)
      return tileError(call, "calls too deep, expected no recursion: a GPU kernel holds all its code");
    inlineOne(call, callee);
  }
}

//===--- padding --------------------------------------------------------------------------===//

static MlirAttribute offsets(MlirContext context, intptr_t rank) {
  int64_t zeros[TILE_LAYOUT_MAX_AXES] = {0};
  return mlirDenseI64ArrayGet(context, rank, zeros);
}

enum { IN_ORDER = 0x44 }; // places 0, 1, 0, 1: of what is padded, which must ascend as well

// The tile in the corner of a larger one of zeros, or of this integer.
static MlirValue padded(TileBuilder *builder, MlirValue value, const int64_t *shape, int64_t with) {
  MlirType type = mlirValueGetType(value), element = tileTypeGetElement(type);
  intptr_t rank = tileTypeGetRank(type);
  MlirType larger = tileTileTypeGet(rank, shape, element, (MlirAttribute){NULL});
  if (mlirTypeEqual(type, larger))
    return value;
  MlirAttribute zero = mlirTypeIsAFloat(element) ? mlirFloatAttrDoubleGet(builder->context, element, 0)
                                                 : mlirIntegerAttrGet(element, with);
  MlirValue zeros = tileBuildConstant(builder, mlirDenseElementsAttrSplatGet(larger, zero));
  return tileInsertOpBuild(builder, value, zeros, 0, NULL, offsets(builder->context, rank));
}

static bool padProduct(MlirOperation op, const TileMachine *machine, uint32_t warps) {
  char name[48];
  TileMachineAtom atom;
  intptr_t numSides = mlirOperationGetNumOperands(op); // lhs, rhs, accumulator, and a sparse one's places
  bool isSparse = numSides == 4;
  MlirType result = tileOnlyResultType(op), rhs = mlirValueGetType(tileOpOperand(op, "rhs"));
  intptr_t rank = tileTypeGetRank(result);
  if (!layoutFindAtom(machine, op, warps, true, name, sizeof name, &atom))
    return false;
  int64_t m = tessera_round_up(tileTypeGetSize(result, rank - 2), atom.m),
          n = tessera_round_up(tileTypeGetSize(result, rank - 1), atom.n);
  int64_t k = tessera_round_up(tileTypeGetSize(rhs, rank - 2), atom.k), batch = tileTypeGetSize(result, 0);
  int64_t shapes[4][3] = {{batch, m, isSparse ? k / 2 : k}, {batch, k, n}, {batch, m, n}, {batch, m, k / 8}};
  TileBuilder builder = tileBuilderBefore(op);
  bool changed = false;
  for (intptr_t i = 0; i < numSides; ++i) {
    MlirValue side = mlirOperationGetOperand(op, i);
    MlirValue larger = padded(&builder, side, &shapes[i][3 - rank], i < 3 ? 0 : IN_ORDER);
    changed |= !mlirValueEqual(larger, side);
    mlirOperationSetOperand(op, i, larger);
  }
  MlirValue sum = tileOnlyResult(op);
  MlirType larger = mlirValueGetType(tileMmaOpGetAccumulator(op));
  if (mlirTypeEqual(larger, result))
    return changed;
  TileBuilder after = tileBuilderAfter(op);
  mlirValueSetType(sum, larger);
  MlirValue cut = tileSliceOpBuild(&after, result, sum, 0, NULL, offsets(builder.context, rank));
  mlirValueReplaceAllUsesExcept(sum, cut, 1, (MlirOperation[]){tileDefiningOp(cut)});
  return true;
}

uint64_t layoutPadProducts(MlirOperation kernel, const TileMachine *machine, uint32_t warps) {
  uint64_t count = 0;
  TileOps products = tileCollectOps(kernel, tileIsProduct);
  for (intptr_t i = 0; i < products.count; ++i)
    count += padProduct(products.items[i], machine, warps);
  tileOpsFree(&products);
  return count;
}

void layoutMakeProductsDense(MlirOperation kernel, const TileMachine *machine, uint32_t warps) {
  TileOps products = tileCollectOps(kernel, tileMmaSparseOpIsA);
  for (intptr_t i = 0; i < products.count; ++i) {
    char name[48];
    TileMachineAtom atom;
    if (!layoutFindAtom(machine, products.items[i], warps, true, name, sizeof name, &atom))
      tileMakeSparseProductDense(products.items[i]);
  }
  tileOpsFree(&products);
}
