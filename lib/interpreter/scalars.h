// The scalar meanings of arith and math, one function per op, for the table of rows (rows.c).
#ifndef TESSERA_INTERPRETER_SCALARS_H
#define TESSERA_INTERPRETER_SCALARS_H

#include "lib/interpreter/machine.h"

// Rounded to the format; `error` is how far the exact result may be off because the operands are.
Element roundedElement(const Format *format, double exact, double error);

#define TESSERA_SCALARS(X)                                                                                             \
  X("arith.remf", scalarRemf)                                                                                          \
  X("arith.negf", scalarNegf)                                                                                          \
  X("arith.minimumf", scalarMinimumf)                                                                                  \
  X("arith.maxnumf", scalarMaxnumf)                                                                                    \
  X("arith.minnumf", scalarMinnumf)                                                                                    \
  X("arith.cmpf", scalarCmpf)                                                                                          \
  X("arith.addi", scalarAddi)                                                                                          \
  X("arith.subi", scalarSubi)                                                                                          \
  X("arith.muli", scalarMuli)                                                                                          \
  X("arith.andi", scalarAndi)                                                                                          \
  X("arith.ori", scalarOri)                                                                                            \
  X("arith.xori", scalarXori)                                                                                          \
  X("arith.divsi", scalarDivsi)                                                                                        \
  X("arith.remsi", scalarRemsi)                                                                                        \
  X("arith.divui", scalarDivui)                                                                                        \
  X("arith.remui", scalarRemui)                                                                                        \
  X("arith.floordivsi", scalarFloordivsi)                                                                              \
  X("arith.ceildivsi", scalarCeildivsi)                                                                                \
  X("arith.ceildivui", scalarCeildivui)                                                                                \
  X("arith.maxsi", scalarMaxsi)                                                                                        \
  X("arith.minsi", scalarMinsi)                                                                                        \
  X("arith.maxui", scalarMaxui)                                                                                        \
  X("arith.minui", scalarMinui)                                                                                        \
  X("arith.shli", scalarShli)                                                                                          \
  X("arith.shrsi", scalarShrsi)                                                                                        \
  X("arith.shrui", scalarShrui)                                                                                        \
  X("arith.cmpi", scalarCmpi)                                                                                          \
  X("arith.addui_extended", scalarAdduiExtended)                                                                       \
  X("arith.mulsi_extended", scalarMulsiExtended)                                                                       \
  X("arith.mului_extended", scalarMuluiExtended)                                                                       \
  X("arith.extsi", scalarExtsi)                                                                                        \
  X("arith.extui", scalarExtui)                                                                                        \
  X("arith.trunci", scalarTrunci)                                                                                      \
  X("arith.index_cast", scalarExtsi)                                                                                   \
  X("arith.index_castui", scalarExtui)                                                                                 \
  X("arith.extf", scalarConvertf)                                                                                      \
  X("arith.truncf", scalarConvertf)                                                                                    \
  X("arith.sitofp", scalarSitofp)                                                                                      \
  X("arith.uitofp", scalarUitofp)                                                                                      \
  X("arith.fptosi", scalarFptosi)                                                                                      \
  X("arith.fptoui", scalarFptoui)                                                                                      \
  X("tensor.bitcast", scalarBitcast)                                                                                   \
  X("arith.bitcast", scalarBitcast)                                                                                    \
  X("math.fma", scalarFma)                                                                                             \
  X("math.absf", scalarAbsf)                                                                                           \
  X("math.absi", scalarAbsi)                                                                                           \
  X("math.ceil", scalarCeil)                                                                                           \
  X("math.floor", scalarFloor)                                                                                         \
  X("math.round", scalarRound)                                                                                         \
  X("math.roundeven", scalarRoundeven)                                                                                 \
  X("math.trunc", scalarTrunc)                                                                                         \
  X("math.copysign", scalarCopysign)                                                                                   \
  X("math.sqrt", scalarSqrt)                                                                                           \
  X("math.rsqrt", scalarRsqrt)                                                                                         \
  X("math.cbrt", scalarCbrt)                                                                                           \
  X("math.exp", scalarExp)                                                                                             \
  X("math.exp2", scalarExp2)                                                                                           \
  X("math.expm1", scalarExpm1)                                                                                         \
  X("math.log", scalarLog)                                                                                             \
  X("math.log2", scalarLog2)                                                                                           \
  X("math.log10", scalarLog10)                                                                                         \
  X("math.log1p", scalarLog1p)                                                                                         \
  X("math.sin", scalarSin)                                                                                             \
  X("math.cos", scalarCos)                                                                                             \
  X("math.tan", scalarTan)                                                                                             \
  X("math.asin", scalarAsin)                                                                                           \
  X("math.acos", scalarAcos)                                                                                           \
  X("math.atan", scalarAtan)                                                                                           \
  X("math.sinh", scalarSinh)                                                                                           \
  X("math.cosh", scalarCosh)                                                                                           \
  X("math.tanh", scalarTanh)                                                                                           \
  X("math.asinh", scalarAsinh)                                                                                         \
  X("math.acosh", scalarAcosh)                                                                                         \
  X("math.atanh", scalarAtanh)                                                                                         \
  X("math.erf", scalarErf)                                                                                             \
  X("math.erfc", scalarErfc)                                                                                           \
  X("math.powf", scalarPowf)                                                                                           \
  X("math.atan2", scalarAtan2)                                                                                         \
  X("math.fpowi", scalarFpowi)                                                                                         \
  X("math.ipowi", scalarIpowi)                                                                                         \
  X("math.ctlz", scalarCtlz)                                                                                           \
  X("math.cttz", scalarCttz)                                                                                           \
  X("math.ctpop", scalarCtpop)                                                                                         \
  X("math.isnan", scalarIsnan)                                                                                         \
  X("math.isinf", scalarIsinf)                                                                                         \
  X("math.isfinite", scalarIsfinite)                                                                                   \
  X("math.isnormal", scalarIsnormal)

// Those that most elements go through, with a loop of their own.
#define TESSERA_STRIPES(X)                                                                                             \
  X("arith.addf", scalarAddf, stripeAddf)                                                                              \
  X("arith.subf", scalarSubf, stripeSubf)                                                                              \
  X("arith.mulf", scalarMulf, stripeMulf)                                                                              \
  X("arith.divf", scalarDivf, stripeDivf)                                                                              \
  X("arith.maximumf", scalarMaximumf, stripeMaximumf)

#define X(name, function)                                                                                              \
  bool function(Machine *machine, const Instruction *instruction, const Element *x, Element *result);
TESSERA_SCALARS(X)
#undef X

#define X(name, function, stripe)                                                                                      \
  bool function(Machine *machine, const Instruction *instruction, const Element *x, Element *result);                  \
  bool stripe(Machine *machine, const Instruction *instruction, int64_t count, const Element *const *x,                \
              const int64_t *steps, Element *const *results);
TESSERA_STRIPES(X)
#undef X

#endif
