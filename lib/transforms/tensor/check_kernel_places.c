// tile-check-kernel-places{elements=false}: places in kernels that somebody wrote and that are known only at run time.
//
//   %s = tile.slice %x[%o] : tensor<16xf32> -> tensor<8xf32>   →   tile.assert 0 <= %o && %o <= 8, "tile.slice: …"
//   %v = memref.load %a[%i] (elements)                         →   tile.assert %i < dim(%a), "memref.load: …"
//
// Why: a slice that leaves its tile gives elements that nobody wrote, and an element outside is other memory: only the
// judges find them. Expects: tile.kernel, before kernels are made of linalg. Leaves: an assertion ahead of each slice
// and insertion with an open offset or, with `elements`, ahead of each single element, and of each load and store of a
// tile of a view that fixes dimensions. Not compared: what constants, loops and tile.assume prove; buffers of a kernel.
// Loads and stores of tiles need no check: views pad. Cost: linear in the ops; at run time a comparison for each op.
#include "lib/transforms/tensor/tensor.h"

#include "dialects/tile/ops.h"
#include "dialects/tile/tile.h"
#include "lib/analysis/facts.h"
#include "lib/analysis/sizes.h"
#include "lib/ir/builder.h"
#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"
#include "upstream/arith.h"
#include "upstream/memref.h"
#include "upstream/scf.h"

#include <stdio.h>

enum { MessageLength = 128 };

//===--- questions ------------------------------------------------------------------===//

static bool isPart(MlirOperation op) {
  return (tileSliceOpIsA(op) && mlirTypeIsARankedTensor(tileSliceOpGetInputType(op))) || tileInsertOpIsA(op);
}

static bool isOfMemory(MlirOperation op) {
  return memrefLoadOpIsA(op) || memrefStoreOpIsA(op) || memrefAtomicRMWOpIsA(op) || tileViewOpIsA(op);
}

// Each program instance runs it op by op.
static bool isSequential(MlirOperation op) { return scfForOpIsA(op) || scfWhileOpIsA(op) || scfIfOpIsA(op); }

static bool isInKernel(MlirOperation op) {
  MlirOperation around = mlirOperationGetParentOperation(op);
  while (!mlirOperationIsNull(around) && isSequential(around))
    around = mlirOperationGetParentOperation(around);
  return !mlirOperationIsNull(around) && tileKernelOpIsA(around);
}

//===--- assertions -----------------------------------------------------------------===//

static void build(TileBuilder *b, MlirOperation op, MlirValue is, int axis) {
  char text[MessageLength];
  MlirStringRef name = tileOpName(op);
  snprintf(text, sizeof text, "%.*s: an index lies outside of dimension %d", (int)name.length, name.data, axis);
  b->location = mlirOperationGetLocation(op);
  tileAssertOpCreate(b, is, mlirStringAttrGet(b->context, tileString(text)));
}

// An index that is made of an integer of at most `width` bits, or a small constant: casts to such integers keep it.
static bool fitsIn(MlirValue index, unsigned width) {
  int64_t constant;
  if (tileConstantIndex(index, &constant))
    return constant >= 0 && constant <= INT8_MAX;
  MlirOperation op = tileDefiningOp(index);
  MlirType from = arithIndexCastOpIsA(op) ? tileOnlyOperandType(op) : mlirValueGetType(index);
  return mlirTypeIsAInteger(from) && mlirIntegerTypeGetWidth(from) <= width;
}

// The loop around the op whose counter the index is, also behind casts that keep it; null: none.
static MlirOperation loopOfCounter(MlirOperation op, MlirValue index) {
  const MlirOperation none = {NULL};
  unsigned width = 64;
  for (MlirOperation cast = tileDefiningOp(index); arithIndexCastOpIsA(cast); cast = tileDefiningOp(index)) {
    if (mlirTypeIsAInteger(mlirValueGetType(index)) && mlirIntegerTypeGetWidth(mlirValueGetType(index)) < width)
      width = mlirIntegerTypeGetWidth(mlirValueGetType(index));
    index = tileOnlyOperand(cast);
  }
  if (!mlirValueIsABlockArgument(index) || mlirBlockArgumentGetArgNumber(index) != 0 ||
      !mlirBlockEqual(mlirBlockArgumentGetOwner(index), mlirOperationGetBlock(op)))
    return none;
  MlirOperation loop = mlirBlockGetParentOperation(mlirBlockArgumentGetOwner(index));
  bool keeps =
      scfForOpIsA(loop) &&
      (width == 64 || (fitsIn(scfForOpGetLowerBound(loop), width) && fitsIn(scfForOpGetUpperBound(loop), width)));
  return keeps ? loop : none;
}

// Ahead of the loop, once for all its rounds: it has none, or all its counts are below the size.
static void assertLoopBelow(MlirOperation op, MlirOperation loop, TileSize size, int axis) {
  TileBuilder b = tileBuilderBefore(loop);
  b.location = mlirOperationGetLocation(op);
  MlirValue lower = scfForOpGetLowerBound(loop), upper = scfForOpGetUpperBound(loop);
  MlirValue isInside = arithAndIOpBuild(&b, arithCmpIOpBuild(&b, lower, tileBuildIndex(&b, 0), ArithCmpI_Sge),
                                        arithCmpIOpBuild(&b, upper, tileSizeBuild(&b, size), ArithCmpI_Sle));
  build(&b, op, arithOrIOpBuild(&b, isInside, arithCmpIOpBuild(&b, lower, upper, ArithCmpI_Sge)), axis);
}

static bool isMadeIn(MlirOperation loop, TileSize size) {
  return !tileSizeIsConstant(size) && !mlirValueIsABlockArgument(size.value) &&
         tileIsWithin(tileDefiningOp(size.value), loop);
}

static uint64_t assertBelow(MlirOperation op, MlirValue index, TileSize size, int axis) {
  const TileKnownSizes none = {NULL};
  if (tileIndexFacts(index).low >= 0 && tileSizeIsBelow(&none, tileSizeOfIndex(&none, index), size))
    return 0;
  MlirOperation loop = loopOfCounter(op, index);
  if (!mlirOperationIsNull(loop) && !isMadeIn(loop, size)) {
    assertLoopBelow(op, loop, size, axis);
    return 1;
  }
  TileBuilder b = tileBuilderBefore(op);
  build(&b, op, arithCmpIOpBuild(&b, index, tileSizeBuild(&b, size), ArithCmpI_Ult), axis); // a negative one is large
  return 1;
}

// The part is as long as `part` says, and its offsets are those of the tile `whole`.
static uint64_t checkPart(MlirOperation op) {
  bool isSlice = tileSliceOpIsA(op);
  MlirType part = isSlice ? tileOnlyResultType(op) : tileInsertOpGetInputType(op);
  MlirType whole = isSlice ? tileSliceOpGetInputType(op) : tileInsertOpGetDestinationType(op);
  MlirAttribute offsets = isSlice ? tileSliceOpGetStaticOffsets(op) : tileInsertOpGetStaticOffsets(op);
  uint64_t count = 0;
  for (int axis = 0, open = 0; axis < mlirDenseArrayGetNumElements(offsets); ++axis) {
    if (!mlirShapedTypeIsDynamicSize(mlirDenseI64ArrayGetElement(offsets, axis)))
      continue;
    int64_t places = mlirShapedTypeGetDimSize(whole, axis) - mlirShapedTypeGetDimSize(part, axis) + 1;
    MlirValue offset = (isSlice ? tileSliceOpGetOffsets : tileInsertOpGetOffsets)(op, open++);
    count += assertBelow(op, offset, tileConstantSize(places), axis);
  }
  return count;
}

// Where a tile is loaded or stored: what is never accessed may lie anywhere.
static uint64_t checkView(MlirOperation op) {
  MlirAttribute fixed = tileViewOpGetFixed(op);
  uint64_t count = 0;
  for (MlirOpOperand use = mlirValueGetFirstUse(tileOnlyResult(op)); !mlirOpOperandIsNull(use);
       use = mlirOpOperandGetNextUse(use)) {
    MlirOperation user = mlirOpOperandGetOwner(use);
    bool isAccess = (tileLoadOpIsA(user) || tileStoreOpIsA(user)) && isInKernel(user);
    for (intptr_t i = 0; isAccess && i < tileViewOpGetNumIndices(op); ++i) {
      int axis = (int)mlirDenseI64ArrayGetElement(fixed, i);
      count += assertBelow(user, tileViewOpGetIndices(op, i), tileSizeOf(NULL, tileViewOpGetSource(op), axis), axis);
    }
  }
  return count;
}

static uint64_t checkElement(MlirOperation op) {
  bool isLoad = memrefLoadOpIsA(op), isStore = memrefStoreOpIsA(op);
  MlirValue memory = isLoad    ? memrefLoadOpGetMemref(op)
                     : isStore ? memrefStoreOpGetMemref(op)
                               : memrefAtomicRMWOpGetMemref(op);
  uint64_t count = 0;
  for (int axis = 0; axis < mlirShapedTypeGetRank(mlirValueGetType(memory)); ++axis) {
    MlirValue index = (isLoad    ? memrefLoadOpGetIndices
                       : isStore ? memrefStoreOpGetIndices
                                 : memrefAtomicRMWOpGetIndices)(op, axis);
    count += assertBelow(op, index, tileSizeOf(NULL, memory, axis), axis);
  }
  return count;
}

//===--- the pass -------------------------------------------------------------------===//

static bool run(MlirOperation kernel, MlirExtPass pass) {
  bool elements = mlirExtPassGetBool(pass, "elements");
  TileOps ops = tileCollectOps(kernel, elements ? isOfMemory : isPart);
  uint64_t count = 0;
  for (intptr_t i = 0; i < ops.count; ++i)
    if (isInKernel(ops.items[i]))
      count += tileViewOpIsA(ops.items[i]) ? checkView(ops.items[i])
               : elements                  ? checkElement(ops.items[i])
                                           : checkPart(ops.items[i]);
  mlirExtPassAddStatistic(pass, 0, count);
  tileOpsFree(&ops);
  return true;
}

const MlirExtPassDefinition tileCheckKernelPlacesPass = {
    .argument = "tile-check-kernel-places",
    .summary = "Assert in kernels that slices lie in their tiles, or that elements lie in their memory",
    .anchor = tileKernelOpName,
    .options = (const MlirExtPassOption[]){{"elements",
                                            "single elements and views that fix dimensions, in place of slices and "
                                            "insertions",
                                            MlirExtOption_Bool, "false"},
                                           {NULL}},
    .statistics = (const char *const[]){"checks: places that are asserted", NULL},
    .dialects = (const char *const[]){"arith", "memref", NULL},
    .registerDialects = tileRegisterDialect,
    .run = run,
};
