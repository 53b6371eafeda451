// Arithmetic on lanes of f64 or f32 and of their bit patterns, so that an expansion reads as its formula.
//
//   MlirValue square = tileLanesMul(lanes, x, x);                       // x: lanes->real
//   MlirValue y = tileLanesSelect(lanes, tileLanesIs(lanes, x, ArithCmpF_Olt, zero), a, b);
//
// All values of one expansion have one shape: a scalar, a vector of any rank, or a tile (a tensor of static shape).
// Nothing is folded here: the greedy driver that runs the pass does that.
#pragma once

#include "upstream/arith.h"

typedef struct TileLanes {
  TileBuilder builder;
  MlirType real, bits; // f64 and i64, or f32 and i32: scalar, or vectors of one shape
  MlirType i1;
} TileLanes;

// The element of a fixed-size vector, or the type itself; `element`, or a vector or tile of it with the shape of
// `like`.
MlirType tileLanesElement(MlirType type);
MlirType tileLanesElementOfTile(MlirType type); // the same; of tensors too
MlirType tileLanesLike(MlirType like, MlirType element);
TileLanes tileLanesOf(TileBuilder builder, MlirType like);       // of f64
TileLanes tileLanesSingleOf(TileBuilder builder, MlirType like); // of f32

MlirValue tileLanesFloat(TileLanes *lanes, double value);
MlirValue tileLanesInteger(TileLanes *lanes, int64_t value);

MlirValue tileLanesAdd(TileLanes *lanes, MlirValue a, MlirValue b);
MlirValue tileLanesSub(TileLanes *lanes, MlirValue a, MlirValue b);
MlirValue tileLanesMul(TileLanes *lanes, MlirValue a, MlirValue b);
MlirValue tileLanesDiv(TileLanes *lanes, MlirValue a, MlirValue b);
MlirValue tileLanesFma(TileLanes *lanes, MlirValue a, MlirValue b, MlirValue c); // a * b + c, rounded once
MlirValue tileLanesSqrt(TileLanes *lanes, MlirValue a);                          // an instruction everywhere
MlirValue tileLanesFloor(TileLanes *lanes, MlirValue a);                         // likewise
MlirValue tileLanesAbs(TileLanes *lanes, MlirValue a);
// NaN stays NaN.
MlirValue tileLanesClamp(TileLanes *lanes, MlirValue a, double low, double high);
// coefficients[0] + coefficients[1] x + …
MlirValue tileLanesPolynomial(TileLanes *lanes, MlirValue x, intptr_t count, const double *coefficients);

MlirValue tileLanesIs(TileLanes *lanes, MlirValue a, ArithCmpF predicate, MlirValue b);     // i1
MlirValue tileLanesSelect(TileLanes *lanes, MlirValue condition, MlirValue a, MlirValue b); // real or bits
MlirValue tileLanesBoth(TileLanes *lanes, MlirValue a, MlirValue b);                        // i1

MlirValue tileLanesBits(TileLanes *lanes, MlirValue a);        // real → its bits
MlirValue tileLanesFromBits(TileLanes *lanes, MlirValue bits); // and back
MlirValue tileLanesToFloat(TileLanes *lanes, MlirValue a);     // signed bits → the nearest real
// Integer operations: ArithOp_AddI, ArithOp_ShLI, ArithOp_ShRUI, ArithOp_AndI, …
MlirValue tileLanesOnIntegers(TileLanes *lanes, TileUpstream op, MlirValue a, MlirValue b);
MlirValue tileLanesOnInteger(TileLanes *lanes, TileUpstream op, MlirValue a, int64_t b);

// Tables in registers: of 16 lanes of f32, by AVX-512's vpermi2ps. True if a vector has this shape.
enum { TileLookUpEntries = 32 };
bool tileLanesCanLookUp(MlirType type);
// The entry of `table` that the low five bits of each lane of `index` number.
MlirValue tileLanesLookUp(TileLanes *lanes, MlirValue index, const float table[TileLookUpEntries]);
