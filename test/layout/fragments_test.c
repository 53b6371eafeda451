// The fragments of every machine's atoms, as layouts, against the lane maps that the emulator states by itself from the
// vendors' manuals: each lane, each register, each operand, each type of every mma.sync, mfma and wmma in the files.
#include <inttypes.h>

#include "lib/emulator/lanes/matrix.h"
#include "lib/layout/text.h"
#include "lib/machine/embedded.h"
#include "lib/machine/machine.h"
#include "test/check.h"

static const struct {
  const char *name;
  tessera_lane_type_t type;
  const char *amd[2]; // in names of AMD's instructions
} types[] = {
    {"f16", TESSERA_LANE_F16, {"f16", NULL}},
    {"bf16", TESSERA_LANE_BF16, {"bf16", NULL}},
    {"tf32", TESSERA_LANE_TF32, {"xf32", NULL}},
    {"f32", TESSERA_LANE_F32, {"f32", NULL}},
    {"f64", TESSERA_LANE_F64, {"f64", NULL}},
    {"i8", TESSERA_LANE_S8, {"i8", "iu8"}},
    {"i4", TESSERA_LANE_S4, {"iu4", NULL}},
    {"i32", TESSERA_LANE_S32, {"i32", NULL}},
    {"f8E4M3FN", TESSERA_LANE_E4M3, {"fp8", NULL}},
    {"f8E5M2", TESSERA_LANE_E5M2, {"bf8", NULL}},
    {"f8E4M3FNUZ", TESSERA_LANE_E4M3_FNUZ, {"fp8", NULL}},
    {"f8E5M2FNUZ", TESSERA_LANE_E5M2_FNUZ, {"bf8", NULL}},
};

static size_t typeOf(const char *text, size_t length) {
  for (size_t i = 0; i < sizeof types / sizeof types[0]; ++i)
    if (strlen(types[i].name) == length && !memcmp(types[i].name, text, length))
      return i;
  CHECK(false, "unknown type %.*s", (int)length, text);
  return 0;
}

//===--- the emulator's statement -----------------------------------------------------===//

static bool stateMma(const TileMachineAtom *atom, const size_t *type, tessera_matrix_t *matrix) {
  tessera_error_t error;
  tessera_mma_sync_t op = {.m = (int)atom->m, .n = (int)atom->n, .k = (int)atom->k};
  op.a = types[type[0]].type;
  op.b = types[type[1]].type;
  op.c = op.d = types[type[2]].type;
  return tessera_mma_sync(&op, matrix, &error);
}

static bool stateSparseMma(const TileMachineAtom *atom, const size_t *type, tessera_matrix_t *matrix) {
  tessera_error_t error;
  tessera_mma_sync_t op = {.m = (int)atom->m, .n = (int)atom->n, .k = (int)atom->k};
  op.a = types[type[0]].type;
  op.b = types[type[1]].type;
  op.c = op.d = types[type[2]].type;
  return tessera_mma_sp(&op, 0, matrix, &error);
}

// AMD's names spell types in several ways: each is tried.
static const char *const spellings[] = {
    "%s.%s.%" PRId64 "x%" PRId64 "x%" PRId64 "%s", "%s.%s.%" PRId64 "x%" PRId64 "x%" PRId64 ".%s",
    "%s.%s.%" PRId64 "x%" PRId64 "x%" PRId64 "%s.1k", "%s.%s.%" PRId64 "x%" PRId64 "x%" PRId64 ".%s.%s",
    "%s.%s.%" PRId64 "x%" PRId64 "x%" PRId64 ".%s_%s"};

static bool stateNamed(const char *name, const char *kind, tessera_amd_isa_t isa, int lanes, tessera_matrix_t *matrix) {
  tessera_error_t error;
  if (!strcmp(kind, "mfma"))
    return tessera_mfma(name, isa, matrix, &error);
  if (!strcmp(kind, "smfmac"))
    return tessera_smfmac(name, isa, 0, matrix, &error);
  tessera_wmma_t op = {.name = name, .isa = isa, .lanes = lanes, .a_signed = true, .b_signed = true};
  return tessera_wmma(&op, matrix, &error);
}

static bool stateAmd(const TileMachineAtom *atom, const char *kind, tessera_amd_isa_t isa, int lanes,
                     const size_t *type, tessera_matrix_t *matrix) {
  for (size_t i = 0; i < sizeof spellings / sizeof spellings[0]; ++i)
    for (int form = 0; form < 2; ++form) {
      char name[96];
      const char *a = types[type[0]].amd[form], *b = types[type[1]].amd[form], *c = types[type[2]].amd[0];
      if (!a || !b)
        continue;
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wformat-nonliteral"
#pragma clang diagnostic ignored "-Wformat-extra-args"
      snprintf(name, sizeof name, spellings[i], kind, c, atom->m, atom->n, atom->k, a, b);
#pragma clang diagnostic pop
      if (stateNamed(name, kind, isa, lanes, matrix))
        return true;
    }
  return false;
}

//===--- the comparison -----------------------------------------------------------------===//

static void compare(const char *what, const char *fragment, const tessera_matrix_operand_t *operand, int lanes,
                    int columns) {
  TileLayout layout;
  TileError error = {.text = ""};
  uint32_t wrong = 0;
  CHECK(tileLayoutParse(fragment, strlen(fragment), &layout, &error), "%s: %s", what, error.text);
  CHECK(tileLayoutDimSize(&layout, TileLayoutReg) == (uint64_t)operand->count &&
            tileLayoutDimSize(&layout, TileLayoutLane) == (uint64_t)lanes,
        "%s: <%s>, wanted %d registers of %d lanes", what, fragment, operand->count, lanes);
  for (int lane = 0; lane < lanes; ++lane)
    for (int i = 0; i < operand->count; ++i) {
      TileLayoutPoint at = tileLayoutApply(&layout, (TileLayoutPoint){{(uint32_t)i, (uint32_t)lane}});
      wrong += at.at[0] * (uint32_t)columns + at.at[1] != operand->place[lane * operand->count + i];
    }
  CHECK(wrong == 0, "%s: %u of %d places differ in <%s>", what, wrong, lanes * operand->count, fragment);
}

// For A: each register's kept column lies in the four that its place is among. For the places: the lane and the bits of
// its word from which the instruction takes them are where the layout puts their byte.
static void compareSparse(const char *what, const TileMachineAtom *atom, const tessera_matrix_t *matrix) {
  TileLayout kept, bytes;
  TileError error = {.text = ""};
  uint32_t wrong = 0;
  CHECK(tileLayoutParse(atom->fragment[0], strlen(atom->fragment[0]), &kept, &error), "%s: %s", what, error.text);
  CHECK(tileLayoutParse(atom->fragment[3], strlen(atom->fragment[3]), &bytes, &error), "%s: %s", what, error.text);
  CHECK(tileLayoutDimSize(&kept, TileLayoutReg) == (uint64_t)matrix->a.count, "%s: <%s>, wanted %d registers", what,
        atom->fragment[0], matrix->a.count);
  for (int place = 0; place < matrix->lanes * matrix->a.count; ++place) {
    uint32_t lane = (uint32_t)(place / matrix->a.count), reg = (uint32_t)(place % matrix->a.count);
    uint32_t holder = matrix->index[place] / 16, field = matrix->index[place] % 16;
    TileLayoutPoint at = tileLayoutApply(&kept, (TileLayoutPoint){{reg, lane}});
    TileLayoutPoint byte = tileLayoutApply(&bytes, (TileLayoutPoint){{field / 4, holder}});
    wrong += at.at[0] * (uint32_t)matrix->k + at.at[1] / 2 * 4 != matrix->a.place[place];
    wrong += byte.at[0] != at.at[0] || byte.at[1] != at.at[1] / 4 || field % 4 != at.at[1] % 4;
  }
  CHECK(wrong == 0, "%s: %u places differ in <%s>, <%s>", what, wrong, atom->fragment[0], atom->fragment[3]);
}

static void compareTypes(const TileMachine *machine, const char *name, const TileMachineAtom *atom, const char *text,
                         size_t length) {
  size_t type[3] = {0};
  const char *at = text;
  int64_t lanes = 0;
  tessera_matrix_t matrix;
  char what[160];
  for (int i = 0; i < 3; ++i) {
    size_t part = strcspn(at, ", ");
    type[i] = typeOf(at, part);
    at += part + 1;
  }
  tileMachineGetInteger(machine, "warp.width", &lanes);
  char kind[16];
  tessera_amd_isa_t isa = TESSERA_AMD_NONE;
  tessera_amd_isa_find(tileMachineGetText(machine, "isa.version"), &isa, NULL);
  snprintf(kind, sizeof kind, "%.*s", (int)strcspn(name, "."), name);
  bool isSparse = atom->fragment[3][0], isMma = !strcmp(kind, "mma");
  bool stated = isMma && isSparse ? stateSparseMma(atom, type, &matrix)
                : isMma           ? stateMma(atom, type, &matrix)
                                  : stateAmd(atom, kind, isa, (int)lanes, type, &matrix);
  snprintf(what, sizeof what, "%s %s %.*s", tileMachineGetName(machine), name, (int)length, text);
  CHECK(stated, "%s: the emulator knows no such instruction", what);
  if (!stated)
    return;
  CHECK(matrix.blocks == 1 && matrix.m == atom->m && matrix.n == atom->n && matrix.k == atom->k, "%s: another shape",
        what);
  if (isSparse)
    compareSparse(what, atom, &matrix);
  else
    compare(what, atom->fragment[0], &matrix.a, matrix.lanes, matrix.k);
  compare(what, atom->fragment[1], &matrix.b, matrix.lanes, matrix.n);
  compare(what, atom->fragment[2], &matrix.c, matrix.lanes, matrix.n);
  compare(what, atom->fragment[2], &matrix.d, matrix.lanes, matrix.n);
  tessera_matrix_destroy(&matrix);
}

static int compareMachine(const char *name) {
  TileError error = {.text = ""};
  TileMachine *machine = tileMachineLoad(name, NULL, NULL, 0, &error);
  int count = 0;
  CHECK(machine, "%s: %s", name, error.text);
  for (size_t i = 0; machine && i < tileMachineGetKeyCount(machine); ++i) {
    const char *value, *key = tileMachineGetKeyAt(machine, i, &value);
    TileMachineAtom atom;
    if (strncmp(key, "atom.", 5) || strchr(key, '*') || !tileMachineFindAtom(machine, key + 5, &atom, &error) ||
        atom.warps != 1 || atom.scales[0]) // scales: test/run/kernels/scaled_products.test
      continue;
    for (const char *at = atom.types; *at; at += strspn(at, " "), ++count) {
      size_t length = strcspn(at, " ");
      compareTypes(machine, key + 5, &atom, at, length);
      at += length;
    }
  }
  tileMachineDestroy(machine);
  return count;
}

// A chip that is added is judged without a line here.
int main(void) {
  for (size_t i = 0; i < tileEmbeddedMachinesCount; ++i) {
    TileMachine *machine = tileMachineLoad(tileEmbeddedMachines[i].name, NULL, NULL, 0, NULL);
    const char *kind = machine ? tileMachineGetText(machine, "kind") : NULL;
    if (kind && !strcmp(kind, "gpu"))
      CHECK(compareMachine(tileEmbeddedMachines[i].name) > 0, "%s has no atoms", tileEmbeddedMachines[i].name);
    tileMachineDestroy(machine);
  }
  return checkResult(500);
}
