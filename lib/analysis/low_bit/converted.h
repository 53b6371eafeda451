// Products one of whose factors is converted in the body: out[…] += x[…] · f(codes[…], scales[…], …), as
// tile-find-low-bit leaves them.
#pragma once

#include "lib/analysis/structured.h"

typedef struct TileConverted {
  int x;                     // the operand of the plain factor
  MlirValue factor;          // the other one, in the body
  int m, n;                  // dimensions: the last parallel one that x has; the output's last, which x has not
  int count, depth[MaxDims]; // the reduction dimensions in the order of x's axes, the last one contiguous in x
  bool isAlongColumns;       // what the factor is made of lies along n; else along the last of `depth`
} TileConverted;

// True for a sum of such products in f32, f16 or bf16 (then summed in f32 and rounded once) with a conversion, without
// a schedule: over one n, at least one m of more than one row (of any where the factor lies along n), and reduction
// dimensions that x has all of, last. What the factor reads is indexed by single dimensions. Such an op gets no
// schedule: the sizes of its kernel follow from the machine (converted_product.c) or from the op
// (converted_in_registers.c, on a GPU: of 2 to 128 rows, where the conversion is more than a widening and a step of k
// divides k).
bool tileStructuredMatchConverted(const TileStructured *structured, TileConverted *converted);

// The largest power of two that divides the last of `depth`. A GPU's kernel needs TileConvertedLeastStep.
enum { TileConvertedLeastStep = 8 };
int64_t tileConvertedStep(const TileStructured *structured, const TileConverted *converted);

// A part of k of at most `most` elements that divides it, so that nothing is converted past an edge: how many indices
// of each dimension of `depth` are `inside` of a part. Returns their product. Kernels need TileConvertedLeastDepth of
// them.
enum { TileConvertedLeastDepth = 32 };
int64_t tileConvertedPart(const TileStructured *structured, const TileConverted *converted, int64_t most,
                          int64_t *inside);

// A value of the body with few different ones that stands between everything that the factor reads along the last of
// `depth` and the factor: factor = f(code, what is the same along a row). f can then be tabulated once for the row.
// Codes are 0 to 15. False also where f may stop the program: tables of the body have an entry for each code.
enum { TileConvertedMostCodes = 16 };
typedef struct TileConvertedCode {
  MlirValue code;
  int level; // f's operands do not change inside of depth[level]; 0: along no reduction
} TileConvertedCode;
bool tileConvertedFindCode(const TileStructured *structured, const TileConverted *converted, TileConvertedCode *code);

// `value`, an element of the body, does not change along `dim` where `code` (null: none) does not.
bool tileConvertedIsSame(const TileStructured *structured, MlirValue value, MlirValue code, int dim);

// Renumbers the dimensions: other ones, rows, then k and columns as the weights lie.
void tileConvertedSortDims(TileStructured *structured, TileConverted *converted);
