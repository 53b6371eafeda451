// Which dense tensors an encoded one consists of: the table of sparse.h as types.
#include "dialects/sparse/sparse.h"

enum { MAX_RANK = 8 };

static const int64_t dynamic = INT64_MIN; // mlirShapedTypeGetDynamicSize()

static int64_t divideUp(int64_t size, int64_t by) { return size == dynamic ? dynamic : (size + by - 1) / by; }
static int64_t oneMore(int64_t size) { return size == dynamic ? dynamic : size + 1; }
static int64_t sizeOf(MlirType type, intptr_t axis) { return mlirShapedTypeGetDimSize(type, axis); }

static SparseComponent component(const char *name, intptr_t rank, const int64_t *shape, MlirType element) {
  return (SparseComponent){name, mlirRankedTensorTypeGet(rank, shape, element, mlirAttributeGetNull())};
}
#define COMPONENT(name, element, ...)                                                                                  \
  component(name, sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t), (int64_t[]){__VA_ARGS__}, element)

// csr, csc and bsr: segments of the major axis, each with entries of ascending coordinates along the other.
static intptr_t compressed(MlirAttribute encoding, int64_t segments, SparseComponent value, SparseComponent *out) {
  out[0] = COMPONENT("positions", sparseEncodingGetType(encoding, "positions"), oneMore(segments));
  out[1] = COMPONENT("coordinates", sparseEncodingGetType(encoding, "coordinates"), dynamic);
  out[2] = value;
  return 3;
}

static intptr_t windows(MlirType type, MlirAttribute encoding, MlirType element, SparseComponent *out) {
  SparseWindows w = sparseEncodingGetWindows(encoding);
  int64_t groups = divideUp(sizeOf(type, 1 - w.axis), w.lines), count = divideUp(sizeOf(type, w.axis), w.m);
  out[0] = COMPONENT("coordinates", sparseEncodingGetType(encoding, "coordinates"), groups, count, w.n / w.together);
  out[1] = COMPONENT("values", element, groups, count, w.n, w.lines);
  return 2;
}

static intptr_t masked(MlirType type, MlirAttribute encoding, MlirType element, SparseComponent *out) {
  MlirType bit = mlirIntegerTypeGet(mlirTypeGetContext(type), 1);
  out[0] = COMPONENT("mask", bit, divideUp(sizeOf(type, 0), sparseEncodingGetSize(encoding, "tile", 0)),
                     divideUp(sizeOf(type, 1), sparseEncodingGetSize(encoding, "tile", 1)));
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
  SparseComponent values = COMPONENT("values", element, dynamic);
  switch (sparseEncodingGetFormat(encoding)) {
  case SparseCsr:
    return compressed(encoding, sizeOf(type, 0), values, out);
  case SparseCsc:
    return compressed(encoding, sizeOf(type, 1), values, out);
  case SparseBsr:
    values = COMPONENT("values", element, dynamic, sparseEncodingGetSize(encoding, "block", 0),
                       sparseEncodingGetSize(encoding, "block", 1));
    return compressed(encoding, divideUp(sizeOf(type, 0), sparseEncodingGetSize(encoding, "block", 0)), values, out);
  case SparseCoo:
    out[0] =
        COMPONENT("coordinates", sparseEncodingGetType(encoding, "coordinates"), mlirShapedTypeGetRank(type), dynamic);
    out[1] = values;
    return 2;
  case SparseNm:
    return windows(type, encoding, element, out);
  case SparseMask:
    return masked(type, encoding, element, out);
  case SparseSum:
    return summed(type, encoding, out);
  case SparseNumFormats:
    break;
  }
  return 0;
}

MlirType sparseTypeWithEncoding(MlirType tensor, MlirAttribute encodingOrNull) {
  int64_t shape[MAX_RANK];
  intptr_t rank = mlirShapedTypeGetRank(tensor);
  if (rank > MAX_RANK)
    return (MlirType){NULL};
  for (intptr_t axis = 0; axis < rank; ++axis)
    shape[axis] = sizeOf(tensor, axis);
  return mlirRankedTensorTypeGet(rank, shape, mlirShapedTypeGetElementType(tensor), encodingOrNull);
}
