// Products of matrices: MatMul, Gemm, Einsum, integers with zero points. See operators.def.
#include "lib/import/onnx/compose.h"
#include "lib/import/onnx/operators.h"

#include "upstream/arith.h"
#include "upstream/math.h"

#include <ctype.h>
#include <string.h>

OnnxValue *onnxSumOfProducts(Node *node, OnnxValue *a, const char *aLabels, OnnxValue *b, const char *bLabels,
                             const char *labels) {
  OnnxType type = onnxSumType(a->type);
  OnnxValue *sum = onnxEinsum(node, type, a, aLabels, b, bLabels, labels);
  return sum ? onnxCast(node, sum, a->type) : NULL;
}

// Batch axes of size 1 are left out; where only the running program knows, they are repeated.
static OnnxValue *batchLabels(Node *node, OnnxValue *x, int rank, const MlirValue *sizes, char *labels) {
  uint32_t dropped = 0;
  int own = x->rank - 2, count = 0;
  MlirValue wanted[OnnxMaxRank];
  bool isOpen = false;
  for (int d = 0; d < x->rank; ++d)
    wanted[d] = x->sizes[d];
  for (int d = 0; d < own; ++d) {
    MlirValue size = sizes[rank - own + d];
    if (onnxStatic(x->sizes[d]) == 1 && onnxStatic(size) != 1) {
      dropped |= 1u << d;
      continue;
    }
    isOpen |= !onnxIsSame(x->sizes[d], size);
    wanted[d] = size;
    labels[count++] = (char)('A' + rank - own + d);
  }
  labels[count] = 0;
  if (isOpen)
    x = onnxBroadcastTo(node, x, x->rank, wanted);
  return x && dropped ? onnxSqueeze(node, x, dropped) : x;
}

OnnxValue *onnxMatMulOf(Node *node, OnnxValue *a, OnnxValue *b) {
  bool isRow = a->rank == 1, isColumn = b->rank == 1;
  if (a->rank == 0 || b->rank == 0) {
    onnxError(node, "a scalar is no matrix");
    return NULL;
  }
  if (isRow)
    a = onnxUnsqueeze(node, a, 1, 2);
  if (isColumn)
    b = onnxUnsqueeze(node, b, 2, 2);
  OnnxValue batches[2] = {*a, *b}, *const inputs[] = {&batches[0], &batches[1]};
  batches[0].rank = a->rank - 2;
  batches[1].rank = b->rank - 2;
  MlirValue sizes[OnnxMaxRank];
  int rank;
  char aLabels[OnnxMaxRank + 3], bLabels[OnnxMaxRank + 3], labels[OnnxMaxRank + 3];
  if (!onnxBroadcastSizes(node, 2, inputs, &rank, sizes))
    return NULL;
  a = batchLabels(node, a, rank, sizes, aLabels);
  b = batchLabels(node, b, rank, sizes, bLabels);
  if (!a || !b)
    return NULL;
  for (int d = 0; d < rank; ++d)
    labels[d] = (char)('A' + d);
  labels[rank] = 0;
  strcat(aLabels, "mk");
  strcat(bLabels, "kn");
  strcat(labels, "mn");
  OnnxValue *result = onnxSumOfProducts(node, a, aLabels, b, bLabels, labels);
  uint32_t dropped = (uint32_t)isRow << rank | (uint32_t)isColumn << (rank + 1);
  return result && dropped ? onnxSqueeze(node, result, dropped) : result;
}

bool onnxEmitMatMul(Node *node) {
  if (node->in[0]->type != node->in[1]->type)
    return onnxError(node, "inputs have the types %s and %s", onnxTypeName(node->in[0]->type),
                     onnxTypeName(node->in[1]->type));
  return onnxReturn(node, onnxMatMulOf(node, node->in[0], node->in[1]));
}

static OnnxValue *scale(Node *node, OnnxValue *x, double by) {
  if (!x || by == 1)
    return x;
  if (onnxIsFloat(x->type))
    return onnxWithNumber(node, ArithOp_MulF, x, by);
  OnnxValue *real = onnxWithNumber(node, ArithOp_MulF, onnxCast(node, x, Onnx_F64), by);
  return real ? onnxCast(node, real, x->type) : NULL;
}

bool onnxEmitGemm(Node *node) {
  OnnxValue *a = node->in[0], *b = node->in[1], *c = node->in[2];
  if (a->rank != 2 || b->rank != 2 || a->type != b->type)
    return onnxError(node, "requires two matrices of one type");
  const char *aLabels = onnxInt(node, "transA", 0) ? "km" : "mk", *bLabels = onnxInt(node, "transB", 0) ? "nk" : "kn";
  double beta = onnxReal(node, "beta", 1);
  OnnxValue *result = scale(node, onnxSumOfProducts(node, a, aLabels, b, bLabels, "mn"), onnxReal(node, "alpha", 1));
  if (c && beta != 0)
    result = onnxAdd(node, result, scale(node, c, beta));
  return onnxReturn(node, result);
}

//===--- einsum ---------------------------------------------------------------===//

enum { MaxText = 128 };

// The labels of an operand, "..." as capitals counted from the last.
static bool readTerm(Node *node, const char **at, const char *end, const OnnxValue *x, char *labels) {
  int count = 0, letters = 0;
  const char *stop = *at;
  while (stop < end && *stop != ',' && *stop != '-')
    letters += isalpha((unsigned char)*stop++) != 0;
  for (; *at < stop; ++*at) {
    if (**at == '.') {
      int rest = x ? x->rank - letters : 0;
      for (int i = 0; i < rest && count < OnnxMaxRank; ++i)
        labels[count++] = (char)('0' + 9 - rest + 1 + i);
      while (*at + 1 < stop && (*at)[1] == '.')
        ++*at;
    } else if (isalpha((unsigned char)**at) && count < OnnxMaxRank) {
      labels[count++] = **at;
    } else if (**at != ' ') {
      return onnxError(node, "the equation has a '%c'", **at);
    }
  }
  labels[count] = 0;
  return !x || count == x->rank || onnxError(node, "the equation does not fit an input of rank %d", x->rank);
}

static bool isBefore(const char *text, int end, char label) { return memchr(text, label, (size_t)end) != NULL; }

// Without an arrow: the ellipsis, then labels that occur once, in alphabetical order.
static void impliedLabels(int count, char (*terms)[OnnxMaxRank + 1], char *labels) {
  int number = 0;
  for (int c = '0'; c <= 'z'; ++c) {
    int times = 0;
    for (int t = 0; t < count; ++t)
      for (const char *at = terms[t]; *at; ++at)
        times += *at == c;
    if (number < OnnxMaxRank && (isdigit(c) ? times > 0 : times == 1))
      labels[number++] = (char)c;
  }
  labels[number] = 0;
}

// A size of 1 of an ellipsis repeats: its axis goes.
static OnnxValue *dropOnes(Node *node, OnnxValue *x, char *labels, int count, OnnxValue *const *inputs,
                           char (*terms)[OnnxMaxRank + 1]) {
  uint32_t dropped = 0;
  int kept = 0;
  for (int d = 0; d < x->rank; ++d) {
    bool isWider = false;
    for (int t = 0; t < count; ++t)
      for (int e = 0; e < inputs[t]->rank; ++e)
        isWider |= terms[t][e] == labels[d] && onnxStatic(inputs[t]->sizes[e]) != 1;
    if (onnxStatic(x->sizes[d]) == 1 && isWider)
      dropped |= 1u << d;
    else
      labels[kept++] = labels[d];
  }
  labels[kept] = 0;
  return dropped ? onnxSqueeze(node, x, dropped) : x;
}

bool onnxEmitEinsum(Node *node) {
  const OnnxAttribute *equation = onnxAttribute(node, "equation");
  char terms[OnnxMaxInputs][OnnxMaxRank + 1], result[OnnxMaxRank + 1] = "";
  if (!equation || equation->text.length >= MaxText)
    return onnxError(node, "attribute equation is missing or too long");
  const char *at = equation->text.data, *end = at + equation->text.length;
  for (int i = 0; i < node->numIn; ++i) {
    if (!node->in[i] || !readTerm(node, &at, end, node->in[i], terms[i]))
      return node->in[i] ? false : onnxError(node, "input %d is missing", i + 1);
    bool isLast = i + 1 == node->numIn;
    if (!isLast && (at == end || *at != ','))
      return onnxError(node, "the equation has fewer terms than there are inputs");
    at += !isLast;
  }
  char ellipsis[16] = "";
  for (int c = '0'; c <= '9'; ++c)
    for (int t = 0; t < node->numIn; ++t)
      if (strchr(terms[t], c) && !strchr(ellipsis, c))
        strncat(ellipsis, (const char[]){(char)c, 0}, 1);
  if (end - at >= 2 && at[0] == '-' && at[1] == '>') {
    for (at += 2; at < end; ++at) {
      if (*at == '.') {
        if (strlen(result) + strlen(ellipsis) < OnnxMaxRank && !strpbrk(result, "0123456789"))
          strcat(result, ellipsis);
      } else if (isalpha((unsigned char)*at) && strlen(result) < OnnxMaxRank) {
        strncat(result, at, 1);
      } else if (*at != ' ') {
        return onnxError(node, "the equation has a '%c'", *at);
      }
    }
  } else if (at == end) {
    impliedLabels(node->numIn, terms, result);
  } else {
    return onnxError(node, "the equation has more terms than there are inputs");
  }
  for (const char *c = result; *c; ++c) {
    bool found = false;
    for (int t = 0; t < node->numIn; ++t)
      found |= strchr(terms[t], *c) != NULL;
    if (!found || isBefore(result, (int)(c - result), *c))
      return onnxError(node, "label '%c' of the result is in no term, or there twice", *c);
  }
  OnnxValue *inputs[OnnxMaxInputs], *one = onnxScalarValue(node, node->in[0]->type, 1);
  char copies[OnnxMaxInputs][OnnxMaxRank + 1];
  memcpy(copies, terms, sizeof copies);
  for (int i = 0; i < node->numIn; ++i)
    if (!(inputs[i] = dropOnes(node, node->in[i], terms[i], node->numIn, node->in, copies)))
      return false;
  OnnxValue *sum = inputs[0];
  char labels[OnnxMaxRank + 1];
  strcpy(labels, terms[0]);
  for (int i = 1; i < (node->numIn == 1 ? 2 : node->numIn) && sum; ++i) {
    bool isLast = i + 1 >= node->numIn;
    const char *other = node->numIn == 1 ? "" : terms[i];
    char next[OnnxMaxRank + 1] = "";
    for (const char *c = labels; !isLast && *c; ++c) // what later terms or the result need
      if (!strchr(next, *c) && strlen(next) < OnnxMaxRank)
        strncat(next, c, 1);
    for (const char *c = other; !isLast && *c; ++c)
      if (!strchr(next, *c) && strlen(next) < OnnxMaxRank)
        strncat(next, c, 1);
    if (isLast)
      strcpy(next, result);
    sum = onnxSumOfProducts(node, sum, labels, node->numIn == 1 ? one : inputs[i], other, next);
    strcpy(labels, next);
  }
  return onnxReturn(node, sum);
}

//===--- integers with zero points --------------------------------------------===//

// x - zero, as i32; a vector of zeros stands along `axis`.
OnnxValue *onnxCentered(Node *node, OnnxValue *x, OnnxValue *zero, int axis) {
  OnnxValue *wide = onnxCast(node, x, Onnx_I32);
  if (!zero)
    return wide;
  OnnxValue *offset = onnxCast(node, zero, Onnx_I32);
  if (offset->rank == 1 && onnxStatic(offset->sizes[0]) == 1)
    offset = onnxSqueeze(node, offset, 1);
  else if (offset->rank == 1)
    offset = onnxUnsqueeze(node, offset, ((1u << x->rank) - 1) & ~(1u << axis), x->rank);
  return onnxSub(node, wide, offset);
}

bool onnxEmitMatMulInteger(Node *node) {
  OnnxValue *a = onnxCentered(node, node->in[0], node->in[2], node->in[0]->rank - 2);
  OnnxValue *b = onnxCentered(node, node->in[1], node->in[3], node->in[1]->rank - 1);
  return a && b && onnxReturn(node, onnxMatMulOf(node, a, b));
}
