// Tensors as the importer builds them: for its own files; emitters use node.h.
#pragma once

#include "lib/import/onnx/node.h"

#include "mlir-c/AffineMap.h"

MlirValue onnxEmpty(Node *node, OnnxType type, int rank, const MlirValue *sizes);
MlirValue onnxFilled(Node *node, OnnxType type, int rank, const MlirValue *sizes, MlirValue number);
MlirAttribute onnxZero(const Node *node, OnnxType type);
bool onnxIsUnary(TileUpstream kind);
// The integer of a number that stands for one: the least and the greatest of 64 bits for the infinities.
int64_t onnxInteger(double number);
// A constant of more than 1 KB: a global that names its place in the file (dialects/tile/extern_weights.h), or a
// resource where the file does not hold the data as they are.
// Zeros for a constant that memory has no room for. The model is full, and the import ends after the node.
MlirValue onnxStandIn(Node *node, MlirType type);
MlirValue onnxLargeConstant(Node *node, const OnnxValue *value, MlirType type, size_t size);
MlirValue onnxFromIndex(Body *body, MlirValue x, MlirType type);
// As onnxMap, to a shape that the inputs broadcast to.
OnnxValue *onnxMapTo(Node *node, OnnxType type, int rank, const MlirValue *sizes, int count, OnnxValue *const *inputs,
                     OnnxElement *element, const void *data);
bool onnxBroadcastSizes(Node *node, int count, OnnxValue *const *inputs, int *rank, MlirValue *sizes);

// Bytes as elements of `type`, which onnxTypeIsCode; and back.
OnnxValue *onnxOfCodes(Node *node, OnnxValue *bytes, OnnxType type);
OnnxValue *onnxCodesOf(Node *node, OnnxValue *value);

// What size number `unknown` of a view of x must be, whose other sizes are given.
MlirValue onnxInferSize(Node *node, const OnnxValue *x, int rank, const MlirValue *sizes, int unknown);

// A linalg.generic of one result over `dims` dimensions; maps[count] is the result's. One of element and place is
// given.
typedef struct OnnxGeneric {
  int count, dims;
  MlirValue inputs[OnnxMaxInputs], init;
  MlirAffineMap maps[OnnxMaxInputs + 1];
  uint32_t reduced;
  bool usesIndex;
  OnnxElement *element;
  OnnxPlace *place;
  const void *data;
} OnnxGeneric;
MlirValue onnxGeneric(Node *node, const OnnxGeneric *generic);
MlirAffineMap onnxProjection(MlirContext context, int dims, int rank, const int *axes);
// The axes of an attribute or, from opset `sinceInput` on, of an input.
bool onnxAxes(Node *node, int input, int sinceInput, int rank, uint32_t *axes, bool *has);
// An index that counts from the end where negative.
MlirValue onnxFromEnd(Body *body, MlirValue place, MlirValue size);
