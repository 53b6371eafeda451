// Operators made of others: values by one op each.
#pragma once

#include "lib/import/onnx/tensors.h"

// An op of arith or math on values of one type, with broadcasting. Null operands give null: an error was reported.
Value *onnxUnary(Node *node, TileUpstream op, Value *x);
Value *onnxBinary(Node *node, TileUpstream op, Value *x, Value *y);
Value *onnxWithNumber(Node *node, TileUpstream op, Value *x, double number); // x op number
Value *onnxAdd(Node *node, Value *x, Value *y);                              // of floats or integers
Value *onnxSub(Node *node, Value *x, Value *y);
Value *onnxMul(Node *node, Value *x, Value *y);

typedef enum OnnxReduction {
  OnnxReduce_Sum,
  OnnxReduce_Mean,
  OnnxReduce_Max,
  OnnxReduce_Min,
  OnnxReduce_Prod,
  OnnxReduce_L1,
  OnnxReduce_L2,
  OnnxReduce_LogSum,
  OnnxReduce_LogSumExp,
  OnnxReduce_SumSquare
} OnnxReduction;
Value *onnxReduce(Node *node, OnnxReduction kind, Value *x, uint32_t axes, bool keeps);
Value *onnxSoftmaxOf(Node *node, Value *x, int axis);
// numpy's product of matrices; sums of narrow floats in f32.
Value *onnxMatMulOf(Node *node, Value *a, Value *b);
// As onnxEinsum, with the sums of narrow floats in f32.
Value *onnxSumOfProducts(Node *node, Value *a, const char *aLabels, Value *b, const char *bLabels, const char *labels);
// Is it narrow: f16, bf16, f8? Then sums are f32.
OnnxType onnxSumType(OnnxType type);
// A window that slides over the spatial axes of an image.
typedef struct OnnxWindow {
  int rank; // of the spatial axes
  int64_t kernel[OnnxMaxRank], strides[OnnxMaxRank], dilations[OnnxMaxRank];
  MlirValue low[OnnxMaxRank], high[OnnxMaxRank], out[OnnxMaxRank]; // pads, sizes of the result
} OnnxWindow;
// From the attributes; `kernel` null: attribute kernel_shape.
bool onnxReadWindow(Node *node, const Value *x, const MlirValue *kernel, bool rounds, OnnxWindow *window);
// An image that is padded already, and weights.
Value *onnxConvolve(Node *node, Value *x, Value *w, int64_t groups, const OnnxWindow *window);
// x - zero as i32; a vector of zero points stands along `axis`.
Value *onnxCentered(Node *node, Value *x, Value *zero, int axis);
