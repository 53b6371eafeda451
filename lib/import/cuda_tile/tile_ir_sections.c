// The frame of a file: numbers, sections, tables of strings, types, constants and locations.
#include "lib/import/cuda_tile/tile_ir_parts.h"

#include <stdlib.h>

bool tileIrIsBytecode(const char *bytes, size_t size) {
  return size >= sizeof cudaTileMagic && memcmp(bytes, cudaTileMagic, sizeof cudaTileMagic) == 0;
}

//===--- numbers ------------------------------------------------------------------===//

bool tileIrFail(TileIrBytes *bytes, const char *format, ...) {
  TileIrFile *file = bytes->file;
  if (file->failed)
    return false;
  file->failed = true;
  char text[512];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  return tessera_fail(file->error, "%s: byte %ld: %s", file->name, (long)(bytes->at - file->begin), text);
}

uint8_t tileIrByte(TileIrBytes *bytes) {
  if (bytes->file->failed || bytes->at == bytes->end)
    return tileIrFail(bytes, "the section ends here, expected more bytes");
  return *bytes->at++;
}

uint64_t tileIrNumber(TileIrBytes *bytes) {
  uint64_t value = 0;
  for (unsigned shift = 0; shift < 70; shift += 7) {
    uint8_t byte = tileIrByte(bytes);
    if (shift == 63 && byte > 1)
      break;
    value |= (uint64_t)(byte & 0x7F) << shift;
    if (!(byte & 0x80))
      return value;
  }
  return tileIrFail(bytes, "a number has more than 64 bits");
}

int64_t tileIrSigned(TileIrBytes *bytes) {
  uint64_t value = tileIrNumber(bytes);
  return (int64_t)(value >> 1) ^ -(int64_t)(value & 1);
}

uint64_t tileIrCount(TileIrBytes *bytes, size_t size, const char *what) {
  uint64_t count = tileIrNumber(bytes), most = (uint64_t)(bytes->end - bytes->at) / size;
  return count <= most ? count
                       : (uint64_t)tileIrFail(bytes, "%lu %s, expected at most %lu: the section has no room for more",
                                              (unsigned long)count, what, (unsigned long)most);
}

static uint64_t fixed(const uint8_t *at, unsigned width) {
  uint64_t value = 0;
  for (unsigned i = 0; i < width; ++i)
    value |= (uint64_t)at[i] << (8 * i);
  return value;
}

intptr_t tileIrList(TileIrBytes *bytes, unsigned width, int64_t *values, intptr_t capacity) {
  uint64_t count = tileIrCount(bytes, width, "numbers");
  if (count > (uint64_t)capacity)
    return tileIrFail(bytes, "%lu numbers, expected at most %ld", (unsigned long)count, (long)capacity);
  for (uint64_t i = 0; i < count; ++i, bytes->at += width) {
    unsigned unused = 64 - 8 * width;
    values[i] = (int64_t)(fixed(bytes->at, width) << unused) >> unused;
  }
  return (intptr_t)count;
}

//===--- sections -------------------------------------------------------------------===//

static bool pad(TileIrBytes *bytes, const uint8_t *origin, size_t alignment) {
  size_t rest = (size_t)(bytes->at - origin) % alignment, skip = rest ? alignment - rest : 0;
  if ((size_t)(bytes->end - bytes->at) < skip)
    return tileIrFail(bytes, "the file ends here, expected padding");
  bytes->at += skip;
  return true;
}

static bool takeSection(TileIrBytes *bytes, uint8_t id) {
  unsigned kind = id & 0x7F;
  uint64_t size = tileIrNumber(bytes), alignment = id & CudaTileSectionIsAligned ? tileIrNumber(bytes) : 1;
  if (kind >= CudaTileSection_Count)
    return tileIrFail(bytes, "unknown section %u, expected 1 to %d", kind, CudaTileSection_Count - 1);
  if (!alignment || (alignment & (alignment - 1)) || alignment > 4096)
    return tileIrFail(bytes, "alignment %lu, expected a power of two up to 4096", (unsigned long)alignment);
  if (bytes->file->failed || !pad(bytes, bytes->file->begin, alignment))
    return false;
  if (size > (uint64_t)(bytes->end - bytes->at))
    return tileIrFail(bytes, "section %u has %lu bytes, expected at most %ld, the rest of the file", kind,
                      (unsigned long)size, (long)(bytes->end - bytes->at));
  if (bytes->file->sections[kind].at)
    return tileIrFail(bytes, "a second section %u", kind);
  bytes->file->sections[kind] = (TileIrBytes){bytes->file, bytes->at, bytes->at + size};
  bytes->at += size;
  return true;
}

static bool takeHeader(TileIrBytes *bytes) {
  bytes->at += sizeof cudaTileMagic;
  unsigned major = tileIrByte(bytes), minor = tileIrByte(bytes), tag = tileIrByte(bytes) | tileIrByte(bytes) << 8;
  bytes->file->version = (int)minor;
  if (bytes->file->failed)
    return false;
  if (major != 13 || minor < CudaTileOldest || minor > CudaTileNewest)
    return tileIrFail(bytes, "version %u.%u of CUDA Tile IR, expected 13.%d to 13.%d", major, minor, CudaTileOldest,
                      CudaTileNewest);
  return !(tag & 1) || tileIrFail(bytes, "uses preview features, which are not supported");
}

static bool takeTable(TileIrBytes *bytes, unsigned width, TileIrTable *table, const char *what) {
  const uint8_t *origin = bytes->at;
  *table = (TileIrTable){.width = width};
  if (!origin)
    return true;
  table->count = tileIrCount(bytes, width, what);
  if (bytes->file->failed || !pad(bytes, origin, width))
    return false;
  if ((uint64_t)(bytes->end - bytes->at) / width < table->count)
    return tileIrFail(bytes, "%lu %s, expected fewer: the section has no room for them", (unsigned long)table->count,
                      what);
  table->offsets = bytes->at;
  table->data = bytes->at + table->count * width;
  table->end = bytes->end;
  return true;
}

static bool takeDebug(TileIrFile *file) {
  TileIrBytes *bytes = &file->sections[CudaTileSection_Debug];
  const uint8_t *origin = bytes->at;
  if (!origin)
    return true;
  file->numDebugFunctions = tileIrCount(bytes, 4, "functions with debug info");
  if (file->failed || !pad(bytes, origin, 4) || (uint64_t)(bytes->end - bytes->at) / 4 < file->numDebugFunctions)
    return tileIrFail(bytes, "the debug info is cut");
  file->debugFirsts = bytes->at;
  bytes->at += 4 * file->numDebugFunctions;
  file->numDebugIndices = tileIrCount(bytes, 8, "places");
  if (file->failed || !pad(bytes, origin, 8) || (uint64_t)(bytes->end - bytes->at) / 8 < file->numDebugIndices)
    return tileIrFail(bytes, "the debug info is cut");
  file->debugIndexData = bytes->at;
  bytes->at += 8 * file->numDebugIndices;
  // The table pads from the section's begin.
  TileIrTable *table = &file->locations;
  table->width = 4;
  table->count = tileIrCount(bytes, 4, "debug attributes");
  if (file->failed || !pad(bytes, origin, 4) || (uint64_t)(bytes->end - bytes->at) / 4 < table->count)
    return tileIrFail(bytes, "the debug info is cut");
  table->offsets = bytes->at;
  table->data = bytes->at + 4 * table->count;
  table->end = bytes->end;
  return true;
}

bool tileIrOpen(TileIrFile *file, const uint8_t *data, size_t size) {
  TileIrBytes bytes = {file, data, data + size};
  file->begin = data;
  if (!takeHeader(&bytes))
    return false;
  for (uint8_t id; (id = tileIrByte(&bytes)) != CudaTileSection_End;)
    if (!takeSection(&bytes, id))
      return false;
  if (file->failed)
    return false;
  for (int i = 0; i < CudaTileSection_Count; ++i)
    file->sections[i].file = file;
  if (!takeTable(&file->sections[CudaTileSection_String], 4, &file->strings, "strings") ||
      !takeTable(&file->sections[CudaTileSection_Type], 4, &file->types, "types") ||
      !takeTable(&file->sections[CudaTileSection_Constant], 8, &file->constants, "constants") || !takeDebug(file))
    return false;
  file->decodedTypes = calloc(file->types.count + 1, sizeof *file->decodedTypes);
  file->typeIsOpen = calloc(file->types.count + 1, sizeof *file->typeIsOpen);
  return true;
}

void tileIrClose(TileIrFile *file) {
  free(file->decodedTypes);
  free(file->typeIsOpen);
}

//===--- items ----------------------------------------------------------------------===//

TileIrBytes tileIrItem(TileIrBytes *from, const TileIrTable *table, uint64_t number, const char *what) {
  TileIrBytes item = {from->file, from->at, from->at};
  if (from->file->failed)
    return item;
  if (number >= table->count) {
    tileIrFail(from, "%s %lu, expected less than %lu", what, (unsigned long)number, (unsigned long)table->count);
    return item;
  }
  uint64_t room = (uint64_t)(table->end - table->data);
  uint64_t begin = fixed(table->offsets + number * table->width, table->width), end = room;
  if (number + 1 < table->count)
    end = fixed(table->offsets + (number + 1) * table->width, table->width);
  if (begin > end || end > room) {
    item.at = item.end = table->offsets + number * table->width;
    tileIrFail(&item, "%s %lu lies at %lu to %lu of %lu bytes", what, (unsigned long)number, (unsigned long)begin,
               (unsigned long)end, (unsigned long)room);
    return item;
  }
  item.at = table->data + begin;
  item.end = table->data + end;
  return item;
}

MlirStringRef tileIrString(TileIrBytes *bytes) {
  uint64_t number = tileIrNumber(bytes);
  TileIrBytes item = tileIrItem(bytes, &bytes->file->strings, number, "string");
  return mlirStringRefCreate((const char *)item.at, (size_t)(item.end - item.at));
}

//===--- locations ------------------------------------------------------------------===//

enum { DeepestDebug = 16 }; // calls and blocks in each other

// The bytes of debug attribute `number`, counted from 1, behind its tag; tag 0: there is none.
static TileIrBytes debugItem(TileIrFile *file, uint64_t number, unsigned *tag) {
  TileIrBytes from = {file, file->locations.offsets, file->locations.offsets}, none = from;
  *tag = 0;
  if (number == 0 || number > file->locations.count)
    return none;
  TileIrBytes item = tileIrItem(&from, &file->locations, number - 1, "debug attribute");
  if (file->failed || item.at == item.end)
    return none;
  *tag = tileIrByte(&item);
  return item;
}

static MlirNamedAttribute named(TileIrFile *file, const char *key, MlirAttribute value) {
  return mlirNamedAttributeGet(mlirIdentifierGet(file->context, tileString(key)), value);
}
static MlirAttribute textOf(TileIrFile *file, TileIrBytes *item) {
  MlirStringRef text = tileIrString(item);
  return mlirStringAttrGet(file->context, file->failed ? tileString("") : text);
}
static MlirAttribute lineOf(TileIrFile *file, TileIrBytes *item) {
  return mlirIntegerAttrGet(mlirIntegerTypeGet(file->context, 64), (int64_t)(tileIrNumber(item) & INT32_MAX));
}

// The function of a scope, as bytecode.h says it; a block's is the one around the block. Null: none.
static MlirAttribute functionOf(TileIrFile *file, uint64_t scope) {
  unsigned tag;
  TileIrBytes item = debugItem(file, scope, &tag), at;
  for (int depth = 0; tag == CudaTileDebug_LexicalBlock && depth < DeepestDebug; ++depth)
    item = debugItem(file, tileIrNumber(&item), &tag);
  if (tag != CudaTileDebug_Subprogram)
    return mlirAttributeGetNull();
  at = debugItem(file, tileIrNumber(&item), &tag);
  if (tag != CudaTileDebug_File)
    return mlirAttributeGetNull();
  MlirNamedAttribute parts[6];
  parts[0] = named(file, CUDA_TILE_DEBUG_FILE, textOf(file, &at));
  parts[1] = named(file, CUDA_TILE_DEBUG_DIRECTORY, textOf(file, &at));
  parts[2] = named(file, CUDA_TILE_DEBUG_LINE, lineOf(file, &item));
  parts[3] = named(file, CUDA_TILE_DEBUG_NAME, textOf(file, &item));
  parts[4] = named(file, CUDA_TILE_DEBUG_LINKAGE, textOf(file, &item));
  tileIrNumber(&item); // the compile unit, which is the file
  parts[5] = named(file, CUDA_TILE_DEBUG_SCOPE, lineOf(file, &item));
  return file->failed ? mlirAttributeGetNull() : mlirDictionaryAttrGet(file->context, 6, parts);
}

// Unknown if debug attribute `number` is no place in a file.
static MlirLocation locationOf(TileIrFile *file, uint64_t number, int depth) {
  MlirLocation unknown = mlirLocationUnknownGet(file->context);
  unsigned tag;
  TileIrBytes item = debugItem(file, number, &tag);
  if (tag == CudaTileDebug_CallSite && depth < DeepestDebug) {
    uint64_t callee = tileIrNumber(&item), caller = tileIrNumber(&item);
    return file->failed
               ? unknown
               : mlirLocationCallSiteGet(locationOf(file, callee, depth + 1), locationOf(file, caller, depth + 1));
  }
  if (tag != CudaTileDebug_Location)
    return unknown;
  MlirAttribute function = functionOf(file, tileIrNumber(&item));
  MlirStringRef name = tileIrString(&item);
  uint64_t line = tileIrNumber(&item), column = tileIrNumber(&item);
  if (file->failed)
    return unknown;
  MlirLocation place = mlirLocationFileLineColGet(file->context, name, (unsigned)line, (unsigned)column);
  return mlirAttributeIsNull(function) ? place : mlirLocationFusedGet(file->context, 1, &place, function);
}

MlirLocation tileIrLocation(TileIrFile *file, uint64_t function, uint64_t number, uint64_t opNumber) {
  MlirLocation unknown = mlirLocationUnknownGet(file->context), found = unknown;
  if (function && function <= file->numDebugFunctions) {
    uint64_t at = fixed(file->debugFirsts + 4 * (function - 1), 4) + number;
    if (at < file->numDebugIndices)
      found = locationOf(file, fixed(file->debugIndexData + 8 * at, 8), 0);
  }
  return mlirLocationEqual(found, unknown)
             ? mlirLocationFileLineColGet(file->context, tileString(file->name), (unsigned)opNumber, 1)
             : found;
}
