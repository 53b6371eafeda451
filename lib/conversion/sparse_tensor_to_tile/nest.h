// Loops over the levels of stored tensors: which loop walks which level, and what each place of the loops holds. After
// TACO (OOPSLA 2017): a level is walked where its coordinate is a loop's variable and all levels above are placed; two
// levels at one variable are merged; a level whose coordinate is already known is searched.
//
// A nest has axes, as linalg has. An axis that a blocked format divides has two variables, quotient and rest.
#pragma once

#include "lib/conversion/sparse_tensor_to_tile/storage.h"
#include "mlir-c/AffineMap.h"

enum { NestMaxAxes = 8, NestMaxVariables = 12, NestMaxOperands = 12 };

// A tensor that a nest reads (or, the last one, writes). `arrays`: inside of the kernel.
typedef struct NestOperand {
  LevelStorage storage;
  MlirAffineMap map; // axes of the nest → axes of the tensor
  MlirValue arrays[LevelMaxArrays];
  MlirValue sizes[LevelMax];
} NestOperand;

typedef struct NestVariable {
  intptr_t axis;
  int64_t by;
  bool isRest;
} NestVariable;

// A value at a place of the loops, and whether something is stored there: null: always. Neutral: what a reduction has
// so far, which leaves the other side as it is.
typedef struct NestTerm {
  MlirValue value, present;
  bool isNeutral;
} NestTerm;

// Where the loops are: what is known of variables and axes, and how deep each operand is placed.
typedef struct NestPlace {
  MlirValue variables[NestMaxVariables], axes[NestMaxAxes];
  struct {
    intptr_t level;
    MlirValue position, present; // present null: always
  } at[NestMaxOperands];
} NestPlace;

typedef struct LevelNest LevelNest;
struct LevelNest {
  intptr_t numAxes, numOperands, numVariables;
  bool isReduction[NestMaxAxes];
  MlirValue sizes[NestMaxAxes]; // of the axes, inside of the kernel
  NestOperand operands[NestMaxOperands];
  const NestOperand *output; // its order of levels is followed where that is possible; null: none
  NestVariable variables[NestMaxVariables];
  intptr_t order[NestMaxVariables]; // of the loops
  // Whether anything may be there when only these operands are.
  bool (*mayBe)(const LevelNest *nest, const bool *present);
  // Called where the loops before `depth` are open, and the axes that the output needs known; `carried` values go
  // through the loops that follow. begin: gives them their first values. leaf: at the innermost place. end: after it.
  intptr_t depth, numCarried;
  void (*begin)(LevelNest *nest, TileBuilder *b, const NestPlace *place, MlirValue *carried);
  void (*leaf)(LevelNest *nest, TileBuilder *b, const NestPlace *place, MlirValue *carried);
  void (*end)(LevelNest *nest, TileBuilder *b, const NestPlace *place, const MlirValue *carried);
  void *data;
  const struct LevelEmitter *emitter; // where entries go (lowering.h); null: the nest makes none
};

// Chooses variables and their order; `depth` becomes the number of outer loops that the output's axes need. What the
// nest needs beforehand: axes, operands' storage and maps, the output. False if it is too large.
bool sparseNestPlan(LevelNest *nest);
// Whether places come in the order of the output's levels, none twice.
bool sparseNestIsInOrder(const LevelNest *nest);
// Builds the loops.
void sparseNestBuild(LevelNest *nest, TileBuilder *b);
// The value of an affine expression of known axes.
MlirValue sparseNestExpression(const NestPlace *place, TileBuilder *b, MlirAffineExpr expression);
// The element of a dense operand, or of one that is placed; zero where nothing is stored.
NestTerm sparseNestLoad(LevelNest *nest, TileBuilder *b, const NestPlace *place, intptr_t operand);
// Coordinate of a level of `operand`.
MlirValue sparseNestCoordinate(LevelNest *nest, TileBuilder *b, const NestPlace *place, const NestOperand *operand,
                               intptr_t level);

MlirValue sparseNestAnd(TileBuilder *b, MlirValue x, MlirValue y); // of presences: null is always
MlirValue sparseNestOr(TileBuilder *b, MlirValue x, MlirValue y);
MlirValue sparseNestZero(TileBuilder *b, MlirType type);

// An scf.if with `build` in its first branch and `other` in the second one. Each branch replaces `values`.
typedef void (*NestBranch)(TileBuilder *b, MlirValue *values, void *data);
void sparseNestIf(TileBuilder *b, MlirValue condition, intptr_t count, MlirValue *values, NestBranch build,
                  NestBranch other, void *data);
