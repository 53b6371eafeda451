// tile.load and tile.store: of views through windows, of buffers through offsets. A window says where the elements of a
// view's tile lie in memory, which of them exist, and how many can be accessed at once. Elements that may not exist are
// accessed under a condition of their own.
#include "lib/conversion/tile_to_gpu/accesses.h"
#include "lib/conversion/tile_to_gpu/asynchronous.h"

#include "dialects/tile/questions.h"
#include "lib/ir/op_format.h"
#include "lib/layout/access.h"
#include "lib/support/integer.h"
#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/Dialect/LLVM.h"

#include <math.h>

//===--- the window ---------------------------------------------------------------------===//

MlirValue gpuViewSize(Gpu *g, const View *view, intptr_t axis) {
  MlirValue size = view->memory.sizes[view->dims[axis]];
  if (!view->packing)
    return size;
  return tileBuildMul(&g->builder, size, tileBuildIndex(&g->builder, view->packing->extents[axis]));
}

// `distance`, 0 where it is negative and INT32_MAX where it is larger, as i32. By halves: numbers of 64 bits have no
// minimum and maximum on GPUs.
static MlirValue saturate(Gpu *g, MlirValue distance) {
  MlirValue low = gpuCast(g, distance, g->i32, true), zero = gpuI32(g, 0);
  MlirValue high = gpuCast(g, gpuShiftRight(g, distance, 32), g->i32, true);
  MlirValue isPositive = gpuXor(g, gpuBinary(g, ArithOp_ShRSI, high, gpuI32(g, 31)), gpuI32(g, -1));
  MlirValue number = gpuSelect(g, gpuCompare(g, ArithCmpI_Eq, high, zero), low, isPositive);
  return gpuBinary(g, ArithOp_MinUI, number, gpuI32(g, INT32_MAX));
}

// ceil(distance / stride), at least 0 and at most `extent`, as i32.
static MlirValue limit(Gpu *g, MlirValue distance, int64_t stride, int64_t extent) {
  TileBuilder *builder = &g->builder;
  distance = tileBuildCeilDiv(builder, distance, tileBuildIndex(builder, stride));
  distance = tileBuildMax(builder, distance, tileBuildIndex(builder, 0));
  return gpuCast(g, tileBuildMin(builder, distance, tileBuildIndex(builder, extent)), g->i32, true);
}

static bool isNumber(MlirValue value, int64_t number) {
  int64_t seen;
  return tileConstantIndex(value, &seen) && seen == number;
}

// No tile of the axis reaches the end of a known size, whatever the index.
static bool isWithinSize(const View *view, intptr_t axis, MlirValue size, TileIndexFacts facts) {
  int64_t known, begin,
      reach = (tileViewTypeGetSize(view->type, axis) - 1) * tileViewTypeGetStride(view->type, axis) + 1;
  return mlirValueIsNull(view->inside) && tileConstantIndex(size, &known) && facts.high != INT64_MAX &&
         !__builtin_mul_overflow(facts.high, tileViewTypeGetStep(view->type, axis), &begin) && begin <= known - reach;
}

static void limitAxis(Gpu *g, Window *window, intptr_t axis, MlirValue origin, TileIndexFacts facts) {
  const View *view = window->view;
  int64_t stride = tileViewTypeGetStride(view->type, axis), extent = tileViewTypeGetSize(view->type, axis);
  MlirValue size = gpuViewSize(g, view, axis);
  if (facts.low >= 0 && isWithinSize(view, axis, size, facts))
    return;
  MlirValue distance = tileBuildSub(&g->builder, size, origin);
  int64_t known;
  if (stride == 1 && !tileConstantIndex(distance, &known)) {
    distance = gpuCast(g, distance, g->i64, true);
    window->distance[axis] = gpuSelect(g, view->inside, distance, gpuInteger(g, g->i64, 0));
    window->left[axis] = saturate(g, window->distance[axis]);
  } else {
    MlirValue high = limit(g, distance, stride, extent);
    high = gpuSelect(g, view->inside, high, gpuI32(g, 0));
    if (!isNumber(high, extent))
      window->high[axis] = high;
  }
  if (facts.low >= 0)
    return;
  MlirValue low = limit(g, tileBuildSub(&g->builder, tileBuildIndex(&g->builder, 0), origin), stride, extent);
  if (!isNumber(low, 0))
    window->low[axis] = low;
}

Window gpuWindow(Gpu *g, MlirValue memory, MlirOperation op) {
  const View *view = gpuRecord(g, memory)->view;
  Window window = {.view = view, .element = view->memory.element, .runs = tileRunsInMemory(op, memory), .vector = 1};
  intptr_t firstIndex, count;
  window.rank = tileViewTypeGetRank(view->type);
  tileOpOperands(op, "indices", &firstIndex, &count);
  tileIntegerOf(op, "vector", &window.vector);
  TileBuilder *builder = &g->builder;
  MlirValue offset = tileBuildIndex(builder, 0);
  for (intptr_t axis = 0; axis < window.rank; ++axis) {
    MlirValue stride = view->memory.strides[view->dims[axis]], origin = tileBuildIndex(builder, 0);
    TileIndexFacts facts = {0, 0, 0};
    if (!mlirOperationIsNull(view->op)) { // a part of a buffer has one tile
      MlirValue index = mlirOperationGetOperand(op, firstIndex + axis);
      facts = tileIndexFacts(index);
      MlirValue step = tileBuildIndex(builder, tileViewTypeGetStep(view->type, axis));
      origin = tileBuildMul(builder, gpuScalar(g, index), step);
    }
    offset = tileBuildAdd(builder, offset, tileBuildMul(builder, origin, stride));
    window.strides[axis] =
        tileBuildMul(builder, stride, tileBuildIndex(builder, tileViewTypeGetStride(view->type, axis)));
    window.origins[axis] = origin;
    limitAxis(g, &window, axis, origin, facts);
  }
  window.base = gpuElementAt(g, view->memory.base, offset, window.element);
  return window;
}

//===--- a register of it -----------------------------------------------------------------===//

// How many numbers registers add to the thread's coordinate, where runs of registers are one access.
static int64_t countConstants(const Window *window, const Map *map, intptr_t axis) {
  const TileLayout *layout = &map->layout;
  int64_t count = 1, run = isNumber(window->strides[axis], 1) ? window->vector : 1;
  for (uint32_t bit = 0; bit < layout->bits[TileLayoutReg]; ++bit)
    count *= layout->steps[bit].at[axis] ? 2 : 1;
  for (uint32_t i = 0; i < layout->repeatCount; ++i)
    count *= layout->repeats[i].dim == TileLayoutReg && layout->repeats[i].axis == axis ? layout->repeats[i].count : 1;
  return tessera_max(count / run, 1);
}

enum { MaxWideLimits = 4 }; // comparisons of 64 bits that take no more instructions than a number of 32 bits

// Whether the register's element lies before the view's end. All registers share the thread's room. It is compared with
// a constant: what the register adds to the thread's place.
static MlirValue isInside(Gpu *g, const Window *window, const Map *map, intptr_t axis, MlirValue thread,
                          int64_t constant) {
  MlirValue distance = window->distance[axis];
  int64_t count = countConstants(window, map, axis);
  if (count > MaxWideLimits)
    return gpuCompare(g, ArithCmpI_Sgt, gpuSub(g, window->left[axis], thread), gpuI32(g, constant));
  thread = gpuCast(g, thread, g->i64, true);
  if (count == 1)
    return gpuCompare(g, ArithCmpI_Slt, gpuAdd(g, thread, gpuInteger(g, g->i64, constant)), distance);
  return gpuCompare(g, ArithCmpI_Sgt, gpuSub(g, distance, thread), gpuInteger(g, g->i64, constant));
}

MlirValue gpuWindowMask(Gpu *g, const Window *window, const Map *map, intptr_t reg) {
  MlirValue mask = window->rank ? (MlirValue){NULL} : window->view->inside;
  for (intptr_t axis = 0; axis < window->rank; ++axis) {
    if (mlirValueIsNull(window->high[axis])) // the tile's size is a limit
      mask = gpuBoth(g, mask, gpuIsBelow(g, map, axis, reg, tileViewTypeGetSize(window->view->type, axis)));
    int64_t constant;
    MlirValue at = gpuCoordinateParts(g, map, axis, reg, &constant), thread = mlirValueIsNull(at) ? gpuI32(g, 0) : at;
    if (!mlirValueIsNull(window->distance[axis]))
      mask = gpuBoth(g, mask, isInside(g, window, map, axis, thread, constant));
    if (!mlirValueIsNull(window->high[axis]))
      mask = gpuBoth(g, mask, gpuCompare(g, ArithCmpI_Slt, thread, gpuSub(g, window->high[axis], gpuI32(g, constant))));
    if (!mlirValueIsNull(window->low[axis]))
      mask = gpuBoth(g, mask, gpuCompare(g, ArithCmpI_Sge, thread, gpuSub(g, window->low[axis], gpuI32(g, constant))));
  }
  return mask;
}

static bool isNarrow(const Window *window, intptr_t axis, int64_t *stride) {
  int64_t size = tileViewTypeGetSize(window->view->type, axis), bytes = tileStoredBytes(window->element);
  return tileConstantIndex(window->strides[axis], stride) && *stride * bytes * size < INT32_MAX / MaxRank;
}

// Goes on from the register before along the one axis whose stride is not constant, if the thread's part is as there;
// adds to `last` what the other axes add. False: the register's address is to be computed, and then the walk goes on.
static bool follow(Gpu *g, const Window *window, const Map *map, intptr_t reg, WindowWalk *walk, int64_t *last) {
  int64_t stride, constant, bytes = tileStoredBytes(window->element), sum = 0, along = 0;
  intptr_t axis = -1;
  MlirValue thread = {NULL};
  walk->isKnown = false;
  for (intptr_t i = 0; i < window->rank; ++i) {
    MlirValue at = gpuCoordinateParts(g, map, i, reg, &constant);
    bool narrow = isNarrow(window, i, &stride);
    if (narrow ? !mlirValueEqual(at, map->thread[i]) : axis >= 0)
      return false;
    sum += narrow ? constant * stride * bytes : 0;
    axis = narrow ? axis : i;
    along = narrow ? along : constant;
    thread = narrow ? thread : at;
  }
  bool isNext =
      axis >= 0 && !mlirValueIsNull(walk->address) && mlirValueEqual(thread, walk->thread) && along >= walk->constant;
  if (isNext && along > walk->constant) {
    MlirValue pitch = tileBuildMul(&g->builder, window->strides[axis], tileBuildIndex(&g->builder, bytes));
    MlirValue step = tileBuildMul(&g->builder, tileBuildIndex(&g->builder, along - walk->constant), pitch);
    walk->address = gpuAddress(g, walk->address, step);
  }
  walk->isKnown = axis >= 0;
  walk->thread = thread;
  walk->constant = along;
  *last += isNext ? sum : 0;
  return isNext;
}

// Bytes from the window's base. The thread's part stands first: loops and the other registers share it. What differs
// between registers comes last, as a multiple of a stride that all threads share, then as a constant.
MlirValue gpuWindowAddress(Gpu *g, const Window *window, const Map *map, intptr_t reg, WindowWalk *walk) {
  TileBuilder *builder = &g->builder;
  int64_t bytes = tileStoredBytes(window->element), last = 0;
  MlirValue narrow = {NULL}, wide = {NULL}, shared = {NULL};
  if (walk && follow(g, window, map, reg, walk, &last))
    return gpuAddress(g, walk->address, gpuI32(g, last));
  for (intptr_t axis = 0; axis < window->rank; ++axis) {
    int64_t stride, constant;
    MlirValue at = gpuCoordinateParts(g, map, axis, reg, &constant);
    if (isNarrow(window, axis, &stride)) {
      narrow = mlirValueIsNull(at) ? narrow : gpuAdd(g, narrow, gpuMul(g, at, gpuI32(g, stride * bytes)));
      last += constant * stride * bytes;
      continue;
    }
    MlirValue pitch = tileBuildMul(builder, window->strides[axis], tileBuildIndex(builder, bytes));
    if (!mlirValueIsNull(at))
      wide = gpuAdd(g, wide, gpuMul(g, gpuCast(g, at, g->index, true), pitch));
    if (constant)
      shared = gpuAdd(g, shared, tileBuildMul(builder, tileBuildIndex(builder, constant), pitch));
  }
  if (!mlirValueIsNull(narrow))
    wide = gpuAdd(g, wide, gpuCast(g, narrow, g->index, true));
  MlirValue address = gpuAddress(g, gpuAddress(g, window->base, wide), shared);
  if (walk)
    walk->address = walk->isKnown ? address : (MlirValue){NULL};
  return gpuAddress(g, address, gpuI32(g, last));
}

int64_t gpuWindowVector(const Window *window, const TileLayout *layout, uint32_t *slots) {
  int64_t widest = tileWidestRun(&window->runs, window->view->type, layout, slots);
  return tessera_min(widest, window->vector);
}

MlirValue gpuPadding(Gpu *g, const View *view) {
  MlirType element = tileViewTypeGetElementType(view->type);
  MlirStringRef pad = tileViewTypeGetPad(view->type);
  if (!mlirTypeIsAFloat(element) || tileStringEquals(pad, "zero"))
    return gpuZero(g, element);
  double value = tileStringEquals(pad, "neg_zero") ? -0.0
                 : tileStringEquals(pad, "nan")    ? (double)NAN
                 : tileStringEquals(pad, "inf")    ? (double)INFINITY
                                                   : -(double)INFINITY;
  return gpuConstant(g, mlirFloatAttrDoubleGet(g->context, element, value));
}

//===--- memory whose hardware checks bounds --------------------------------------------------===//

enum { NoOffset = INT32_MIN }; // beyond the bounds, as a number without a sign

// The window's memory, if every element of the tile lies at an offset of 31 bits; else null. An access that is not
// wanted takes an offset beyond the bounds, where a branch would mask the lanes.
static MlirValue boundedMemory(Gpu *g, const Window *window) {
  int64_t stride;
  bool isGlobal = mlirLLVMPointerTypeGetAddressSpace(mlirValueGetType(window->base)) == GlobalSpace;
  if (!g->vocabulary->boundedMemory || !isGlobal || window->view->packing)
    return (MlirValue){NULL};
  for (intptr_t axis = 0; axis < window->rank; ++axis)
    if (!isNarrow(window, axis, &stride) || stride < 0)
      return (MlirValue){NULL};
  return g->vocabulary->boundedMemory(&g->builder, g->machine, window->base, INT32_MAX);
}

static MlirValue boundedOffset(Gpu *g, const Window *window, const Map *map, intptr_t reg, MlirValue mask) {
  MlirValue offset = {NULL};
  int64_t bytes = tileStoredBytes(window->element), last = 0, constant, stride = 0;
  for (intptr_t axis = 0; axis < window->rank; ++axis) {
    isNarrow(window, axis, &stride);
    MlirValue at = gpuCoordinateParts(g, map, axis, reg, &constant);
    last += constant * stride * bytes;
    if (!mlirValueIsNull(at))
      offset = gpuAdd(g, offset, gpuMul(g, at, gpuI32(g, stride * bytes)));
  }
  offset = mlirValueIsNull(offset) ? gpuI32(g, last) : gpuAdd(g, offset, gpuI32(g, last));
  return gpuSelect(g, mask, offset, gpuI32(g, NoOffset));
}

// What one access moves: an integer, or words of 32 bits.
static MlirType movedType(Gpu *g, int64_t bytes) {
  int64_t words = bytes / 4;
  return bytes <= 4 ? mlirIntegerTypeGet(g->context, 8 * (unsigned)bytes) : mlirVectorTypeGet(1, &words, g->i32);
}

static MlirValue cast(Gpu *g, MlirType type, MlirValue value) {
  return mlirTypeEqual(type, mlirValueGetType(value)) ? value : llvmBitcastOpBuild(&g->builder, type, value);
}

static void boundedLoad(Gpu *g, MlirValue memory, MlirType element, intptr_t count, MlirValue offset,
                        MlirValue *values) {
  MlirType moved = movedType(g, count * tileStoredBytes(element));
  MlirValue loaded = g->vocabulary->boundedLoad(&g->builder, moved, memory, offset);
  gpuSplitElements(g, element, count, cast(g, gpuStoredTypeOf(g, element, count), loaded), values);
}

static void boundedStore(Gpu *g, MlirValue memory, MlirType element, intptr_t count, const MlirValue *values,
                         MlirValue offset) {
  MlirType moved = movedType(g, count * tileStoredBytes(element));
  g->vocabulary->boundedStore(&g->builder, cast(g, moved, gpuJoinElements(g, element, count, values)), memory, offset);
}

//===--- windows ----------------------------------------------------------------------------===//

// Which registers one access moves: of each run the first, and those behind it.
typedef struct Runs {
  int64_t vector;
  uint32_t slots[MaxSlots], mask; // register bits
} Runs;

static Runs runsOf(const Window *window, const TileLayout *layout) {
  Runs runs = {.vector = 1};
  runs.vector = gpuWindowVector(window, layout, runs.slots);
  for (intptr_t i = 0; 1ll << i < runs.vector; ++i)
    runs.mask |= runs.slots[i];
  return runs;
}

static intptr_t registerOf(const Runs *runs, intptr_t first, intptr_t element) {
  for (intptr_t i = 0; element >> i; ++i)
    first |= element >> i & 1 ? runs->slots[i] : 0;
  return first;
}

// Words of a packed window, by the register that reads each first.
typedef struct PackedWords {
  const Window *window;
  const Map *map;
  const TileLayout *layout;
  GpuCell *cells;
  MlirValue *words;
} PackedWords;

// A word is loaded once for all registers of a thread that hold elements of it.
static MlirValue loadPacked(Gpu *g, PackedWords *p, intptr_t reg, MlirValue mask, MlirValue padding) {
  int64_t bits;
  intptr_t first = gpuPackedFirst(p->window, p->layout, reg, &bits);
  if (first == reg) {
    p->cells[reg] = gpuWindowCell(g, p->window, p->map, reg);
    p->words[reg] = gpuCellLoadWord(g, &p->cells[reg], mask);
  }
  GpuCell cell = p->cells[first];
  if (bits)
    cell.shift = gpuXor(g, cell.shift, gpuInteger(g, cell.word, bits));
  return gpuCellElement(g, &cell, p->words[first], mask, padding);
}

static void loadWindow(Gpu *g, const Window *window, const TileLayout *layout, MlirValue *registers) {
  const Map *map = gpuMap(g, layout, window->rank);
  intptr_t count = (intptr_t)tileLayoutDimSize(layout, TileLayoutReg);
  Runs runs = runsOf(window, layout);
  WindowWalk walk = {.constant = 0};
  MlirValue padding = gpuPadding(g, window->view), memory = {NULL}, values[1 << MaxSlots];
  bool isZero = tileStringEquals(tileViewTypeGetPad(window->view->type), "zero");
  PackedWords packed = {.window = window, .map = map, .layout = layout};
  if (window->view->packing) {
    packed.cells = gpuAllocate(g, (size_t)count * sizeof *packed.cells);
    packed.words = gpuAllocate(g, (size_t)count * sizeof *packed.words);
  }
  for (intptr_t reg = 0; reg < count; ++reg) {
    if (reg & runs.mask)
      continue;
    MlirValue mask = gpuWindowMask(g, window, map, reg);
    if (window->view->packing) {
      registers[reg] = loadPacked(g, &packed, reg, mask, padding);
      continue;
    }
    if (mlirValueIsNull(memory) && !mlirValueIsNull(mask) && isZero)
      memory = boundedMemory(g, window);
    if (!mlirValueIsNull(memory) && !mlirValueIsNull(mask))
      boundedLoad(g, memory, window->element, runs.vector, boundedOffset(g, window, map, reg, mask), values);
    else
      gpuLoadWhere(g, mask, window->element, runs.vector, gpuWindowAddress(g, window, map, reg, &walk),
                   runs.vector * tileStoredBytes(window->element), padding, values);
    for (intptr_t i = 0; i < runs.vector; ++i)
      registers[registerOf(&runs, reg, i)] = values[i];
  }
}

static void storeWindow(Gpu *g, const Window *window, const TileLayout *layout, const MlirValue *registers) {
  const Map *map = gpuMap(g, layout, window->rank);
  intptr_t count = (intptr_t)tileLayoutDimSize(layout, TileLayoutReg);
  Runs runs = runsOf(window, layout);
  WindowWalk walk = {.constant = 0};
  MlirValue owner = gpuIsOwner(g, layout), memory = {NULL}, values[1 << MaxSlots];
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
    if (mlirValueIsNull(memory) && !mlirValueIsNull(wanted))
      memory = boundedMemory(g, window);
    if (!mlirValueIsNull(memory) && !mlirValueIsNull(wanted))
      boundedStore(g, memory, window->element, runs.vector, values, boundedOffset(g, window, map, reg, wanted));
    else
      gpuStoreWhere(g, wanted, window->element, runs.vector, values, gpuWindowAddress(g, window, map, reg, &walk),
                    runs.vector * tileStoredBytes(window->element));
  }
}

//===--- buffers ----------------------------------------------------------------------------===//

// Where a tile's registers lie in a buffer, and which of them one instruction moves.
typedef struct InBuffer {
  const Map *places;
  TileAccess access;
} InBuffer;

static bool planBuffer(Gpu *g, MlirOperation op, const Buffer *buffer, const TileLayout *layout, InBuffer *plan) {
  int64_t sizes[MaxRank], vector = 1, bytes = tileStoredBytes(tileTypeGetElement(buffer->type));
  tileIntegerOf(op, "vector", &vector);
  TileAccessLimits limits = {.elementBytes = (uint32_t)bytes, .vectorBytes = (uint32_t)(vector * bytes)};
  TileLayout offsets;
  TileError error;
  uint32_t rank = tileBufferExtents(buffer->type, &buffer->layout, sizes);
  if (!tileAccessPlan(layout, &buffer->layout, sizes, rank, &limits, &plan->access, &error))
    return tileError(op, "%s", error.text);
  if (vector * bytes > TileWidestAccess || 1ll << plan->access.vectorBits != vector)
    return gpuMissesVector(op, vector, 1ll << plan->access.vectorBits);
  if (!gpuOffsets(op, layout, &buffer->layout, buffer->type, &offsets))
    return false;
  plan->places = gpuMap(g, &offsets, 1);
  return true;
}

static MlirValue addressInBuffer(Gpu *g, const Buffer *buffer, const InBuffer *plan, uint32_t instruction) {
  return gpuBufferAddress(g, buffer, plan->places, (intptr_t)tileAccessRegister(&plan->access, instruction, 0));
}

struct BufferLoad {
  const Buffer *buffer;
  InBuffer plan;
  bool byMatrices;
  TileMatrixPlan matrices;
  MlirValue *registers;
  intptr_t count, *instructions; // of registers, and which instruction reads each; copies of a register: its own
  bool *isDone;                  // by instruction
};

static bool planMatrices(Gpu *g, MlirOperation op, const Buffer *buffer, const TileLayout *layout, int64_t third,
                         TileMatrixPlan *plan) {
  bool isStore = tileStoreOpIsA(op),
       isThere = isStore ? g->vocabulary->storeMatrix != NULL : g->vocabulary->loadMatrix != NULL;
  return (isThere && tilePlanMatrices(g->machine, op, buffer->type, &buffer->layout, layout, (uint32_t)third, plan)) ||
         tileError(op,
                   "cannot be %s by matrices (third bit %lld) on %s: the instruction moves rows of 16 bytes of "
                   "16-bit elements that the fragment and the buffer keep together",
                   isStore ? "written" : "read", (long long)third, tileMachineGetName(g->machine));
}

static BufferLoad *planLoad(Gpu *g, MlirOperation op, const Buffer *buffer, const TileLayout *layout,
                            MlirValue *registers) {
  BufferLoad *load = gpuAllocate(g, sizeof *load);
  int64_t third = 2;
  load->buffer = buffer;
  load->registers = registers;
  load->count = (intptr_t)tileLayoutDimSize(layout, TileLayoutReg);
  if (!planBuffer(g, op, buffer, layout, &load->plan) ||
      (tileIntegerOf(op, "matrices", &third) && !planMatrices(g, op, buffer, layout, third, &load->matrices)))
    return NULL;
  load->byMatrices = tileHas(op, "matrices");
  const TileAccess *access = &load->plan.access;
  load->instructions = gpuAllocate(g, (size_t)load->count * sizeof *load->instructions);
  load->isDone = gpuAllocate(g, (size_t)load->count);
  const TileMatrixAccess *matrices = &load->matrices.access;
  for (uint32_t n = 0; load->byMatrices && n < matrices->rows.count; ++n)
    for (uint32_t i = 0; i < 2u << matrices->matrixBits; ++i)
      load->instructions[gpuMatrixRegister(&load->matrices, n, i / 2, i % 2)] = n;
  for (uint32_t n = 0; !load->byMatrices && n < access->count; ++n)
    for (uint32_t slot = 0; slot < 1u << access->vectorBits; ++slot)
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

static bool storeBuffer(Gpu *g, MlirOperation op, const Buffer *buffer, const TileLayout *layout,
                        const MlirValue *registers) {
  InBuffer plan;
  TileMatrixPlan matrices;
  MlirType element = tileTypeGetElement(buffer->type);
  int64_t third;
  if (tileIntegerOf(op, "matrices", &third)) {
    if (!planMatrices(g, op, buffer, layout, third, &matrices))
      return false;
    gpuStoreMatrices(g, buffer, &matrices, registers);
    return true;
  }
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

bool gpuMissesVector(MlirOperation op, int64_t vector, int64_t proved) {
  return tileError(op,
                   "moves %lld elements at once, but only %lld are known to lie together: aligned, inside memory, and "
                   "in one thread",
                   (long long)vector, (long long)proved);
}

static bool expectVector(MlirOperation op, const Window *window, const TileLayout *layout) {
  int64_t proved = tileWidestRun(&window->runs, window->view->type, layout, NULL);
  return window->vector <= proved || gpuMissesVector(op, window->vector, proved);
}

bool gpuLoadTile(Gpu *g, MlirOperation op, MlirValue source, const TileLayout *layout, MlirValue *registers) {
  const Record *record = gpuRecord(g, source);
  if (record->kind == Record_Buffer && gpuIsTensorBuffer(record->buffer->type))
    return gpuLoadTensor(g, op, record->buffer, layout, registers);
  if (record->kind == Record_Buffer) {
    BufferLoad *load = planLoad(g, op, record->buffer, layout, registers);
    if (load)
      gpuLoadAll(g, load);
    return load != NULL;
  }
  Window window = gpuWindow(g, source, op);
  if (!expectVector(op, &window, layout))
    return false;
  loadWindow(g, &window, layout, registers);
  return true;
}

bool gpuStoreTile(Gpu *g, MlirOperation op, MlirValue destination, const TileLayout *layout,
                  const MlirValue *registers) {
  const Record *record = gpuRecord(g, destination);
  if (record->kind == Record_Buffer && gpuIsTensorBuffer(record->buffer->type))
    return gpuStoreTensor(g, op, record->buffer, layout, registers);
  if (record->kind == Record_Buffer)
    return storeBuffer(g, op, record->buffer, layout, registers);
  Window window = gpuWindow(g, destination, op);
  if (tileStoreOpIsA(op) && !mlirAttributeIsNull(tileStoreOpGetCombine(op)))
    return gpuStoreCombining(g, op, &window, layout, registers);
  if (!expectVector(op, &window, layout))
    return false;
  storeWindow(g, &window, layout, registers);
  return true;
}

static bool lowerLoad(Gpu *g, MlirOperation op) {
  MlirValue result = tileLoadOpGetResult(op), *registers = gpuRecordTile(g, result);
  TileLayout layout = gpuLayoutOf(mlirValueGetType(result));
  const Record *record = gpuRecord(g, tileLoadOpGetSource(op));
  if (record->kind != Record_Buffer || !tileLoadOpHasLate(op))
    return gpuLoadTile(g, op, tileLoadOpGetSource(op), &layout, registers);
  if (!tileMayLoadLate(op))
    return tileError(op,
                     "cannot be read late: its one use must be a factor of a product by matrix instructions in this "
                     "block, and nothing between the two may end a copy, synchronize or write memory");
  return (gpuRecord(g, result)->pending = planLoad(g, op, record->buffer, &layout, registers)) != NULL;
}

static bool lowerStore(Gpu *g, MlirOperation op) {
  TileLayout layout = gpuLayoutOf(tileStoreOpGetValueType(op));
  return gpuStoreTile(g, op, tileStoreOpGetDestination(op), &layout, gpuTile(g, tileStoreOpGetValue(op)));
}

static bool lowerInBounds(Gpu *g, MlirOperation op) {
  MlirType type = tileInBoundsOpGetResultType(op);
  TileLayout layout = gpuLayoutOf(type);
  Window window = gpuWindow(g, tileInBoundsOpGetView(op), op);
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
