// What the files of the dialect vector share. A vector is an array without gaps; those of unknown size have no meaning
// here.
#pragma once

#include "lib/interpreter/machine/machine.h"

// The op's first result is `array`, which may be null after an error.
bool interpretGiveVector(Frame *frame, const Instruction *instruction, Array *array);
// False after an error: the type is a vector of unknown size.
bool interpretVectorExpectFixed(Machine *machine, const Instruction *instruction, MlirType type);
// A new vector of the type of the first result; null after an error.
Array *interpretNewVector(Machine *machine, const Instruction *instruction);
// The numbers of an array attribute of the op, or of a dense one; `count` at most. Returns how many there are.
int interpretVectorNumbers(const Instruction *instruction, const char *name, int count, int64_t *numbers);
