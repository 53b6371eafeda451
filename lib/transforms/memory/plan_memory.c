// tile-plan-memory{slots=false}: the temporaries of a function become places in one allocation.
//
//   %a = memref.alloc() : memref<64xf32>            %arena = memref.alloc() {alignment = 64} : memref<512xi8>
//   … last use of %a …                        →     %a = memref.view %arena[%c0][] : memref<512xi8> to memref<64xf32>
//   %b = memref.alloc() : memref<32xf32>            %b = memref.view %arena[%c0][] : memref<512xi8> to memref<32xf32>
//
// Expects: host functions of one block on buffers, freed, after the facts of launches are known
// (tile-assume-launch-facts: views of one memory look as if they overlapped). Leaves: one allocation at the function's
// begin, freed at its end.
//   Planned are allocations of constant sizes that are freed in their block, and that no loop carries on, no branch
//   gives, no call returns. Two of them share bytes if all uses of one stand before all uses of the other: launches and
//   what the host does run in the order of the program. Views keep what they view in use. Bodies of loops and branches
//   are planned by themselves, and lie in the arena while their op runs. With `slots`, tessera_arena_slot says which
//   bytes are a buffer's, so that the emulator finds an access outside of it.
//   With `open`, a function that has an allocation of open sizes is planned when it runs. Its begin computes the sizes
//   that follow from the function's arguments, and one call gives the places of all buffers:
//     %places:n, %bytes = call @tessera_plan_memory_n(%bytes of each buffer) {lives = array<i64: begin, end, …>}
//   Only text in C has the call (lib/target/source).
// Statistics: the bytes of all planned buffers, of the arenas, and the most bytes in use at once, which no arena can be
// smaller than. Cost: quadratic in the buffers of a block (lib/search/memory_plan.h).
// Paper: Welder (OSDI 2023), AITemplate; greedy by size (arXiv 2001.03288).
#include "lib/analysis/launches/arena_parts.h"
#include "lib/analysis/launches/launch_order.h"
#include "lib/capi/op.h"
#include "lib/ir/builder.h"
#include "lib/ir/enclosing.h"
#include "lib/ir/op_query.h"
#include "lib/ir/pass.h"
#include "lib/search/memory_plan.h"
#include "lib/support/array.h"
#include "lib/support/grow.h"
#include "lib/transforms/memory/memory.h"
#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"
#include "upstream/builtin.h"
#include "upstream/func.h"
#include "upstream/memref.h"
#include "upstream/scf.h"

#include <stdio.h>
#include <stdlib.h>

enum { Statistic_Buffers, Statistic_Bytes, Statistic_Arenas, Statistic_Arena, Statistic_Least, Statistic_Open };

// What lies in the arena of a block: an allocation, or what the blocks of an op's regions need, one at a time.
typedef struct Buffer {
  MlirOperation alloc, dealloc; // null: of regions
  MlirOperation first, last;    // ops of the block that use it
  intptr_t begin, end;          // their numbers
  struct Home *home;            // of regions: the first block
} Buffer;

// A block and what is planned in it.
typedef struct Home {
  Buffer *buffers;
  int64_t *bytes, *offsets;
  intptr_t count;
  int64_t arena, least;
  struct Home *next; // of the same op's regions
} Home;

typedef struct Planning {
  MlirExtPass pass;
  bool slots, open;
  MlirBlock entry;
  intptr_t numOpen; // buffers of open sizes of the function
  MlirValue arena, address;
  uint64_t buffers, bytes;
} Planning;

//===--- questions -----------------------------------------------------------------===//

// Follows the value from the function's arguments by arithmetic that may run at the function's begin?
static bool isKnownAtBegin(MlirBlock entry, MlirValue value) {
  MlirOperation op = tileDefiningOp(value);
  if (mlirOperationIsNull(op))
    return mlirBlockEqual(mlirBlockArgumentGetOwner(value), entry);
  bool isKnown = mlirExtOperationIsPure(op) && mlirOperationGetNumRegions(op) == 0;
  for (intptr_t i = 0; isKnown && i < mlirOperationGetNumOperands(op); ++i)
    isKnown = isKnownAtBegin(entry, mlirOperationGetOperand(op, i));
  return isKnown;
}

static bool hasPlannedSizes(const Planning *planning, MlirOperation alloc) {
  MlirType type = memrefAllocOpGetMemrefType(alloc);
  bool isPlanned = mlirShapedTypeHasStaticShape(type) ? tileArenaBytes(type) < (INT64_C(1) << 48) : planning->open;
  intptr_t count = memrefAllocOpGetNumDynamicSizes(alloc);
  for (intptr_t i = 0; isPlanned && i < count; ++i)
    isPlanned = count <= TESSERA_MAX_RANK && isKnownAtBegin(planning->entry, memrefAllocOpGetDynamicSizes(alloc, i));
  return isPlanned;
}

static void extend(Buffer *buffer, MlirOperation user) {
  bool isFirst = mlirOperationIsNull(buffer->first);
  if (isFirst || mlirOperationIsBeforeInBlock(user, buffer->first))
    buffer->first = user;
  if (isFirst || mlirOperationIsBeforeInBlock(buffer->last, user))
    buffer->last = user;
}

// Uses of the memory and of views of it. A view freed by itself would be freed as the arena.
static bool findUses(Buffer *buffer, MlirValue memory) {
  MlirBlock block = mlirOperationGetBlock(buffer->alloc);
  for (MlirOpOperand use = mlirValueGetFirstUse(memory); !mlirOpOperandIsNull(use);
       use = mlirOpOperandGetNextUse(use)) {
    MlirOperation user = mlirOpOperandGetOwner(use);
    MlirValue viewed = tileOpViewedMemory(user);
    if (mlirOperationEqual(user, buffer->dealloc))
      continue;
    if (memrefDeallocOpIsA(user) || funcReturnOpIsA(user))
      return false;
    if (!mlirValueIsNull(viewed) && mlirValueEqual(viewed, memory)) {
      if (!findUses(buffer, tileFirstResult(user)))
        return false;
      continue;
    }
    extend(buffer, tileAncestorIn(block, user));
  }
  return true;
}

static bool isPlanned(const Planning *planning, MlirOperation alloc, Buffer *buffer) {
  *buffer = (Buffer){.alloc = alloc, .dealloc = tileAllocationFree(alloc)};
  return !mlirOperationIsNull(buffer->dealloc) && tileAllocationMayMove(alloc) && hasPlannedSizes(planning, alloc) &&
         tileAllocationIsPrivate(alloc) && findUses(buffer, tileOnlyResult(alloc)) &&
         !mlirOperationIsNull(buffer->first);
}

//===--- planning ------------------------------------------------------------------===//

static void add(Home *home, const Buffer *buffer, int64_t bytes) {
  home->buffers = tessera_grow(home->buffers, home->count, sizeof *home->buffers);
  home->bytes = tessera_grow(home->bytes, home->count, sizeof *home->bytes);
  home->buffers[home->count] = *buffer;
  home->bytes[home->count++] = bytes;
}

static bool areTogether(const void *data, int64_t a, int64_t b) {
  const Buffer *buffers = data;
  return buffers[a].begin <= buffers[b].end && buffers[b].begin <= buffers[a].end;
}

static int compareEvents(const void *a, const void *b) {
  const intptr_t *x = a, *y = b; // number, then what ends behind what begins
  return x[0] != y[0] ? (x[0] > y[0]) - (x[0] < y[0]) : (x[1] < y[1]) - (x[1] > y[1]);
}

static int64_t leastOfBuffer(const Home *home, intptr_t buffer) {
  int64_t most = 0;
  for (const Home *inner = home->buffers[buffer].home; inner; inner = inner->next)
    most = inner->least > most ? inner->least : most;
  return home->buffers[buffer].home ? most : home->bytes[buffer];
}

// The most bytes in use at one op.
static int64_t leastOf(const Home *home) {
  intptr_t (*events)[2] = malloc((size_t)(2 * home->count + 1) * sizeof *events);
  int64_t live = 0, most = 0;
  for (intptr_t i = 0; i < home->count; ++i) {
    int64_t bytes = leastOfBuffer(home, i);
    events[2 * i][0] = home->buffers[i].begin, events[2 * i][1] = bytes;
    events[2 * i + 1][0] = home->buffers[i].end, events[2 * i + 1][1] = -bytes;
  }
  qsort(events, (size_t)(2 * home->count), sizeof *events, compareEvents);
  for (intptr_t i = 0; i < 2 * home->count; ++i) {
    live += events[i][1];
    most = live > most ? live : most;
  }
  free(events);
  return most;
}

static bool runsInOrder(MlirOperation op) {
  return scfForOpIsA(op) || scfIfOpIsA(op) || scfWhileOpIsA(op) || scfIndexSwitchOpIsA(op) || scfExecuteRegionOpIsA(op);
}

static Home *planBlock(Planning *planning, MlirBlock block);

static void addRegions(Planning *planning, Home *home, MlirOperation op) {
  Buffer buffer = {.first = op, .last = op};
  int64_t most = 0;
  for (intptr_t i = 0; runsInOrder(op) && i < mlirOperationGetNumRegions(op); ++i)
    for (MlirBlock inner = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, i)); !mlirBlockIsNull(inner);
         inner = mlirBlockGetNextInRegion(inner)) {
      Home *own = planBlock(planning, inner);
      own->next = buffer.home;
      buffer.home = own;
      most = own->arena > most ? own->arena : most;
    }
  if (buffer.home)
    add(home, &buffer, most);
}

static void number(Home *home, MlirBlock block) {
  TileTable numbers = {0};
  intptr_t now = 0;
  for (MlirOperation op = mlirBlockGetFirstOperation(block); !mlirOperationIsNull(op);
       op = mlirOperationGetNextInBlock(op))
    tileTableSet(&numbers, op.ptr, (void *)++now);
  for (intptr_t i = 0; i < home->count; ++i) {
    home->buffers[i].begin = (intptr_t)tileTableFind(&numbers, home->buffers[i].first.ptr);
    home->buffers[i].end = (intptr_t)tileTableFind(&numbers, home->buffers[i].last.ptr);
  }
  tileTableFree(&numbers);
}

static Home *planBlock(Planning *planning, MlirBlock block) {
  Home *home = calloc(1, sizeof *home);
  for (MlirOperation op = mlirBlockGetFirstOperation(block); !mlirOperationIsNull(op);
       op = mlirOperationGetNextInBlock(op)) {
    Buffer buffer;
    if (memrefAllocOpIsA(op) && isPlanned(planning, op, &buffer)) {
      bool isOpen = !mlirShapedTypeHasStaticShape(memrefAllocOpGetMemrefType(op));
      add(home, &buffer, isOpen ? 0 : tileArenaBytes(memrefAllocOpGetMemrefType(op)));
      planning->numOpen += isOpen;
      ++planning->buffers;
      planning->bytes += (uint64_t)home->bytes[home->count - 1];
    }
    addRegions(planning, home, op);
  }
  number(home, block);
  home->least = leastOf(home);
  home->offsets = calloc((size_t)home->count + 1, sizeof *home->offsets);
  TileMemoryPlan plan = {.count = home->count,
                         .bytes = home->bytes,
                         .areTogether = areTogether,
                         .data = home->buffers,
                         .isThorough = true,
                         .least = home->least,
                         .offsets = home->offsets};
  home->arena = tileMemoryPlanFind(&plan);
  return home;
}

//===--- rewriting -----------------------------------------------------------------===//

static void buildSlot(const Planning *planning, MlirOperation first, MlirOperation last, int64_t offset,
                      int64_t bytes) {
  TileBuilder before = tileBuilderBefore(first), behind = tileBuilderAfter(last);
  tileBuildCall(&before, TILE_ARENA_SLOT, 3,
                (MlirValue[]){planning->address, tileBuildIndex(&before, offset), tileBuildIndex(&before, bytes)});
  tileBuildCall(&behind, TILE_ARENA_SLOT_END, 2, (MlirValue[]){planning->address, tileBuildIndex(&behind, offset)});
}

static void place(const Planning *planning, const Buffer *buffer, int64_t offset) {
  TileBuilder b = tileBuilderBefore(buffer->alloc);
  MlirType type = memrefAllocOpGetMemrefType(buffer->alloc);
  MlirValue view = memrefViewOpBuild(&b, type, planning->arena, tileBuildIndex(&b, offset), 0, NULL);
  if (planning->slots)
    buildSlot(planning, buffer->first, buffer->last, offset, tileArenaAskedBytes(type));
  mlirOperationDestroy(buffer->dealloc);
  mlirValueReplaceAllUsesOfWith(tileOnlyResult(buffer->alloc), view);
  mlirOperationDestroy(buffer->alloc);
}

static void placeAll(const Planning *planning, const Home *home, int64_t offset) {
  for (intptr_t i = 0; i < home->count; ++i)
    if (home->buffers[i].home)
      for (const Home *inner = home->buffers[i].home; inner; inner = inner->next)
        placeAll(planning, inner, offset + home->offsets[i]);
    else
      place(planning, &home->buffers[i], offset + home->offsets[i]);
}

static void freeHome(Home *home) {
  for (intptr_t i = 0; i < home->count; ++i)
    for (Home *inner = home->buffers[i].home, *next; inner; inner = next) {
      next = inner->next;
      freeHome(inner);
    }
  free(home->buffers);
  free(home->bytes);
  free(home->offsets);
  free(home);
}

static void buildArena(Planning *planning, MlirBlock entry, int64_t bytes) {
  MlirOperation end = mlirBlockGetTerminator(entry);
  TileBuilder start = tileBuilderAtStart(entry, mlirOperationGetLocation(mlirBlockGetParentOperation(entry)));
  TileBuilder last = tileBuilderBefore(end);
  MlirType byte = mlirIntegerTypeGet(start.context, 8);
  MlirType type = mlirMemRefTypeContiguousGet(byte, 1, &bytes, mlirAttributeGetNull());
  MlirAttribute alignment = mlirIntegerAttrGet(mlirIntegerTypeGet(start.context, 64), TileArenaAlignment);
  MlirOperation alloc = memrefAllocOpCreate(&start, type, 0, NULL, 0, NULL, alignment);
  planning->arena = tileOnlyResult(alloc);
  if (planning->slots)
    planning->address = memrefExtractAlignedPointerAsIndexOpBuild(&start, planning->arena);
  memrefDeallocOpBuild(&last, planning->arena);
}

//===--- sizes that the call knows --------------------------------------------------===//

// The buffers of a function, those of regions too, and where each is in use: numbers of the ops in the order of the
// text, in which an op comes ahead of what its regions hold, and ends behind it.
typedef struct Open {
  const Buffer **buffers;
  int64_t *lives; // two of each
  MlirValue *bytes, *places;
  intptr_t count;
  TileTable begins, ends, built; // op → number; value → the same at the function's begin
  intptr_t now;
} Open;

static void numberOps(Open *open, MlirBlock block) {
  for (MlirOperation op = mlirBlockGetFirstOperation(block); !mlirOperationIsNull(op);
       op = mlirOperationGetNextInBlock(op)) {
    tileTableSet(&open->begins, op.ptr, (void *)++open->now);
    for (intptr_t i = 0; i < mlirOperationGetNumRegions(op); ++i)
      for (MlirBlock inner = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, i)); !mlirBlockIsNull(inner);
           inner = mlirBlockGetNextInRegion(inner))
        numberOps(open, inner);
    tileTableSet(&open->ends, op.ptr, (void *)open->now);
  }
}

static void collect(Open *open, const Home *home) {
  for (intptr_t i = 0; i < home->count; ++i) {
    const Buffer *buffer = &home->buffers[i];
    for (const Home *inner = buffer->home; inner; inner = inner->next)
      collect(open, inner);
    if (buffer->home)
      continue;
    open->buffers = tessera_grow(open->buffers, open->count, sizeof(const Buffer *));
    open->buffers[open->count++] = buffer;
  }
}

// The value, computed at the builder's place.
static MlirValue buildAtBegin(TileBuilder *b, Open *open, MlirValue value) {
  MlirOperation op = tileDefiningOp(value);
  if (mlirOperationIsNull(op))
    return value;
  intptr_t number = 0;
  while (!mlirValueEqual(mlirOperationGetResult(op, number), value))
    ++number;
  MlirOperation copy = {tileTableFind(&open->built, op.ptr)};
  if (mlirOperationIsNull(copy)) {
    copy = mlirOperationClone(op);
    for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); ++i)
      mlirOperationSetOperand(copy, i, buildAtBegin(b, open, mlirOperationGetOperand(op, i)));
    tileBuilderInsert(b, copy);
    tileTableSet(&open->built, op.ptr, copy.ptr);
  }
  return mlirOperationGetResult(copy, number);
}

static MlirValue buildBytes(TileBuilder *b, Open *open, MlirOperation alloc) {
  MlirType type = memrefAllocOpGetMemrefType(alloc);
  MlirValue bytes = tileBuildIndex(b, tileMemoryBytes(type));
  for (intptr_t d = 0, next = 0; d < mlirShapedTypeGetRank(type); ++d)
    bytes = tileBuildSizeProduct(b, bytes,
                                 mlirShapedTypeIsDynamicDim(type, d)
                                     ? buildAtBegin(b, open, memrefAllocOpGetDynamicSizes(alloc, next++))
                                     : tileBuildIndex(b, mlirShapedTypeGetDimSize(type, d)));
  return bytes;
}

// The call that plans, and the memory that it says.
static void buildOpenArena(Planning *planning, Open *open) {
  TileBuilder b =
      tileBuilderAtStart(planning->entry, mlirOperationGetLocation(mlirBlockGetParentOperation(planning->entry)));
  TileBuilder last = tileBuilderBefore(mlirBlockGetTerminator(planning->entry));
  MlirOperation module = mlirOperationGetParentOperation(mlirBlockGetParentOperation(planning->entry));
  MlirType index = mlirIndexTypeGet(b.context), *types = calloc((size_t)open->count + 1, sizeof *types);
  int64_t size = mlirShapedTypeGetDynamicSize();
  char name[64];
  snprintf(name, sizeof name, "tessera_plan_memory_%lld", (long long)open->count);
  for (intptr_t i = 0; i <= open->count; ++i)
    types[i] = index;
  for (intptr_t i = 0; i < open->count; ++i)
    open->bytes[i] = buildBytes(&b, open, open->buffers[i]->alloc);
  tileDeclareSizeChecks(module);
  if (mlirOperationIsNull(tileFindSymbol(module, name))) {
    TileBuilder top = tileBuilderAtTop(module);
    tileBuildDeclaration(&top, name, mlirFunctionTypeGet(b.context, open->count, types, open->count + 1, types));
  }
  MlirOperation call = funcCallOpBuild(&b, open->count + 1, types, open->count, open->bytes,
                                       mlirFlatSymbolRefAttrGet(b.context, tileString(name)));
  mlirOperationSetDiscardableAttributeByName(call, tileString("lives"),
                                             mlirDenseI64ArrayGet(b.context, 2 * open->count, open->lives));
  for (intptr_t i = 0; i < open->count; ++i)
    open->places[i] = mlirOperationGetResult(call, i);
  MlirValue total = mlirOperationGetResult(call, open->count);
  MlirType type = mlirMemRefTypeContiguousGet(mlirIntegerTypeGet(b.context, 8), 1, &size, mlirAttributeGetNull());
  MlirAttribute alignment = mlirIntegerAttrGet(mlirIntegerTypeGet(b.context, 64), TileArenaAlignment);
  planning->arena = tileOnlyResult(memrefAllocOpCreate(&b, type, 1, &total, 0, NULL, alignment));
  memrefDeallocOpBuild(&last, planning->arena);
  free(types);
}

static void placeOpen(const Planning *planning, const Buffer *buffer, MlirValue at) {
  TileBuilder b = tileBuilderBefore(buffer->alloc);
  MlirType type = memrefAllocOpGetMemrefType(buffer->alloc);
  intptr_t count = memrefAllocOpGetNumDynamicSizes(buffer->alloc);
  MlirValue sizes[TESSERA_MAX_RANK];
  for (intptr_t i = 0; i < count; ++i)
    sizes[i] = memrefAllocOpGetDynamicSizes(buffer->alloc, i);
  if (count)
    tileBuildAllocationCheck(buffer->alloc);
  MlirValue view = memrefViewOpBuild(&b, type, planning->arena, at, count, sizes);
  mlirOperationDestroy(buffer->dealloc);
  mlirValueReplaceAllUsesOfWith(tileOnlyResult(buffer->alloc), view);
  mlirOperationDestroy(buffer->alloc);
}

static void planOpen(Planning *planning, const Home *home) {
  Open open = {.count = 0};
  collect(&open, home);
  numberOps(&open, planning->entry);
  open.lives = calloc((size_t)open.count, 2 * sizeof *open.lives);
  open.bytes = calloc((size_t)open.count, sizeof *open.bytes);
  open.places = calloc((size_t)open.count, sizeof *open.places);
  for (intptr_t i = 0; i < open.count; ++i) {
    open.lives[2 * i] = (intptr_t)tileTableFind(&open.begins, open.buffers[i]->first.ptr);
    open.lives[2 * i + 1] = (intptr_t)tileTableFind(&open.ends, open.buffers[i]->last.ptr);
  }
  buildOpenArena(planning, &open);
  for (intptr_t i = 0; i < open.count; ++i)
    placeOpen(planning, open.buffers[i], open.places[i]);
  mlirExtPassAddStatistic(planning->pass, Statistic_Open, (uint64_t)planning->numOpen);
  tileTableFree(&open.begins);
  tileTableFree(&open.ends);
  tileTableFree(&open.built);
  free((void *)open.buffers);
  free(open.lives);
  free(open.bytes);
  free(open.places);
}

static uint64_t planFunction(Planning *planning, MlirOperation function) {
  MlirBlock entry = mlirRegionGetFirstBlock(funcFuncOpGetBody(function));
  if (mlirBlockIsNull(entry) || !mlirBlockIsNull(mlirBlockGetNextInRegion(entry)))
    return 0;
  planning->entry = entry;
  planning->numOpen = 0;
  Home *home = planBlock(planning, entry);
  if (planning->numOpen) {
    planOpen(planning, home);
  } else if (home->arena > 0) {
    buildArena(planning, entry, home->arena);
    placeAll(planning, home, 0);
    mlirExtPassAddStatistic(planning->pass, Statistic_Arenas, 1);
    mlirExtPassAddStatistic(planning->pass, Statistic_Arena, (uint64_t)home->arena);
    mlirExtPassAddStatistic(planning->pass, Statistic_Least, (uint64_t)home->least);
  }
  uint64_t arenas = home->arena > 0 && !planning->numOpen;
  freeHome(home);
  return arenas;
}

static void declare(MlirOperation module) {
  TileBuilder top = tileBuilderAtTop(module);
  MlirType index = mlirIndexTypeGet(top.context), three[] = {index, index, index};
  if (mlirOperationIsNull(tileFindSymbol(module, TILE_ARENA_SLOT)))
    tileBuildDeclaration(&top, TILE_ARENA_SLOT, mlirFunctionTypeGet(top.context, 3, three, 0, NULL));
  if (mlirOperationIsNull(tileFindSymbol(module, TILE_ARENA_SLOT_END)))
    tileBuildDeclaration(&top, TILE_ARENA_SLOT_END, mlirFunctionTypeGet(top.context, 2, three, 0, NULL));
}

static bool run(MlirOperation module, MlirExtPass pass) {
  Planning planning = {
      .pass = pass, .slots = mlirExtPassGetBool(pass, "slots"), .open = mlirExtPassGetBool(pass, "open")};
  TileOps functions = tileCollectOps(module, funcFuncOpIsA);
  uint64_t arenas = 0;
  for (intptr_t i = 0; i < functions.count; ++i)
    arenas += planFunction(&planning, functions.items[i]);
  if (arenas && planning.slots)
    declare(module);
  mlirExtPassAddStatistic(pass, Statistic_Buffers, planning.buffers);
  mlirExtPassAddStatistic(pass, Statistic_Bytes, planning.bytes);
  tileOpsFree(&functions);
  return true;
}

const MlirExtPassDefinition tilePlanMemoryPass = {
    .argument = "tile-plan-memory",
    .summary = "Put the temporaries of each function into one allocation",
    .anchor = builtinModuleOpName,
    .options =
        (const MlirExtPassOption[]){
            {"slots", "tells the runtime which bytes are a buffer's, for the emulator", MlirExtOption_Bool, "false"},
            {"open", "plans allocations of open sizes when the function runs; for C", MlirExtOption_Bool, "false"},
            {NULL}},
    .statistics = (const char *const[]){"buffers: allocations that became places", "bytes: of these, all together",
                                        "arenas: functions with one allocation instead", "arena_bytes: of these",
                                        "least_bytes: the most in use at once",
                                        "open: buffers whose places the call of the function finds", NULL},
    .dialects = (const char *const[]){"arith", "memref", "func", NULL},
    .run = run,
};
