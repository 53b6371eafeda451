// Sets of axes that lose the same indices: the work of sparse-shrink-tensors (shrink_tensors.c).
#pragma once

#include "lib/analysis/sparsity/module_facts.h"

// False if no constant has a zero and no op or argument carries an attribute: nothing can be cut.
bool sparseModuleMaySkip(MlirOperation module);

typedef struct SparseAxes SparseAxes;
SparseAxes *sparseAxesCreate(SparseProgram *program, MlirOperation module);
void sparseAxesDestroy(SparseAxes *axes);
// Decides which indices each set loses. Returns how many indices of sets are cut.
uint64_t sparseAxesChoose(SparseAxes *axes);
uint64_t sparseAxesNumCut(const SparseAxes *axes); // sets that lose some
// Rebuilds constants and ops. False after a diagnostic.
bool sparseAxesRewrite(SparseAxes *axes);
