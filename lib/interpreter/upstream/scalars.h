// The scalar meanings of arith and math, one function per op, for the table of rows (rows.c).
#pragma once

#include "lib/interpreter/machine/machine.h"

// Rounded to the format; `error` is how far the exact result may be off because the operands are.
Element interpretRoundedElement(const Format *format, double exact, double error);

// A bound, however small, says that the sign of a zero is open.
#define INTERPRET_OPEN_SIGN 0x1p-400

#define TESSERA_SCALARS(X)                                                                                             \
  X(ArithOp_RemF, interpretScalarRemf)                                                                                 \
  X(ArithOp_NegF, interpretScalarNegf)                                                                                 \
  X(ArithOp_MinimumF, interpretScalarMinimumf)                                                                         \
  X(ArithOp_MaxNumF, interpretScalarMaxnumf)                                                                           \
  X(ArithOp_MinNumF, interpretScalarMinnumf)                                                                           \
  X(ArithOp_CmpF, interpretScalarCmpf)                                                                                 \
  X(ArithOp_AddI, interpretScalarAddi)                                                                                 \
  X(ArithOp_SubI, interpretScalarSubi)                                                                                 \
  X(ArithOp_MulI, interpretScalarMuli)                                                                                 \
  X(ArithOp_AndI, interpretScalarAndi)                                                                                 \
  X(ArithOp_OrI, interpretScalarOri)                                                                                   \
  X(ArithOp_XOrI, interpretScalarXori)                                                                                 \
  X(ArithOp_DivSI, interpretScalarDivsi)                                                                               \
  X(ArithOp_RemSI, interpretScalarRemsi)                                                                               \
  X(ArithOp_DivUI, interpretScalarDivui)                                                                               \
  X(ArithOp_RemUI, interpretScalarRemui)                                                                               \
  X(ArithOp_FloorDivSI, interpretScalarFloordivsi)                                                                     \
  X(ArithOp_CeilDivSI, interpretScalarCeildivsi)                                                                       \
  X(ArithOp_CeilDivUI, interpretScalarCeildivui)                                                                       \
  X(ArithOp_MaxSI, interpretScalarMaxsi)                                                                               \
  X(ArithOp_MinSI, interpretScalarMinsi)                                                                               \
  X(ArithOp_MaxUI, interpretScalarMaxui)                                                                               \
  X(ArithOp_MinUI, interpretScalarMinui)                                                                               \
  X(ArithOp_ShLI, interpretScalarShli)                                                                                 \
  X(ArithOp_ShRSI, interpretScalarShrsi)                                                                               \
  X(ArithOp_ShRUI, interpretScalarShrui)                                                                               \
  X(ArithOp_CmpI, interpretScalarCmpi)                                                                                 \
  X(ArithOp_AddUIExtended, interpretScalarAdduiExtended)                                                               \
  X(ArithOp_MulSIExtended, interpretScalarMulsiExtended)                                                               \
  X(ArithOp_MulUIExtended, interpretScalarMuluiExtended)                                                               \
  X(ArithOp_ExtSI, interpretScalarExtsi)                                                                               \
  X(ArithOp_ExtUI, interpretScalarExtui)                                                                               \
  X(ArithOp_TruncI, interpretScalarTrunci)                                                                             \
  X(ArithOp_IndexCast, interpretScalarExtsi)                                                                           \
  X(ArithOp_IndexCastUI, interpretScalarExtui)                                                                         \
  X(ArithOp_ExtF, interpretScalarConvertf)                                                                             \
  X(ArithOp_TruncF, interpretScalarConvertf)                                                                           \
  X(ArithOp_SIToFP, interpretScalarSitofp)                                                                             \
  X(ArithOp_UIToFP, interpretScalarUitofp)                                                                             \
  X(ArithOp_FPToSI, interpretScalarFptosi)                                                                             \
  X(ArithOp_FPToUI, interpretScalarFptoui)                                                                             \
  X(TensorOp_Bitcast, interpretScalarBitcast)                                                                          \
  X(ArithOp_Bitcast, interpretScalarBitcast)                                                                           \
  X(MathOp_Fma, interpretScalarFma)                                                                                    \
  X(VectorOp_FMA, interpretScalarFma)                                                                                  \
  X(MathOp_AbsF, interpretScalarAbsf)                                                                                  \
  X(MathOp_AbsI, interpretScalarAbsi)                                                                                  \
  X(MathOp_Ceil, interpretScalarCeil)                                                                                  \
  X(MathOp_Floor, interpretScalarFloor)                                                                                \
  X(MathOp_Round, interpretScalarRound)                                                                                \
  X(MathOp_RoundEven, interpretScalarRoundeven)                                                                        \
  X(MathOp_Trunc, interpretScalarTrunc)                                                                                \
  X(MathOp_CopySign, interpretScalarCopysign)                                                                          \
  X(MathOp_ClampF, interpretScalarClampf)                                                                              \
  X(MathOp_Sincos, interpretScalarSincos)                                                                              \
  X(MathOp_Sqrt, interpretScalarSqrt)                                                                                  \
  X(MathOp_Rsqrt, interpretScalarRsqrt)                                                                                \
  X(MathOp_Cbrt, interpretScalarCbrt)                                                                                  \
  X(MathOp_Exp, interpretScalarExp)                                                                                    \
  X(MathOp_Exp2, interpretScalarExp2)                                                                                  \
  X(MathOp_ExpM1, interpretScalarExpm1)                                                                                \
  X(MathOp_Log, interpretScalarLog)                                                                                    \
  X(MathOp_Log2, interpretScalarLog2)                                                                                  \
  X(MathOp_Log10, interpretScalarLog10)                                                                                \
  X(MathOp_Log1p, interpretScalarLog1p)                                                                                \
  X(MathOp_Sin, interpretScalarSin)                                                                                    \
  X(MathOp_Cos, interpretScalarCos)                                                                                    \
  X(MathOp_Tan, interpretScalarTan)                                                                                    \
  X(MathOp_Asin, interpretScalarAsin)                                                                                  \
  X(MathOp_Acos, interpretScalarAcos)                                                                                  \
  X(MathOp_Atan, interpretScalarAtan)                                                                                  \
  X(MathOp_Sinh, interpretScalarSinh)                                                                                  \
  X(MathOp_Cosh, interpretScalarCosh)                                                                                  \
  X(MathOp_Tanh, interpretScalarTanh)                                                                                  \
  X(MathOp_Asinh, interpretScalarAsinh)                                                                                \
  X(MathOp_Acosh, interpretScalarAcosh)                                                                                \
  X(MathOp_Atanh, interpretScalarAtanh)                                                                                \
  X(MathOp_Erf, interpretScalarErf)                                                                                    \
  X(MathOp_Erfc, interpretScalarErfc)                                                                                  \
  X(MathOp_PowF, interpretScalarPowf)                                                                                  \
  X(MathOp_Atan2, interpretScalarAtan2)                                                                                \
  X(MathOp_FPowI, interpretScalarFpowi)                                                                                \
  X(MathOp_IPowI, interpretScalarIpowi)                                                                                \
  X(MathOp_CountLeadingZeros, interpretScalarCtlz)                                                                     \
  X(MathOp_CountTrailingZeros, interpretScalarCttz)                                                                    \
  X(MathOp_CtPop, interpretScalarCtpop)                                                                                \
  X(MathOp_IsNaN, interpretScalarIsnan)                                                                                \
  X(MathOp_IsInf, interpretScalarIsinf)                                                                                \
  X(MathOp_IsFinite, interpretScalarIsfinite)                                                                          \
  X(MathOp_IsNormal, interpretScalarIsnormal)

// Those that most elements go through, with a loop of their own.
#define TESSERA_STRIPES(X)                                                                                             \
  X(ArithOp_AddF, interpretScalarAddf, interpretStripeAddf)                                                            \
  X(ArithOp_SubF, interpretScalarSubf, interpretStripeSubf)                                                            \
  X(ArithOp_MulF, interpretScalarMulf, interpretStripeMulf)                                                            \
  X(ArithOp_DivF, interpretScalarDivf, interpretStripeDivf)                                                            \
  X(ArithOp_MaximumF, interpretScalarMaximumf, interpretStripeMaximumf)

#define X(kind, function)                                                                                              \
  bool function(Machine *machine, const Instruction *instruction, const Element *x, Element *result);
TESSERA_SCALARS(X)
#undef X

#define X(kind, function, stripe)                                                                                      \
  bool function(Machine *machine, const Instruction *instruction, const Element *x, Element *result);                  \
  bool stripe(Machine *machine, const Instruction *instruction, int64_t count, const Element *const *x,                \
              const int64_t *steps, Element *const *results);
TESSERA_STRIPES(X)
#undef X
