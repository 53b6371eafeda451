// Reading and writing memory: what nobody wrote, what is in flight, what two instances of a grid touch (numerics.md
// §6). Expects: places within the storage (callers check bounds). Leaves: marks of who touched what while a grid runs.
#include "lib/interpreter/machine/machine.h"

#include <stdlib.h>

static bool conflict(Machine *machine, const Instruction *instruction, int32_t other, const char *they,
                     const char *we) {
  if (other == TouchedByMany)
    return interpretFail(
        machine, instruction->op,
        "program instances touch one element: instance %d %s what several others %s; without atomics or "
        "combine that is an error",
        machine->grid.instance, we, they);
  return interpretFail(machine, instruction->op,
                       "program instances touch one element: instance %d %s what instance %d %s; without atomics or "
                       "combine that is an error",
                       machine->grid.instance, we, other - 1, they);
}

static void note(int32_t *who, int32_t self) { *who = *who == 0 || *who == self ? self : TouchedByMany; }

static bool isOther(int32_t who, int32_t self) { return who != 0 && who != self; }

static int commonMultiple(int a, int b) {
  int multiple = a;
  while (multiple % b != 0)
    multiple += a;
  return multiple;
}

// Room for marks as fine as `parts` of each element; coarser ones there are count for all their parts.
static bool refineTouches(Machine *machine, const Instruction *instruction, Storage *storage, int parts) {
  int old = storage->touches ? storage->touchParts : 1, wanted = commonMultiple(old, parts);
  if (storage->touches && wanted == old)
    return true;
  Touch *touches = calloc((size_t)storage->count * (size_t)wanted, sizeof *touches);
  if (!touches)
    return interpretOutOfMemory(machine, instruction->op);
  for (int64_t i = 0; storage->touches && i < storage->count * wanted; ++i)
    touches[i] = storage->touches[i / (wanted / old)];
  if (!storage->touches) {
    ++storage->references;
    storage->next = machine->touched;
    machine->touched = storage;
  }
  free(storage->touches);
  storage->touches = touches;
  storage->touchParts = wanted;
  return true;
}

static bool touchOne(Machine *machine, const Instruction *instruction, Touch *touch, AccessKind kind) {
  int32_t self = machine->grid.instance + 1;
  bool ordered = machine->grid.hasAcquired;
  const char *we = kind == AccessRead ? "reads" : kind == AccessWrite ? "writes" : "updates atomically";
  if (isOther(touch->writer, self) && !ordered)
    return conflict(machine, instruction, touch->writer, "wrote", we);
  if (kind != AccessUpdate && isOther(touch->updater, self) && !ordered)
    return conflict(machine, instruction, touch->updater, "updated atomically", we);
  if (kind != AccessRead && isOther(touch->reader, self) && !ordered)
    return conflict(machine, instruction, touch->reader, "read", we);
  note(kind == AccessRead ? &touch->reader : kind == AccessWrite ? &touch->writer : &touch->updater, self);
  return true;
}

bool interpretMemoryTouchPart(Machine *machine, const Instruction *instruction, Storage *storage, int64_t place,
                              int part, int parts, AccessKind kind) {
  if (mlirOperationIsNull(machine->grid.launch))
    return true;
  if (!refineTouches(machine, instruction, storage, parts))
    return false;
  int finer = storage->touchParts / parts;
  Touch *first = &storage->touches[place * storage->touchParts + part * finer];
  for (int i = 0; i < finer; ++i)
    if (!touchOne(machine, instruction, &first[i], kind))
      return false;
  return true;
}

bool interpretMemoryTouch(Machine *machine, const Instruction *instruction, Storage *storage, int64_t place,
                          AccessKind kind) {
  if (mlirOperationIsNull(machine->grid.launch))
    return true;
  return storage->touches && storage->touchParts == 1
             ? touchOne(machine, instruction, &storage->touches[place], kind)
             : interpretMemoryTouchPart(machine, instruction, storage, place, 0, 1, kind);
}

void interpretMemoryForgetTouches(Machine *machine) {
  while (machine->touched) {
    Storage *storage = machine->touched;
    machine->touched = storage->next;
    free(storage->touches);
    storage->touches = NULL;
    interpretStorageRelease(storage);
  }
}

bool interpretMemoryExpectAlive(Machine *machine, const Instruction *instruction, const Storage *storage) {
  return !storage->isDead || interpretFail(machine, instruction->op, "uses memory that was deallocated");
}

bool interpretMemoryRead(Machine *machine, const Instruction *instruction, Storage *storage, int64_t place,
                         Element *x) {
  *x = storage->elements[place];
  return (!storage->products || interpretMemoryExpectNoProduct(machine, instruction, storage, place, AccessRead)) &&
         interpretMemoryExpectAlive(machine, instruction, storage) &&
         interpretElementExpect(machine, instruction, *x, "reads") &&
         interpretMemoryTouch(machine, instruction, storage, place, AccessRead);
}

bool interpretMemoryWrite(Machine *machine, const Instruction *instruction, Storage *storage, int64_t place,
                          Element x) {
  if (storage->elements[place].bound == ELEMENT_IN_FLIGHT)
    return interpretFail(machine, instruction->op,
                         "writes an element that an asynchronous copy still under way will write");
  if (storage->products && !interpretMemoryExpectNoProduct(machine, instruction, storage, place, AccessWrite))
    return false;
  if (!interpretMemoryExpectAlive(machine, instruction, storage) ||
      !interpretElementExpect(machine, instruction, x, "writes") ||
      !interpretMemoryTouch(machine, instruction, storage, place, AccessWrite))
    return false;
  storage->elements[place] = x;
  return true;
}

//===--- addresses ------------------------------------------------------------------===//
// Storages get numbers far apart, so that leaving one never means entering another.

uint64_t interpretStorageAddress(Machine *machine, Storage *storage, const Format *format) {
  if (storage->address)
    return storage->address;
  Addressed *list = realloc(machine->addressed, (size_t)(machine->numAddressed + 1) * sizeof *list);
  if (!list)
    return 0;
  machine->addressed = list;
  list[machine->numAddressed++] = (Addressed){storage, *format};
  ++storage->references;
  machine->nextAddress += UINT64_C(1) << 40;
  return storage->address = machine->nextAddress;
}

const Addressed *interpretStorageAt(Machine *machine, uint64_t address, uint64_t *offset) {
  for (intptr_t i = 0; i < machine->numAddressed; ++i) {
    *offset = address - machine->addressed[i].storage->address;
    if (*offset < UINT64_C(1) << 40)
      return &machine->addressed[i];
  }
  return NULL;
}

void interpretForgetAddresses(Machine *machine) {
  for (intptr_t i = 0; i < machine->numAddressed; ++i)
    interpretStorageRelease(machine->addressed[i].storage);
  free(machine->addressed);
}
