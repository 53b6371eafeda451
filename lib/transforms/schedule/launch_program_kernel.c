// The kernel of launches that become one, and what the host does ahead of its launch. See launch_program.h.
// The kernel is templates/program.mlir with the bodies of the kinds. Addresses are known before the awaits, and the
// words of an item are on their way while the item before runs: no lane waits for the plan.
#include "lib/transforms/schedule/launch_program.h"

#include "dialects/tile/layouts.h"
#include "dialects/tile/questions.h"
#include "lib/analysis/launches/arena_parts.h"
#include "lib/ir/op_query.h"
#include "lib/ir/table.h"
#include "lib/ir/template.h"
#include "lib/layout/layout.h"
#include "lib/support/integer.h"
#include "lib/transforms/schedule/templates.h"
#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"
#include "upstream/arith.h"
#include "upstream/memref.h"
#include "upstream/scf.h"

#include <stdlib.h>

enum {
  MostSpread = 32,       // words of a row of operands that threads hold in registers
  MostSpreadCounts = 16, // counts of segments that threads hold in registers
  MostCarried = 32,      // values of loops
  MostAhead = 64         // registers of what is loaded ahead
};

struct Emission;
typedef TileLayout LayoutOf(const struct Emission *e, int64_t words);

// What the hooks of the template share, and the types of what the plan gives.
typedef struct Emission {
  const Program *program;
  int64_t warps, width, row;          // row: words of a launch in the table of operands
  MlirValue table, task, kind, index; // index: the loop's
  MlirOperation awaits;               // of an item, ahead of its first program
  MlirValue addresses[MostSpread];
  LayoutOf *layoutOfCounts;
  TileTable written; // parts of memory that launches write
} Emission;

static MlirValue asIndex(TileBuilder *b, MlirValue word) {
  return arithIndexCastOpBuild(b, mlirIndexTypeGet(b->context), word);
}

//===--- words for all threads ------------------------------------------------------------===//

static void appendCopies(TileLayout *layout, uint32_t dim, int64_t size) {
  TileError error;
  for (; size > 1; size /= 2)
    tileLayoutAppendBit(layout, dim, (TileLayoutPoint){{0}}, &error);
}

// Words that a warp's lanes load together: neighbours in a warp, where there are more warps than words copies.
static TileLayout layoutOfLoad(const Emission *e, int64_t words) {
  TileLayout layout = tileLayoutEmpty(TileLayoutValues);
  TileError error;
  int64_t own = words / tessera_min(words, e->warps), each = tessera_min(own, e->width);
  tileLayoutAppendWalk(&layout, TileLayoutReg, (uint64_t)(own / each), 0, (uint64_t)each, &error);
  tileLayoutAppendWalk(&layout, TileLayoutLane, (uint64_t)each, 0, 1, &error);
  appendCopies(&layout, TileLayoutLane, e->width / each);
  tileLayoutAppendWalk(&layout, TileLayoutWarp, (uint64_t)(words / own), 0, (uint64_t)own, &error);
  appendCopies(&layout, TileLayoutWarp, e->warps / (words / own));
  return layout;
}

// All words in each thread.
static TileLayout layoutOfSpread(const Emission *e, int64_t words) {
  TileLayout layout = tileLayoutEmpty(TileLayoutValues);
  TileError error;
  tileLayoutAppendWalk(&layout, TileLayoutReg, (uint64_t)words, 0, 1, &error);
  appendCopies(&layout, TileLayoutLane, e->width);
  appendCopies(&layout, TileLayoutWarp, e->warps);
  return layout;
}

// Words in the lanes of each warp, so that a thread holds few of many. Shuffles bring one to all lanes.
static TileLayout layoutOfWarps(const Emission *e, int64_t words) {
  TileLayout layout = tileLayoutEmpty(TileLayoutValues);
  TileError error;
  int64_t each = tessera_min(words, e->width);
  tileLayoutAppendWalk(&layout, TileLayoutReg, (uint64_t)(words / each), 0, (uint64_t)each, &error);
  tileLayoutAppendWalk(&layout, TileLayoutLane, (uint64_t)each, 0, 1, &error);
  appendCopies(&layout, TileLayoutLane, e->width / each);
  appendCopies(&layout, TileLayoutWarp, e->warps);
  return layout;
}

// Without warps nothing has a layout yet.
static MlirType wordsType(MlirContext context, const Emission *e, int64_t words, unsigned bits, LayoutOf *layoutOf) {
  MlirAttribute attribute = mlirAttributeGetNull();
  if (e->warps) {
    TileLayout layout = layoutOf(e, words);
    attribute = tileLayoutAttrGet(context, &layout);
  }
  return tileTileTypeGet(1, &words, mlirIntegerTypeGet(context, bits), attribute);
}

static MlirValue spread(TileBuilder *b, const Emission *e, MlirValue words) {
  MlirType type = mlirValueGetType(words);
  unsigned bits = mlirIntegerTypeGetWidth(tileTypeGetElement(type));
  return e->warps ? tileConvertLayoutOpBuild(
                        b, wordsType(b->context, e, tileTypeGetSize(type, 0), bits, layoutOfSpread), words)
                  : words;
}

static MlirValue wordAt(TileBuilder *b, const Emission *e, MlirValue words, int64_t at) {
  MlirType element = tileTypeGetElement(mlirValueGetType(words));
  MlirType one = wordsType(b->context, e, 1, mlirIntegerTypeGetWidth(element), layoutOfSpread);
  MlirValue word = tileSliceOpBuild(b, one, words, 0, NULL, mlirDenseI64ArrayGet(b->context, 1, &at));
  return tileOnlyResult(tileReduceOpCreate(
      b, 1, &element, 1, &word, mlirStringAttrGet(b->context, tileString(arithAddIOpName)),
      mlirDenseI64ArrayGet(b->context, 1, (int64_t[]){0}), mlirAttributeGetNull(), mlirRegionCreate()));
}

// Tiles that the regions of an op carry have the layouts of what they start from.
static void layOutCarried(MlirOperation op, const MlirValue *initial, intptr_t count) {
  for (intptr_t i = 0; i < count; ++i) {
    MlirType type = mlirValueGetType(initial[i]);
    mlirValueSetType(mlirOperationGetResult(op, i), type);
    for (intptr_t r = 0; r < mlirOperationGetNumRegions(op); ++r) {
      MlirBlock block = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, r));
      intptr_t own = mlirBlockGetNumArguments(block) - count; // the index of scf.for; none: scf.if
      if (own >= 0)
        mlirValueSetType(mlirBlockGetArgument(block, own + i), type);
    }
  }
}

// What a loop starts from, or what the first region of a branch gives.
static intptr_t initialOf(MlirOperation op, MlirValue *values) {
  bool isIf = scfIfOpIsA(op), isWhile = scfWhileOpIsA(op);
  intptr_t count = mlirOperationGetNumResults(op);
  MlirOperation end =
      isIf ? mlirBlockGetTerminator(mlirRegionGetFirstBlock(scfIfOpGetThenRegion(op))) : (MlirOperation){NULL};
  for (intptr_t i = 0; i < count; ++i)
    values[i] = isIf      ? mlirOperationGetOperand(end, i)
                : isWhile ? scfWhileOpGetInits(op, i)
                          : scfForOpGetInitArgs(op, i);
  return count;
}

// The template's tiles have no layouts, as hooks do not take them: they get those that belong together.
static MlirWalkResult layOut(MlirOperation op, void *userData) {
  const Emission *e = userData;
  MlirValue initial[MostCarried];
  if ((scfForOpIsA(op) || scfWhileOpIsA(op) || scfIfOpIsA(op)) && mlirOperationGetNumResults(op) <= MostCarried) {
    layOutCarried(op, initial, initialOf(op, initial));
    return MlirWalkResultAdvance;
  }
  if (mlirOperationGetNumResults(op) != 1)
    return MlirWalkResultAdvance;
  MlirType type = tileOnlyResultType(op);
  LayoutOf *layoutOf = tileLoadOpIsA(op) ? layoutOfLoad : tileSliceOpIsA(op) ? layoutOfSpread : e->layoutOfCounts;
  if (tileTypeIsATile(type) && mlirAttributeIsNull(tileTypeGetLayout(type)))
    mlirValueSetType(tileOnlyResult(op), wordsType(mlirOperationGetContext(op), e, tileTypeGetSize(type, 0),
                                                   mlirIntegerTypeGetWidth(tileTypeGetElement(type)), layoutOf));
  return MlirWalkResultAdvance;
}

//===--- operands -------------------------------------------------------------------------===//

// The parameter's type at an address of its own: as it is, but from 0 on.
static MlirType typeAtAddress(MlirType type) {
  int64_t strides[MostRank], sizes[MostRank], offset;
  intptr_t rank = mlirShapedTypeGetRank(type);
  mlirMemRefTypeGetStridesAndOffset(type, strides, &offset);
  if (!offset)
    return type;
  for (intptr_t d = 0; d < rank; ++d)
    sizes[d] = mlirShapedTypeGetDimSize(type, d);
  MlirAttribute layout = mlirStridedLayoutAttrGet(mlirTypeGetContext(type), 0, rank, strides);
  return mlirMemRefTypeGet(mlirShapedTypeGetElementType(type), rank, sizes, layout, mlirAttributeGetNull());
}

// The assumptions about a parameter have the parameter's type.
static void retype(MlirValue value, MlirType type) {
  for (MlirOpOperand use = mlirValueGetFirstUse(value); !mlirOpOperandIsNull(use); use = mlirOpOperandGetNextUse(use)) {
    MlirOperation user = mlirOpOperandGetOwner(use);
    if (tileAssumeOpIsA(user) && mlirTypeIsAMemRef(tileOnlyResultType(user))) {
      mlirValueSetType(tileOnlyResult(user), type);
      retype(tileOnlyResult(user), type);
    }
  }
}

intptr_t tileProgramRowWords(const Program *program) {
  intptr_t words = 2;
  while (words < program->operands * (tileProgramIsLoop(program) ? 2 : 1))
    words *= 2;
  return words;
}

static MlirValue loadWord(TileBuilder *b, const Emission *e, int64_t at) {
  MlirValue place = arithMulIOpBuild(b, e->task, tileBuildIndex(b, e->row));
  place = arithAddIOpBuild(b, place, tileBuildIndex(b, at));
  return memrefLoadOpBuild(b, e->table, 1, &place);
}

static MlirValue addressOf(TileBuilder *b, const Emission *e, MlirValue address, MlirValue stride) {
  if (!tileProgramIsLoop(e->program))
    return address;
  MlirValue index = arithIndexCastOpBuild(b, mlirIntegerTypeGet(b->context, 64), e->index);
  return arithAddIOpBuild(b, address, arithMulIOpBuild(b, stride, index));
}

static MlirValue buildMemory(TileBuilder *b, const Emission *e, intptr_t operand, MlirType type) {
  MlirValue address;
  if (e->row <= MostSpread) {
    address = e->addresses[operand];
  } else { // too many registers
    MlirValue stride = tileProgramIsLoop(e->program) ? loadWord(b, e, e->row / 2 + operand) : (MlirValue){NULL};
    address = addressOf(b, e, loadWord(b, e, operand), stride);
  }
  return tileMemrefAtOpBuild(b, type, address, 0, NULL, 0, NULL);
}

static void buildIds(TileBuilder *b, const Task *task, MlirValue number, MlirValue *ids) {
  MlirAttribute none = {NULL};
  for (intptr_t d = 0; d < GridRank; ++d) {
    int64_t size = task->grid[d] ? task->grid[d] : 1;
    MlirValue extent = tileBuildIndex(b, size);
    ids[d] = size == 1 ? tileBuildIndex(b, 0) : arithRemUIOpBuild(b, number, extent);
    ids[d] = tileOnlyResult(tileAssumeOpCreate(b, ids[d], none, none, none, none,
                                               mlirDenseI64ArrayGet(b->context, 2, (int64_t[]){0, size - 1})));
    number = size == 1 ? number : arithDivUIOpBuild(b, number, extent);
  }
}

static void replaceIds(TileBuilder *b, MlirOperation copy, const Task *task, const MlirValue *ids) {
  TileOps programs = tileCollectOps(copy, tileProgramIdOpIsA), counts = tileCollectOps(copy, tileNumProgramsOpIsA);
  for (intptr_t i = 0; i < programs.count; ++i) {
    mlirValueReplaceAllUsesOfWith(tileOnlyResult(programs.items[i]),
                                  ids[tileProgramIdOpGetAxisValue(programs.items[i])]);
    mlirOperationDestroy(programs.items[i]);
  }
  for (intptr_t i = 0; i < counts.count; ++i) {
    MlirValue size = tileBuildIndex(b, task->grid[tileNumProgramsOpGetAxisValue(counts.items[i])]);
    mlirValueReplaceAllUsesOfWith(tileOnlyResult(counts.items[i]), size);
    mlirOperationDestroy(counts.items[i]);
  }
  tileOpsFree(&programs);
  tileOpsFree(&counts);
}

static int64_t mostWarps(const Program *program) {
  int64_t most = 0;
  for (intptr_t i = 0; i < program->numKinds; ++i)
    most = tessera_max(most, tileKernelWarps(program->kinds[i]->kernel));
  return most;
}

//===--- loads ahead of awaits ------------------------------------------------------------===//

// No launch of the program writes this memory. What lies in an arena of the program is written if its own part is.
static bool isOnlyRead(const Emission *e, MlirValue memref) {
  const Program *program = e->program;
  int64_t begin;
  MlirValue root = tileMemoryRoot(memref), part = tileMemoryPart(memref, &begin);
  const void *writer = tileTableFind(&e->written, part.ptr);
  for (intptr_t i = 0; i < program->numRoots; ++i) {
    bool isWritten = program->isWritten[i];
    if (isWritten && program->isArena[i])
      isWritten = writer && mlirValueEqual(program->roots[i], root);
    else if (isWritten)
      isWritten = tileMemoryMayOverlap(program->roots[i], root);
    if (isWritten)
      return false;
  }
  return true;
}

// As isOnlyRead, in all launches of the kind.
static bool isOnlyReadBy(const Emission *e, const Task *kind, intptr_t operand) {
  const Program *program = e->program;
  for (intptr_t i = 0; i < program->count; ++i)
    if (program->tasks[i].kind == kind->kind && !isOnlyRead(e, tileLaunchOperand(program->tasks[i].launch, operand)))
      return false;
  return true;
}

static int64_t registersOf(const Emission *e, MlirType type) {
  MlirAttribute layout = tileTypeGetLayout(type);
  int64_t words = tessera_ceil_div(tileElementWidth(type), 32);
  if (mlirAttributeIsNull(layout))
    return words * tessera_ceil_div(tileTypeGetCount(type), e->width);
  TileLayout held = tileLayoutAttrGetLayout(layout);
  return words * (int64_t)tileLayoutDimSize(&held, TileLayoutReg);
}

// The ops of a body, and which of them stand ahead of the awaits.
typedef struct Ahead {
  const Emission *emission;
  const Task *kind;
  MlirBlock body;
  TileTable possible, chosen, early; // of ops; early: loads behind the awaits that need not wait for other work
  int64_t registers;
} Ahead;

static bool areOperandsPossible(Ahead *ahead, MlirOperation op) {
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); ++i) {
    MlirOperation maker = tileDefiningOp(mlirOperationGetOperand(op, i));
    if (!mlirOperationIsNull(maker) && mlirBlockEqual(mlirOperationGetBlock(maker), ahead->body) &&
        !tileTableFind(&ahead->possible, maker.ptr))
      return false;
  }
  return true;
}

static bool hasRoom(Ahead *ahead, MlirOperation load) {
  int64_t registers = registersOf(ahead->emission, tileOnlyResultType(load));
  if (ahead->registers + registers > MostAhead)
    return false;
  ahead->registers += registers;
  return true;
}

static bool isOfUnwritten(const Ahead *ahead, MlirOperation load) {
  MlirValue root = tileMemoryRoot(tileLoadOpGetSource(load));
  return mlirValueIsABlockArgument(root) && mlirBlockEqual(mlirBlockArgumentGetOwner(root), ahead->body) &&
         isOnlyReadBy(ahead->emission, ahead->kind, mlirBlockArgumentGetArgNumber(root));
}

static void choose(const Ahead *ahead, TileTable *set, MlirOperation op) {
  if (mlirOperationIsNull(op) || !mlirBlockEqual(mlirOperationGetBlock(op), ahead->body) ||
      tileTableFind(&ahead->chosen, op.ptr) || tileTableFind(set, op.ptr))
    return;
  tileTableSet(set, op.ptr, op.ptr);
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); ++i)
    choose(ahead, set, tileDefiningOp(mlirOperationGetOperand(op, i)));
}

// Chooses loads of what no launch writes, such as weights, and what they need: they are on their way while a lane
// awaits the rest. The other loads of the body that stand ahead of its stores and need no result of it come first
// behind the awaits. So do all of a body whose loads need one another.
static void chooseLoads(Ahead *ahead, bool isAhead) {
  MlirOperation end = mlirBlockGetTerminator(ahead->body);
  for (MlirOperation op = mlirBlockGetFirstOperation(ahead->body); !mlirOperationEqual(op, end);
       op = mlirOperationGetNextInBlock(op)) {
    bool isPure = mlirOperationGetNumRegions(op) == 0 && mlirExtOperationIsPure(op), isLoad = tileLoadOpIsA(op);
    if (!isPure && !isLoad && !isAhead && !tileOpOnlyReads(op))
      return;
    if (tileTableFind(&ahead->chosen, op.ptr) || !areOperandsPossible(ahead, op))
      continue;
    if (isLoad && (isAhead == isOfUnwritten(ahead, op)) && hasRoom(ahead, op))
      choose(ahead, isAhead ? &ahead->chosen : &ahead->early, op);
    else if (!isPure || isLoad)
      continue;
    tileTableSet(&ahead->possible, op.ptr, op.ptr);
  }
}

// Moves ops of the body to the builder's place: those of the set, or all.
static void moveBody(TileBuilder *b, const Ahead *ahead, TileTable *set) {
  MlirOperation end = mlirBlockGetTerminator(ahead->body);
  for (MlirOperation op = mlirBlockGetFirstOperation(ahead->body), next; !mlirOperationEqual(op, end); op = next) {
    next = mlirOperationGetNextInBlock(op);
    if (set && !tileTableFind(set, op.ptr))
      continue;
    mlirOperationRemoveFromParent(op);
    tileBuilderInsert(b, op);
  }
}

// A kind of fewer warps keeps its layouts, so that sums have the order that they have in a launch of their own.
static void buildBody(TileBuilder *b, const Emission *e, const Task *task, MlirValue number) {
  MlirOperation copy = mlirOperationClone(task->kernel);
  MlirValue ids[GridRank];
  tileCopyTilesToWarps(copy, mostWarps(e->program));
  buildIds(b, task, number, ids);
  replaceIds(b, copy, task, ids);
  Ahead ahead = {.emission = e, .kind = task, .body = tileKernelBody(copy)};
  chooseLoads(&ahead, true);
  chooseLoads(&ahead, false);
  for (intptr_t i = 0; i < mlirBlockGetNumArguments(ahead.body); ++i) {
    MlirValue parameter = mlirBlockGetArgument(ahead.body, i);
    MlirType type = typeAtAddress(mlirValueGetType(parameter));
    retype(parameter, type);
    mlirValueReplaceAllUsesOfWith(parameter, buildMemory(b, e, i, type));
  }
  moveBody(b, &ahead, &ahead.chosen);
  tileBuilderInsert(b, mlirOperationClone(e->awaits));
  moveBody(b, &ahead, &ahead.early);
  moveBody(b, &ahead, NULL);
  tileTableFree(&ahead.possible);
  tileTableFree(&ahead.early);
  tileTableFree(&ahead.chosen);
  mlirOperationDestroy(copy);
}

// if the kind is this one … else the next ones. With segments, an item may only await.
static void buildKinds(TileBuilder *b, const Emission *e, intptr_t kind, MlirValue number) {
  if (kind == e->program->numKinds) {
    tileBuilderInsert(b, mlirOperationClone(e->awaits));
    return;
  }
  if (kind + 1 == e->program->numKinds && !e->program->numSegments) {
    buildBody(b, e, e->program->kinds[kind], number);
    return;
  }
  MlirValue is = arithCmpIOpBuild(b, e->kind, tileBuildIndex(b, kind), ArithCmpI_Eq);
  MlirRegion regions[2];
  TileBuilder mine = tileBuilderInRegion(b, &regions[0], 0, NULL),
              others = tileBuilderInRegion(b, &regions[1], 0, NULL);
  buildBody(&mine, e, e->program->kinds[kind], number);
  tileBuildYield(&mine, 0, NULL);
  buildKinds(&others, e, kind + 1, number);
  tileBuildYield(&others, 0, NULL);
  scfIfOpBuild(b, 0, NULL, is, regions[0], regions[1]);
}

//===--- hooks ----------------------------------------------------------------------------===//

// @spread(words)
static MlirValue spreadHook(TileBuilder *b, MlirType result, const MlirValue *operands, const void *data) {
  (void)result;
  return spread(b, *(Emission *const *)data, operands[0]);
}

// @prepare(row of operands, task, kind, index)
static MlirValue prepareHook(TileBuilder *b, MlirType result, const MlirValue *operands, const void *data) {
  (void)result;
  Emission *e = *(Emission *const *)data;
  MlirOperation around = mlirBlockGetParentOperation(b->block);
  if (!tileKernelOpIsA(around))
    around = tileParentOp(around, tileKernelOpIsA);
  e->table = mlirBlockGetArgument(tileKernelBody(around), 1);
  e->task = operands[1];
  e->kind = operands[2];
  e->index = operands[3];
  if (e->row > MostSpread)
    return (MlirValue){NULL};
  MlirValue words = spread(b, e, operands[0]), none = {NULL};
  for (intptr_t i = 0; i < e->program->operands; ++i) {
    MlirValue stride = tileProgramIsLoop(e->program) ? wordAt(b, e, words, e->row / 2 + i) : none;
    e->addresses[i] = addressOf(b, e, wordAt(b, e, words, i), stride);
  }
  return none;
}

static MlirOperation opAhead(const TileBuilder *b) {
  MlirOperation op = mlirBlockGetFirstOperation(b->block);
  while (!mlirOperationEqual(mlirOperationGetNextInBlock(op), b->before))
    op = mlirOperationGetNextInBlock(op);
  return op;
}

// @execute(program), behind @prepare. The op ahead of the call has the awaits: each kind takes them.
static MlirValue executeHook(TileBuilder *b, MlirType result, const MlirValue *operands, const void *data) {
  (void)result;
  Emission *e = *(Emission *const *)data;
  e->awaits = opAhead(b);
  buildKinds(b, e, 0, operands[0]);
  mlirOperationDestroy(e->awaits);
  return (MlirValue){NULL};
}

static void addParameters(MlirOperation kernel, const Program *program) {
  MlirBlock block = tileKernelBody(kernel);
  MlirLocation location = mlirOperationGetLocation(kernel);
  intptr_t at = 2;
  for (intptr_t i = 0; i < program->numRoots; ++i)
    if (!program->isWritten[i])
      mlirBlockInsertArgument(block, at++, mlirValueGetType(program->roots[i]), location);
  for (intptr_t i = 0; i < program->numRoots; ++i)
    if (program->isWritten[i])
      mlirBlockAddArgument(block, mlirValueGetType(program->roots[i]), location);
  intptr_t count = mlirBlockGetNumArguments(block);
  MlirType *types = malloc((size_t)count * sizeof *types);
  for (intptr_t i = 0; i < count; ++i)
    types[i] = mlirValueGetType(mlirBlockGetArgument(block, i));
  tileKernelOpSetFunctionType(
      kernel, mlirTypeAttrGet(mlirFunctionTypeGet(mlirOperationGetContext(kernel), count, types, 0, NULL)));
  free(types);
}

// The most warps of the kinds, the schedule with the most stages.
static void label(MlirOperation kernel, const Program *program) {
  int64_t most = mostWarps(program), stages = -1;
  for (intptr_t i = 0; i < program->numKinds; ++i) {
    MlirOperation part = program->kinds[i]->kernel;
    MlirAttribute schedule = tileKernelOpGetSchedule(part);
    int64_t own = mlirAttributeIsNull(schedule) ? -1 : tileScheduleAttrGetInteger(schedule, "stages", 0);
    if (own > stages) {
      stages = own;
      tileKernelOpSetSchedule(kernel, schedule);
    }
    if (!mlirAttributeIsNull(tileKernelOpGetMachine(part)))
      tileKernelOpSetMachine(kernel, tileKernelOpGetMachine(part));
  }
  MlirType i32 = mlirIntegerTypeGet(mlirOperationGetContext(kernel), 32);
  if (most)
    tileKernelOpSetWarps(kernel, mlirIntegerAttrGet(i32, most));
  if (program->registers)
    mlirOperationSetAttributeByName(kernel, tileString("registers"), mlirIntegerAttrGet(i32, program->registers));
}

// With segments, counts of what has been read of the log, and the log stand behind the counts of items.
static int64_t countersOf(const Program *program) {
  return tessera_max(program->numCounters + (program->numSegments ? 2 + FlowLog : 0), 1);
}

// A row for each launch; behind them the address of each segment's condition.
static int64_t tableWords(const Program *program) {
  return tileProgramRowWords(program) * program->count + program->numSegments;
}

static void markWritten(Emission *e) {
  for (intptr_t t = 0; t < e->program->count; ++t) {
    MlirOperation launch = e->program->tasks[t].launch;
    for (intptr_t i = tileLaunchOpGetNumInputs(launch); i < tileLaunchOperandCount(launch); ++i) {
      int64_t begin;
      MlirValue part = tileMemoryPart(tileLaunchOperand(launch, i), &begin);
      tileTableSet(&e->written, part.ptr, launch.ptr);
    }
  }
}

// Words have layouts if the bodies' tiles have.
static Emission emissionOf(const Program *program, int64_t width) {
  Emission e = {.program = program, .width = width, .row = tileProgramRowWords(program)};
  bool isLaidOut = false, isOpen = false;
  for (intptr_t i = 0; i < program->numKinds; ++i)
    tileKernelLooksAt(program->kinds[i]->kernel, &isLaidOut, &isOpen);
  e.warps = isLaidOut ? mostWarps(program) : 0;
  e.layoutOfCounts = program->numSegments > MostSpreadCounts ? layoutOfWarps : layoutOfSpread;
  markWritten(&e);
  return e;
}

static TileTemplateUse useOfProgram(const Program *program, const Emission *emission, Emission *const *data) {
  return tileUseProgram((TileProgram){.WORDS = program->words,
                                      .TABLE = tableWords(program),
                                      .ROW = emission->row,
                                      .COUNTERS = countersOf(program),
                                      .ROUNDS = tileProgramIsLoop(program) ? program->rounds.count : 1,
                                      .FIRST = program->rounds.first,
                                      .STEP = program->rounds.step,
                                      .spread = {spreadHook, data},
                                      .prepare = {prepareHook, data},
                                      .execute = {executeHook, data}});
}

// How often segments have run: a power of two of words.
static int64_t countsOf(const Program *program) {
  int64_t words = MostSpreadCounts;
  while (words < program->numSegments)
    words *= 2;
  return words;
}

static TileTemplateUse useOfFlow(const Program *program, const Emission *emission, Emission *const *data) {
  return tileUseFlow((TileFlow){.WORDS = program->words,
                                .TABLE = tableWords(program),
                                .ROW = emission->row,
                                .COUNTERS = countersOf(program),
                                .LANES = program->numLanes,
                                .PASSED = program->numCounters,
                                .LOG = program->numCounters + 2,
                                .SEGMENTS = countsOf(program),
                                .spread = {spreadHook, data},
                                .prepare = {prepareHook, data},
                                .execute = {executeHook, data}});
}

static MlirAttribute makeKernel(MlirOperation module, const Program *program, int64_t width, MlirLocation location) {
  Emission emission = emissionOf(program, width), *data = &emission;
  TileTemplateUse use =
      program->numSegments ? useOfFlow(program, &emission, &data) : useOfProgram(program, &emission, &data);
  MlirOperation kernel = tileTemplateMake(location, &use);
  tileTableFree(&emission.written);
  if (mlirOperationIsNull(kernel))
    return mlirAttributeGetNull();
  if (emission.warps)
    mlirOperationWalk(kernel, layOut, &emission, MlirWalkPreOrder);
  addParameters(kernel, program);
  label(kernel, program);
  return tileTemplateInsert(module, kernel, "program");
}

//===--- the host's part ---------------------------------------------------------------===//

static MlirType memrefOf(MlirContext context, int64_t count, unsigned bits) {
  return mlirMemRefTypeContiguousGet(mlirIntegerTypeGet(context, bits), 1, &count, mlirAttributeGetNull());
}

// A constant of the module.
static MlirValue buildGlobal(MlirOperation module, TileBuilder *host, const char *name, int64_t count, unsigned bits,
                             MlirAttribute (*get)(MlirType type, intptr_t count, const void *words),
                             const void *words) {
  MlirAttribute symbol = tileFreshSymbol(module, name);
  MlirType type = memrefOf(host->context, count, bits);
  MlirType tensor = mlirRankedTensorTypeGet(1, &count, mlirIntegerTypeGet(host->context, bits), mlirAttributeGetNull());
  TileBuilder top = tileBuilderAtTop(module);
  memrefGlobalOpCreate(&top, symbol, mlirStringAttrGet(host->context, tileString("private")), mlirTypeAttrGet(type),
                       get(tensor, count, words), mlirUnitAttrGet(host->context), mlirAttributeGetNull());
  return memrefGetGlobalOpBuild(host, type, mlirFlatSymbolRefAttrGet(host->context, mlirStringAttrGetValue(symbol)));
}

static MlirAttribute get32(MlirType type, intptr_t count, const void *words) {
  return mlirDenseElementsAttrInt32Get(type, count, words);
}

static MlirAttribute get64(MlirType type, intptr_t count, const void *words) {
  return mlirDenseElementsAttrInt64Get(type, count, words);
}

MlirValue tileProgramBuildGlobal(MlirOperation module, TileBuilder *host, const char *name, intptr_t count,
                                 const int64_t *words) {
  return buildGlobal(module, host, name, count, 64, get64, words);
}

// Addresses of the roots; the first one is 0, for words that are no addresses.
static MlirValue buildRoots(TileBuilder *host, const Program *program) {
  MlirValue roots = memrefAllocOpBuild(host, memrefOf(host->context, program->numRoots + 1, 64), 0, NULL, 0, NULL);
  MlirType word = mlirIntegerTypeGet(host->context, 64);
  for (intptr_t i = 0; i <= program->numRoots; ++i) {
    MlirValue at = tileBuildIndex(host, i), address;
    if (i)
      address =
          arithIndexCastOpBuild(host, word, memrefExtractAlignedPointerAsIndexOpBuild(host, program->roots[i - 1]));
    else
      address = tileBuildInteger(host, word, 0);
    memrefStoreOpBuild(host, address, roots, 1, &at);
  }
  return roots;
}

// For each word of the table: its root, and what is added to the root's address, in bytes.
static int64_t *placesOf(const Program *program, intptr_t row) {
  int64_t *places = calloc((size_t)(2 * tableWords(program)), sizeof *places);
  for (intptr_t t = 0; places && t < program->count; ++t)
    for (intptr_t i = 0; i < tileLaunchOperandCount(program->tasks[t].launch); ++i) {
      MlirValue memref = tileLaunchOperand(program->tasks[t].launch, i);
      int64_t bytes = tileMemoryBytes(mlirValueGetType(memref)), *word = places + 2 * (row * t + i), begin;
      Place place;
      tileLaunchPlaceOf(&program->rounds, memref, &place);
      word[0] = 1 + tileProgramRootOf((Program *)program, memref);
      tileMemoryPart(memref, &begin);
      word[1] = begin + place.offset * bytes;
      if (tileProgramIsLoop(program))
        word[row + 1] = place.stride * bytes;
    }
  for (intptr_t i = 0; places && i < program->numSegments; ++i)
    if (!mlirValueIsNull(program->segments[i].condition))
      places[2 * (row * program->count + i)] =
          1 + tileProgramRootOf((Program *)program, program->segments[i].condition);
  return places;
}

// A row for each launch, of the addresses that its operands have in this call.
static MlirValue buildTable(MlirOperation module, TileBuilder *host, const Program *program) {
  intptr_t row = tileProgramRowWords(program), words = tableWords(program);
  int64_t *numbers = placesOf(program, row);
  MlirValue places = tileProgramBuildGlobal(module, host, "operands_of_program", 2 * words, numbers);
  free(numbers);
  MlirValue roots = buildRoots(host, program);
  MlirValue table = memrefAllocOpBuild(host, memrefOf(host->context, words, 64), 0, NULL, 0, NULL);
  MlirBlock body;
  MlirOperation loop =
      tileBuildFor(host, tileBuildIndex(host, 0), tileBuildIndex(host, words), tileBuildIndex(host, 1), 0, NULL, &body);
  TileBuilder inside = tileBuilderAtEnd(body, mlirOperationGetLocation(loop));
  MlirValue at = mlirBlockGetArgument(body, 0), even = tileBuildAdd(&inside, at, at);
  MlirValue odd = tileBuildAdd(&inside, even, tileBuildIndex(&inside, 1));
  MlirValue root = asIndex(&inside, memrefLoadOpBuild(&inside, places, 1, &even));
  MlirValue address = memrefLoadOpBuild(&inside, roots, 1, &root);
  address = arithAddIOpBuild(&inside, address, memrefLoadOpBuild(&inside, places, 1, &odd));
  memrefStoreOpBuild(&inside, address, table, 1, &at);
  tileBuildYield(&inside, 0, NULL);
  memrefDeallocOpBuild(host, roots);
  return table;
}

static MlirValue buildCounters(TileBuilder *host, const Program *program) {
  MlirType word = mlirIntegerTypeGet(host->context, 32);
  MlirValue counters = memrefAllocOpBuild(host, memrefOf(host->context, countersOf(program), 32), 0, NULL, 0, NULL);
  MlirBlock body;
  MlirOperation loop = tileBuildFor(host, tileBuildIndex(host, 0), tileBuildIndex(host, countersOf(program)),
                                    tileBuildIndex(host, 1), 0, NULL, &body);
  TileBuilder inside = tileBuilderAtEnd(body, mlirOperationGetLocation(loop));
  MlirValue at = mlirBlockGetArgument(body, 0);
  memrefStoreOpBuild(&inside, tileBuildInteger(&inside, word, 0), counters, 1, &at);
  tileBuildYield(&inside, 0, NULL);
  return counters;
}

static MlirOperation lastLaunch(const Program *program) {
  const Task *last = program->tasks;
  for (intptr_t i = 1; i < program->count; ++i)
    if (program->tasks[i].step > last->step)
      last = &program->tasks[i];
  return last->launch;
}

static bool definesRoot(const Program *program, MlirOperation op) {
  for (intptr_t i = 0; i < program->numRoots; ++i)
    if (mlirOperationEqual(tileDefiningOp(program->roots[i]), op))
      return true;
  return false;
}

// Memory of known size may be there from the block's beginning on.
static void hoistRoots(const Program *program, MlirBlock block) {
  for (intptr_t i = 0; i < program->numRoots; ++i) {
    MlirOperation alloc = tileDefiningOp(program->roots[i]);
    if (mlirOperationIsNull(alloc) || !memrefAllocOpIsA(alloc) || mlirOperationGetNumOperands(alloc) ||
        !mlirBlockEqual(mlirOperationGetBlock(alloc), block))
      continue;
    mlirOperationRemoveFromParent(alloc);
    mlirBlockInsertOwnedOperation(block, 0, alloc);
  }
}

// Behind the memory that the launch needs: ahead of earlier launches, where that can be, the host waits for none.
static TileBuilder builderOfHost(const Program *program, MlirOperation place) {
  MlirBlock block = mlirOperationGetBlock(place);
  MlirOperation last = {NULL};
  hoistRoots(program, block);
  for (MlirOperation op = mlirBlockGetFirstOperation(block); !mlirOperationEqual(op, place);
       op = mlirOperationGetNextInBlock(op))
    if (definesRoot(program, op))
      last = op;
  return mlirOperationIsNull(last) ? tileBuilderAtStart(block, mlirOperationGetLocation(place))
                                   : tileBuilderAfter(last);
}

bool tileProgramBuildLaunch(MlirOperation module, const Program *program, int64_t width) {
  MlirOperation place = program->place;
  if (mlirOperationIsNull(place))
    place = tileProgramIsLoop(program) ? program->rounds.loop : lastLaunch(program);
  TileBuilder host = builderOfHost(program, place);
  MlirAttribute kernel = makeKernel(module, program, width, mlirOperationGetLocation(place));
  if (mlirAttributeIsNull(kernel))
    return false;
  MlirValue inputs[RoomForRoots + 2] = {
      buildGlobal(module, &host, "plan_of_program", program->words, 32, get32, program->plan),
      buildTable(module, &host, program)};
  MlirValue outputs[RoomForRoots + 1] = {buildCounters(&host, program)};
  intptr_t numInputs = 2, numOutputs = 1;
  for (intptr_t i = 0; i < program->numRoots; ++i)
    *(program->isWritten[i] ? &outputs[numOutputs++] : &inputs[numInputs++]) = program->roots[i];
  TileBuilder there = tileBuilderBefore(place);
  MlirValue lanes = tileBuildIndex(&there, program->numLanes);
  MlirOperation launch = tileLaunchOpBuild(&there, 0, NULL, 1, &lanes, numInputs, inputs, numOutputs, outputs, kernel);
  TileBuilder behind = tileBuilderAfter(launch);
  memrefDeallocOpBuild(&behind, inputs[1]);
  memrefDeallocOpBuild(&behind, outputs[0]);
  return true;
}
