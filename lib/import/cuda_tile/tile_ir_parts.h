// Shared by the files of the reader: bytes with an end, the tables of a file, and what each file decodes.
#pragma once

#include "dialects/foreign/cuda_tile/bytecode.h"
#include "dialects/foreign/cuda_tile/cuda_tile.h"
#include "lib/import/cuda_tile/tile_ir.h"
#include "lib/ir/support.h"

typedef struct TileIrFile TileIrFile;

// Bytes [at, end) of the file. After an error `failed` is set, and every further number is 0.
typedef struct TileIrBytes {
  TileIrFile *file;
  const uint8_t *at, *end;
} TileIrBytes;

// Items of a section: item `i` is data[offsets[i]] up to the next offset.
typedef struct TileIrTable {
  uint64_t count;
  const uint8_t *offsets, *data, *end;
  unsigned width; // of an offset
} TileIrTable;

struct TileIrFile {
  MlirContext context;
  const char *name;
  const uint8_t *begin;
  tessera_error_t *error;
  bool failed;
  int version; // N of 13.N
  TileIrBytes sections[CudaTileSection_Count];
  TileIrTable strings, types, constants, locations;
  MlirType *decodedTypes; // null: not decoded yet
  bool *typeIsOpen;       // being decoded: a type that holds itself is an error
  TileIrBytes debugIndices;
  uint64_t numDebugFunctions, numDebugIndices;
  const uint8_t *debugFirsts, *debugIndexData;
};

//===--- tile_ir_sections.c ---------------------------------------------------------------===//
// Reports at the place of the cursor, once for a file. Always false.
bool tileIrFail(TileIrBytes *bytes, const char *format, ...) __attribute__((format(printf, 2, 3)));
uint8_t tileIrByte(TileIrBytes *bytes);
uint64_t tileIrNumber(TileIrBytes *bytes);
int64_t tileIrSigned(TileIrBytes *bytes);
// A number of items. Each takes at least `size` bytes of what is left.
uint64_t tileIrCount(TileIrBytes *bytes, size_t size, const char *what);
// A list of numbers of `width` bytes. At most `capacity`.
intptr_t tileIrList(TileIrBytes *bytes, unsigned width, int64_t *values, intptr_t capacity);
bool tileIrOpen(TileIrFile *file, const uint8_t *data, size_t size);
void tileIrClose(TileIrFile *file);
// Item `number` of a table; `from` is where the number stood.
TileIrBytes tileIrItem(TileIrBytes *from, const TileIrTable *table, uint64_t number, const char *what);
MlirStringRef tileIrString(TileIrBytes *bytes); // by number
MlirLocation tileIrLocation(TileIrFile *file, uint64_t function, uint64_t number, uint64_t opNumber);

//===--- tile_ir_types.c --------------------------------------------------------------------===//
MlirType tileIrType(TileIrBytes *bytes); // by number; null after an error
MlirAttribute tileIrTagged(TileIrBytes *bytes);
MlirAttribute tileIrDictionary(TileIrBytes *bytes);
MlirAttribute tileIrConstant(TileIrBytes *bytes, MlirType tile); // by number

//===--- tile_ir_code.c ---------------------------------------------------------------------===//
bool tileIrGlobals(TileIrFile *file, MlirBlock block);
bool tileIrFunctions(TileIrFile *file, MlirBlock block);
