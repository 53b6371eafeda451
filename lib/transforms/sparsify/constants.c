// Formats to lists of entries and back, at compile time. See constants.h. Layouts: the table in
// dialects/sparse/sparse.h. Expects: components that the verifiers of sparse.assemble passed. Cost: sorting the
// entries.
#include "lib/transforms/sparsify/constants.h"

#include <stdlib.h>

#include "dialects/sparse/ops.h"
#include "lib/support/f16.h"
#include "lib/support/grow.h"
#include "upstream/arith.h"

//===--- elements -----------------------------------------------------------===//

static size_t bytesOf(MlirType element) { return tileElementWidth(element) / 8; }

// A constant's elements as bits.
typedef struct Elements {
  const unsigned char *bytes;
  size_t width, stride; // 0 where all are one
  bool isBool;
  MlirAttribute attribute;
} Elements;

static bool readElements(MlirAttribute attribute, Elements *elements) {
  if (mlirAttributeIsNull(attribute) || !mlirAttributeIsADenseElements(attribute))
    return false;
  MlirType element = mlirShapedTypeGetElementType(mlirAttributeGetType(attribute));
  *elements = (Elements){.width = bytesOf(element), .attribute = attribute};
  elements->isBool = mlirTypeIsAInteger(element) && mlirIntegerTypeGetWidth(element) == 1;
  elements->stride = mlirDenseElementsAttrIsSplat(attribute) ? 0 : elements->width;
  elements->bytes = elements->isBool ? NULL : mlirDenseElementsAttrGetRawData(attribute);
  return elements->isBool || elements->bytes || !mlirElementsAttrGetNumElements(attribute);
}

static uint64_t bitsAt(const Elements *elements, int64_t index) {
  uint64_t bits = 0;
  if (elements->isBool)
    return mlirDenseElementsAttrIsSplat(elements->attribute)
               ? mlirDenseElementsAttrGetBoolSplatValue(elements->attribute)
               : mlirDenseElementsAttrGetBoolValue(elements->attribute, index);
  memcpy(&bits, elements->bytes + (size_t)index * elements->stride, elements->width);
  return bits; // little-endian hosts only, as is the raw data
}

// Coordinates and positions are not negative: those of windows have no sign, others are in range.
static int64_t numberAt(const Elements *elements, int64_t index) { return (int64_t)bitsAt(elements, index); }

static float narrowAt(MlirType element, uint64_t bits) {
  return mlirTypeIsAF16(element) ? tessera_f16_to_f32((uint16_t)bits) : tessera_bf16_to_f32((uint16_t)bits);
}

static uint64_t addBits(MlirType element, uint64_t a, uint64_t b) {
  uint64_t bits = 0;
  if (mlirTypeIsAInteger(element))
    return a + b;
  if (mlirTypeIsAF64(element)) {
    double x, y;
    memcpy(&x, &a, sizeof x);
    memcpy(&y, &b, sizeof y);
    x += y;
    memcpy(&bits, &x, sizeof x);
    return bits;
  }
  if (mlirTypeIsAF32(element)) {
    float x, y;
    memcpy(&x, &a, sizeof x);
    memcpy(&y, &b, sizeof y);
    x += y;
    memcpy(&bits, &x, sizeof x);
    return bits;
  }
  float sum = narrowAt(element, a) + narrowAt(element, b);
  return mlirTypeIsAF16(element) ? tessera_f16_from_f32(sum) : tessera_bf16_from_f32(sum);
}

//===--- lists --------------------------------------------------------------===//

static bool append(SparseConstant *constant, int64_t row, int64_t column, uint64_t bits) {
  if (row >= constant->sizes[0] || column >= constant->sizes[1])
    return true; // fills up a block or a window at the edge
  SparseConstantEntry *grown = tessera_grow(constant->entries, constant->count, sizeof *grown);
  if (!grown)
    return false;
  constant->entries = grown;
  constant->entries[constant->count] = (SparseConstantEntry){{row, column}, constant->count, bits};
  ++constant->count;
  return true;
}

void sparseConstantFree(SparseConstant *constant) {
  free(constant->entries);
  *constant = (SparseConstant){.entries = NULL};
}

static int compareAlong(const void *a, const void *b, int major) {
  const SparseConstantEntry *left = a, *right = b;
  if (left->at[major] != right->at[major])
    return left->at[major] < right->at[major] ? -1 : 1;
  if (left->at[1 - major] != right->at[1 - major])
    return left->at[1 - major] < right->at[1 - major] ? -1 : 1;
  return (left->number > right->number) - (left->number < right->number);
}
static int compareRows(const void *a, const void *b) { return compareAlong(a, b, 0); }
static int compareColumns(const void *a, const void *b) { return compareAlong(a, b, 1); }

static bool isSamePlace(const SparseConstantEntry *a, const SparseConstantEntry *b) {
  return a->at[0] == b->at[0] && a->at[1] == b->at[1];
}

void sparseConstantTranspose(SparseConstant *constant) {
  int64_t rows = constant->sizes[0];
  constant->sizes[0] = constant->sizes[1];
  constant->sizes[1] = rows;
  for (int64_t i = 0; i < constant->count; ++i) {
    SparseConstantEntry *entry = &constant->entries[i];
    int64_t row = entry->at[0];
    entry->at[0] = entry->at[1];
    entry->at[1] = row;
  }
}

bool sparseConstantMerge(MlirOperation op, SparseConstant *constant, bool mayAdd) {
  SparseConstantEntry *entries = constant->entries;
  int64_t kept = 0;
  if (constant->count)
    qsort(entries, (size_t)constant->count, sizeof *entries, compareRows);
  for (int64_t i = 0; i < constant->count; ++i) {
    bool again = kept && isSamePlace(&entries[kept - 1], &entries[i]);
    if (again && !mayAdd)
      return tileError(op, "finds two entries at (%lld, %lld)", (long long)entries[i].at[0],
                       (long long)entries[i].at[1]);
    if (again)
      entries[kept - 1].bits = addBits(constant->element, entries[kept - 1].bits, entries[i].bits);
    else
      entries[kept++] = entries[i];
  }
  constant->count = kept;
  return true;
}

//===--- from formats -------------------------------------------------------===//

static bool readDense(MlirValue value, SparseConstant *constant) {
  SparseWeights weights;
  Elements elements;
  if (!sparseWeightsRead(value, &weights) || !readElements(tileOpAttribute(tileDefiningOp(value), "value"), &elements))
    return false;
  for (int64_t i = 0; i < weights.rows; ++i)
    for (int64_t j = 0; j < weights.columns; ++j)
      if (!sparseWeightsIsZero(&weights, i, j) && !append(constant, i, j, bitsAt(&elements, i * weights.columns + j)))
        return false;
  return true;
}

// csr, csc and bsr: cells of rows × columns.
static bool readSegments(SparseConstant *constant, const Elements *parts, int64_t segments, int major,
                         const int64_t cell[2]) {
  int64_t block = cell[0] * cell[1];
  for (int64_t segment = 0; segment < segments; ++segment)
    for (int64_t i = numberAt(&parts[0], segment); i < numberAt(&parts[0], segment + 1); ++i)
      for (int64_t b = 0; b < block; ++b) {
        int64_t at[2];
        at[major] = segment * cell[0] + b / cell[1];
        at[1 - major] = numberAt(&parts[1], i) * cell[1] + b % cell[1];
        if (!append(constant, at[0], at[1], bitsAt(&parts[2], i * block + b)))
          return false;
      }
  return true;
}

static bool readCoordinates(SparseConstant *constant, const Elements *parts, int64_t entries) {
  for (int64_t i = 0; i < entries; ++i)
    if (!append(constant, numberAt(&parts[0], i), numberAt(&parts[0], entries + i), bitsAt(&parts[1], i)))
      return false;
  return true;
}

static bool readWindows(SparseConstant *constant, const Elements *parts, MlirType coordinates, SparseWindows w) {
  int64_t groups = mlirShapedTypeGetDimSize(coordinates, 0), windows = mlirShapedTypeGetDimSize(coordinates, 1);
  int64_t units = w.n / w.together, block = w.together * w.lines;
  for (int64_t i = 0; i < groups * windows * units; ++i)
    for (int64_t b = 0; b < block; ++b) {
      int64_t at[2];
      at[w.axis] = i / units % windows * w.m + numberAt(&parts[0], i) * w.together + b / w.lines;
      at[1 - w.axis] = i / units / windows * w.lines + b % w.lines;
      if (!append(constant, at[0], at[1], bitsAt(&parts[1], i * block + b)))
        return false;
    }
  return true;
}

static bool readTiles(SparseConstant *constant, const Elements *parts, MlirType mask, const int64_t tile[2]) {
  int64_t across = mlirShapedTypeGetDimSize(mask, 1);
  for (int64_t i = 0; i < constant->sizes[0]; ++i)
    for (int64_t j = 0; j < constant->sizes[1]; ++j)
      if (bitsAt(&parts[0], i / tile[0] * across + j / tile[1]) &&
          !append(constant, i, j, bitsAt(&parts[1], i * constant->sizes[1] + j)))
        return false;
  return true;
}

// The entries of a type's components, from operand `first` of an assemble on; how many operands it took, 0: not for us.
static intptr_t readPart(MlirOperation assemble, intptr_t first, MlirType type, SparseConstant *constant) {
  SparseComponent components[SPARSE_MAX_COMPONENTS];
  Elements parts[SPARSE_MAX_COMPONENTS];
  SparseStorage storage = sparseEncodingGetStorage(sparseTypeGetEncoding(type));
  intptr_t count = sparseTypeGetComponents(type, components);
  for (intptr_t i = 0; i < count; ++i) {
    MlirOperation from = tileDefiningOp(mlirOperationGetOperand(assemble, first + i));
    if (!arithConstantOpIsA(from) || !readElements(arithConstantOpGetValue(from), &parts[i]))
      return 0;
  }
  MlirType seen = tileOperandType(assemble, first);
  int64_t number = mlirShapedTypeGetDimSize(seen, mlirShapedTypeGetRank(seen) - 1);
  bool ok = false;
  switch (storage.scheme) {
  case SparseScheme_Segments:
    ok = readSegments(constant, parts, number - 1, storage.major, storage.cell);
    break;
  case SparseScheme_Coordinates:
    ok = readCoordinates(constant, parts, number);
    break;
  case SparseScheme_Windows:
    ok = readWindows(constant, parts, seen, storage.windows);
    break;
  case SparseScheme_Tiles:
    ok = readTiles(constant, parts, seen, storage.cell);
    break;
  case SparseScheme_Parts: // one of them stands here
    break;
  }
  return ok ? count : 0;
}

static bool readAssembled(MlirOperation assemble, MlirType type, SparseConstant *constant) {
  MlirAttribute encoding = sparseTypeGetEncoding(type);
  if (!sparseEncodingIs(encoding, SparseScheme_Parts))
    return readPart(assemble, 0, type, constant) > 0;
  intptr_t first = 0;
  for (intptr_t i = 0; i < sparseEncodingGetNumParts(encoding); ++i) {
    MlirType part = sparseTypeWithEncoding(type, sparseEncodingGetPart(encoding, i));
    intptr_t taken = readPart(assemble, first, part, constant);
    if (!taken)
      return false;
    first += taken;
  }
  return true;
}

bool sparseConstantRead(MlirValue value, SparseConstant *constant) {
  MlirType type = mlirValueGetType(value);
  MlirOperation from = tileDefiningOp(value);
  *constant = (SparseConstant){.entries = NULL};
  if (!mlirTypeIsARankedTensor(type) || mlirShapedTypeGetRank(type) != 2 || !mlirShapedTypeHasStaticShape(type) ||
      !sparseWeightsIsReadable(mlirShapedTypeGetElementType(type)))
    return false;
  constant->element = mlirShapedTypeGetElementType(type);
  constant->sizes[0] = mlirShapedTypeGetDimSize(type, 0);
  constant->sizes[1] = mlirShapedTypeGetDimSize(type, 1);
  return sparseAssembleOpIsA(from) ? readAssembled(from, type, constant) : readDense(value, constant);
}

//===--- to formats ---------------------------------------------------------===//

// Bytes of a component to be filled, all zero; null without memory.
static unsigned char *bytesFor(MlirType type, size_t *bytes) {
  *bytes = bytesOf(mlirShapedTypeGetElementType(type));
  for (intptr_t i = 0; i < mlirShapedTypeGetRank(type); ++i)
    *bytes *= (size_t)mlirShapedTypeGetDimSize(type, i);
  return calloc(*bytes + 1, 1);
}

static void put(unsigned char *bytes, MlirType element, int64_t index, uint64_t bits) {
  memcpy(bytes + (size_t)index * bytesOf(element), &bits, bytesOf(element));
}

// The component's type with `number` in the place of its open size.
static MlirType closed(MlirType type, int64_t number) {
  int64_t shape[4];
  intptr_t rank = mlirShapedTypeGetRank(type);
  for (intptr_t i = 0; i < rank; ++i)
    shape[i] = mlirShapedTypeIsDynamicDim(type, i) ? number : mlirShapedTypeGetDimSize(type, i);
  return mlirRankedTensorTypeGet(rank, shape, mlirShapedTypeGetElementType(type), mlirAttributeGetNull());
}

// The cells that hold entries: copies of the entries with their cells in `at`, sorted by these; `number` is the entry's
// among the constant's.
typedef struct Cells {
  int64_t sizes[2]; // of a cell
  int major;
  SparseConstantEntry *entries;
  int64_t count; // of cells
} Cells;

static bool sortByCell(const SparseConstant *constant, Cells *cells) {
  cells->entries = malloc((size_t)constant->count * sizeof *cells->entries + 1);
  if (!cells->entries)
    return false;
  for (int64_t i = 0; i < constant->count; ++i) {
    const int64_t *at = constant->entries[i].at;
    cells->entries[i] = (SparseConstantEntry){{at[0] / cells->sizes[0], at[1] / cells->sizes[1]}, i, 0};
  }
  if (constant->count)
    qsort(cells->entries, (size_t)constant->count, sizeof *cells->entries, cells->major ? compareColumns : compareRows);
  for (int64_t i = 0; i < constant->count; ++i)
    cells->count += !i || !isSamePlace(&cells->entries[i - 1], &cells->entries[i]);
  return true;
}

static bool storeSegments(const SparseConstant *constant, const SparseStorage *storage, const SparseComponent *parts,
                          MlirAttribute *components) {
  Cells cells = {.sizes = {storage->cell[0], storage->cell[1]}, .major = storage->major};
  int major = cells.major;
  if (!sortByCell(constant, &cells))
    return false;
  MlirType types[3];
  unsigned char *bytes[3];
  size_t sizes[3];
  bool ok = true;
  for (int i = 0; i < 3; ++i) {
    types[i] = closed(parts[i].type, cells.count);
    bytes[i] = bytesFor(types[i], &sizes[i]);
    ok = ok && bytes[i];
  }
  MlirType p = mlirShapedTypeGetElementType(types[0]), c = mlirShapedTypeGetElementType(types[1]);
  int64_t segments = mlirShapedTypeGetDimSize(types[0], 0) - 1, cell = -1, segment = 0;
  for (int64_t i = 0; ok && i < constant->count; ++i) {
    const SparseConstantEntry *here = &cells.entries[i], *entry = &constant->entries[here->number];
    if (!i || !isSamePlace(here - 1, here)) {
      for (; segment < here->at[major]; ++segment)
        put(bytes[0], p, segment + 1, (uint64_t)(cell + 1));
      put(bytes[1], c, ++cell, (uint64_t)here->at[1 - major]);
    }
    int64_t inside = entry->at[0] % cells.sizes[0] * cells.sizes[1] + entry->at[1] % cells.sizes[1];
    put(bytes[2], constant->element, cell * cells.sizes[0] * cells.sizes[1] + inside, entry->bits);
  }
  for (; ok && segment < segments; ++segment)
    put(bytes[0], p, segment + 1, (uint64_t)(cell + 1));
  for (int i = 0; i < 3; ++i) {
    if (ok)
      components[i] = mlirDenseElementsAttrRawBufferGet(types[i], sizes[i], bytes[i]);
    free(bytes[i]);
  }
  free(cells.entries);
  return ok;
}

static bool storeCoordinates(const SparseConstant *constant, const SparseComponent *parts, MlirAttribute *components) {
  MlirType types[] = {closed(parts[0].type, constant->count), closed(parts[1].type, constant->count)};
  size_t sizes[2];
  unsigned char *bytes[] = {bytesFor(types[0], &sizes[0]), bytesFor(types[1], &sizes[1])};
  bool ok = bytes[0] && bytes[1];
  for (int64_t i = 0; ok && i < constant->count; ++i) {
    const SparseConstantEntry *entry = &constant->entries[i];
    for (int axis = 0; axis < 2; ++axis)
      put(bytes[0], mlirShapedTypeGetElementType(types[0]), axis * constant->count + i, (uint64_t)entry->at[axis]);
    put(bytes[1], constant->element, i, entry->bits);
  }
  for (int i = 0; i < 2; ++i) {
    if (ok)
      components[i] = mlirDenseElementsAttrRawBufferGet(types[i], sizes[i], bytes[i]);
    free(bytes[i]);
  }
  return ok;
}

// All elements; null without memory.
static unsigned char *denseBytes(const SparseConstant *constant, size_t *size) {
  MlirType type = mlirRankedTensorTypeGet(2, constant->sizes, constant->element, mlirAttributeGetNull());
  unsigned char *bytes = bytesFor(type, size);
  for (int64_t i = 0; bytes && i < constant->count; ++i)
    put(bytes, constant->element, constant->entries[i].at[0] * constant->sizes[1] + constant->entries[i].at[1],
        constant->entries[i].bits);
  return bytes;
}

MlirAttribute sparseConstantToDense(const SparseConstant *constant) {
  MlirType type = mlirRankedTensorTypeGet(2, constant->sizes, constant->element, mlirAttributeGetNull());
  size_t size;
  unsigned char *bytes = denseBytes(constant, &size);
  MlirAttribute value = bytes ? mlirDenseElementsAttrRawBufferGet(type, size, bytes) : mlirAttributeGetNull();
  free(bytes);
  return value;
}

static bool storeTiles(const SparseConstant *constant, const int64_t tile[2], const SparseComponent *parts,
                       MlirAttribute *components) {
  int64_t across = mlirShapedTypeGetDimSize(parts[0].type, 1);
  int64_t tiles = mlirShapedTypeGetDimSize(parts[0].type, 0) * across;
  int *mask = calloc((size_t)tiles + 1, sizeof *mask);
  for (int64_t i = 0; mask && i < constant->count; ++i)
    mask[constant->entries[i].at[0] / tile[0] * across + constant->entries[i].at[1] / tile[1]] = 1;
  if (mask)
    components[0] = mlirDenseElementsAttrBoolGet(parts[0].type, tiles, mask);
  free(mask);
  components[1] = sparseConstantToDense(constant);
  return mask && !mlirAttributeIsNull(components[1]);
}

static bool storeWindows(MlirOperation op, const SparseConstant *constant, MlirType type, MlirAttribute *components) {
  size_t size, width = bytesOf(constant->element);
  unsigned char *bytes = denseBytes(constant, &size);
  const SparseWeights weights = {sparseTypeWithEncoding(type, mlirAttributeGetNull()),
                                 constant->sizes[0],
                                 constant->sizes[1],
                                 width,
                                 width,
                                 bytes};
  bool ok = bytes ? sparseWeightsPack(op, &weights, type, components) : tileError(op, "is too large to pack");
  free(bytes);
  return ok;
}

intptr_t sparseConstantStore(MlirOperation op, const SparseConstant *constant, MlirType type,
                             MlirAttribute *components) {
  SparseComponent parts[SPARSE_MAX_COMPONENTS];
  SparseStorage storage = sparseEncodingGetStorage(sparseTypeGetEncoding(type));
  intptr_t count = sparseTypeGetComponents(type, parts);
  bool ok = false;
  switch (storage.scheme) {
  case SparseScheme_Segments:
    ok = storeSegments(constant, &storage, parts, components);
    break;
  case SparseScheme_Coordinates:
    ok = storeCoordinates(constant, parts, components);
    break;
  case SparseScheme_Windows:
    return storeWindows(op, constant, type, components) ? count : 0;
  case SparseScheme_Tiles:
    ok = storeTiles(constant, storage.cell, parts, components);
    break;
  case SparseScheme_Parts: // constants are not packed into parts
    break;
  }
  if (!ok)
    tileError(op, "is too large to pack");
  return ok ? count : 0;
}
