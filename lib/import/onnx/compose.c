// Values by one op each, for operators made of several. See compose.h.
#include "lib/import/onnx/compose.h"

#include "upstream/arith.h"
#include "upstream/math.h"

static MlirValue apply(Body *body, const MlirValue *x) { return onnxOp(body, *(const int *)body->data, x); }

OnnxValue *onnxUnary(Node *node, TileUpstream op, OnnxValue *x) {
  return x ? onnxMap(node, x->type, 1, &x, apply, &op) : NULL;
}

OnnxValue *onnxBinary(Node *node, TileUpstream op, OnnxValue *x, OnnxValue *y) {
  return x && y ? onnxMap(node, x->type, 2, (OnnxValue *[]){x, y}, apply, &op) : NULL;
}

OnnxValue *onnxWithNumber(Node *node, TileUpstream op, OnnxValue *x, double number) {
  return x ? onnxBinary(node, op, x, onnxScalarValue(node, x->type, number)) : NULL;
}

OnnxValue *onnxAdd(Node *node, OnnxValue *x, OnnxValue *y) {
  return x && y ? onnxBinary(node, onnxIsFloat(x->type) ? ArithOp_AddF : ArithOp_AddI, x, y) : NULL;
}

OnnxValue *onnxSub(Node *node, OnnxValue *x, OnnxValue *y) {
  return x && y ? onnxBinary(node, onnxIsFloat(x->type) ? ArithOp_SubF : ArithOp_SubI, x, y) : NULL;
}

OnnxValue *onnxMul(Node *node, OnnxValue *x, OnnxValue *y) {
  return x && y ? onnxBinary(node, onnxIsFloat(x->type) ? ArithOp_MulF : ArithOp_MulI, x, y) : NULL;
}

OnnxType onnxSumType(OnnxType type) { return onnxIsFloat(type) && onnxTypeBytes(type) < 4 ? Onnx_F32 : type; }
