// How narrow elements lie in the words of a packed view (`packed = #tile.layout<offset […]>`, docs/numerics.md §1).
// Why: by the definition of the layout's text, so that no mistake of lib/layout is shared.
// Expects: a layout of offsets whose positions are one word's. Leaves: a table from an element of a word's block to its
// position.
//
//   offset [4:d1*2, 2:d1]      position p = p0 + 4 p1 of a word holds element 2 p0 + p1 along axis 1
#pragma once

#include "lib/interpreter/machine/value.h"
#include "mlir-c/IR.h"

enum { MaxPackedElements = 64 }; // a word has at most 64 bits

typedef struct InterpretPacking {
  Format element, word;
  int rank, count;                          // axes; elements in a word
  int64_t extents[InterpreterMaxRank];      // of a word's block of elements
  signed char positions[MaxPackedElements]; // of each element of the block, in row-major order
} InterpretPacking;

// Made from a type of view and the format of its memory's words; null when the layout does not place each element of a
// word exactly once, or words are no integers. Freed with free.
InterpretPacking *interpretPackingCreate(MlirType viewType, const Format *word);

// Element number `position` of a word, and the word with it changed.
Element interpretPackingGet(const InterpretPacking *packing, Element word, int position);
Element interpretPackingSet(const InterpretPacking *packing, Element word, int position, Element x);
