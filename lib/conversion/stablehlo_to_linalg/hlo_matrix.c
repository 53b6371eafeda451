// fft, cholesky and triangular_solve, and LAPACK's functions that JAX calls for the latter two. Loops over tensors: a
// step of cholesky or of a solve depends on those before it. fft is a sum of products with a table of roots of unity;
// cost: n² for each transform of n elements.
#include "lib/conversion/stablehlo_to_linalg/hlo.h"

#include "dialects/foreign/stablehlo/ops.h"
#include "upstream/arith.h"
#include "upstream/linalg.h"
#include "upstream/math.h"
#include "upstream/tensor.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static MlirValue binary(Hlo *h, TileUpstream kind, MlirValue a, MlirValue b) {
  return tileBuildBinary(&h->b, kind, a, b);
}

//===--- fft ------------------------------------------------------------------------------===//

// The constant tensor<n x m> of cos or sin(sign * 2 pi j k / n), times `scale`.
static MlirValue rootsOf(Hlo *h, MlirType element, int64_t n, int64_t rows, int64_t columns, bool isSine, double sign,
                         double scale) {
  int64_t sizes[] = {rows, columns};
  double *values = malloc(sizeof *values * (size_t)(rows * columns + 1));
  for (int64_t j = 0; j < rows; ++j)
    for (int64_t k = 0; k < columns; ++k) {
      // The angle reduced to an eighth, so that exact values come out exact.
      double angle = 2 * M_PI * (double)((j * k) % n) / (double)n;
      int64_t eighths = (j * k) % n * 8;
      double value = isSine ? sign * sin(angle) : cos(angle);
      if (eighths % (2 * n) == 0) {
        static const double cosines[] = {1, 0, -1, 0}, sines[] = {0, 1, 0, -1};
        int64_t quarter = eighths / (2 * n);
        value = isSine ? sign * sines[quarter] : cosines[quarter];
      }
      values[j * columns + k] = value * scale;
    }
  MlirType type = hloTensor(element, 2, sizes);
  MlirAttribute attribute;
  if (mlirTypeIsAF64(element)) {
    attribute = mlirDenseElementsAttrDoubleGet(type, rows * columns, values);
  } else {
    float *singles = malloc(sizeof *singles * (size_t)(rows * columns + 1));
    for (int64_t i = 0; i < rows * columns; ++i)
      singles[i] = (float)values[i];
    attribute = mlirDenseElementsAttrFloatGet(type, rows * columns, singles);
    free(singles);
  }
  free(values);
  return tileBuildConstant(&h->b, attribute);
}

static bool sumBody(Hlo *h, const HloGeneric *generic, const MlirValue *arguments, MlirValue *results) {
  TileUpstream kind = *(const TileUpstream *)generic->data;
  results[0] = binary(h, kind, arguments[2], binary(h, ArithOp_MulF, arguments[0], arguments[1]));
  return true;
}

// sum over j of tensor[…, j, …] * table[j, k], at dimension d, added to (or taken from) `sum`.
static MlirValue multiplied(Hlo *h, MlirValue tensor, MlirValue table, int64_t d, MlirValue sum, bool isMinus) {
  MlirExtShape shape;
  mlirExtTypeGetShape(mlirValueGetType(tensor), &shape);
  TileUpstream kind = isMinus ? ArithOp_SubF : ArithOp_AddF;
  HloGeneric generic = {.parallel = shape.rank, .reductions = 1, .body = sumBody, .data = &kind};
  int64_t at[HloMaxRank];
  for (intptr_t i = 0; i < shape.rank; ++i)
    at[i] = i == d ? shape.rank : i;
  MlirValue result;
  hloAddInput(&generic, tensor, hloMapOf(h, shape.rank + 1, shape.rank, at));
  hloAddInput(&generic, table, hloMapOf(h, shape.rank + 1, 2, (int64_t[]){shape.rank, d}));
  hloAddOutput(&generic, sum, hloFirst(h, shape.rank + 1, shape.rank));
  hloBuildGeneric(h, &generic, &result);
  return result;
}

// One transform along dimension d: of `from` elements to `to`, n its length; a real operand has one part.
static HloValue transformed(Hlo *h, HloValue value, int64_t d, int64_t n, int64_t to, bool isInverse) {
  MlirExtShape shape;
  mlirExtTypeGetShape(mlirValueGetType(value.parts[0]), &shape);
  int64_t sizes[HloMaxRank], from = shape.sizes[d];
  memcpy(sizes, shape.sizes, sizeof *sizes * (size_t)shape.rank);
  sizes[d] = to;
  double scale = isInverse ? 1.0 / (double)n : 1, sign = isInverse ? 1 : -1;
  MlirValue cosines = rootsOf(h, shape.element, n, from, to, false, sign, scale);
  MlirValue sines = rootsOf(h, shape.element, n, from, to, true, sign, scale);
  MlirValue zero = hloFilled(h, tileBuildFloat(&h->b, shape.element, 0), shape.rank, sizes);
  HloValue result = {
      2,
      {multiplied(h, value.parts[0], cosines, d, zero, false), multiplied(h, value.parts[0], sines, d, zero, false)}};
  if (value.count == 2) {
    result.parts[0] = multiplied(h, value.parts[1], sines, d, result.parts[0], true);
    result.parts[1] = multiplied(h, value.parts[1], cosines, d, result.parts[1], false);
  }
  return result;
}

// The half of a hermitian spectrum as a whole: element k is the conjugate of element n - k.
static bool mirrorBody(Hlo *h, const HloGeneric *generic, const MlirValue *arguments, MlirValue *results) {
  const struct {
    HloValue value;
    intptr_t rank;
    int64_t half, n;
  } *data = generic->data;
  MlirType i64 = mlirIntegerTypeGet(h->b.context, 64);
  MlirValue at[HloMaxRank];
  for (intptr_t i = 0; i < data->rank; ++i)
    at[i] = linalgIndexOpBuild(&h->b, mlirIntegerAttrGet(i64, i));
  MlirValue last = at[data->rank - 1];
  MlirValue isStored = arithCmpIOpBuild(&h->b, last, tileBuildIndex(&h->b, data->half), ArithCmpI_Ult);
  at[data->rank - 1] = hloSelect(h, isStored, last, tileBuildSub(&h->b, tileBuildIndex(&h->b, data->n), last));
  results[0] = tensorExtractOpBuild(&h->b, data->value.parts[0], data->rank, at);
  MlirValue im = tensorExtractOpBuild(&h->b, data->value.parts[1], data->rank, at);
  results[1] = hloSelect(h, isStored, im, tileBuildUnary(&h->b, ArithOp_NegF, im));
  return true;
}

static bool fft(Hlo *h, MlirOperation op) {
  StablehloList length = stablehloList(stablehloFftOpGetFftLength(op));
  StablehloFft kind = stablehloWordOf(stablehloFftOpGetFftType(op));
  MlirExtShape from = hloShape(tileOnlyOperand(op)), to = hloShape(tileOnlyResult(op));
  HloValue value = hloGetTensor(h, tileOnlyOperand(op));
  bool isInverse = kind == StablehloFft_Ifft || kind == StablehloFft_Irfft;
  bool isEmpty = false;
  MlirType element = hloElement(from.element);
  if (!value.count)
    return false;
  if (!mlirTypeIsAF32(element) && !mlirTypeIsAF64(element))
    return tileError(op, "cannot be converted to linalg for elements of this type");
  for (intptr_t d = 0; d < to.rank; ++d)
    isEmpty |= to.sizes[d] == 0 || from.sizes[d] == 0;
  for (intptr_t i = 0; i < length.count; ++i)
    if (length.items[i] > 1 << 12)
      return tileError(op, "has length %ld; lengths to %d can be converted to linalg", (long)length.items[i], 1 << 12);
  if (isEmpty) {
    MlirValue zero = hloFilled(h, tileBuildFloat(&h->b, hloElement(to.element), 0), to.rank, to.sizes);
    hloSet(h, tileOnlyResult(op), (HloValue){hloIsComplex(to.element) ? 2 : 1, {zero, zero}});
    return true;
  }
  if (kind == StablehloFft_Irfft) {
    int64_t sizes[HloMaxRank], n = length.items[length.count - 1];
    // All but the last dimension first: the last one's half is then that of a hermitian spectrum.
    for (intptr_t i = 0; i + 1 < length.count; ++i)
      value = transformed(h, value, from.rank - length.count + i, length.items[i], length.items[i], true);
    memcpy(sizes, from.sizes, sizeof *sizes * (size_t)from.rank);
    sizes[from.rank - 1] = n;
    struct {
      HloValue value;
      intptr_t rank;
      int64_t half, n;
    } data = {value, from.rank, n / 2 + 1, n};
    HloGeneric mirror = {.parallel = from.rank, .body = mirrorBody, .data = &data};
    for (int part = 0; part < 2; ++part)
      hloAddOutput(&mirror, hloEmpty(h, hloElement(from.element), from.rank, sizes), hloIdentity(h, from.rank));
    if (!hloBuildGeneric(h, &mirror, value.parts))
      return false;
    value = transformed(h, value, from.rank - 1, n, n, true);
    value.count = 1;
    hloSet(h, tileOnlyResult(op), value);
    return true;
  }
  for (intptr_t i = length.count; i-- > 0;) {
    int64_t d = from.rank - length.count + i;
    value = transformed(h, value, d, length.items[i], to.sizes[d], isInverse);
  }
  hloSet(h, tileOnlyResult(op), value);
  return true;
}

//===--- loops over scalars -------------------------------------------------------------------===//

typedef struct Loop {
  TileBuilder outer;
  MlirOperation op;
  MlirValue index;
  HloValue value; // that the loop carries: tensors or scalars
} Loop;

static Loop enter(Hlo *h, MlirValue lower, MlirValue upper, HloValue value) {
  MlirBlock body;
  MlirOperation op = tileBuildFor(&h->b, lower, upper, tileBuildIndex(&h->b, 1), value.count, value.parts, &body);
  Loop loop = {h->b, op, mlirBlockGetArgument(body, 0), {value.count, {{NULL}}}};
  for (int part = 0; part < value.count; ++part)
    loop.value.parts[part] = mlirBlockGetArgument(body, 1 + part);
  h->b = tileBuilderAtEnd(body, loop.outer.location);
  return loop;
}

static HloValue leave(Hlo *h, const Loop *loop, HloValue value) {
  tileBuildYield(&h->b, value.count, value.parts);
  h->b = loop->outer;
  for (int part = 0; part < value.count; ++part)
    value.parts[part] = mlirOperationGetResult(loop->op, part);
  return value;
}

// Element (i, j) of the matrix that the batch's indices name.
static HloValue elementAt(Hlo *h, HloValue tensor, intptr_t rank, MlirValue *batch, MlirValue i, MlirValue j) {
  batch[rank - 2] = i;
  batch[rank - 1] = j;
  for (int part = 0; part < tensor.count; ++part)
    tensor.parts[part] = tensorExtractOpBuild(&h->b, tensor.parts[part], rank, batch);
  return tensor;
}
static HloValue withElement(Hlo *h, HloValue tensor, HloValue value, intptr_t rank, MlirValue *batch, MlirValue i,
                            MlirValue j) {
  batch[rank - 2] = i;
  batch[rank - 1] = j;
  for (int part = 0; part < tensor.count; ++part)
    tensor.parts[part] = tensorInsertOpBuild(&h->b, value.parts[part], tensor.parts[part], rank, batch);
  return tensor;
}

// Loops over the batch, `depth` of them entered; `fill` works on one matrix.
typedef struct Matrices {
  MlirExtShape shape; // of the tensor that changes
  HloValue a;
  MlirValue batch[HloMaxRank];
  bool lower, left, transposed, conjugated, unit;
  HloValue (*fill)(Hlo *h, struct Matrices *m, HloValue tensor);
} Matrices;

static HloValue overBatch(Hlo *h, Matrices *m, intptr_t depth, HloValue tensor) {
  if (depth == m->shape.rank - 2)
    return m->fill(h, m, tensor);
  Loop loop = enter(h, tileBuildIndex(&h->b, 0), tileBuildIndex(&h->b, m->shape.sizes[depth]), tensor);
  m->batch[depth] = loop.index;
  return leave(h, &loop, overBatch(h, m, depth + 1, loop.value));
}

//===--- cholesky -----------------------------------------------------------------------------===//

// Row by row: L[i, j] = (A[i, j] - sum over k < j of L[i, k] conj(L[j, k])) / L[j, j], on the diagonal the root of the
// real part. The tensor holds A at first; of an upper triangle, rows and columns are exchanged.
static HloValue at(Hlo *h, Matrices *m, HloValue tensor, MlirValue i, MlirValue j) {
  return elementAt(h, tensor, m->shape.rank, m->batch, m->lower ? i : j, m->lower ? j : i);
}

static HloValue factorize(Hlo *h, Matrices *m, HloValue tensor) {
  MlirValue zero = tileBuildIndex(&h->b, 0), one = tileBuildIndex(&h->b, 1);
  MlirValue size = tileBuildIndex(&h->b, m->shape.sizes[m->shape.rank - 1]);
  Loop rows = enter(h, zero, size, tensor);
  Loop columns = enter(h, zero, tileBuildAdd(&h->b, rows.index, one), rows.value);
  Loop sum = enter(h, zero, columns.index, at(h, m, columns.value, rows.index, columns.index));
  HloValue other = hloConjugate(h, at(h, m, columns.value, columns.index, sum.index));
  HloValue product = hloMultiply(h, at(h, m, columns.value, rows.index, sum.index), other);
  HloValue rest = leave(h, &sum, hloSubtract(h, sum.value, product));
  MlirValue isDiagonal = arithCmpIOpBuild(&h->b, rows.index, columns.index, ArithCmpI_Eq);
  HloValue value = hloDivide(h, rest, at(h, m, columns.value, columns.index, columns.index));
  value.parts[0] = hloSelect(h, isDiagonal, tileBuildUnary(&h->b, MathOp_Sqrt, rest.parts[0]), value.parts[0]);
  if (value.count == 2)
    value.parts[1] =
        hloSelect(h, isDiagonal, tileBuildFloat(&h->b, mlirValueGetType(value.parts[1]), 0), value.parts[1]);
  HloValue next = withElement(h, columns.value, value, m->shape.rank, m->batch, m->lower ? rows.index : columns.index,
                              m->lower ? columns.index : rows.index);
  HloValue row = leave(h, &columns, next);
  return leave(h, &rows, row);
}

static bool choleskyOf(Hlo *h, MlirOperation op, MlirValue operand, MlirValue result, bool lower) {
  HloValue value = hloGetTensor(h, operand);
  Matrices m = {.shape = hloShape(operand), .lower = lower, .fill = factorize};
  if (!mlirShapedTypeHasStaticShape(mlirValueGetType(operand)))
    return tileError(op, "cannot be converted to linalg with open sizes");
  if (!value.count)
    return false;
  hloSet(h, result, overBatch(h, &m, 0, value));
  return true;
}

//===--- triangular_solve ----------------------------------------------------------------------===//

// op(A) X = B by substitution, or X op(A) = B, which is op(A)' X' = B'. Column c of X at a time.
static HloValue matrixAt(Hlo *h, Matrices *m, MlirValue i, MlirValue k) {
  bool isTurned = m->transposed != !m->left;
  HloValue element = elementAt(h, m->a, m->shape.rank, m->batch, isTurned ? k : i, isTurned ? i : k);
  return m->conjugated ? hloConjugate(h, element) : element;
}
static HloValue solutionAt(Hlo *h, Matrices *m, HloValue tensor, MlirValue i, MlirValue c) {
  return elementAt(h, tensor, m->shape.rank, m->batch, m->left ? i : c, m->left ? c : i);
}

static HloValue substitute(Hlo *h, Matrices *m, HloValue tensor) {
  intptr_t rank = m->shape.rank;
  int64_t size = m->shape.sizes[m->left ? rank - 2 : rank - 1], others = m->shape.sizes[m->left ? rank - 1 : rank - 2];
  bool isForward = m->lower == (m->transposed == !m->left); // op(A) is a lower triangle
  MlirValue zero = tileBuildIndex(&h->b, 0), one = tileBuildIndex(&h->b, 1), last = tileBuildIndex(&h->b, size - 1);
  Loop columns = enter(h, zero, tileBuildIndex(&h->b, others), tensor);
  Loop rows = enter(h, zero, tileBuildIndex(&h->b, size), columns.value);
  MlirValue i = isForward ? rows.index : tileBuildSub(&h->b, last, rows.index);
  MlirValue first = isForward ? zero : tileBuildAdd(&h->b, i, one);
  MlirValue end = isForward ? i : tileBuildIndex(&h->b, size);
  Loop sum = enter(h, first, end, solutionAt(h, m, rows.value, i, columns.index));
  HloValue product =
      hloMultiply(h, matrixAt(h, m, i, sum.index), solutionAt(h, m, rows.value, sum.index, columns.index));
  HloValue value = leave(h, &sum, hloSubtract(h, sum.value, product));
  if (!m->unit)
    value = hloDivide(h, value, matrixAt(h, m, i, i));
  HloValue next =
      withElement(h, rows.value, value, rank, m->batch, m->left ? i : columns.index, m->left ? columns.index : i);
  HloValue column = leave(h, &rows, next);
  return leave(h, &columns, column);
}

static bool solve(Hlo *h, MlirOperation op, MlirValue a, MlirValue b, MlirValue result, Matrices m) {
  HloValue matrix = hloGetTensor(h, a), value = hloGetTensor(h, b);
  m.shape = hloShape(b);
  m.fill = substitute;
  if (!matrix.count || !value.count)
    return false;
  if (!mlirShapedTypeHasStaticShape(mlirValueGetType(a)) || !mlirShapedTypeHasStaticShape(mlirValueGetType(b)))
    return tileError(op, "cannot be converted to linalg with open sizes");
  m.a = matrix;
  hloSet(h, result, overBatch(h, &m, 0, value));
  return true;
}

static bool triangularSolve(Hlo *h, MlirOperation op) {
  StablehloTranspose transpose = stablehloWordOf(stablehloTriangularSolveOpGetTransposeA(op));
  Matrices m = {.lower = stablehloTriangularSolveOpGetLowerValue(op),
                .left = stablehloTriangularSolveOpGetLeftSideValue(op),
                .unit = stablehloTriangularSolveOpGetUnitDiagonalValue(op),
                .transposed = transpose != StablehloTranspose_None,
                .conjugated = transpose == StablehloTranspose_Adjoint};
  return solve(h, op, stablehloTriangularSolveOpGetA(op), stablehloTriangularSolveOpGetB(op), tileOnlyResult(op), m);
}

//===--- LAPACK's by name ------------------------------------------------------------------------===//

// The letter that the call's configuration gives under a name, `uplo = 76 : ui8`; 0: none.
static int letterOf(MlirOperation op, const char *name) {
  MlirAttribute configuration = tileOpAttribute(op, "mhlo.backend_config");
  if (mlirAttributeIsNull(configuration) || !mlirAttributeIsADictionary(configuration))
    return 0;
  MlirAttribute letter = mlirDictionaryAttrGetElementByName(configuration, tileString(name));
  return mlirAttributeIsNull(letter) || !mlirAttributeIsAInteger(letter) ? 0 : (int)mlirIntegerAttrGetValueUInt(letter);
}

static bool isNamed(MlirOperation op, const char *name) {
  MlirStringRef target = mlirStringAttrGetValue(stablehloCustomCallOpGetCallTargetName(op));
  char text[32];
  for (const char *type = "sdcz"; *type; ++type) { // f32, f64 and complex numbers of both
    snprintf(text, sizeof text, "lapack_%c%s_ffi", *type, name);
    if (tileStringEquals(target, text))
      return true;
  }
  return false;
}

// The second result says of each matrix whether the decomposition failed: a pivot is no number then.
static bool failedBody(Hlo *h, const HloGeneric *generic, const MlirValue *arguments, MlirValue *results) {
  MlirValue isBad = arithCmpFOpBuild(&h->b, arguments[0], arguments[0], ArithCmpF_Uno);
  results[0] = hloSelect(h, isBad, tileBuildInteger(&h->b, mlirValueGetType(arguments[1]), 1), arguments[1]);
  return true;
}

static bool lapackCholesky(Hlo *h, MlirOperation op) {
  MlirValue operand = stablehloCustomCallOpGetInputs(op, 0), result = stablehloCustomCallOpGetResults(op, 0);
  MlirValue info = stablehloCustomCallOpGetResults(op, 1), built;
  MlirExtShape shape = hloShape(operand), infos = hloShape(info);
  if (!choleskyOf(h, op, operand, result, letterOf(op, "uplo") == 'L'))
    return false;
  HloGeneric generic = {.parallel = infos.rank, .reductions = 1, .body = failedBody};
  int64_t at[HloMaxRank];
  for (intptr_t i = 0; i < shape.rank; ++i)
    at[i] = i < infos.rank ? i : infos.rank;
  MlirType element = hloElement(infos.element);
  hloAddInput(&generic, hloGet(h, result).parts[0], hloMapOf(h, infos.rank + 1, shape.rank, at));
  hloAddOutput(&generic, hloFilled(h, tileBuildInteger(&h->b, element, 0), infos.rank, infos.sizes),
               hloFirst(h, infos.rank + 1, infos.rank));
  if (!hloBuildGeneric(h, &generic, &built))
    return false;
  hloSetOne(h, info, infos.rank ? built : hloFromTensor(h, built));
  return true;
}

static bool areMatrices(MlirOperation op, intptr_t inputs, intptr_t results) {
  bool ok = stablehloCustomCallOpGetNumInputs(op) == inputs && stablehloCustomCallOpGetNumResults(op) == results;
  for (intptr_t i = 0; ok && i < inputs; ++i) {
    MlirType type = mlirValueGetType(stablehloCustomCallOpGetInputs(op, i));
    ok = mlirTypeIsARankedTensor(type) && mlirShapedTypeGetRank(type) >= 2 &&
         mlirShapedTypeGetRank(type) <= HloMaxRank &&
         mlirTypeIsAFloat(hloElement(mlirShapedTypeGetElementType(type))) && mlirShapedTypeHasStaticShape(type);
  }
  MlirType first = ok ? mlirValueGetType(stablehloCustomCallOpGetInputs(op, inputs - 1)) : (MlirType){NULL};
  ok = ok && mlirTypeEqual(mlirValueGetType(stablehloCustomCallOpGetResults(op, 0)), first);
  MlirExtShape a = ok ? hloShape(stablehloCustomCallOpGetInputs(op, 0)) : (MlirExtShape){0};
  ok = ok && a.sizes[a.rank - 1] == a.sizes[a.rank - 2];
  return ok || tileError(op, "calls LAPACK with other values than it takes");
}

static bool lapackSolve(Hlo *h, MlirOperation op) {
  MlirValue a = stablehloCustomCallOpGetInputs(op, 0), b = stablehloCustomCallOpGetInputs(op, 1);
  MlirExtShape matrix = hloShape(a), sides = hloShape(b);
  Matrices m = {.lower = letterOf(op, "uplo") == 'L',
                .left = letterOf(op, "side") == 'L',
                .unit = letterOf(op, "diag") == 'U',
                .transposed = letterOf(op, "trans_x") != 'N',
                .conjugated = letterOf(op, "trans_x") == 'C'};
  bool fits = matrix.rank == sides.rank && mlirTypeEqual(matrix.element, sides.element) &&
              matrix.sizes[matrix.rank - 1] == sides.sizes[sides.rank - (m.left ? 2 : 1)];
  for (intptr_t i = 0; fits && i < matrix.rank - 2; ++i)
    fits = matrix.sizes[i] == sides.sizes[i];
  return fits ? solve(h, op, a, b, stablehloCustomCallOpGetResults(op, 0), m)
              : tileError(op, "calls LAPACK with other values than it takes");
}

static bool infoFits(MlirOperation op) {
  MlirType type = mlirValueGetType(stablehloCustomCallOpGetResults(op, 1));
  MlirExtShape shape, matrices = hloShape(stablehloCustomCallOpGetInputs(op, 0));
  bool ok = mlirTypeIsARankedTensor(type) && mlirExtTypeGetShape(type, &shape) && shape.rank == matrices.rank - 2 &&
            mlirTypeIsAInteger(shape.element);
  for (intptr_t i = 0; ok && i < shape.rank; ++i)
    ok = shape.sizes[i] == matrices.sizes[i];
  return ok || tileError(op, "calls LAPACK with other values than it takes");
}

bool hloMatrix(Hlo *h, MlirOperation op, bool *isKnown) {
  *isKnown = true;
  switch (stablehloOpKind(op)) {
  case StablehloOp_Fft:
    return fft(h, op);
  case StablehloOp_Cholesky: {
    MlirAttribute lower = stablehloCholeskyOpGetLower(op);
    return choleskyOf(h, op, tileOnlyOperand(op), tileOnlyResult(op),
                      !mlirAttributeIsNull(lower) && mlirBoolAttrGetValue(lower));
  }
  case StablehloOp_TriangularSolve:
    return triangularSolve(h, op);
  case StablehloOp_CustomCall:
    if (isNamed(op, "potrf"))
      return areMatrices(op, 1, 2) && infoFits(op) && lapackCholesky(h, op);
    if (isNamed(op, "trsm"))
      return areMatrices(op, 2, 1) && lapackSolve(h, op);
    break;
  default:
    break;
  }
  *isKnown = false;
  return true;
}
