// See launch_order.h.
#include "lib/analysis/launches/launch_order.h"

#include "dialects/tile/ops.h"
#include "lib/analysis/launches/arena_parts.h"
#include "lib/ir/op_query.h"
#include "lib/support/grow.h"
#include "mlir-c/BuiltinTypes.h"
#include "upstream/func.h"
#include "upstream/memref.h"

#include <stdlib.h>

enum { MostRank = 8 };

//===--- memory -----------------------------------------------------------------===//

// The op only accesses the memory: it gives no other name to it, and neither loops nor branches carry it on.
static bool onlyAccesses(MlirOperation user) {
  if (memrefDimOpIsA(user) || memrefLoadOpIsA(user) || tileLaunchOpIsA(user) || funcReturnOpIsA(user))
    return true;
  return mlirOperationGetNumResults(user) == 0 && mlirOperationGetNumSuccessors(user) == 0 &&
         (mlirOperationGetNumRegions(user) == 0 || tileOpIsStructured(user)) && !tileOpIsOfDialect(user, "scf") &&
         !tileOpIsOfDialect(user, "cf");
}

static bool isSeenWhole(MlirValue memory) {
  for (MlirOpOperand use = mlirValueGetFirstUse(memory); !mlirOpOperandIsNull(use);
       use = mlirOpOperandGetNextUse(use)) {
    MlirOperation user = mlirOpOperandGetOwner(use);
    MlirValue viewed = tileOpViewedMemory(user);
    bool isView = !mlirValueIsNull(viewed) && mlirValueEqual(viewed, memory);
    if (isView ? !isSeenWhole(tileFirstResult(user)) : !onlyAccesses(user))
      return false;
  }
  return true;
}

bool tileAllocationIsPrivate(MlirOperation alloc) { return isSeenWhole(tileOnlyResult(alloc)); }

// Where in its memory a memref of constant sizes lies.
typedef struct Box {
  intptr_t rank;
  int64_t strides[MostRank], first[MostRank], sizes[MostRank]; // elements, the largest stride first
  int64_t begin, end;                                          // bytes
} Box;

static void sortByStride(Box *box) {
  for (intptr_t i = 1; i < box->rank; ++i)
    for (intptr_t k = i; k > 0 && box->strides[k] > box->strides[k - 1]; --k) {
      int64_t stride = box->strides[k], size = box->sizes[k];
      box->strides[k] = box->strides[k - 1], box->sizes[k] = box->sizes[k - 1];
      box->strides[k - 1] = stride, box->sizes[k - 1] = size;
    }
}

static bool findBox(MlirValue memref, Box *box) {
  MlirType type = mlirValueGetType(memref);
  int64_t offset, strides[MostRank], last = 0;
  if (!mlirTypeIsAMemRef(type) || mlirShapedTypeGetRank(type) > MostRank || !mlirShapedTypeHasStaticShape(type) ||
      mlirLogicalResultIsFailure(mlirMemRefTypeGetStridesAndOffset(type, strides, &offset)) ||
      mlirShapedTypeIsDynamicStrideOrOffset(offset))
    return false;
  *box = (Box){.rank = 0};
  for (intptr_t d = 0; d < mlirShapedTypeGetRank(type); ++d) {
    int64_t size = mlirShapedTypeGetDimSize(type, d);
    if (mlirShapedTypeIsDynamicStrideOrOffset(strides[d]) || strides[d] < 0 || size < 1)
      return false;
    last += (size - 1) * strides[d];
    if (size > 1)
      box->strides[box->rank] = strides[d], box->sizes[box->rank++] = size;
  }
  sortByStride(box);
  int64_t bytes = tileMemoryBytes(type), rest = offset;
  box->begin = offset * bytes;
  box->end = (offset + last + 1) * bytes;
  for (intptr_t d = 0; d < box->rank; ++d) {
    box->first[d] = box->strides[d] ? rest / box->strides[d] : 0;
    rest -= box->first[d] * box->strides[d];
  }
  return true;
}

// Both have these strides, and a coordinate never reaches into the next one of the dimension before.
static bool areOfOneGrid(const Box *a, const Box *b) {
  for (intptr_t d = 0; d < a->rank; ++d) {
    int64_t room = d ? a->strides[d - 1] / (a->strides[d] ? a->strides[d] : 1) : INT64_MAX;
    if (a->strides[d] != b->strides[d] || a->first[d] + a->sizes[d] > room || b->first[d] + b->sizes[d] > room)
      return false;
  }
  return true;
}

static bool boxesOverlap(const Box *a, const Box *b) {
  if (a->end <= b->begin || b->end <= a->begin)
    return false;
  if (a->rank != b->rank || !areOfOneGrid(a, b))
    return true;
  for (intptr_t d = 0; d < a->rank; ++d)
    if (a->first[d] + a->sizes[d] <= b->first[d] || b->first[d] + b->sizes[d] <= a->first[d])
      return false;
  return true;
}

// Two memrefs of one root.
static bool partsOverlap(MlirValue a, MlirValue b) {
  Box boxes[2];
  int64_t begins[2];
  MlirValue parts[] = {tileMemoryPart(a, &begins[0]), tileMemoryPart(b, &begins[1])};
  if (mlirValueIsNull(parts[0]) || mlirValueIsNull(parts[1]) || !findBox(a, &boxes[0]) || !findBox(b, &boxes[1]))
    return true;
  if (mlirValueEqual(parts[0], parts[1]))
    return boxesOverlap(&boxes[0], &boxes[1]);
  return begins[0] + boxes[0].begin < begins[1] + boxes[1].end && begins[1] + boxes[1].begin < begins[0] + boxes[0].end;
}

static bool isAllocation(MlirValue root) { return memrefAllocOpIsA(tileDefiningOp(root)); }

bool tileMemoryMayOverlap(MlirValue a, MlirValue b) {
  if (mlirValueIsNull(a) || mlirValueIsNull(b))
    return true;
  MlirValue roots[] = {tileMemoryRoot(a), tileMemoryRoot(b)};
  if (mlirValueEqual(roots[0], roots[1]))
    return partsOverlap(a, b);
  if (isAllocation(roots[0]) && isAllocation(roots[1]))
    return false;
  for (int i = 0; i < 2; ++i)
    if (isAllocation(roots[i]) && tileAllocationIsPrivate(tileDefiningOp(roots[i])))
      return false;
  return true;
}

//===--- accesses ----------------------------------------------------------------===//

typedef struct Access {
  intptr_t step;
  MlirValue memref; // null: any memory
} Access;

typedef struct Accesses {
  Access *items;
  intptr_t count;
} Accesses;

// The accesses to one private allocation, or to all memory that may be one. `debug`: printing and assertions.
typedef struct Memory {
  Accesses reads, writes;
  struct Memory *next;
} Memory;

typedef struct Building {
  TileLaunchOrder *order;
  TileTable memories; // by root, of private allocations
  Memory outside, debug, *all;
  intptr_t step, fence; // the last step that does not say what it does; -1: none
  bool isFence;
} Building;

static void addBefore(TileStep *step, intptr_t before) {
  if (step->count && step->before[step->count - 1] == before)
    return;
  step->before = tessera_grow(step->before, step->count, sizeof *step->before);
  step->before[step->count++] = before;
}

static void comeAfter(Building *b, const Accesses *accesses, MlirValue memref) {
  for (intptr_t i = 0; i < accesses->count; ++i)
    if (accesses->items[i].step != b->step && tileMemoryMayOverlap(accesses->items[i].memref, memref))
      addBefore(&b->order->steps[b->step], accesses->items[i].step);
}

static void addAccess(Accesses *accesses, intptr_t step, MlirValue memref) {
  accesses->items = tessera_grow(accesses->items, accesses->count, sizeof *accesses->items);
  accesses->items[accesses->count++] = (Access){step, memref};
}

static Memory *memoryOf(Building *b, MlirValue root) {
  if (!isAllocation(root))
    return &b->outside;
  Memory *memory = tileTableFind(&b->memories, root.ptr);
  if (memory)
    return memory;
  memory = &b->outside;
  if (tileAllocationIsPrivate(tileDefiningOp(root))) {
    memory = calloc(1, sizeof *memory);
    memory->next = b->all;
    b->all = memory;
  }
  tileTableSet(&b->memories, root.ptr, memory);
  return memory;
}

static void access(Building *b, Memory *memory, MlirValue memref, bool writes) {
  comeAfter(b, &memory->writes, memref);
  if (writes)
    comeAfter(b, &memory->reads, memref);
  addAccess(writes ? &memory->writes : &memory->reads, b->step, memref);
}

static void see(MlirOperation op, TileEffect effect, void *data) {
  Building *b = data;
  bool writes = effect.kind == MlirExtEffect_Write || effect.kind == MlirExtEffect_Free;
  if (effect.kind == MlirExtEffect_Allocate)
    return;
  if (effect.isUnknown || effect.resource == MlirExtResource_Order ||
      (effect.resource == MlirExtResource_Memory && mlirValueIsNull(effect.value)))
    b->isFence = true;
  else if (effect.resource == MlirExtResource_Debug)
    access(b, &b->debug, (MlirValue){NULL}, true);
  else
    access(b, memoryOf(b, tileMemoryRoot(effect.value)), effect.value, writes);
}

//===--- values ------------------------------------------------------------------===//

intptr_t tileLaunchOrderStepOf(const TileLaunchOrder *order, MlirOperation op) {
  for (; !mlirOperationIsNull(op); op = mlirOperationGetParentOperation(op)) {
    intptr_t step = (intptr_t)tileTableFind(&order->numbers, op.ptr);
    if (step)
      return step - 1;
  }
  return -1;
}

static MlirWalkResult useValues(MlirOperation op, void *userData) {
  Building *b = userData;
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); ++i) {
    MlirOperation maker = tileDefiningOp(mlirOperationGetOperand(op, i));
    intptr_t step = mlirOperationIsNull(maker) ? -1 : (intptr_t)tileTableFind(&b->order->numbers, maker.ptr) - 1;
    if (step >= 0 && step != b->step)
      addBefore(&b->order->steps[b->step], step);
  }
  return MlirWalkResultAdvance;
}

static void closeFence(Building *b) {
  TileStep *step = &b->order->steps[b->step];
  for (intptr_t i = b->fence + 1; i < b->step; ++i)
    addBefore(step, i);
  b->fence = b->step;
}

static void setDepth(Building *b, TileStep *step) {
  for (intptr_t i = 0; i < step->count; ++i) {
    const TileStep *before = &b->order->steps[step->before[i]];
    int64_t depth = before->depth + tileLaunchOpIsA(before->op);
    step->depth = depth > step->depth ? depth : step->depth;
  }
}

static void visit(Building *b) {
  TileStep *step = &b->order->steps[b->step];
  b->isFence = false;
  mlirOperationWalk(step->op, useValues, b, MlirWalkPreOrder);
  tileOpVisitAllEffects(step->op, see, b);
  if (b->fence >= 0)
    addBefore(step, b->fence);
  if (b->isFence)
    closeFence(b);
  setDepth(b, step);
}

static void freeMemory(Memory *memory) {
  free(memory->reads.items);
  free(memory->writes.items);
}

TileLaunchOrder tileLaunchOrderOf(MlirBlock block) {
  TileLaunchOrder order = {NULL};
  Building b = {.order = &order, .fence = -1};
  MlirOperation end = mlirBlockGetTerminator(block);
  for (MlirOperation op = mlirBlockGetFirstOperation(block); !mlirOperationIsNull(op) && !mlirOperationEqual(op, end);
       op = mlirOperationGetNextInBlock(op)) {
    order.steps = tessera_grow(order.steps, order.count, sizeof *order.steps);
    order.steps[order.count++] = (TileStep){.op = op};
    tileTableSet(&order.numbers, op.ptr, (void *)order.count);
  }
  for (b.step = 0; b.step < order.count; ++b.step)
    visit(&b);
  for (Memory *memory = b.all, *next; memory; memory = next) {
    next = memory->next;
    freeMemory(memory);
    free(memory);
  }
  freeMemory(&b.outside);
  freeMemory(&b.debug);
  tileTableFree(&b.memories);
  return order;
}

void tileLaunchOrderFree(TileLaunchOrder *order) {
  for (intptr_t i = 0; i < order->count; ++i)
    free(order->steps[i].before);
  free(order->steps);
  tileTableFree(&order->numbers);
}

//===--- contracting ------------------------------------------------------------===//

// A heap of the nodes that nothing is before any more, by their place.
typedef struct Sorting {
  const TileLaunchOrder *order;
  const intptr_t *node;
  intptr_t *waiting; // of a node: how many steps it waits for
  intptr_t **after, *numAfter;
  intptr_t *heap, heapCount;
} Sorting;

static void push(Sorting *s, intptr_t node) {
  intptr_t at = s->heapCount++;
  for (; at > 0 && s->heap[(at - 1) / 2] > node; at = (at - 1) / 2)
    s->heap[at] = s->heap[(at - 1) / 2];
  s->heap[at] = node;
}

static intptr_t pop(Sorting *s) {
  intptr_t least = s->heap[0], last = s->heap[--s->heapCount], at = 0;
  for (intptr_t child; (child = 2 * at + 1) < s->heapCount; at = child) {
    child += child + 1 < s->heapCount && s->heap[child + 1] < s->heap[child];
    if (s->heap[child] >= last)
      break;
    s->heap[at] = s->heap[child];
  }
  s->heap[at] = last;
  return least;
}

static void linkSteps(Sorting *s) {
  for (intptr_t i = 0; i < s->order->count; ++i)
    for (intptr_t k = 0; k < s->order->steps[i].count; ++k) {
      intptr_t before = s->node[s->order->steps[i].before[k]], node = s->node[i];
      if (before == node)
        continue;
      s->after[before] = tessera_grow(s->after[before], s->numAfter[before], sizeof **s->after);
      s->after[before][s->numAfter[before]++] = node;
      ++s->waiting[node];
    }
}

void tileLaunchOrderContract(const TileLaunchOrder *order, const intptr_t *nodes) {
  size_t count = (size_t)order->count;
  Sorting s = {.order = order,
               .node = nodes,
               .waiting = calloc(count, sizeof *s.waiting),
               .after = calloc(count, sizeof *s.after),
               .numAfter = calloc(count, sizeof *s.numAfter),
               .heap = malloc(count * sizeof *s.heap)};
  MlirOperation end = count ? mlirBlockGetTerminator(mlirOperationGetBlock(order->steps[0].op)) : (MlirOperation){NULL};
  linkSteps(&s);
  for (intptr_t i = 0; i < order->count; ++i)
    if (nodes[i] == i && !s.waiting[i])
      push(&s, i);
  while (s.heapCount) {
    intptr_t node = pop(&s);
    mlirOperationMoveBefore(order->steps[node].op, end);
    for (intptr_t i = 0; i < s.numAfter[node]; ++i)
      if (--s.waiting[s.after[node][i]] == 0)
        push(&s, s.after[node][i]);
  }
  for (size_t i = 0; i < count; ++i)
    free(s.after[i]);
  free(s.waiting), free(s.after), free(s.numAfter), free(s.heap);
}
