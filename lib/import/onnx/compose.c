// Values by one op each, for operators made of several. See compose.h.
#include "lib/import/onnx/compose.h"

#include "upstream/arith.h"
#include "upstream/math.h"

static MlirValue apply(Body *body, const MlirValue *x) { return onnxOp(body, *(const int *)body->data, x); }

Value *onnxUnary(Node *node, TileUpstream op, Value *x) { return x ? onnxMap(node, x->type, 1, &x, apply, &op) : NULL; }

Value *onnxBinary(Node *node, TileUpstream op, Value *x, Value *y) {
  return x && y ? onnxMap(node, x->type, 2, (Value *[]){x, y}, apply, &op) : NULL;
}

Value *onnxWithNumber(Node *node, TileUpstream op, Value *x, double number) {
  return x ? onnxBinary(node, op, x, onnxScalarValue(node, x->type, number)) : NULL;
}

Value *onnxAdd(Node *node, Value *x, Value *y) {
  return x && y ? onnxBinary(node, onnxIsFloat(x->type) ? ArithOp_AddF : ArithOp_AddI, x, y) : NULL;
}

Value *onnxSub(Node *node, Value *x, Value *y) {
  return x && y ? onnxBinary(node, onnxIsFloat(x->type) ? ArithOp_SubF : ArithOp_SubI, x, y) : NULL;
}

Value *onnxMul(Node *node, Value *x, Value *y) {
  return x && y ? onnxBinary(node, onnxIsFloat(x->type) ? ArithOp_MulF : ArithOp_MulI, x, y) : NULL;
}

OnnxType onnxSumType(OnnxType type) { return onnxIsFloat(type) && onnxTypeBytes(type) < 4 ? Onnx_F32 : type; }
