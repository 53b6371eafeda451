// Kernel and launch of one structured op. See kernel.h.
#include "lib/conversion/linalg_to_tile/kernel.h"

#include "dialects/tile/discardable.h"
#include "dialects/tile/ops.h"
#include "dialects/tile/tile.h"
#include "lib/analysis/low_bit/packed_elements.h"
#include "lib/capi/op.h"
#include "lib/support/integer.h"
#include "upstream/arith.h"
#include "upstream/func.h"
#include "upstream/memref.h"
#include "upstream/scf.h"

#include <string.h>

//===--- types --------------------------------------------------------------===//

static MlirType typeOverAxes(const TileKernelEmission *e, MlirType element, bool withReductions) {
  int64_t shape[MaxDims];
  int rank = 0;
  for (int i = 0; i < e->structured->numDims; ++i)
    if (e->structured->dims[i].axis >= 0 && (withReductions || !e->structured->dims[i].isReduction))
      shape[rank++] = e->structured->dims[i].tile;
  return tileTileTypeGet(rank, shape, element, mlirAttributeGetNull());
}

MlirType tileKernelTileType(const TileKernelEmission *e, MlirType element) { return typeOverAxes(e, element, true); }

MlirType tileKernelOutputTileType(const TileKernelEmission *e, MlirType element) {
  return typeOverAxes(e, element, false);
}

static MlirType memrefType(MlirType tensor) {
  int64_t sizes[MaxDims];
  intptr_t rank = mlirShapedTypeGetRank(tensor);
  for (intptr_t i = 0; i < rank; ++i)
    sizes[i] = mlirShapedTypeGetDimSize(tensor, i);
  return mlirMemRefTypeContiguousGet(mlirShapedTypeGetElementType(tensor), rank, sizes, mlirAttributeGetNull());
}

//===--- begin --------------------------------------------------------------===//

TileKernelScope tileKernelEnter(TileKernelEmission *e, const TileStructured *structured) {
  TileKernelScope scope = {.structured = e->structured};
  memcpy(scope.index, e->index, sizeof scope.index);
  e->structured = structured;
  return scope;
}

void tileKernelLeave(TileKernelEmission *e, const TileKernelScope *scope) {
  e->structured = scope->structured;
  memcpy(e->index, scope->index, sizeof scope->index);
}

MlirType tileKernelParameterType(MlirValue host) {
  MlirType type = mlirValueGetType(host);
  return mlirTypeIsARankedTensor(type) ? memrefType(type) : type;
}

MlirType tileKernelInputType(MlirValue host) {
  bool isPacked = mlirTypeIsARankedTensor(mlirValueGetType(host)) && !mlirValueIsNull(tilePackedBytesOf(host));
  return isPacked ? memrefType(tilePackedBytesType(mlirValueGetType(host))) : tileKernelParameterType(host);
}

// The argument of a group is cast back: the two casts go when the group does.
MlirValue tileKernelHostInput(TileBuilder *host, MlirValue value) {
  MlirValue bytes = mlirTypeIsARankedTensor(mlirValueGetType(value)) ? tilePackedBytesOf(value) : (MlirValue){NULL};
  if (mlirValueIsNull(bytes))
    return value;
  return mlirValueIsABlockArgument(value)
             ? tileBitcastOpBuild(host, tilePackedBytesType(mlirValueGetType(value)), value)
             : bytes;
}

static intptr_t parameterTypes(const TileStructured *s, MlirType *types) {
  intptr_t count = 0;
  for (int i = 0; i < s->numInputs; ++i)
    types[count++] = tileKernelInputType(s->operands[i].value);
  for (int i = 0; i < s->numCaptures; ++i)
    types[count++] = tileKernelParameterType(s->captures[i]);
  for (int i = s->numInputs; i < s->numInputs + s->numOutputs; ++i)
    types[count++] = memrefType(mlirValueGetType(s->operands[i].value));
  return count;
}

static MlirBlock createKernel(TileKernelEmission *e, const char *kind) {
  const TileStructured *s = e->structured;
  MlirOperation function = tileParentOp(s->op, funcFuncOpIsA);
  MlirType types[MaxOperands + MaxCaptures];
  MlirLocation locations[MaxOperands + MaxCaptures];
  intptr_t count = parameterTypes(s, types);
  for (intptr_t i = 0; i < count; ++i)
    locations[i] = e->host.location;
  MlirBlock block = mlirBlockCreate(count, types, locations);
  MlirRegion region = mlirRegionCreate();
  mlirRegionAppendOwnedBlock(region, block);
  MlirType type = mlirFunctionTypeGet(e->host.context, count, types, 0, NULL);
  TileBuilder outside = tileBuilderAfter(function);
  outside.location = e->host.location;
  e->kernel = tileKernelOpBuild(&outside, tileFreshSymbol(s->op, kind), mlirTypeAttrGet(type), region);
  tileKernelOpSetSymVisibility(e->kernel, mlirStringAttrGet(e->host.context, tileString("private")));
  return block;
}

static void bindParameters(TileKernelEmission *e, MlirBlock block) {
  const TileStructured *s = e->structured;
  intptr_t at = 0;
  for (int i = 0; i < s->numInputs; ++i)
    e->parameters[i] = mlirBlockGetArgument(block, at++);
  for (int i = 0; i < s->numCaptures; ++i)
    e->parameters[s->numInputs + s->numOutputs + i] = mlirBlockGetArgument(block, at++);
  for (int i = 0; i < s->numOutputs; ++i)
    e->parameters[s->numInputs + i] = mlirBlockGetArgument(block, at++);
}

MlirValue tileKernelExtent(TileKernelEmission *e, int dim) {
  const TileDim *d = &e->structured->dims[dim];
  bool isKnown = !mlirShapedTypeIsDynamicSize(d->extent);
  return isKnown ? tileBuildIndex(&e->body, d->extent) : tileBuildDim(&e->body, e->parameters[d->operand], d->result);
}

static MlirValue hostExtent(TileKernelEmission *e, int dim) {
  const TileDim *d = &e->structured->dims[dim];
  bool isKnown = !mlirShapedTypeIsDynamicSize(d->extent);
  return isKnown ? tileBuildIndex(&e->host, d->extent)
                 : tileBuildDim(&e->host, e->structured->operands[d->operand].value, d->result);
}

MlirValue tileKernelNumTiles(TileKernelEmission *e, TileBuilder *builder, int dim, MlirValue extent) {
  int64_t tile = e->structured->dims[dim].tile;
  return tile == 1 ? extent : tileBuildCeilDiv(builder, extent, tileBuildIndex(builder, tile));
}

static int parallelBefore(const TileStructured *s, int dim) {
  int before = dim - 1;
  while (before >= 0 && s->dims[before].isReduction)
    --before;
  return before;
}

// The number whose multiple the programs along the dimension are: whole clusters of neighbours, which are the
// schedule's `cluster` programs along the last parallel dimension, or along the one before where the programs go in
// groups. Tiles beyond the end store nothing.
static int64_t clusterAlong(const TileStructured *s, int dim) {
  MlirAttribute entry =
      mlirAttributeIsNull(s->schedule) ? s->schedule : tileScheduleAttrGetEntry(s->schedule, "cluster");
  int last = parallelBefore(s, s->numDims);
  bool isAlong =
      !mlirAttributeIsNull(entry) && tileStructuredGpu(s) && dim == (s->group > 1 ? parallelBefore(s, last) : last);
  return isAlong ? mlirDenseI64ArrayGetElement(entry, 0) : 1;
}

// Programs along a dimension: ceil(extent / (tile · panels)), and so many more that clusters are whole.
static MlirValue numPrograms(TileKernelEmission *e, TileBuilder *builder, int dim, MlirValue extent) {
  int64_t block = e->structured->dims[dim].tile * e->structured->dims[dim].panels;
  int64_t cluster = clusterAlong(e->structured, dim);
  if (block * cluster == 1)
    return extent;
  MlirValue clusters = tileBuildCeilDiv(builder, extent, tileBuildIndex(builder, block * cluster));
  return cluster == 1 ? clusters : tileBuildMul(builder, clusters, tileBuildIndex(builder, cluster));
}

static MlirValue programId(TileKernelEmission *e, int axis) {
  return tileProgramIdOpBuild(&e->body, mlirIntegerAttrGet(mlirIntegerTypeGet(e->body.context, 64), axis));
}

MlirValue tileKernelAssumeBelow(TileKernelEmission *e, MlirValue index, int64_t count) {
  int64_t range[2] = {0, count - 1};
  MlirAttribute none = mlirAttributeGetNull(), known = mlirDenseI64ArrayGet(e->body.context, 2, range);
  return tileOnlyResult(tileAssumeOpCreate(&e->body, index, none, none, none, none, known));
}

MlirValue tileKernelAssumeTile(TileKernelEmission *e, MlirValue index, int dim, int64_t size) {
  int64_t extent = e->structured->dims[dim].extent;
  bool isKnown = !mlirShapedTypeIsDynamicSize(extent) && extent > 0;
  return isKnown ? tileKernelAssumeBelow(e, index, tessera_ceil_div(extent, size)) : index;
}

// The program's number along dimension `dim`: with its range it is known which tiles have no edge.
static MlirValue assumeRange(TileKernelEmission *e, MlirValue id, int dim) {
  const TileDim *d = &e->structured->dims[dim];
  int64_t cluster = clusterAlong(e->structured, dim);
  if (cluster > 1 && !mlirShapedTypeIsDynamicSize(d->extent) && d->extent > 0)
    return tileKernelAssumeBelow(e, id, tessera_ceil_div(d->extent, d->tile * cluster) * cluster);
  return cluster > 1 ? id : tileKernelAssumeTile(e, id, dim, d->tile * d->panels);
}

// The program's number along `axis`, which is dimension `dim`. (What a GPU's launches know is told later.)
static MlirValue programAlong(TileKernelEmission *e, int axis, int dim) {
  MlirValue id = programId(e, axis);
  return tileStructuredGpu(e->structured) ? id : assumeRange(e, id, dim);
}

// Sets e->index of the last two parallel dimensions, rows and columns of tiles, such that what runs side by side shares
// what it reads: `group` rows of tiles are visited column by column, then the next (Triton's GROUP_M; Tillet et al.,
// MAPL 2019). Returns the rest of the program's number.
static MlirValue decodeGrouped(TileKernelEmission *e, MlirValue number, int rows, int columns) {
  MlirValue across = numPrograms(e, &e->body, columns, tileKernelExtent(e, columns));
  MlirValue down = numPrograms(e, &e->body, rows, tileKernelExtent(e, rows));
  int64_t group = e->structured->group, extent = e->structured->dims[rows].extent,
          cluster = clusterAlong(e->structured, rows);
  bool isEven = !mlirShapedTypeIsDynamicSize(extent) &&
                tessera_ceil_div(extent, e->structured->dims[rows].tile * cluster) * cluster % group == 0;
  MlirValue most = tileBuildIndex(&e->body, group), all = tileBuildMul(&e->body, down, across);
  MlirValue inside = arithRemUIOpBuild(&e->body, number, all), perGroup = tileBuildMul(&e->body, most, across);
  MlirValue first = tileBuildMul(&e->body, arithDivUIOpBuild(&e->body, inside, perGroup), most);
  MlirValue here = isEven ? most : tileBuildMin(&e->body, tileBuildSub(&e->body, down, first), most);
  MlirValue inGroup = arithRemUIOpBuild(&e->body, inside, perGroup);
  e->index[rows] = tileBuildAdd(&e->body, first, arithRemUIOpBuild(&e->body, inGroup, here));
  e->index[rows] = assumeRange(e, e->index[rows], rows);
  e->index[columns] = assumeRange(e, arithDivUIOpBuild(&e->body, inGroup, here), columns);
  return arithDivUIOpBuild(&e->body, number, all);
}

// Sets e->index of every parallel dimension from the program ids (axis 2 carries all but the last two).
static void decodePrograms(TileKernelEmission *e) {
  int axis = 0, last = e->structured->numDims;
  MlirValue rest = {NULL};
  if (e->structured->group > 1) {
    int columns = parallelBefore(e->structured, last), rows = parallelBefore(e->structured, columns);
    rest = decodeGrouped(e, programId(e, 0), rows, columns);
    last = rows;
  }
  for (int d = last - 1; d >= 0; --d) {
    if (e->structured->dims[d].isReduction)
      continue;
    if (axis < 2 && !e->isLinear) {
      e->index[d] = programAlong(e, axis, d);
      ++axis;
      continue;
    }
    if (mlirValueIsNull(rest))
      rest = programId(e, e->isLinear ? 0 : 2);
    MlirValue programs = numPrograms(e, &e->body, d, tileKernelExtent(e, d));
    e->index[d] = arithRemUIOpBuild(&e->body, rest, programs);
    rest = arithDivUIOpBuild(&e->body, rest, programs);
  }
}

// The most blocks along the second and third axis of a grid, of every vendor's driver interface.
enum { GridLimit = 65535 };

// A GPU's grid is short along all axes but the first; programs in an order of their own have one axis.
static bool needsLinearGrid(const TileStructured *s) {
  int64_t programs = 1;
  int axis = 0;
  if (s->group > 1)
    return true;
  if (!tileStructuredGpu(s))
    return false;
  for (int d = s->numDims - 1; d >= 0; --d) {
    if (s->dims[d].isReduction || axis++ == 0)
      continue;
    if (mlirShapedTypeIsDynamicSize(s->dims[d].extent))
      return true;
    programs *= (s->dims[d].extent + s->dims[d].tile - 1) / s->dims[d].tile;
    if (programs > GridLimit)
      return true;
  }
  return false;
}

// What a kernel says of itself: how it was scheduled; a GPU's, what layouts are assigned for.
static void label(const TileStructured *s, MlirOperation kernel) {
  MlirType i32 = mlirIntegerTypeGet(mlirOperationGetContext(kernel), 32);
  if (!mlirAttributeIsNull(s->schedule))
    mlirOperationSetAttributeByName(kernel, tileString("schedule"), s->schedule);
  if (!tileStructuredGpu(s))
    return;
  tileKernelOpSetMachine(kernel, s->target->attribute);
  if (s->warps)
    mlirOperationSetAttributeByName(kernel, tileString("warps"), mlirIntegerAttrGet(i32, s->warps));
  if (s->registers)
    mlirOperationSetAttributeByName(kernel, tileString("registers"), mlirIntegerAttrGet(i32, s->registers));
}

void tileKernelBegin(TileKernelEmission *e, const TileStructured *structured, const char *kind) {
  *e = (TileKernelEmission){.whole = structured, .structured = structured, .host = tileBuilderBefore(structured->op)};
  e->isLinear = needsLinearGrid(structured);
  MlirBlock block = createKernel(e, kind);
  e->body = tileBuilderAtEnd(block, e->host.location);
  label(structured, e->kernel);
  bindParameters(e, block);
  decodePrograms(e);
}

//===--- end ----------------------------------------------------------------===//

static intptr_t buildGrid(TileKernelEmission *e, MlirValue grid[3]) {
  intptr_t rank = 0;
  for (int d = e->structured->numDims - 1; d >= 0; --d) {
    if (e->structured->dims[d].isReduction)
      continue;
    MlirValue tiles = numPrograms(e, &e->host, d, hostExtent(e, d));
    intptr_t last = e->isLinear ? 0 : 2;
    if (rank <= last)
      grid[rank++] = tiles;
    else
      grid[last] = tileBuildMul(&e->host, grid[last], tiles);
  }
  if (rank == 0)
    grid[rank++] = tileBuildIndex(&e->host, 1);
  return rank;
}

static bool isOnlyStoredTo(MlirValue view) {
  for (MlirOpOperand use = mlirValueGetFirstUse(view); !mlirOpOperandIsNull(use); use = mlirOpOperandGetNextUse(use)) {
    MlirOperation user = mlirOpOperandGetOwner(use);
    if (!tileStoreOpIsA(user) || mlirOpOperandGetOperandNumber(use) != 1 ||
        !mlirAttributeIsNull(tileOpAttribute(user, "combine")))
      return false;
  }
  return true;
}

// Every element of the output is written and none is read: its old value need not be there.
static bool isOverwritten(const TileKernelEmission *e, int output) {
  const TileOperand *operand = &e->whole->operands[e->whole->numInputs + output];
  MlirBlock block = mlirRegionGetFirstBlock(mlirOperationGetRegion(e->kernel, 0));
  MlirValue parameter = mlirBlockGetArgument(block, e->whole->numInputs + e->whole->numCaptures + output);
  bool overwritten = operand->isTensor;
  for (int i = 0; i < operand->rank; ++i)
    overwritten &= operand->results[i] >= 0;
  for (MlirOpOperand use = mlirValueGetFirstUse(parameter); overwritten && !mlirOpOperandIsNull(use);
       use = mlirOpOperandGetNextUse(use)) {
    MlirOperation user = mlirOpOperandGetOwner(use);
    overwritten = tileViewOpIsA(user) && isOnlyStoredTo(tileOnlyResult(user));
  }
  return overwritten;
}

static MlirAttribute overwrittenOutputs(const TileKernelEmission *e) {
  MlirAttribute numbers[MaxOperands];
  intptr_t count = 0;
  for (int i = 0; i < e->whole->numOutputs; ++i)
    if (isOverwritten(e, i))
      numbers[count++] = mlirIntegerAttrGet(mlirIntegerTypeGet(e->host.context, 64), i);
  return count ? mlirArrayAttrGet(e->host.context, count, numbers) : mlirAttributeGetNull();
}

static void buildLaunch(TileKernelEmission *e) {
  const TileStructured *s = e->structured = e->whole;
  MlirValue operands[3 + MaxOperands + MaxCaptures];
  MlirType results[MaxOperands];
  intptr_t count = buildGrid(e, operands), grid = count;
  for (int i = 0; i < s->numInputs; ++i)
    operands[count++] = tileKernelHostInput(&e->host, s->operands[i].value);
  for (int i = 0; i < s->numCaptures; ++i)
    operands[count++] = s->captures[i];
  for (int i = 0; i < s->numOutputs; ++i) {
    operands[count++] = s->operands[s->numInputs + i].value;
    results[i] = tileResultType(s->op, i);
  }
  intptr_t inputs = count - grid - s->numOutputs;
  MlirStringRef name = mlirStringAttrGetValue(tileKernelOpGetSymName(e->kernel));
  MlirOperation launch =
      tileLaunchOpBuild(&e->host, s->numOutputs, results, grid, operands, inputs, operands + grid, s->numOutputs,
                        operands + grid + inputs, mlirFlatSymbolRefAttrGet(e->host.context, name));
  MlirAttribute overwritten = overwrittenOutputs(e);
  if (!mlirAttributeIsNull(overwritten))
    tileOpSetOverwrites(launch, overwritten);
  for (int i = 0; i < s->numOutputs; ++i)
    mlirValueReplaceAllUsesOfWith(mlirOperationGetResult(s->op, i), mlirOperationGetResult(launch, i));
  mlirOperationDestroy(s->op);
}

void tileKernelEnd(TileKernelEmission *e) {
  tileReturnOpBuild(&e->body, 0, NULL);
  buildLaunch(e);
}

//===--- loops --------------------------------------------------------------===//

MlirValue tileKernelOpenLoop(TileKernelEmission *e, MlirValue end, int64_t step, intptr_t count, MlirValue *carried,
                             TileKernelLoop *loop) {
  MlirBlock block;
  MlirValue zero = tileBuildIndex(&e->body, 0), by = tileBuildIndex(&e->body, step);
  *loop = (TileKernelLoop){.count = count, .carried = carried};
  loop->op = tileBuildFor(&e->body, zero, end, by, count, carried, &block);
  loop->outer = e->body;
  e->body = tileBuilderAtEnd(block, loop->outer.location);
  for (intptr_t i = 0; i < count; ++i)
    carried[i] = mlirBlockGetArgument(block, 1 + i);
  return mlirBlockGetArgument(block, 0);
}

void tileKernelOpenTiles(TileKernelEmission *e, int dim, intptr_t count, MlirValue *carried, TileKernelLoop *loop) {
  MlirValue end = tileKernelNumTiles(e, &e->body, dim, tileKernelExtent(e, dim));
  e->index[dim] = tileKernelOpenLoop(e, end, 1, count, carried, loop);
}

void tileKernelCloseLoop(TileKernelEmission *e, const TileKernelLoop *loop) {
  tileBuildYield(&e->body, loop->count, loop->carried);
  e->body = loop->outer;
  for (intptr_t i = 0; i < loop->count; ++i)
    loop->carried[i] = mlirOperationGetResult(loop->op, i);
}

TileKernelBranch tileKernelOpenBranch(TileKernelEmission *e) {
  TileKernelBranch branch = {.outer = e->body};
  e->body = tileBuilderInRegion(&branch.outer, &branch.regions[0], 0, NULL);
  return branch;
}

void tileKernelElse(TileKernelEmission *e, TileKernelBranch *branch, MlirValue value) {
  tileBuildYield(&e->body, !mlirValueIsNull(value), &value);
  e->body = tileBuilderInRegion(&branch->outer, &branch->regions[1], 0, NULL);
}

MlirValue tileKernelCloseBranch(TileKernelEmission *e, TileKernelBranch *branch, MlirValue condition, MlirValue value) {
  bool hasValue = !mlirValueIsNull(value);
  MlirType type = hasValue ? mlirValueGetType(value) : (MlirType){NULL};
  tileBuildYield(&e->body, hasValue, &value);
  e->body = branch->outer;
  MlirRegion otherwise = mlirRegionIsNull(branch->regions[1]) ? mlirRegionCreate() : branch->regions[1];
  MlirOperation choice = scfIfOpBuild(&e->body, hasValue, &type, condition, branch->regions[0], otherwise);
  return hasValue ? tileOnlyResult(choice) : value;
}
