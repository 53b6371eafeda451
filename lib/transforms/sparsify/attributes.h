// Shared by sparse-find-attributes and sparse-propagate-attributes: facts as attributes of ops and arguments.
#pragma once

#include "lib/analysis/sparsity/module_facts.h"

// Writes what is known as `sparse.attribute`: on each op with one ranked tensor as its result, and on arguments of
// functions. Facts that say nothing are left out; an attribute that stands there says at least what it said. Returns
// how many attributes were written.
uint64_t sparseAttributesWrite(const SparseProgram *program, MlirOperation module);
// Removes them all.
void sparseAttributesRemove(MlirOperation module);
