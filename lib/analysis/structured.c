// Reads a linalg.generic into the plain form of structured.h.
#include "lib/analysis/structured.h"
#include "lib/analysis/affine_sum.h"

#include "dialects/tile/discardable.h"
#include "dialects/tile/ops.h"
#include "dialects/tile/tile.h"
#include "lib/capi/elements.h"
#include "lib/capi/statistics.h"
#include "lib/ir/op_query.h"
#include "upstream/arith.h"
#include "upstream/linalg.h"
#include "upstream/tensor.h"

#include <math.h>
#include <string.h>

const TileSearchTarget *tileStructuredGpu(const TileStructured *s) {
  return s->target->search.isGpu ? &s->target->search : NULL;
}

MlirType tileOperandElementType(const TileOperand *operand) {
  MlirType type = mlirValueGetType(operand->value);
  return operand->isTensor ? mlirShapedTypeGetElementType(type) : type;
}

//===--- iteration space ----------------------------------------------------===//

static bool readIterators(MlirOperation op, TileStructured *structured) {
  MlirAttribute types = tileOpAttribute(op, "iterator_types");
  intptr_t count = mlirArrayAttrGetNumElements(types);
  if (count > MaxDims)
    return false;
  structured->numDims = (int)count;
  for (intptr_t i = 0; i < count; ++i)
    structured->dims[i] = (TileDim){.isReduction = tileIteratorIsReduction(types, i),
                                    .extent = mlirShapedTypeGetDynamicSize(),
                                    .tile = 1,
                                    .panels = 1,
                                    .axis = -1,
                                    .operand = -1};
  return true;
}

// A dimension's extent is known from any operand it indexes; a static one wins.
static void noteExtent(TileStructured *structured, int dim, int operand, int result) {
  TileDim *d = &structured->dims[dim];
  int64_t extent = mlirShapedTypeGetDimSize(mlirValueGetType(structured->operands[operand].value), result);
  if (d->operand >= 0 && mlirShapedTypeIsDynamicSize(extent))
    return;
  if (d->operand < 0 || mlirShapedTypeIsDynamicSize(d->extent)) {
    d->extent = extent;
    d->operand = operand;
    d->result = result;
  }
}

void tileStructuredNoteExtents(TileStructured *s) {
  for (int d = 0; d < s->numDims; ++d)
    s->dims[d].operand = -1;
  for (int i = 0; i < s->numInputs + s->numOutputs; ++i)
    for (int axis = 0; s->operands[i].isTensor && axis < s->operands[i].rank; ++axis)
      if (s->operands[i].results[axis] >= 0)
        noteExtent(s, s->operands[i].results[axis], i, axis);
}

// A sum whose factors the strides of a view can be.
static bool readAffine(MlirAffineExpr expr, int64_t factors[MaxDims], int64_t *constant) {
  bool isSum = tileAffineSumAdd(expr, 1, factors, constant);
  for (int d = 0; d < MaxDims; ++d)
    isSum &= factors[d] >= -INT32_MAX && factors[d] <= INT32_MAX;
  return isSum;
}

// The dimension that indexes the axis alone, or -1.
static int onlyDim(const TileOperand *operand, int axis) {
  int only = -1;
  for (int d = 0; d < MaxDims; ++d) {
    int64_t factor = operand->factors[axis][d];
    if (factor && (factor != 1 || only >= 0 || operand->constants[axis]))
      return -1;
    only = factor ? d : only;
  }
  return only;
}

// The constant on the right of `expr`, which becomes its left side, where it is of that kind and the constant positive.
static int64_t takeConstant(MlirAffineExpr *expr, bool (*isKind)(MlirAffineExpr)) {
  if (!isKind(*expr))
    return 0;
  MlirAffineExpr rhs = mlirAffineBinaryOpExprGetRHS(*expr);
  if (!mlirAffineExprIsAConstant(rhs) || mlirAffineConstantExprGetValue(rhs) < 1)
    return 0;
  *expr = mlirAffineBinaryOpExprGetLHS(*expr);
  return mlirAffineConstantExprGetValue(rhs);
}

// Adds expr, a sum of terms and a constant; false for anything else.
static bool readTerms(MlirAffineExpr expr, TileOperand *operand) {
  if (mlirAffineExprIsAConstant(expr)) {
    operand->constants[0] += mlirAffineConstantExprGetValue(expr);
    return mlirAffineConstantExprGetValue(expr) >= 0;
  }
  if (mlirAffineExprIsAAdd(expr))
    return readTerms(mlirAffineBinaryOpExprGetLHS(expr), operand) &&
           readTerms(mlirAffineBinaryOpExprGetRHS(expr), operand);
  int64_t factor = takeConstant(&expr, mlirAffineExprIsAMul), modulus = takeConstant(&expr, mlirAffineExprIsAMod);
  int64_t divisor = takeConstant(&expr, mlirAffineExprIsAFloorDiv);
  if (!mlirAffineExprIsADim(expr) || operand->numTerms == MaxTerms)
    return false;
  TileTerm term = {(int)mlirAffineDimExprGetPosition(expr), divisor ? divisor : 1, modulus, factor ? factor : 1};
  operand->terms[operand->numTerms++] = term;
  operand->factors[0][term.dim] = term.factor;
  return true;
}

static bool readMap(MlirAffineMap map, TileOperand *operand) {
  operand->rank = (int)mlirAffineMapGetNumResults(map);
  if (operand->rank > MaxOperandRank || mlirAffineMapGetNumSymbols(map) > 0)
    return false;
  for (int i = 0; i < operand->rank; ++i) {
    MlirAffineExpr result = mlirAffineMapGetResult(map, i);
    operand->results[i] = -1;
    if (readAffine(result, operand->factors[i], &operand->constants[i])) {
      operand->results[i] = onlyDim(operand, i);
      continue;
    }
    memset(operand->factors[i], 0, sizeof operand->factors[i]);
    operand->constants[i] = 0;
    if (operand->rank > 1 || !readTerms(result, operand))
      return false;
  }
  return true;
}

static bool isElementType(MlirType type) {
  return mlirTypeIsAFloat(type) || mlirTypeIsAInteger(type) || mlirTypeIsAIndex(type);
}

static bool readOperand(TileStructured *structured, int index) {
  TileOperand *operand = &structured->operands[index];
  operand->value = mlirOperationGetOperand(structured->op, index);
  MlirType type = mlirValueGetType(operand->value);
  operand->isTensor = mlirTypeIsARankedTensor(type);
  if (!operand->isTensor && !isElementType(type))
    return false;
  if (operand->isTensor && (!mlirAttributeIsNull(mlirRankedTensorTypeGetEncoding(type)) ||
                            !isElementType(mlirShapedTypeGetElementType(type))))
    return false;
  MlirAttribute maps = tileOpAttribute(structured->op, "indexing_maps");
  return readMap(mlirAffineMapAttrGetValue(mlirArrayAttrGetElement(maps, index)), operand);
}

//===--- body ---------------------------------------------------------------===//

// An op that means the same on scalars and, element by element, on tiles.
static bool isElementwise(MlirOperation op) {
  if (linalgIndexOpIsA(op) || tensorExtractOpIsA(op))
    return true;
  return (tileOpIsElementwise(op) || arithConstantOpIsA(op)) && mlirOperationGetNumResults(op) == 1 &&
         mlirOperationGetNumRegions(op) == 0 && isElementType(tileOnlyResultType(op));
}

// A number, or a tensor that tensor.extract reads from.
static bool isCapturable(MlirType type) {
  if (!mlirTypeIsARankedTensor(type))
    return isElementType(type);
  return mlirAttributeIsNull(mlirRankedTensorTypeGetEncoding(type)) && mlirShapedTypeGetRank(type) <= MaxOperandRank &&
         isElementType(mlirShapedTypeGetElementType(type));
}

static bool addCapture(TileStructured *structured, MlirValue value) {
  for (int i = 0; i < structured->numCaptures; ++i)
    if (mlirValueEqual(structured->captures[i], value))
      return true;
  if (structured->numCaptures == MaxCaptures)
    return false;
  structured->captures[structured->numCaptures++] = value;
  return true;
}

MlirValue tileStructuredYielded(const TileStructured *s) { return tileFirstOperand(mlirBlockGetTerminator(s->body)); }

int tileStructuredInputOf(const TileStructured *s, MlirValue value) {
  if (!mlirValueIsABlockArgument(value) || !mlirBlockEqual(mlirBlockArgumentGetOwner(value), s->body))
    return -1;
  int argument = (int)mlirBlockArgumentGetArgNumber(value);
  return argument < s->numInputs ? argument : -1;
}

static bool noteCapture(TileStructured *structured, MlirValue value) {
  MlirType type = mlirValueGetType(value);
  bool isConstant = arithConstantOpIsA(tileDefiningOp(value)) && isElementType(type);
  if (tileIsDefinedIn(value, structured->body) || isConstant)
    return true; // a constant is made again in the kernel
  return isCapturable(type) && addCapture(structured, value);
}

static bool readBody(TileStructured *structured) {
  intptr_t values = 0;
  structured->body = tileOnlyBlock(mlirOperationGetRegion(structured->op, 0));
  for (MlirOperation op = mlirBlockGetFirstOperation(structured->body); !mlirOperationIsNull(op);
       op = mlirOperationGetNextInBlock(op)) {
    values += 1 + mlirOperationGetNumOperands(op);
    if ((!linalgYieldOpIsA(op) && !isElementwise(op)) || values > MaxBodyValues)
      return false;
    for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); ++i)
      if (!noteCapture(structured, mlirOperationGetOperand(op, i)))
        return false;
  }
  return true;
}

//===--- maps ---------------------------------------------------------------===//

void tileOperandSetAxis(TileOperand *operand, int axis, int dim) {
  memset(operand->factors[axis], 0, sizeof operand->factors[axis]);
  operand->constants[axis] = 0;
  operand->factors[axis][dim] = 1;
  operand->results[axis] = dim;
}

// A compiler holds a constant several times.
static const size_t MostConstantBytes = (size_t)1 << 28;

const unsigned char *tileOperandConstantBytes(const TileOperand *operand, size_t *size) {
  MlirOperation constant = tileDefiningOp(operand->value);
  if (!arithConstantOpIsA(constant))
    return NULL;
  const unsigned char *bytes = mlirExtElementsGetBytes(tileOpAttribute(constant, "value"), size);
  return bytes && *size <= MostConstantBytes ? bytes : NULL;
}

bool tileOperandUses(const TileOperand *operand, int dim) {
  for (int i = 0; i < operand->rank; ++i)
    if (operand->factors[i][dim])
      return true;
  return false;
}

int tileOperandAxisOf(const TileOperand *operand, int dim) {
  for (int axis = 0; axis < operand->rank; ++axis)
    if (operand->results[axis] == dim)
      return axis;
  return -1;
}

bool tileOperandMatch(const TileOperand *from, const TileOperand *to, int *dims) {
  for (int d = 0; d < MaxDims; ++d)
    dims[d] = -1;
  for (int axis = 0; axis < from->rank; ++axis) {
    if (from->results[axis] < 0 || to->results[axis] < 0)
      return false;
    dims[from->results[axis]] = to->results[axis];
  }
  return true;
}

bool tileOperandIsInOrder(const TileStructured *s, const TileOperand *operand, int without) {
  bool is = operand->isTensor && operand->rank == s->numDims - (without >= 0);
  for (int i = 0; is && i < operand->rank; ++i)
    is = operand->results[i] == i + (without >= 0 && i >= without);
  return is;
}

bool tileOperandIsPlain(const TileOperand *operand) {
  uint32_t seen = 0;
  for (int i = 0; i < operand->rank; ++i)
    for (int d = 0; d < MaxDims; ++d) {
      if (!operand->factors[i][d])
        continue;
      if (operand->results[i] != d || seen & 1u << d)
        return false;
      seen |= 1u << d;
    }
  return true;
}

void tileOperandRenumber(TileOperand *operand, const int *to, int numDims) {
  for (int i = 0; i < operand->numTerms; ++i)
    operand->terms[i].dim = to[operand->terms[i].dim];
  for (int i = 0; i < operand->rank; ++i) {
    int64_t old[MaxDims];
    memcpy(old, operand->factors[i], sizeof old);
    memset(operand->factors[i], 0, sizeof old);
    for (int d = 0; d < numDims; ++d)
      operand->factors[i][to[d]] = old[d];
    if (operand->results[i] >= 0)
      operand->results[i] = to[operand->results[i]];
  }
}

void tileStructuredRenumber(TileStructured *structured, const int *to) {
  TileDim old[MaxDims];
  memcpy(old, structured->dims, sizeof old);
  for (int d = 0; d < structured->numDims; ++d)
    structured->dims[to[d]] = old[d];
  for (int i = 0; i < structured->numInputs + structured->numOutputs; ++i)
    tileOperandRenumber(&structured->operands[i], to, structured->numDims);
}

int64_t tileStructuredRun(const TileStructured *s, const TileOperand *operand, int dim) {
  int64_t run = 0;
  for (int i = 0; i < operand->numTerms; ++i) {
    const TileTerm *term = &operand->terms[i];
    if (term->dim == dim && term->divisor == 1 && term->factor == 1)
      run = term->modulus ? term->modulus : s->dims[dim].extent;
  }
  for (int i = 0; i < operand->numTerms; ++i)
    if (operand->terms[i].dim == dim && operand->terms[i].divisor > 1 && (!run || operand->terms[i].divisor % run))
      return 0;
  return run;
}

static bool operandCanTile(const TileOperand *operand, int dim, int other) {
  int axes = 0;
  if (operand->numTerms)
    return true;
  for (int i = 0; i < operand->rank; ++i) {
    axes += operand->factors[i][dim] != 0;
    if (operand->factors[i][dim] < 0 || (operand->factors[i][dim] && other >= 0 && operand->factors[i][other]))
      return false;
  }
  return axes <= 1;
}

bool tileStructuredCanTile(const TileStructured *structured, int dim, int other) {
  for (int i = 0; i < structured->numInputs + structured->numOutputs; ++i)
    if (!operandCanTile(&structured->operands[i], dim, other == dim ? -1 : other))
      return false;
  return true;
}

static bool isCandidate(const TileStructured *structured, const TileOperand *operand, int axis, int dim) {
  bool isAlone = operand->results[axis] == dim;
  return operand->factors[axis][dim] && (isAlone || !structured->dims[dim].isReduction) &&
         structured->dims[dim].extent != 1 && tileStructuredCanTile(structured, dim, -1);
}

int tileOperandLastDim(const TileStructured *structured, const TileOperand *operand) {
  for (int i = operand->rank - 1; i >= 0; --i)
    for (int d = structured->numDims - 1; d >= 0; --d)
      if (isCandidate(structured, operand, i, d))
        return d;
  return -1;
}

//===--- the whole ----------------------------------------------------------===//

TileStructured tileStructuredCreate(MlirOperation op, const TileTarget *target, int operands) {
  TileStructured s = {.op = op, .target = target};
  s.dims = tileArenaAllocate(target->arena, MaxDims * sizeof *s.dims);
  s.operands = tileArenaAllocate(target->arena, (size_t)operands * sizeof *s.operands);
  s.captures = tileArenaAllocate(target->arena, MaxCaptures * sizeof *s.captures);
  return s;
}

TileStructured tileStructuredCopy(const TileStructured *structured, int more) {
  TileStructured copy = *structured;
  int operands = structured->numInputs + structured->numOutputs;
  TileStructured room = tileStructuredCreate(structured->op, structured->target, operands + more);
  copy.dims = memcpy(room.dims, structured->dims, MaxDims * sizeof *room.dims);
  copy.operands = memcpy(room.operands, structured->operands, (size_t)operands * sizeof *room.operands);
  copy.captures = memcpy(room.captures, structured->captures, MaxCaptures * sizeof *room.captures);
  return copy;
}

TileStructured tileStructuredOver(const TileStructured *structured, int first, int second) {
  TileStructured copy = tileStructuredCopy(structured, 0);
  for (int d = 0; d < copy.numDims; ++d)
    copy.dims[d].axis = d == first ? 0 : d == second ? 1 : -1;
  return copy;
}

// Every element of the output has one program that writes it: a map over all parallel dimensions, one per axis.
static bool writesOnce(const TileStructured *structured, const TileOperand *output) {
  for (int i = 0; i < output->rank; ++i)
    if (output->results[i] < 0)
      return false;
  for (int d = 0; d < structured->numDims; ++d)
    if (!structured->dims[d].isReduction && !tileOperandUses(output, d))
      return false;
  return tileOperandIsPlain(output);
}

bool tileStructuredAccumulates(const TileStructured *structured, const TileOperand *output) {
  for (int d = 0; d < structured->numDims; ++d)
    if (structured->dims[d].isReduction && tileOperandUses(output, d))
      return false;
  return true;
}

static bool isOfFormats(MlirStringRef key) {
  return tileStringEquals(key, "convert") || tileStringEquals(key, "codes");
}

MlirAttribute tileOpGetTileSchedule(MlirOperation op) {
  MlirAttribute schedule = tileOpGetSchedule(op);
  if (mlirAttributeIsNull(schedule))
    return schedule;
  MlirAttribute entries = tileScheduleAttrGetEntries(schedule);
  intptr_t count = mlirDictionaryAttrGetNumElements(entries);
  for (intptr_t i = 0; i < count; ++i)
    if (!isOfFormats(mlirIdentifierStr(mlirDictionaryAttrGetElement(entries, i).name)))
      return schedule;
  return count ? mlirAttributeGetNull() : schedule;
}

MlirAttribute tileScheduleWithFormats(MlirContext context, MlirAttribute schedule, TileConvert convert,
                                      MlirAttribute codes) {
  enum { MostEntries = 32 };
  MlirNamedAttribute entries[MostEntries];
  intptr_t count = 0, old = 0;
  MlirAttribute before = mlirAttributeIsNull(schedule) ? schedule : tileScheduleAttrGetEntries(schedule);
  old = mlirAttributeIsNull(before) ? 0 : mlirDictionaryAttrGetNumElements(before);
  for (intptr_t i = 0; i < old && count + 2 < MostEntries; ++i) {
    MlirNamedAttribute entry = mlirDictionaryAttrGetElement(before, i);
    if (!isOfFormats(mlirIdentifierStr(entry.name)))
      entries[count++] = entry;
  }
  if (convert)
    entries[count++] = mlirNamedAttributeGet(mlirIdentifierGet(context, tileString("convert")),
                                             mlirStringAttrGet(context, tileString(tileConvertNames[convert - 1])));
  if (!mlirAttributeIsNull(codes))
    entries[count++] = mlirNamedAttributeGet(mlirIdentifierGet(context, tileString("codes")), codes);
  return count ? tileScheduleAttrGet(context, mlirDictionaryAttrGet(context, count, entries)) : mlirAttributeGetNull();
}

static void readFormats(TileStructured *structured, MlirAttribute schedule) {
  MlirAttribute convert = tileScheduleAttrGetEntry(schedule, "convert");
  structured->codes = tileScheduleAttrGetEntry(schedule, "codes");
  for (int i = 0; !mlirAttributeIsNull(convert) && tileConvertNames[i]; ++i)
    if (tileStringEquals(mlirStringAttrGetValue(convert), tileConvertNames[i]))
      structured->convert = (TileConvert)(i + 1);
}

// Sizes that the op's schedule gives to its dimensions, in their order.
static void readSchedule(TileStructured *structured) {
  MlirAttribute schedule = tileOpGetSchedule(structured->op);
  structured->schedule = tileOpGetTileSchedule(structured->op);
  if (!mlirAttributeIsNull(schedule))
    readFormats(structured, schedule);
  if (mlirAttributeIsNull(structured->schedule))
    return;
  MlirAttribute block = tileScheduleAttrGetEntry(structured->schedule, "block");
  for (int d = 0; d < structured->numDims && !mlirAttributeIsNull(block); ++d)
    if (d < mlirDenseArrayGetNumElements(block))
      structured->dims[d].scheduled = mlirDenseI64ArrayGetElement(block, d);
}

static void readExtents(TileStructured *structured) {
  MlirAttribute extents = tileOpGetExtents(structured->op);
  for (int d = 0; !mlirAttributeIsNull(extents) && d < structured->numDims; ++d)
    if (d < mlirDenseArrayGetNumElements(extents))
      structured->dims[d].planned = mlirDenseI64ArrayGetElement(extents, d);
}

TileKind tileStructuredNamedKind(const TileStructured *s) {
  MlirAttribute kind = mlirAttributeIsNull(s->schedule) ? s->schedule : tileScheduleAttrGetEntry(s->schedule, "kind");
  char name[32] = "";
  if (mlirAttributeIsNull(kind))
    return TileKind_None;
  MlirStringRef text = mlirStringAttrGetValue(kind);
  snprintf(name, sizeof name, "%.*s", (int)text.length, text.data);
  return tileKindFind(name);
}

bool tileStructuredCheckExtents(const TileStructured *s) {
  MlirAttribute extents = tileOpGetExtents(s->op);
  return mlirAttributeIsNull(extents) || mlirDenseArrayGetNumElements(extents) == s->numDims ||
         tileError(s->op, "has %ld tile.extents, expected one for each of %d dimensions",
                   (long)mlirDenseArrayGetNumElements(extents), s->numDims);
}

const MlirExtPassDefinition tileStructuredReads = {
    .argument = "linalg structure", .statistics = (const char *const[]){"reads: linalg ops that were read", NULL}};

bool tileStructuredRead(MlirOperation op, const TileTarget *target, TileStructured *structured) {
  intptr_t operands = linalgGenericOpIsA(op) ? mlirOperationGetNumOperands(op) : 0;
  if (!operands || operands > MaxOperands || mlirOperationGetNumResults(op) == 0)
    return false;
  mlirExtCountersAdd(mlirExtCountersGet(&tileStructuredReads), 0, 1);
  *structured = tileStructuredCreate(op, target, (int)operands);
  structured->numOutputs = (int)mlirOperationGetNumResults(op);
  structured->numInputs = (int)(operands - structured->numOutputs);
  if (!readIterators(op, structured))
    return false;
  for (int i = 0; i < operands; ++i)
    if (!readOperand(structured, i))
      return false;
  tileStructuredNoteExtents(structured);
  for (int i = 0; i < structured->numDims; ++i)
    if (structured->dims[i].operand < 0)
      return false; // no operand tells this dimension's extent
  for (int i = structured->numInputs; i < operands; ++i)
    if (!writesOnce(structured, &structured->operands[i]))
      return false;
  readSchedule(structured);
  readExtents(structured);
  return readBody(structured);
}

bool tileStructuredReadSoftmax(MlirOperation op, const TileTarget *target, TileStructured *s) {
  if (!linalgSoftmaxOpIsA(op))
    return false;
  *s = tileStructuredCreate(op, target, 2);
  s->numInputs = s->numOutputs = 1;
  MlirType type = linalgSoftmaxOpGetInputType(op);
  if (!mlirTypeIsARankedTensor(type) || mlirShapedTypeGetRank(type) > MaxOperandRank ||
      !mlirTypeIsAFloat(mlirShapedTypeGetElementType(type)) || mlirOperationGetNumResults(op) != 1)
    return false;
  s->numDims = (int)mlirShapedTypeGetRank(type);
  int64_t dimension = mlirIntegerAttrGetValueInt(tileOpAttribute(op, "dimension"));
  for (int i = 0; i < 2; ++i) {
    s->operands[i] = (TileOperand){.value = mlirOperationGetOperand(op, i), .isTensor = true, .rank = s->numDims};
    for (int d = 0; d < s->numDims; ++d)
      tileOperandSetAxis(&s->operands[i], d, d);
  }
  for (int d = 0; d < s->numDims; ++d)
    s->dims[d] = (TileDim){.isReduction = d == dimension,
                           .extent = mlirShapedTypeGetDimSize(type, d),
                           .panels = 1,
                           .operand = 0,
                           .result = d};
  readSchedule(s);
  return true;
}

//===--- pack and unpack ----------------------------------------------------===//

static bool isZeroConstant(MlirValue value) {
  MlirOperation op = tileDefiningOp(value);
  if (!arithConstantOpIsA(op))
    return false;
  MlirAttribute constant = tileOpAttribute(op, "value");
  if (mlirAttributeIsAFloat(constant))
    return mlirFloatAttrGetValueDouble(constant) == 0.0 && !signbit(mlirFloatAttrGetValueDouble(constant));
  return mlirAttributeIsAInteger(constant) && mlirIntegerAttrGetValueInt(constant) == 0;
}

// Source, destination and perhaps a padding value; no sizes of tiles among the operands.
static bool hasPlainOperands(MlirOperation op, bool isPack) {
  MlirAttribute tiles = tileOpAttribute(op, "static_inner_tiles");
  for (intptr_t i = 0; i < mlirDenseArrayGetNumElements(tiles); ++i)
    if (mlirShapedTypeIsDynamicSize(mlirDenseI64ArrayGetElement(tiles, i)))
      return false;
  intptr_t count = mlirOperationGetNumOperands(op);
  return mlirOperationGetNumResults(op) == 1 &&
         (count == 2 || (isPack && count == 3 && isZeroConstant(linalgPackOpGetPaddingValue(op))));
}

static int64_t entryOf(MlirAttribute array, intptr_t index, int64_t otherwise) {
  bool isGiven = !mlirAttributeIsNull(array) && index < mlirDenseArrayGetNumElements(array);
  return isGiven ? mlirDenseI64ArrayGetElement(array, index) : otherwise;
}

// Axis a of the plain tensor: the outer dimension that walks it, times its tile, plus the inner one.
static void describePlain(MlirOperation op, TileOperand *plain) {
  MlirAttribute order = tileOpAttribute(op, "outer_dims_perm"), axes = tileOpAttribute(op, "inner_dims_pos");
  MlirAttribute tiles = tileOpAttribute(op, "static_inner_tiles");
  for (int outer = 0; outer < plain->rank; ++outer)
    tileOperandSetAxis(plain, (int)entryOf(order, outer, outer), outer);
  for (intptr_t j = 0; j < mlirDenseArrayGetNumElements(tiles); ++j) {
    int64_t axis = mlirDenseI64ArrayGetElement(axes, j);
    plain->factors[axis][plain->results[axis]] = mlirDenseI64ArrayGetElement(tiles, j);
    plain->factors[axis][plain->rank + j] = 1;
    plain->results[axis] = -1;
  }
}

bool tileStructuredReadRelayout(MlirOperation op, const TileTarget *target, TileStructured *s) {
  bool isPack = linalgPackOpIsA(op);
  if ((!isPack && !linalgUnPackOpIsA(op)) || !hasPlainOperands(op, isPack))
    return false;
  *s = tileStructuredCreate(op, target, 2);
  s->numInputs = s->numOutputs = 1;
  int tiled = isPack ? 1 : 0;
  for (int i = 0; i < 2; ++i) {
    MlirType type = tileOperandType(op, i);
    if (!mlirTypeIsARankedTensor(type) || mlirShapedTypeGetRank(type) > MaxOperandRank)
      return false;
    s->operands[i] = (TileOperand){.value = mlirOperationGetOperand(op, i), .isTensor = true};
    s->operands[i].rank = (int)mlirShapedTypeGetRank(type);
  }
  s->numDims = s->operands[tiled].rank;
  for (int d = 0; d < s->numDims; ++d) {
    tileOperandSetAxis(&s->operands[tiled], d, d);
    int64_t extent = mlirShapedTypeGetDimSize(tileOperandType(op, tiled), d);
    s->dims[d] = (TileDim){.extent = extent, .panels = 1, .operand = tiled, .result = d};
  }
  describePlain(op, &s->operands[1 - tiled]);
  readSchedule(s);
  return true;
}

//===--- questions ----------------------------------------------------------===//

bool tileDimIsRagged(const TileDim *dim) {
  return dim->tile > 1 && (mlirShapedTypeIsDynamicSize(dim->extent) || dim->extent % dim->tile);
}

bool tileStructuredHasReduction(const TileStructured *structured) {
  for (int i = 0; i < structured->numDims; ++i)
    if (structured->dims[i].isReduction)
      return true;
  return false;
}

bool tileStructuredHasTerms(const TileStructured *structured) {
  for (int i = 0; i < structured->numInputs + structured->numOutputs; ++i)
    if (structured->operands[i].numTerms)
      return true;
  return false;
}

bool tileStructuredUsesPosition(const TileStructured *structured) {
  for (MlirOperation op = mlirBlockGetFirstOperation(structured->body); !mlirOperationIsNull(op);
       op = mlirOperationGetNextInBlock(op))
    if (linalgIndexOpIsA(op) || tensorExtractOpIsA(op))
      return true;
  return false;
}

static MlirWalkResult collectUndecided(MlirOperation op, void *ops) {
  if (tileGroupOpIsA(op) && !mlirAttributeIsNull(tileGroupOpGetSchedule(op)))
    return MlirWalkResultSkip;
  if (linalgGenericOpIsA(op))
    tileOpsAppend(ops, op);
  return MlirWalkResultAdvance;
}

TileOps tileStructuredCollect(MlirOperation root) {
  TileOps ops = {0};
  mlirOperationWalk(root, collectUndecided, &ops, MlirWalkPreOrder);
  return ops;
}

//===--- start values -------------------------------------------------------===//

// If `value` is a tensor filled with one constant, that constant and the tensor that was filled.
static bool matchFill(MlirValue value, const TileTarget *target, MlirAttribute *constant, MlirValue *destination) {
  TileStructured fill;
  MlirOperation op = tileDefiningOp(value);
  if (mlirOperationIsNull(op) || !tileStructuredRead(op, target, &fill) || fill.numOutputs != 1)
    return false;
  MlirValue yielded = tileOnlyOperand(mlirBlockGetTerminator(fill.body));
  if (mlirValueIsABlockArgument(yielded) && mlirBlockEqual(mlirBlockArgumentGetOwner(yielded), fill.body)) {
    intptr_t argument = mlirBlockArgumentGetArgNumber(yielded);
    if (argument >= fill.numInputs || fill.operands[argument].isTensor)
      return false;
    yielded = fill.operands[argument].value;
  }
  MlirOperation source = tileDefiningOp(yielded);
  if (!arithConstantOpIsA(source))
    return false;
  *constant = tileOpAttribute(source, "value");
  *destination = fill.operands[fill.numInputs].value;
  return true;
}

void tileStructuredStartFromConstants(TileStructured *s) {
  if (!tileStructuredHasReduction(s))
    return;
  for (int i = s->numInputs; i < s->numInputs + s->numOutputs; ++i)
    if (tileStructuredAccumulates(s, &s->operands[i]))
      matchFill(s->operands[i].value, s->target, &s->operands[i].initial, &s->operands[i].value);
}
