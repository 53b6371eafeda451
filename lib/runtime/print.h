// print.h - what tile.print becomes: a line of text with values in it, written at once.
#pragma once

#include <stdint.h>

// Each `{}` of |message| stands for the next value; a line end follows. A value is three words of |values|: its number
// of elements, or -1 for a scalar; 1 for floats (double), 0 for integers (int64_t); the address of the elements.
void tessera_print(const char *message, const int64_t *values, int64_t count);
