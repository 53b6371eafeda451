// group and grouped_matmul: rows listed by the group that each belongs to, and multiplied by the matrix of their group.
// Rows are gathered as they are loaded and scattered as they are stored, so that no permuted matrix is in memory. After
// PIT (SOSP 2023) and the grouped products of mixtures of experts. On CPUs a program packs the rows of a group once,
// and a panel of its matrix once for all of them; elsewhere a program has a tile of rows. Lists ascend: sums repeat bit
// by bit. Cost: lists once over the numbers for each group, or once in all by one program where there are very many
// groups.
#include "dialects/sparse/ops.h"
#include "dialects/tile/discardable.h"
#include "dialects/tile/ops.h"
#include "lib/analysis/sparsity/masked_values.h"
#include "lib/conversion/sparse_to_tile/lowerings.h"
#include "lib/support/integer.h"

enum {
  NumbersAtOnce = 64,
  MostGroups = 1024,  // for which each group has a program that looks at all numbers
  Steps = 4,          // of k at a time
  StripBytes = 12288, // of a row of the result: a program packs its rows once for them
  MostDepth = 256,    // of k, packed at once
  LeastDepth = 64,
  PackedRows = 128, // of a group at a time
  TileRows = 32,    // of a program's tile
  TileColumns = 32,
  TileDepth = 16
};

//===--- group --------------------------------------------------------------===//

static MlirValue buildCheck(TileBuilder *b, MlirType none, const MlirValue *operands, const void *data) {
  if (!*(const bool *)data)
    tileAssertOpCreate(b, operands[0], mlirStringAttrGet(b->context, tileString("a number is of no group")));
  return (MlirValue){NULL};
}

bool sparseLowerGroup(SparseLowering *lowering, SparseResult *result) {
  TileBuilder *b = &lowering->builder;
  MlirOperation op = lowering->op;
  MlirType positions = sparseGroupOpGetPositionsType(op), coordinates = sparseGroupOpGetCoordinatesType(op);
  MlirValue numbers = lowering->operands[0].values[0], one = tileBuildIndex(b, 1);
  int64_t known = mlirShapedTypeGetDimSize(positions, 0);
  bool isOpen = mlirShapedTypeIsDynamicSize(known), isPartial = sparseGroupOpHasPartial(op);
  MlirValue ends = isOpen ? tileBuildAdd(b, lowering->operands[1].values[0], one) : tileBuildIndex(b, known);
  MlirValue count = tileBuildSize(b, numbers, 0);
  MlirType n = sparseElement(numbers), p = mlirShapedTypeGetElementType(positions),
           i = mlirShapedTypeGetElementType(coordinates);
  const TileHook check = {buildCheck, &isPartial};
  const TileListGroups lists = {.N = n, .P = p, .I = i, .COLUMNS = NumbersAtOnce, .check = check};
  const TileSortGroups sorts = {.N = n, .P = p, .I = i, .check = check};
  bool areMany = isOpen || known > MostGroups;
  *result = (SparseResult){{sparseEmpty(lowering, positions, isOpen, &ends),
                            sparseEmpty(lowering, coordinates, mlirShapedTypeIsDynamicDim(coordinates, 0), &count)},
                           2};
  return sparseLaunchAll(lowering, areMany ? tileUseSortGroups(sorts) : tileUseListGroups(lists), 1,
                         areMany ? &one : &ends, 1, &numbers, 2, result->values);
}

//===--- grouped_matmul -----------------------------------------------------===//

static bool isWidth(MlirType type, unsigned width) {
  return mlirTypeIsAInteger(type) && mlirIntegerTypeGetWidth(type) == width;
}

MlirType sparseSumOf(MlirType element, MlirType result) {
  MlirContext context = mlirTypeGetContext(element);
  if (mlirTypeIsAFloat(element))
    return mlirTypeIsAF64(result) ? result : mlirF32TypeGet(context);
  return sparseBits(result) <= 32 ? mlirIntegerTypeGet(context, 32) : result;
}

static bool multipliesDirectly(MlirType element, MlirType sum) {
  return mlirTypeEqual(element, sum) ||
         (mlirTypeIsAF32(sum) && (mlirTypeIsAF16(element) || mlirTypeIsABF16(element))) ||
         (isWidth(sum, 32) && (isWidth(element, 8) || isWidth(element, 16)));
}

MlirType sparseFactorOf(MlirType element, MlirType sum) { return multipliesDirectly(element, sum) ? element : sum; }

bool sparseSupportsGroupedMatmul(MlirOperation op) {
  MlirType element = mlirShapedTypeGetElementType(sparseGroupedMatmulOpGetLhsType(op)),
           result = mlirShapedTypeGetElementType(tileOnlyResultType(op));
  if (mlirTypeIsAFloat(element) ? sparseBits(element) >= 16 : sparseBits(element) >= 8 && sparseBits(result) <= 64)
    return true;
  return tileError(op, "is not lowered yet for elements %s, expected floats of 16 bits or more, or integers of 8 to 64",
                   TILE_TYPE_TEXT(element));
}

// What the hooks of both kernels depend on.
typedef struct Routed {
  int64_t gather; // 0: rows of the lhs are places
  bool isScattered, isTransposed;
  bool listsAll; // every row of the result is stored
  bool isEmpty;  // what the result holds before is zero, and in no memory
} Routed;

// Every list of a `group` without `partial` names every place.
static bool listsAll(MlirOperation op) {
  MlirOperation lists = tileDefiningOp(sparseGroupedMatmulOpGetCoordinates(op));
  return sparseGroupOpIsA(lists) && !sparseGroupOpHasPartial(lists) &&
         mlirValueEqual(sparseGroupedMatmulOpGetPositions(op), sparseGroupOpGetPositions(lists)) &&
         mlirValueEqual(sparseGroupedMatmulOpGetCoordinates(op), sparseGroupOpGetCoordinates(lists));
}

static MlirValue buildListed(TileBuilder *b, MlirType result, MlirValue coordinates, MlirValue places) {
  MlirType element = sparseElement(coordinates);
  const int64_t size = mlirShapedTypeGetDimSize(result, 0);
  MlirType numbers = mlirRankedTensorTypeGet(1, &size, element, mlirAttributeGetNull());
  MlirAttribute drop = mlirStringAttrGet(b->context, tileString("drop"));
  MlirValue none = {NULL}, other = tileBuildInteger(b, numbers, -1);
  MlirValue listed = tileGatherOpBuild(b, numbers, coordinates, 1, &places, none, other, drop);
  return arithIndexCastOpBuild(b, result, listed);
}

static MlirValue buildFrom(TileBuilder *b, MlirType result, const MlirValue *operands, const void *data) {
  const Routed *routed = data;
  if (!routed->gather)
    return operands[1];
  MlirValue listed = buildListed(b, result, operands[0], operands[1]);
  return routed->gather == 1 ? listed : arithFloorDivSIOpBuild(b, listed, tileBuildInteger(b, result, routed->gather));
}

static MlirValue buildTo(TileBuilder *b, MlirType result, const MlirValue *operands, const void *data) {
  const Routed *routed = data;
  return routed->isScattered ? buildListed(b, result, operands[0], operands[1]) : operands[1];
}

// As above, of one place.
static MlirValue buildToOne(TileBuilder *b, MlirType index, const MlirValue *operands, const void *data) {
  const Routed *routed = data;
  return routed->isScattered ? arithIndexCastOpBuild(b, index, memrefLoadOpBuild(b, operands[0], 1, &operands[1]))
                             : operands[1];
}

// A tile of the group's matrix.
static MlirValue buildFactor(TileBuilder *b, MlirType result, const MlirValue *operands, const void *data) {
  const Routed *routed = data;
  const int64_t shape[] = {mlirShapedTypeGetDimSize(result, routed->isTransposed ? 1 : 0),
                           mlirShapedTypeGetDimSize(result, routed->isTransposed ? 0 : 1)};
  const int64_t fixed[] = {0}, turned[] = {1, 0};
  MlirType element = mlirShapedTypeGetElementType(result);
  const TileViewSpec spec = {.rank = 2, .shape = shape, .element = element};
  MlirValue view = tileViewOpBuild(b, tileViewTypeGet(b->context, &spec), operands[0], 1, &operands[1],
                                   mlirDenseI64ArrayGet(b->context, 1, fixed));
  if (!routed->isTransposed)
    return tileLoadOpBuild(b, result, view, 2, (MlirValue[]){operands[2], operands[3]});
  MlirType stored = mlirRankedTensorTypeGet(2, shape, element, mlirAttributeGetNull());
  MlirValue tile = tileLoadOpBuild(b, stored, view, 2, (MlirValue[]){operands[3], operands[2]});
  return tileTransposeOpBuild(b, result, tile, mlirDenseI64ArrayGet(b->context, 2, turned));
}

// A row of a panel of the group's matrix that comes next is fetched. Rows of transposed matrices are left to the
// machine, as they are not contiguous.
typedef struct Ahead {
  bool isTransposed;
  int64_t columns, vector;
} Ahead;

static MlirValue buildAhead(TileBuilder *b, MlirType none, const MlirValue *operands, const void *data) {
  const Ahead *ahead = data;
  const int64_t fixed[] = {0, 1};
  MlirType element = mlirShapedTypeGetElementType(mlirValueGetType(operands[0]));
  const TileViewSpec spec = {.rank = 1, .shape = &ahead->vector, .element = element};
  MlirAttribute axes = mlirDenseI64ArrayGet(b->context, 2, fixed), plain = mlirAttributeGetNull();
  int64_t vectors = ahead->columns / ahead->vector;
  if (ahead->isTransposed)
    return (MlirValue){NULL};
  MlirValue row = tileViewOpBuild(b, tileViewTypeGet(b->context, &spec), operands[0], 2, &operands[1], axes);
  for (int64_t i = 0; i < vectors; ++i) {
    MlirValue first = tileBuildMul(b, operands[3], tileBuildIndex(b, vectors));
    MlirValue place = tileBuildAdd(b, first, tileBuildIndex(b, i));
    tilePrefetchOpCreate(b, row, 1, &place, plain);
  }
  return (MlirValue){NULL};
}

static MlirValue buildZeros(TileBuilder *b, MlirType type) {
  return mlirTypeIsAFloat(mlirShapedTypeGetElementType(type)) ? tileBuildFloat(b, type, 0)
                                                              : tileBuildInteger(b, type, 0);
}

static MlirValue buildRead(TileBuilder *b, MlirType result, const MlirValue *operands, const void *data) {
  const Routed *routed = data;
  MlirValue none = {NULL};
  if (routed->isEmpty)
    return buildZeros(b, result);
  return tileGatherOpBuild(b, result, operands[0], 2, &operands[1], none, none,
                           mlirStringAttrGet(b->context, tileString("drop")));
}

// In the first chunk of k, where nothing was there before, sums are stored as they are.
static MlirValue buildOverwrites(TileBuilder *b, MlirType result, const MlirValue *operands, const void *data) {
  const Routed *routed = data;
  return routed->isEmpty ? operands[0] : tileBuildInteger(b, result, 0);
}

// The last value of a row. An elementwise op that follows may join, unless it would miss rows.
static MlirValue buildStore(TileBuilder *b, MlirType none, const MlirValue *operands, const void *data) {
  const Routed *routed = data;
  MlirAttribute plain = mlirAttributeGetNull();
  MlirOperation store = tileStoreOpCreate(b, operands[0], operands[1], 2, &operands[2], plain, plain, plain);
  if (routed->listsAll)
    tileOpSetFinal(store, mlirUnitAttrGet(b->context));
  return (MlirValue){NULL};
}

TileUpstream sparseCastOp(MlirType from, MlirType to) {
  int64_t seen = sparseBits(from), wanted = sparseBits(to);
  if (mlirTypeEqual(from, to))
    return ArithOp_Bitcast;
  if (mlirTypeIsAFloat(from))
    return seen < wanted ? ArithOp_ExtF : ArithOp_TruncF;
  return seen < wanted ? ArithOp_ExtSI : ArithOp_TruncI;
}

static MlirValue multiplyTiles(SparseLowering *lowering, const Routed *routed, const MlirValue inputs[4],
                               MlirValue init) {
  TileBuilder *b = &lowering->builder;
  MlirType element = sparseElement(inputs[0]), result = sparseElement(init), sum = sparseSumOf(element, result);
  MlirType factor = sparseFactorOf(element, sum);
  int64_t part = sparseBits(sum) > 32 ? 2 : 1; // of a tile of wide sums, which few instructions multiply
  int64_t rowsAtOnce = TileRows / part, columnsAtOnce = TileColumns / part, depth = TileDepth / part;
  const TileGroupedTiles product = {
      .E = element,
      .A = result,
      .F = factor,
      .S = sum,
      .P = sparseElement(inputs[2]),
      .I = sparseElement(inputs[3]),
      .WIDEN = sparseCastOp(element, factor),
      .BEGIN = sparseCastOp(result, sum),
      .ADD = mlirTypeIsAFloat(sum) ? ArithOp_AddF : ArithOp_AddI,
      .END = sparseCastOp(sum, result),
      .ROWS = rowsAtOnce,
      .COLUMNS = columnsAtOnce,
      .DEPTH = depth,
      .from = {buildFrom, routed},
      .to = {buildTo, routed},
      .factor = {buildFactor, routed},
      .read = {buildRead, routed},
  };
  const MlirValue grid[] = {tileBuildCeilDiv(b, tileBuildSize(b, inputs[3], 0), tileBuildIndex(b, rowsAtOnce)),
                            tileBuildCeilDiv(b, tileBuildSize(b, init, 1), tileBuildIndex(b, columnsAtOnce))};
  return sparseLaunch(lowering, tileUseGroupedTiles(product), 2, grid, 4, inputs, init);
}

static MlirValue multiplyPacked(SparseLowering *lowering, const Routed *routed, const MlirValue inputs[4],
                                MlirValue init) {
  TileBuilder *b = &lowering->builder;
  const TileSearchTarget *machine = &lowering->target->search;
  MlirType element = sparseElement(inputs[0]), sum = sparseElement(init);
  SparseRegisters registers = sparseRegistersOf(machine);
  int64_t bytes = sparseBits(sum) / 8, lanes = machine->vectorBytes / bytes, lines = registers.lines;
  int64_t columns = lanes * sparsePowerBelow(registers.sums / lines);
  int64_t chunk = sparsePowerBelow(machine->levels[0].bytes / (columns * bytes));
  chunk = chunk > MostDepth ? MostDepth : chunk < LeastDepth ? LeastDepth : chunk;
  int64_t strips = tessera_max(StripBytes / (columns * bytes), 1);
  int64_t cache = machine->levels[machine->numLevels > 1 ? 1 : 0].bytes;
  int64_t panels = tessera_max(sparsePowerBelow(cache / 4 / (chunk * columns * bytes)), 1);
  const Ahead ahead = {routed->isTransposed, columns, 8 * machine->vectorBytes / sparseBits(element)};
  const TileGroupedPacked product = {
      .E = element,
      .A = sum,
      .P = sparseElement(inputs[2]),
      .I = sparseElement(inputs[3]),
      .WIDEN = sparseCastOp(element, sum),
      .ADD = mlirTypeIsAFloat(sum) ? ArithOp_AddF : ArithOp_AddI,
      .CHUNK = chunk,
      .ROWS = PackedRows,
      .STEP = Steps,
      .WIDE = lanes,
      .LINES = lines,
      .COLUMNS = columns,
      .STRIPS = strips,
      .PANELS = panels,
      .HELD = panels * chunk,
      .AHEAD = 2 * Steps,
      .from = {buildFrom, routed},
      .to = {buildToOne, routed},
      .factor = {buildFactor, routed},
      .ahead = {buildAhead, &ahead},
      .overwrites = {buildOverwrites, routed},
      .store = {buildStore, routed},
  };
  const MlirValue grid[] = {tileBuildSize(b, inputs[1], 0),
                            tileBuildCeilDiv(b, tileBuildSize(b, init, 1), tileBuildIndex(b, columns * strips))};
  return sparseLaunch(lowering, tileUseGroupedPacked(product), 2, grid, 4, inputs, init);
}

bool sparseLowerGroupedMatmul(SparseLowering *lowering, SparseResult *result) {
  MlirOperation op = lowering->op;
  MlirAttribute gather = sparseGroupedMatmulOpGetGather(op);
  Routed routed = {.gather = mlirAttributeIsNull(gather) ? 0 : mlirIntegerAttrGetValueInt(gather),
                   .isScattered = sparseGroupedMatmulOpHasScatter(op),
                   .isTransposed = sparseGroupedMatmulOpHasTransposeRhs(op)};
  MlirValue inputs[4], init = lowering->operands[4].values[0];
  for (int i = 0; i < 4; ++i)
    inputs[i] = lowering->operands[i].values[0];
  MlirOperation fill = tileDefiningOp(init);
  routed.listsAll = listsAll(op);
  if (linalgFillOpIsA(fill) && sparseIsZero(init) && routed.listsAll) {
    routed.isEmpty = true;
    init = linalgFillOpGetOutputs(fill, 0);
  }
  MlirType sum = sparseElement(init);
  bool isPacked = !lowering->target->search.isGpu && sparseBits(sum) >= 32;
  MlirValue product = (isPacked ? multiplyPacked : multiplyTiles)(lowering, &routed, inputs, init);
  *result = (SparseResult){{product}, 1};
  return !mlirValueIsNull(product);
}
