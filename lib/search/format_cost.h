// What a product by weights of few bits costs, by where its weights are converted (Ladder's `convert` on a hop of
// memory): in registers again for each tile of rows, once for each program into the memory that it manages, or once
// into global memory.
//
//   TileFormatProduct product = {.rows = 16, .columns = 4096, .depth = 4096, …};
//   double seconds = tileFormatSeconds(&target, &product, TileFormat_Shared);
#pragma once

#include "lib/search/target.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum TileFormatPlace {
  TileFormat_Register,
  TileFormat_Shared,
  TileFormat_Memory,
  TileFormatPlaces
} TileFormatPlace;

typedef struct TileFormatProduct {
  double rows, columns, depth, batches;
  double codeBytes, weightBytes; // of all that the factor is made of; of the factor, converted
  double operations;             // arithmetic that converts one weight, in instructions of one element
  double rowsOfRegisters;        // rows that one conversion in registers serves
  double rowsOfProgram;          // rows that one conversion into a program's memory serves
  double rate;                   // operations (two for a multiply-add) of the product per cycle and core
} TileFormatProduct;

// Seconds, without what is the same in all places: rows, results, launches of the product itself.
double tileFormatSeconds(const TileSearchTarget *target, const TileFormatProduct *product, TileFormatPlace place);

#ifdef __cplusplus
}
#endif
