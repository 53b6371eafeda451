// tile.sort and tile.topk: a bitonic network over keys in shared memory, all threads at each stage. A key is 64 bits in
// the order of docs/numerics.md §3, with its position behind it: no two are equal, so the result is that of a stable
// sort. Rows are filled up to a power of two with what comes last. Every operand is then read by position.
#include "lib/conversion/tile_to_gpu/compute.h"

#include "dialects/tile/questions.h"
#include "lib/support/integer.h"

#include "mlir-c/BuiltinAttributes.h"

typedef struct Sort {
  MlirOperation op;
  MlirType type; // of the key
  intptr_t axis;
  int64_t size, padded, rows;
  MlirValue keys, positions; // addresses
  bool isDescending;
} Sort;

//===--- keys -----------------------------------------------------------------------------------===//

// Floats: as f64 their bits, negative ones reversed; -0 becomes 0 and nan the greatest.
static MlirValue keyOfFloat(Gpu *g, MlirValue value) {
  MlirType wide = mlirF64TypeGet(g->context);
  if (!mlirTypeEqual(mlirValueGetType(value), wide))
    value = gpuOp(g, ArithOp_ExtF, wide, value);
  value = gpuBinary(g, ArithOp_AddF, value, tileBuildFloat(&g->builder, wide, 0));
  MlirValue bits = gpuOp(g, ArithOp_Bitcast, g->i64, value);
  MlirValue sign = gpuBinary(g, ArithOp_ShRSI, bits, gpuInteger(g, g->i64, 63));
  MlirValue key = gpuXor(g, bits, gpuAnd(g, sign, INT64_MAX));
  MlirValue isNan = arithCmpFOpBuild(&g->builder, value, value, ArithCmpF_Uno);
  return gpuSelect(g, isNan, gpuInteger(g, g->i64, INT64_MAX), key);
}

// Integers are signed: of i1 true is -1 and the smaller. Descending: the order reversed, positions not.
static MlirValue keyOf(Gpu *g, const Sort *sort, MlirValue value) {
  MlirType type = mlirValueGetType(value);
  MlirValue key = mlirTypeIsAFloat(type) ? keyOfFloat(g, value) : gpuCast(g, value, g->i64, true);
  return sort->isDescending ? gpuXor(g, key, gpuInteger(g, g->i64, -1)) : key;
}

//===--- rows in shared memory --------------------------------------------------------------------===//

// Row and position of a register of `tile`, as one number; positions of a row are `pitch` apart... in elements.
static Places placesInRows(Gpu *g, const Sort *sort, MlirType tile) {
  TileLayout layout = gpuLayoutOf(tile);
  int64_t factors[MaxRank], factor = sort->padded;
  for (intptr_t axis = tileTypeGetRank(tile); axis-- > 0;) {
    factors[axis] = axis == sort->axis ? 1 : factor;
    factor *= axis == sort->axis ? 1 : tileTypeGetSize(tile, axis);
  }
  return gpuPlaces(g, gpuMap(g, &layout, tileTypeGetRank(tile)), factors);
}

static MlirValue keyAddress(Gpu *g, const Sort *sort, MlirValue place) {
  return gpuElementAt(g, sort->keys, place, g->i64);
}

static MlirValue positionAddress(Gpu *g, const Sort *sort, MlirValue place) {
  return gpuElementAt(g, sort->positions, place, g->i32);
}

static void writeKeys(Gpu *g, const Sort *sort, const MlirValue *registers) {
  Places places = placesInRows(g, sort, sort->type);
  GpuIf owner = gpuIf(g, gpuIsOwner(g, &places.map->layout), 0, NULL);
  for (intptr_t reg = 0; reg < gpuRegisters(sort->type); ++reg) {
    if (tileIsFreeRegister(&places.map->layout, reg))
      continue;
    MlirValue place = gpuPlace(g, &places, reg);
    GpuIf isElement = gpuIf(g, gpuIsElement(g, places.map, sort->type, AllAxes, reg), 0, NULL);
    gpuStore(g, keyOf(g, sort, registers[reg]), keyAddress(g, sort, place), 8);
    gpuStore(g, gpuCoordinate(g, places.map, sort->axis, reg), positionAddress(g, sort, place), 4);
    gpuEndIf(g, &isElement, 0, NULL, NULL);
  }
  gpuEndIf(g, &owner, 0, NULL, NULL);
}

// What fills a row up comes last, in both directions.
static void writePadding(Gpu *g, const Sort *sort) {
  int64_t missing = sort->padded - sort->size;
  if (!missing)
    return;
  TileBuilder before;
  MlirValue n = gpuFor(g, g->thread, gpuI32(g, sort->rows * missing), g->threads, &before);
  MlirValue row = gpuBinary(g, ArithOp_DivUI, n, gpuI32(g, missing));
  MlirValue position = gpuAdd(g, gpuBinary(g, ArithOp_RemUI, n, gpuI32(g, missing)), gpuI32(g, sort->size));
  MlirValue place = gpuAdd(g, gpuMul(g, row, gpuI32(g, sort->padded)), position);
  gpuStore(g, gpuInteger(g, g->i64, INT64_MAX), keyAddress(g, sort, place), 8);
  gpuStore(g, position, positionAddress(g, sort, place), 4);
  gpuEndFor(g, before);
}

//===--- the network --------------------------------------------------------------------------------===//

static MlirValue isBefore(Gpu *g, MlirValue keyA, MlirValue positionA, MlirValue keyB, MlirValue positionB) {
  MlirValue tie =
      gpuBoth(g, gpuCompare(g, ArithCmpI_Eq, keyA, keyB), gpuCompare(g, ArithCmpI_Slt, positionA, positionB));
  return gpuEither(g, gpuCompare(g, ArithCmpI_Slt, keyA, keyB), tie);
}

// One pair: the elements at `low` and low + distance of a row end up ascending where `upward` holds.
static void exchangePair(Gpu *g, const Sort *sort, MlirValue low, MlirValue distance, MlirValue upward) {
  MlirValue high = gpuAdd(g, low, distance), key[2], position[2], address[2], where[2], ends[] = {low, high};
  for (int i = 0; i < 2; ++i) {
    address[i] = keyAddress(g, sort, ends[i]);
    where[i] = positionAddress(g, sort, ends[i]);
    key[i] = gpuLoad(g, g->i64, address[i], 8);
    position[i] = gpuLoad(g, g->i32, where[i], 4);
  }
  MlirValue fits = gpuCompare(g, ArithCmpI_Eq, isBefore(g, key[0], position[0], key[1], position[1]), upward);
  GpuIf branch = gpuIf(g, gpuNot(g, fits), 0, NULL);
  for (int i = 0; i < 2; ++i) {
    gpuStore(g, key[!i], address[i], 8);
    gpuStore(g, position[!i], where[i], 4);
  }
  gpuEndIf(g, &branch, 0, NULL, NULL);
}

// Pairs of a stage: blocks of 2 * run elements alternate in direction, partners are `distance` apart.
static void runStage(Gpu *g, const Sort *sort, MlirValue run, MlirValue distance) {
  int64_t pairs = sort->padded / 2;
  TileBuilder before;
  MlirValue n = gpuFor(g, g->thread, gpuI32(g, sort->rows * pairs), g->threads, &before);
  MlirValue row = gpuShiftRight(g, n, __builtin_ctzll((unsigned long long)pairs)), q = gpuAnd(g, n, pairs - 1);
  MlirValue below = gpuBinary(g, ArithOp_AndI, q, gpuSub(g, distance, gpuI32(g, 1)));
  MlirValue low = gpuAdd(g, gpuShiftLeft(g, gpuSub(g, q, below), 1), below);
  MlirValue direction = gpuBinary(g, ArithOp_AndI, low, gpuShiftLeft(g, run, 1));
  MlirValue upward = gpuCompare(g, ArithCmpI_Eq, direction, gpuI32(g, 0));
  exchangePair(g, sort, gpuAdd(g, gpuMul(g, row, gpuI32(g, sort->padded)), low), distance, upward);
  gpuEndFor(g, before);
  gpuBarrier(g);
}

static void runNetwork(Gpu *g, const Sort *sort) {
  int64_t stages = __builtin_ctzll((unsigned long long)sort->padded);
  TileBuilder outside, between;
  MlirValue stage = gpuFor(g, gpuI32(g, 0), gpuI32(g, stages), 1, &outside);
  MlirValue run = gpuBinary(g, ArithOp_ShLI, gpuI32(g, 1), stage);
  MlirValue step = gpuFor(g, gpuI32(g, 0), gpuAdd(g, stage, gpuI32(g, 1)), 1, &between);
  runStage(g, sort, run, gpuBinary(g, ArithOp_ShRUI, run, step));
  gpuEndFor(g, between);
  gpuEndFor(g, outside);
}

//===--- results --------------------------------------------------------------------------------------===//

// Element (row, k) of a result is the operand's at the k-th position of the sorted row.
static void readSorted(Gpu *g, const Sort *sort, intptr_t i, MlirValue base) {
  MlirValue result = mlirOperationGetResult(sort->op, i);
  MlirType from = tileOperandType(sort->op, i), to = mlirValueGetType(result), element = tileTypeGetElement(from);
  TileLayout layout = gpuLayoutOf(to);
  int64_t pitch;
  Places inRows = placesInRows(g, sort, to), dense = gpuPlacesIn(g, from, &layout, sort->axis, &pitch);
  MlirValue *registers = gpuRecordTile(g, result);
  for (intptr_t reg = 0; reg < gpuRegisters(to); ++reg) {
    MlirValue isElement = gpuIsElement(g, inRows.map, to, AllAxes, reg), none = gpuI32(g, 0);
    MlirValue place = gpuSelect(g, isElement, gpuPlace(g, &inRows, reg), none);
    MlirValue position = gpuLoad(g, g->i32, positionAddress(g, sort, place), 4);
    MlirValue at = gpuAdd(g, gpuPlace(g, &dense, reg), gpuMul(g, position, gpuI32(g, pitch)));
    at = gpuSelect(g, isElement, at, none);
    gpuLoadElements(g, element, 1, gpuElementAt(g, base, at, element), tileStoredBytes(element), &registers[reg]);
  }
}

bool gpuLowerSort(Gpu *g, MlirOperation op) {
  const TileSortSpace space = tileSortSpaceOf(op);
  MlirValue key = tileSortOpIsA(op) ? tileSortOpGetInputs(op, 0) : tileTopkOpGetInputs(op, 0);
  Sort sort = {.op = op, .type = mlirValueGetType(key), .isDescending = tileHas(op, "descending")};
  intptr_t tiles = mlirOperationGetNumOperands(op);
  sort.axis = mlirIntegerAttrGetValueInt(tileOpAttribute(op, "axis"));
  sort.size = space.size;
  sort.padded = space.padded;
  sort.rows = space.rows;
  int64_t bytes = space.bytes;
  int64_t *offsets = gpuAllocate(g, (size_t)tiles * sizeof *offsets);
  for (intptr_t i = 0; i < tiles; ++i) {
    offsets[i] = bytes;
    bytes += tessera_round_up(tileDenseBytes(tileOperandType(op, i)), 16);
  }
  sort.keys = gpuScratch(g, bytes);
  sort.positions = gpuAddress(g, sort.keys, gpuI32(g, space.keyBytes));
  writeKeys(g, &sort, gpuTile(g, key));
  writePadding(g, &sort);
  for (intptr_t i = 0; i < tiles; ++i)
    gpuWriteDense(g, tileOperandType(op, i), gpuTile(g, mlirOperationGetOperand(op, i)),
                  gpuAddress(g, sort.keys, gpuI32(g, offsets[i])));
  gpuBarrier(g);
  runNetwork(g, &sort);
  for (intptr_t i = 0; i < tiles; ++i)
    readSorted(g, &sort, i, gpuAddress(g, sort.keys, gpuI32(g, offsets[i])));
  return true;
}
