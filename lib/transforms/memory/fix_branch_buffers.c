// tile-fix-branch-buffers: branches write their results into buffers that stand ahead of them.
//
//   %r = scf.if %c -> memref {                   %r = memref.alloc()
//     %new = memref.alloc()                      scf.if %c {
//     … %new …                             →       … %r …
//     scf.yield %new                             } else {
//   } else {                                       memref.copy %h, %r
//     scf.yield %h                               }
//   }
//
// Why: whoever reads the result knows its memory, so the branches can become parts of one launch
// (tile-move-control-flow-to-device), and the buffer can leave a loop.
// Expects: host functions on buffers that were tensors, before deallocation; nobody writes a result to change what the
// branch gave. Leaves: branches that give scalars only. Left alone: branches without launches, results of unknown size.
// Cost: linear; a copy where a branch gives a buffer that it did not make. Paper: Cocktailer (OSDI 2023).
#include "dialects/tile/ops.h"
#include "lib/ir/builder.h"
#include "lib/ir/op_query.h"
#include "lib/ir/pass.h"
#include "lib/transforms/memory/carried_buffers.h"
#include "lib/transforms/memory/memory.h"
#include "mlir-c/BuiltinTypes.h"
#include "upstream/func.h"
#include "upstream/memref.h"
#include "upstream/scf.h"

enum { Statistic_Branches, Statistic_Copies };
enum { MostResults = 32 };

static MlirOperation endOf(MlirOperation branch, intptr_t region) {
  return mlirBlockGetTerminator(mlirRegionGetFirstBlock(mlirOperationGetRegion(branch, region)));
}

static MlirValue givenBy(MlirOperation branch, intptr_t region, intptr_t i) {
  return mlirOperationGetOperand(endOf(branch, region), i);
}

static bool isBuffer(MlirOperation branch, intptr_t i) { return mlirTypeIsAMemRef(tileResultType(branch, i)); }

static bool canStandAhead(MlirType type) {
  return mlirShapedTypeHasStaticShape(type) && mlirAttributeIsNull(mlirMemRefTypeGetMemorySpace(type)) &&
         mlirAffineMapIsIdentity(mlirMemRefTypeGetAffineMap(type));
}

static bool match(MlirOperation branch) {
  bool some = false;
  for (intptr_t i = 0; i < mlirOperationGetNumResults(branch); ++i) {
    some |= isBuffer(branch, i);
    if ((isBuffer(branch, i) && !canStandAhead(tileResultType(branch, i))) ||
        mlirTypeIsAUnrankedMemRef(tileResultType(branch, i)))
      return false;
  }
  TileOps launches = tileCollectOps(branch, tileLaunchOpIsA);
  some = some && launches.count && mlirOperationGetNumResults(branch) <= MostResults;
  tileOpsFree(&launches);
  return some;
}

// The branch makes the buffer, and gives it once.
static bool isMade(MlirOperation branch, intptr_t region, intptr_t i) {
  MlirOperation end = endOf(branch, region);
  intptr_t times = 0;
  for (intptr_t k = 0; k < mlirOperationGetNumOperands(end); ++k)
    times += mlirValueEqual(mlirOperationGetOperand(end, k), givenBy(branch, region, i));
  return times == 1 && tileBufferIsMadeIn(mlirOperationGetBlock(end), givenBy(branch, region, i));
}

static void fill(MlirOperation branch, intptr_t region, intptr_t i, MlirValue buffer, MlirExtPass pass) {
  MlirValue given = givenBy(branch, region, i);
  if (isMade(branch, region, i)) {
    MlirOperation allocation = tileDefiningOp(given);
    mlirValueReplaceAllUsesOfWith(given, buffer);
    mlirOperationDestroy(allocation);
    return;
  }
  TileBuilder b = tileBuilderBefore(endOf(branch, region));
  memrefCopyOpBuild(&b, given, buffer);
  mlirExtPassAddStatistic(pass, Statistic_Copies, 1);
}

// The branch's region, which gives scalars only.
static MlirRegion takeRegion(MlirOperation branch, intptr_t region) {
  MlirOperation end = endOf(branch, region);
  TileBuilder b = tileBuilderBefore(end);
  MlirValue scalars[MostResults];
  intptr_t count = 0;
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(end); ++i)
    if (!isBuffer(branch, i))
      scalars[count++] = mlirOperationGetOperand(end, i);
  tileBuildYield(&b, count, scalars);
  mlirOperationDestroy(end);
  MlirRegion taken = mlirRegionCreate();
  mlirRegionTakeBody(taken, mlirOperationGetRegion(branch, region));
  return taken;
}

static void rewrite(MlirOperation branch, MlirExtPass pass) {
  TileBuilder b = tileBuilderBefore(branch);
  MlirValue buffers[MostResults];
  MlirType scalars[MostResults];
  intptr_t count = 0;
  for (intptr_t i = 0; i < mlirOperationGetNumResults(branch); ++i) {
    if (!isBuffer(branch, i)) {
      scalars[count++] = tileResultType(branch, i);
      continue;
    }
    buffers[i] = tileBuildBuffer(&b, tileResultType(branch, i));
    for (intptr_t region = 0; region < 2; ++region)
      fill(branch, region, i, buffers[i], pass);
  }
  MlirRegion regions[] = {takeRegion(branch, 0), takeRegion(branch, 1)};
  MlirOperation made = scfIfOpBuild(&b, count, scalars, scfIfOpGetCondition(branch), regions[0], regions[1]);
  for (intptr_t i = 0, scalar = 0; i < mlirOperationGetNumResults(branch); ++i)
    mlirValueReplaceAllUsesOfWith(mlirOperationGetResult(branch, i),
                                  isBuffer(branch, i) ? buffers[i] : mlirOperationGetResult(made, scalar++));
  mlirOperationDestroy(branch);
  mlirExtPassAddStatistic(pass, Statistic_Branches, 1);
}

static bool run(MlirOperation function, MlirExtPass pass) {
  TileOps branches = tileCollectOps(function, scfIfOpIsA);
  for (intptr_t i = 0; i < branches.count; ++i) // inner ones first
    if (match(branches.items[i]))
      rewrite(branches.items[i], pass);
  tileOpsFree(&branches);
  return true;
}

const MlirExtPassDefinition tileFixBranchBuffersPass = {
    .argument = "tile-fix-branch-buffers",
    .summary = "Let branches write their results into buffers that stand ahead of them",
    .anchor = funcFuncOpName,
    .statistics = (const char *const[]){"branches: branches that give scalars only now",
                                        "copies: buffers that a branch gave and did not make", NULL},
    .dialects = (const char *const[]){"scf", "memref", NULL},
    .run = run,
};
