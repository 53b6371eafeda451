// The table of kernel kinds. A new kind is one row here and one in TileKind.
#include "lib/search/kind.h"

#include <stdio.h>
#include <string.h>

// The search asks the kinds in this order; among equal tiles the first one found stays.
const TileKernelKind *const tileKernelKinds[NumTileKinds] = {
    [TileKind_Packed] = &tilePackedKind,         [TileKind_Direct] = &tileDirectKind,
    [TileKind_AlongDepth] = &tileAlongDepthKind, [TileKind_Split] = &tileSplitKind,
    [TileKind_Streamed] = &tileStreamedKind,     [TileKind_Window] = &tileWindowKind,
    [TileKind_Vector] = &tileVectorKind,         [TileKind_Product] = &tileProductKind,
    [TileKind_Threads] = &tileThreadsKind,
};

TileKind tileKindFind(const char *name) {
  for (int i = TileKind_None + 1; i < NumTileKinds; ++i)
    if (!strcmp(tileKernelKinds[i]->name, name))
      return (TileKind)i;
  return TileKind_None;
}

size_t tileKindListNames(char *buffer, size_t capacity) {
  size_t used = 0;
  for (int i = TileKind_None + 1; i < NumTileKinds; ++i)
    used += (size_t)snprintf(used < capacity ? buffer + used : NULL, used < capacity ? capacity - used : 0, "%s%s",
                             used ? ", " : "", tileKernelKinds[i]->name);
  return used;
}

TileKind tileKindOf(const TileOperator *op, const TileSearchTarget *target) {
  if (target->isGpu)
    return op->m >= 0 ? TileKind_Product : TileKind_Threads;
  return op->isMatrix ? TileKind_None : op->m >= 0 ? TileKind_Window : TileKind_Vector;
}

bool tileKindFits(TileKind kind, const TileOperator *op, const TileSearchTarget *target) {
  bool isPlain = kind == TileKind_Vector || kind == TileKind_Window;
  if (target->isGpu)
    return kind == tileKindOf(op, target);
  if (op->isMatrix)
    return kind && !tileKernelKinds[kind]->isForGpu && !isPlain;
  return kind == TileKind_Vector || kind == tileKindOf(op, target);
}

int64_t tileRegisterRows(const TileSearchTile *tile) {
  return tile->kind && tileKernelKinds[tile->kind]->hasRegisterTile ? tile->registers.rows : 0;
}

int64_t tileRegisterColumns(const TileSearchTile *tile) {
  return tile->kind && tileKernelKinds[tile->kind]->hasRegisterTile ? tile->registers.columns : 0;
}

int64_t tileParts(const TileSearchTile *tile) { return tile->kind == TileKind_Split ? tile->parts : 1; }

TilePrediction tilePredict(const TileOperator *op, const TileSearchTarget *target, const TileSearchTile *tile) {
  return tileKernelKinds[tile->kind]->predict(op, target, tile);
}
