// The table of kernel kinds, from kinds.def.
#include "lib/search/construct.h"
#include "lib/search/cpu_cost.h"
#include "lib/support/integer.h"

#include <stdio.h>
#include <string.h>

const TileKernelKind *const tileKernelKinds[NumTileKinds] = {
#define KIND(name) [TileKind_##name] = &tile##name##Kind,
#include "lib/search/kinds.def"
#undef KIND
};

TileKind tileKindFind(const char *name) {
  for (int i = TileKind_None + 1; i < NumTileKinds; ++i)
    if (!strcmp(tileKernelKinds[i]->name, name))
      return (TileKind)i;
  return TileKind_None;
}

void tileKindListNames(tessera_list_t *list) {
  for (int i = TileKind_None + 1; i < NumTileKinds; ++i)
    tessera_list_add(list, "%s", tileKernelKinds[i]->name);
}

TileKind tileKindOf(const TileOperator *op, const TileSearchTarget *target) {
  if (target->isGpu)
    return op->m >= 0 ? TileKind_Product : TileKind_Threads;
  return op->isMatrix ? TileKind_None : op->m >= 0 ? TileKind_Window : TileKind_Vector;
}

//===--- without a schedule -----------------------------------------------------------===//

// A block of k that ends evenly, or is a multiple of what kernels step by.
static int64_t plainDepth(const TileOperator *op, const TileSearchModel *model) {
  const TileOperatorDim *k = &op->dims[op->k];
  if (k->run)
    return k->run;
  if (op->isByTiles) {
    int64_t step = TileCpuTileRows * op->group, most = tessera_min(model->productDepth, tessera_max(k->extent, 1));
    return tessera_ceil_div(most, step) * step;
  }
  if (op->group > 1)
    return tessera_min(model->productDepth, tessera_bucket(tessera_max(k->extent, model->depthStep)));
  return k->isUnknown ? model->productDepth : tessera_min(k->extent, model->productDepth);
}

static void plainPacked(const TileOperator *op, const TileSearchTarget *target, TileSearchTile *tile) {
  const TileSearchModel *model = &target->model;
  int64_t vectors = model->productVectors;
  int64_t rows = tessera_min(model->registerRows, (target->vectorRegisters - vectors - 1) / vectors);
  tile->kind = TileKind_Packed;
  tile->registers.rows = tessera_min(rows < 1 ? 1 : rows, op->dims[op->m].extent);
  tile->registers.columns = vectors * tileCpuLanes(op, target);
  if (op->isByTiles) {
    TileSearchTile starts[TileKindStarts];
    tileCpuRegisterTiles(op, target, TileKind_Packed, starts);
    tile->registers = starts[0].registers;
  }
  tile->size[op->m] = model->productRows * tile->registers.rows;
  tile->size[op->n] = model->productColumns * tile->registers.columns;
  tile->size[op->k] = plainDepth(op, model);
}

static void plainProduct(const TileOperator *op, const TileSearchTarget *target, TileSearchTile *tile) {
  const int64_t sizes[] = {target->model.productRows, target->model.productColumns, target->model.productDepth};
  const int dims[] = {op->m, op->n, op->k};
  tile->kind = TileKind_Product;
  for (int i = 0; i < 3; ++i) {
    int64_t size = tessera_min(sizes[i], tessera_bucket(op->dims[dims[i]].extent));
    tile->size[dims[i]] = size < target->atom[i] ? target->atom[i] : size;
  }
  bool isLarge = tile->size[op->m] >= 2 * target->atom[0] && tile->size[op->n] >= 2 * target->atom[1];
  tile->gpu.warps = isLarge ? 4 : 1;
  tile->gpu.warpsM = isLarge ? 2 : 1;
  tile->gpu.stages = 2;
}

bool tileKindPlainTile(const TileOperator *op, const TileSearchTarget *target, TileSearchTile *tile) {
  *tile = (TileSearchTile){.kind = TileKind_None};
  if (op->m < 0)
    return false;
  for (int d = 0; d < op->numDims; ++d)
    tile->size[d] = 1;
  if (target->isGpu)
    plainProduct(op, target, tile);
  else if (op->isMatrix)
    plainPacked(op, target, tile);
  else
    tileWindowKind.starts(op, target, tile);
  return true;
}

//===--- questions ----------------------------------------------------------------------===//

bool tileKindFits(TileKind kind, const TileOperator *op, const TileSearchTarget *target) {
  if (target->isGpu)
    return kind == tileKindOf(op, target);
  if (op->isMatrix && op->needsDot)
    return kind == TileKind_Packed;
  if (op->isMatrix)
    return kind == TileKind_Split || (kind && tileKernelKinds[kind]->product);
  return kind == TileKind_Vector || kind == tileKindOf(op, target);
}

int64_t tileRegisterRows(const TileSearchTile *tile) {
  return tile->kind && tileKernelKinds[tile->kind]->hasRegisterTile ? tile->registers.rows : 0;
}

int64_t tileRegisterColumns(const TileSearchTile *tile) {
  return tile->kind && tileKernelKinds[tile->kind]->hasRegisterTile ? tile->registers.columns : 0;
}

int64_t tileParts(const TileSearchTile *tile) { return tile->kind == TileKind_Split ? tile->parts : 1; }

int tileKindStarts(TileKind kind, const TileOperator *op, const TileSearchTarget *target, TileSearchTile *tiles) {
  const TileKernelKind *k = tileKernelKinds[kind];
  return k->isForGpu == target->isGpu && k->applies && k->applies(op, target) ? k->starts(op, target, tiles) : 0;
}

TilePrediction tilePredict(const TileOperator *op, const TileSearchTarget *target, const TileSearchTile *tile) {
  return tileKernelKinds[tile->kind]->predict(op, target, tile);
}
