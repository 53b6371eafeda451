// Quantized tensors in the interpreter: their parts together.
#pragma once

#include "lib/interpreter/machine/value.h"

typedef struct Quantized {
  Object object;
  int count;
  InterpretValue parts[]; // owned references, in the order of tileQuantizedTypeGetParts
} Quantized;

static inline Quantized *quantizedOf(InterpretValue value) { return (Quantized *)value.object; }
Quantized *interpretQuantizedCreate(int count, const InterpretValue *parts); // retains them; null: no memory
void interpretQuantizedClear(Quantized *quantized);                          // releases them
