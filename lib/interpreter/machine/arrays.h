// Elements of the interpreter to and from those of arrays, which the tools exchange (lib/support/array.h).
#pragma once

#include "lib/interpreter/machine/machine.h"

Format interpretFormatOfElement(tessera_element_t element);
Element interpretReadElement(const tessera_array_t *array, const Format *format, int64_t i);
void interpretWriteElement(tessera_array_t *array, const Format *format, int64_t i, Element x);
// The element type of an array for elements of the type; index becomes i64. False: no array holds them.
bool interpretElementOfType(MlirType type, Format *format, tessera_element_t *element);
// Copies a scalar or array; elements that nobody wrote become nan or 0. For a type that no array holds the copy is
// without data and has rank -1.
bool interpretToArray(InterpretValue value, MlirType type, tessera_array_t *array, tessera_error_t *error);
