// Blocks of keys that a run-time mask shows, listed by a kernel of its own: attention then walks lists as it walks all
// blocks, on GPUs with copies that run ahead. One list serves all heads that share the mask.
//
//   int input;
//   if (tileAttentionMaskToList(&attention, keys.mask, &input))
//     list = tileAttentionListBlocks(&attention, input, mask, keys.shows, true, &host);
//   …
//   TileBlockLists lists = tileAttentionLists(&attention, input, listParameter, &emission);
//
// Row h · ceil(queries / tile) + q, h counting the mask's heads, is of tile q of the queries: the numbers of blocks
// that are shown whole and in part, then three lists: of these, and of those that are hidden. AttentionAhead places
// behind each list may be read: they have numbers of no block, whose copies read nothing.
#pragma once

#include "lib/analysis/attention.h"
#include "lib/conversion/linalg_to_tile/kernel.h"

enum { AttentionAhead = 32 };

// The input of f that the value of f's body is, if its last two axes are queries and keys.
bool tileAttentionMaskToList(const TileAttention *attention, MlirValue mask, int *input);
// Launches the kernel; returns the lists, a tensor of i32. `mask`: the input on the host. The graph has the blocks of
// the attention's kernel. `splits`: false lists blocks that are shown whole as shown in part. Null after a diagnostic.
MlirValue tileAttentionListBlocks(const TileAttention *attention, int input, MlirValue mask, bool shows, bool splits,
                                  TileBuilder *host);

// The program's lists, in the kernel of attention: the emission builds for the group as one op.
enum { BlockList_Whole, BlockList_Part, BlockList_Hidden, NumBlockLists };
typedef struct TileBlockLists {
  MlirValue parameter, row;
  MlirValue columns[NumBlockLists]; // where each begins
  MlirValue counts[NumBlockLists];
  MlirValue noBlocks; // a column from which on no block is listed
  int64_t blocks;     // that there are; or mlirShapedTypeGetDynamicSize()
} TileBlockLists;
TileBlockLists tileAttentionLists(const TileAttention *attention, int input, MlirValue parameter,
                                  TileKernelEmission *emission);
// The block at a place behind the column.
MlirValue tileAttentionListedBlock(const TileBlockLists *lists, MlirValue column, MlirValue place,
                                   TileKernelEmission *emission);
