// The dense tensors that an encoded tensor consists of: the table of sparse.h as types.
#include "dialects/sparse/sparse.h"

enum { MaxRank = 8 };

static const int64_t dynamic = INT64_MIN; // mlirShapedTypeGetDynamicSize()

static int64_t divideUp(int64_t size, int64_t by) { return size == dynamic ? dynamic : (size + by - 1) / by; }
static int64_t oneMore(int64_t size) { return size == dynamic ? dynamic : size + 1; }
static int64_t sizeOf(MlirType type, intptr_t axis) { return mlirShapedTypeGetDimSize(type, axis); }

static SparseComponent component(const char *name, intptr_t rank, const int64_t *shape, MlirType element) {
  return (SparseComponent){name, mlirRankedTensorTypeGet(rank, shape, element, mlirAttributeGetNull())};
}
#define COMPONENT(name, element, ...)                                                                                  \
  component(name, sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t), (int64_t[]){__VA_ARGS__}, element)

static intptr_t segments(MlirType type, MlirAttribute encoding, const SparseStorage *s, MlirType element,
                         SparseComponent *out) {
  int64_t count = divideUp(sizeOf(type, s->major), s->cell[s->major]);
  out[0] = COMPONENT("positions", sparseEncodingGetType(encoding, "positions"), oneMore(count));
  out[1] = COMPONENT("coordinates", sparseEncodingGetType(encoding, "coordinates"), dynamic);
  out[2] = s->hasCells ? COMPONENT("values", element, dynamic, s->cell[0], s->cell[1])
                       : COMPONENT("values", element, dynamic);
  return 3;
}

static intptr_t windows(MlirType type, MlirAttribute encoding, SparseWindows w, MlirType element,
                        SparseComponent *out) {
  int64_t groups = divideUp(sizeOf(type, 1 - w.axis), w.lines), count = divideUp(sizeOf(type, w.axis), w.m);
  out[0] = COMPONENT("coordinates", sparseEncodingGetType(encoding, "coordinates"), groups, count, w.n / w.together);
  out[1] = COMPONENT("values", element, groups, count, w.n, w.lines);
  return 2;
}

static intptr_t tiles(MlirType type, const int64_t cell[2], MlirType element, SparseComponent *out) {
  MlirType bit = mlirIntegerTypeGet(mlirTypeGetContext(type), 1);
  out[0] = COMPONENT("mask", bit, divideUp(sizeOf(type, 0), cell[0]), divideUp(sizeOf(type, 1), cell[1]));
  out[1] = COMPONENT("values", element, sizeOf(type, 0), sizeOf(type, 1));
  return 2;
}

static intptr_t summed(MlirType type, MlirAttribute encoding, SparseComponent *out) {
  intptr_t count = 0;
  for (intptr_t i = 0; i < sparseEncodingGetNumParts(encoding); ++i)
    count += sparseTypeGetComponents(sparseTypeWithEncoding(type, sparseEncodingGetPart(encoding, i)), out + count);
  return count;
}

intptr_t sparseTypeGetComponents(MlirType type, SparseComponent out[SPARSE_MAX_COMPONENTS]) {
  MlirAttribute encoding = sparseTypeGetEncoding(type);
  MlirType element = mlirShapedTypeGetElementType(type);
  SparseStorage storage = sparseEncodingGetStorage(encoding);
  switch (storage.scheme) {
  case SparseScheme_Segments:
    return segments(type, encoding, &storage, element, out);
  case SparseScheme_Coordinates:
    out[0] =
        COMPONENT("coordinates", sparseEncodingGetType(encoding, "coordinates"), mlirShapedTypeGetRank(type), dynamic);
    out[1] = COMPONENT("values", element, dynamic);
    return 2;
  case SparseScheme_Windows:
    return windows(type, encoding, storage.windows, element, out);
  case SparseScheme_Tiles:
    return tiles(type, storage.cell, element, out);
  case SparseScheme_Parts:
    return summed(type, encoding, out);
  }
  return 0;
}

MlirType sparseTypeWithEncoding(MlirType tensor, MlirAttribute encodingOrNull) {
  int64_t shape[MaxRank];
  intptr_t rank = mlirShapedTypeGetRank(tensor);
  if (rank > MaxRank)
    return (MlirType){NULL};
  for (intptr_t axis = 0; axis < rank; ++axis)
    shape[axis] = sizeOf(tensor, axis);
  return mlirRankedTensorTypeGet(rank, shape, mlirShapedTypeGetElementType(tensor), encodingOrNull);
}
