// What holds of a whole kernel or function: which ops it may hold, that its tensors have layouts all or none, that
// asynchronous values are waited for, and that a scheduled kernel fits its machine.
// Expects: every op inside verified by itself. Leaves: true, or a diagnostic at the op at fault, and false.
#include "dialects/tile/hooks.h"
#include "dialects/tile/ops.h"
#include "dialects/tile/questions.h"
#include "lib/ir/enclosing.h"
#include "lib/ir/op_format.h"
#include "lib/ir/op_query.h"
#include "lib/layout/algebra.h"
#include "lib/layout/text.h"
#include "lib/layout/tiling.h"
#include "lib/machine/machine.h"
#include "upstream/memref.h"
#include "upstream/scf.h"

#include <stdio.h>
#include <string.h>

//===--- asynchronous values --------------------------------------------------===//

// Every token (a result or an argument of a region) reaches a wait on every path, every product under way is waited for
// before it is used.
// Why: a copy nobody waits for lands in memory that has another use by then; an accumulator read early is garbage.
// Expects: structured control flow (scf, partitions).
// Cost: uses of tokens and accumulators only. A body of scf.for may run zero times, so a wait in it alone is not
// enough; calls are not looked into: tokens are no function values.

//===--- structure ----------------------------------------------------------===//

static bool isTakenIn(MlirValue token, MlirBlock block);

static bool isTakenInRegion(MlirValue token, MlirOperation op, intptr_t region) {
  MlirBlock block = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, region));
  return !mlirBlockIsNull(block) && isTakenIn(token, block);
}

static bool isTakenInAllRegions(MlirValue token, MlirOperation op) {
  for (intptr_t i = 0; i < mlirOperationGetNumRegions(op); ++i)
    if (!isTakenInRegion(token, op, i))
      return false;
  return mlirOperationGetNumRegions(op) > 0;
}

// Whatever way control takes through `op`, some op inside takes the token.
static bool isTakenThrough(MlirValue token, MlirOperation op) {
  if (scfIfOpIsA(op) || scfIndexSwitchOpIsA(op))
    return isTakenInAllRegions(token, op);
  bool runsFirstRegion = scfWhileOpIsA(op) || scfExecuteRegionOpIsA(op);
  return runsFirstRegion && isTakenInRegion(token, op, 0);
}

// An op that takes the token (waits, joins, yields, or carries it on as another value, which is checked by itself)
// runs whenever `block` does.
static bool isTakenIn(MlirValue token, MlirBlock block) {
  for (MlirOpOperand use = mlirValueGetFirstUse(token); !mlirOpOperandIsNull(use); use = mlirOpOperandGetNextUse(use)) {
    MlirOperation user = mlirOpOperandGetOwner(use), ancestor = tileAncestorIn(block, user);
    if (mlirOperationIsNull(ancestor))
      continue;
    if (mlirOperationEqual(ancestor, user) || isTakenThrough(token, ancestor))
      return true;
  }
  return false;
}

//===--- tokens -------------------------------------------------------------===//

static bool verifyToken(MlirOperation op, MlirValue token, MlirBlock scope) {
  if (!tileTypeIsAToken(mlirValueGetType(token)) || isTakenIn(token, scope))
    return true;
  MlirOpOperand use = mlirValueGetFirstUse(token);
  if (mlirOpOperandIsNull(use))
    return tileError(op, "makes a token that nothing waits for, expected a tile.wait on every path");
  return tileErrorWithNote(op, mlirOperationGetLocation(mlirOpOperandGetOwner(use)), "this use may not be reached",
                           "makes a token that reaches a wait on some paths only, expected a tile.wait on every path");
}

static bool verifyTokens(MlirOperation op) {
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); ++i)
    if (!verifyToken(op, mlirOperationGetResult(op, i), mlirOperationGetBlock(op)))
      return false;
  for (intptr_t r = 0; r < mlirOperationGetNumRegions(op); ++r) {
    MlirBlock block = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, r));
    for (intptr_t i = 0; !mlirBlockIsNull(block) && i < mlirBlockGetNumArguments(block); ++i)
      if (!verifyToken(op, mlirBlockGetArgument(block, i), block))
        return false;
  }
  return true;
}

//===--- a buffer outlives its tokens ---------------------------------------===//

// The alloc behind a buffer, through slots and reinterpretations; null for an argument.
static MlirOperation allocationOf(MlirValue buffer) {
  MlirOperation op = tileDefiningOp(tileMemoryRoot(buffer));
  return tileAllocOpIsA(op) ? op : (MlirOperation){0};
}

// Whether the token, itself or joined, is yielded by the terminator of `block`.
static MlirOperation yieldOf(MlirValue token, MlirBlock block, int depth) {
  for (MlirOpOperand use = mlirValueGetFirstUse(token); depth && !mlirOpOperandIsNull(use);
       use = mlirOpOperandGetNextUse(use)) {
    MlirOperation user = mlirOpOperandGetOwner(use);
    if (mlirOperationEqual(user, mlirBlockGetTerminator(block)))
      return user;
    MlirOperation yield =
        tileJoinOpIsA(user) ? yieldOf(tileJoinOpGetToken(user), block, depth - 1) : (MlirOperation){0};
    if (!mlirOperationIsNull(yield))
      return yield;
  }
  return (MlirOperation){0};
}

static bool verifyLifetime(MlirOperation op) {
  if (!tileCopyAsyncOpIsA(op) || mlirOperationGetNumResults(op) == 0)
    return true;
  bool toBuffer = tileTypeIsABuffer(tileCopyAsyncOpGetDestinationType(op));
  MlirOperation allocation = allocationOf(mlirOperationGetOperand(op, toBuffer ? 1 : 0));
  if (mlirOperationIsNull(allocation))
    return true;
  MlirOperation yield = yieldOf(tileCopyAsyncOpGetToken(op), mlirOperationGetBlock(allocation), 8);
  return mlirOperationIsNull(yield) ||
         tileErrorWithNote(op, mlirOperationGetLocation(yield), "the token leaves the scope of the buffer here",
                           "is still under way when its buffer dies, expected a tile.wait in the scope of the buffer");
}

//===--- products under way -------------------------------------------------===//

// Products that are known to have been started between this one and the op: in the same block.
static int64_t startedSince(MlirOperation product, MlirOperation op) {
  int64_t count = 0;
  if (!tileMmaAsyncOpIsA(product) || !mlirBlockEqual(mlirOperationGetBlock(product), mlirOperationGetBlock(op)))
    return 0;
  for (MlirOperation at = mlirOperationGetNextInBlock(product); !mlirOperationEqual(at, op);
       at = mlirOperationGetNextInBlock(at))
    count += tileMmaAsyncOpIsA(at);
  return count;
}

static bool isPending(MlirOperation op) {
  int64_t pending = 0;
  if (tileMmaWaitOpIsA(op))
    return tileIntegerOf(op, "pending", &pending) &&
           pending > startedSince(tileDefiningOp(tileMmaWaitOpGetInput(op)), op);
  return tileMmaAsyncOpIsA(op);
}

static bool mayTakePending(MlirOperation user, intptr_t operand) {
  return tileMmaWaitOpIsA(user) || scfYieldOpIsA(user) || (tileMmaAsyncOpIsA(user) && operand == 2);
}

static bool verifyUnderWay(MlirOperation op) {
  if (mlirOperationGetNumResults(op) == 0 || !isPending(op))
    return true;
  MlirValue value = tileOnlyResult(op);
  for (MlirOpOperand use = mlirValueGetFirstUse(value); !mlirOpOperandIsNull(use); use = mlirOpOperandGetNextUse(use)) {
    MlirOperation user = mlirOpOperandGetOwner(use);
    MlirStringRef name = tileOpName(user);
    if (!mayTakePending(user, mlirOpOperandGetOperandNumber(use)))
      return tileErrorWithNote(
          op, mlirOperationGetLocation(user), "it is used here",
          "is still under way when '%.*s' uses it, expected it as an accumulator of tile.mma_async, "
          "in tile.mma_wait or in scf.yield",
          (int)name.length, name.data);
  }
  return true;
}

static bool verifyAsyncValues(MlirOperation op) { return verifyTokens(op) && verifyLifetime(op) && verifyUnderWay(op); }

//===--- the machine ----------------------------------------------------------===//

// A scheduled kernel against its machine: threads, registers, shared memory, copy engines, MMA atoms.
// Why: nobody hard-codes a chip; what a chip has stands in its file, and a kernel that asks for more is wrong here
// already, not in a back end.
// Expects: ops verified by themselves. Leaves: true, or a diagnostic at the op at fault with a note at the kernel.
// Cost: the machine's file is read once per kernel. What a file does not say is not checked.

typedef struct Fit {
  MlirOperation kernel;
  TileMachine *machine;
  bool ok;
} Fit;

static int64_t numberOf(const Fit *fit, const char *key, int64_t otherwise) {
  int64_t value = otherwise;
  tileMachineGetInteger(fit->machine, key, &value);
  return value;
}

static bool expectAtMost(const Fit *fit, MlirOperation op, const char *what, int64_t seen, const char *key) {
  int64_t limit = numberOf(fit, key, INT64_MAX);
  return seen <= limit || tileErrorWithNote(op, mlirOperationGetLocation(fit->kernel), "the machine is named here",
                                            "has %lld %s, expected at most %s's %lld", (long long)seen, what,
                                            tileMachineGetName(fit->machine), (long long)limit);
}

//===--- threads, registers, memory -----------------------------------------===//

static bool verifyThreads(const Fit *fit) {
  int64_t warps = 1;
  tileIntegerOf(fit->kernel, "warps", &warps);
  return expectAtMost(fit, fit->kernel, "threads", warps * numberOf(fit, "warp.width", 1), "threads.per_block");
}

static bool verifyRegisters(const Fit *fit, MlirOperation op) {
  int64_t sum = 0, width = numberOf(fit, "warp.width", 1);
  for (intptr_t i = 0, count = tileArrayCount(op, "registers"); i < count; ++i) {
    int64_t registers = tileArrayAt(op, "registers", i);
    if (!expectAtMost(fit, op, "registers in a thread", registers, "registers.per_thread"))
      return false;
    sum += registers * tileArrayAt(op, "warps", i) * width;
  }
  return expectAtMost(fit, op, "registers in all partitions", sum, "registers.per_core");
}

// One buffer by itself; how several share a level is planned elsewhere.
static bool verifyBuffer(const Fit *fit, MlirOperation op) {
  MlirType type = tileOnlyResultType(op);
  if (!tileTypeIsABuffer(type) || !tileStringEquals(tileBufferTypeGetLevel(type), "shared"))
    return true;
  TileLayout layout = tileLayoutAttrGetLayout(tileBufferTypeGetLayout(type));
  int64_t stages = tileBufferTypeGetStages(type), width = tileElementWidth(tileTypeGetElement(type));
  int64_t bits = (int64_t)tileLayoutPaddedSize(&layout) * (width ? width : 64) * (stages ? stages : 1);
  return expectAtMost(fit, op, "bytes of shared memory", (bits + 7) / 8, "shared.per_block.bytes");
}

//===--- engines ------------------------------------------------------------===//

static bool verifyEngine(const Fit *fit, MlirOperation op) {
  MlirStringRef engine = tileKeywordOf(op, "engine");
  char word[64];
  snprintf(word, sizeof word, "%.*s", (int)engine.length, engine.data);
  if (!engine.length || tileMachineListHas(fit->machine, "engines", word))
    return true;
  const char *engines = tileMachineGetText(fit->machine, "engines");
  return tileErrorWithNote(op, mlirOperationGetLocation(fit->kernel), "the machine is named here",
                           "copies by engine \"%s\", expected one of %s's: %s", word, tileMachineGetName(fit->machine),
                           engines ? engines : "it has none");
}

//===--- atoms --------------------------------------------------------------===//

// The operand's layout is the atom's fragment, repeated. An empty fragment: the operand lies in memory.
static bool verifyFragment(const Fit *fit, MlirOperation op, const char *name, const char *fragmentText) {
  MlirType type = mlirValueGetType(tileOpOperand(op, name));
  MlirAttribute attribute = tileTypeGetLayout(type);
  TileLayout layout, fragment, tiling;
  TileError error;
  if (!*fragmentText || !tileTypeIsATile(type) || mlirAttributeIsNull(attribute))
    return true;
  layout = tileLayoutAttrGetLayout(attribute);
  // At rank 3 the first axis is a batch, which no fragment has.
  if (!tileLayoutParse(fragmentText, strlen(fragmentText), &fragment, &error) ||
      (tileTypeGetRank(type) == 3 && !tileLayoutInsertAxis(&fragment, 0, &fragment, &error)) ||
      tileLayoutDivide(&layout, &fragment, &tiling, &error))
    return true;
  MlirStringRef seen = tileLayoutAttrGetText(attribute);
  return tileErrorWithNote(op, mlirOperationGetLocation(fit->kernel), "the machine is named here",
                           "%s has layout <%.*s>, expected the atom's fragment <%s>, repeated: %s", name,
                           (int)seen.length, seen.data, fragmentText, error.text);
}

static bool verifyTypes(const Fit *fit, MlirOperation op, const TileMachineAtom *atom) {
  char text[3][32];
  static const char *const names[] = {"lhs", "rhs", "accumulator"};
  for (int i = 0; i < 3; ++i)
    tileTypeText(tileTypeGetElement(mlirValueGetType(tileOpOperand(op, names[i]))), text[i], sizeof text[i]);
  const char *part = tileFactorPart(op);
  if (tileMachineAtomTakes(atom, text[0], text[1], text[2]) ||
      (part && tileMachineAtomTakes(atom, part, part, text[2])))
    return true;
  return tileErrorWithNote(op, mlirOperationGetLocation(fit->kernel), "the machine is named here",
                           "multiplies %s by %s into %s, expected what the atom takes: %s", text[0], text[1], text[2],
                           atom->types);
}

// "fma" is no instruction of a file: threads multiply and add scalars. Each has all of k for its accumulators.
static bool verifyMultiplyAdd(MlirOperation op, uint32_t side, const char *name) {
  MlirType sum = tileOnlyResultType(op), type = mlirValueGetType(tileOpOperand(op, name));
  MlirAttribute accumulator = tileTypeGetLayout(sum), seen = tileTypeGetLayout(type);
  intptr_t rank = tileTypeGetRank(sum);
  TileLayout layout, wanted;
  TileError error;
  if (mlirAttributeIsNull(accumulator) || mlirAttributeIsNull(seen))
    return true;
  layout = tileLayoutAttrGetLayout(accumulator);
  if (!tileLayoutMultiplyAdd(&layout, side, (uint32_t)rank, tileTypeGetSize(type, side == 0 ? rank - 1 : rank - 2),
                             &wanted, &error))
    return tileError(op, "%s has no layout for multiply-adds: %s", name, error.text);
  layout = tileLayoutAttrGetLayout(seen);
  if (tileLayoutEquals(&layout, &wanted))
    return true;
  MlirStringRef seenText = tileLayoutAttrGetText(seen);
  MlirStringRef wantedText = tileLayoutAttrGetText(tileLayoutAttrGet(mlirOperationGetContext(op), &wanted));
  return tileError(op, "%s has layout <%.*s>, expected <%.*s>: all of k in the threads that accumulate", name,
                   (int)seenText.length, seenText.data, (int)wantedText.length, wantedText.data);
}

// Each thread has the scales of its accumulators.
static bool verifyScales(MlirOperation op) {
  return !tileMmaScaledOpIsA(op) || (verifyMultiplyAdd(op, 0, "lhs_scale") && verifyMultiplyAdd(op, 1, "rhs_scale"));
}

// The sums of a block are whole steps of the instruction.
static bool verifyBlock(const Fit *fit, MlirOperation op, const char *name, const TileMachineAtom *atom) {
  int64_t block = tileMmaScaledOpGetBlockValue(op);
  return block % atom->k == 0 ||
         tileErrorWithNote(op, mlirOperationGetLocation(fit->kernel), "the machine is named here",
                           "has blocks of %lld and atom %s, expected an atom whose depth, %lld, divides the block",
                           (long long)block, name, (long long)atom->k);
}

// The instruction takes the scales.
static bool verifyTakenScales(const Fit *fit, MlirOperation op, const char *name, const TileMachineAtom *atom) {
  if (tileMmaScaledOpIsA(op) && tileHasScales(op, atom->scales, atom->block))
    return verifyFragment(fit, op, "lhs_scale", atom->fragment[4]) &&
           verifyFragment(fit, op, "rhs_scale", atom->fragment[5]);
  return tileErrorWithNote(op, mlirOperationGetLocation(fit->kernel), "the machine is named here",
                           "has atom %s, which takes scales of %s for blocks of %lld", name, atom->scales,
                           (long long)atom->block);
}

static bool verifyAtom(const Fit *fit, MlirOperation op) {
  MlirStringRef text = tileKeywordOf(op, "atom");
  TileMachineAtom atom;
  TileError error;
  char name[64];
  snprintf(name, sizeof name, "%.*s", (int)text.length, text.data);
  if (!text.length)
    return true;
  if (tileStringEquals(text, "fma"))
    return verifyMultiplyAdd(op, 0, "lhs") && verifyMultiplyAdd(op, 1, "rhs") && verifyScales(op);
  if (!tileMachineFindAtom(fit->machine, name, &atom, &error))
    return tileErrorWithNote(op, mlirOperationGetLocation(fit->kernel), "the machine is named here", "%s", error.text);
  if (tileMmaSparseOpIsA(op) != !!atom.fragment[3][0])
    return tileErrorWithNote(op, mlirOperationGetLocation(fit->kernel), "the machine is named here",
                             "has atom %s, which multiplies %s left factors", name,
                             atom.fragment[3][0] ? "sparse" : "dense");
  if (atom.fragment[3][0] && !verifyFragment(fit, op, "places", atom.fragment[3]))
    return false;
  if (atom.scales[0] ? !verifyTakenScales(fit, op, name, &atom)
                     : tileMmaScaledOpIsA(op) && (!verifyScales(op) || !verifyBlock(fit, op, name, &atom)))
    return false;
  return verifyTypes(fit, op, &atom) && verifyFragment(fit, op, "lhs", atom.fragment[0]) &&
         verifyFragment(fit, op, "rhs", atom.fragment[1]) && verifyFragment(fit, op, "accumulator", atom.fragment[2]);
}

//===--- the walk -----------------------------------------------------------===//

static bool verifyOp(const Fit *fit, MlirOperation op) {
  if (tileWarpSpecializeOpIsA(op))
    return verifyRegisters(fit, op);
  if (tileAllocOpIsA(op))
    return verifyBuffer(fit, op);
  if (tileCopyAsyncOpIsA(op))
    return verifyEngine(fit, op);
  bool isProduct = tileIsProduct(op) || tileMmaScaledOpIsA(op) || tileMmaAsyncOpIsA(op);
  return !isProduct || verifyAtom(fit, op);
}

static MlirWalkResult visit(MlirOperation op, void *data) {
  Fit *fit = data;
  fit->ok = verifyOp(fit, op);
  return fit->ok ? MlirWalkResultAdvance : MlirWalkResultInterrupt;
}

// True for a kernel without a `machine`.
static bool verifyOnMachine(MlirOperation kernel) {
  MlirAttribute machine = tileOpAttribute(kernel, "machine");
  TileError error;
  if (mlirAttributeIsNull(machine))
    return true;
  Fit fit = {.kernel = kernel, .machine = tileMachineAttrLoad(machine, &error), .ok = true};
  if (!fit.machine)
    return tileError(kernel, "%s", error.text);
  fit.ok = verifyThreads(&fit);
  if (fit.ok)
    mlirOperationWalk(kernel, visit, &fit, MlirWalkPreOrder);
  tileMachineDestroy(fit.machine);
  return fit.ok;
}

//===--- which ops ------------------------------------------------------------===//

typedef struct Refusal {
  const char *prefix; // of op names: a dialect with its dot, or one op
  const char *reason;
} Refusal;

static const char *const scalarMemrefOps[] = {
    memrefDimOpName,  memrefLoadOpName,      memrefStoreOpName,           memrefSubViewOpName,
    memrefCastOpName, memrefGetGlobalOpName, memrefReinterpretCastOpName, memrefExtractAlignedPointerAsIndexOpName};

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
    {"memref.",
     "only dim, load, store, subview, cast, get_global and addresses: use tile.view, tile.load and tile.store"},
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

// Why: some upstream ops accept, change or drop encodings silently (OPS.md §0), so a layout would be lost unseen.

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

//===--- the whole ------------------------------------------------------------===//

static bool checkName(Walk *walk, MlirOperation op) {
  const char *reason = reasonAgainst(tileOpName(op));
  if (!reason)
    return true;
  MlirStringRef holder = tileOpName(walk->root);
  return tileErrorWithNote(op, mlirOperationGetLocation(walk->root), "in this one", "cannot stand in a %.*s: %s",
                           (int)holder.length, holder.data, reason);
}

static MlirWalkResult visitOp(MlirOperation op, void *data) {
  Walk *walk = data;
  bool isRoot = mlirOperationEqual(op, walk->root);
  walk->ok = (isRoot || checkName(walk, op)) && checkValues(walk, op) && verifyAsyncValues(op);
  return walk->ok ? MlirWalkResultAdvance : MlirWalkResultInterrupt;
}

static bool verifyBody(MlirOperation op) {
  Walk walk = {.root = op, .ok = true};
  mlirOperationWalk(op, visitOp, &walk, MlirWalkPreOrder);
  return walk.ok;
}

bool tileKernelOpVerifyRegions(MlirOperation op) { return verifyBody(op) && verifyOnMachine(op); }

bool tileFuncOpVerifyRegions(MlirOperation op) { return verifyBody(op); }
