// Operators: questions about operands, and the usual ones made by hand. See operator.h.
#include "lib/search/operator.h"

#include <string.h>

bool tileOperandIsIndexedBy(const TileOperatorOperand *operand, int dim) {
  for (int axis = 0; axis < operand->rank; ++axis)
    if (operand->factors[axis][dim])
      return true;
  return false;
}

int64_t tileOperandCount(const TileOperatorOperand *operand) {
  int64_t count = 1;
  if (operand->held)
    return operand->held;
  for (int axis = 0; axis < operand->rank; ++axis)
    count *= operand->extents[axis];
  return count;
}

static void addDim(TileOperator *op, int64_t extent, bool isReduction) {
  op->dims[op->numDims++] =
      (TileOperatorDim){.extent = extent < 1 ? 1 : extent, .isReduction = isReduction, .mayTile = true, .beside = ~0u};
}

// An operand whose axes are these dimensions, one each.
static TileOperatorOperand *addOperand(TileOperator *op, int64_t bits, int rank, const int *dims) {
  TileOperatorOperand *operand = &op->operands[op->numOperands++];
  *operand = (TileOperatorOperand){.bits = bits, .rank = rank, .isRead = true};
  for (int axis = 0; axis < rank; ++axis) {
    operand->factors[axis][dims[axis]] = 1;
    operand->extents[axis] = op->dims[dims[axis]].extent;
  }
  return operand;
}

static void makeOutput(TileOperatorOperand *operand) {
  operand->isOutput = true;
  operand->isRead = false;
}

TileOperator tileOperatorProduct(int64_t m, int64_t n, int64_t k, const char *type, int64_t bits, int64_t sumBits) {
  TileOperator op = {
      .type = type, .operations = 2, .mostTiled = 3, .n = 1, .k = 2, .rhs = 1, .out = 2, .isMatrix = true, .group = 1};
  addDim(&op, m, false);
  addDim(&op, n, false);
  addDim(&op, k, true);
  addOperand(&op, bits, 2, (const int[]){0, 2});
  addOperand(&op, bits, 2, (const int[]){2, 1});
  makeOutput(addOperand(&op, sumBits, 2, (const int[]){0, 1}));
  return op;
}

TileOperator tileOperatorElementwise(int rank, const int64_t *shape, int inputs, const char *type, int64_t bits) {
  TileOperator op = {.type = type, .operations = 1, .mostTiled = 2, .m = -1, .n = -1, .k = -1};
  int dims[TileOperatorDims];
  for (int i = 0; i < rank; ++i) {
    addDim(&op, shape[i], false);
    dims[i] = i;
  }
  for (int i = 0; i <= inputs; ++i)
    addOperand(&op, bits, rank, dims);
  makeOutput(&op.operands[inputs]);
  return op;
}

TileOperator tileOperatorReduction(int rank, const int64_t *shape, const char *type, int64_t bits) {
  TileOperator op = tileOperatorElementwise(rank, shape, 1, type, bits);
  op.dims[rank - 1].isReduction = true;
  op.operands[1].rank = rank - 1;
  return op;
}

// Makes room for an axis before `axis`.
static void insertAxis(TileOperatorOperand *operand, int axis, int64_t extent, int dim) {
  for (int i = operand->rank++; i > axis; --i) {
    operand->extents[i] = operand->extents[i - 1];
    memcpy(operand->factors[i], operand->factors[i - 1], sizeof operand->factors[i]);
  }
  operand->extents[axis] = extent;
  memset(operand->factors[axis], 0, sizeof operand->factors[axis]);
  operand->factors[axis][dim] = 1;
}

TileOperator tileOperatorParts(const TileOperator *product, int64_t parts) {
  TileOperator op = *product;
  int dim = op.numDims;
  addDim(&op, parts, false);
  op.dims[dim].mayTile = false;
  op.dims[op.k].extent /= parts;
  const int factors[] = {op.lhs, op.rhs};
  for (int i = 0; i < 2; ++i) {
    TileOperatorOperand *operand = &op.operands[factors[i]];
    for (int axis = 0; axis < operand->rank; ++axis)
      if (operand->factors[axis][op.k]) {
        operand->extents[axis] /= parts;
        insertAxis(operand, axis, parts, dim);
        break;
      }
  }
  insertAxis(&op.operands[op.out], 0, parts, dim);
  op.operands[op.out].isRead = false;
  op.storedBits = 0;
  return op;
}

TileOperator tileOperatorSumOfParts(const TileOperator *parts, const char *type) {
  const TileOperatorOperand *out = &parts->operands[parts->out];
  TileOperator op = tileOperatorElementwise(out->rank, out->extents, 1, type, out->bits);
  op.dims[0].isReduction = true;
  op.operands[1].rank = out->rank - 1;
  for (int axis = 0; axis + 1 < out->rank; ++axis) {
    op.operands[1].extents[axis] = op.operands[1].extents[axis + 1];
    memcpy(op.operands[1].factors[axis], op.operands[1].factors[axis + 1], sizeof op.operands[1].factors[axis]);
  }
  return op;
}
