// tile-expand-quantized: tensors with the encoding #tile.quantized become their parts.
//
//   func.func @f(%w: tensor<64x128xf32, #tile.quantized<codes = i4, group = [1, 32], scale = f16>>)
//     →  func.func @f(%codes: tensor<64x128xi4>, %scales: tensor<64x4xf16>)
//   tile.dequantize %w   →  a linalg.generic on codes and scales, as exporters write it: tile-find-low-bit lets the
//                           products that read its result read the codes
// Arguments, results and calls have the parts in the order of dialects/tile/quantized.h.
// Expects: func.func before any lowering; only tile.assemble_quantized, disassemble_quantized, dequantize, calls and
// returns touch such tensors, any other op is an error. Leaves: no such tensor. Cost: linear in the code.
#include "lib/transforms/quantize/quantize.h"

#include "dialects/tile/ops.h"
#include "dialects/tile/quantized.h"
#include "dialects/tile/tile.h"
#include "lib/ir/support.h"
#include "lib/support/grow.h"
#include "lib/transforms/quantize/forms.h"
#include "mlir-c/BuiltinAttributes.h"
#include "upstream/arith.h"
#include "upstream/builtin.h"
#include "upstream/func.h"
#include "upstream/linalg.h"
#include "upstream/tensor.h"

#include <stdlib.h>
#include <string.h>

static const char *const statistics[] = {"expanded: quantized tensors made parts", NULL};

// The parts of the quantized values of a function.
typedef struct Known {
  MlirValue value;
  intptr_t count;
  MlirValue parts[TileQuantizedMaxParts];
} Known;

typedef struct Table {
  Known *items;
  int64_t count;
} Table;

static const Known *find(const Table *table, MlirValue value) {
  for (intptr_t i = table->count - 1; i >= 0; --i)
    if (mlirValueEqual(table->items[i].value, value))
      return &table->items[i];
  return NULL;
}

static Known *add(Table *table, MlirValue value) {
  table->items = tessera_grow(table->items, table->count, sizeof *table->items);
  Known *known = &table->items[table->count++];
  *known = (Known){.value = value};
  return known;
}

//===--- the elements -------------------------------------------------------------------------------===//

// Each axis of the tensor as one dimension, or as groups and places in a group.
typedef struct Shape {
  intptr_t rank, cutRank; // of the tensor; of the codes with a dimension for each
  int64_t sizes[TileQuantizedMaxRank], padded[TileQuantizedMaxRank], cut[2 * TileQuantizedMaxRank];
  int group[TileQuantizedMaxRank]; // the dimension of the axis' groups; -1: there is one
  bool isCut[TileQuantizedMaxRank];
} Shape;

static Shape shapeOf(MlirType type, const TileQuantization *q) {
  Shape s = {.rank = q->rank};
  for (intptr_t axis = 0; axis < q->rank; ++axis) {
    int64_t size = mlirShapedTypeGetDimSize(type, axis), group = q->group[axis], groups = (size + group - 1) / group;
    s.sizes[axis] = size;
    s.padded[axis] = groups * group;
    bool isOrdered = axis == q->orderAxis; // each index says its group
    s.padded[axis] = isOrdered ? size : s.padded[axis];
    s.isCut[axis] = group > 1 && groups > 1 && !isOrdered;
    s.group[axis] = groups > 1 || group == 1 ? (int)s.cutRank : -1;
    if (s.isCut[axis])
      s.cut[s.cutRank++] = groups;
    s.cut[s.cutRank++] = s.isCut[axis] ? group : s.padded[axis];
  }
  return s;
}

static bool isPadded(const Shape *s) { return memcmp(s->sizes, s->padded, (size_t)s->rank * sizeof *s->sizes) != 0; }

static MlirAttribute reassociation(const TileBuilder *b, const Shape *s) {
  MlirAttribute groups[TileQuantizedMaxRank];
  MlirType i64 = mlirIntegerTypeGet(b->context, 64);
  int next = 0;
  for (intptr_t axis = 0; axis < s->rank; ++axis) {
    MlirAttribute dims[] = {mlirIntegerAttrGet(i64, next), mlirIntegerAttrGet(i64, next + 1)};
    groups[axis] = mlirArrayAttrGet(b->context, s->isCut[axis] ? 2 : 1, dims);
    next += s->isCut[axis] ? 2 : 1;
  }
  return mlirArrayAttrGet(b->context, s->rank, groups);
}

// What stands at the start of `whole`: taken out, or with `insert` put there.
static MlirValue slice(TileBuilder *b, const Shape *s, MlirValue whole, MlirValue insert) {
  int64_t zeros[TileQuantizedMaxRank] = {0}, ones[TileQuantizedMaxRank];
  for (intptr_t axis = 0; axis < s->rank; ++axis)
    ones[axis] = 1;
  MlirAttribute at = mlirDenseI64ArrayGet(b->context, s->rank, zeros),
                size = mlirDenseI64ArrayGet(b->context, s->rank, s->sizes),
                step = mlirDenseI64ArrayGet(b->context, s->rank, ones);
  if (!mlirValueIsNull(insert))
    return tensorInsertSliceOpBuild(b, insert, whole, 0, NULL, 0, NULL, 0, NULL, at, size, step);
  MlirType part = tileFormTensor((int)s->rank, s->sizes, tileFormElement(whole));
  return tensorExtractSliceOpBuild(b, part, whole, 0, NULL, 0, NULL, 0, NULL, at, size, step);
}

static MlirValue zeroOf(TileBuilder *b, MlirType element) {
  return mlirTypeIsAInteger(element) ? tileBuildInteger(b, element, 0) : tileBuildFloat(b, element, 0);
}

// The codes with whole groups, and a dimension for each.
static MlirValue cutCodes(TileBuilder *b, const Shape *s, MlirValue codes) {
  MlirType element = tileFormElement(codes), type = tileFormTensor((int)s->cutRank, s->cut, element);
  if (isPadded(s)) {
    MlirValue empty = tensorEmptyOpBuild(b, tileFormTensor((int)s->rank, s->padded, element), 0, NULL);
    codes = slice(b, s, tileFormFilled(b, empty, zeroOf(b, element)), codes);
  }
  return s->cutRank == s->rank ? codes
                               : tensorExpandShapeOpBuild(b, type, codes, 0, NULL, reassociation(b, s),
                                                          mlirDenseI64ArrayGet(b->context, s->cutRank, s->cut));
}

static MlirValue asReal(TileBuilder *b, MlirType real, bool isUnsigned, MlirValue value) {
  MlirType type = mlirValueGetType(value);
  if (mlirTypeIsAInteger(type))
    return isUnsigned ? arithUIToFPOpBuild(b, real, value) : arithSIToFPOpBuild(b, real, value);
  return mlirTypeEqual(type, real) ? value : arithExtFOpBuild(b, real, value);
}

// The element by the formula; `in` has the element of each part, by its role. `flags`: of the multiplication by the
// tensor's scale.
static MlirValue elementOf(TileBuilder *b, const TileQuantization *q, MlirType real, const MlirValue *in,
                           MlirValue table, MlirAttribute flags) {
  MlirValue x, zero = in[TileQuantized_Zeros];
  if (mlirValueIsNull(table)) {
    x = asReal(b, real, q->isUnsigned, in[TileQuantized_Codes]);
  } else {
    MlirValue place = arithIndexCastUIOpBuild(b, mlirIndexTypeGet(b->context), in[TileQuantized_Codes]);
    x = asReal(b, real, false, tensorExtractOpBuild(b, table, 1, &place));
  }
  if (!mlirValueIsNull(zero))
    zero = asReal(b, real, q->isZeroUnsigned, zero);
  if (!mlirValueIsNull(zero) && !q->isZeroAfterScale)
    x = arithSubFOpBuild(b, x, zero);
  x = arithMulFOpBuild(b, x, asReal(b, real, false, in[TileQuantized_Scales]));
  if (!mlirValueIsNull(zero) && q->isZeroAfterScale)
    x = arithSubFOpBuild(b, x, zero);
  return mlirValueIsNull(in[TileQuantized_TensorScale])
             ? x
             : tileOnlyResult(arithMulFOpCreate(b, x, asReal(b, real, false, in[TileQuantized_TensorScale]), flags));
}

// Numbers of groups as one for each index of the ordered axis.
static MlirValue byOrder(TileBuilder *b, const TileQuantization *q, MlirValue groups, MlirValue order) {
  MlirType type = mlirValueGetType(groups), element = tileFormElement(groups);
  int rank = (int)mlirShapedTypeGetRank(type), axis = (int)q->orderAxis;
  int64_t shape[TileQuantizedMaxRank];
  for (int i = 0; i < rank; ++i)
    shape[i] = mlirShapedTypeGetDimSize(i == axis ? mlirValueGetType(order) : type, i == axis ? 0 : i);
  TileFormOperand operands[] = {{order, 1, {axis}},
                                {tensorEmptyOpBuild(b, tileFormTensor(rank, shape, element), 0, NULL), rank, {0}}};
  for (int i = 0; i < rank; ++i)
    operands[1].dims[i] = i;
  TileBuilder inside;
  MlirOperation generic = tileFormGeneric(b, rank, 0, 1, operands, &inside);
  MlirValue index[TileQuantizedMaxRank];
  MlirType i64 = mlirIntegerTypeGet(b->context, 64);
  for (int i = 0; i < rank; ++i)
    index[i] = i == axis
                   ? arithIndexCastOpBuild(&inside, mlirIndexTypeGet(b->context), mlirBlockGetArgument(inside.block, 0))
                   : linalgIndexOpBuild(&inside, mlirIntegerAttrGet(i64, i));
  MlirValue number = tensorExtractOpBuild(&inside, groups, rank, index);
  linalgYieldOpBuild(&inside, 1, &number);
  return tileOnlyResult(generic);
}

static TileFormOperand operandOf(const Shape *s, TileQuantizedRole role, MlirValue value) {
  TileFormOperand operand = {.value = value, .rank = (int)mlirShapedTypeGetRank(mlirValueGetType(value))};
  for (int axis = 0; axis < operand.rank; ++axis)
    operand.dims[axis] = role == TileQuantized_Codes ? axis : s->group[axis];
  return operand;
}

static MlirValue buildElements(TileBuilder *b, MlirType type, const MlirValue *parts, MlirAttribute flags) {
  TileQuantization q = tileQuantizedTypeGet(type);
  TileQuantizedPart roles[TileQuantizedMaxParts];
  intptr_t numParts = tileQuantizedTypeGetParts(type, roles);
  Shape s = shapeOf(type, &q);
  MlirType element = mlirShapedTypeGetElementType(type);
  MlirType real = mlirTypeIsAF64(element) ? element : mlirF32TypeGet(b->context);
  MlirValue table = {NULL}, order = {NULL}, in[TileQuantizedMaxParts] = {{NULL}};
  TileFormOperand operands[TileQuantizedMaxParts + 1];
  int roleOf[TileQuantizedMaxParts], count = 0;
  for (intptr_t i = 0; i < numParts; ++i) {
    table = roles[i].role == TileQuantized_Table ? parts[i] : table;
    order = roles[i].role == TileQuantized_Order ? parts[i] : order;
  }
  for (intptr_t i = 0; i < numParts; ++i) {
    TileQuantizedRole role = roles[i].role;
    bool isOfGroups = role == TileQuantized_Scales || role == TileQuantized_Zeros;
    if (role == TileQuantized_Table || role == TileQuantized_Order)
      continue;
    roleOf[count] = role;
    MlirValue part = role == TileQuantized_Codes             ? cutCodes(b, &s, parts[i])
                     : isOfGroups && !mlirValueIsNull(order) ? byOrder(b, &q, parts[i], order)
                                                             : parts[i];
    operands[count++] = operandOf(&s, role, part);
  }
  MlirType cut = tileFormTensor((int)s.cutRank, s.cut, element);
  operands[count] = operandOf(&s, TileQuantized_Codes, tensorEmptyOpBuild(b, cut, 0, NULL));
  TileBuilder inside;
  MlirOperation generic = tileFormGeneric(b, (int)s.cutRank, 0, count, operands, &inside);
  for (int i = 0; i < count; ++i)
    in[roleOf[i]] = mlirBlockGetArgument(inside.block, i);
  MlirValue x = elementOf(&inside, &q, real, in, table, flags);
  if (!mlirTypeEqual(real, element))
    x = arithTruncFOpBuild(&inside, element, x);
  linalgYieldOpBuild(&inside, 1, &x);
  MlirValue whole = tileOnlyResult(generic);
  if (s.cutRank != s.rank)
    whole = tensorCollapseShapeOpBuild(b, tileFormTensor((int)s.rank, s.padded, element), whole, reassociation(b, &s));
  return isPadded(&s) ? slice(b, &s, whole, (MlirValue){NULL}) : whole;
}

//===--- functions ----------------------------------------------------------------------------------===//

typedef MlirType (*TypeAt)(MlirType function, intptr_t index);

static intptr_t expandTypes(MlirType function, intptr_t count, TypeAt typeAt, MlirType *out) {
  intptr_t total = 0;
  for (intptr_t i = 0; i < count; ++i) {
    MlirType type = typeAt(function, i);
    TileQuantizedPart parts[TileQuantizedMaxParts];
    if (!tileTypeIsQuantized(type)) {
      out[total++] = type;
      continue;
    }
    for (intptr_t k = 0, n = tileQuantizedTypeGetParts(type, parts); k < n; ++k)
      out[total++] = parts[k].type;
  }
  return total;
}

// The function's type with parts; the same one where nothing is quantized.
static MlirType expandedType(MlirType function) {
  intptr_t inputs = mlirFunctionTypeGetNumInputs(function), results = mlirFunctionTypeGetNumResults(function);
  MlirType *types = malloc(((size_t)(inputs + results) * TileQuantizedMaxParts + 1) * sizeof *types);
  intptr_t numInputs = expandTypes(function, inputs, mlirFunctionTypeGetInput, types);
  intptr_t numResults = expandTypes(function, results, mlirFunctionTypeGetResult, types + numInputs);
  MlirType type = mlirFunctionTypeGet(mlirTypeGetContext(function), numInputs, types, numResults, types + numInputs);
  free(types);
  return type;
}

// Attributes of arguments or results: a part has none.
static void expandAttributes(MlirOperation function, const char *name, intptr_t count, TypeAt typeAt) {
  MlirAttribute all = tileOpAttribute(function, name);
  if (mlirAttributeIsNull(all))
    return;
  MlirContext context = mlirOperationGetContext(function);
  MlirType type = mlirTypeAttrGetValue(funcFuncOpGetFunctionType(function));
  MlirAttribute *each = malloc(((size_t)count * TileQuantizedMaxParts + 1) * sizeof *each);
  TileQuantizedPart parts[TileQuantizedMaxParts];
  intptr_t total = 0;
  for (intptr_t i = 0; i < count; ++i) {
    MlirType one = typeAt(type, i);
    intptr_t n = tileTypeIsQuantized(one) ? tileQuantizedTypeGetParts(one, parts) : 0;
    for (intptr_t k = 0; k < n; ++k)
      each[total++] = mlirDictionaryAttrGet(context, 0, NULL);
    if (!n)
      each[total++] = mlirArrayAttrGetElement(all, i);
  }
  mlirOperationSetAttributeByName(function, tileString(name), mlirArrayAttrGet(context, total, each));
  free(each);
}

static void changeType(MlirOperation function) {
  MlirType type = mlirTypeAttrGetValue(funcFuncOpGetFunctionType(function));
  expandAttributes(function, "arg_attrs", mlirFunctionTypeGetNumInputs(type), mlirFunctionTypeGetInput);
  expandAttributes(function, "res_attrs", mlirFunctionTypeGetNumResults(type), mlirFunctionTypeGetResult);
  funcFuncOpSetFunctionType(function, mlirTypeAttrGet(expandedType(type)));
}

static uint64_t expandArguments(Table *table, MlirBlock entry, MlirLocation location) {
  uint64_t count = 0;
  for (intptr_t i = 0; i < mlirBlockGetNumArguments(entry); ++i) {
    MlirValue argument = mlirBlockGetArgument(entry, i);
    TileQuantizedPart parts[TileQuantizedMaxParts];
    if (!tileTypeIsQuantized(mlirValueGetType(argument)))
      continue;
    Known *known = add(table, argument);
    known->count = tileQuantizedTypeGetParts(mlirValueGetType(argument), parts);
    for (intptr_t k = 0; k < known->count; ++k)
      known->parts[k] = mlirBlockInsertArgument(entry, ++i, parts[k].type, location);
    ++count;
  }
  return count;
}

static void eraseArguments(MlirBlock entry) {
  for (intptr_t i = mlirBlockGetNumArguments(entry) - 1; i >= 0; --i)
    if (tileTypeIsQuantized(mlirValueGetType(mlirBlockGetArgument(entry, i))))
      mlirBlockEraseArgument(entry, (unsigned)i);
}

//===--- ops ----------------------------------------------------------------------------------------===//

static bool touches(MlirOperation op) {
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); ++i)
    if (tileTypeIsQuantized(mlirValueGetType(mlirOperationGetOperand(op, i))))
      return true;
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); ++i)
    if (tileTypeIsQuantized(mlirValueGetType(mlirOperationGetResult(op, i))))
      return true;
  return false;
}

// The op's operands, quantized ones as their parts.
static intptr_t expandOperands(const Table *table, MlirOperation op, MlirValue *out) {
  intptr_t total = 0;
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); ++i) {
    MlirValue value = mlirOperationGetOperand(op, i);
    const Known *known = tileTypeIsQuantized(mlirValueGetType(value)) ? find(table, value) : NULL;
    if (!known)
      out[total++] = value;
    for (intptr_t k = 0; known && k < known->count; ++k)
      out[total++] = known->parts[k];
  }
  return total;
}

static MlirValue *roomForOperands(MlirOperation op) {
  return malloc(((size_t)mlirOperationGetNumOperands(op) * TileQuantizedMaxParts + 1) * sizeof(MlirValue));
}

static void expandReturn(const Table *table, MlirOperation op) {
  MlirValue *operands = roomForOperands(op);
  TileBuilder b = tileBuilderBefore(op);
  funcReturnOpBuild(&b, expandOperands(table, op, operands), operands);
  free(operands);
}

static void expandCall(Table *table, MlirOperation op) {
  MlirValue *operands = roomForOperands(op);
  TileBuilder b = tileBuilderBefore(op);
  intptr_t count = expandOperands(table, op, operands), results = mlirOperationGetNumResults(op), total = 0;
  MlirType *types = malloc(((size_t)results * TileQuantizedMaxParts + 1) * sizeof *types);
  TileQuantizedPart parts[TileQuantizedMaxParts];
  for (intptr_t i = 0; i < results; ++i) {
    MlirType type = mlirValueGetType(mlirOperationGetResult(op, i));
    intptr_t n = tileTypeIsQuantized(type) ? tileQuantizedTypeGetParts(type, parts) : 0;
    for (intptr_t k = 0; k < n; ++k)
      types[total++] = parts[k].type;
    if (!n)
      types[total++] = type;
  }
  MlirOperation call = funcCallOpCreate(&b, total, types, count, operands, funcCallOpGetCallee(op),
                                        (MlirAttribute){NULL}, (MlirAttribute){NULL}, (MlirAttribute){NULL});
  for (intptr_t i = 0, next = 0; i < results; ++i) {
    MlirValue old = mlirOperationGetResult(op, i);
    if (!tileTypeIsQuantized(mlirValueGetType(old))) {
      mlirValueReplaceAllUsesOfWith(old, mlirOperationGetResult(call, next++));
      continue;
    }
    Known *known = add(table, old);
    known->count = tileQuantizedTypeGetParts(mlirValueGetType(old), parts);
    for (intptr_t k = 0; k < known->count; ++k)
      known->parts[k] = mlirOperationGetResult(call, next++);
  }
  free(types);
  free(operands);
}

static bool expandOp(Table *table, MlirOperation op) {
  if (tileAssembleQuantizedOpIsA(op)) {
    Known *known = add(table, tileOnlyResult(op));
    known->count = mlirOperationGetNumOperands(op);
    for (intptr_t i = 0; i < known->count; ++i)
      known->parts[i] = mlirOperationGetOperand(op, i);
  } else if (tileDisassembleQuantizedOpIsA(op)) {
    const Known *known = find(table, tileOnlyOperand(op));
    for (intptr_t i = 0; known && i < known->count; ++i)
      mlirValueReplaceAllUsesOfWith(mlirOperationGetResult(op, i), known->parts[i]);
  } else if (tileDequantizeOpIsA(op)) {
    const Known *known = find(table, tileOnlyOperand(op));
    TileBuilder b = tileBuilderBefore(op);
    MlirAttribute flags = tileDequantizeOpGetReassoc(op); // null: none
    if (!mlirAttributeIsNull(flags))
      flags = tileFastMathAttr(b.context, TileFastMath_Reassociate);
    if (known)
      mlirValueReplaceAllUsesOfWith(tileOnlyResult(op),
                                    buildElements(&b, tileOnlyOperandType(op), known->parts, flags));
  } else if (funcCallOpIsA(op)) {
    expandCall(table, op);
  } else if (funcReturnOpIsA(op)) {
    expandReturn(table, op);
  } else {
    return tileError(op, "takes or gives a quantized tensor; accepted are tile.assemble_quantized, "
                         "tile.disassemble_quantized, tile.dequantize, func.call and func.return");
  }
  return true;
}

static bool expandFunction(MlirOperation function, uint64_t *count) {
  Table table = {NULL};
  MlirBlock entry = mlirRegionGetFirstBlock(funcFuncOpGetBody(function));
  if (!mlirBlockIsNull(entry))
    *count += expandArguments(&table, entry, mlirOperationGetLocation(function));
  TileOps ops = tileCollectOps(function, touches);
  bool ok = true;
  for (intptr_t i = 0; i < ops.count && ok; ++i)
    ok = expandOp(&table, ops.items[i]);
  for (intptr_t i = ops.count - 1; i >= 0 && ok; --i)
    mlirOperationDestroy(ops.items[i]);
  *count += (uint64_t)ops.count;
  if (ok && !mlirBlockIsNull(entry))
    eraseArguments(entry);
  if (ok)
    changeType(function);
  tileOpsFree(&ops);
  free(table.items);
  return ok;
}

//===--- the pass -----------------------------------------------------------------------------------===//

static bool run(MlirOperation module, MlirExtPass pass) {
  TileOps functions = tileCollectOps(module, funcFuncOpIsA);
  uint64_t count = 0;
  bool ok = true;
  for (intptr_t i = 0; i < functions.count && ok; ++i)
    ok = expandFunction(functions.items[i], &count);
  mlirExtPassAddStatistic(pass, 0, count);
  tileOpsFree(&functions);
  return ok;
}

const MlirExtPassDefinition tileExpandQuantizedPass = {
    .argument = "tile-expand-quantized",
    .summary = "Make quantized tensors codes, scales and zeros, and their elements linalg",
    .anchor = builtinModuleOpName,
    .statistics = statistics,
    .dialects = (const char *const[]){"tensor", "linalg", "arith", "func", NULL},
    .registerDialects = tileRegisterDialect,
    .run = run,
};
