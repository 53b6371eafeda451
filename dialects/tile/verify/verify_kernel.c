// What holds of a whole kernel or function: which ops it may hold, and that its tensors have layouts all or none.
// Why: some upstream ops accept, change or drop encodings silently (OPS.md §0), so a layout would be lost unseen.
// Expects: every op inside verified by itself. Leaves: true, or a diagnostic at the op at fault, and false.
// Asynchronous values (tokens, products under way) are checked in verify_async.c, the machine in verify_machine.c; both
// are called from here.
#include "dialects/tile/async.h"
#include "dialects/tile/hooks.h"
#include "dialects/tile/on_machine.h"
#include "dialects/tile/ops.h"
#include "dialects/tile/questions.h"

#include "upstream/memref.h"
#include <string.h>

//===--- which ops ----------------------------------------------------------===//

typedef struct Refusal {
  const char *prefix; // of op names: a dialect with its dot, or one op
  const char *reason;
} Refusal;

static const char *const scalarMemrefOps[] = {memrefDimOpName,     memrefLoadOpName, memrefStoreOpName,
                                              memrefSubViewOpName, memrefCastOpName, memrefGetGlobalOpName};

// Upstream's dialects that belong to another level. An op of a dialect that is not upstream's is its author's business.
static const Refusal refusals[] = {
    {"tensor.", "it would lose layouts silently: use tile.slice, insert, cat, reshape, broadcast"},
    {"linalg.", "it belongs to the tensor program: use tile.mma, tile.reduce and arith"},
    {"bufferization.", "it belongs to the host: memory comes as memrefs"},
    {"sparse_tensor.", "it belongs to the tensor program"},
    {"tosa.", "it belongs to the tensor program"},
    {"shape.", "it belongs to the tensor program"},
    {"func.", "it belongs to the host: use tile.func and tile.call"},
    {"async.", "it belongs to the host"},
    {"gpu.", "threads appear when kernels are lowered"},
    {"nvgpu.", "threads appear when kernels are lowered"},
    {"nvvm.", "threads appear when kernels are lowered"},
    {"rocdl.", "threads appear when kernels are lowered"},
    {"amdgpu.", "threads appear when kernels are lowered"},
    {"llvm.", "it belongs below the kernel level"},
    {"vector.", "it belongs below the kernel level: tiles are tensors"},
    {"affine.", "it belongs below the kernel level: use scf"},
    {"cf.", "it belongs below the kernel level: use scf"},
    {"memref.", "only dim, load, store, subview, cast and get_global: use tile.view, tile.load and tile.store"},
    {tileKernelOpName, "kernels do not nest"},
    {tileFuncOpName, "functions stand beside kernels"},
    {tileLaunchOpName, "it belongs to the host"},
    {tileTransferOpName, "it belongs to the host"},
};

static bool isScalarMemref(MlirStringRef name) {
  for (size_t i = 0; i < sizeof scalarMemrefOps / sizeof *scalarMemrefOps; ++i)
    if (tileStringEquals(name, scalarMemrefOps[i]))
      return true;
  return false;
}

// Null when the op may stand in a kernel.
static const char *reasonAgainst(MlirStringRef name) {
  for (size_t i = 0; i < sizeof refusals / sizeof *refusals; ++i)
    if (tileStringStartsWith(name, refusals[i].prefix))
      return isScalarMemref(name) ? NULL : refusals[i].reason;
  return NULL;
}

//===--- layouts: all or none -----------------------------------------------===//

typedef struct Walk {
  MlirOperation root;
  MlirValue withLayout, without; // the first of each kind met; null before
  bool ok;
} Walk;

static bool checkPair(Walk *walk, MlirOperation op) {
  if (mlirValueIsNull(walk->withLayout) || mlirValueIsNull(walk->without))
    return true;
  return tileErrorWithNote(
      op, mlirValueGetLocation(walk->withLayout), "this tile has a layout",
      "has both %s and %s in one kernel, expected layouts on all tiles (scheduled level) or on none",
      TILE_TYPE_TEXT(mlirValueGetType(walk->withLayout)), TILE_TYPE_TEXT(mlirValueGetType(walk->without)));
}

// Warps that run `op`: those of its partition, or the kernel's. False where nobody says.
static bool warpsAround(MlirOperation op, int64_t *warps) {
  MlirOperation partitions = tileParentOp(op, tileWarpSpecializeOpIsA);
  if (mlirOperationIsNull(partitions))
    return tileIntegerOf(tileParentOp(op, tileKernelOpIsA), "warps", warps);
  while (!mlirOperationEqual(mlirOperationGetParentOperation(op), partitions))
    op = mlirOperationGetParentOperation(op);
  MlirRegion region = mlirBlockGetParentRegion(mlirOperationGetBlock(op));
  for (intptr_t i = 0; i < tileArrayCount(partitions, "warps"); ++i)
    if (mlirRegionEqual(region, mlirOperationGetRegion(partitions, i))) {
      *warps = tileArrayAt(partitions, "warps", i);
      return true;
    }
  return false;
}

static bool checkWarps(Walk *walk, MlirOperation op, MlirAttribute attribute) {
  TileLayout layout = tileLayoutAttrGetLayout(attribute);
  int64_t seen = (int64_t)tileLayoutDimSize(&layout, TileLayoutWarp), wanted;
  if (mlirOperationEqual(op, walk->root) || !warpsAround(op, &wanted) || seen == wanted)
    return true;
  MlirStringRef text = tileLayoutAttrGetText(attribute);
  return tileErrorWithNote(op, mlirOperationGetLocation(walk->root), "in this kernel",
                           "has a tile of layout <%.*s>, over %lld warps, expected the %lld that run this op",
                           (int)text.length, text.data, (long long)seen, (long long)wanted);
}

static bool checkTensor(Walk *walk, MlirOperation op, MlirValue value) {
  MlirType type = mlirValueGetType(value);
  if (!mlirTypeIsATensor(type))
    return true;
  if (!tileTypeIsATile(type))
    return tileErrorWithNote(op, mlirOperationGetLocation(walk->root), "in this kernel",
                             "has a value of type %s, expected static sizes and rank at least 1: tiles have them, and "
                             "what has rank 0 is a scalar",
                             TILE_TYPE_TEXT(type));
  MlirAttribute encoding = mlirRankedTensorTypeGetEncoding(type);
  if (!mlirAttributeIsNull(encoding) && !tileAttributeIsALayout(encoding))
    return tileErrorWithNote(op, mlirOperationGetLocation(walk->root), "in this kernel",
                             "has a value of type %s, expected no encoding but #tile.layout", TILE_TYPE_TEXT(type));
  MlirValue *first = mlirAttributeIsNull(encoding) ? &walk->without : &walk->withLayout;
  if (mlirValueIsNull(*first))
    *first = value;
  return checkPair(walk, op) && (mlirAttributeIsNull(encoding) || checkWarps(walk, op, encoding));
}

static bool checkArguments(Walk *walk, MlirOperation op) {
  for (intptr_t r = 0; r < mlirOperationGetNumRegions(op); ++r)
    for (MlirBlock block = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, r)); !mlirBlockIsNull(block);
         block = mlirBlockGetNextInRegion(block))
      for (intptr_t i = 0; i < mlirBlockGetNumArguments(block); ++i)
        if (!checkTensor(walk, op, mlirBlockGetArgument(block, i)))
          return false;
  return true;
}

static bool checkValues(Walk *walk, MlirOperation op) {
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); ++i)
    if (!checkTensor(walk, op, mlirOperationGetResult(op, i)))
      return false;
  return checkArguments(walk, op);
}

//===--- the walk -----------------------------------------------------------===//

static bool checkName(Walk *walk, MlirOperation op) {
  const char *reason = reasonAgainst(tileOpName(op));
  if (!reason)
    return true;
  MlirStringRef holder = tileOpName(walk->root);
  return tileErrorWithNote(op, mlirOperationGetLocation(walk->root), "in this one", "cannot stand in a %.*s: %s",
                           (int)holder.length, holder.data, reason);
}

static MlirWalkResult visit(MlirOperation op, void *data) {
  Walk *walk = data;
  bool isRoot = mlirOperationEqual(op, walk->root);
  walk->ok = (isRoot || checkName(walk, op)) && checkValues(walk, op) && tileVerifyAsyncValues(op);
  return walk->ok ? MlirWalkResultAdvance : MlirWalkResultInterrupt;
}

static bool verifyBody(MlirOperation op) {
  Walk walk = {.root = op, .ok = true};
  mlirOperationWalk(op, visit, &walk, MlirWalkPreOrder);
  return walk.ok;
}

bool tileKernelOpVerifyRegions(MlirOperation op) { return verifyBody(op) && tileVerifyOnMachine(op); }

bool tileFuncOpVerifyRegions(MlirOperation op) { return verifyBody(op); }
