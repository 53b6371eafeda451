// The kinds of operators that share an emitter, for the table.
#pragma once

enum { OnnxArithmetic_Add, OnnxArithmetic_Sub, OnnxArithmetic_Mul, OnnxArithmetic_Div };
enum { OnnxCompare_Equal, OnnxCompare_Less, OnnxCompare_LessOrEqual, OnnxCompare_Greater, OnnxCompare_GreaterOrEqual };
enum { OnnxVariadic_Max, OnnxVariadic_Min, OnnxVariadic_Sum, OnnxVariadic_Mean };
enum { OnnxOptimizer_Adagrad, OnnxOptimizer_Adam, OnnxOptimizer_Momentum };
enum { OnnxWindow_Hann, OnnxWindow_Hamming, OnnxWindow_Blackman };
typedef enum OnnxActivation {
  OnnxActivation_Sigmoid,
  OnnxActivation_HardSigmoid,
  OnnxActivation_HardSwish,
  OnnxActivation_LeakyRelu,
  OnnxActivation_Elu,
  OnnxActivation_Celu,
  OnnxActivation_Selu,
  OnnxActivation_Softplus,
  OnnxActivation_Softsign,
  OnnxActivation_Mish,
  OnnxActivation_ThresholdedRelu,
  OnnxActivation_Gelu,
  OnnxActivation_Swish
} OnnxActivation;
