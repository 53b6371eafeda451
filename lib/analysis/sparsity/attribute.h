// Facts as #sparse.attribute, the form in which a program carries them, and back.
#pragma once

#include "dialects/sparse/sparse.h"
#include "lib/analysis/sparsity/cells.h"

extern const char sparseAttributeName[]; // under which ops and arguments carry one

// What the attribute's map says of a tensor of that type: SparseMay_Zero, SparseNeed_Nothing, or else every bit. Null
// where the attribute has no such map, or where a map has several rectangles along an axis of dynamic size.
SparseCells *sparseCellsOfAttribute(MlirAttribute known, MlirType type, SparseKnownKey key);
// The attribute has one rectangle for each that a tensor of the type consists of.
bool sparseAttributeFits(MlirAttribute known, MlirType type);
// The largest rectangles that tell zero and dead elements apart from others. Where these are more than 65536, larger
// ones, which are zero or dead only as a whole. `may` and `need` may be null. Null: nothing is known.
MlirAttribute sparseAttributeOfCells(MlirType type, const SparseCells *may, const SparseCells *need);
