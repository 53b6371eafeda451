// The layouts of tensors that tile-choose-data-layouts chooses, and what the files of the pass share.
//
//   TileDataLayout layout = {4, {0, 2, 3, 1}};   // tensor<NxCxHxW> becomes tensor<NxHxWxC>
#pragma once

#include "lib/analysis/structured.h"
#include "lib/ir/table.h"

typedef struct TileDataLayout {
  int rank, axes[MaxOperandRank]; // axis i of the new tensor is axis axes[i] of the old one
} TileDataLayout;

// A tensor of a chain, with the layout that it gets.
typedef struct TileDataValue {
  MlirValue old, now, back; // now: the tensor in its layout, back: a copy in the old one; null until they are built
  TileDataLayout layout;
  int chain;     // tensors of one chain change together
  bool isCopied; // `now` is a copy, because the op that makes the tensor is not computed anew
} TileDataValue;

typedef struct TileDataLayouts {
  const TileTarget *target;
  TileArena arena;
  TileTable values;      // TileDataValue by value
  TileTable ops;         // TileStructured by linalg.generic
  TileDataValue **items; // the values in the order in which they were found
  int64_t count;
  int *chains; // chain i belongs to chain chains[i], which is i or before i
  int64_t numChains;
  uint64_t copies; // statistics: changes of layout that were built
} TileDataLayouts;

//===--- questions (data_layouts.c) -------------------------------------------------------===//

bool tileDataLayoutIsPlain(const TileDataLayout *layout); // no axis moves
bool tileDataLayoutsEqual(const TileDataLayout *a, const TileDataLayout *b);
// No axis moves but those of one element: the elements keep their places in memory.
bool tileDataLayoutKeepsOrder(const TileDataLayout *layout, MlirType type);
// The axes by their places, those of one place as they were.
TileDataLayout tileDataSortAxes(int rank, const int *places);

// The generic as tile kernels see it; null where they cannot compute it, or where a schedule names its dimensions.
const TileStructured *tileDataStructured(TileDataLayouts *layouts, MlirOperation op);
// The value's record, or null where the value keeps its layout.
TileDataValue *tileDataValue(const TileDataLayouts *layouts, MlirValue value);
// The dimension that the axis follows: the only one that indexes it, or the parallel one of a window; -1: none.
int tileDataAxisDim(const TileStructured *structured, const TileOperand *operand, int axis);
// tensor.empty, or a generic that fills one with a number: it is made anew in any layout.
bool tileDataIsStart(MlirValue value);
bool tileDataIsConstant(MlirValue value);
// The operand has every dimension of the output: an input of an elementwise op, the tensor that is reduced, the output.
bool tileDataIsMain(const TileStructured *structured, int operand);
// An elementwise op, or one that reduces one main operand: all main operands can have one layout.
bool tileDataIsTransparent(const TileStructured *structured);
// A convolution: says which input is the image, whose axes are windows, and which one the weights.
bool tileDataFindConvolution(const TileStructured *structured, int *image, int *weights);
// The layout of a convolution's image or output: images, pixels, groups of channels, channels.
TileDataLayout tileDataChannelsLast(const TileStructured *structured, int operand, int image, int weights);
// Padding, slices and casts: operands and result have one rank, and one layout.
bool tileDataKeepsAxes(MlirOperation op);
// Whether the op can be computed anew, on operands in other layouts.
bool tileDataCanRewrite(TileDataLayouts *layouts, MlirOperation op);

// For tensor.collapse_shape and expand_shape: groups[i] is the group of axis i of the tensor with more axes. Returns
// the number of groups, 0 where there are too many axes.
int tileDataReadGroups(MlirOperation reshape, int *groups);
// How the groups follow each other where the tensor with more axes has the layout. False where a group is torn apart.
bool tileDataGroupsOfLayout(const TileDataLayout *layout, MlirType type, const int *groups, int numGroups, int *order);

//===--- what follows from the answers (apply_data_layouts.c) ---------------------------------===//

// Computes the ops of the function on the tensors' new layouts.
void tileDataApply(TileDataLayouts *layouts, MlirOperation function);
