// The one list of keys that a machine file may hold, with meaning and unit, and what a value of each type looks like.
// Adding a key is adding a row here; nothing else changes.
#include "lib/machine/keys.h"

#include <stdio.h>
#include <string.h>

#include "lib/machine/atom.h"

// clang-format off
const TileMachineKey tileMachineKeys[] = {
    {"base", TileMachineWord, "", "the machine whose keys come first; on the first line"},
    {"kind", TileMachineWord, "both", "cpu or gpu"},
    {"isa", TileMachineWord, "both", "instruction set: x86-64, ptx, amdgcn"},
    {"isa.version", TileMachineWord, "", "edition of the instruction set, by its manual: cdna2, cdna3, cdna4, rdna3, rdna4 (amdgcn)"},
    {"chip", TileMachineWord, "both", "LLVM's name of the processor, as in -mcpu"},
    {"features", TileMachineTextLine, "", "LLVM's features beyond the chip's, as in -mattr"},
    {"cores", TileMachineInteger, "both", "CPU cores, streaming multiprocessors, compute units"},
    {"clock.hz", TileMachineLarge, "", "cycles per second under load"},
    {"levels", TileMachineWords, "both", "memory levels, innermost first"},
    {"mesh", TileMachineIntegers, "", "devices along each axis of the mesh they form"},
    // CPU cores.
    {"vector.bytes", TileMachineInteger, "cpu", "bytes of a vector register"},
    {"vector.registers", TileMachineInteger, "cpu", "vector registers an instruction can name"},
    {"fma.per_cycle", TileMachineInteger, "cpu", "vector multiply-adds that a core begins per cycle"},
    {"fma.latency", TileMachineInteger, "cpu", "cycles until a multiply-add's result can be added to"},
    {"loads.per_cycle", TileMachineInteger, "", "vectors that a core loads per cycle"},
    // GPU cores.
    {"warp.width", TileMachineInteger, "gpu", "lanes of a warp"},
    {"partitions.per_core", TileMachineInteger, "", "parts of a core that issue on their own"},
    {"registers.per_core", TileMachineInteger, "gpu", "32-bit registers of a core"},
    {"registers.per_thread", TileMachineInteger, "gpu", "the most 32-bit registers of a thread"},
    {"registers.partition", TileMachineIntegers, "", "registers that a thread may have once its partition of warps changes them: the least, the most, and what both are multiples of; absent: they stay"},
    {"warps.per_partition", TileMachineInteger, "", "warps that change their registers together: a partition has a multiple"},
    {"barriers.per_block", TileMachineInteger, "", "barriers by which some warps of a block wait for each other; one is the whole block's"},
    {"threads.per_block", TileMachineInteger, "gpu", "the most threads of a block"},
    {"warps.per_core", TileMachineInteger, "gpu", "the most warps resident on a core"},
    {"blocks.per_core", TileMachineInteger, "", "the most blocks resident on a core"},
    {"cluster.blocks", TileMachineInteger, "", "the most blocks of a portable cluster"},
    {"shared.per_block.bytes", TileMachineInteger, "gpu", "the most shared memory of a block"},
    {"tmem.columns", TileMachineInteger, "", "columns of a core's tensor memory, each of 128 lanes of 32 bits; absent: none"},
    // Peak rates: a multiply-add counts as two operations.
    {"flops.*", TileMachineInteger, "", "vector operations per cycle and core, by element type"},
    {"rate.*", TileMachineInteger, "", "rate.ATOM: operations per cycle and core of a CPU's matrix instruction; absent: more than the vector operations'"},
    {"mma.flops.*", TileMachineInteger, "", "matrix operations per cycle and core, by element type"},
    // Memory levels; * is a name from `levels`.
    {"*.bytes", TileMachineLarge, "", "size of one instance"},
    {"*.ways", TileMachineInteger, "", "associativity"},
    {"*.line", TileMachineInteger, "", "bytes of a cache line"},
    {"*.transaction", TileMachineInteger, "", "the least bytes that an access moves"},
    {"*.bandwidth", TileMachineLarge, "", "bytes per second, all cores together"},
    {"*.latency", TileMachineInteger, "", "cycles from a load to its use"},
    {"*.banks", TileMachineInteger, "", "banks that serve accesses side by side"},
    {"*.bank.bytes", TileMachineInteger, "", "width of a bank"},
    {"*.instances", TileMachineInteger, "", "instances in the machine, where it is not one per core"},
    // Instructions and engines.
    {"matrix.load", TileMachineWord, "", "the instruction that reads 8x8 matrices of 16-bit elements from shared memory: ldmatrix; absent: none"},
    {"matrix.store", TileMachineWord, "", "the instruction that writes such matrices: stmatrix; absent: none"},
    {"atom.*", TileMachineAtomType, "", "a matrix instruction: shape and types of A, B, C"},
    {"fragment.*", TileMachineTextLine, "", "fragment.ATOM.a|b|c|e|s|t: the #tile.layout of an operand in registers; e: of where a's kept elements stand; s, t: of the scales of a and b"},
    {"scales.*", TileMachineTextLine, "", "scales.ATOM: the type of block scales that the instruction takes, and for how many neighbours along k one is"},
    {"engines", TileMachineWords, "", "asynchronous copy engines"},
    {"engine.*.sizes", TileMachineIntegers, "", "bytes that one copy can move"},
    {"engine.*.align", TileMachineInteger, "", "alignment in bytes of addresses and strides"},
    {"engine.*.box", TileMachineInteger, "", "the most elements of a copy along one axis"},
    {"engine.*.rank", TileMachineInteger, "", "the most axes of a copy"},
    {"engine.*.swizzles", TileMachineIntegers, "", "swizzle spans in bytes that it can write"},
    // The cost models' numbers.
#define COUNT(field, key, kind, meaning) {key, TileMachineInteger, "", meaning},
#define RATIO(field, key, kind, units, meaning) {key, TileMachineInteger, "", meaning},
#include "lib/machine/model.def"
#undef COUNT
#undef RATIO
    {"x.*", TileMachineTextLine, "", "the user's own"},
};
// clang-format on
const size_t tileMachineKeyRows = sizeof tileMachineKeys / sizeof tileMachineKeys[0];

static bool matches(const char *pattern, const char *key) {
  const char *star = strchr(pattern, '*');
  if (!star)
    return !strcmp(pattern, key);
  size_t before = (size_t)(star - pattern), after = strlen(star + 1), length = strlen(key);
  return length > before + after && !strncmp(pattern, key, before) && !strcmp(star + 1, key + length - after);
}

const TileMachineKey *tileMachineFindKey(const char *key) {
  for (int patterns = 0; patterns < 2; ++patterns)
    for (size_t i = 0; i < tileMachineKeyRows; ++i)
      if (!strchr(tileMachineKeys[i].pattern, '*') == !patterns && matches(tileMachineKeys[i].pattern, key))
        return &tileMachineKeys[i];
  return NULL;
}

void tileMachineListKeys(const char *near, tessera_list_t *list) {
  static const char model[] = "model.";
  const size_t prefix = sizeof model - 1;
  bool wantsModel = !strncmp(near, model, prefix);
  for (size_t i = 0; i < tileMachineKeyRows; ++i)
    if (!strncmp(tileMachineKeys[i].pattern, model, prefix) == wantsModel)
      tessera_list_add(list, "%s", tileMachineKeys[i].pattern);
  if (!wantsModel)
    tessera_list_add(list, "model.*");
}

static bool isWordCharacter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || (c && strchr("_.-+", c));
}

// One item of a list; moves past it. An integer has 1 to `digits` digits, the first not 0; 0: it is a word.
static bool takeItem(const char **value, size_t digits) {
  const char *begin = *value;
  bool good = true;
  for (; isWordCharacter(**value); ++*value)
    good = good && (!digits || (**value >= '0' && **value <= '9'));
  size_t length = (size_t)(*value - begin);
  return good && length > 0 && (!digits || (length <= digits && *begin != '0'));
}

static bool isList(const char *value, size_t digits, bool several) {
  for (bool first = true; first || *value; first = false) {
    if (!first && !several)
      return false;
    if (!takeItem(&value, digits) || (*value && *value != ' '))
      return false;
    value += strspn(value, " ");
  }
  return true;
}

bool tileMachineValueFits(TileMachineType type, const char *value, const char **wanted) {
  static const char *const wants[] = {"a positive integer below 10^9",
                                      "positive integers below 10^9 separated by spaces",
                                      "a positive integer below 10^15",
                                      "one word",
                                      "words separated by spaces",
                                      "a text",
                                      "a shape and types, as in 16x8x16 f16,f16,f32"};
  *wanted = wants[type];
  switch (type) {
  case TileMachineInteger:
    return isList(value, 9, false);
  case TileMachineIntegers:
    return isList(value, 9, true);
  case TileMachineLarge:
    return isList(value, 15, false);
  case TileMachineWord:
    return isList(value, 0, false);
  case TileMachineWords:
    return isList(value, 0, true);
  case TileMachineAtomType:
    return tileMachineAtomIsWellFormed(value);
  case TileMachineTextLine:
    return *value != '\0';
  }
  return false;
}
