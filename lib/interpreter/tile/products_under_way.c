// The list of products under way, oldest first (products_under_way.h).
// Expects: buffers whose elements lie side by side, as tile.alloc and tile.slot make them.
// Leaves: Storage.products counts the factors and accumulators in it, so that other memory costs one comparison.
#include "lib/interpreter/tile/products_under_way.h"
#include "lib/support/grow.h"

#include <stdlib.h>

typedef struct Product {
  MlirOperation op;
  const void *part; // who started it
  Array *factors[2], *accumulator;
  const Barrier *barrier;
  int64_t use;
} Product;

typedef struct Products {
  Product *items;
  intptr_t count;
} Products;

// Changes how many products hold the storage.
static void hold(const Product *product, int change) {
  const Array *const arrays[] = {product->factors[0], product->factors[1], product->accumulator};
  for (int i = 0; i < 3; ++i)
    if (arrays[i])
      arrays[i]->storage->products += change;
}

static void release(Product *product) {
  hold(product, -1);
  for (int i = 0; i < 2; ++i)
    if (product->factors[i])
      valueRelease(valueOfObject(&product->factors[i]->object));
  if (product->accumulator)
    valueRelease(valueOfObject(&product->accumulator->object));
}

// Ends the product at `index` and those that its part started before.
static void endUpTo(Products *products, intptr_t index) {
  const void *part = products->items[index].part;
  intptr_t kept = 0;
  for (intptr_t i = 0; i < products->count; ++i)
    if (i <= index && products->items[i].part == part)
      release(&products->items[i]);
    else
      products->items[kept++] = products->items[i];
  products->count = kept;
}

static bool holds(const Array *array, const Storage *storage, int64_t place) {
  return array && array->storage == storage && place >= array->offset &&
         place < array->offset + interpretArrayCount(array);
}

static Array *retained(Array *array) { return array ? arrayOf(valueRetain(valueOfObject(&array->object))) : NULL; }

bool interpretProductStart(Machine *machine, const Instruction *instruction, Array *lhs, Array *rhs, Array *accumulator,
                           const Barrier *barrier, int64_t use) {
  Products *products = machine->products;
  if (!products)
    products = machine->products = calloc(1, sizeof *products);
  Product *items = products ? tessera_grow(products->items, products->count, sizeof *items) : NULL;
  if (!items)
    return interpretOutOfMemory(machine, instruction->op);
  products->items = items;
  Product product = {instruction->op,
                     interpretPartRunning(machine),
                     {retained(lhs), retained(rhs)},
                     retained(accumulator),
                     barrier,
                     use};
  hold(&product, 1);
  products->items[products->count++] = product;
  return true;
}

void interpretProductsWait(Machine *machine, int64_t pending) {
  Products *products = machine->products;
  const void *part = interpretPartRunning(machine);
  for (intptr_t i = products ? products->count - 1 : -1; i >= 0; --i)
    if (products->items[i].part == part && pending-- == 0) {
      endUpTo(products, i);
      return;
    }
}

void interpretProductsEndAt(Machine *machine, const Barrier *barrier, int64_t use) {
  Products *products = machine->products;
  for (intptr_t i = products ? products->count - 1 : -1; i >= 0; --i)
    if (products->items[i].barrier == barrier && products->items[i].use == use) {
      endUpTo(products, i);
      return;
    }
}

void interpretProductsForget(Machine *machine) {
  Products *products = machine->products;
  for (intptr_t i = 0; products && i < products->count; ++i)
    release(&products->items[i]);
  if (products)
    free(products->items);
  free(products);
  machine->products = NULL;
}

bool interpretMemoryExpectNoProduct(Machine *machine, const Instruction *instruction, const Storage *storage,
                                    int64_t place, AccessKind kind) {
  const Products *products = machine->products;
  for (intptr_t i = 0; products && i < products->count; ++i) {
    const Product *product = &products->items[i];
    const char *why = NULL;
    if (holds(product->accumulator, storage, place))
      why = kind == AccessRead ? "reads an element of the accumulator of an asynchronous product"
                               : "writes an element of the accumulator of an asynchronous product";
    else if (kind != AccessRead &&
             (holds(product->factors[0], storage, place) || holds(product->factors[1], storage, place)))
      why = "writes an element that an asynchronous product reads";
    if (!why)
      continue;
    return interpretFailWithNote(machine, instruction->op, product->op, "the product starts here", "%s still under way",
                                 why);
  }
  return true;
}
