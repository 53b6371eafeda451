// Which launches may become part of one, and why others stay. See launch_program.h.
#include "dialects/tile/questions.h"
#include "lib/analysis/launches/arena_parts.h"
#include "lib/ir/op_query.h"
#include "lib/support/grow.h"
#include "lib/transforms/schedule/launch_program.h"
#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"
#include "upstream/arith.h"
#include "upstream/memref.h"
#include "upstream/scf.h"

enum { LargeGrid = 4, MostTasks = 4096 };

MlirOperation tileLaunchKernel(MlirOperation launch) {
  MlirOperation kernel = mlirExtSymbolLookup(launch, tileLaunchOpGetKernel(launch));
  return tileKernelOpIsA(kernel) ? kernel : (MlirOperation){NULL};
}

static MlirValue inductionOf(MlirOperation loop) {
  return mlirBlockGetArgument(mlirRegionGetFirstBlock(scfForOpGetRegion(loop)), 0);
}

// A memref whose elements lie at known places.
static bool isStatic(MlirType type, int64_t *offset) {
  int64_t strides[MostRank];
  if (!mlirShapedTypeHasStaticShape(type) || mlirShapedTypeGetRank(type) > MostRank ||
      mlirLogicalResultIsFailure(mlirMemRefTypeGetStridesAndOffset(type, strides, offset)) ||
      mlirShapedTypeIsDynamicStrideOrOffset(*offset))
    return false;
  for (intptr_t d = 0; d < mlirShapedTypeGetRank(type); ++d)
    if (mlirShapedTypeIsDynamicStrideOrOffset(strides[d]))
      return false;
  return true;
}

// A number, or the loop's index and a number.
static bool isFromIndex(const Rounds *rounds, MlirValue value, int64_t *times, int64_t *plus) {
  MlirOperation op = tileDefiningOp(value);
  *times = 0;
  if (tileConstantIndex(value, plus))
    return true;
  *plus = 0;
  *times = mlirValueEqual(value, inductionOf(rounds->loop));
  if (*times || mlirOperationIsNull(op) || !arithAddIOpIsA(op))
    return *times;
  *times = mlirValueEqual(arithAddIOpGetLhs(op), inductionOf(rounds->loop));
  return *times && tileConstantIndex(arithAddIOpGetRhs(op), plus);
}

bool tileLaunchPlaceOf(const Rounds *rounds, MlirValue memref, Place *place) {
  int64_t strides[MostRank], offset, fixed;
  MlirType type = mlirValueGetType(memref);
  *place = (Place){0, 0};
  if (isStatic(type, &place->offset))
    return true;
  MlirOperation view = tileDefiningOp(memref);
  if (mlirOperationIsNull(rounds->loop) || !memrefSubViewOpIsA(view) ||
      !isStatic(memrefSubViewOpGetSourceType(view), &place->offset) ||
      mlirLogicalResultIsFailure(
          mlirMemRefTypeGetStridesAndOffset(memrefSubViewOpGetSourceType(view), strides, &offset)))
    return false;
  MlirAttribute offsets = memrefSubViewOpGetStaticOffsets(view);
  for (intptr_t d = 0, dynamic = 0; d < mlirDenseArrayGetNumElements(offsets); ++d) {
    fixed = mlirDenseI64ArrayGetElement(offsets, d);
    if (!mlirShapedTypeIsDynamicSize(fixed)) {
      place->offset += fixed * strides[d];
      continue;
    }
    int64_t times;
    if (!isFromIndex(rounds, memrefSubViewOpGetOffsets(view, dynamic++), &times, &fixed))
      return false;
    place->offset += fixed * strides[d];
    place->stride += times * strides[d];
  }
  return true;
}

// Sizes and strides are known; in a loop the beginning may be another one in each round.
static bool isStaticBesideOffset(const Rounds *rounds, MlirType type) {
  int64_t strides[MostRank], offset;
  if (mlirOperationIsNull(rounds->loop))
    return isStatic(type, &offset);
  if (!mlirShapedTypeHasStaticShape(type) || mlirShapedTypeGetRank(type) > MostRank ||
      mlirLogicalResultIsFailure(mlirMemRefTypeGetStridesAndOffset(type, strides, &offset)))
    return false;
  for (intptr_t d = 0; d < mlirShapedTypeGetRank(type); ++d)
    if (mlirShapedTypeIsDynamicStrideOrOffset(strides[d]))
      return false;
  return true;
}

static bool isInside(MlirValue value, MlirOperation loop) {
  MlirBlock block = mlirValueIsABlockArgument(value) ? mlirBlockArgumentGetOwner(value)
                                                     : mlirOperationGetBlock(tileDefiningOp(value));
  return tileIsWithin(mlirBlockGetParentOperation(block), loop);
}

const char *tileLaunchWhyMemoryStays(const Rounds *rounds, MlirValue memref) {
  MlirType type = mlirValueGetType(memref);
  int64_t rootOffset, begin;
  Place place;
  if (!mlirTypeIsAMemRef(type))
    return "it has a scalar operand";
  MlirType root = mlirValueGetType(tileMemoryRoot(memref));
  if (!mlirTypeIsAMemRef(root) || !isStatic(root, &rootOffset) || rootOffset ||
      mlirValueIsNull(tileMemoryPart(memref, &begin)) || !tileLaunchPlaceOf(rounds, memref, &place) ||
      !isStaticBesideOffset(rounds, type))
    return "an operand's sizes or place are not known";
  if (!mlirOperationIsNull(rounds->loop) && isInside(tileMemoryRoot(memref), rounds->loop))
    return "an operand's memory is another one in each round";
  return NULL;
}

static const char *whyOperandStays(const Rounds *rounds, MlirOperation launch, intptr_t i) {
  MlirType parameter = mlirValueGetType(mlirBlockGetArgument(tileKernelBody(tileLaunchKernel(launch)), i));
  const char *why = tileLaunchWhyMemoryStays(rounds, tileLaunchOperand(launch, i));
  return why || isStaticBesideOffset(rounds, parameter) ? why : "an operand's sizes or place are not known";
}

typedef struct Contents {
  bool isScheduled, hasProduct, isLaidOut, isOpen; // open: has tiles without layouts
} Contents;

static MlirWalkResult look(MlirOperation op, void *userData) {
  Contents *contents = userData;
  contents->isScheduled |= tileAllocOpIsA(op) || tileWarpSpecializeOpIsA(op) || tileSyncOpIsA(op);
  contents->hasProduct |= tileIsProduct(op);
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); ++i)
    if (tileTypeIsATile(tileResultType(op, i)))
      *(mlirAttributeIsNull(tileTypeGetLayout(tileResultType(op, i))) ? &contents->isOpen : &contents->isLaidOut) =
          true;
  return MlirWalkResultAdvance;
}

static Contents contentsOf(MlirOperation kernel) {
  Contents contents = {false};
  mlirOperationWalk(kernel, look, &contents, MlirWalkPreOrder);
  return contents;
}

int64_t tileKernelWarps(MlirOperation kernel) {
  int64_t warps = 0;
  tileIntegerOf(kernel, "warps", &warps);
  return warps;
}

void tileKernelLooksAt(MlirOperation kernel, bool *isLaidOut, bool *isOpen) {
  Contents contents = contentsOf(kernel);
  *isLaidOut |= contents.isLaidOut;
  *isOpen |= contents.isOpen;
}

bool tileKernelHasProduct(MlirOperation kernel) { return contentsOf(kernel).hasProduct; }

static const char *whyKernelStays(const Scheduling *s, MlirOperation kernel) {
  if (mlirOperationIsNull(kernel) || mlirBlockIsNull(tileKernelBody(kernel)) ||
      !mlirBlockIsNull(mlirBlockGetNextInRegion(tileKernelBody(kernel))))
    return "its kernel is not in this module";
  if (!mlirAttributeIsNull(tileOpAttribute(kernel, "cooperative")))
    return "its kernel is cooperative";
  Contents contents = contentsOf(kernel);
  if (contents.isScheduled || tileKernelOpHasOrdered(kernel))
    return "its kernel is scheduled already";
  if (contents.hasProduct && tileMachineListHas(s->target.machine, "engines", "tma"))
    return "partitions of warps compute its product";
  return NULL;
}

bool tileLaunchReadGrid(MlirOperation launch, int64_t grid[GridRank], int64_t *programs) {
  *programs = 1;
  for (intptr_t d = 0; d < GridRank; ++d) {
    grid[d] = 1;
    if (d < tileLaunchOpGetNumGrid(launch) && !tileConstantIndex(tileLaunchOpGetGrid(launch, d), &grid[d]))
      return false;
    grid[d] = grid[d] < 0 ? 0 : grid[d];
    if (grid[d] > INT32_MAX || (grid[d] && *programs > INT32_MAX / grid[d]))
      return false;
    *programs *= grid[d];
  }
  return true;
}

const char *tileLaunchWhyBodyStays(const Scheduling *s, MlirOperation launch) {
  int64_t grid[GridRank], programs;
  if (tileLaunchOpGetNumResults(launch))
    return "it is on tensors";
  if (!mlirAttributeIsNull(tileLaunchOpGetCluster(launch)))
    return "it has clusters";
  if (!tileLaunchReadGrid(launch, grid, &programs))
    return "its grid is not known";
  if (!s->always && programs >= LargeGrid * s->target.search.cores)
    return "it fills the machine";
  return whyKernelStays(s, tileLaunchKernel(launch));
}

const char *tileLaunchWhyStays(const Scheduling *s, const Rounds *rounds, MlirOperation launch) {
  const char *why = tileLaunchWhyBodyStays(s, launch);
  for (intptr_t i = 0; !why && i < tileLaunchOperandCount(launch); ++i)
    why = whyOperandStays(rounds, launch, i);
  return why;
}

//===--- the model ----------------------------------------------------------------------------------===//

int64_t tileLaunchTurns(const Scheduling *s, MlirOperation launch, int64_t lanes) {
  int64_t grid[GridRank], programs;
  return tileLaunchReadGrid(launch, grid, &programs)
             ? tileLaneTurns(&s->target.search, programs, tileKernelWarps(tileLaunchKernel(launch)), lanes)
             : 0;
}

bool tileLaunchesGain(const Scheduling *s, MlirOperation at, const TileLaneCounts *counts) {
  TileLanePrice price = tileLanePriceOf(&s->target.search, counts);
  bool gains = s->always || price.lanes < price.host;
  if (!gains && s->remarks)
    tileRemark(at, "stays with the host: %.0f ns are predicted, %.0f ns as one launch", price.host * 1e9,
               price.lanes * 1e9);
  return gains;
}

//===--- becoming part of a program -----------------------------------------------------------------===//

static MlirBlock homeOf(MlirValue root) { return mlirOperationGetBlock(tileDefiningOp(root)); }

intptr_t tileProgramRootOf(Program *program, MlirValue memref) {
  MlirValue root = tileMemoryRoot(memref);
  bool isTemporary = tileMemoryIsTemporary(root);
  for (intptr_t i = 0; i < program->numRoots; ++i)
    if (mlirValueEqual(program->roots[i], root) || (isTemporary && tileMemoryIsTemporary(program->roots[i]) &&
                                                    mlirBlockEqual(homeOf(program->roots[i]), homeOf(root))))
      return i;
  if (program->numRoots == RoomForRoots)
    return -1;
  program->roots[program->numRoots] = root;
  return program->numRoots++;
}

bool tileProgramHasRoom(Program *program, MlirOperation launch) {
  intptr_t roots = program->numRoots;
  for (intptr_t i = 0; i < tileLaunchOperandCount(launch); ++i)
    if (tileProgramRootOf(program, tileLaunchOperand(launch, i)) < 0 || program->numRoots > MostRoots) {
      program->numRoots = roots;
      return false;
    }
  return program->count < MostTasks;
}

bool tileKernelHasTiles(MlirOperation kernel) {
  bool isLaidOut = false, isOpen = false;
  tileKernelLooksAt(kernel, &isLaidOut, &isOpen);
  return isLaidOut || isOpen;
}

const char *tileKernelWhyBesideStays(MlirOperation first, MlirOperation kernel) {
  bool isLaidOut = false, isOpen = false;
  if (mlirOperationIsNull(first) || !tileKernelHasTiles(kernel))
    return NULL;
  tileKernelLooksAt(kernel, &isLaidOut, &isOpen);
  tileKernelLooksAt(first, &isLaidOut, &isOpen);
  if (isOpen && isLaidOut)
    return "its tiles have layouts, or those of others have, but not all";
  return isOpen && tileKernelWarps(kernel) != tileKernelWarps(first) ? "it has other warps, and tiles without layouts"
                                                                     : NULL;
}

void tileProgramAddTask(Program *program, const TileLaunchOrder *order, intptr_t step) {
  Task task = {.launch = order->steps[step].op, .step = step};
  task.kernel = tileLaunchKernel(task.launch);
  tileLaunchReadGrid(task.launch, task.grid, &task.programs);
  program->tasks = tessera_grow(program->tasks, program->count, sizeof *program->tasks);
  program->tasks[program->count++] = task;
  tileProgramMarkWritten(program, task.launch);
}

void tileProgramMarkWritten(Program *program, MlirOperation launch) {
  for (intptr_t i = tileLaunchOpGetNumInputs(launch); i < tileLaunchOperandCount(launch); ++i)
    program->isWritten[tileProgramRootOf(program, tileLaunchOperand(launch, i))] = true;
}
