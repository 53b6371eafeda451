// Compares modules by hashes of what their ops compute. See difference.h. Cost: linear in ops and operands, and
// sorting. Attributes and types are compared by address: both modules are of one context, which has each once.
#include "tools/tile-opt/difference.h"

#include "lib/ir/support.h"
#include "lib/support/grow.h"

#include <stdlib.h>

//===--- hashes -----------------------------------------------------------------===//

static uint64_t mix(uint64_t hash, uint64_t more) {
  hash = (hash ^ more) * UINT64_C(0x9e3779b97f4a7c15);
  return hash ^ hash >> 29;
}

// Values and their hashes: open addressing, grown by doubling.
typedef struct Values {
  const void **keys;
  uint64_t *hashes;
  size_t capacity, count;
} Values;

static size_t placeOf(const Values *values, const void *key) {
  size_t at = (size_t)mix(0, (uint64_t)(uintptr_t)key) & (values->capacity - 1);
  while (values->keys[at] && values->keys[at] != key)
    at = (at + 1) & (values->capacity - 1);
  return at;
}

static void setHash(Values *values, const void *key, uint64_t hash) {
  if (2 * values->count >= values->capacity) {
    Values old = *values;
    values->capacity = old.capacity ? 2 * old.capacity : 1024;
    values->keys = calloc(values->capacity, sizeof *values->keys);
    values->hashes = calloc(values->capacity, sizeof *values->hashes);
    for (size_t i = 0; i < old.capacity; ++i)
      if (old.keys[i]) {
        size_t at = placeOf(values, old.keys[i]);
        values->keys[at] = old.keys[i];
        values->hashes[at] = old.hashes[i];
      }
    free(old.keys);
    free(old.hashes);
  }
  size_t at = placeOf(values, key);
  values->count += !values->keys[at];
  values->keys[at] = key;
  values->hashes[at] = hash;
}

static uint64_t hashOfValue(const Values *values, MlirValue value) {
  if (!values->capacity)
    return 1;
  size_t at = placeOf(values, value.ptr);
  return values->keys[at] ? values->hashes[at] : 1; // of a graph region, ahead of its definition
}

//===--- the ops of a module ----------------------------------------------------===//

typedef struct Entry {
  MlirOperation op;
  uint64_t hash; // without regions
} Entry;

typedef struct Listing {
  Values values;
  Entry *entries;
  intptr_t count;
} Listing;

static uint64_t hashWithoutRegions(const Listing *listing, MlirOperation op) {
  MlirStringRef name = tileOpName(op);
  uint64_t hash = mix(7, (uint64_t)(uintptr_t)name.data), attributes = 0; // identifiers are unique too
  for (intptr_t i = 0; i < mlirOperationGetNumAttributes(op); ++i) {
    MlirNamedAttribute named = mlirOperationGetAttribute(op, i);
    attributes += mix((uint64_t)(uintptr_t)named.name.ptr, (uint64_t)(uintptr_t)named.attribute.ptr);
  }
  hash = mix(hash, attributes);
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); ++i)
    hash = mix(hash, (uint64_t)(uintptr_t)mlirValueGetType(mlirOperationGetResult(op, i)).ptr);
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); ++i)
    hash = mix(hash, hashOfValue(&listing->values, mlirOperationGetOperand(op, i)));
  return hash;
}

static void addEntry(Listing *listing, MlirOperation op, uint64_t hash) {
  listing->entries = tessera_grow(listing->entries, listing->count, sizeof *listing->entries);
  listing->entries[listing->count++] = (Entry){op, hash};
}

static uint64_t listOp(Listing *listing, MlirOperation op) {
  uint64_t shallow = hashWithoutRegions(listing, op), hash = shallow;
  addEntry(listing, op, shallow);
  for (intptr_t r = 0; r < mlirOperationGetNumRegions(op); ++r) {
    MlirBlock block = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, r));
    for (uint64_t number = 0; !mlirBlockIsNull(block); block = mlirBlockGetNextInRegion(block), ++number) {
      for (intptr_t i = 0; i < mlirBlockGetNumArguments(block); ++i)
        setHash(&listing->values, mlirBlockGetArgument(block, i).ptr,
                mix(mix(mix(shallow, (uint64_t)r), number), (uint64_t)i));
      for (MlirOperation inner = mlirBlockGetFirstOperation(block); !mlirOperationIsNull(inner);
           inner = mlirOperationGetNextInBlock(inner))
        hash = mix(hash, listOp(listing, inner));
    }
  }
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); ++i)
    setHash(&listing->values, mlirOperationGetResult(op, i).ptr, mix(hash, (uint64_t)i));
  return hash;
}

static void listingDestroy(Listing *listing) {
  free(listing->values.keys);
  free(listing->values.hashes);
  free(listing->entries);
}

//===--- what one has and the other has not -------------------------------------===//

static int compareHashes(const void *a, const void *b) {
  uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return x < y ? -1 : x > y;
}

static uint64_t *sortedHashes(const Listing *listing) {
  uint64_t *hashes = calloc((size_t)listing->count + 1, sizeof *hashes);
  for (intptr_t i = 0; hashes && i < listing->count; ++i)
    hashes[i] = listing->entries[i].hash;
  if (hashes)
    qsort(hashes, (size_t)listing->count, sizeof *hashes, compareHashes);
  return hashes;
}

// Takes one away where there is one: equal ops are counted.
static bool take(const uint64_t *hashes, bool *taken, intptr_t count, uint64_t hash) {
  intptr_t low = 0, high = count;
  while (low < high) {
    intptr_t middle = (low + high) / 2;
    if (hashes[middle] < hash)
      low = middle + 1;
    else
      high = middle;
  }
  while (low < count && hashes[low] == hash && taken[low])
    ++low;
  if (low == count || hashes[low] != hash)
    return false;
  taken[low] = true;
  return true;
}

static bool hasNewOperand(MlirOperation op, const DifferingOps *found) {
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); ++i) {
    MlirOperation defining = tileDefiningOp(mlirOperationGetOperand(op, i));
    for (intptr_t k = 0; k < found->count && !mlirOperationIsNull(defining); ++k)
      if (mlirOperationEqual(found->items[k].op, defining))
        return true;
  }
  return false;
}

static DifferingOps onlyIn(const Listing *listing, const Listing *other) {
  DifferingOps found = {calloc((size_t)listing->count + 1, sizeof *found.items), 0};
  uint64_t *hashes = sortedHashes(other);
  bool *taken = calloc((size_t)other->count + 1, sizeof *taken);
  for (intptr_t i = 0; found.items && hashes && taken && i < listing->count; ++i)
    if (!take(hashes, taken, other->count, listing->entries[i].hash)) {
      MlirOperation op = listing->entries[i].op;
      found.items[found.count] = (Differing){op, found.count < 4096 && !hasNewOperand(op, &found)};
      ++found.count;
    }
  free(hashes);
  free(taken);
  return found;
}

Difference differenceOf(MlirOperation before, MlirOperation after) {
  Listing first = {.count = 0}, second = {.count = 0};
  listOp(&first, before);
  listOp(&second, after);
  Difference difference = {onlyIn(&first, &second), onlyIn(&second, &first), first.count, second.count};
  listingDestroy(&first);
  listingDestroy(&second);
  return difference;
}

void differenceDestroy(Difference *difference) {
  free(difference->removed.items);
  free(difference->added.items);
  *difference = (Difference){{NULL, 0}, {NULL, 0}, 0, 0};
}

//===--- ops as text ------------------------------------------------------------===//

typedef struct Text {
  char *text;
  size_t size, length;
} Text;

static void appendText(MlirStringRef piece, void *userData) {
  Text *text = userData;
  for (size_t i = 0; i < piece.length && text->length + 1 < text->size; ++i)
    text->text[text->length++] = piece.data[i] == '\n' ? ' ' : piece.data[i];
  text->text[text->length] = 0;
}

char *differenceDescribe(MlirOperation op, char *text, size_t size) {
  Text target = {text, size, 0};
  text[0] = 0;
  MlirOpPrintingFlags flags = mlirOpPrintingFlagsCreate();
  mlirOpPrintingFlagsElideLargeElementsAttrs(flags, 8);
  mlirOpPrintingFlagsUseLocalScope(flags);
  mlirOpPrintingFlagsSkipRegions(flags);
  mlirOperationPrintWithFlags(op, flags, appendText, &target);
  mlirOpPrintingFlagsDestroy(flags);
  return text;
}
