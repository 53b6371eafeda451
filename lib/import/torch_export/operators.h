// What an ATen operator's emitter works with: the node's arguments by their names in the operator's schema, and ONNX's
// operators (lib/import/onnx), which it combines. The table operators.def has a row for each ATen operator.
#pragma once

#include "lib/import/onnx/compose.h"
#include "lib/import/onnx/control_flow.h"
#include "lib/import/onnx/state.h"

#include <jansson.h>

typedef struct Torch Torch;
typedef struct TorchOperator TorchOperator;

// One node. `node` is what ONNX's helpers take; results go to node.out.
typedef struct Aten {
  Torch *torch;
  Node node;
  const TorchOperator *row;
  json_t *inputs;
  OnnxType type;    // that the file declares for the first result; 0: it is no tensor
  int numTensors;   // that the node gives
  MlirValue number; // the result of a row on sizes
  bool knowsTypes;  // of its results: PyTorch declares wrong ones for some operators
} Aten;

struct TorchOperator {
  const char *target; // "aten.add.Tensor"; an operator that works in place has the row of the one that does not
  const char *onnx;   // of rows that are one operator of ONNX: its name
  const char *inputs; // the names of its inputs
  bool (*emit)(Aten *aten);
  int kind;
  bool sharesMemory; // the result may lie in the memory of the first input
};

enum {
  TorchActivation_Sigmoid,
  TorchActivation_Silu,
  TorchActivation_Gelu,
  TorchActivation_HardSigmoid,
  TorchActivation_HardSwish,
  TorchActivation_LeakyRelu,
  TorchActivation_Elu,
  TorchActivation_Softplus,
  TorchActivation_Mish
};
enum {
  TorchBinary_Add,
  TorchBinary_Sub,
  TorchBinary_ReversedSub,
  TorchBinary_Mul,
  TorchBinary_Div,
  TorchBinary_FloorDiv,
  TorchBinary_Remainder,
  TorchBinary_Max,
  TorchBinary_Min,
  TorchBinary_FMax, // the other one where one is nan
  TorchBinary_FMin,
  TorchBinary_FMod,
  TorchBinary_Atan2,
  TorchBinary_CopySign,
  TorchBinary_ShiftLeft, // by the width or more: nothing remains but, to the right, the sign
  TorchBinary_ShiftRight,
  TorchBinary_And,
  TorchBinary_Or,
  TorchBinary_Xor,
  TorchBinary_Eq,
  TorchBinary_Ne,
  TorchBinary_Lt,
  TorchBinary_Le,
  TorchBinary_Gt,
  TorchBinary_Ge
};

enum { TorchFloats_NextAfter, TorchFloats_Zeta, TorchFloats_Hypot };
enum { TorchPool_Mean = 8 }; // beside the number of spatial axes

// Null: no row. `inPlace`: the row of add_ is that of add. The row of view_copy is that of view.
const TorchOperator *torchOperatorFind(const char *target, bool *inPlace);

// The emitters, by file.
#define TORCH_OPERATOR(target, onnx, inputs, emit, kind, sharesMemory) bool emit(Aten *aten);
#include "lib/import/torch_export/operators.def"
#undef TORCH_OPERATOR

// ScalarType in files of schema 8; 0: none that runs.
OnnxType torchType(int64_t code);

//===--- arguments --------------------------------------------------------------===//

bool torchHas(const Aten *aten, const char *name); // is given, and not None
// Null after an error, of the optional ones also where it is not given.
OnnxValue *torchTensor(Aten *aten, const char *name);
OnnxValue *torchOptional(Aten *aten, const char *name);
// A tensor or a number, of that type.
OnnxValue *torchOperand(Aten *aten, const char *name, OnnxType type);
bool torchIsFloat(const Aten *aten, const char *name); // is the argument a floating-point number or tensor?
// What two arguments are compared as: a number has the tensor's type, unless it is a float and the tensor is none.
OnnxType torchCommonType(Aten *aten, const char *a, const char *b);
int64_t torchInt(const Aten *aten, const char *name, int64_t otherwise);
double torchReal(const Aten *aten, const char *name, double otherwise);
const char *torchText(const Aten *aten, const char *name, const char *otherwise);
OnnxType torchDtype(const Aten *aten, const char *name, OnnxType otherwise);
// A size that may be known only to the program; null where it is not given or after an error.
MlirValue torchIndex(Aten *aten, const char *name);
bool torchAxis(Aten *aten, const char *name, int64_t otherwise, int rank, int *axis);
// `count` -1: not given. False after an error, which a size that is not known is for torchInts.
bool torchInts(Aten *aten, const char *name, int most, int64_t *items, int *count);
bool torchSizes(Aten *aten, const char *name, int most, MlirValue *items, int *count);
// False where there are not so many.
bool torchReals(const Aten *aten, const char *name, int count, double *items);
// A list of tensors, null for None. -1 after an error.
int torchTensors(Aten *aten, const char *name, OnnxValue **items);

//===--- computing --------------------------------------------------------------===//

// An operator of ONNX's newest opset. Null after an error or where the first input is null; more results: node.out.
OnnxValue *torchOnnx(Aten *aten, const char *name, int count, OnnxValue *const *inputs, int numAttributes,
                     const OnnxAttribute *attributes);
#define TORCH_NAMED(word) .name = {word, sizeof(word) - 1}
#define TORCH_INT(word, value) {TORCH_NAMED(word), .number = (value)}
#define TORCH_REAL(word, value) {TORCH_NAMED(word), .real = (float)(value)}
#define TORCH_TEXT(word, value)                                                                                        \
  {                                                                                                                    \
    TORCH_NAMED(word), .text = {(value), strlen(value) }                                                               \
  }
#define TORCH_INTS(word, count, list)                                                                                  \
  {                                                                                                                    \
    TORCH_NAMED(word), .numbers = {(count), (count), (list) }                                                          \
  }
// Integers as a constant tensor of i64; indices as a tensor of i64.
OnnxValue *torchVector(Aten *aten, int count, const int64_t *items);
OnnxValue *torchOfIndices(Aten *aten, int count, const MlirValue *items);
// The norm of that order of a tensor of floats: the root of the sum of |x| to the order; 0: how many are not 0;
// infinite: the greatest or the least. Null after an error, or where x is null.
OnnxValue *torchNormOf(Aten *aten, OnnxValue *x, uint32_t axes, bool keeps, double order);
// The quotient of integers, rounded down. Null after an error.
OnnxValue *torchFloorQuotient(Aten *aten, OnnxValue *x, OnnxValue *y);
bool torchReturn(Aten *aten, OnnxValue *value); // cast to the declared type; false for null
