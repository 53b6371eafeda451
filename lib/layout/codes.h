// Orders of codes that share words: which element along k each place holds.
// Why: neighbours along k lie in one byte as exporters write them, but a byte is unpacked to vectors of neighbours. In
//   another order of the codes each shift of a vector of bytes gives neighbours along k, so that the rows that are
//   multiplied by them need no copy.
//
//   TileLayout order;                       // 4 bits in bytes, groups of 128: code 0 beside code 64 in byte 0
//   tileLayoutOfCodesApart(2, 128, &order);    offset [2:d0*64, 64:d0]
#pragma once

#include "lib/layout/layout.h"

#ifdef __cplusplus
extern "C" {
#endif

// `perWord` codes of a word lie period / perWord apart along k, and neighbouring words hold neighbours. Both are powers
// of two, perWord at most period; false with the error else.
bool tileLayoutOfCodesApart(uint32_t perWord, uint64_t period, TileLayout *order, TileError *error);
// The order that one mask and a magic exponent unpack two at a time: element t of a word of `wordBits` bits is at code
// (t mod G) · (W / b) + t / G, where G = wordBits / W elements of W bits fill a word and b are the bits of a code
// (LOP3's interleave: BitBLAS, AutoGPTQ's kernels). All are powers of two, b < W.
bool tileLayoutOfInterleave(uint32_t wordBits, uint32_t elementBits, uint32_t codeBits, TileLayout *order,
                            TileError *error);

// A run of consecutive bits of a place that are consecutive bits of the element's number.
typedef struct TileLayoutRun {
  uint32_t place, element, bits; // first bit of the place, first bit of the element
} TileLayoutRun;
// The runs of an order that permutes bits, from the lowest bit of the place on, none across bit `cut`. Returns their
// number; 0 where the order is no permutation of bits, or has more runs than `capacity`.
uint32_t tileLayoutRunsOfOrder(const TileLayout *order, uint32_t cut, TileLayoutRun *runs, uint32_t capacity);

#ifdef __cplusplus
}
#endif
