// tile-quantize-weights{method=round|gptq|awq bits=4 group=128 hessians=F.npz …}: products by constant weights of f32
// read codes of 2, 4 or 8 bits.
//
//   %c = linalg.matmul ins(%x, %w : tensor<1x512xf32>, tensor<512x256xf32>)
//   becomes the form in which exporters write a quantized product: codes in bytes, the lowest bits first, a row for
//   each n; shifts, a mask and a conversion; (code - zero) · scale of the group; a product by the converted weights.
// tile-find-low-bit, in every pipeline, then lets the product read the codes.
// Expects: func.func on tensors, before any lowering. Leaves: other products, weights of other types and weights whose
// k is no multiple of the group (an error, unless `only` leaves them out) as they are. Cost: linear in the weights;
// gptq: cubic in k; awq: a square of k for each power. Papers: GPTQ (Frantar et al., ICLR 2023), AWQ (Lin et al., MLSys
// 2024).
#include "lib/transforms/quantize/quantize.h"

#include "dialects/tile/tile.h"
#include "lib/ir/builder.h"
#include "lib/support/npy/npz.h"
#include "lib/transforms/quantize/forms.h"
#include "lib/transforms/quantize/quantizer.h"
#include "mlir-c/BuiltinAttributes.h"
#include "upstream/arith.h"
#include "upstream/func.h"
#include "upstream/linalg.h"
#include "upstream/tensor.h"

#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { Quantized, Before, After };

static const char *const statistics[] = {"quantized: products that read codes now", "before: bytes of their weights",
                                         "after: bytes of codes, scales and zeros", NULL};

typedef struct Run {
  MlirExtPass pass;
  TileQuantizer quantizer;
  tessera_arrays_t hessians;
  bool needsHessians, explains, hasOnly;
  regex_t only; // of products' names: the function's, a number sign, the product's number in it
} Run;

//===--- constants ----------------------------------------------------------------------------------===//

static void freeBytes(void *userData, const void *data, size_t size, size_t align) { free((void *)(uintptr_t)data); }

// A constant that takes the bytes, which aligned_alloc made.
static MlirValue constantOf(TileBuilder *b, MlirType type, size_t size, void *bytes) {
  enum { Alignment = 64 };
  return tileBuildConstant(b, mlirUnmanagedDenseResourceElementsAttrGet(type, tileString("quantized"), bytes, size,
                                                                        Alignment, false, freeBytes, NULL));
}

static void *allocate(size_t size) { return aligned_alloc(64, (size + 63) / 64 * 64 + 64); }

// Codes side by side in bytes, the lowest bits first.
static unsigned char *packed(const TileQuantizer *quantizer, int64_t count, const unsigned char *codes) {
  int perByte = 8 / quantizer->bits;
  unsigned char *bytes = allocate((size_t)(count / perByte));
  for (int64_t i = 0; bytes && i < count / perByte; ++i) {
    bytes[i] = 0;
    for (int j = 0; j < perByte; ++j)
      bytes[i] |= (unsigned char)(codes[i * perByte + j] << (j * quantizer->bits));
  }
  return bytes;
}

static void *copyOf(const void *from, size_t size) {
  void *bytes = allocate(size);
  return bytes ? memcpy(bytes, from, size) : NULL;
}

//===--- the program --------------------------------------------------------------------------------===//

static MlirValue emptyOf(TileBuilder *b, int rank, const int64_t *shape, MlirType element) {
  return tensorEmptyOpBuild(b, tileFormTensor(rank, shape, element), 0, NULL);
}

// columns × depth codes of i8 from bytes that hold several.
static MlirValue buildUnpacked(TileBuilder *b, const TileQuantizer *quantizer, int64_t columns, int64_t depth,
                               MlirValue bytes) {
  enum { MostCodes = 4 };
  int perByte = 8 / quantizer->bits;
  MlirType i8 = mlirIntegerTypeGet(b->context, 8);
  if (perByte == 1)
    return bytes;
  int64_t count = perByte, shape[3] = {columns, depth / perByte, perByte};
  int8_t shifts[MostCodes];
  for (int i = 0; i < perByte; ++i)
    shifts[i] = (int8_t)(i * quantizer->bits);
  MlirAttribute table = mlirDenseElementsAttrInt8Get(tileFormTensor(1, &count, i8), perByte, shifts);
  TileFormOperand operands[] = {
      {bytes, 2, {0, 1}}, {tileBuildConstant(b, table), 1, {2}}, {emptyOf(b, 3, shape, i8), 3, {0, 1, 2}}};
  TileBuilder inside;
  MlirOperation generic = tileFormGeneric(b, 3, 0, 2, operands, &inside);
  MlirValue mask = tileBuildInteger(&inside, i8, (1 << quantizer->bits) - 1);
  MlirValue code =
      arithShRUIOpBuild(&inside, mlirBlockGetArgument(inside.block, 0), mlirBlockGetArgument(inside.block, 1));
  code = arithAndIOpBuild(&inside, code, mask);
  linalgYieldOpBuild(&inside, 1, &code);
  return tensorCollapseShapeOpBuild(b, tileFormTensor(2, (int64_t[]){columns, depth}, i8), tileOnlyResult(generic),
                                    tileFormCut(b, false));
}

// (code - zero) · scale. A symmetric zero is the number that all groups have.
static MlirValue buildWeights(TileBuilder *b, const TileQuantizer *quantizer, int64_t columns, int64_t depth,
                              MlirValue codes, MlirValue scales, MlirValue zeros) {
  int64_t shape[3] = {columns, depth / quantizer->group, quantizer->group};
  MlirType i8 = mlirIntegerTypeGet(b->context, 8), f32 = mlirF32TypeGet(b->context);
  MlirValue groups = tensorExpandShapeOpBuild(b, tileFormTensor(3, shape, i8), codes, 0, NULL, tileFormCut(b, false),
                                              mlirDenseI64ArrayGet(b->context, 3, shape));
  TileFormOperand operands[4] = {{groups, 3, {0, 1, 2}}, {scales, 2, {0, 1}}, {zeros, 2, {0, 1}}};
  int count = quantizer->isSymmetric ? 2 : 3;
  operands[count] = (TileFormOperand){emptyOf(b, 3, shape, f32), 3, {0, 1, 2}};
  TileBuilder inside;
  MlirOperation generic = tileFormGeneric(b, 3, 0, count, operands, &inside);
  MlirValue code = arithUIToFPOpBuild(&inside, f32, mlirBlockGetArgument(inside.block, 0));
  MlirValue zero = quantizer->isSymmetric ? tileBuildFloat(&inside, f32, 1 << (quantizer->bits - 1))
                                          : arithUIToFPOpBuild(&inside, f32, mlirBlockGetArgument(inside.block, 2));
  MlirValue weight =
      arithMulFOpBuild(&inside, arithSubFOpBuild(&inside, code, zero), mlirBlockGetArgument(inside.block, 1));
  linalgYieldOpBuild(&inside, 1, &weight);
  return tensorCollapseShapeOpBuild(b, tileFormTensor(2, (int64_t[]){columns, depth}, f32), tileOnlyResult(generic),
                                    tileFormCut(b, false));
}

// x times a number for each input.
static MlirValue buildScaled(TileBuilder *b, MlirValue x, int depthAxis, MlirValue factors) {
  TileFormOperand operands[] = {
      {x, 2, {0, 1}}, {factors, 1, {depthAxis}}, {tileBuildEmptyLike(b, mlirValueGetType(x), x), 2, {0, 1}}};
  TileBuilder inside;
  MlirOperation generic = tileFormGeneric(b, 2, 0, 2, operands, &inside);
  MlirValue scaled =
      arithMulFOpBuild(&inside, mlirBlockGetArgument(inside.block, 0), mlirBlockGetArgument(inside.block, 1));
  linalgYieldOpBuild(&inside, 1, &scaled);
  return tileOnlyResult(generic);
}

// `factors`: of the inputs; null: none.
static MlirValue buildProduct(TileBuilder *b, const TileWeightedProduct *weighted, MlirValue weights,
                              MlirValue factors) {
  const TileMatrixProduct *product = &weighted->product;
  MlirValue x = mlirOperationGetOperand(weighted->op, product->lhs);
  if (!mlirValueIsNull(factors))
    x = buildScaled(b, x, product->transposeLhs ? 0 : 1, factors);
  TileFormOperand operands[] = {{x, 2, {product->transposeLhs ? 2 : 0, product->transposeLhs ? 0 : 2}},
                                {weights, 2, {1, 2}},
                                {mlirOperationGetOperand(weighted->op, product->init), 2, {0, 1}}};
  TileBuilder inside;
  MlirOperation generic = tileFormGeneric(b, 3, 1, 2, operands, &inside);
  MlirValue term =
      arithMulFOpBuild(&inside, mlirBlockGetArgument(inside.block, 0), mlirBlockGetArgument(inside.block, 1));
  MlirValue sum = arithAddFOpBuild(&inside, mlirBlockGetArgument(inside.block, 2), term);
  linalgYieldOpBuild(&inside, 1, &sum);
  return tileOnlyResult(generic);
}

//===--- one product --------------------------------------------------------------------------------===//

// The weights as rows of n; the caller frees them where they are not those of the program.
static float *rowsOf(const TileWeightedProduct *weighted) {
  int64_t columns = weighted->columns, depth = weighted->depth;
  float *rows = malloc((size_t)(columns * depth) * sizeof *rows);
  for (int64_t n = 0; rows && n < columns; ++n)
    for (int64_t k = 0; k < depth; ++k)
      rows[n * depth + k] = weighted->weights[weighted->product.transposeRhs ? n * depth + k : k * columns + n];
  return rows;
}

static bool findHessian(const Run *run, const TileWeightedProduct *weighted, intptr_t number, const float **hessian) {
  *hessian = NULL;
  if (!run->needsHessians)
    return true;
  const tessera_named_array_t *named = &run->hessians.items[number];
  const tessera_array_t *array = &named->array;
  char text[128];
  bool fits = array->element == TESSERA_F32 && array->rank == 2 && array->shape[0] == weighted->depth &&
              array->shape[1] == weighted->depth;
  *hessian = array->data;
  return fits || tileError(weighted->op, "Hessian %s is %s; its product needs %lldx%lldxf32", named->name,
                           tessera_array_describe(array, text, sizeof text), (long long)weighted->depth,
                           (long long)weighted->depth);
}

// 1 / inputs, as a constant; null without inputs, or where there is no memory.
static MlirValue factorsOf(TileBuilder *b, const TileQuantized *q, int64_t depth) {
  float *factors = q->inputs ? allocate((size_t)depth * sizeof *factors) : NULL;
  for (int64_t k = 0; factors && k < depth; ++k)
    factors[k] = 1 / q->inputs[k];
  return factors ? constantOf(b, tileFormTensor(1, &depth, mlirF32TypeGet(b->context)), (size_t)depth * sizeof *factors,
                              factors)
                 : (MlirValue){NULL};
}

static bool replace(const Run *run, const TileWeightedProduct *weighted, const TileQuantized *q) {
  const TileQuantizer *quantizer = &run->quantizer;
  int64_t columns = weighted->columns, depth = weighted->depth, perByte = 8 / quantizer->bits;
  int64_t codes[2] = {columns, depth / perByte}, groups[2] = {columns, depth / quantizer->group};
  size_t numbers = (size_t)(groups[0] * groups[1]), bytes = (size_t)(codes[0] * codes[1]);
  void *scales = copyOf(q->scales, numbers * sizeof(float)), *code = packed(quantizer, columns * depth, q->codes);
  void *zeros = quantizer->isSymmetric ? NULL : copyOf(q->zeros, numbers);
  if (!scales || !code || (!zeros && !quantizer->isSymmetric)) {
    free(scales);
    free(code);
    free(zeros);
    return tileError(weighted->op, "out of memory");
  }
  TileBuilder b = tileBuilderBefore(weighted->op);
  MlirType i8 = mlirIntegerTypeGet(b.context, 8), f32 = mlirF32TypeGet(b.context);
  MlirValue none = {NULL}, ofCodes = constantOf(&b, tileFormTensor(2, codes, i8), bytes, code);
  MlirValue ofScales = constantOf(&b, tileFormTensor(2, groups, f32), numbers * sizeof(float), scales);
  MlirValue ofZeros = zeros ? constantOf(&b, tileFormTensor(2, groups, i8), numbers, zeros) : none;
  MlirValue weights = buildWeights(&b, quantizer, columns, depth, buildUnpacked(&b, quantizer, columns, depth, ofCodes),
                                   ofScales, ofZeros);
  MlirValue factors = factorsOf(&b, q, depth);
  if (q->inputs && mlirValueIsNull(factors))
    return tileError(weighted->op, "out of memory");
  mlirValueReplaceAllUsesOfWith(tileOnlyResult(weighted->op), buildProduct(&b, weighted, weights, factors));
  size_t after = bytes + numbers * (sizeof(float) + !quantizer->isSymmetric);
  after += q->inputs ? (size_t)depth * sizeof(float) : 0;
  size_t before = (size_t)(columns * depth) * sizeof(float);
  if (run->explains)
    tileRemark(weighted->op, "%d bits in groups of %lld: error %.4f, %zu bytes of %zu", quantizer->bits,
               (long long)quantizer->group, q->error, after, before);
  mlirExtPassAddStatistic(run->pass, Quantized, 1);
  mlirExtPassAddStatistic(run->pass, Before, before);
  mlirExtPassAddStatistic(run->pass, After, after);
  MlirOperation constant = tileDefiningOp(mlirOperationGetOperand(weighted->op, weighted->product.rhs));
  mlirOperationDestroy(weighted->op);
  if (mlirOpOperandIsNull(mlirValueGetFirstUse(tileOnlyResult(constant))))
    mlirOperationDestroy(constant);
  return true;
}

static bool quantize(const Run *run, const TileWeightedProduct *weighted, intptr_t number) {
  const float *hessian;
  TileQuantizer quantizer = run->quantizer;
  if (quantizer.group <= 0 || quantizer.group > weighted->depth)
    quantizer.group = weighted->depth;
  if (weighted->depth % quantizer.group || quantizer.group % (8 / quantizer.bits))
    return tileError(weighted->op, "group: %lld is no divisor of k, which is %lld, or no whole bytes of codes",
                     (long long)quantizer.group, (long long)weighted->depth);
  if (!findHessian(run, weighted, number, &hessian))
    return false;
  float *rows = rowsOf(weighted);
  TileQuantized quantized = {.fault = "out of memory"};
  bool ok = rows && tileQuantize(&quantizer, weighted->columns, weighted->depth, rows, hessian, &quantized);
  free(rows);
  if (!ok)
    return tileError(weighted->op, "cannot be quantized: %s", quantized.fault ? quantized.fault : "out of memory");
  Run own = *run;
  own.quantizer = quantizer;
  ok = replace(&own, weighted, &quantized);
  tileQuantizedFree(&quantized);
  return ok;
}

//===--- the pass -----------------------------------------------------------------------------------===//

static bool isChosen(const Run *run, MlirOperation function, intptr_t number) {
  MlirStringRef symbol = mlirStringAttrGetValue(funcFuncOpGetSymName(function));
  char name[512];
  snprintf(name, sizeof name, "%.*s#%ld", (int)symbol.length, symbol.data, (long)number);
  return !run->hasOnly || regexec(&run->only, name, 0, NULL, 0) == 0;
}

static bool readOnly(MlirOperation function, Run *run) {
  MlirStringRef text = mlirExtPassGetString(run->pass, "only");
  char pattern[512];
  snprintf(pattern, sizeof pattern, "%.*s", (int)text.length, text.data);
  run->hasOnly = text.length > 0;
  return !run->hasOnly || regcomp(&run->only, pattern, REG_EXTENDED | REG_NOSUB) == 0 ||
         ((run->hasOnly = false), tileError(function, "only: '%s' is no regular expression", pattern));
}

static bool readHessians(MlirOperation function, Run *run, intptr_t products) {
  MlirStringRef path = mlirExtPassGetString(run->pass, "hessians");
  tessera_error_t error;
  char text[4096];
  if (!run->needsHessians)
    return true;
  if (!path.length)
    return tileError(function, "method=gptq and method=awq need hessians=F.npz, which tile-collect-hessians gives");
  snprintf(text, sizeof text, "%.*s", (int)path.length, path.data);
  if (!tessera_arrays_read(&run->hessians, text, &error))
    return tileError(function, "hessians: %s", error.text);
  return run->hessians.count == products ||
         tileError(function, "hessians: %s has %d arrays; the function has %ld products by constant weights", text,
                   run->hessians.count, (long)products);
}

static bool readOptions(MlirOperation function, Run *run) {
  MlirStringRef method = mlirExtPassGetString(run->pass, "method"), order = mlirExtPassGetString(run->pass, "order");
  int64_t bits = mlirExtPassGetInteger(run->pass, "bits");
  bool isAwq = tileStringEquals(method, "awq");
  run->needsHessians = isAwq || tileStringEquals(method, "gptq");
  run->explains = mlirExtPassGetBool(run->pass, "remarks");
  run->quantizer = (TileQuantizer){.bits = (int)bits,
                                   .group = mlirExtPassGetInteger(run->pass, "group"),
                                   .isSymmetric = mlirExtPassGetBool(run->pass, "symmetric"),
                                   .isByActivation = tileStringEquals(order, "activation"),
                                   .isScaled = isAwq};
  if (!run->needsHessians && !tileStringEquals(method, "round"))
    return tileError(function, "method is '%.*s'; accepts round, gptq and awq", (int)method.length, method.data);
  if (!run->quantizer.isByActivation && !tileStringEquals(order, "rows"))
    return tileError(function, "order is '%.*s'; accepts rows and activation", (int)order.length, order.data);
  return bits == 2 || bits == 4 || bits == 8 || tileError(function, "bits: %lld; accepts 2, 4 and 8", (long long)bits);
}

static bool run(MlirOperation function, MlirExtPass pass) {
  Run r = {.pass = pass};
  TileWeightedProducts products = tileCollectWeightedProducts(function);
  bool ok = !products.count ||
            (readOptions(function, &r) && readOnly(function, &r) && readHessians(function, &r, products.count));
  for (intptr_t i = 0; ok && i < products.count; ++i)
    if (isChosen(&r, function, i))
      ok = quantize(&r, &products.items[i], i);
  if (r.hasOnly)
    regfree(&r.only);
  tessera_arrays_destroy(&r.hessians);
  free(products.items);
  return ok;
}

const MlirExtPassDefinition tileQuantizeWeightsPass = {
    .argument = "tile-quantize-weights",
    .summary = "Make codes of few bits of constant weights, as exporters write quantized products",
    .anchor = funcFuncOpName,
    .options =
        (const MlirExtPassOption[]){
            {"method", "round (to the nearest), gptq or awq", MlirExtOption_String, "round"},
            {"bits", "of a code: 2, 4 or 8", MlirExtOption_Integer, "4"},
            {"group", "neighbours along k that share a scale; 0: all of k", MlirExtOption_Integer, "128"},
            {"symmetric", "the zero is the middle of the codes", MlirExtOption_Bool, "true"},
            {"order", "of rounding by gptq: rows (of k), or activation: largest inputs first", MlirExtOption_String,
             "rows"},
            {"hessians", "for gptq and awq: a .npz of one array for each product, in order", MlirExtOption_String, ""},
            {"only", "a regular expression for the names of products: main#0 is the first of @main",
             MlirExtOption_String, ""},
            {"remarks", "tell error and bytes of each product", MlirExtOption_Bool, "false"},
            {NULL}},
    .statistics = statistics,
    .dialects = (const char *const[]){"arith", "linalg", "tensor", NULL},
    .registerDialects = tileRegisterDialect,
    .run = run,
};
