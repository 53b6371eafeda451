// Operators made of others: values by one op each.
#pragma once

#include "lib/import/onnx/tensors.h"

// An op of arith or math on values of one type, with broadcasting. Null operands give null: an error was reported.
OnnxValue *onnxUnary(Node *node, TileUpstream op, OnnxValue *x);
OnnxValue *onnxBinary(Node *node, TileUpstream op, OnnxValue *x, OnnxValue *y);
OnnxValue *onnxWithNumber(Node *node, TileUpstream op, OnnxValue *x, double number); // x op number
OnnxValue *onnxAdd(Node *node, OnnxValue *x, OnnxValue *y);                          // of floats or integers
OnnxValue *onnxSub(Node *node, OnnxValue *x, OnnxValue *y);
OnnxValue *onnxMul(Node *node, OnnxValue *x, OnnxValue *y);

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
OnnxValue *onnxReduce(Node *node, OnnxReduction kind, OnnxValue *x, uint32_t axes, bool keeps);
// What a sum, a product or an extreme begins with: it changes no element. An integer of -1 has all bits.
double onnxReduceStart(OnnxReduction kind, OnnxType type);
OnnxValue *onnxSoftmaxOf(Node *node, OnnxValue *x, int axis);
// numpy's product of matrices; sums of narrow floats in f32.
OnnxValue *onnxMatMulOf(Node *node, OnnxValue *a, OnnxValue *b);
// As onnxEinsum, with the sums of narrow floats in f32.
OnnxValue *onnxSumOfProducts(Node *node, OnnxValue *a, const char *aLabels, OnnxValue *b, const char *bLabels,
                             const char *labels);
// Is it narrow: f16, bf16, f8? Then sums are f32.
OnnxType onnxSumType(OnnxType type);
// A window that slides over the spatial axes of an image.
typedef struct OnnxWindow {
  int rank; // of the spatial axes
  int64_t kernel[OnnxMaxRank], strides[OnnxMaxRank], dilations[OnnxMaxRank];
  MlirValue low[OnnxMaxRank], high[OnnxMaxRank], out[OnnxMaxRank]; // pads, sizes of the result
} OnnxWindow;
// From the attributes; `kernel` null: attribute kernel_shape.
bool onnxReadWindow(Node *node, const OnnxValue *x, const MlirValue *kernel, bool rounds, OnnxWindow *window);
// An image that is padded already, and weights.
OnnxValue *onnxConvolve(Node *node, OnnxValue *x, OnnxValue *w, int64_t groups, const OnnxWindow *window);
OnnxValue *onnxAddBias(Node *node, OnnxValue *x, OnnxValue *bias); // one number for each channel; null: none
// x - zero as i32; a vector of zero points stands along `axis`.
OnnxValue *onnxCentered(Node *node, OnnxValue *x, OnnxValue *zero, int axis);
// Places of the elements that are not zero, in C order: rank × their number.
OnnxValue *onnxNonZero(Node *node, OnnxValue *x);
// Does a come before b, from the greatest on or from the smallest on? nan is the greatest.
typedef struct OnnxOrder {
  bool isSmallest, isUnsigned;
} OnnxOrder;
MlirValue onnxComesBefore(Body *body, MlirValue a, MlirValue b, const OnnxOrder *order);
