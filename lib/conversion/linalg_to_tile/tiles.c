// Tile sizes of a structured op's dimensions: those that the op's schedule says; else constructed for the machine
// (lib/search); else, on a CPU, the sizes that the kind of kernel asks for.
#include "lib/analysis/tiling.h"
#include "lib/conversion/linalg_to_tile/kernel.h"
#include "lib/conversion/linalg_to_tile/lowerings.h"
#include "lib/search/construct.h"
#include "lib/search/cpu_cost.h"

//===--- one dimension --------------------------------------------------------===//

// Elements along `dim` that a store writes though they are none of it: where an output's axis is a sum of dimensions,
// the next one's elements begin where these end.
static bool runsIntoNext(const TileStructured *s, int dim) {
  for (int i = s->numInputs; i < s->numInputs + s->numOutputs; ++i)
    for (int axis = 0; axis < s->operands[i].rank; ++axis)
      if (s->operands[i].factors[axis][dim] && s->operands[i].results[axis] != dim)
        return true;
  return false;
}

// At most `tile`, no more than the extent needs.
static int64_t fit(const TileStructured *s, int dim, int64_t tile) {
  int64_t extent = s->dims[dim].extent;
  bool isKnown = !mlirShapedTypeIsDynamicSize(extent);
  if (isKnown && extent < tile)
    tile = extent;
  tile = tile < 1 ? 1 : tile;
  while (tile > 1 && runsIntoNext(s, dim) && (!isKnown || extent % tile))
    tile /= 2;
  return tile;
}

//===--- scheduled or constructed ------------------------------------------------===//

static void takeCandidate(TileStructured *s, const TileSearchTile *tile) {
  int axis = 0;
  for (int d = 0; d < s->numDims; ++d) {
    s->dims[d].tile = tile->size[d];
    s->dims[d].axis = tile->size[d] > 1 ? axis++ : -1;
  }
  s->warps = tileStructuredGpu(s) ? tile->gpu.warps : 0;
}

// A product's kernel has an axis for each of m, n and k, be it of one element. Its emission puts m and n last.
static void takeProduct(TileStructured *s, const TileProduct *product, int64_t group) {
  int dims[3] = {product->m, product->n, product->k};
  s->group = tileStructuredGpu(s) ? group : 0;
  for (int i = 0; i < 3; ++i)
    s->dims[dims[i]].axis = i;
}

// The smallest tile, where nothing fits the machine.
static TileSearchCandidate leastTile(const TileOperator *op, const TileSearchTarget *target,
                                     const TileSearchOptions *options) {
  TileSearchCandidate least = {.tile = {.kind = tileKindOf(op, target), .gpu = {1, 1, 2}},
                               .prediction = {.misfit = "everything"}};
  for (int d = 0; d < op->numDims; ++d) {
    int64_t sizes[32];
    tileSearchSizes(op, target, &least.tile, options->padding, d, sizes, 32);
    least.tile.size[d] = sizes[0];
  }
  return least;
}

static bool construct(const TileStructured *s, const TileTiling *tiling, TileSearchCandidate *candidate,
                      MlirAttribute *schedule) {
  TileOperator op = tileStructuredDescribe(s, tiling, TileUnknownExtent);
  TileSearchTarget target = tileStructuredTargetFor(s->target, &op);
  TileSearchOptions options = tileSearchDefaults();
  TileSearchResult result;
  tileSearchConstruct(&op, &target, &options, &result);
  bool fits = result.count > 0;
  *candidate = fits ? result.best[0] : leastTile(&op, &target, &options);
  *schedule = tileScheduleOfCandidate(mlirOperationGetContext(s->op), &op, candidate, result.evaluations);
  return fits;
}

// The tile that the schedule says, with what it leaves out for a GPU.
static bool readScheduled(const TileStructured *s, const TileTiling *tiling, TileSearchTile *tile) {
  TileOperator op = tileStructuredDescribe(s, tiling, TileUnknownExtent);
  if (!tileStructuredScheduledTile(s, &op, tile))
    return false;
  if (tileStructuredGpu(s) && !tile->gpu.warps) {
    TileSearchTarget target = tileStructuredTargetFor(s->target, &op);
    int64_t evaluations = 0;
    tile->gpu.warps = tileSearchComplete(&op, &target, tile, &evaluations).tile.gpu.warps;
  }
  return true;
}

bool tileStructuredPlanTiles(TileStructured *s, const TileTiling *tiling) {
  TileSearchCandidate candidate;
  bool isScheduled = readScheduled(s, tiling, &candidate.tile), fits = true;
  if (!isScheduled && !tileStructuredGpu(s))
    return false;
  if (!isScheduled)
    fits = construct(s, tiling, &candidate, &s->schedule);
  if (!fits && tiling->whole >= 0)
    return false;
  takeCandidate(s, &candidate.tile);
  if (tileStructuredGpu(s))
    s->registers = isScheduled ? candidate.tile.gpu.registerLimit : candidate.prediction.registerLimit;
  if (tiling->isProduct)
    takeProduct(s, &tiling->product, isScheduled ? candidate.tile.gpu.group : candidate.prediction.group);
  return true;
}

static TileSearchTile planMatrix(const TileStructured *s, const TileOperator *op, const TileSearchTarget *target) {
  TileSearchTile tile;
  TileSearchResult result;
  int64_t evaluations = 0;
  if (tileStructuredScheduledTile(s, op, &tile))
    return tile.kind ? tile : tileSearchComplete(op, target, &tile, &evaluations).tile;
  TileSearchOptions options = tileSearchDefaults();
  tileSearchConstruct(op, target, &options, &result);
  if (result.count)
    return result.best[0].tile;
  tile = (TileSearchTile){.kind = TileKind_Packed, .registers = {1, 1}}; // a machine with next to no cache
  for (int d = 0; d < op->numDims; ++d)
    tile.size[d] = 1;
  return tile;
}

TileSearchTile tileStructuredPlanMatrix(const TileStructured *s, const TileTiling *tiling, int64_t *lastPanel,
                                        bool *arePanels) {
  TileOperator op = tileStructuredDescribe(s, tiling, TileUnknownExtent);
  TileSearchTarget target = tileStructuredTargetFor(s->target, &op);
  TileSearchTile tile = planMatrix(s, &op, &target);
  *lastPanel = tileCpuLastPanel(&op, &target, tileRegisterColumns(&tile));
  *arePanels = tileStructuredHasConstantPanels(s, &tiling->product) && tileCpuGainsByPanels(&op, &target, &tile);
  return tile;
}

//===--- by the kind of kernel -----------------------------------------------------===//

static uint32_t bitOf(int dim) { return dim < 0 ? 0 : 1u << dim; }

void tileStructuredSetTiles(TileStructured *s, int vector, int64_t columns, int row, int64_t rows) {
  TileTiling tiling = {.tiled = bitOf(vector) | bitOf(row), .whole = -1};
  int axis = 0;
  if (tileStructuredPlanTiles(s, &tiling))
    return;
  if (vector >= 0 && !tileStructuredCanTile(s, vector, -1))
    vector = -1;
  if (row >= 0 && !tileStructuredCanTile(s, row, vector))
    row = -1;
  for (int d = 0; d < s->numDims; ++d) {
    s->dims[d].tile = d == vector ? fit(s, d, columns) : d == row ? fit(s, d, rows) : 1;
    s->dims[d].axis = s->dims[d].tile > 1 ? axis++ : -1;
  }
}
