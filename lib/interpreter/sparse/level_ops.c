// The ops of upstream's dialect sparse_tensor by definition, and those of tensor and bufferization on its tensors.
// linalg's are in level_body.c. A stored tensor is a value: each op makes a new list of entries (levels.h).
#include "lib/interpreter/sparse/levels.h"

#include "lib/interpreter/upstream/affine.h"
#include "lib/interpreter/upstream/scalars.h"
#include "lib/interpreter/upstream/upstream.h"
#include "lib/ir/op_query.h"
#include "mlir-c/Dialect/SparseTensor.h"
#include "upstream/arith.h"
#include "upstream/bufferization.h"
#include "upstream/sparse_tensor.h"
#include "upstream/tensor.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

//===--- results ----------------------------------------------------------------------------===//

// Takes `entries` over, null after an error.
static bool give(Machine *machine, Frame *frame, const Instruction *instruction, MlirType type, Entries *entries) {
  if (entries)
    entries = interpretLevelsStore(machine, instruction, type, entries, NULL);
  if (entries)
    setResult(frame, instruction, 0, valueOfObject(&entries->object));
  return entries != NULL;
}

static bool pass(Machine *machine, Frame *frame, const Instruction *instruction) {
  setResult(frame, instruction, 0, valueRetain(operandOf(frame, instruction, 0)));
  return true;
}

static bool append(Machine *machine, const Instruction *instruction, Entries *entries, Entry entry) {
  return interpretEntriesAppend(entries, entry) || interpretOutOfMemory(machine, instruction->op);
}

// A constant that lists its elements stores the zeros among them too. Takes `entries` over; null after an error.
static Entries *addListedZeros(Machine *machine, const Instruction *instruction, MlirAttribute constant,
                               const Array *dense, Entries *entries) {
  MlirAttribute places = mlirSparseElementsAttrGetIndices(constant);
  int64_t count = mlirShapedTypeGetDimSize(mlirAttributeGetType(mlirSparseElementsAttrGetValues(constant)), 0);
  bool isSplat = mlirDenseElementsAttrIsSplat(places), ok = true;
  int64_t known = entries->count;
  for (int64_t i = 0; ok && i < count; ++i) {
    Entry entry = {{0}};
    for (int axis = 0; axis < entries->rank; ++axis)
      entry.at[axis] = isSplat ? mlirDenseElementsAttrGetInt64SplatValue(places)
                               : mlirDenseElementsAttrGetInt64Value(places, i * entries->rank + axis);
    entry.value = dense->storage->elements[interpretPlaceOf(dense, entry.at)];
    Entries before = *entries;
    before.count = known;
    ok = interpretEntriesFind(&before, entry.at) || append(machine, instruction, entries, entry);
  }
  Instruction reads = *instruction; // its elements are the constant's
  if (ok && interpretFormatOf(interpretElementTypeOf(mlirAttributeGetType(constant)), &reads.in))
    return interpretEntriesMerge(machine, &reads, entries, true);
  valueRelease(valueOfObject(&entries->object));
  return NULL;
}

static Entries *participants(Machine *machine, const Frame *frame, const Instruction *instruction, int operand,
                             bool skipsZeros) {
  MlirAttribute constant = tileListedConstant(mlirOperationGetOperand(instruction->op, operand));
  InterpretValue value = operandOf(frame, instruction, operand);
  Entries *entries =
      interpretLevelsEntriesOf(machine, instruction, value, tileOperandType(instruction->op, operand), skipsZeros);
  return skipsZeros && entries && !mlirAttributeIsNull(constant)
             ? addListedZeros(machine, instruction, constant, arrayOf(value), entries)
             : entries;
}

static Array *denseOf(Machine *machine, const Instruction *instruction, const Entries *entries) {
  Array *array = interpretNewArray(machine, instruction, entries->rank, entries->sizes);
  for (int64_t i = 0; array && i < interpretArrayCount(array); ++i)
    arrayElements(array)[i] = elementOfInteger(0); // of floats the same: all bits are zero
  for (int64_t i = 0; array && i < entries->count; ++i)
    array->storage->elements[interpretPlaceOf(array, entries->items[i].at)] = entries->items[i].value;
  return array;
}

// A tensor of the entries, stored or dense; takes them over.
static bool giveAs(Machine *machine, Frame *frame, const Instruction *instruction, MlirType type, Entries *entries) {
  if (!entries || interpretLevelsIsEncoded(type))
    return give(machine, frame, instruction, type, entries);
  Array *array = denseOf(machine, instruction, entries);
  valueRelease(valueOfObject(&entries->object));
  if (array)
    setResult(frame, instruction, 0, valueOfObject(&array->object));
  return array != NULL;
}

//===--- whole tensors ------------------------------------------------------------------------===//

static ScalarFunction conversionOf(const Format *from, const Format *to) {
  if (from->isFloat)
    return to->isFloat ? interpretScalarConvertf : interpretScalarFptosi;
  if (to->isFloat)
    return from->width > 1 ? interpretScalarSitofp : interpretScalarUitofp;
  return to->width < from->width ? interpretScalarTrunci
         : from->width > 1       ? interpretScalarExtsi
                                 : interpretScalarExtui;
}

// Elements become those of the result's type: floats are rounded or cut, integers are signed, except i1.
static bool convert(Machine *machine, Frame *frame, const Instruction *instruction) {
  MlirType type = tileOnlyResultType(instruction->op), from = tileOnlyOperandType(instruction->op);
  Entries *entries = participants(machine, frame, instruction, 0, true);
  bool isSame = mlirTypeEqual(mlirShapedTypeGetElementType(from), mlirShapedTypeGetElementType(type));
  Instruction converts = *instruction;
  bool ok = isSame || (interpretFormatOf(interpretElementTypeOf(from), &converts.in) &&
                       interpretFormatOf(interpretElementTypeOf(type), &converts.out));
  for (int64_t i = 0; ok && !isSame && entries && i < entries->count; ++i) {
    Element x = entries->items[i].value;
    ok = conversionOf(&converts.in, &converts.out)(machine, &converts, &x, &entries->items[i].value);
  }
  if (entries && !ok)
    valueRelease(valueOfObject(&entries->object));
  return ok && giveAs(machine, frame, instruction, type, entries);
}

static bool empty(Machine *machine, Frame *frame, const Instruction *instruction) {
  MlirType type = tileOnlyResultType(instruction->op);
  int64_t sizes[EntriesMaxRank];
  int rank = (int)mlirShapedTypeGetRank(type), cursor = 0;
  if (bufferizationAllocTensorOpIsA(instruction->op)) {
    MlirValue copied = bufferizationAllocTensorOpGetCopy(instruction->op);
    if (!mlirValueIsNull(copied)) {
      intptr_t operand = bufferizationAllocTensorOpGetNumDynamicSizes(instruction->op);
      setResult(frame, instruction, 0, valueRetain(operandOf(frame, instruction, operand)));
      return true;
    }
  }
  for (int i = 0; i < rank && i < EntriesMaxRank; ++i) {
    sizes[i] = mlirShapedTypeGetDimSize(type, i);
    if (mlirShapedTypeIsDynamicDim(type, i) && !interpretIndexOperand(machine, frame, instruction, cursor++, &sizes[i]))
      return false;
  }
  Entries *entries = rank <= EntriesMaxRank ? interpretEntriesCreate(rank, sizes) : NULL;
  return entries ? give(machine, frame, instruction, type, entries) : interpretOutOfMemory(machine, instruction->op);
}

// A stored result has no zeros, whatever the operands store.
static bool concatenate(Machine *machine, Frame *frame, const Instruction *instruction) {
  int axis = (int)mlirIntegerAttrGetValueInt(tileOpAttribute(instruction->op, "dimension"));
  bool isStored = interpretLevelsIsEncoded(tileOnlyResultType(instruction->op)), ok = true;
  Entries *all = NULL;
  for (int o = 0; ok && o < instruction->numOperands; ++o) {
    Entries *part = participants(machine, frame, instruction, o, true);
    if (part && !all) {
      all = interpretEntriesCreate(part->rank, part->sizes);
      if (all)
        all->sizes[axis] = 0;
    }
    ok = part && all;
    for (int64_t i = 0; ok && i < part->count; ++i) {
      Entry entry = part->items[i];
      entry.at[axis] += all->sizes[axis];
      if (!isStored || !interpretElementIsZero(&instruction->in, entry.value))
        ok = append(machine, instruction, all, entry);
    }
    if (ok)
      all->sizes[axis] += part->sizes[axis];
    if (part)
      valueRelease(valueOfObject(&part->object));
  }
  return all && giveAs(machine, frame, instruction, tileOnlyResultType(instruction->op), all) && ok;
}

// The place of a tensor's element among all, and back.
static int64_t numberOf(const int64_t *sizes, int rank, const int64_t *at) {
  int64_t number = 0;
  for (int i = 0; i < rank; ++i)
    number = number * sizes[i] + at[i];
  return number;
}
static void placeOf(const int64_t *sizes, int rank, int64_t number, int64_t *at) {
  for (int i = rank - 1; i >= 0; --i) {
    at[i] = number % sizes[i];
    number /= sizes[i];
  }
}

// expand_shape, collapse_shape and reshape: the same elements in row-major order, of other sizes.
static bool reshape(Machine *machine, Frame *frame, const Instruction *instruction) {
  MlirType type = tileOnlyResultType(instruction->op);
  int rank = (int)mlirShapedTypeGetRank(type), cursor = 1;
  int64_t sizes[InterpreterMaxRank];
  Entries *from = participants(machine, frame, instruction, 0, true);
  if (!from)
    return false;
  bool ok = true;
  if (tensorExpandShapeOpIsA(instruction->op)) {
    ok = interpretReadMixed(machine, frame, instruction, "static_output_shape", &cursor, rank, sizes);
  } else if (tensorReshapeOpIsA(instruction->op)) {
    const Array *shape = arrayOperand(frame, instruction, 1);
    for (int64_t i = 0; ok && i < rank; ++i)
      ok = interpretReadInteger(machine, instruction, shape->storage->elements[interpretPlaceOf(shape, &i)], &sizes[i]);
  } else {
    MlirAttribute groups = tileOpAttribute(instruction->op, "reassociation");
    for (int g = 0, axis = 0; g < rank; ++g) {
      intptr_t members = mlirArrayAttrGetNumElements(mlirArrayAttrGetElement(groups, g));
      sizes[g] = 1;
      for (intptr_t m = 0; m < members; ++m)
        sizes[g] *= from->sizes[axis++];
    }
  }
  if (ok && (rank > EntriesMaxRank || interpretCountOf(rank, sizes) != interpretCountOf(from->rank, from->sizes)))
    ok = interpretFail(machine, instruction->op, "gives another number of elements");
  Entries *to = ok ? interpretEntriesCreate(rank, sizes) : NULL;
  for (int64_t i = 0; to && ok && i < from->count; ++i) {
    Entry entry = {.value = from->items[i].value};
    placeOf(sizes, rank, numberOf(from->sizes, from->rank, from->items[i].at), entry.at);
    ok = append(machine, instruction, to, entry);
  }
  valueRelease(valueOfObject(&from->object));
  return to && giveAs(machine, frame, instruction, type, to) && ok;
}

static bool extractSlice(Machine *machine, Frame *frame, const Instruction *instruction) {
  static const char *const names[] = {"static_offsets", "static_sizes", "static_strides"};
  MlirType type = tileOnlyResultType(instruction->op);
  int64_t numbers[3][InterpreterMaxRank];
  int cursor = 1;
  Entries *from = participants(machine, frame, instruction, 0, false);
  bool ok = from != NULL;
  for (int i = 0; ok && i < 3; ++i)
    ok = interpretReadMixed(machine, frame, instruction, names[i], &cursor, from->rank, numbers[i]);
  if (ok && mlirShapedTypeGetRank(type) != from->rank)
    ok = interpretUnknown(machine, instruction->op, "not interpreted yet: a slice of lower rank");
  for (int d = 0; ok && d < from->rank; ++d) {
    int64_t last = numbers[0][d] + (numbers[1][d] - 1) * numbers[2][d];
    if (numbers[0][d] < 0 || numbers[1][d] < 0 || numbers[2][d] < 1 || (numbers[1][d] && last >= from->sizes[d]))
      ok = interpretFail(machine, instruction->op, "slices dimension %d out of its bounds", d);
  }
  Entries *to = ok ? interpretEntriesCreate(from->rank, numbers[1]) : NULL;
  for (int64_t i = 0; to && ok && i < from->count; ++i) {
    Entry entry = from->items[i];
    bool isInside = true;
    for (int d = 0; d < from->rank; ++d) {
      int64_t along = entry.at[d] - numbers[0][d];
      isInside &= along >= 0 && along % numbers[2][d] == 0 && along / numbers[2][d] < numbers[1][d];
      entry.at[d] = along / numbers[2][d];
    }
    ok = !isInside || append(machine, instruction, to, entry);
  }
  if (from)
    valueRelease(valueOfObject(&from->object));
  return to && giveAs(machine, frame, instruction, type, to) && ok;
}

// A tensor of other dimensions has the same levels.
static bool reinterpretMap(Machine *machine, Frame *frame, const Instruction *instruction) {
  MlirType type = tileOnlyResultType(instruction->op);
  Levels from, to;
  int64_t coordinates[LevelsMax], sizes[EntriesMaxRank];
  const Entries *entries = entriesOperand(frame, instruction, 0);
  if (!interpretLevelsOf(tileFirstOperandType(instruction->op), &from) || !interpretLevelsOf(type, &to))
    return interpretUnknown(machine, instruction->op, "not interpreted yet: a sparse tensor with such levels");
  interpretLevelSizes(&from, entries->sizes, coordinates);
  for (int l = 0; l < from.count; ++l)
    --coordinates[l];
  interpretLevelDimensions(&to, coordinates, sizes); // of the last element
  for (int d = 0; d < to.rank; ++d)
    ++sizes[d];
  Entries *result = interpretEntriesCreate(to.rank, sizes);
  bool ok = result || interpretOutOfMemory(machine, instruction->op);
  for (int64_t i = 0; ok && i < entries->count; ++i) {
    Entry entry = {.value = entries->items[i].value};
    interpretLevelCoordinates(&from, entries->items[i].at, coordinates);
    interpretLevelDimensions(&to, coordinates, entry.at);
    ok = append(machine, instruction, result, entry);
  }
  return result && give(machine, frame, instruction, type, result) && ok;
}

// A question about upstream's way of compiling.
static bool hasNoRuntimeLibrary(Machine *machine, Frame *frame, const Instruction *instruction) {
  setResult(frame, instruction, 0, valueOfInteger(0));
  return true;
}

static bool castTensor(Machine *machine, Frame *frame, const Instruction *instruction) {
  MlirType type = tileOnlyResultType(instruction->op);
  const Entries *entries = entriesOperand(frame, instruction, 0);
  for (int i = 0; i < entries->rank; ++i)
    if (!mlirShapedTypeIsDynamicDim(type, i) && mlirShapedTypeGetDimSize(type, i) != entries->sizes[i])
      return interpretFail(machine, instruction->op, "casts size %lld of dimension %d to %lld",
                           (long long)entries->sizes[i], i, (long long)mlirShapedTypeGetDimSize(type, i));
  return pass(machine, frame, instruction);
}

//===--- single elements ----------------------------------------------------------------------===//

static bool readPlace(Machine *machine, const Frame *frame, const Instruction *instruction, const Entries *entries,
                      int cursor, int64_t *at) {
  for (int i = 0; i < entries->rank; ++i) {
    if (!interpretIndexOperand(machine, frame, instruction, cursor + i, &at[i]))
      return false;
    if (at[i] < 0 || at[i] >= entries->sizes[i])
      return interpretFail(machine, instruction->op,
                           "is out of bounds: index %lld of dimension %d, which has size %lld", (long long)at[i], i,
                           (long long)entries->sizes[i]);
  }
  return true;
}

static bool extract(Machine *machine, Frame *frame, const Instruction *instruction) {
  int64_t at[EntriesMaxRank];
  Entries *entries = participants(machine, frame, instruction, 0, false);
  bool ok = entries && readPlace(machine, frame, instruction, entries, 1, at);
  const Entry *entry = ok ? interpretEntriesFind(entries, at) : NULL;
  if (ok)
    setResult(frame, instruction, 0, valueOfElement(entry ? entry->value : elementOfInteger(0)));
  if (entries)
    valueRelease(valueOfObject(&entries->object));
  return ok;
}

// Puts a value at a place; what was stored there is replaced. `entries`: row-major.
static bool put(Machine *machine, const Instruction *instruction, Entries *entries, const int64_t *at, Element value) {
  Entry entry = {.value = value}, *there = interpretEntriesFind(entries, at);
  memcpy(entry.at, at, (size_t)entries->rank * sizeof *at);
  if (!interpretElementExpect(machine, instruction, value, "inserts"))
    return false;
  if (!there)
    return append(machine, instruction, entries, entry);
  there->value = value;
  return true;
}

static bool insert(Machine *machine, Frame *frame, const Instruction *instruction) {
  int64_t at[EntriesMaxRank];
  Entries *entries = participants(machine, frame, instruction, 1, false);
  if (!entries)
    return false;
  bool ok = readPlace(machine, frame, instruction, entries, 2, at) &&
            put(machine, instruction, entries, at, operandOf(frame, instruction, 0).scalar);
  return give(machine, frame, instruction, tileOnlyResultType(instruction->op), entries) && ok;
}

//===--- rows under construction ----------------------------------------------------------------===//

static bool giveVector(Machine *machine, Frame *frame, const Instruction *instruction, int result, int64_t size,
                       const Element *fill) {
  Array *array = interpretNewArray(machine, instruction, 1, &size);
  for (int64_t i = 0; array && fill && i < size; ++i)
    arrayElements(array)[i] = *fill;
  if (array)
    setResult(frame, instruction, result, valueOfObject(&array->object));
  return array != NULL;
}

// A row of the last level, spread out: its values, which of them are there, and the list of those that are.
static bool expand(Machine *machine, Frame *frame, const Instruction *instruction) {
  Levels levels;
  int64_t sizes[LevelsMax];
  const Element zero = elementOfInteger(0);
  if (!interpretLevelsOf(tileFirstOperandType(instruction->op), &levels))
    return interpretUnknown(machine, instruction->op, "not interpreted yet: a sparse tensor with such levels");
  interpretLevelSizes(&levels, entriesOperand(frame, instruction, 0)->sizes, sizes);
  for (int r = 0; r < 3; ++r)
    if (!giveVector(machine, frame, instruction, r, sizes[levels.count - 1], r < 2 ? &zero : NULL))
      return false;
  setResult(frame, instruction, 3, valueOfInteger(0));
  return true;
}

// Stores the spread row and clears it.
static bool compress(Machine *machine, Frame *frame, const Instruction *instruction) {
  Array *values = arrayOperand(frame, instruction, 0), *filled = arrayOperand(frame, instruction, 1);
  const Array *added = arrayOperand(frame, instruction, 2);
  Levels levels;
  int64_t count, coordinates[LevelsMax], at[EntriesMaxRank];
  if (!interpretLevelsOf(tileOnlyResultType(instruction->op), &levels))
    return interpretUnknown(machine, instruction->op, "not interpreted yet: a sparse tensor with such levels");
  Entries *entries = participants(machine, frame, instruction, 4, false);
  bool ok = entries && interpretIndexOperand(machine, frame, instruction, 3, &count);
  for (int l = 0; ok && l + 1 < levels.count; ++l)
    ok = interpretIndexOperand(machine, frame, instruction, 5 + l, &coordinates[l]);
  if (ok && (count < 0 || count > added->sizes[0]))
    ok = interpretFail(machine, instruction->op, "adds %lld entries; the list has size %lld", (long long)count,
                       (long long)added->sizes[0]);
  for (int64_t i = 0; ok && i < count; ++i) {
    int64_t place;
    ok = interpretReadInteger(machine, instruction, added->storage->elements[added->offset + i * added->strides[0]],
                              &place);
    if (ok && (place < 0 || place >= values->sizes[0]))
      ok = interpretFail(machine, instruction->op, "adds coordinate %lld of a level of size %lld", (long long)place,
                         (long long)values->sizes[0]);
    if (!ok)
      break;
    Element *value = &values->storage->elements[values->offset + place * values->strides[0]];
    coordinates[levels.count - 1] = place;
    interpretLevelDimensions(&levels, coordinates, at);
    Entry entry = {.value = *value};
    memcpy(entry.at, at, (size_t)entries->rank * sizeof *at);
    ok = interpretElementExpect(machine, instruction, *value, "stores") && append(machine, instruction, entries, entry);
    *value = elementOfInteger(0);
    filled->storage->elements[filled->offset + place * filled->strides[0]] = elementOfInteger(0);
  }
  return entries && give(machine, frame, instruction, tileOnlyResultType(instruction->op), entries) && ok;
}

//===--- foreach --------------------------------------------------------------------------------===//

typedef struct Ordered {
  int64_t key[EntriesMaxRank];
  Entry entry;
} Ordered;

static int compareOrdered(const void *a, const void *b) {
  const Ordered *left = a, *right = b;
  for (int i = 0; i < EntriesMaxRank; ++i)
    if (left->key[i] != right->key[i])
      return left->key[i] < right->key[i] ? -1 : 1;
  return 0;
}

// In the order of the levels, or of the map that the op names.
static Ordered *inOrder(const Frame *frame, const Instruction *instruction, const Entries *entries) {
  MlirAttribute order = tileOpAttribute(instruction->op, "order");
  Levels levels;
  bool isStored = interpretLevelsOf(tileFirstOperandType(instruction->op), &levels);
  Ordered *ordered = calloc((size_t)entries->count + 1, sizeof *ordered);
  for (int64_t i = 0; ordered && i < entries->count; ++i) {
    ordered[i].entry = entries->items[i];
    if (!mlirAttributeIsNull(order)) {
      MlirAffineMap map = mlirAffineMapAttrGetValue(order);
      for (int k = 0; k < entries->rank; ++k)
        interpretAffineValue(mlirAffineMapGetResult(map, k), entries->items[i].at, NULL, &ordered[i].key[k]);
    } else if (isStored)
      interpretLevelCoordinates(&levels, entries->items[i].at, ordered[i].key);
    else
      memcpy(ordered[i].key, entries->items[i].at, sizeof ordered[i].key);
  }
  if (ordered)
    qsort(ordered, (size_t)entries->count, sizeof *ordered, compareOrdered);
  return ordered;
}

static bool foreach (Machine *machine, Frame * frame, const Instruction *instruction) {
  const InterpretBlock *block = instruction->regions[0].blocks;
  bool isListed = !mlirAttributeIsNull(tileListedConstant(tileFirstOperand(instruction->op)));
  Entries *entries = participants(machine, frame, instruction, 0, isListed); // of a list, what it lists
  if (!entries)
    return false;
  Ordered *ordered = inOrder(frame, instruction, entries);
  bool ok = ordered || interpretOutOfMemory(machine, instruction->op);
  int rank = entries->rank;
  for (int r = 0; ok && r < instruction->numResults; ++r)
    frameSet(frame, block->arguments[rank + 1 + r], valueRetain(operandOf(frame, instruction, 1 + r)));
  for (int64_t i = 0; ok && i < entries->count; ++i) {
    for (int k = 0; k < rank; ++k)
      frameSet(frame, block->arguments[k], valueOfInteger(ordered[i].entry.at[k]));
    frameSet(frame, block->arguments[rank], valueOfElement(ordered[i].entry.value));
    ok = interpretRegionRun(machine, frame, &instruction->regions[0], 0, NULL);
    if (ok && instruction->numResults)
      interpretTakeYielded(frame, instruction->numResults, block->arguments + rank + 1, 0);
  }
  for (int r = 0; ok && r < instruction->numResults; ++r)
    setResult(frame, instruction, r, valueRetain(frame->slots[block->arguments[rank + 1 + r]]));
  free(ordered);
  valueRelease(valueOfObject(&entries->object));
  return ok;
}

//===--- arrays ---------------------------------------------------------------------------------===//

// The arrays of a stored tensor, made anew.
static bool arraysOf(Machine *machine, const Instruction *instruction, MlirType type, const Entries *from,
                     Levels *levels, LevelArrays *arrays) {
  Entries *copy = interpretEntriesCreate(from->rank, from->sizes);
  bool ok = copy && interpretLevelsOf(type, levels);
  for (int64_t i = 0; ok && i < from->count; ++i)
    ok = interpretEntriesAppend(copy, from->items[i]);
  if (!ok) {
    if (copy)
      valueRelease(valueOfObject(&copy->object));
    return interpretOutOfMemory(machine, instruction->op);
  }
  copy = interpretLevelsStore(machine, instruction, type, copy, arrays);
  if (copy)
    valueRelease(valueOfObject(&copy->object));
  return copy != NULL;
}

// Numbers that one array holds: those of a level, or entry by entry of all levels from one on.
static int64_t countOf(const Levels *levels, const LevelArrays *arrays, int level) {
  return level == levels->together ? arrays->coordinates[level].count * (levels->count - level)
                                   : arrays->coordinates[level].count;
}
static int64_t coordinateAt(const Levels *levels, const LevelArrays *arrays, int level, int64_t i) {
  int64_t columns = levels->count - level;
  return level == levels->together ? arrays->coordinates[level + i % columns].items[i / columns]
                                   : arrays->coordinates[level].items[i];
}

static Array *numbers(Machine *machine, const Instruction *instruction, const Levels *levels, const LevelArrays *arrays,
                      int level, bool arePositions) {
  int64_t count = arePositions ? arrays->positions[level].count : countOf(levels, arrays, level);
  Array *array = interpretNewArray(machine, instruction, 1, &count);
  for (int64_t i = 0; array && i < count; ++i)
    arrayElements(array)[i] =
        elementOfInteger(arePositions ? arrays->positions[level].items[i] : coordinateAt(levels, arrays, level, i));
  return array;
}

static Array *valuesOf(Machine *machine, const Instruction *instruction, const Entries *entries) {
  Array *array = interpretNewArray(machine, instruction, 1, &entries->count);
  for (int64_t i = 0; array && i < entries->count; ++i)
    arrayElements(array)[i] = entries->items[i].value;
  return array;
}

static bool buffer(Machine *machine, Frame *frame, const Instruction *instruction) {
  const Entries *entries = entriesOperand(frame, instruction, 0);
  Levels levels;
  LevelArrays arrays = {{{0}}};
  Array *array = NULL;
  if (sparseTensorToValuesOpIsA(instruction->op)) {
    array = valuesOf(machine, instruction, entries);
  } else if (arraysOf(machine, instruction, tileFirstOperandType(instruction->op), entries, &levels, &arrays)) {
    MlirAttribute which = tileOpAttribute(instruction->op, "level");
    int level = mlirAttributeIsNull(which) ? levels.together : (int)mlirIntegerAttrGetValueInt(which);
    bool isColumn = sparseTensorToCoordinatesOpIsA(instruction->op) && level >= levels.together;
    if (isColumn) { // a column of the array of all
      Array *all = numbers(machine, instruction, &levels, &arrays, levels.together, false);
      const int64_t columns = levels.count - levels.together, size = arrays.coordinates[level].count;
      array = all ? interpretArrayAlias(all, level - levels.together, 1, &size, &columns) : NULL;
      if (all)
        valueRelease(valueOfObject(&all->object));
    } else
      array = numbers(machine, instruction, &levels, &arrays, level, sparseTensorToPositionsOpIsA(instruction->op));
  }
  interpretLevelArraysFree(&arrays);
  if (array)
    setResult(frame, instruction, 0, valueOfObject(&array->object));
  return array != NULL;
}

static bool numberOfEntries(Machine *machine, Frame *frame, const Instruction *instruction) {
  setResult(frame, instruction, 0, valueOfInteger(entriesOperand(frame, instruction, 0)->count));
  return true;
}

static bool levelSize(Machine *machine, Frame *frame, const Instruction *instruction) {
  Levels levels;
  int64_t level, sizes[LevelsMax];
  if (!interpretIndexOperand(machine, frame, instruction, 1, &level))
    return false;
  if (!interpretLevelsOf(tileFirstOperandType(instruction->op), &levels) || level < 0 || level >= levels.count)
    return interpretFail(machine, instruction->op, "asks for level %lld, which the tensor lacks", (long long)level);
  interpretLevelSizes(&levels, entriesOperand(frame, instruction, 0)->sizes, sizes);
  setResult(frame, instruction, 0, valueOfInteger(sizes[level]));
  return true;
}

//===--- assemble, disassemble --------------------------------------------------------------------===//

typedef struct Given {
  const Array *positions[LevelsMax], *coordinates[LevelsMax], *values;
} Given;

typedef struct Assembly {
  Machine *machine;
  const Instruction *instruction;
  const Levels *levels;
  int64_t sizes[LevelsMax];
  Given given;
  Entries *entries;
} Assembly;

static bool numberAt(const Assembly *assembly, const Array *array, int64_t i, int64_t column, int64_t *number) {
  int64_t index[] = {i, column};
  if (i < 0 || i >= array->sizes[0])
    return interpretFail(assembly->machine, assembly->instruction->op, "reads element %lld of a level of %lld",
                         (long long)i, (long long)array->sizes[0]);
  return interpretReadInteger(assembly->machine, assembly->instruction,
                              array->storage->elements[interpretPlaceOf(array, index)], number);
}

static bool coordinateGiven(const Assembly *assembly, int level, int64_t i, int64_t *coordinate) {
  const Array *array = assembly->given.coordinates[level];
  int64_t first = assembly->levels->together, columns = assembly->levels->count - first;
  bool isFlat = level >= first && array->rank == 1;
  if (!numberAt(assembly, array, isFlat ? i * columns + level - first : i, level - first, coordinate))
    return false;
  return (*coordinate >= 0 && *coordinate < assembly->sizes[level]) ||
         interpretFail(assembly->machine, assembly->instruction->op, "has coordinate %lld at level %d of size %lld",
                       (long long)*coordinate, level, (long long)assembly->sizes[level]);
}

static bool assembleNode(const Assembly *assembly, int level, int64_t position, int64_t *coordinates) {
  const Levels *levels = assembly->levels;
  Machine *machine = assembly->machine;
  const Instruction *instruction = assembly->instruction;
  if (level == levels->count) {
    const Array *values = assembly->given.values;
    Entry entry = {{0}};
    interpretLevelDimensions(levels, coordinates, entry.at);
    if (position >= values->sizes[0])
      return interpretFail(machine, instruction->op, "reads value %lld of %lld", (long long)position,
                           (long long)values->sizes[0]);
    entry.value = values->storage->elements[values->offset + position * values->strides[0]];
    return interpretElementExpect(machine, instruction, entry.value, "reads") &&
           append(machine, instruction, assembly->entries, entry);
  }
  const Array *positions = assembly->given.positions[level];
  int64_t begin = position, end = position + 1;
  bool isDense = !positions && !assembly->given.coordinates[level];
  MlirSparseTensorLevelType type = mlirSparseTensorEncodingAttrGetLvlType(levels->encoding, level);
  int64_t wide = type & MLIR_SPARSE_TENSOR_LEVEL_LOOSE_COMPRESSED ? 2 : 1;
  if (positions && !(numberAt(assembly, positions, wide * position, 0, &begin) &&
                     numberAt(assembly, positions, wide * position + 1, 0, &end)))
    return false;
  if (type & MLIR_SPARSE_TENSOR_LEVEL_N_OUT_OF_M) {
    int64_t n = mlirSparseTensorEncodingAttrGetStructuredN(type);
    begin = position * n;
    end = begin + n;
  }
  if (isDense) {
    begin = position * assembly->sizes[level];
    end = begin + assembly->sizes[level];
  }
  for (int64_t i = begin; i < end; ++i) {
    coordinates[level] = i - begin;
    if (!interpretStep(machine, instruction->op, 1) ||
        (!isDense && !coordinateGiven(assembly, level, i, &coordinates[level])) ||
        !assembleNode(assembly, level + 1, i, coordinates))
      return false;
  }
  return true;
}

static bool hasPositions(const Levels *levels, int level) {
  return mlirSparseTensorEncodingAttrGetLvlType(levels->encoding, level) &
         (MLIR_SPARSE_TENSOR_LEVEL_COMPRESSED | MLIR_SPARSE_TENSOR_LEVEL_LOOSE_COMPRESSED);
}
static bool hasCoordinates(const Levels *levels, int level) {
  return !(mlirSparseTensorEncodingAttrGetLvlType(levels->encoding, level) & MLIR_SPARSE_TENSOR_LEVEL_DENSE);
}

// By level positions and coordinates, values last. The entries stay in the order in which they are given.
static bool assemble(Machine *machine, Frame *frame, const Instruction *instruction) {
  Levels levels;
  MlirType type = tileOnlyResultType(instruction->op);
  int64_t sizes[EntriesMaxRank], coordinates[LevelsMax] = {0};
  if (!interpretLevelsOf(type, &levels) || !mlirShapedTypeHasStaticShape(type))
    return interpretUnknown(machine, instruction->op, "not interpreted yet: a sparse tensor of such levels or sizes");
  for (int i = 0; i < levels.rank; ++i)
    sizes[i] = mlirShapedTypeGetDimSize(type, i);
  Assembly assembly = {machine, instruction, &levels, .entries = interpretEntriesCreate(levels.rank, sizes)};
  if (!assembly.entries)
    return interpretOutOfMemory(machine, instruction->op);
  interpretLevelSizes(&levels, sizes, assembly.sizes);
  int next = 0;
  for (int l = 0; l < levels.count; ++l) {
    if (hasPositions(&levels, l))
      assembly.given.positions[l] = arrayOperand(frame, instruction, next++);
    if (hasCoordinates(&levels, l))
      assembly.given.coordinates[l] = arrayOperand(frame, instruction, l > levels.together ? next - 1 : next++);
  }
  assembly.given.values = arrayOperand(frame, instruction, next);
  if (assembleNode(&assembly, 0, 0, coordinates)) {
    setResult(frame, instruction, 0, valueOfObject(&assembly.entries->object));
    return true;
  }
  valueRelease(valueOfObject(&assembly.entries->object));
  return false;
}

// The caller's tensor with what is stored at its beginning, and how many elements of it that are. Takes `part` over.
static bool handOut(Machine *machine, Frame *frame, const Instruction *instruction, int number, Array *part) {
  int half = instruction->numResults / 2;
  Array *whole = part ? interpretArrayCopy(arrayOperand(frame, instruction, 1 + number)) : NULL;
  int64_t count = part ? interpretArrayCount(part) : 0;
  bool ok = whole || interpretOutOfMemory(machine, instruction->op);
  if (ok && count > interpretArrayCount(whole))
    ok = interpretFail(machine, instruction->op, "stores %lld numbers; the tensor given for them has %lld elements",
                       (long long)count, (long long)interpretArrayCount(whole));
  for (int64_t i = 0; ok && i < count; ++i)
    arrayElements(whole)[i] = arrayElements(part)[i];
  if (whole)
    setResult(frame, instruction, number, valueOfObject(&whole->object));
  if (part)
    valueRelease(valueOfObject(&part->object));
  setResult(frame, instruction, half + number, valueOfInteger(count));
  return ok;
}

static bool disassemble(Machine *machine, Frame *frame, const Instruction *instruction) {
  const Entries *entries = entriesOperand(frame, instruction, 0);
  Levels levels;
  LevelArrays arrays = {{{0}}};
  int next = 0;
  bool ok = arraysOf(machine, instruction, tileFirstOperandType(instruction->op), entries, &levels, &arrays);
  for (int l = 0; ok && l < levels.count; ++l) {
    if (hasPositions(&levels, l))
      ok = handOut(machine, frame, instruction, next++, numbers(machine, instruction, &levels, &arrays, l, true));
    if (ok && hasCoordinates(&levels, l) && l <= levels.together)
      ok = handOut(machine, frame, instruction, next++, numbers(machine, instruction, &levels, &arrays, l, false));
  }
  interpretLevelArraysFree(&arrays);
  return ok && handOut(machine, frame, instruction, next, valuesOf(machine, instruction, entries));
}

//===--- print ----------------------------------------------------------------------------------===//

static void printSizes(FILE *file, const char *name, int count, const int64_t *sizes) {
  fprintf(file, "%s = (", name);
  for (int i = 0; i < count; ++i)
    fprintf(file, "%s %" PRId64, i ? "," : "", sizes[i]);
  fputs(" )\n", file);
}

static bool printList(Machine *machine, const Instruction *instruction, MlirType type, Array *array) {
  FILE *file = machine->options->print;
  bool ok = array != NULL;
  fputs("( ", file);
  for (int64_t i = 0; ok && i < array->sizes[0]; ++i) {
    fputs(i ? ", " : "", file);
    ok = interpretPrintElement(machine, instruction, type, arrayElements(array)[i]);
  }
  fputs(" )\n", file);
  if (array)
    valueRelease(valueOfObject(&array->object));
  return ok;
}

static bool print(Machine *machine, Frame *frame, const Instruction *instruction) {
  const Entries *entries = entriesOperand(frame, instruction, 0);
  MlirType type = tileFirstOperandType(instruction->op), index = mlirIndexTypeGet(mlirTypeGetContext(type));
  FILE *file = machine->options->print;
  Levels levels;
  LevelArrays arrays = {{{0}}};
  int64_t sizes[LevelsMax];
  bool ok = arraysOf(machine, instruction, type, entries, &levels, &arrays);
  if (ok) {
    interpretLevelSizes(&levels, entries->sizes, sizes);
    fprintf(file, "---- Sparse Tensor ----\nnse = %" PRId64 "\n", entries->count);
    printSizes(file, "dim", entries->rank, entries->sizes);
    printSizes(file, "lvl", levels.count, sizes);
  }
  for (int l = 0; ok && l < levels.count; ++l) {
    if (arrays.positions[l].isThere) {
      fprintf(file, "pos[%d] : ", l);
      ok = printList(machine, instruction, index, numbers(machine, instruction, &levels, &arrays, l, true));
    }
    if (ok && arrays.coordinates[l].isThere && l <= levels.together) {
      fprintf(file, "crd[%d] : ", l);
      ok = printList(machine, instruction, index, numbers(machine, instruction, &levels, &arrays, l, false));
    }
  }
  interpretLevelArraysFree(&arrays);
  if (!ok)
    return false;
  fputs("values : ", file);
  ok = printList(machine, instruction, interpretElementTypeOf(type), valuesOf(machine, instruction, entries));
  fputs("----\n", file);
  fflush(file);
  return ok;
}

//===--- the table ------------------------------------------------------------------------------===//

static const struct Meaning {
  bool (*isA)(MlirOperation op);
  Execute execute;
} meanings[] = {
    {sparseTensorConvertOpIsA, convert},
    {sparseTensorNewOpIsA, interpretLevelsNew},
    {sparseTensorConcatenateOpIsA, concatenate},
    {sparseTensorForeachOpIsA, foreach},
    {sparseTensorLoadOpIsA, pass},
    {sparseTensorExpandOpIsA, expand},
    {sparseTensorCompressOpIsA, compress},
    {sparseTensorAssembleOpIsA, assemble},
    {sparseTensorDisassembleOpIsA, disassemble},
    {sparseTensorToPositionsOpIsA, buffer},
    {sparseTensorToCoordinatesOpIsA, buffer},
    {sparseTensorToCoordinatesBufferOpIsA, buffer},
    {sparseTensorToValuesOpIsA, buffer},
    {sparseTensorNumberOfEntriesOpIsA, numberOfEntries},
    {sparseTensorLvlOpIsA, levelSize},
    {sparseTensorPrintOpIsA, print},
    {sparseTensorYieldOpIsA, interpretYield},
    {tensorEmptyOpIsA, empty},
    {bufferizationAllocTensorOpIsA, empty},
    {bufferizationDeallocTensorOpIsA, interpretNothing},
    {tensorDimOpIsA, interpretDim},
    {sparseTensorReinterpretMapOpIsA, reinterpretMap},
    {sparseTensorHasRuntimeLibraryOpIsA, hasNoRuntimeLibrary},
    {tensorCastOpIsA, castTensor},
    {tensorExtractSliceOpIsA, extractSlice},
    {tensorReshapeOpIsA, reshape},
    {tensorExtractOpIsA, extract},
    {tensorInsertOpIsA, insert},
    {tensorExpandShapeOpIsA, reshape},
    {tensorCollapseShapeOpIsA, reshape},
};

Execute interpretLevelsExecute(MlirOperation op) {
  bool touches = tileOpIsOfDialect(op, "sparse_tensor");
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); ++i)
    touches |= interpretLevelsIsEncoded(tileOperandType(op, i));
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); ++i)
    touches |= interpretLevelsIsEncoded(tileResultType(op, i));
  for (size_t i = 0; touches && i < sizeof meanings / sizeof *meanings; ++i)
    if (meanings[i].isA(op))
      return meanings[i].execute;
  if (touches && tileOpIsElementwise(op) && mlirOperationGetNumOperands(op))
    return arithSelectOpIsA(op) && !mlirTypeIsAShaped(tileFirstOperandType(op)) ? NULL : interpretLevelsElementwise;
  return touches && tileOpIsStructured(op) ? interpretLevelsLinalg : NULL;
}
