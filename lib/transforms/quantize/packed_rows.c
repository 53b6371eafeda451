// Elements of 2 to 7 bits to and from bytes. See packed_rows.h.
// A period is the least number of elements that fill whole bytes: 2 of 4 bits in a byte, 4 of 6 bits in 3 bytes.
#include "lib/transforms/quantize/packed_rows.h"

#include "dialects/tile/ops.h"
#include "lib/ir/support.h"
#include "lib/support/array.h"
#include "lib/transforms/quantize/forms.h"
#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"
#include "upstream/arith.h"
#include "upstream/linalg.h"
#include "upstream/memref.h"
#include "upstream/tensor.h"

#include <string.h>

enum { MaxRank = MaxFormRank - 1, MaxPeriod = 8 };

// How the elements of a type lie.
typedef struct Rows {
  const tessera_packed_type_t *element;
  MlirType type, integer;    // of an element; as its bits
  int rank, elements, bytes; // of a period
  int64_t shape[MaxFormRank], columns, rowBytes, periods;
} Rows;

//===--- questions ------------------------------------------------------------------------------===//

static const tessera_packed_type_t *elementOf(MlirType type) {
  char text[64];
  return mlirTypeIsAShaped(type)
             ? tessera_packed_type(tileTypeText(mlirShapedTypeGetElementType(type), text, sizeof text))
             : NULL;
}

static bool isPlain(MlirType type) {
  return mlirTypeIsAMemRef(type)
             ? mlirAffineMapIsIdentity(mlirMemRefTypeGetAffineMap(type))
             : mlirTypeIsARankedTensor(type) && mlirAttributeIsNull(mlirRankedTensorTypeGetEncoding(type));
}

static bool readRows(MlirType type, Rows *rows) {
  *rows = (Rows){.element = elementOf(type)};
  if (!rows->element || !isPlain(type) || !mlirShapedTypeHasStaticShape(type))
    return false;
  rows->rank = (int)mlirShapedTypeGetRank(type);
  if (rows->rank < 1 || rows->rank > MaxRank)
    return false;
  for (int i = 0; i < rows->rank; ++i)
    rows->shape[i] = mlirShapedTypeGetDimSize(type, i);
  rows->columns = rows->shape[rows->rank - 1];
  rows->rowBytes = tessera_packed_row_bytes(&(tessera_packing_t){rows->element, rows->columns});
  rows->bytes = rows->element->bits;
  rows->elements = 8;
  for (; rows->bytes % 2 == 0; rows->bytes /= 2)
    rows->elements /= 2;
  rows->periods = (rows->columns + rows->elements - 1) / rows->elements;
  rows->type = mlirShapedTypeGetElementType(type);
  rows->integer = mlirIntegerTypeGet(mlirTypeGetContext(type), (unsigned)rows->element->bits);
  return true;
}

MlirType tilePackedRowsOf(MlirType type) {
  Rows rows;
  if (!readRows(type, &rows))
    return (MlirType){NULL};
  MlirType byte = mlirIntegerTypeGet(mlirTypeGetContext(type), 8);
  rows.shape[rows.rank - 1] = rows.rowBytes;
  return mlirTypeIsAMemRef(type)
             ? mlirMemRefTypeContiguousGet(byte, rows.rank, rows.shape, mlirMemRefTypeGetMemorySpace(type))
             : tileFormTensor(rows.rank, rows.shape, byte);
}

//===--- tensors --------------------------------------------------------------------------------===//

// `value` with its last axis replaced by `last` and, if `more`, by a further one.
static MlirType typeWith(const Rows *rows, MlirType element, int64_t last, int64_t more) {
  int64_t shape[MaxFormRank];
  memcpy(shape, rows->shape, sizeof shape);
  shape[rows->rank - 1] = last;
  shape[rows->rank] = more;
  return tileFormTensor(rows->rank + (more > 0), shape, element);
}

static MlirValue empty(TileBuilder *b, MlirType type) { return tensorEmptyOpBuild(b, type, 0, NULL); }

// [[0], …, [rank - 1, rank]].
static MlirAttribute lastAsTwo(const TileBuilder *b, int rank) {
  MlirAttribute groups[MaxFormRank];
  MlirType i64 = mlirIntegerTypeGet(b->context, 64);
  for (int i = 0; i < rank; ++i) {
    MlirAttribute axes[] = {mlirIntegerAttrGet(i64, i), mlirIntegerAttrGet(i64, i + 1)};
    groups[i] = mlirArrayAttrGet(b->context, i == rank - 1 ? 2 : 1, axes);
  }
  return mlirArrayAttrGet(b->context, rank, groups);
}

static MlirAttribute numbers(const TileBuilder *b, int count, const int64_t *values) {
  return mlirDenseI64ArrayGet(b->context, count, values);
}

// The slice of `whole` that begins at `at` along its last axis and has the sizes of `part` (without the last axis where
// `part` has fewer axes); `insert`: `part` written there, else what is there.
static MlirValue slice(TileBuilder *b, MlirValue whole, int64_t at, MlirType part, MlirValue insert) {
  int rank = (int)mlirShapedTypeGetRank(mlirValueGetType(whole)), fewer = (int)mlirShapedTypeGetRank(part);
  int64_t offsets[MaxFormRank] = {0}, sizes[MaxFormRank], strides[MaxFormRank];
  for (int i = 0; i < rank; ++i) {
    strides[i] = 1;
    sizes[i] = i < fewer ? mlirShapedTypeGetDimSize(part, i) : 1;
  }
  offsets[rank - 1] = at;
  MlirAttribute from = numbers(b, rank, offsets), size = numbers(b, rank, sizes), step = numbers(b, rank, strides);
  return mlirValueIsNull(insert)
             ? tensorExtractSliceOpBuild(b, part, whole, 0, NULL, 0, NULL, 0, NULL, from, size, step)
             : tensorInsertSliceOpBuild(b, insert, whole, 0, NULL, 0, NULL, 0, NULL, from, size, step);
}

static const MlirValue nothing = {NULL};

// Zeros behind the elements of each row, up to `last`.
static MlirValue padded(TileBuilder *b, const Rows *rows, MlirValue bytes, int64_t last) {
  MlirType type = mlirValueGetType(bytes), element = mlirShapedTypeGetElementType(type);
  if (mlirShapedTypeGetDimSize(type, rows->rank - 1) == last)
    return bytes;
  MlirValue zeros = tileFormFilled(b, empty(b, typeWith(rows, element, last, 0)), tileBuildInteger(b, element, 0));
  return slice(b, zeros, 0, type, bytes);
}

// The last axis as two, the inner one of `inner` elements.
static MlirValue cut(TileBuilder *b, const Rows *rows, MlirValue value, int64_t inner) {
  MlirType type = typeWith(rows, tileFormElement(value), rows->periods, inner);
  int64_t shape[MaxFormRank];
  for (int i = 0; i <= rows->rank; ++i)
    shape[i] = mlirShapedTypeGetDimSize(type, i);
  return tensorExpandShapeOpBuild(b, type, value, 0, NULL, lastAsTwo(b, rows->rank), numbers(b, rows->rank + 1, shape));
}

// Opens the body of an elementwise op of `count` tensors of the rows' shape but for the last size.
static MlirOperation elementwise(TileBuilder *b, const Rows *rows, int count, const MlirValue *inputs, MlirType element,
                                 TileBuilder *inside) {
  TileFormOperand operands[4];
  for (int i = 0; i <= count; ++i) {
    operands[i] = (TileFormOperand){.rank = rows->rank};
    for (int axis = 0; axis < rows->rank; ++axis)
      operands[i].dims[axis] = axis;
    if (i < count)
      operands[i].value = inputs[i];
  }
  int64_t last = mlirShapedTypeGetDimSize(mlirValueGetType(inputs[0]), rows->rank - 1);
  operands[count].value = empty(b, typeWith(rows, element, last, 0));
  return tileFormGeneric(b, rows->rank, 0, count, operands, inside);
}

static void yield(TileBuilder *inside, MlirValue value) { linalgYieldOpBuild(inside, 1, &value); }

static MlirValue moved(TileBuilder *b, MlirValue byte, int left) {
  MlirType type = mlirValueGetType(byte);
  if (!left)
    return byte;
  return left > 0 ? arithShLIOpBuild(b, byte, tileBuildInteger(b, type, left))
                  : arithShRUIOpBuild(b, byte, tileBuildInteger(b, type, -left));
}

// The low bits of a byte as an element. The mask shows how many codes there are.
static MlirValue elementOfByte(TileBuilder *b, const Rows *rows, MlirValue byte) {
  MlirValue mask = tileBuildInteger(b, mlirValueGetType(byte), (1 << rows->element->bits) - 1);
  MlirValue bits = arithTruncIOpBuild(b, rows->integer, arithAndIOpBuild(b, byte, mask));
  return mlirTypeEqual(rows->integer, rows->type) ? bits : arithBitcastOpBuild(b, rows->type, bits);
}

static MlirValue byteOfElement(TileBuilder *b, const Rows *rows, MlirValue element) {
  MlirValue bits = mlirTypeEqual(rows->integer, rows->type) ? element : arithBitcastOpBuild(b, rows->integer, element);
  return arithExtUIOpBuild(b, mlirIntegerTypeGet(b->context, 8), bits);
}

// Elements of 2 or 4 bits: a dimension more, along a table of shifts, as exporters write it.
static MlirValue spread(TileBuilder *b, const Rows *rows, MlirValue packed) {
  int8_t shifts[MaxPeriod];
  int64_t count = rows->elements;
  for (int e = 0; e < rows->elements; ++e)
    shifts[e] = (int8_t)(e * rows->element->bits);
  MlirType byte = mlirIntegerTypeGet(b->context, 8);
  MlirValue table = tileBuildConstant(b, mlirDenseElementsAttrInt8Get(tileFormTensor(1, &count, byte), count, shifts));
  TileFormOperand operands[] = {{packed, rows->rank, {0}},
                                {table, 1, {rows->rank}},
                                {empty(b, typeWith(rows, rows->type, rows->periods, count)), rows->rank + 1, {0}}};
  for (int axis = 0; axis <= rows->rank; ++axis)
    operands[0].dims[axis] = operands[2].dims[axis] = axis;
  TileBuilder inside;
  MlirOperation generic = tileFormGeneric(b, rows->rank + 1, 0, 2, operands, &inside);
  MlirValue shifted =
      arithShRUIOpBuild(&inside, mlirBlockGetArgument(inside.block, 0), mlirBlockGetArgument(inside.block, 1));
  yield(&inside, elementOfByte(&inside, rows, shifted));
  return tileOnlyResult(generic);
}

// Element `e` of each period, from one of its bytes or from two.
static MlirValue elementAt(TileBuilder *b, const Rows *rows, const MlirValue *bytes, int e) {
  int bit = e * rows->element->bits, low = bit / 8, first = bit % 8;
  bool isInTwo = first + rows->element->bits > 8;
  MlirValue inputs[2] = {bytes[low], isInTwo ? bytes[low + 1] : nothing};
  TileBuilder inside;
  MlirOperation generic = elementwise(b, rows, isInTwo ? 2 : 1, inputs, rows->type, &inside);
  MlirValue byte = moved(&inside, mlirBlockGetArgument(inside.block, 0), -first);
  if (isInTwo)
    byte = arithOrIOpBuild(&inside, byte, moved(&inside, mlirBlockGetArgument(inside.block, 1), 8 - first));
  yield(&inside, elementOfByte(&inside, rows, byte));
  return tileOnlyResult(generic);
}

// The two last axes as one; the first `columns` elements of it stay.
static MlirValue joined(TileBuilder *b, const Rows *rows, MlirValue value, int64_t inner, int64_t columns) {
  MlirType element = tileFormElement(value);
  MlirValue whole =
      tensorCollapseShapeOpBuild(b, typeWith(rows, element, rows->periods * inner, 0), value, lastAsTwo(b, rows->rank));
  return columns == rows->periods * inner ? whole : slice(b, whole, 0, typeWith(rows, element, columns, 0), nothing);
}

MlirValue tileBuildUnpackedTensor(TileBuilder *b, MlirValue packed, MlirType type) {
  Rows rows;
  readRows(type, &rows);
  if (!rows.columns)
    return empty(b, type);
  if (rows.bytes == 1)
    return joined(b, &rows, spread(b, &rows, packed), rows.elements, rows.columns);
  int64_t whole = rows.periods * rows.elements;
  MlirValue elements =
      tileBitcastOpBuild(b, typeWith(&rows, rows.type, whole, 0), padded(b, &rows, packed, rows.periods * rows.bytes));
  return whole == rows.columns ? elements : slice(b, elements, 0, typeWith(&rows, rows.type, rows.columns, 0), nothing);
}

MlirValue tileBuildShiftedTensor(TileBuilder *b, MlirValue packed, MlirType type) {
  Rows rows;
  readRows(type, &rows);
  MlirValue all = cut(b, &rows, packed, rows.bytes), bytes[MaxPeriod];
  for (int at = 0; at < rows.bytes; ++at)
    bytes[at] = slice(b, all, at, typeWith(&rows, tileFormElement(all), rows.periods, 0), nothing);
  MlirValue stack = empty(b, typeWith(&rows, rows.type, rows.periods, rows.elements));
  for (int e = 0; e < rows.elements; ++e) {
    MlirValue part = elementAt(b, &rows, bytes, e);
    stack = slice(b, stack, e, mlirValueGetType(part), part);
  }
  return joined(b, &rows, stack, rows.elements, rows.columns);
}

// Byte number `at` of each period.
static MlirValue byteAt(TileBuilder *b, const Rows *rows, MlirValue cutCodes, int at) {
  MlirType byte = mlirIntegerTypeGet(b->context, 8), part = typeWith(rows, byte, rows->periods, 0);
  MlirValue result = {NULL};
  for (int e = 0; e < rows->elements; ++e) {
    int bit = e * rows->element->bits - 8 * at;
    if (bit + rows->element->bits <= 0 || bit >= 8)
      continue;
    MlirValue inputs[2] = {slice(b, cutCodes, e, part, nothing), result};
    TileBuilder inside;
    MlirOperation generic = elementwise(b, rows, mlirValueIsNull(result) ? 1 : 2, inputs, byte, &inside);
    MlirValue bits = moved(&inside, mlirBlockGetArgument(inside.block, 0), bit);
    if (!mlirValueIsNull(result))
      bits = arithOrIOpBuild(&inside, bits, mlirBlockGetArgument(inside.block, 1));
    yield(&inside, bits);
    result = tileOnlyResult(generic);
  }
  return result;
}

MlirValue tileBuildPackedTensor(TileBuilder *b, MlirValue tensor) {
  Rows rows;
  TileBuilder inside;
  readRows(mlirValueGetType(tensor), &rows);
  MlirType byte = mlirIntegerTypeGet(b->context, 8);
  if (!rows.columns)
    return empty(b, tilePackedRowsOf(mlirValueGetType(tensor)));
  MlirOperation generic = elementwise(b, &rows, 1, &tensor, byte, &inside);
  yield(&inside, byteOfElement(&inside, &rows, mlirBlockGetArgument(inside.block, 0)));
  MlirValue codes =
      cut(b, &rows, padded(b, &rows, tileOnlyResult(generic), rows.periods * rows.elements), rows.elements);
  if (rows.bytes == 1)
    return byteAt(b, &rows, codes, 0);
  MlirValue stack = empty(b, typeWith(&rows, byte, rows.periods, rows.bytes));
  for (int at = 0; at < rows.bytes; ++at) {
    MlirValue part = byteAt(b, &rows, codes, at);
    stack = slice(b, stack, at, mlirValueGetType(part), part);
  }
  return joined(b, &rows, stack, rows.bytes, rows.rowBytes);
}

//===--- buffers --------------------------------------------------------------------------------===//

// Loops over all axes of `buffer`; `index` receives their counters. Returns the builder of the innermost body.
static TileBuilder openLoops(TileBuilder *b, const Rows *rows, int64_t last, MlirValue *index) {
  TileBuilder inside = *b;
  for (int axis = 0; axis < rows->rank; ++axis) {
    MlirBlock body;
    int64_t size = axis == rows->rank - 1 ? last : rows->shape[axis];
    tileBuildFor(&inside, tileBuildIndex(&inside, 0), tileBuildIndex(&inside, size), tileBuildIndex(&inside, 1), 0,
                 NULL, &body);
    inside = tileBuilderAtEnd(body, b->location);
    index[axis] = mlirBlockGetArgument(body, 0);
    tileBuildYield(&inside, 0, NULL);
    inside = tileBuilderBefore(mlirBlockGetTerminator(body));
  }
  return inside;
}

// Where an element lies: the index of its first byte (into `index`) and of its second, and the bit in the first one.
typedef struct Place {
  MlirValue bit, nextBit; // i8: shifts of the two bytes
  MlirValue low[MaxFormRank], high[MaxFormRank];
} Place;

static MlirValue asByte(TileBuilder *b, MlirValue index) {
  return arithIndexCastOpBuild(b, mlirIntegerTypeGet(b->context, 8), index);
}

// Elements that end in their first byte have a second one all the same, the first one or the next.
static Place placeOf(TileBuilder *b, const Rows *rows, const MlirValue *index) {
  Place place;
  int last = rows->rank - 1;
  MlirValue eight = tileBuildIndex(b, 8), bits = tileBuildIndex(b, rows->element->bits);
  MlirValue bit = tileBuildMul(b, index[last], bits), low = arithDivUIOpBuild(b, bit, eight);
  MlirValue within = arithRemUIOpBuild(b, bit, eight),
            end = tileBuildAdd(b, bit, tileBuildIndex(b, rows->element->bits - 1));
  memcpy(place.low, index, (size_t)rows->rank * sizeof *index);
  memcpy(place.high, index, (size_t)rows->rank * sizeof *index);
  place.low[last] = low;
  place.high[last] = arithDivUIOpBuild(b, end, eight);
  place.bit = asByte(b, within);
  place.nextBit = asByte(b, tileBuildSub(b, eight, within));
  return place;
}

// Byte shifts by 8 are poison in arith: in 16 bits they are not.
static MlirValue wide(TileBuilder *b, MlirValue byte) {
  return arithExtUIOpBuild(b, mlirIntegerTypeGet(b->context, 16), byte);
}

void tileBuildUnpackBuffer(TileBuilder *b, MlirValue packed, MlirValue buffer) {
  Rows rows;
  MlirValue index[MaxFormRank];
  readRows(mlirValueGetType(buffer), &rows);
  TileBuilder in = openLoops(b, &rows, rows.columns, index);
  Place place = placeOf(&in, &rows, index);
  MlirValue low = wide(&in, memrefLoadOpBuild(&in, packed, rows.rank, place.low));
  MlirValue high = wide(&in, memrefLoadOpBuild(&in, packed, rows.rank, place.high));
  MlirValue upper = arithShLIOpBuild(&in, high, wide(&in, place.nextBit));
  MlirValue both = arithOrIOpBuild(&in, arithShRUIOpBuild(&in, low, wide(&in, place.bit)), upper);
  MlirValue bits = arithTruncIOpBuild(&in, rows.integer, both);
  if (!mlirTypeEqual(rows.integer, rows.type))
    bits = arithBitcastOpBuild(&in, rows.type, bits);
  memrefStoreOpBuild(&in, bits, buffer, rows.rank, index);
}

// Adds the low byte of `word` to a byte in memory.
static void addBits(TileBuilder *b, const Rows *rows, MlirValue packed, const MlirValue *at, MlirValue word) {
  MlirValue byte = arithTruncIOpBuild(b, mlirIntegerTypeGet(b->context, 8), word);
  MlirValue old = memrefLoadOpBuild(b, packed, rows->rank, at);
  memrefStoreOpBuild(b, arithOrIOpBuild(b, old, byte), packed, rows->rank, at);
}

void tileBuildPackBuffer(TileBuilder *b, MlirValue buffer, MlirValue packed) {
  Rows rows;
  MlirValue index[MaxFormRank];
  readRows(mlirValueGetType(buffer), &rows);
  TileBuilder clear = openLoops(b, &rows, rows.rowBytes, index);
  memrefStoreOpBuild(&clear, tileBuildInteger(&clear, mlirIntegerTypeGet(b->context, 8), 0), packed, rows.rank, index);
  TileBuilder in = openLoops(b, &rows, rows.columns, index);
  Place place = placeOf(&in, &rows, index);
  MlirValue bits = wide(&in, byteOfElement(&in, &rows, memrefLoadOpBuild(&in, buffer, rows.rank, index)));
  MlirValue word = arithShLIOpBuild(&in, bits, wide(&in, place.bit));
  addBits(&in, &rows, packed, place.low, word);
  MlirValue upper = arithShRUIOpBuild(&in, word, tileBuildInteger(&in, mlirIntegerTypeGet(b->context, 16), 8));
  // An element that ends in its first byte has no bits for the second.
  addBits(&in, &rows, packed, place.high, upper);
}
