// See accesses.h.
#include "lib/analysis/accesses.h"

#include "dialects/tile/ops.h"
#include "dialects/tile/questions.h"
#include "lib/analysis/facts.h"
#include "lib/analysis/scratch.h"
#include "lib/ir/op_format.h"
#include "lib/ir/op_query.h"
#include "lib/layout/algebra.h"
#include "lib/layout/descriptor.h"
#include "lib/machine/machine.h"
#include "lib/support/integer.h"
#include "lib/support/tensor_map.h"
#include "mlir-c/BuiltinAttributes.h"
#include "upstream/memref.h"

#include <stdio.h>
#include <string.h>

enum { MaxRank = TILE_LAYOUT_MAX_AXES, MatrixElementBytes = 2, MatrixLaneBits = 5, LargestAlign = 1024 };

static bool isDynamic(int64_t number) { return number == mlirShapedTypeGetDynamicSize(); }

static int64_t powerOfTwoIn(int64_t value) { return value ? value & -value : INT64_MAX; }

static TileLayout layoutOf(MlirType type) { return tileLayoutAttrGetLayout(tileTypeGetLayout(type)); }

//===--- what is known of memory ----------------------------------------------------------------------===//

// Where a view's or a slice's elements lie, by axis of its tile.
typedef struct Known {
  MlirType tile;          // the view, or the slice
  int64_t align, bytes;   // of the first element; of one element
  int64_t size[MaxRank];  // divisors of how many elements memory has along the axis
  int64_t pitch[MaxRank]; // divisors of how far its elements lie apart, in elements
  bool isUnit[MaxRank];   // the elements are neighbours
  bool mayLeave[MaxRank]; // the tile may reach beyond memory
  intptr_t rank;
} Known;

// The number of elements along a dimension; -1: not known.
static int64_t exactSize(MlirValue memref, intptr_t dim) {
  for (;;) {
    int64_t size = mlirShapedTypeGetDimSize(mlirValueGetType(memref), dim);
    MlirOperation op = tileDefiningOp(memref = tileCapturedValue(memref));
    if (!isDynamic(size))
      return size;
    if (!tileAssumeOpIsA(op) && !memrefCastOpIsA(op))
      return -1;
    memref = tileOnlyOperand(op);
  }
}

// The view's fixed indices are constants that exist.
static bool isSurelyInside(MlirOperation view) {
  MlirAttribute fixed = tileViewOpGetFixed(view);
  for (intptr_t i = 0; i < mlirDenseArrayGetNumElements(fixed); ++i) {
    int64_t index, size = exactSize(tileViewOpGetSource(view), mlirDenseI64ArrayGetElement(fixed, i));
    if (!tileConstantIndex(tileViewOpGetIndices(view, i), &index) || index < 0 || index >= size)
      return false;
  }
  return true;
}

// Whether some of the tile's elements may lie outside memory along the axis.
static bool mayLeave(MlirOperation view, intptr_t axis, MlirValue index) {
  MlirType type = tileViewOpGetResultType(view);
  int64_t at, size = exactSize(tileViewOpGetSource(view), tileViewDimension(view, axis));
  int64_t last = (tileViewTypeGetSize(type, axis) - 1) * tileViewTypeGetStride(type, axis);
  if (tileIndexFacts(index).low < 0)
    return true;
  return !tileConstantIndex(index, &at) || at * tileViewTypeGetStep(type, axis) + last >= size || !isSurelyInside(view);
}

static Known knownView(MlirOperation access, MlirOperation view) {
  MlirType type = tileViewOpGetResultType(view);
  TileKnownMemory memory = tileKnownMemory(tileViewOpGetSource(view));
  Known known = {.tile = type, .align = memory.align, .bytes = memory.elementBytes, .rank = tileViewTypeGetRank(type)};
  intptr_t firstIndex, count;
  tileOpOperands(access, "indices", &firstIndex, &count);
  MlirAttribute fixed = tileViewOpGetFixed(view);
  for (intptr_t i = 0; i < mlirDenseArrayGetNumElements(fixed); ++i)
    known.align = tessera_gcd(known.align, memory.stride[mlirDenseI64ArrayGetElement(fixed, i)] * memory.elementBytes);
  for (intptr_t axis = 0; axis < known.rank; ++axis) {
    intptr_t dim = tileViewDimension(view, axis);
    MlirValue index = mlirOperationGetOperand(access, firstIndex + axis);
    known.size[axis] = memory.size[dim];
    known.pitch[axis] = memory.stride[dim];
    known.isUnit[axis] = memory.isUnit[dim];
    known.mayLeave[axis] = mayLeave(view, axis, index);
  }
  return known;
}

// The value is a whole buffer or a slice of one.
static Known knownBuffer(MlirValue buffer) {
  MlirOperation op = tileDefiningOp(buffer = tileCapturedValue(buffer)), alloc = tileDefiningOp(tileMemoryRoot(buffer));
  MlirType type = mlirValueGetType(buffer);
  bool isSlice = !mlirOperationIsNull(op) && tileSliceOpIsA(op);
  Known known = {.rank = tileTypeGetRank(type), .bytes = tileStoredBytes(tileTypeGetElement(type))};
  if (isSlice) {
    known = knownBuffer(tileSliceOpGetInput(op));
  } else {
    int64_t offset = 0;
    TileLayout layout = layoutOf(type);
    if (!mlirOperationIsNull(alloc))
      tileIntegerOf(alloc, "offset", &offset);
    known.align = offset ? tessera_min(offset & -offset, LargestAlign) : LargestAlign;
    for (intptr_t axis = 0; axis < known.rank; ++axis) {
      known.pitch[axis] = tileLayoutStrideAlong(&layout, (uint32_t)axis);
      known.isUnit[axis] = known.pitch[axis] == 1;
    }
  }
  known.tile = type;
  for (intptr_t axis = 0, next = isSlice ? tileSliceOpGetOffsetsBegin(op) : 0; axis < known.rank; ++axis) {
    known.size[axis] = tileTypeGetSize(type, axis);
    if (!isSlice)
      continue;
    int64_t at = mlirDenseI64ArrayGetElement(tileSliceOpGetStaticOffsets(op), axis);
    int64_t multiple = isDynamic(at) ? tileIndexFacts(mlirOperationGetOperand(op, next++)).multiple : at;
    known.align = tessera_gcd(known.align, multiple * known.pitch[axis] * known.bytes);
  }
  return known;
}

//===--- runs -----------------------------------------------------------------------------------------===//

static int64_t strideOf(const Known *known, intptr_t axis) {
  return tileTypeIsAView(known->tile) ? tileViewTypeGetStride(known->tile, axis) : 1;
}

// By how many elements the tile's first one moves from one index to the next.
static int64_t beginOf(MlirOperation access, const Known *known, intptr_t axis) {
  intptr_t firstIndex, count;
  if (!tileTypeIsAView(known->tile))
    return 0;
  tileOpOperands(access, "indices", &firstIndex, &count);
  return tileIndexFacts(mlirOperationGetOperand(access, firstIndex + axis)).multiple *
         tileViewTypeGetStep(known->tile, axis);
}

TileRuns tileRunsInMemory(MlirOperation access, MlirValue memory) {
  MlirType type = mlirValueGetType(memory = tileCapturedValue(memory));
  TileRuns runs = {.axis = -1, .length = 1};
  if (tileTypeIsAView(type) && !mlirAttributeIsNull(tileViewTypeGetPacked(type)))
    return runs;
  Known known = tileTypeIsAView(type) ? knownView(access, tileDefiningOp(memory)) : knownBuffer(memory);
  int64_t length = tessera_min(TileWidestAccess / known.bytes, powerOfTwoIn(known.align) / known.bytes);
  for (intptr_t axis = 0; axis < known.rank; ++axis) {
    if (runs.axis >= 0 || strideOf(&known, axis) != 1 || !known.isUnit[axis]) {
      length = tessera_min(length, powerOfTwoIn(known.pitch[axis]));
      continue;
    }
    runs.axis = axis;
    length = tessera_min(length, powerOfTwoIn(beginOf(access, &known, axis)));
    if (known.mayLeave[axis])
      length = tessera_min(length, powerOfTwoIn(known.size[axis]));
  }
  runs.length = runs.axis < 0 || length < 1 ? 1 : length;
  return runs;
}

int64_t tileWidestRun(const TileRuns *runs, MlirType view, const TileLayout *layout, uint32_t *slots) {
  if (runs->axis < 0 || runs->length < 2)
    return 1;
  uint32_t bytes = (uint32_t)tileStoredBytes(tileTypeGetElement(view));
  uint64_t bound = (uint64_t)runs->length;
  int64_t size = tileTypeGetSize(view, runs->axis);
  // No run reaches from the tile into what the layout has beyond it.
  if ((int64_t)tileLayoutExtent(layout, (uint32_t)runs->axis) > size)
    bound |= (uint64_t)size;
  const TileMemoryFacts facts = {
      .axis = (uint32_t)runs->axis, .alignment = (uint64_t)runs->length * bytes, .bound = bound & -bound};
  const TileAccessLimits limits = {.elementBytes = bytes, .vectorBytes = TileWidestAccess};
  return tileAccessWidest(layout, &facts, &limits, slots);
}

//===--- buffers --------------------------------------------------------------------------------------===//

uint32_t tileBufferExtents(MlirType buffer, const TileLayout *layout, int64_t *extents) {
  uint32_t rank = (uint32_t)tileTypeGetRank(buffer);
  for (uint32_t axis = 0; axis < rank; ++axis)
    extents[axis] = tessera_max(tileTypeGetSize(buffer, axis), (int64_t)tileLayoutExtent(layout, axis));
  return rank;
}

static bool isQuiet(MlirOperation op) {
  return tileOpIsElementwise(op) || tileLoadOpIsA(op) || tileSlotOpIsA(op) || tileIotaOpIsA(op);
}

// The product of matrix instructions that alone takes the load's result, as a factor; else null.
static MlirOperation productOf(MlirOperation load) {
  MlirValue result = tileLoadOpGetResult(load);
  MlirOperation none = {NULL};
  if (!tileHasOneUse(result))
    return none;
  MlirOperation user = mlirOpOperandGetOwner(mlirValueGetFirstUse(result));
  bool isFactor = tileIsProduct(user) && !tileKeywordIs(user, "atom", "fma") &&
                  !mlirValueEqual(tileOpOperand(user, "accumulator"), result);
  return isFactor ? user : none;
}

bool tileMayLoadLate(MlirOperation load) {
  MlirOperation product = productOf(load), next = mlirOperationGetNextInBlock(load);
  if (mlirOperationIsNull(product))
    return false;
  while (!mlirOperationIsNull(next) && !mlirOperationEqual(next, product) && isQuiet(next))
    next = mlirOperationGetNextInBlock(next);
  return !mlirOperationIsNull(next) && mlirOperationEqual(next, product);
}

static bool isWord(MlirType element) {
  return mlirTypeIsAF16(element) || mlirTypeIsABF16(element) ||
         (mlirTypeIsAInteger(element) && tileElementWidth(element) == 8 * MatrixElementBytes);
}

static bool isStoredOnce(MlirOperation store, const TileLayout *layout) {
  int64_t warps = tileWarpsOf(store);
  return !tileHasCopies(layout, 1u << MatrixLaneBits, (uint32_t)(warps ? warps : 1));
}

bool tilePlanMatrices(const TileMachine *machine, MlirOperation access, MlirType buffer, const TileLayout *memory,
                      const TileLayout *layout, uint32_t third, TileMatrixPlan *plan) {
  TileLayout ordered = *layout, rows;
  int64_t sizes[MaxRank];
  uint32_t rank = tileBufferExtents(buffer, memory, sizes);
  plan->third = third;
  bool isStore = tileStoreOpIsA(access);
  if (!tileMachineGetText(machine, isStore ? "matrix.store" : "matrix.load") ||
      (isStore && !isStoredOnce(access, layout)) || !isWord(tileTypeGetElement(buffer)) ||
      layout->bits[TileLayoutLane] != MatrixLaneBits || (third != 2 && third >= layout->bits[TileLayoutReg]))
    return false;
  if (third != 2) {
    ordered.steps[2] = layout->steps[third];
    ordered.steps[third] = layout->steps[2];
  }
  return tileMatrixAccessPlan(&ordered, memory, sizes, rank, MatrixElementBytes, &plan->access, NULL) &&
         tileMatrixRows(&ordered, MatrixElementBytes, plan->access.transposed, &rows, NULL) &&
         tileLayoutConvert(&rows, memory, sizes, rank, &plan->rows, NULL);
}

uint32_t tileThirdBitOf(const TileMachine *machine, MlirOperation load) {
  MlirType type = tileLoadOpGetResultType(load);
  TileLayout layout = layoutOf(type);
  TileMachineAtom atom;
  char name[64];
  if (!tileMayLoadLate(load) || layout.bits[TileLayoutReg] < 4)
    return 2;
  MlirOpOperand use = mlirValueGetFirstUse(tileLoadOpGetResult(load));
  MlirStringRef text = tileKeywordOf(mlirOpOperandGetOwner(use), "atom");
  snprintf(name, sizeof name, "%.*s", (int)text.length, text.data);
  if (!tileMachineFindAtom(machine, name, &atom, NULL))
    return 2;
  intptr_t depth = tileTypeGetRank(type) - (mlirOpOperandGetOperandNumber(use) ? 2 : 1);
  for (uint32_t bit = 2; bit < layout.bits[TileLayoutReg]; ++bit)
    if (layout.steps[bit].at[depth] < atom.k)
      return bit;
  return 2;
}

//===--- copies ---------------------------------------------------------------------------------------===//

typedef struct Ends {
  MlirValue view, buffer;
  bool toBuffer;
} Ends;

static Ends endsOf(MlirOperation copy) {
  MlirValue source = tileOpOperand(copy, "source"), destination = tileOpOperand(copy, "destination");
  bool toBuffer = tileTypeIsAView(mlirValueGetType(source));
  return (Ends){toBuffer ? source : destination, toBuffer ? destination : source, toBuffer};
}

static bool isSlice(MlirValue buffer) {
  MlirOperation op = tileDefiningOp(tileCapturedValue(buffer));
  return !mlirOperationIsNull(op) && tileSliceOpIsA(op);
}

int64_t tilePieceOfCopy(MlirOperation copy) {
  Ends ends = endsOf(copy);
  TileRuns runs = tileRunsInMemory(copy, ends.view);
  TileLayout layout = layoutOf(mlirValueGetType(ends.buffer));
  int64_t bytes = tileStoredBytes(tileTypeGetElement(mlirValueGetType(ends.buffer)));
  uint32_t bits = 0;
  while (!isSlice(ends.buffer) && runs.axis >= 0 && bits < layout.bits[TileLayoutOffset] &&
         (2ll << bits) <= runs.length && (2ll << bits) * bytes <= TileWidestAccess &&
         layout.steps[bits].at[runs.axis] == 1u << bits && !(layout.padAmount % (2u << bits)) &&
         !(layout.padEvery % (2u << bits)))
    ++bits;
  return 1ll << bits;
}

bool tileDealOutCopy(MlirOperation copy, int64_t vector, uint32_t lanes, uint32_t warps, TileLayout *layout) {
  TileLayout offsets = layoutOf(mlirValueGetType(endsOf(copy).buffer));
  uint32_t bits = offsets.bits[TileLayoutOffset], at = 0;
  const struct {
    uint32_t dim, bits;
  } deals[] = {{TileLayoutReg, tessera_log2((uint64_t)vector)},
               {TileLayoutLane, tessera_log2(lanes)},
               {TileLayoutWarp, tessera_log2(warps)}};
  *layout = tileLayoutEmpty(TileLayoutValues);
  for (int i = 0; i < 3; ++i)
    for (uint32_t bit = 0; bit < deals[i].bits; ++bit, ++at) {
      TileLayoutPoint none = {{0}};
      if (!tileLayoutAppendBit(layout, deals[i].dim, at < bits ? offsets.steps[at] : none, NULL))
        return false;
    }
  for (; at < bits; ++at)
    if (!tileLayoutAppendBit(layout, TileLayoutReg, offsets.steps[at], NULL))
      return false;
  for (uint32_t i = 0; i < offsets.repeatCount; ++i) {
    TileLayoutRepeat repeat = offsets.repeats[i];
    repeat.dim = TileLayoutReg;
    if (!tileLayoutAppendRepeat(layout, repeat, NULL))
      return false;
  }
  return true;
}

// Past the edge the engine writes zeros: other paddings are copied by hand.
bool tileCopiesAsynchronously(const TileMachine *machine, MlirOperation copy, int64_t vector) {
  Ends ends = endsOf(copy);
  MlirType view = mlirValueGetType(ends.view);
  int64_t sizes[8], bytes = tileStoredBytes(tileTypeGetElement(mlirValueGetType(ends.buffer))) * vector;
  size_t count = tileMachineGetIntegers(machine, "engine.cp.async.sizes", sizes, 8);
  bool isSize = false;
  for (size_t i = 0; i < count && i < 8; ++i)
    isSize |= sizes[i] == bytes;
  return isSize && ends.toBuffer && !isSlice(ends.buffer) && mlirAttributeIsNull(tileViewTypeGetPacked(view)) &&
         tileStringEquals(tileViewTypeGetPad(view), "zero");
}

//===--- boxes of tensors -----------------------------------------------------------------------------===//

static int64_t limitOf(const TileMachine *machine, const char *key, int64_t otherwise) {
  tileMachineGetInteger(machine, key, &otherwise);
  return otherwise;
}

uint32_t tileLargestBox(const TileMachine *machine) { return (uint32_t)limitOf(machine, "engine.tma.box", 256); }

// Its address, sizes and strides are known at the launch.
static bool isWholeParameter(MlirValue memref) {
  for (MlirOperation op = tileDefiningOp(memref); tileAssumeOpIsA(op) || memrefCastOpIsA(op);
       op = tileDefiningOp(memref))
    memref = tileCapturedValue(tileOnlyOperand(op));
  return mlirValueIsABlockArgument(memref) &&
         tileKernelOpIsA(mlirBlockGetParentOperation(mlirBlockArgumentGetOwner(memref)));
}

static bool isAlignedForBoxes(const TileMachine *machine, const TileKnownMemory *memory, TileError *error) {
  int64_t align = limitOf(machine, "engine.tma.align", TESSERA_MAP_ALIGN);
  if (memory->align % align)
    return tileErrorSet(error, 0, 0,
                        "copies boxes of memory that begins at multiples of %lld bytes for all that is known; engine "
                        "\"tma\" needs multiples of %lld (tile.assume … align)",
                        (long long)memory->align, (long long)align);
  if (memory->rank < 1 || !memory->isUnit[memory->rank - 1])
    return tileErrorSet(error, 0, 0, "copies boxes of a tensor whose last dimension is not known to be contiguous");
  for (intptr_t d = 0; d + 1 < memory->rank; ++d) {
    int64_t bytes = tileDivisorOfProduct(memory->stride[d], memory->elementBytes);
    if (bytes % align)
      return tileErrorSet(error, 0, 0,
                          "copies boxes of a tensor whose stride of dimension %d is a multiple of %lld bytes for all "
                          "that is known; engine \"tma\" needs multiples of %lld (tile.assume … strides)",
                          (int)d, (long long)bytes, (long long)align);
  }
  return true;
}

bool tileIsCopyOfBoxes(MlirOperation op) {
  MlirAttribute engine = tileCopyAsyncOpIsA(op) ? tileCopyAsyncOpGetEngine(op) : mlirAttributeGetNull();
  return !mlirAttributeIsNull(engine) && tileStringEquals(mlirStringAttrGetValue(engine), "tma");
}

bool tileSuitsBoxEngine(const TileMachine *machine, MlirOperation view, TileError *error) {
  MlirType type = tileViewOpGetResultType(view);
  int64_t rank = limitOf(machine, "engine.tma.rank", TESSERA_MAP_RANK);
  MlirValue source = tileCapturedValue(tileViewOpGetSource(view)); // programs that walk over tiles make views inside
  TileKnownMemory memory = tileKnownMemory(source);
  if (!isWholeParameter(source))
    return tileErrorSet(error, 0, 0,
                        "copies boxes of memory that is not an unchanged parameter of the kernel (tile.memref_at, or a "
                        "subview); engine \"tma\" takes whole parameters");
  if (memory.rank > rank)
    return tileErrorSet(error, 0, 0, "copies boxes of a tensor of %d dimensions; engine \"tma\" takes at most %d",
                        (int)memory.rank, (int)rank);
  if (!mlirAttributeIsNull(tileViewTypeGetPacked(type)))
    return tileErrorSet(error, 0, 0, "not converted to a GPU yet: boxes of a packed view");
  for (intptr_t axis = 0; axis < tileTypeGetRank(type); ++axis)
    if (tileViewTypeGetStride(type, axis) != 1)
      return tileErrorSet(error, 0, 0, "copies every %lld-th element along axis %d; engine \"tma\" takes neighbours",
                          (long long)tileViewTypeGetStride(type, axis), (int)axis);
  return isAlignedForBoxes(machine, &memory, error);
}

//===--- descriptors of factors -----------------------------------------------------------------------===//

bool tilePlanFactorDescriptor(const TileMachineAtom *atom, int side, MlirType tile, const TileLayout *layout,
                              TileDescriptorPlan *plan, TileError *error) {
  const int64_t sizes[] = {tileTypeGetSize(tile, 0), tileTypeGetSize(tile, 1)};
  const TileDescriptorShape shape = {.rowAxis = (uint32_t)side,
                                     .rows = (uint32_t)(side ? atom->n : atom->m),
                                     .depth = (uint32_t)atom->k,
                                     .elementBytes = (uint32_t)tileStoredBytes(tileTypeGetElement(tile))};
  return tileDescriptorPlan(layout, sizes, &shape, plan, error);
}
