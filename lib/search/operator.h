// What tile construction knows of a computation: a loop nest, how every operand is indexed by it, and what a kernel may
// tile. Pure C: whoever reads a program (lib/analysis) fills it in; contractions, convolutions, reductions, elementwise
// maps, transposes, scans and gathers are all of this form.
//
//   TileOperator op = tileOperatorProduct(4096, 4096, 4096, "f16", 16, 32);      // C += A · B, all three in rows
//
// Source: rTiles of Roller (Zhu et al., OSDI 2022), whose tensor expressions are here indexing maps.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { TileOperatorDims = 12, TileOperatorRank = 8, TileOperatorOperands = 16 };

typedef struct TileOperatorDim {
  int64_t extent;   // at least 1; of an unknown size the bucket it is planned for
  bool isReduction; // one program walks it, step by step
  bool mayTile;     // a kernel may take several indices at once
  bool divides;     // sizes must divide the extent: what is written past it belongs to something else
  bool isUnknown;   // the extent is a bucket: kernels must be right for any
  int64_t least;    // above 1: the only size, as of a row that stays in registers
  int64_t run;      // above 0, of a product's k: what is contiguous in A; sizes are its multiples or divisors
  uint32_t beside;  // the dimensions that may be tiled together with this one, as bits
} TileOperatorDim;

typedef struct TileOperatorOperand {
  int64_t bits; // of an element
  int rank;
  int64_t extents[TileOperatorRank];                   // of the tensor
  int64_t factors[TileOperatorRank][TileOperatorDims]; // axis a is at the sum over d of factors[a][d] · d
  int64_t held;    // above 0: elements of a tensor that is read in windows; some are read at several indices
  bool isOutput;   // written once, after the reduction
  bool isRead;     // an input, or an output whose start value is read
  bool isGathered; // found by an index that is data: each element by itself
} TileOperatorOperand;

typedef struct TileOperator {
  int numDims, numOperands;
  TileOperatorDim dims[TileOperatorDims];
  TileOperatorOperand operands[TileOperatorOperands];
  const char *type;  // of the arithmetic, as in the machine file's key flops.TYPE: "f16"
  double operations; // per point of the nest; a multiply-add counts as two
  double functions;  // of them, that take a GPU's lane many instructions: exp, tanh
  int mostTiled;     // how many dimensions a tile may have wider than 1
  // A sum of products of operands lhs and rhs over dimensions m, n, k; m is -1 for any other computation.
  int m, n, k, lhs, rhs, out;
  int64_t storedBits; // of a product's element once ops that follow have narrowed it; 0: the output's
  bool isMatrix;      // of a CPU: no dimension but m, n, k and those that all operands have (cpu_cost.h)
  int64_t group;      // neighbours along k that a CPU's instruction multiplies and adds up at once
  bool isByTiles;     // the instruction takes tile registers
  bool needsDot;      // only the instruction multiplies the types: unsigned bytes
} TileOperator;

// Dimension `dim` is part of the index of some axis.
bool tileOperandIsIndexedBy(const TileOperatorOperand *operand, int dim);
// Elements of the operand's whole tensor, each counted once.
int64_t tileOperandCount(const TileOperatorOperand *operand);

// C[m, n] += sum over k of A[m, k] · B[k, n] with rows contiguous; C's start value is not read.
TileOperator tileOperatorProduct(int64_t m, int64_t n, int64_t k, const char *type, int64_t bits, int64_t sumBits);
// out[i…] = f(inputs[i…]): `inputs` tensors of the same shape, all rows contiguous.
TileOperator tileOperatorElementwise(int rank, const int64_t *shape, int inputs, const char *type, int64_t bits);
// The last axis of a tensor summed up.
TileOperator tileOperatorReduction(int rank, const int64_t *shape, const char *type, int64_t bits);

// The product with k cut into `parts`, which must divide it: a last parallel dimension `parts` counts them, the output
// has it as its first axis, A and B before k; each operand has one part of k.
TileOperator tileOperatorParts(const TileOperator *product, int64_t parts);
// The operator that adds the parts: it sums the output of `tileOperatorParts` along its first axis.
TileOperator tileOperatorSumOfParts(const TileOperator *parts, const char *type);

#ifdef __cplusplus
}
#endif
