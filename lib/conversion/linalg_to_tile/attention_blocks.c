// The kernel that lists the blocks of keys which a mask shows, and the places of its lists. See attention_blocks.h.
#include "lib/conversion/linalg_to_tile/attention_blocks.h"

#include "dialects/tile/discardable.h"
#include "dialects/tile/ops.h"
#include "lib/conversion/linalg_to_tile/templates.h"
#include "lib/support/integer.h"
#include "upstream/arith.h"
#include "upstream/builtin.h"
#include "upstream/memref.h"
#include "upstream/tensor.h"

enum { NumCounts = 2 }; // columns before the lists

static const TileOperand *maskOf(const TileAttention *a, int input) {
  return &a->graph->nodes[a->masked].s.operands[input];
}

static int axisOf(const TileAttention *a, int input, int dim) {
  return tileOperandAxisOf(maskOf(a, input), tileGroupNodeDim(&a->graph->nodes[a->masked], dim));
}

bool tileAttentionMaskToList(const TileAttention *a, MlirValue mask, int *input) {
  if (mlirValueIsNull(mask))
    return false;
  *input = tileAttentionInputOf(a, mask);
  const TileOperand *of = maskOf(a, *input);
  int keys = axisOf(a, *input, a->keys), queries = axisOf(a, *input, a->queries), last = of->rank - 1;
  bool fits = of->isTensor && of->rank >= 2 && tileOperandIsPlain(of) && tessera_min(keys, queries) == last - 1 &&
              tessera_max(keys, queries) == last;
  for (int axis = 0; fits && axis + 2 < of->rank; ++axis)
    fits = of->results[axis] >= 0 || mlirShapedTypeGetDimSize(mlirValueGetType(of->value), axis) == 1;
  return fits;
}

// Axes of the mask that are heads.
static int numHeadAxes(const TileOperand *mask) { return mask->rank - 2; }

//===--- the kernel ----------------------------------------------------------------------===//

typedef struct Lists {
  int heads;        // axes of the mask
  bool isTurned;    // its last axis is the queries
  bool foldsByRows; // a CPU folds vectors, and the last vector to a number
} Lists;

static MlirValue reduce(TileBuilder *b, MlirType result, MlirValue tile, intptr_t count, const int64_t *axes) {
  MlirAttribute operation = mlirStringAttrGet(b->context, tileString(tileUpstreamName(ArithOp_OrI)));
  MlirOperation op =
      tileReduceOpCreate(b, 1, &result, 1, &tile, operation, mlirDenseI64ArrayGet(b->context, count, axes),
                         mlirAttributeGetNull(), mlirRegionCreate());
  return tileOnlyResult(op);
}

static MlirValue buildFold(TileBuilder *b, MlirType code, const MlirValue *operands, const void *data) {
  const Lists *lists = data;
  const int64_t axes[] = {0, 1}, columns = mlirShapedTypeGetDimSize(mlirValueGetType(operands[0]), 1);
  if (!lists->foldsByRows)
    return reduce(b, code, operands[0], 2, axes);
  MlirType row = tileTileTypeGet(1, &columns, code, mlirAttributeGetNull());
  return reduce(b, code, reduce(b, row, operands[0], 1, axes), 1, axes);
}

// A tile of the mask of head `operands[1]`, counted over all axes that are heads.
static MlirValue buildBits(TileBuilder *b, MlirType bits, const MlirValue *operands, const void *data) {
  const Lists *lists = data;
  int heads = lists->heads;
  MlirValue indices[MaxOperandRank], rest = operands[1];
  int64_t axes[MaxOperandRank];
  const int64_t shape[] = {mlirShapedTypeGetDimSize(bits, 0), mlirShapedTypeGetDimSize(bits, 1)};
  for (int axis = heads - 1; axis >= 0; --axis) {
    MlirValue size = tileBuildSize(b, operands[0], axis);
    axes[axis] = axis;
    indices[axis] = axis ? arithRemUIOpBuild(b, rest, size) : rest;
    rest = axis ? arithDivUIOpBuild(b, rest, size) : rest;
  }
  const TileViewSpec spec = {.rank = 2, .shape = shape, .element = mlirShapedTypeGetElementType(bits)};
  MlirValue view = tileViewOpBuild(b, tileViewTypeGet(b->context, &spec), operands[0], heads, indices,
                                   mlirDenseI64ArrayGet(b->context, heads, axes));
  const MlirValue turned[] = {operands[3], operands[2]};
  return tileLoadOpBuild(b, bits, view, 2, lists->isTurned ? turned : &operands[2]);
}

static MlirAttribute insertKernel(const TileAttention *a, const TileTemplateUse *use, TileBuilder *host) {
  MlirOperation kernel = tileTemplateMake(host->location, use);
  if (mlirOperationIsNull(kernel))
    return mlirAttributeGetNull();
  const TileTarget *target = a->graph->target;
  if (target->search.isGpu)
    tileKernelOpSetMachine(kernel, target->attribute);
  return tileTemplateInsert(tileParentOp(a->graph->nodes[0].s.op, builtinModuleOpIsA), kernel, "seen_blocks");
}

// A tensor of `rows` by `columns` of i32, whose type knows the sizes that are constants.
static MlirValue buildList(TileBuilder *host, MlirValue rows, MlirValue columns) {
  int64_t shape[] = {mlirShapedTypeGetDynamicSize(), mlirShapedTypeGetDynamicSize()};
  MlirValue sizes[] = {rows, columns}, open[2];
  intptr_t count = 0;
  for (int axis = 0; axis < 2; ++axis)
    if (!tileConstantIndex(sizes[axis], &shape[axis]))
      open[count++] = sizes[axis];
  MlirType type = mlirRankedTensorTypeGet(2, shape, mlirIntegerTypeGet(host->context, 32), mlirAttributeGetNull());
  return tensorEmptyOpBuild(host, type, count, open);
}

MlirValue tileAttentionListBlocks(const TileAttention *a, int input, MlirValue mask, bool shows, bool splits,
                                  TileBuilder *host) {
  int64_t queries = a->graph->dims[a->queries].block, keys = a->graph->dims[a->keys].block;
  int ofQueries = axisOf(a, input, a->queries), ofKeys = axisOf(a, input, a->keys);
  bool isGpu = a->graph->target->search.isGpu;
  const Lists build = {.heads = numHeadAxes(maskOf(a, input)), .isTurned = ofQueries > ofKeys, .foldsByRows = !isGpu};
  MlirValue grid[] = {tileBuildCeilDiv(host, tileBuildSize(host, mask, ofQueries), tileBuildIndex(host, queries)),
                      tileBuildIndex(host, 1)};
  for (int axis = 0; axis < build.heads; ++axis)
    grid[1] = tileBuildMul(host, grid[1], tileBuildSize(host, mask, axis));
  MlirValue blocks = tileBuildCeilDiv(host, tileBuildSize(host, mask, ofKeys), tileBuildIndex(host, keys));
  MlirValue places = tileBuildAdd(host, blocks, tileBuildIndex(host, AttentionAhead)); // of a list
  MlirValue columns = tileBuildAdd(host, tileBuildMul(host, places, tileBuildIndex(host, NumBlockLists)),
                                   tileBuildIndex(host, NumCounts));
  MlirValue list = buildList(host, tileBuildMul(host, grid[0], grid[1]), columns);
  const TileListSeenBlocks lists = {.MASK = tileKernelParameterType(mask),
                                    .LIST = tileKernelParameterType(list),
                                    .CODE = mlirIntegerTypeGet(host->context, isGpu ? 32 : 8),
                                    .ROWS = build.isTurned ? keys : queries,
                                    .COLUMNS = build.isTurned ? queries : keys,
                                    .KEYS = keys,
                                    .AXIS = ofKeys,
                                    .ALL = !splits ? 0
                                           : shows ? 1
                                                   : 2,
                                    .NONE = shows ? 2 : 1,
                                    .AHEAD = AttentionAhead,
                                    .fold = {buildFold, &build},
                                    .bits = {buildBits, &build}};
  TileTemplateUse use = tileUseListSeenBlocks(lists);
  MlirAttribute kernel = insertKernel(a, &use, host);
  MlirType type = mlirValueGetType(list);
  if (mlirAttributeIsNull(kernel))
    return (MlirValue){NULL};
  return tileOnlyResult(tileLaunchOpBuild(host, 1, &type, 2, grid, 1, &mask, 1, &list, kernel));
}

//===--- places --------------------------------------------------------------------------===//

// The program's row: of heads, then of queries.
static MlirValue buildRow(const TileAttention *a, int input, TileKernelEmission *e) {
  const TileOperand *mask = maskOf(a, input);
  MlirValue row = tileBuildIndex(&e->body, 0);
  for (int axis = 0; axis <= numHeadAxes(mask); ++axis) {
    bool isHead = axis < numHeadAxes(mask);
    if (isHead && mask->results[axis] < 0) // an axis of one element
      continue;
    int dim = isHead ? a->graph->nodes[a->masked].dims[mask->results[axis]] : a->queries;
    MlirValue programs = tileKernelNumTiles(e, &e->body, dim, tileKernelExtent(e, dim));
    row = tileBuildAdd(&e->body, tileBuildMul(&e->body, row, programs), e->index[dim]);
  }
  return row;
}

// A number of the program's row. The lists are complete before the kernel runs.
static MlirValue loadNumber(const TileBlockLists *lists, MlirValue column, TileKernelEmission *e) {
  const MlirValue indices[] = {lists->row, column};
  MlirValue number = memrefLoadOpBuild(&e->body, lists->parameter, 2, indices);
  tileOpSetRoundsAhead(tileDefiningOp(number),
                       mlirIntegerAttrGet(mlirIntegerTypeGet(e->body.context, 64), AttentionAhead));
  return arithIndexCastOpBuild(&e->body, mlirIndexTypeGet(e->body.context), number);
}

TileBlockLists tileAttentionLists(const TileAttention *a, int input, MlirValue parameter, TileKernelEmission *e) {
  const TileGroupDim *keys = &a->graph->dims[a->keys];
  bool isKnown = !mlirShapedTypeIsDynamicSize(keys->extent);
  TileBlockLists lists = {.parameter = parameter,
                          .row = buildRow(a, input, e),
                          .blocks = isKnown ? tessera_ceil_div(keys->extent, keys->block) : keys->extent};
  MlirValue blocks = tileKernelNumTiles(e, &e->body, a->keys, tileKernelExtent(e, a->keys));
  MlirValue places = tileBuildAdd(&e->body, blocks, tileBuildIndex(&e->body, AttentionAhead));
  lists.columns[0] = tileBuildIndex(&e->body, NumCounts);
  for (int i = 1; i < NumBlockLists; ++i)
    lists.columns[i] = tileBuildAdd(&e->body, lists.columns[i - 1], places);
  MlirValue seen = tileBuildIndex(&e->body, 0);
  for (int i = 0; i < NumCounts; ++i) {
    lists.counts[i] = loadNumber(&lists, tileBuildIndex(&e->body, i), e);
    seen = tileBuildAdd(&e->body, seen, lists.counts[i]);
  }
  lists.counts[BlockList_Hidden] = tileBuildSub(&e->body, blocks, seen);
  lists.noBlocks = tileBuildAdd(&e->body, lists.columns[0], blocks);
  return lists;
}

MlirValue tileAttentionListedBlock(const TileBlockLists *lists, MlirValue column, MlirValue place,
                                   TileKernelEmission *e) {
  MlirValue block = loadNumber(lists, tileBuildAdd(&e->body, place, column), e);
  return mlirShapedTypeIsDynamicSize(lists->blocks) ? block : tileKernelAssumeBelow(e, block, lists->blocks);
}
