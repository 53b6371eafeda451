// CHLO's functions of floats: those of math by name, the others by lib/ir/emit/special.h.
#include "lib/conversion/stablehlo_to_linalg/hlo.h"

#include "dialects/foreign/chlo/ops.h"
#include "lib/ir/emit/special.h"
#include "upstream/arith.h"
#include "upstream/math.h"

#include <math.h>

static MlirValue mul(Hlo *h, MlirValue a, MlirValue b) { return tileBuildBinary(&h->b, ArithOp_MulF, a, b); }
static MlirValue of(Hlo *h, TileUpstream kind, MlirValue a) { return tileBuildUnary(&h->b, kind, a); }
static MlirValue number(Hlo *h, MlirValue like, double value) {
  return tileBuildFloat(&h->b, mlirValueGetType(like), value);
}
static MlirValue compare(Hlo *h, ArithCmpF predicate, MlirValue a, double b) {
  return arithCmpFOpBuild(&h->b, a, number(h, a, b), predicate);
}

//===--- all -----------------------------------------------------------------------------===//

static const struct {
  ChloOp op;
  TileUpstream real;
} rows[] = {
    {ChloOp_Acos, MathOp_Acos}, {ChloOp_Acosh, MathOp_Acosh}, {ChloOp_Asin, MathOp_Asin}, {ChloOp_Asinh, MathOp_Asinh},
    {ChloOp_Atan, MathOp_Atan}, {ChloOp_Atanh, MathOp_Atanh}, {ChloOp_Cosh, MathOp_Cosh}, {ChloOp_Erf, MathOp_Erf},
    {ChloOp_Erfc, MathOp_Erfc}, {ChloOp_Sinh, MathOp_Sinh},   {ChloOp_Tan, MathOp_Tan},
};

MlirValue hloFunction(Hlo *h, MlirOperation op, const MlirValue *v) {
  ChloOp kind = chloOpKind(op);
  bool isFloat = mlirTypeIsAFloat(mlirValueGetType(v[0]));
  for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i)
    if (rows[i].op == kind)
      return of(h, rows[i].real, v[0]);
  switch (kind) {
  case ChloOp_Conj:
    return v[0];
  case ChloOp_Square:
    return isFloat ? mul(h, v[0], v[0]) : tileBuildBinary(&h->b, ArithOp_MulI, v[0], v[0]);
  case ChloOp_IsInf:
    return compare(h, ArithCmpF_Oeq, of(h, MathOp_AbsF, v[0]), INFINITY);
  case ChloOp_IsPosInf:
    return compare(h, ArithCmpF_Oeq, v[0], INFINITY);
  case ChloOp_IsNegInf:
    return compare(h, ArithCmpF_Oeq, v[0], -INFINITY);
  case ChloOp_NextAfter:
    return tileBuildNextAfter(&h->b, v[0], v[1]);
  case ChloOp_ErfInv:
    return tileBuildSpecial(&h->b, TileSpecial_ErfInv, v[0]);
  case ChloOp_Lgamma:
    return tileBuildSpecial(&h->b, TileSpecial_Lgamma, v[0]);
  case ChloOp_Digamma:
    return tileBuildSpecial(&h->b, TileSpecial_Digamma, v[0]);
  case ChloOp_BesselI1e:
    return tileBuildSpecial(&h->b, TileSpecial_BesselI1e, v[0]);
  case ChloOp_Polygamma:
    return tileBuildPolygamma(&h->b, v[0], v[1]);
  case ChloOp_Zeta:
    return tileBuildZeta(&h->b, v[0], v[1]);
  default:
    return (MlirValue){NULL};
  }
}
