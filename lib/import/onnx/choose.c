// Operators that choose elements by comparing them with each other: NonMaxSuppression, Unique. See operators.def.
#include "lib/import/onnx/compose.h"
#include "lib/import/onnx/control_flow.h"
#include "lib/import/onnx/operators.h"
#include "lib/import/onnx/tensors.h"

#include "lib/import/onnx/fold.h"
#include "lib/ir/support.h"
#include "upstream/arith.h"
#include "upstream/math.h"

#include <math.h>
#include <string.h>

static MlirValue asNumber(Body *body, MlirValue index) {
  return onnxFromIndex(body, index, mlirIntegerTypeGet(body->b->context, 64));
}

static MlirValue isEither(Body *body, MlirValue a, MlirValue b) { return ONNX_OP(ArithOp_OrI, a, b); }
static MlirValue areBoth(Body *body, MlirValue a, MlirValue b) { return ONNX_OP(ArithOp_AndI, a, b); }

//===--- NonMaxSuppression ----------------------------------------------------===//

// All classes of all images choose at once, in rounds: each takes its best box that is left, and removes the boxes that
// overlap with that one.
typedef struct Suppression {
  OnnxValue *boxes, *scores;      // B×N×4, B×C×N
  OnnxValue *left, *best, *first; // of the round: B×C×N, whether a box is left; B×C, its score and its number, or N
  MlirValue overlap, least;       // thresholds; null: none
  bool isCentered;                // boxes are center and size, else two corners
} Suppression;

static MlirValue isCandidate(Body *body) {
  const Suppression *by = body->data;
  MlirValue score = onnxAt(body, by->scores, body->index);
  return onnxCompareF(body, ArithCmpF_Ogt, score,
                      mlirValueIsNull(by->least) ? onnxNumber(body, score, -INFINITY) : by->least);
}

static MlirValue scoreIfLeft(Body *body) {
  const Suppression *by = body->data;
  MlirValue score = onnxAt(body, by->scores, body->index);
  return onnxSelect(body, onnxAt(body, by->left, body->index), score, onnxNumber(body, score, -INFINITY));
}

// The number of a box whose score is the best, N of other boxes.
static MlirValue numberIfBest(Body *body) {
  const Suppression *by = body->data;
  MlirValue isBest =
      onnxCompareF(body, ArithCmpF_Oeq, onnxAt(body, by->scores, body->index), onnxAt(body, by->best, body->index));
  MlirValue number = onnxSelect(body, areBoth(body, isBest, onnxAt(body, by->left, body->index)), body->index[2],
                                by->scores->sizes[2]);
  return asNumber(body, number);
}

typedef struct Box {
  MlirValue low[2], high[2], area;
} Box;

static Box boxAt(Body *body, const Suppression *by, MlirValue number) {
  MlirValue x[4];
  Box box;
  for (int i = 0; i < 4; ++i) {
    const MlirValue at[] = {body->index[0], number, tileBuildIndex(body->b, i)};
    x[i] = onnxAt(body, by->boxes, at);
  }
  for (int d = 0; d < 2; ++d) {
    MlirValue half = ONNX_OP(ArithOp_MulF, x[d + 2], onnxNumber(body, x[0], 0.5));
    box.low[d] = by->isCentered ? ONNX_OP(ArithOp_SubF, x[d], half) : ONNX_OP(ArithOp_MinimumF, x[d], x[d + 2]);
    box.high[d] = by->isCentered ? ONNX_OP(ArithOp_AddF, x[d], half) : ONNX_OP(ArithOp_MaximumF, x[d], x[d + 2]);
  }
  box.area = ONNX_OP(ArithOp_MulF, ONNX_OP(ArithOp_SubF, box.high[0], box.low[0]),
                     ONNX_OP(ArithOp_SubF, box.high[1], box.low[1]));
  return box;
}

static MlirValue overlaps(Body *body, const Suppression *by, const Box *a, const Box *b) {
  MlirValue zero = onnxNumber(body, a->area, 0), area = {NULL}, isOverlap = {NULL};
  for (int d = 0; d < 2; ++d) {
    MlirValue low = ONNX_OP(ArithOp_MaximumF, a->low[d], b->low[d]);
    MlirValue size = ONNX_OP(ArithOp_SubF, ONNX_OP(ArithOp_MinimumF, a->high[d], b->high[d]), low);
    MlirValue is = onnxCompareF(body, ArithCmpF_Ogt, size, zero);
    area = d ? ONNX_OP(ArithOp_MulF, area, size) : size;
    isOverlap = d ? areBoth(body, isOverlap, is) : is;
  }
  MlirValue whole = ONNX_OP(ArithOp_SubF, ONNX_OP(ArithOp_AddF, a->area, b->area), area);
  const MlirValue areas[] = {a->area, b->area, whole};
  for (int i = 0; i < 3; ++i)
    isOverlap = areBoth(body, isOverlap, onnxCompareF(body, ArithCmpF_Ogt, areas[i], zero));
  MlirValue ratio = ONNX_OP(ArithOp_DivF, area, whole);
  return areBoth(body, isOverlap, onnxCompareF(body, ArithCmpF_Ogt, ratio, by->overlap));
}

static MlirValue staysLeft(Body *body) {
  const Suppression *by = body->data;
  MlirValue one = tileBuildIndex(body->b, 1), last = ONNX_OP(ArithOp_SubI, by->scores->sizes[2], one);
  MlirValue first = ONNX_OP(ArithOp_MinSI, onnxToIndex(body, onnxAt(body, by->first, body->index)), last);
  Box chosen = boxAt(body, by, first), own = boxAt(body, by, body->index[2]);
  MlirValue isChosen = onnxCompareI(body, ArithCmpI_Eq, body->index[2], first);
  MlirValue falls = isEither(body, isChosen, overlaps(body, by, &chosen, &own)),
            left = onnxAt(body, by->left, body->index);
  return areBoth(body, left,
                 onnxCompareI(body, ArithCmpI_Eq, falls, tileBuildInteger(body->b, mlirValueGetType(falls), 0)));
}

// A class without a box that is left has chosen -1.
static MlirValue chosenOrNone(Body *body) {
  const Suppression *by = body->data;
  MlirValue first = onnxAt(body, by->first, body->index);
  MlirValue is = onnxCompareI(body, ArithCmpI_Slt, first, asNumber(body, by->scores->sizes[2]));
  return onnxSelect(body, is, first, onnxNumber(body, first, -1));
}

// state: boxes that are left, B×C×N; chosen boxes, B×C×rounds.
static bool suppressionStep(Node *node, MlirValue at, MlirValue condition, OnnxValue **state, MlirValue *goesOn,
                            const void *data) {
  (void)condition;
  Suppression by = *(const Suppression *)data;
  const MlirValue *sizes = by.scores->sizes;
  by.left = state[0];
  OnnxValue *scores = onnxGenerate(node, by.scores->type, 3, sizes, scoreIfLeft, &by);
  by.best = scores ? onnxReduce(node, OnnxReduce_Max, scores, 4, false) : NULL;
  OnnxValue *numbers = by.best ? onnxGenerate(node, Onnx_I64, 3, sizes, numberIfBest, &by) : NULL;
  by.first = numbers ? onnxReduce(node, OnnxReduce_Min, numbers, 4, false) : NULL;
  OnnxValue *left = by.first ? onnxGenerate(node, Onnx_Bool, 3, sizes, staysLeft, &by) : NULL;
  OnnxValue *chosen = left ? onnxGenerate(node, Onnx_I64, 2, sizes, chosenOrNone, &by) : NULL;
  OnnxValue *any = chosen ? onnxReduce(node, OnnxReduce_Max, left, 7, false) : NULL;
  MlirValue *element = any ? onnxRead(node, any) : NULL;
  if (!element)
    return false;
  state[0] = left;
  state[1] = onnxWithRow(node, state[1], 2, at, chosen);
  *goesOn = element[0];
  return true;
}

typedef struct Chosen {
  OnnxValue *boxes, *places; // B×C×rounds; 3×M: which of them are chosen
} Chosen;

static MlirValue isChosen(Body *body, const MlirValue *x) {
  return onnxCompareI(body, ArithCmpI_Sge, x[0], onnxNumber(body, x[0], 0));
}

static MlirValue chosenTriple(Body *body) { // M × (image, class, box)
  const Chosen *by = body->data;
  MlirValue at[3];
  for (int d = 0; d < 3; ++d)
    at[d] =
        onnxToIndex(body, onnxAt(body, by->places, (const MlirValue[]){tileBuildIndex(body->b, d), body->index[0]}));
  MlirValue place = onnxAt(body, by->places, (const MlirValue[]){body->index[1], body->index[0]});
  MlirValue isBox = onnxCompareI(body, ArithCmpI_Eq, body->index[1], tileBuildIndex(body->b, 2));
  return onnxSelect(body, isBox, onnxAt(body, by->boxes, at), place);
}

static bool threshold(Node *node, int input, OnnxType type, MlirValue *number) {
  OnnxValue *x = node->in[input];
  if (!x || onnxCount(x) == 0)
    return true;
  x = onnxIsFloat(x->type) ? onnxCast(node, x, type) : NULL;
  MlirValue *element = x && onnxCount(x) == 1 ? onnxRead(node, x) : NULL;
  if (!element)
    return onnxError(node, "input %d is not one number", input + 1);
  *number = element[0];
  return true;
}

bool onnxEmitNonMaxSuppression(Node *node) {
  Body at = {.node = node, .b = node->b, .isFolding = true}, *body = &at;
  Suppression by = {
      .boxes = node->in[0], .scores = node->in[1], .isCentered = onnxInt(node, "center_point_box", 0) != 0};
  if (by.boxes->rank != 3 || by.scores->rank != 3 || onnxStatic(by.boxes->sizes[2]) != 4 ||
      by.scores->type != by.boxes->type)
    return onnxError(node, "requires B×N×4 numbers of boxes and B×C×N scores");
  OnnxType type = by.scores->type;
  const MlirValue *sizes = by.scores->sizes;
  MlirValue zero = tileBuildIndex(node->b, 0), most = zero;
  int count;
  if (!onnxCheckSame(node, by.boxes->sizes[0], sizes[0], "images of boxes and scores") ||
      !onnxCheckSame(node, by.boxes->sizes[1], sizes[2], "numbers of boxes and of scores") ||
      (node->in[2] && onnxCount(node->in[2]) != 0 && !onnxReadIndices(node, node->in[2], 1, &most, &count)))
    return false;
  by.overlap = tileBuildFloat(node->b, onnxElementType(node, type), 0);
  if (!threshold(node, 3, type, &by.overlap) || !threshold(node, 4, type, &by.least))
    return false;
  MlirValue rounds = ONNX_OP(ArithOp_MaxSI, ONNX_OP(ArithOp_MinSI, most, sizes[2]), zero);
  const MlirValue chosenSizes[] = {sizes[0], sizes[1], rounds};
  OnnxValue *state[] = {onnxGenerate(node, Onnx_Bool, 3, sizes, isCandidate, &by),
                        onnxFill(node, Onnx_I64, 3, chosenSizes, -1)};
  MlirValue begins = tileBuildInteger(node->b, mlirIntegerTypeGet(node->b->context, 1), 1);
  if (!state[0] || !onnxWhile(node, rounds, begins, 2, state, suppressionStep, &by, NULL))
    return false;
  Chosen chosen = {.boxes = onnxOfTensor(node, Onnx_I64, state[1]->tensor, chosenSizes)};
  OnnxValue *are = onnxMap(node, Onnx_Bool, 1, &chosen.boxes, isChosen, NULL);
  chosen.places = are ? onnxNonZero(node, are) : NULL;
  if (!chosen.places)
    return false;
  const MlirValue result[] = {chosen.places->sizes[1], tileBuildIndex(node->b, 3)};
  return onnxReturn(node, onnxGenerate(node, Onnx_I64, 2, result, chosenTriple, &chosen));
}

//===--- Unique ---------------------------------------------------------------===//

// Rows n×m, each compared with each other.
typedef struct Rows {
  OnnxValue *rows, *differs, *first, *places; // n×n: where two rows begin to differ, or m; n: the first equal row; n:
                                              // the place of a row's kind in the result
  bool isSorted;
  OnnxOrder order;
} Rows;

static MlirValue comesBefore(Body *body, const Rows *by, MlirValue a, MlirValue b) {
  if (by->rows->type != Onnx_Bool)
    return onnxComesBefore(body, a, b, &by->order);
  return onnxCompareI(body, ArithCmpI_Ult, a, b);
}

static MlirValue placeIfDifferent(Body *body) { // n×n×m
  const Rows *by = body->data;
  const MlirValue at[] = {body->index[0], body->index[2]}, other[] = {body->index[1], body->index[2]};
  MlirValue a = onnxAt(body, by->rows, at), b = onnxAt(body, by->rows, other);
  MlirValue differ = isEither(body, comesBefore(body, by, a, b), comesBefore(body, by, b, a));
  return asNumber(body, onnxSelect(body, differ, body->index[2], by->rows->sizes[1]));
}

static MlirValue areEqual(Body *body, const Rows *by, const MlirValue *pair) {
  return onnxCompareI(body, ArithCmpI_Sge, onnxAt(body, by->differs, pair), asNumber(body, by->rows->sizes[1]));
}

static MlirValue numberIfEqual(Body *body) { // n×n
  const Rows *by = body->data;
  MlirValue number = onnxSelect(body, areEqual(body, by, body->index), body->index[1], by->rows->sizes[0]);
  return asNumber(body, number);
}

static MlirValue isFirst(Body *body, const Rows *by, MlirValue row) {
  return onnxCompareI(body, ArithCmpI_Eq, onnxToIndex(body, onnxAt(body, by->first, &row)), row);
}

static MlirValue oneIfBefore(Body *body) { // n×n: does row j stand for a kind before the kind of row i?
  const Rows *by = body->data;
  MlirValue i = body->index[0], j = body->index[1], one = tileBuildIndex(body->b, 1), is;
  if (by->isSorted) {
    MlirValue last = ONNX_OP(ArithOp_SubI, by->rows->sizes[1], one);
    MlirValue at = ONNX_OP(ArithOp_MinSI, onnxToIndex(body, onnxAt(body, by->differs, body->index)), last);
    MlirValue a = onnxAt(body, by->rows, (const MlirValue[]){j, at});
    MlirValue b = onnxAt(body, by->rows, (const MlirValue[]){i, at});
    is = comesBefore(body, by, a, b);
  } else {
    is = onnxCompareI(body, ArithCmpI_Ult, j, onnxToIndex(body, onnxAt(body, by->first, &i)));
  }
  return onnxConvert(body, areBoth(body, is, isFirst(body, by, j)), Onnx_Bool, Onnx_I64);
}

static MlirValue oneIfFirst(Body *body) {
  return onnxConvert(body, isFirst(body, body->data, body->index[0]), Onnx_Bool, Onnx_I64);
}

static MlirValue isOfKind(Body *body) { // kinds×n
  const Rows *by = body->data;
  MlirValue place = onnxToIndex(body, onnxAt(body, by->places, &body->index[1]));
  return onnxCompareI(body, ArithCmpI_Eq, place, body->index[0]);
}

static MlirValue oneIfOfKind(Body *body) { return onnxConvert(body, isOfKind(body), Onnx_Bool, Onnx_I64); }

static MlirValue numberIfFirstOfKind(Body *body) {
  MlirValue is = areBoth(body, isOfKind(body), isFirst(body, body->data, body->index[1]));
  return asNumber(body, onnxSelect(body, is, body->index[1], tileBuildIndex(body->b, 0)));
}

static OnnxValue *generateAndReduce(Node *node, OnnxReduction kind, int rank, const MlirValue *sizes, OnnxPlace *place,
                                    const Rows *by) {
  OnnxValue *all = onnxGenerate(node, Onnx_I64, rank, sizes, place, by);
  return all ? onnxReduce(node, kind, all, 1u << (rank - 1), false) : NULL;
}

typedef struct Kinds {
  OnnxValue *from, *numbers;
  int axis;
} Kinds;

static MlirValue ofKind(Body *body) {
  const Kinds *by = body->data;
  MlirValue index[OnnxMaxRank];
  memcpy(index, body->index, (size_t)by->from->rank * sizeof *index);
  index[by->axis] = onnxToIndex(body, onnxAt(body, by->numbers, &body->index[by->axis]));
  return onnxAt(body, by->from, index);
}

// x with `axis` first, the other axes as one.
static OnnxValue *rowsOf(Node *node, OnnxValue *x, int axis) {
  int order[OnnxMaxRank] = {axis};
  MlirValue sizes[2] = {x->sizes[axis], tileBuildIndex(node->b, 1)};
  for (int d = 0, i = 1; d < x->rank; ++d) {
    if (d == axis)
      continue;
    order[i++] = d;
    sizes[1] = tileBuildMul(node->b, sizes[1], x->sizes[d]);
  }
  OnnxValue *turned = onnxTranspose(node, x, order);
  return turned ? onnxReshape(node, turned, 2, sizes) : NULL;
}

bool onnxEmitUnique(Node *node) {
  OnnxValue *x = node->in[0];
  Body at = {.node = node, .b = node->b, .isFolding = true}, *body = &at;
  Rows by = {.isSorted = onnxInt(node, "sorted", 1) != 0, .order = {true, onnxIsUnsigned(x->type)}};
  int axis = 0;
  if (onnxAttribute(node, "axis")) {
    if (!onnxAxis(node, onnxInt(node, "axis", 0), x->rank, &axis))
      return false;
  } else {
    MlirValue all = tileBuildIndex(node->b, 1);
    for (int d = 0; d < x->rank; ++d)
      all = tileBuildMul(node->b, all, x->sizes[d]);
    x = onnxReshape(node, x, 1, &all);
  }
  by.rows = x ? rowsOf(node, x, axis) : NULL;
  if (!by.rows)
    return false;
  const MlirValue n = by.rows->sizes[0], pairs[] = {n, n, by.rows->sizes[1]};
  by.differs = generateAndReduce(node, OnnxReduce_Min, 3, pairs, placeIfDifferent, &by);
  by.first = by.differs ? generateAndReduce(node, OnnxReduce_Min, 2, pairs, numberIfEqual, &by) : NULL;
  by.places = by.first ? generateAndReduce(node, OnnxReduce_Sum, 2, pairs, oneIfBefore, &by) : NULL;
  OnnxValue *number = by.places ? generateAndReduce(node, OnnxReduce_Sum, 1, pairs, oneIfFirst, &by) : NULL;
  MlirValue *element = number ? onnxRead(node, number) : NULL;
  if (!element)
    return false;
  const MlirValue kinds[] = {onnxToIndex(body, element[0]), n};
  Kinds choice = {.from = x, .axis = axis};
  choice.numbers = generateAndReduce(node, OnnxReduce_Sum, 2, kinds, numberIfFirstOfKind, &by);
  OnnxValue *counts = node->numOut > 3 ? generateAndReduce(node, OnnxReduce_Sum, 2, kinds, oneIfOfKind, &by) : NULL;
  if (!choice.numbers || (node->numOut > 3 && !counts))
    return false;
  MlirValue sizes[OnnxMaxRank];
  memcpy(sizes, x->sizes, sizeof sizes);
  sizes[axis] = kinds[0];
  onnxSetOut(node, 1, choice.numbers);
  onnxSetOut(node, 2, by.places);
  onnxSetOut(node, 3, counts);
  return onnxReturn(node, onnxGenerate(node, x->type, x->rank, sizes, ofKind, &choice));
}
