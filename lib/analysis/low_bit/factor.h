// What the elements of a product's factor are computed from: codes, scales, zeros and tables, read where they lie.
//
//   TileFactor factor = {.target = &target};
//   TileDigit at[] = {{.dim = 1}, {.dim = 2}};            // W[n, k] of a product over (m, n, k)
//   int root = tileFactorRead(&factor, weights, at);
//   … factor.nodes[root].op … tileFactorReadBytes(&factor, &s, root)
//
// The walk goes from the factor through elementwise linalg.generic, expand_shape, collapse_shape and insert_slice that
// stacks tensors to the tensors in memory. Axes of all of them are indexed by digits of the product's dimensions:
// scales in groups of 128 by k floordiv 128, the shift of a nibble by k mod 2.
#pragma once

#include "lib/analysis/structured.h"

// (dim floordiv divisor) mod modulus; modulus 0: none. dim -1: the axis has one element. With an outer dimension,
// `outer`
// - 1 (0: none), the index is that dimension · modulus + the digit: groups of k and what is in them as one axis.
typedef struct TileDigit {
  int dim, outer;
  int64_t divisor, modulus;
} TileDigit;

// A node's op has at most MaxFactorBody arguments and ops in its body.
enum { MaxFactorNodes = 48, MaxFactorBody = 128 };

typedef struct TileFactorNode {
  MlirValue value;
  int rank; // of a number 0
  TileDigit at[MaxOperandRank];
  MlirOperation op;        // the elementwise op that makes the element; null: it is read from `value`
  int inputs[MaxOperands]; // nodes, one for each input of the op
  int numParts; // above 0: slices side by side, inputs[i] where the digit `part` is i; `op` is the last slice
  TileDigit part;
} TileFactorNode;

typedef struct TileFactor {
  const TileTarget *target;
  int64_t least; // values of fewer elements are read as they are, whatever makes them
  int count;
  TileFactorNode nodes[MaxFactorNodes];
} TileFactor;

// The node of `value` where its axes are indexed by `at`; -1 where there are too many nodes or axes. A value that is
// used elsewhere too, or that no elementwise op makes, is a node without an op.
int tileFactorRead(TileFactor *factor, MlirValue value, const TileDigit *at);
// Bytes of the tensors that all nodes without an op hold; bytes and elements of a tensor. 0 where sizes are not known.
int64_t tileFactorReadBytes(const TileFactor *factor);
int64_t tileTensorBytes(MlirValue tensor);
int64_t tileTensorElements(MlirValue tensor);

// The sizes at which digits cut dimension `dim` of extent `extent`, from the innermost part on: 1 first, each a
// multiple of the one before and a divisor of the extent, which is not among them. Returns their number, 0 where they
// are no such chain; at most `capacity`.
int tileFactorCuts(const TileFactor *factor, int dim, int64_t extent, int64_t *cuts, int capacity);
