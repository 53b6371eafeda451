// Makes a clone of a buffer with strides an allocation and a copy: what upstream's convert-bufferization-to-memref does
// for contiguous buffers only. Programs get there by returning a subview: a result is the caller's own memory.
//
//   %c = bufferization.clone %s : memref<4x3xf32, strided<[8, 2], offset: ?>>
//   →  %m = memref.alloc(…) : memref<?xf32>;  %c = memref.reinterpret_cast %m to offset: [0], …, strides: [8, 2]
//      memref.copy %s, %c
//
// Expects: after deallocation. Leaves: clones of contiguous buffers; elsewhere the same type, so the same strides, and
// an offset of 0 where the type says `?`. Cost: memory for the holes between rows too.
#include "lib/ir/builder.h"
#include "lib/ir/pass.h"
#include "lib/support/array.h"
#include "lib/transforms/memory/memory.h"
#include "mlir-c/BuiltinAttributes.h"
#include "upstream/bufferization.h"
#include "upstream/func.h"
#include "upstream/memref.h"

enum { MaxRank = TESSERA_MAX_RANK };

//===--- the layout -----------------------------------------------------------===//

typedef struct Layout {
  intptr_t rank;
  MlirType element;
  int64_t offset, sizes[MaxRank], strides[MaxRank]; // as the type has them, `?` too
} Layout;

static bool readLayout(MlirType type, Layout *layout) {
  *layout = (Layout){.rank = mlirShapedTypeGetRank(type), .element = mlirShapedTypeGetElementType(type)};
  if (layout->rank > MaxRank ||
      mlirLogicalResultIsFailure(mlirMemRefTypeGetStridesAndOffset(type, layout->strides, &layout->offset)))
    return false;
  for (intptr_t i = 0; i < layout->rank; ++i)
    layout->sizes[i] = mlirShapedTypeGetDimSize(type, i);
  return true;
}

static bool isStrided(MlirOperation clone) {
  MlirType type = bufferizationCloneOpGetOutputType(clone);
  return mlirTypeIsAMemRef(type) && !mlirAffineMapIsIdentity(mlirMemRefTypeGetAffineMap(type));
}

//===--- the copy -------------------------------------------------------------===//

// Offset, sizes and strides of the source as values, constants where its type says so.
typedef struct Metadata {
  MlirValue sizes[MaxRank], strides[MaxRank];
} Metadata;

static Metadata readMetadata(TileBuilder *builder, MlirValue source, const Layout *layout) {
  MlirOperation op = memrefExtractStridedMetadataOpBuild(builder, source);
  Metadata metadata;
  for (intptr_t i = 0; i < layout->rank; ++i) {
    int64_t size = layout->sizes[i], stride = layout->strides[i];
    bool hasSize = size != mlirShapedTypeGetDynamicSize(), hasStride = mlirShapedTypeIsStaticStrideOrOffset(stride);
    metadata.sizes[i] = hasSize ? tileBuildIndex(builder, size) : memrefExtractStridedMetadataOpGetSizes(op, i);
    metadata.strides[i] = hasStride ? tileBuildIndex(builder, stride) : memrefExtractStridedMetadataOpGetStrides(op, i);
  }
  return metadata;
}

static int64_t staticOffset(const Layout *layout) {
  return mlirShapedTypeIsStaticStrideOrOffset(layout->offset) ? layout->offset : 0;
}

// One more than where the last element lies: offset + 1 + the sum of (size - 1) * stride; at least 0.
static MlirValue buildExtent(TileBuilder *builder, const Layout *layout, const Metadata *metadata) {
  MlirValue one = tileBuildIndex(builder, 1), extent = tileBuildIndex(builder, staticOffset(layout) + 1);
  for (intptr_t i = 0; i < layout->rank; ++i) {
    MlirValue steps = tileBuildSub(builder, metadata->sizes[i], one);
    extent = tileBuildAdd(builder, extent, tileBuildMul(builder, steps, metadata->strides[i]));
  }
  return tileBuildMax(builder, extent, tileBuildIndex(builder, 0));
}

static MlirValue buildAllocation(TileBuilder *builder, const Layout *layout, MlirValue extent, MlirAttribute space) {
  int64_t dynamic = mlirShapedTypeGetDynamicSize();
  MlirType type = mlirMemRefTypeContiguousGet(layout->element, 1, &dynamic, space);
  return memrefAllocOpBuild(builder, type, 1, &extent, 0, NULL);
}

// The flat buffer as `type`: what the type leaves open is given as operands.
static MlirValue buildCast(TileBuilder *builder, MlirValue flat, MlirType type, const Layout *layout,
                           const Metadata *metadata) {
  MlirContext context = builder->context;
  MlirValue offset = tileBuildIndex(builder, 0), sizes[MaxRank], strides[MaxRank];
  intptr_t numSizes = 0, numStrides = 0;
  int64_t open = mlirShapedTypeGetDynamicStrideOrOffset();
  for (intptr_t i = 0; i < layout->rank; ++i) {
    if (layout->sizes[i] == mlirShapedTypeGetDynamicSize())
      sizes[numSizes++] = metadata->sizes[i];
    if (layout->strides[i] == open)
      strides[numStrides++] = metadata->strides[i];
  }
  return memrefReinterpretCastOpBuild(builder, type, flat, layout->offset == open, &offset, numSizes, sizes, numStrides,
                                      strides, mlirDenseI64ArrayGet(context, 1, &layout->offset),
                                      mlirDenseI64ArrayGet(context, layout->rank, layout->sizes),
                                      mlirDenseI64ArrayGet(context, layout->rank, layout->strides));
}

static bool copyClone(MlirOperation clone) {
  MlirType type = bufferizationCloneOpGetOutputType(clone);
  MlirValue source = bufferizationCloneOpGetInput(clone);
  Layout layout, sourceLayout;
  if (!readLayout(type, &layout) || !readLayout(mlirValueGetType(source), &sourceLayout))
    return tileError(clone, "clones a buffer whose layout is not a list of strides");
  TileBuilder builder = tileBuilderBefore(clone);
  Metadata metadata = readMetadata(&builder, source, &sourceLayout);
  MlirValue extent = buildExtent(&builder, &layout, &metadata);
  MlirValue flat = buildAllocation(&builder, &layout, extent, mlirMemRefTypeGetMemorySpace(type));
  MlirValue copy = buildCast(&builder, flat, type, &layout, &metadata);
  memrefCopyOpBuild(&builder, source, copy);
  mlirValueReplaceAllUsesOfWith(bufferizationCloneOpGetOutput(clone), copy);
  mlirOperationDestroy(clone);
  return true;
}

//===--- the pass -------------------------------------------------------------===//

static bool run(MlirOperation function, MlirExtPass pass) {
  TileOps clones = tileCollectOps(function, bufferizationCloneOpIsA);
  bool ok = true;
  uint64_t copied = 0;
  for (intptr_t i = 0; i < clones.count && ok; ++i)
    if (isStrided(clones.items[i])) {
      ok = copyClone(clones.items[i]);
      ++copied;
    }
  mlirExtPassAddStatistic(pass, 0, ok ? copied : 0);
  tileOpsFree(&clones);
  return ok;
}

const MlirExtPassDefinition tileCopyStridedClonesPass = {
    .argument = "tile-copy-strided-clones",
    .summary = "Make clones of buffers with strides allocations and copies",
    .anchor = funcFuncOpName,
    .statistics = (const char *const[]){"copies: clones that became copies", NULL},
    .dialects = (const char *const[]){"memref", "arith", NULL},
    .needs = (const char *const[]){bufferizationCloneOpName, NULL},
    .run = run,
};
