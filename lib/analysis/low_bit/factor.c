// Follows a product's factor to the tensors that it is computed from. See factor.h.
#include "lib/analysis/low_bit/factor.h"

#include "lib/analysis/low_bit/packed_elements.h"
#include "upstream/linalg.h"
#include "upstream/tensor.h"

#include <string.h>

//===--- digits -------------------------------------------------------------------------------===//

static bool isOne(const TileDigit *digit) { return digit->dim < 0; }

static bool isKnown(int64_t size) { return !mlirShapedTypeIsDynamicSize(size); }

// The axes [first, first + count) of `tensor`, which one axis at `whole` is cut into. False where inner sizes are not
// known.
static bool splitDigit(MlirType tensor, int first, int count, TileDigit whole, TileDigit *parts) {
  int64_t inner = 1;
  for (int i = count - 1; i >= 0; --i) {
    int64_t size = mlirShapedTypeGetDimSize(tensor, first + i);
    parts[i] = (TileDigit){.dim = -1};
    if (size == 1)
      continue;
    bool isOutermost = true;
    for (int j = 0; j < i; ++j)
      isOutermost = isOutermost && mlirShapedTypeGetDimSize(tensor, first + j) == 1;
    if (!isOutermost && !isKnown(size))
      return false;
    if (whole.outer && whole.modulus % (isOutermost ? inner : inner * size)) // a part of both dimensions
      return false;
    if (!isOne(&whole))
      parts[i] = (TileDigit){.dim = whole.dim,
                             .outer = isOutermost ? whole.outer : 0,
                             .divisor = whole.divisor * inner,
                             .modulus = !isOutermost    ? size
                                        : whole.modulus ? whole.modulus / inner
                                                        : 0};
    inner *= isKnown(size) ? size : 1;
  }
  return true;
}

// One axis in place of the axes [first, first + count) of `tensor` at `parts`; false where they are not neighbouring
// digits of one dimension, or a whole dimension and digits of another one.
static bool joinDigits(MlirType tensor, int first, int count, const TileDigit *parts, TileDigit *whole) {
  int64_t inner = 1;
  *whole = (TileDigit){.dim = -1};
  for (int i = count - 1; i >= 0; --i) {
    int64_t size = mlirShapedTypeGetDimSize(tensor, first + i);
    if (isOne(&parts[i]))
      continue;
    if (whole->outer)
      return false;
    bool follows = parts[i].dim == whole->dim && whole->modulus && parts[i].divisor == whole->divisor * whole->modulus;
    bool isOuter = !parts[i].outer && parts[i].divisor == 1 && !parts[i].modulus && parts[i].dim != whole->dim;
    if (isOne(whole)) {
      *whole = parts[i];
    } else if (follows) {
      whole->modulus = parts[i].modulus ? parts[i].modulus * whole->modulus : 0;
      whole->outer = parts[i].outer;
    } else if (isOuter && isKnown(inner)) {
      whole->outer = parts[i].dim + 1;
      whole->modulus = inner;
    } else {
      return false;
    }
    inner = isKnown(size) && isKnown(inner) ? inner * size : mlirShapedTypeGetDynamicSize();
  }
  return true;
}

//===--- through reshapes ---------------------------------------------------------------------===//

static int groupSize(MlirAttribute reassociation, int group) {
  return (int)mlirArrayAttrGetNumElements(mlirArrayAttrGetElement(reassociation, group));
}

// The digits of what a collapse_shape or expand_shape reads, from those of its result.
static bool digitsOfSource(MlirOperation op, MlirValue source, const TileDigit *at, TileDigit *out) {
  bool isCollapse = tensorCollapseShapeOpIsA(op);
  MlirAttribute groups = tileOpAttribute(op, "reassociation");
  int count = (int)mlirArrayAttrGetNumElements(groups), first = 0;
  int rank = (int)mlirShapedTypeGetRank(mlirValueGetType(source));
  MlirType result = tileOnlyResultType(op);
  if (rank > MaxOperandRank)
    return false;
  // A result of rank 0 has no groups. All axes of its source have one element.
  for (int axis = 0; axis < rank; ++axis)
    out[axis] = (TileDigit){.dim = -1};
  for (int g = 0; g < count; ++g) {
    int size = groupSize(groups, g);
    if (isCollapse ? !splitDigit(mlirValueGetType(source), first, size, at[g], &out[first])
                   : !joinDigits(result, first, size, &at[first], &out[g]))
      return false;
    first += size;
  }
  return true;
}

//===--- through elementwise ops --------------------------------------------------------------===//

// A short body that does not ask for the place of its element.
static bool isPlainBody(MlirBlock body) {
  intptr_t count = mlirBlockGetNumArguments(body);
  for (MlirOperation op = mlirBlockGetFirstOperation(body); !mlirOperationIsNull(op);
       op = mlirOperationGetNextInBlock(op))
    if (linalgIndexOpIsA(op) || ++count > MaxFactorBody)
      return false;
  return true;
}

// An elementwise op of one result that is made of inputs alone.
static bool readElementwise(MlirOperation op, const TileTarget *target, TileStructured *s) {
  if (!linalgGenericOpIsA(op) || !tileStructuredRead(op, target, s) || s->numOutputs != 1 ||
      tileStructuredHasReduction(s) || tileStructuredHasTerms(s) || !isPlainBody(s->body))
    return false;
  return mlirOpOperandIsNull(mlirValueGetFirstUse(mlirBlockGetArgument(s->body, s->numInputs)));
}

// The digits of an operand from those of the op's dimensions; false where an axis is a sum of dimensions.
static bool digitsOfOperand(const TileStructured *s, const TileOperand *operand, const TileDigit *dims,
                            TileDigit *out) {
  for (int axis = 0; axis < operand->rank; ++axis) {
    out[axis] = (TileDigit){.dim = -1};
    if (operand->results[axis] >= 0) {
      out[axis] = dims[operand->results[axis]];
      continue;
    }
    if (operand->constants[axis])
      return false;
    for (int d = 0; d < s->numDims; ++d)
      if (operand->factors[axis][d])
        return false;
  }
  return true;
}

//===--- the walk -----------------------------------------------------------------------------===//

static int addNode(TileFactor *factor, MlirValue value, const TileDigit *at) {
  MlirType type = mlirValueGetType(value);
  int rank = mlirTypeIsARankedTensor(type) ? (int)mlirShapedTypeGetRank(type) : 0;
  for (int i = 0; i < factor->count; ++i)
    if (mlirValueEqual(factor->nodes[i].value, value) && !memcmp(factor->nodes[i].at, at, (size_t)rank * sizeof *at))
      return i;
  if (factor->count == MaxFactorNodes || rank > MaxOperandRank)
    return -1;
  TileFactorNode *node = &factor->nodes[factor->count];
  *node = (TileFactorNode){.value = value, .rank = rank};
  memcpy(node->at, at, (size_t)rank * sizeof *at);
  return factor->count++;
}

static int readGeneric(TileFactor *factor, MlirOperation op, MlirValue value, const TileDigit *at) {
  TileStructured s;
  TileDigit dims[MaxDims], inputs[MaxOperands][MaxOperandRank];
  if (!readElementwise(op, factor->target, &s))
    return addNode(factor, value, at);
  const TileOperand *out = &s.operands[s.numInputs];
  for (int axis = 0; axis < out->rank; ++axis)
    dims[out->results[axis]] = at[axis];
  for (int i = 0; i < s.numInputs; ++i)
    if (!digitsOfOperand(&s, &s.operands[i], dims, inputs[i]))
      return addNode(factor, value, at);
  int before = factor->count, node = addNode(factor, value, at);
  if (node < before)
    return node;
  factor->nodes[node].op = op;
  for (int i = 0; i < s.numInputs; ++i) {
    int input = tileFactorRead(factor, s.operands[i].value, inputs[i]);
    if (input < 0)
      return -1;
    factor->nodes[node].inputs[i] = input;
  }
  return node;
}

//===--- stacked tensors ----------------------------------------------------------------------===//

// Tensors that are written side by side along one axis, one element each: torch.stack.
typedef struct Stack {
  int axis, count;
  MlirValue parts[MaxOperands];
} Stack;

static int64_t entryOf(MlirAttribute list, int axis) { return mlirDenseI64ArrayGetElement(list, axis); }

// The axis along which a slice is one element of several, whole along all others; -1: another slice.
static int axisOfSlice(MlirOperation op, MlirType type) {
  MlirAttribute offsets = tileOpAttribute(op, "static_offsets"), sizes = tileOpAttribute(op, "static_sizes"),
                strides = tileOpAttribute(op, "static_strides");
  int found = -1;
  for (int axis = 0; axis < (int)mlirShapedTypeGetRank(type); ++axis) {
    int64_t whole = mlirShapedTypeGetDimSize(type, axis);
    if (!isKnown(whole) || entryOf(strides, axis) != 1)
      return -1;
    if (entryOf(offsets, axis) == 0 && entryOf(sizes, axis) == whole)
      continue;
    if (found >= 0 || !isKnown(entryOf(offsets, axis)) || entryOf(sizes, axis) != 1)
      return -1;
    found = axis;
  }
  return found;
}

static bool readStack(MlirValue value, Stack *stack) {
  MlirType type = mlirValueGetType(value);
  MlirOperation op = tileDefiningOp(value);
  *stack = (Stack){.axis = -1};
  int left = 0;
  for (; tensorInsertSliceOpIsA(op); op = tileDefiningOp(value)) {
    int axis = axisOfSlice(op, type);
    if (axis < 0 || (stack->axis >= 0 && axis != stack->axis) || !tileHasOneUse(value))
      return false;
    int64_t size = mlirShapedTypeGetDimSize(type, axis), at = entryOf(tileOpAttribute(op, "static_offsets"), axis);
    if (size > MaxOperands - 1 || at < 0 || at >= size || !mlirValueIsNull(stack->parts[at]))
      return false;
    left = stack->axis < 0 ? (int)size - 1 : left - 1;
    stack->axis = axis;
    stack->count = (int)size;
    stack->parts[at] = tensorInsertSliceOpGetSource(op);
    value = tensorInsertSliceOpGetDest(op);
    if (!left)
      return true;
  }
  return false;
}

static int readParts(TileFactor *factor, MlirValue value, const Stack *stack, const TileDigit *at) {
  int rank = (int)mlirShapedTypeGetRank(mlirValueGetType(value)), before = factor->count;
  int node = addNode(factor, value, at);
  if (node < before)
    return node;
  factor->nodes[node].op = tileDefiningOp(value);
  factor->nodes[node].numParts = stack->count;
  factor->nodes[node].part = at[stack->axis];
  for (int i = 0; i < stack->count; ++i) {
    TileDigit digits[MaxOperandRank];
    bool isReduced = mlirShapedTypeGetRank(mlirValueGetType(stack->parts[i])) < rank;
    int next = 0;
    for (int axis = 0; axis < rank; ++axis)
      if (axis != stack->axis)
        digits[next++] = at[axis];
      else if (!isReduced)
        digits[next++] = (TileDigit){.dim = -1};
    int input = tileFactorRead(factor, stack->parts[i], digits);
    if (input < 0)
      return -1;
    factor->nodes[node].inputs[i] = input;
  }
  return node;
}

int tileFactorRead(TileFactor *factor, MlirValue value, const TileDigit *at) {
  MlirOperation op = tileDefiningOp(value);
  TileDigit source[MaxOperandRank];
  bool isReshape = tensorCollapseShapeOpIsA(op) || tensorExpandShapeOpIsA(op);
  if (mlirOperationIsNull(op) || !mlirTypeIsARankedTensor(mlirValueGetType(value)) ||
      tileTensorElements(value) < factor->least)
    return addNode(factor, value, at);
  if (isReshape) {
    MlirValue from = tensorCollapseShapeOpIsA(op) ? tensorCollapseShapeOpGetSrc(op) : tensorExpandShapeOpGetSrc(op);
    return digitsOfSource(op, from, at, source) ? tileFactorRead(factor, from, source) : addNode(factor, value, at);
  }
  Stack stack;
  if (tensorInsertSliceOpIsA(op) && readStack(value, &stack) && at[stack.axis].dim >= 0)
    return readParts(factor, value, &stack, at);
  return tileHasOneUse(value) ? readGeneric(factor, op, value, at) : addNode(factor, value, at);
}

//===--- questions ----------------------------------------------------------------------------===//

int64_t tileTensorElements(MlirValue tensor) {
  MlirType type = mlirValueGetType(tensor);
  int64_t elements = 1;
  for (intptr_t i = 0; mlirTypeIsARankedTensor(type) && i < mlirShapedTypeGetRank(type); ++i)
    elements *= isKnown(mlirShapedTypeGetDimSize(type, i)) ? mlirShapedTypeGetDimSize(type, i) : 0;
  return elements;
}

int64_t tileTensorBytes(MlirValue tensor) {
  MlirType type = mlirValueGetType(tensor);
  if (!mlirValueIsNull(tilePackedBytesOf(tensor)))
    return tilePackedBytesCount(tensor);
  return mlirTypeIsARankedTensor(type) ? tileTensorElements(tensor) * tileMemoryBytes(type) : 0;
}

int64_t tileFactorReadBytes(const TileFactor *factor) {
  int64_t bytes = 0;
  for (int i = 0; i < factor->count; ++i)
    bytes += mlirOperationIsNull(factor->nodes[i].op) ? tileTensorBytes(factor->nodes[i].value) : 0;
  return bytes;
}

// Keeps the list sorted and without duplicates; false where it is full.
static bool insertCut(int64_t cut, int64_t *cuts, int *count, int capacity) {
  int place = 0;
  while (place < *count && cuts[place] < cut)
    ++place;
  if (place < *count && cuts[place] == cut)
    return true;
  if (*count == capacity)
    return false;
  memmove(&cuts[place + 1], &cuts[place], (size_t)(*count - place) * sizeof *cuts);
  cuts[place] = cut;
  ++*count;
  return true;
}

int tileFactorCuts(const TileFactor *factor, int dim, int64_t extent, int64_t *cuts, int capacity) {
  int count = 0;
  insertCut(1, cuts, &count, capacity);
  for (int i = 0; i < factor->count; ++i) {
    const TileFactorNode *node = &factor->nodes[i];
    bool isRead = mlirOperationIsNull(node->op);
    for (int axis = 0; axis < (isRead ? node->rank : node->numParts > 0); ++axis) {
      const TileDigit *digit = isRead ? &node->at[axis] : &node->part;
      if (digit->dim != dim)
        continue;
      int64_t end = digit->modulus ? digit->divisor * digit->modulus : extent;
      if (!insertCut(digit->divisor, cuts, &count, capacity) ||
          (end != extent && !insertCut(end, cuts, &count, capacity)))
        return 0;
    }
  }
  for (int i = 1; i < count; ++i)
    if (cuts[i] % cuts[i - 1])
      return 0;
  bool divides = count == 1 || (isKnown(extent) && extent > cuts[count - 1] && extent % cuts[count - 1] == 0);
  return divides ? count : 0;
}
