// tile.load and tile.store: of views through windows, of buffers through offsets. Elements that may not exist
// are accessed under a condition of their own.
#include "lib/conversion/tile_to_gpu/accesses.h"

#include "dialects/tile/questions.h"
#include "lib/ir/op_format.h"

#include <stdio.h>

//===--- windows ----------------------------------------------------------------------------===//

// Which registers one access moves: of each run the first, and those behind it.
typedef struct Runs {
  intptr_t vector;
  uint32_t slots[MaxSlots], mask; // register bits
} Runs;

static Runs runsOf(const Window *window, const TileLayout *layout) {
  Runs runs = {.vector = 1};
  runs.vector = gpuWindowVector(window, layout, runs.slots);
  for (intptr_t i = 0; 1 << i < runs.vector; ++i)
    runs.mask |= runs.slots[i];
  return runs;
}

static intptr_t registerOf(const Runs *runs, intptr_t first, intptr_t element) {
  for (intptr_t i = 0; element >> i; ++i)
    first |= element >> i & 1 ? runs->slots[i] : 0;
  return first;
}

void gpuLoadWindow(Gpu *g, const Window *window, const TileLayout *layout, MlirValue *registers) {
  const Map *map = gpuMap(g, layout, window->rank);
  intptr_t count = (intptr_t)tileLayoutDimSize(layout, TileLayoutReg);
  Runs runs = runsOf(window, layout);
  MlirValue padding = gpuPadding(g, window->view), values[1 << MaxSlots];
  for (intptr_t reg = 0; reg < count; ++reg) {
    if (reg & runs.mask)
      continue;
    MlirValue mask = gpuWindowMask(g, window, map, reg);
    if (window->view->packing) {
      GpuCell cell = gpuWindowCell(g, window, map, reg);
      registers[reg] = gpuCellLoad(g, &cell, mask, padding);
      continue;
    }
    gpuLoadWhere(g, mask, window->element, runs.vector, gpuWindowAddress(g, window, map, reg),
                 runs.vector * tileStoredBytes(window->element), padding, values);
    for (intptr_t i = 0; i < runs.vector; ++i)
      registers[registerOf(&runs, reg, i)] = values[i];
  }
}

void gpuStoreWindow(Gpu *g, const Window *window, const TileLayout *layout, const MlirValue *registers) {
  const Map *map = gpuMap(g, layout, window->rank);
  intptr_t count = (intptr_t)tileLayoutDimSize(layout, TileLayoutReg);
  Runs runs = runsOf(window, layout);
  MlirValue owner = gpuIsOwner(g, layout), values[1 << MaxSlots];
  for (intptr_t reg = 0; reg < count; ++reg) {
    if (reg & runs.mask || tileIsFreeRegister(layout, reg))
      continue;
    MlirValue wanted = gpuBoth(g, owner, gpuWindowMask(g, window, map, reg));
    if (window->view->packing) {
      GpuCell cell = gpuWindowCell(g, window, map, reg);
      gpuCellStore(g, &cell, wanted, registers[reg]);
      continue;
    }
    for (intptr_t i = 0; i < runs.vector; ++i)
      values[i] = registers[registerOf(&runs, reg, i)];
    gpuStoreWhere(g, wanted, window->element, runs.vector, values, gpuWindowAddress(g, window, map, reg),
                  runs.vector * tileStoredBytes(window->element));
  }
}

void gpuVisitWindow(Gpu *g, const Window *window, const TileLayout *layout, const MlirValue *registers,
                    GpuVisitElement visit, const void *data) {
  const Map *map = gpuMap(g, layout, window->rank);
  GpuIf owner = gpuIf(g, gpuIsOwner(g, layout), 0, NULL);
  for (intptr_t reg = 0; reg < (intptr_t)tileLayoutDimSize(layout, TileLayoutReg); ++reg) {
    if (tileIsFreeRegister(layout, reg))
      continue;
    GpuIf branch = gpuIf(g, gpuWindowMask(g, window, map, reg), 0, NULL);
    GpuCell cell = gpuWindowCell(g, window, map, reg);
    visit(g, &cell, registers[reg], data);
    gpuEndIf(g, &branch, 0, NULL, NULL);
  }
  gpuEndIf(g, &owner, 0, NULL, NULL);
}

//===--- buffers ----------------------------------------------------------------------------===//

// Where a tile's registers lie in a buffer, and which of them one instruction moves.
typedef struct InBuffer {
  const Map *places;
  TileAccess access;
} InBuffer;

static bool planBuffer(Gpu *g, MlirOperation op, const Buffer *buffer, const TileLayout *layout, InBuffer *plan) {
  TileAccessLimits limits = {.elementBytes = (uint32_t)tileStoredBytes(tileTypeGetElement(buffer->type)),
                             .vectorBytes = 16};
  TileLayout offsets;
  TileError error;
  int64_t sizes[MaxRank];
  uint32_t rank = gpuExtents(buffer->type, &buffer->layout, sizes);
  if (!tileAccessPlan(layout, &buffer->layout, sizes, rank, &limits, &plan->access, &error))
    return tileError(op, "%s", error.text);
  if (!gpuOffsets(op, layout, &buffer->layout, buffer->type, &offsets))
    return false;
  plan->places = gpuMap(g, &offsets, 1);
  return true;
}

static MlirValue addressInBuffer(Gpu *g, const Buffer *buffer, const InBuffer *plan, uint32_t instruction) {
  return gpuBufferAddress(g, buffer, plan->places, (intptr_t)tileAccessRegister(&plan->access, instruction, 0));
}

// Ops across which a read of a buffer may move: they end no copy, let no other warp go on, and write no memory; not the
// scratch either, which may lie where the buffer did.
static bool isQuiet(MlirOperation op) {
  bool isElementwise = tileOpNameStartsWith(op, "arith.") || tileOpNameStartsWith(op, "math.");
  return (isElementwise && !arithConstantOpIsA(op)) || tileLoadOpIsA(op) || tileSlotOpIsA(op) || tileIotaOpIsA(op);
}

// Fragments of a product that follows are read step by step, just before they are multiplied: all at once they would
// take more registers than there are.
static bool mayWait(MlirOperation load) {
  if (!tileLoadOpIsA(load) || !tileHasOneUse(tileLoadOpGetResult(load)))
    return false;
  MlirValue result = tileLoadOpGetResult(load);
  MlirOperation user = mlirOpOperandGetOwner(mlirValueGetFirstUse(result)), next = mlirOperationGetNextInBlock(load);
  bool isFragment = tileIsProduct(user) && !tileKeywordIs(user, "atom", "fma") &&
                    !mlirValueEqual(tileOpOperand(user, "accumulator"), result);
  while (isFragment && !mlirOperationIsNull(next) && !mlirOperationEqual(next, user) && isQuiet(next))
    next = mlirOperationGetNextInBlock(next);
  return isFragment && !mlirOperationIsNull(next) && mlirOperationEqual(next, user);
}

// The bit of registers that the third bit of an instruction's should be: where that would bring the fragments of two
// steps of a product, which takes them one after the other, one that brings two of the same step. 2: as it is.
static uint32_t thirdBit(const Gpu *g, MlirOperation load, const TileLayout *layout) {
  TileMachineAtom atom;
  char name[64];
  if (!mayWait(load) || layout->bits[TileLayoutReg] < 4)
    return 2;
  MlirOpOperand use = mlirValueGetFirstUse(tileLoadOpGetResult(load));
  MlirStringRef text = tileKeywordOf(mlirOpOperandGetOwner(use), "atom");
  snprintf(name, sizeof name, "%.*s", (int)text.length, text.data);
  if (!tileMachineFindAtom(g->machine, name, &atom, NULL))
    return 2;
  intptr_t depth = tileTypeGetRank(tileLoadOpGetResultType(load)) - (mlirOpOperandGetOperandNumber(use) ? 2 : 1);
  for (uint32_t bit = 2; bit < layout->bits[TileLayoutReg]; ++bit)
    if (layout->steps[bit].at[depth] < atom.k)
      return bit;
  return 2;
}

struct BufferLoad {
  const Buffer *buffer;
  InBuffer plan;
  bool byMatrices;
  Matrices matrices;
  MlirValue *registers;
  intptr_t count, *instructions; // of registers, and which instruction reads each; copies of a register: its own
  bool *isDone;                  // by instruction
};

BufferLoad *gpuPlanLoad(Gpu *g, MlirOperation op, const Buffer *buffer, const TileLayout *layout,
                        MlirValue *registers) {
  BufferLoad *load = gpuAllocate(g, sizeof *load);
  load->buffer = buffer;
  load->registers = registers;
  load->count = (intptr_t)tileLayoutDimSize(layout, TileLayoutReg);
  if (!planBuffer(g, op, buffer, layout, &load->plan))
    return NULL;
  const TileAccess *access = &load->plan.access;
  intptr_t vector = (intptr_t)1 << access->vectorBits;
  bool isWide = vector * tileStoredBytes(tileTypeGetElement(buffer->type)) >= 8; // then plain loads do as well
  load->byMatrices = !isWide && gpuFindMatrices(g, buffer, layout, thirdBit(g, op, layout), &load->matrices);
  load->instructions = gpuAllocate(g, (size_t)load->count * sizeof *load->instructions);
  load->isDone = gpuAllocate(g, (size_t)load->count);
  const TileMatrixAccess *matrices = &load->matrices.plan;
  for (uint32_t n = 0; load->byMatrices && n < matrices->rows.count; ++n)
    for (uint32_t i = 0; i < 2u << matrices->matrixBits; ++i)
      load->instructions[gpuMatrixRegister(&load->matrices, n, i / 2, i % 2)] = n;
  for (uint32_t n = 0; !load->byMatrices && n < access->count; ++n)
    for (uint32_t slot = 0; slot < vector; ++slot)
      load->instructions[tileAccessRegister(access, n, slot)] = n;
  return load;
}

static void loadElements(Gpu *g, const BufferLoad *load, uint32_t n) {
  const TileAccess *access = &load->plan.access;
  MlirType element = tileTypeGetElement(load->buffer->type);
  intptr_t vector = (intptr_t)1 << access->vectorBits;
  MlirValue *values = gpuAllocate(g, (size_t)vector * sizeof *values);
  gpuLoadElements(g, element, vector, addressInBuffer(g, load->buffer, &load->plan, n),
                  vector * tileStoredBytes(element), values);
  for (uint32_t slot = 0; slot < vector; ++slot)
    load->registers[tileAccessRegister(access, n, slot)] = values[slot];
}

// Copies of a register, which the plan leaves out, are what it is.
void gpuLoadRegister(Gpu *g, BufferLoad *load, intptr_t reg) {
  intptr_t own = (intptr_t)((uint32_t)reg & ~load->plan.access.copyMask);
  intptr_t n = load->instructions[own];
  if (!load->isDone[n]) {
    load->isDone[n] = true;
    if (load->byMatrices)
      gpuLoadMatrices(g, load->buffer, &load->matrices, (uint32_t)n, load->registers);
    else
      loadElements(g, load, (uint32_t)n);
  }
  load->registers[reg] = load->registers[own];
}

void gpuLoadAll(Gpu *g, BufferLoad *load) {
  for (intptr_t reg = 0; reg < load->count; ++reg)
    gpuLoadRegister(g, load, reg);
}

bool gpuLoadBuffer(Gpu *g, MlirOperation op, const Buffer *buffer, const TileLayout *layout, MlirValue *registers) {
  BufferLoad *load = gpuPlanLoad(g, op, buffer, layout, registers);
  if (load)
    gpuLoadAll(g, load);
  return load != NULL;
}

bool gpuStoreBuffer(Gpu *g, MlirOperation op, const Buffer *buffer, const TileLayout *layout,
                    const MlirValue *registers) {
  InBuffer plan;
  MlirType element = tileTypeGetElement(buffer->type);
  if (!planBuffer(g, op, buffer, layout, &plan))
    return false;
  intptr_t vector = (intptr_t)1 << plan.access.vectorBits;
  MlirValue *values = gpuAllocate(g, (size_t)vector * sizeof *values);
  GpuIf owner = gpuIf(g, gpuIsOwner(g, layout), 0, NULL);
  for (uint32_t n = 0; n < plan.access.count; ++n) {
    for (uint32_t slot = 0; slot < vector; ++slot)
      values[slot] = registers[tileAccessRegister(&plan.access, n, slot)];
    gpuStoreElements(g, element, vector, values, addressInBuffer(g, buffer, &plan, n),
                     vector * tileStoredBytes(element));
  }
  gpuEndIf(g, &owner, 0, NULL, NULL);
  return true;
}

//===--- the ops ----------------------------------------------------------------------------===//

static bool lowerLoad(Gpu *g, MlirOperation op) {
  MlirValue result = tileLoadOpGetResult(op), *registers = gpuRecordTile(g, result);
  TileLayout layout = gpuLayoutOf(mlirValueGetType(result));
  Record *record = gpuRecord(g, tileLoadOpGetSource(op));
  if (record->kind == Record_Buffer) {
    BufferLoad *load = gpuPlanLoad(g, op, record->buffer, &layout, registers);
    if (load && mayWait(op))
      gpuRecord(g, result)->pending = load;
    else if (load)
      gpuLoadAll(g, load);
    return load != NULL;
  }
  Window window = gpuWindow(g, record->view, op);
  gpuLoadWindow(g, &window, &layout, registers);
  return true;
}

static bool lowerStore(Gpu *g, MlirOperation op) {
  Record *record = gpuRecord(g, tileStoreOpGetDestination(op));
  TileLayout layout = gpuLayoutOf(tileStoreOpGetValueType(op));
  const MlirValue *registers = gpuTile(g, tileStoreOpGetValue(op));
  if (record->kind == Record_Buffer)
    return gpuStoreBuffer(g, op, record->buffer, &layout, registers);
  Window window = gpuWindow(g, record->view, op);
  if (!mlirAttributeIsNull(tileStoreOpGetCombine(op)))
    return gpuStoreCombining(g, op, &window, &layout, registers);
  gpuStoreWindow(g, &window, &layout, registers);
  return true;
}

static bool lowerInBounds(Gpu *g, MlirOperation op) {
  MlirType type = tileInBoundsOpGetResultType(op);
  TileLayout layout = gpuLayoutOf(type);
  Window window = gpuWindow(g, gpuRecord(g, tileInBoundsOpGetView(op))->view, op);
  const Map *map = gpuMap(g, &layout, window.rank);
  MlirValue *registers = gpuRecordTile(g, tileInBoundsOpGetResult(op));
  for (intptr_t reg = 0; reg < gpuRegisters(type); ++reg) {
    MlirValue mask = gpuWindowMask(g, &window, map, reg);
    registers[reg] = mlirValueIsNull(mask) ? gpuInteger(g, g->i1, 1) : mask;
  }
  return true;
}

static bool lowerPrefetch(Gpu *g, MlirOperation op) {
  (void)g, (void)op; // a hint; tiles that pay for it are copied asynchronously
  return true;
}

const GpuRow gpuAccessRows[] = {{TileOp_Load, lowerLoad},
                                {TileOp_Store, lowerStore},
                                {TileOp_InBounds, lowerInBounds},
                                {TileOp_Prefetch, lowerPrefetch},
                                {.lower = NULL}};
