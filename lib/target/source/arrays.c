// Memrefs in C: a pointer to elements, and a variable for each size, stride and offset that the type leaves open. An
// access is place[i * 20 + j]. See source.h.
#include "lib/target/source/source.h"

#include "lib/capi/op.h"
#include "lib/ir/support.h"
#include "upstream/builtin.h"
#include "upstream/func.h"
#include "upstream/llvm.h"
#include "upstream/memref.h"

#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"
#include "mlir-c/Dialect/LLVM.h"

#include <stdlib.h>
#include <string.h>

static const char *textOf(SourceWriter *w, MlirValue value) { return tileSourceTextOf(w, value)->text; }

//===--- arithmetic on texts ------------------------------------------------------------------------------===//

static bool isNumber(const char *text) {
  char *end;
  strtoll(text, &end, 10);
  return *text && !*end;
}

static const char *number(SourceWriter *w, int64_t value) {
  return tileArenaPrintf(&w->arena, "%lld", (long long)value);
}

static const char *inParentheses(SourceWriter *w, const char *text) {
  return strpbrk(text, " ") ? tileArenaPrintf(&w->arena, "(%s)", text) : text;
}

static const char *productOf(SourceWriter *w, const char *a, const char *b) {
  if (isNumber(a) && isNumber(b))
    return number(w, atoll(a) * atoll(b));
  if (strcmp(a, "0") == 0 || strcmp(b, "0") == 0)
    return "0";
  if (strcmp(a, "1") == 0 || strcmp(b, "1") == 0)
    return strcmp(a, "1") == 0 ? b : a;
  return tileArenaPrintf(&w->arena, "%s * %s", inParentheses(w, a), inParentheses(w, b));
}

static const char *sumOf(SourceWriter *w, const char *a, const char *b) {
  if (isNumber(a) && isNumber(b))
    return number(w, atoll(a) + atoll(b));
  if (strcmp(a, "0") == 0 || strcmp(b, "0") == 0)
    return strcmp(a, "0") == 0 ? b : a;
  return tileArenaPrintf(&w->arena, "%s + %s", a, b);
}

//===--- what is known of an array --------------------------------------------------------------------------===//

typedef struct Shape {
  int rank;
  int64_t sizes[TESSERA_MAX_RANK], strides[TESSERA_MAX_RANK], offset;
} Shape;

static bool shapeOf(MlirType type, Shape *shape, MlirOperation at, SourceWriter *w) {
  shape->rank = (int)mlirShapedTypeGetRank(type);
  shape->offset = 0;
  if (shape->rank > TESSERA_MAX_RANK || (shape->rank && mlirLogicalResultIsFailure(mlirMemRefTypeGetStridesAndOffset(
                                                            type, shape->strides, &shape->offset))))
    return tileError(at, "cannot be written in %s: an array of type %s", w->language->name,
                     tileTypeText(type, (char[256]){0}, 256));
  for (int i = 0; i < shape->rank; ++i)
    shape->sizes[i] = mlirShapedTypeGetDimSize(type, i);
  return true;
}

static bool isOpen(int64_t value) { return mlirShapedTypeIsDynamicSize(value); }

static void setPlace(SourceWriter *w, SourceArray *array) {
  array->place = strcmp(array->offset, "0") == 0 ? array->base
                                                 : tileArenaPrintf(&w->arena, "(%s + %s)", array->base, array->offset);
}

static void keep(SourceWriter *w, MlirValue value, const SourceArray *array) {
  SourceArray *kept = tileArenaAllocate(&w->arena, sizeof *kept);
  *kept = *array;
  tileTableSet(&w->arrays, value.ptr, kept);
  tileSourceSetText(w, value, kept->place, false, false);
}

const SourceArray *tileSourceArrayOf(SourceWriter *w, MlirValue memref, MlirOperation at) {
  const SourceArray *array = tileTableFind(&w->arrays, memref.ptr);
  if (!array)
    tileError(at, "cannot be written in %s: an array that comes from nothing known", w->language->name);
  return array;
}

// An array whose type leaves nothing open.
static bool closedArray(SourceWriter *w, MlirType type, const char *base, SourceArray *array, MlirOperation at) {
  Shape shape;
  if (!shapeOf(type, &shape, at, w))
    return false;
  *array = (SourceArray){.base = base, .offset = number(w, shape.offset), .rank = shape.rank};
  for (int i = 0; i < shape.rank; ++i) {
    array->sizes[i] = number(w, shape.sizes[i]);
    array->strides[i] = number(w, shape.strides[i]);
  }
  setPlace(w, array);
  return true;
}

const char *tileSourceNumElements(SourceWriter *w, const SourceArray *array) {
  const char *count = "1";
  for (int i = 0; i < array->rank; ++i)
    count = productOf(w, count, array->sizes[i]);
  return count;
}

//===--- values as variables --------------------------------------------------------------------------------===//

static void addPart(SourcePart *parts, int *count, const char *type, const char *text) {
  parts[(*count)++] = (SourcePart){type, text};
}

// Without a layout the strides follow from the sizes, and are no variables.
static bool isPlain(MlirType type) { return mlirAffineMapIsIdentity(mlirMemRefTypeGetAffineMap(type)); }

bool tileSourceParts(SourceWriter *w, MlirValue value, MlirOperation at, SourcePart *parts, int *count) {
  MlirType type = mlirValueGetType(value);
  const char *name = tileSourceTypeOf(w, value, at);
  *count = 0;
  if (!name)
    return false;
  if (!mlirTypeIsAMemRef(type)) {
    addPart(parts, count, name, textOf(w, value));
    return true;
  }
  const SourceArray *array = tileSourceArrayOf(w, value, at);
  Shape shape;
  if (!array || !shapeOf(type, &shape, at, w))
    return false;
  addPart(parts, count, name, array->base);
  if (isOpen(shape.offset))
    addPart(parts, count, "uint64_t", array->offset);
  for (int i = 0; i < shape.rank; ++i)
    if (isOpen(shape.sizes[i]))
      addPart(parts, count, "uint64_t", array->sizes[i]);
  for (int i = 0; i < shape.rank && !isPlain(type); ++i)
    if (isOpen(shape.strides[i]))
      addPart(parts, count, "uint64_t", array->strides[i]);
  return true;
}

bool tileSourceNewParts(SourceWriter *w, MlirValue value, MlirOperation at, SourcePart *parts, int *count) {
  MlirType type = mlirValueGetType(value);
  const char *name = tileSourceNewName(w, value), *product = "1";
  Shape shape;
  if (!mlirTypeIsAMemRef(type))
    return tileSourceParts(w, value, at, parts, count);
  if (!shapeOf(type, &shape, at, w))
    return false;
  SourceArray array = {.base = name, .rank = shape.rank};
  array.offset = isOpen(shape.offset) ? tileArenaPrintf(&w->arena, "%s_offset", name) : number(w, shape.offset);
  for (int i = shape.rank; i-- > 0; product = productOf(w, product, array.sizes[i])) {
    array.sizes[i] =
        isOpen(shape.sizes[i]) ? tileArenaPrintf(&w->arena, "%s_size%d", name, i) : number(w, shape.sizes[i]);
    array.strides[i] = !isOpen(shape.strides[i]) ? number(w, shape.strides[i])
                       : isPlain(type)           ? product
                                                 : tileArenaPrintf(&w->arena, "%s_stride%d", name, i);
  }
  setPlace(w, &array);
  keep(w, value, &array);
  return tileSourceParts(w, value, at, parts, count);
}

//===--- elements -------------------------------------------------------------------------------------------===//

static const char *elementAt(SourceWriter *w, const SourceArray *array, const char *const *indices) {
  const char *at = "0";
  for (int i = 0; i < array->rank; ++i)
    at = sumOf(w, at, productOf(w, indices[i], array->strides[i]));
  return tileArenaPrintf(&w->arena, "%s[%s]", array->place, at);
}

const char *tileSourceElement(SourceWriter *w, MlirOperation op, MlirValue memref, intptr_t first) {
  const SourceArray *array = tileSourceArrayOf(w, memref, op);
  const char *indices[TESSERA_MAX_RANK];
  for (int i = 0; array && i < array->rank; ++i)
    indices[i] = textOf(w, mlirOperationGetOperand(op, first + i));
  return array ? elementAt(w, array, indices) : NULL;
}

static bool writeLoad(SourceWriter *w, MlirOperation op) {
  const char *element = tileSourceElement(w, op, memrefLoadOpGetMemref(op), memrefLoadOpGetIndicesBegin(op));
  return element && tileSourceAssign(w, op, element);
}

static bool writeStore(SourceWriter *w, MlirOperation op) {
  const char *element = tileSourceElement(w, op, memrefStoreOpGetMemref(op), memrefStoreOpGetIndicesBegin(op));
  if (element)
    tileSourceLine(w, "%s = %s;", element, textOf(w, memrefStoreOpGetValue(op)));
  return element != NULL;
}

static bool writePrefetch(SourceWriter *w, MlirOperation op) {
  const char *element = tileSourceElement(w, op, memrefPrefetchOpGetMemref(op), memrefPrefetchOpGetIndicesBegin(op));
  MlirAttribute isWrite = tileOpAttribute(op, "isWrite"), hint = tileOpAttribute(op, "localityHint");
  if (element)
    tileSourceLine(w, "__builtin_prefetch(&%s, %d, %d);", element, mlirBoolAttrGetValue(isWrite),
                   (int)mlirIntegerAttrGetValueInt(hint));
  return element != NULL;
}

//===--- memory ---------------------------------------------------------------------------------------------===//

static const char *elementType(SourceWriter *w, MlirValue memref, MlirOperation at) {
  return tileSourceType(w, mlirShapedTypeGetElementType(mlirValueGetType(memref)), at);
}

// The array of a new memory whose open sizes are the operands of `op` from `first` on.
static bool newArray(SourceWriter *w, MlirOperation op, const char *base, intptr_t first, SourceArray *array) {
  Shape shape;
  MlirType type = tileFirstResultType(op);
  if (!shapeOf(type, &shape, op, w))
    return false;
  if (!mlirAffineMapIsIdentity(mlirMemRefTypeGetAffineMap(type)))
    return tileError(op, "cannot be written in %s: memory in another order than that of its rows", w->language->name);
  *array = (SourceArray){.base = base, .offset = "0", .rank = shape.rank};
  const char *product = "1";
  for (int i = 0; i < shape.rank; ++i)
    array->sizes[i] =
        isOpen(shape.sizes[i]) ? textOf(w, mlirOperationGetOperand(op, first++)) : number(w, shape.sizes[i]);
  for (int i = shape.rank; i-- > 0; product = productOf(w, product, array->sizes[i]))
    array->strides[i] = product;
  setPlace(w, array);
  return true;
}

static int64_t numElements(MlirType memref) {
  int64_t count = 1;
  for (intptr_t i = 0; i < mlirShapedTypeGetRank(memref); ++i)
    count *= mlirShapedTypeGetDimSize(memref, i);
  return count;
}

static bool isClosed(MlirType memref) {
  return mlirTypeIsAMemRef(memref) && mlirShapedTypeHasStaticShape(memref) &&
         mlirAffineMapIsIdentity(mlirMemRefTypeGetAffineMap(memref));
}

// Is the op the same elements in another shape?
static bool isReshape(MlirOperation op, MlirType memory) {
  static const TileUpstream casts[] = {MemrefOp_Cast, MemrefOp_ReinterpretCast, TileUpstream_None};
  if (!tileUpstreamIsOneOf(op, casts) || !isClosed(tileFirstResultType(op)))
    return false;
  return numElements(tileFirstResultType(op)) == numElements(memory);
}

// Counts how often the function returns the memory, and says as which result.
static int countReturns(MlirValue memory, int *number) {
  int count = 0;
  for (MlirOpOperand use = mlirValueGetFirstUse(memory); !mlirOpOperandIsNull(use);
       use = mlirOpOperandGetNextUse(use)) {
    MlirOperation user = mlirOpOperandGetOwner(use);
    if (tileUpstreamKind(user) == FuncOp_Return) {
      *number = (int)mlirOpOperandGetOperandNumber(use);
      ++count;
    } else if (isReshape(user, mlirValueGetType(memory))) {
      count += countReturns(tileFirstResult(user), number);
    }
  }
  return count;
}

// The result that is this memory, which its caller has: the memory comes from no other way, and is nothing else.
static int resultOf(SourceWriter *w, MlirOperation alloc) {
  MlirValue memory = tileOnlyResult(alloc);
  int number = -1;
  bool isResult = w->results && isClosed(mlirValueGetType(memory)) &&
                  funcFuncOpIsA(mlirOperationGetParentOperation(alloc)) && countReturns(memory, &number) == 1;
  return isResult ? number : -1;
}

// Is its size what a plan of the call says?
static bool isPlannedByCall(MlirOperation alloc) {
  MlirOperation plan = memrefAllocOpGetNumDynamicSizes(alloc) == 1
                           ? tileDefiningOp(memrefAllocOpGetDynamicSizes(alloc, 0))
                           : (MlirOperation){NULL};
  return !mlirOperationIsNull(plan) && tileSourceIsPlan(plan);
}

// Memory of a known size, or of one that a call plans, that a function of a project frees at its end. It is there once.
static bool isOfProgram(SourceWriter *w, MlirOperation alloc) {
  MlirValue memory = tileOnlyResult(alloc);
  if (!w->isUncalled || !funcFuncOpIsA(mlirOperationGetParentOperation(alloc)) ||
      (!mlirShapedTypeHasStaticShape(mlirValueGetType(memory)) && !isPlannedByCall(alloc)))
    return false;
  for (MlirOpOperand use = mlirValueGetFirstUse(memory); !mlirOpOperandIsNull(use);
       use = mlirOpOperandGetNextUse(use)) {
    MlirOperation user = mlirOpOperandGetOwner(use);
    if (memrefDeallocOpIsA(user) && mlirBlockEqual(mlirOperationGetBlock(user), mlirOperationGetBlock(alloc)))
      return true;
  }
  return false;
}

static bool writeAlloc(SourceWriter *w, MlirOperation op) {
  int result = resultOf(w, op);
  MlirValue value = tileOnlyResult(op);
  const char *base = result >= 0 ? w->results[result] : tileSourceNewName(w, value), *type = elementType(w, value, op);
  SourceArray array;
  if (!type || !newArray(w, op, base, 0, &array))
    return false;
  if (isOfProgram(w, op) && isPlannedByCall(op)) {
    tileSourceLine(w, "static kept_memory %s_kept;", base);
    tileSourceLine(w, "%s *%s = memory_of_program(&%s_kept, %s);", type, base, base, tileSourceNumElements(w, &array));
  } else if (isOfProgram(w, op))
    tileSourceLine(w, "static _Alignas(64) %s %s[%s];", type, base, tileSourceNumElements(w, &array));
  else if (result < 0)
    tileSourceLine(w, "%s *%s = allocate(%s);", type, base,
                   productOf(w, tileSourceNumElements(w, &array), tileArenaPrintf(&w->arena, "sizeof(%s)", type)));
  keep(w, value, &array);
  return true;
}

static bool writeAlloca(SourceWriter *w, MlirOperation op) {
  MlirValue value = tileOnlyResult(op);
  const char *base = tileSourceNewName(w, value), *type = elementType(w, value, op);
  SourceArray array;
  if (!type || !newArray(w, op, base, 0, &array))
    return false;
  if (!mlirShapedTypeHasStaticShape(mlirValueGetType(value)))
    return tileError(op, "cannot be written in %s: memory of a function whose size is open", w->language->name);
  MlirAttribute alignment = tileOpAttribute(op, "alignment");
  if (mlirAttributeIsNull(alignment))
    tileSourceLine(w, "%s %s[%s];", type, base, tileSourceNumElements(w, &array));
  else
    tileSourceLine(w, "_Alignas(%d) %s %s[%s];", (int)mlirIntegerAttrGetValueInt(alignment), type, base,
                   tileSourceNumElements(w, &array));
  keep(w, value, &array);
  return true;
}

static bool writeDealloc(SourceWriter *w, MlirOperation op) {
  MlirOperation alloc = tileDefiningOp(memrefDeallocOpGetMemref(op));
  if (!mlirOperationIsNull(alloc) && memrefAllocOpIsA(alloc) && isOfProgram(w, alloc))
    return true;
  const SourceArray *array = tileSourceArrayOf(w, memrefDeallocOpGetMemref(op), op);
  if (array)
    tileSourceLine(w, "free(%s);", array->base);
  return array != NULL;
}

//===--- constants ------------------------------------------------------------------------------------------===//

enum { MaxPrintedBytes = 1 << 24, NumbersOfLine = 12 };

// Writes the numbers of an array that the file holds.
static bool writeNumbers(SourceWriter *w, MlirOperation global, MlirAttribute values, MlirType element) {
  int64_t count = mlirElementsAttrGetNumElements(values);
  MlirAttribute splat = mlirAttributeIsADenseElements(values) && mlirDenseElementsAttrIsSplat(values)
                            ? mlirDenseElementsAttrGetSplatValue(values)
                            : (MlirAttribute){NULL};
  const char *same = mlirAttributeIsNull(splat) ? NULL : tileSourceLiteral(w, splat, element);
  intptr_t rank = mlirShapedTypeGetRank(mlirAttributeGetType(values));
  uint64_t index[TESSERA_MAX_RANK] = {0};
  for (int64_t i = 0; i < count; ++i) {
    int64_t rest = i;
    for (intptr_t k = rank; k-- > 0;) {
      int64_t size = mlirShapedTypeGetDimSize(mlirAttributeGetType(values), k);
      index[k] = (uint64_t)(rest % size);
      rest /= size;
    }
    const char *text = same ? same : tileSourceLiteral(w, mlirElementsAttrGetValue(values, rank, index), element);
    if (!text)
      return tileError(global, "cannot be written in %s: a constant of %s", w->language->name,
                       tileTypeText(element, (char[128]){0}, 128));
    fprintf(w->types, "%s%s", i == 0 ? "" : i % NumbersOfLine ? ", " : ",\n  ", text);
  }
  return true;
}

static bool declareGlobal(SourceWriter *w, MlirOperation global, const char *name) {
  MlirType type = mlirTypeAttrGetValue(memrefGlobalOpGetType(global));
  MlirAttribute values = memrefGlobalOpGetInitialValue(global);
  MlirType element = mlirShapedTypeGetElementType(type);
  const char *text = tileSourceType(w, element, global);
  MlirIdentifier unique = mlirIdentifierGet(mlirOperationGetContext(global), tileString(name));
  int64_t count = 1;
  for (intptr_t i = 0; i < mlirShapedTypeGetRank(type); ++i)
    count *= mlirShapedTypeGetDimSize(type, i);
  if (!text || tileTableFind(&w->symbols, unique.ptr))
    return text != NULL;
  tileTableSet(&w->symbols, unique.ptr, (void *)name);
  bool isConstant = !mlirAttributeIsNull(tileOpAttribute(global, "constant"));
  bool isKnown = !mlirAttributeIsNull(values) && mlirAttributeIsAElements(values);
  if (count * (int64_t)tileMemoryBits(element) / 8 > MaxPrintedBytes)
    return tileError(global, "cannot be written in %s: a constant of %lld elements", w->language->name,
                     (long long)count);
  fprintf(w->types, "static %s_Alignas(64) __attribute__((unused)) %s %s[%lld]%s", isConstant ? "const " : "", text,
          name, (long long)count, isKnown ? " = {\n  " : ";\n");
  bool ok = !isKnown || writeNumbers(w, global, values, element);
  if (isKnown)
    fprintf(w->types, "};\n");
  return ok;
}

// In a project large constants are one file: the text of their place in the file. Null: the constant is none of these.
static const char *placeOfWeights(SourceWriter *w, MlirOperation global, const char *name) {
  enum { LeastBytes = 1024, Alignment = 64 };
  static const char padding[Alignment] = {0};
  MlirAttribute values = memrefGlobalOpGetInitialValue(global);
  MlirType element = mlirShapedTypeGetElementType(memrefGlobalOpGetTypeValue(global));
  MlirIdentifier unique = mlirIdentifierGet(mlirOperationGetContext(global), tileString(name));
  size_t bytes = 0;
  bool isConstant = w->weights && memrefGlobalOpHasConstant(global) && !mlirAttributeIsNull(values) &&
                    mlirAttributeIsAElements(values) && tileMemoryBits(element) % 8 == 0;
  const char *known = tileTableFind(&w->symbols, unique.ptr);
  if (!isConstant || known)
    return isConstant ? known : NULL;
  const unsigned char *data = tileElementsBytes(values, &bytes);
  uint64_t expected = (uint64_t)mlirElementsAttrGetNumElements(values) * tileMemoryBits(element) / 8;
  if (!data || bytes != expected || bytes <= LeastBytes)
    return NULL;
  if (!w->numWeightBytes)
    fprintf(w->types, "extern const char program_weights[]; // the file weights.bin\n");
  uint64_t gap = (Alignment - w->numWeightBytes % Alignment) % Alignment;
  fwrite(padding, 1, gap, w->weights);
  fwrite(data, 1, bytes, w->weights);
  const char *place =
      tileArenaPrintf(&w->arena, "(program_weights + %llu)", (unsigned long long)(w->numWeightBytes + gap));
  w->numWeightBytes += gap + bytes;
  tileTableSet(&w->symbols, unique.ptr, (void *)place);
  return place;
}

static bool writeGetGlobal(SourceWriter *w, MlirOperation op) {
  MlirOperation global = mlirExtSymbolLookup(op, memrefGetGlobalOpGetName(op));
  MlirStringRef symbol = mlirFlatSymbolRefAttrGetValue(memrefGetGlobalOpGetName(op));
  char *name = (char *)tileArenaString(&w->arena, symbol.data, symbol.length);
  for (char *at = name; *at; ++at)
    if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_", *at))
      *at = '_';
  name = (char *)tileArenaPrintf(&w->arena, "constant_%s", name);
  const char *type = elementType(w, tileOnlyResult(op), op);
  SourceArray array;
  const char *place = type && !mlirOperationIsNull(global) ? placeOfWeights(w, global, name) : NULL;
  if (!type || mlirOperationIsNull(global) || (!place && !declareGlobal(w, global, name)) ||
      !closedArray(w, tileOnlyResultType(op), tileArenaPrintf(&w->arena, "((%s *)%s)", type, place ? place : name),
                   &array, op))
    return false;
  keep(w, tileOnlyResult(op), &array);
  return true;
}

//===--- other arrays in the same memory ----------------------------------------------------------------------===//

// The number at `i` of a list in which some are operands.
static const char *listed(SourceWriter *w, MlirOperation op, MlirAttribute list, intptr_t i, intptr_t *operand) {
  int64_t value = mlirDenseI64ArrayGetElement(list, i);
  return isOpen(value) ? textOf(w, mlirOperationGetOperand(op, (*operand)++)) : number(w, value);
}

static bool writeReinterpret(SourceWriter *w, MlirOperation op) {
  const SourceArray *source = tileSourceArrayOf(w, memrefReinterpretCastOpGetSource(op), op);
  MlirValue result = tileOnlyResult(op);
  intptr_t operand = 1, rank = mlirShapedTypeGetRank(mlirValueGetType(result));
  if (!source || rank > TESSERA_MAX_RANK)
    return source && tileError(op, "cannot be written in %s: an array of %d axes", w->language->name, (int)rank);
  SourceArray array = {.base = source->base, .rank = (int)rank};
  array.offset = listed(w, op, memrefReinterpretCastOpGetStaticOffsets(op), 0, &operand);
  for (intptr_t i = 0; i < rank; ++i)
    array.sizes[i] = listed(w, op, memrefReinterpretCastOpGetStaticSizes(op), i, &operand);
  for (intptr_t i = 0; i < rank; ++i)
    array.strides[i] = listed(w, op, memrefReinterpretCastOpGetStaticStrides(op), i, &operand);
  array.place = array.base;
  if (strcmp(array.offset, "0") != 0) {
    const char *type = elementType(w, result, op);
    array.place = tileSourceNewName(w, result);
    tileSourceDeclare(w, tileArenaPrintf(&w->arena, "%s *", type ? type : ""), array.place,
                      tileArenaPrintf(&w->arena, "%s + %s", array.base, array.offset));
  }
  keep(w, result, &array);
  return true;
}

static bool writeSame(SourceWriter *w, MlirOperation op) {
  const SourceArray *source = tileSourceArrayOf(w, tileOnlyOperand(op), op);
  if (source)
    keep(w, tileFirstResult(op), source);
  return source != NULL;
}

static bool writeMetadata(SourceWriter *w, MlirOperation op) {
  const SourceArray *source = tileSourceArrayOf(w, memrefExtractStridedMetadataOpGetSource(op), op);
  if (!source)
    return false;
  SourceArray base = {.base = source->base, .offset = "0", .place = source->base};
  keep(w, memrefExtractStridedMetadataOpGetBaseBuffer(op), &base);
  tileSourceSetText(w, memrefExtractStridedMetadataOpGetOffset(op), inParentheses(w, source->offset), false, false);
  for (int i = 0; i < source->rank; ++i) {
    tileSourceSetText(w, memrefExtractStridedMetadataOpGetSizes(op, i), inParentheses(w, source->sizes[i]), false,
                      false);
    tileSourceSetText(w, memrefExtractStridedMetadataOpGetStrides(op, i), inParentheses(w, source->strides[i]), false,
                      false);
  }
  return true;
}

static bool writeDim(SourceWriter *w, MlirOperation op) {
  const SourceArray *source = tileSourceArrayOf(w, memrefDimOpGetSource(op), op);
  int64_t axis;
  if (source && (!tileConstantIndex(memrefDimOpGetIndex(op), &axis) || axis < 0 || axis >= source->rank))
    return tileError(op, "cannot be written in %s: the size of an axis that is not known", w->language->name);
  if (source)
    tileSourceSetText(w, tileOnlyResult(op), inParentheses(w, source->sizes[axis]), false, false);
  return source != NULL;
}

static bool writeAddress(SourceWriter *w, MlirOperation op) {
  const SourceArray *source = tileSourceArrayOf(w, tileOnlyOperand(op), op);
  return source && tileSourceAssign(w, op, tileArenaPrintf(&w->arena, "(uint64_t)(uintptr_t)%s", source->base));
}

// Bytes as elements of another type.
static bool writeView(SourceWriter *w, MlirOperation op) {
  const SourceArray *source = tileSourceArrayOf(w, memrefViewOpGetSource(op), op);
  MlirValue result = tileOnlyResult(op);
  const char *type = elementType(w, result, op);
  SourceArray array;
  if (!source || !type)
    return false;
  const char *name = tileSourceNewName(w, result);
  if (!newArray(w, op, name, 2, &array))
    return false;
  tileSourceDeclare(w, tileArenaPrintf(&w->arena, "%s *", type), name,
                    tileArenaPrintf(&w->arena, "(%s *)(void *)(%s + %s)", type, source->place,
                                    textOf(w, memrefViewOpGetByteShift(op))));
  keep(w, result, &array);
  return true;
}

//===--- descriptors ----------------------------------------------------------------------------------------===//

// What stands at a position of a descriptor that was put together; null: nothing.
static MlirValue memberOf(MlirValue descriptor, intptr_t depth, int64_t first, int64_t second) {
  for (MlirOperation op = tileDefiningOp(descriptor); !mlirOperationIsNull(op) && llvmInsertValueOpIsA(op);
       op = tileDefiningOp(llvmInsertValueOpGetContainer(op))) {
    MlirAttribute position = tileOpAttribute(op, "position");
    if (mlirDenseArrayGetNumElements(position) == depth && mlirDenseI64ArrayGetElement(position, 0) == first &&
        (depth == 1 || mlirDenseI64ArrayGetElement(position, 1) == second))
      return llvmInsertValueOpGetValue(op);
  }
  return (MlirValue){NULL};
}

static bool writeCast(SourceWriter *w, MlirOperation op) {
  enum { Aligned = 1, Offset, Sizes, Strides };
  MlirValue from = tileOnlyOperand(op), result = tileFirstResult(op);
  MlirType type = mlirValueGetType(result);
  if (mlirTypeIsAMemRef(mlirValueGetType(from)) && mlirTypeIsAMemRef(type) &&
      strcmp(tileSourceType(w, mlirValueGetType(from), op), tileSourceType(w, type, op)) != 0) {
    const SourceArray *source = tileSourceArrayOf(w, from, op);
    SourceArray other = source ? *source : (SourceArray){0};
    const char *pointer = tileSourceType(w, type, op);
    other.base = tileArenaPrintf(&w->arena, "((%s)%s)", pointer, other.base);
    setPlace(w, &other);
    if (source)
      keep(w, result, &other);
    return source != NULL;
  }
  if (mlirTypeIsAMemRef(mlirValueGetType(from)))
    return writeSame(w, op);
  MlirValue pointer = memberOf(from, 1, Aligned, 0), offset = memberOf(from, 1, Offset, 0);
  const char *name = mlirTypeIsAMemRef(type) ? elementType(w, result, op) : NULL;
  if (!name || mlirValueIsNull(pointer))
    return tileError(op, "cannot be written in %s: a cast to %s", w->language->name,
                     tileTypeText(type, (char[256]){0}, 256));
  const char *base = tileSourceNewName(w, result);
  SourceArray array = {.base = base, .rank = (int)mlirShapedTypeGetRank(type)};
  array.offset = mlirValueIsNull(offset) ? "0" : textOf(w, offset);
  for (int i = 0; i < array.rank; ++i) {
    MlirValue size = memberOf(from, 2, Sizes, i), stride = memberOf(from, 2, Strides, i);
    if (mlirValueIsNull(size) || mlirValueIsNull(stride))
      return tileError(op, "cannot be written in %s: an array without sizes", w->language->name);
    array.sizes[i] = textOf(w, size);
    array.strides[i] = textOf(w, stride);
  }
  tileSourceDeclare(w, tileArenaPrintf(&w->arena, "%s *", name), base,
                    tileArenaPrintf(&w->arena, "(%s *)(void *)%s", name, textOf(w, pointer)));
  setPlace(w, &array);
  keep(w, result, &array);
  return true;
}

//===--- copies ---------------------------------------------------------------------------------------------===//

// Do the elements lie one behind the other?
static bool isDense(SourceWriter *w, const SourceArray *array) {
  const char *product = "1";
  for (int i = array->rank; i-- > 0; product = productOf(w, product, array->sizes[i]))
    if (strcmp(array->sizes[i], "1") != 0 && strcmp(array->strides[i], product) != 0)
      return false;
  return true;
}

bool tileSourceCopy(SourceWriter *w, MlirOperation at, MlirValue from, MlirValue to, const char *place_) {
  const SourceArray *source = tileSourceArrayOf(w, from, at);
  const SourceArray *given = mlirValueIsNull(to) ? NULL : tileSourceArrayOf(w, to, at);
  const char *type = elementType(w, from, at), *indices[TESSERA_MAX_RANK], *product = "1";
  if (!source || (!given && !mlirValueIsNull(to)) || !type)
    return false;
  SourceArray target = given ? *given : *source;
  if (!given) {
    target.place = place_;
    for (int i = target.rank; i-- > 0; product = productOf(w, product, target.sizes[i]))
      target.strides[i] = product;
  }
  if (isDense(w, source) && isDense(w, &target)) {
    tileSourceLine(w, "memmove(%s, %s, %s);", target.place, source->place,
                   productOf(w, tileSourceNumElements(w, source), tileArenaPrintf(&w->arena, "sizeof(%s)", type)));
    return true;
  }
  for (int i = 0; i < source->rank; ++i) {
    const char *index = indices[i] = tileArenaPrintf(&w->arena, "i%d", w->numValues++);
    tileSourceLine(w, "for (uint64_t %s = 0; %s < %s; ++%s)", index, index, source->sizes[i], index);
    ++w->indent;
  }
  tileSourceLine(w, "%s = %s;", elementAt(w, &target, indices), elementAt(w, source, indices));
  w->indent -= source->rank;
  return true;
}

static bool writeCopy(SourceWriter *w, MlirOperation op) {
  return tileSourceCopy(w, op, memrefCopyOpGetSource(op), memrefCopyOpGetTarget(op), NULL);
}

//===--- the table ------------------------------------------------------------------------------------------===//

SourceWrite tileSourceOfArray(MlirOperation op) {
  static const struct {
    TileUpstream kind;
    SourceWrite write;
  } rows[] = {
      {MemrefOp_Load, writeLoad},
      {MemrefOp_Store, writeStore},
      {MemrefOp_Prefetch, writePrefetch},
      {MemrefOp_Alloc, writeAlloc},
      {MemrefOp_Alloca, writeAlloca},
      {MemrefOp_Dealloc, writeDealloc},
      {MemrefOp_GetGlobal, writeGetGlobal},
      {MemrefOp_ReinterpretCast, writeReinterpret},
      {MemrefOp_Cast, writeSame},
      {MemrefOp_AssumeAlignment, writeSame},
      {MemrefOp_ExtractStridedMetadata, writeMetadata},
      {MemrefOp_Dim, writeDim},
      {MemrefOp_ExtractAlignedPointerAsIndex, writeAddress},
      {MemrefOp_View, writeView},
      {MemrefOp_Copy, writeCopy},
      {BuiltinOp_UnrealizedConversionCast, writeCast},
  };
  TileUpstream kind = tileUpstreamKind(op);
  for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i)
    if (rows[i].kind == kind)
      return rows[i].write;
  return NULL;
}
