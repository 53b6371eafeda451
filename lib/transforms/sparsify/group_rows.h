// Shared by the files of sparse-group-rows.
#pragma once

#include "lib/ir/builder.h"
#include "lib/ir/support.h"

// The list of the rows of each matrix, by the numbers; one that stands before `before` in its block where there is one.
// An error of the list stands at `where`.
MlirOperation sparseBuildGroups(TileBuilder *b, MlirLocation where, MlirOperation before, MlirValue numbers,
                                MlirValue matrices, bool isPartial);
// linalg.fill.
MlirValue sparseBuildFilled(TileBuilder *b, MlirValue empty, MlirValue number);

// A loop over matrices in which each row keeps what its own matrix gave becomes straight-line code with grouped
// products. Returns their number; 0: the loop is none, and stays.
uint64_t sparseGroupLoop(MlirOperation loop);
