// sort.h - the order that sorting a row of a tile gives: what tile.sort and tile.topk call.
//
// Compiled code turns elements of any type into 64-bit integers of the same order, asks for the order, and moves keys
// and payloads by it; so one function serves all types.
#pragma once

#include <stdint.h>

// The positions of the |wanted| first keys of the sorted order, ascending or |descending|, in order[0 … wanted - 1];
// equal keys by position. |order| and |scratch| hold |count| numbers each.
void tessera_sort_order(const int64_t *keys, int64_t *order, int64_t *scratch, int64_t count, int64_t wanted,
                        int64_t descending);
