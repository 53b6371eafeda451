// Machine files: those built in, a folder of the user's own, bases, overrides, and every message.
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/layout/layout.h"
#include "lib/layout/text.h"
#include "lib/machine/cpu_feature.h"
#include "lib/machine/embedded.h"
#include "lib/machine/host.h"
#include "lib/machine/keys.h"
#include "lib/machine/machine.h"
#include "test/check.h"

static char folder[] = "machine_test-XXXXXX"; // in the working directory: lit gives each test one
static TileMachine *loaded(const char *name, const char *searchDir) {
  TileError error = {0};
  TileMachine *machine = tileMachineLoad(name, searchDir, NULL, 0, &error);
  CHECK(machine, "%s: %s", name, error.text);
  if (!machine)
    exit(checkResult(0));
  return machine;
}

static int64_t integer(const TileMachine *machine, const char *key) {
  int64_t value = -1;
  CHECK(tileMachineGetInteger(machine, key, &value), "%s has no integer %s", tileMachineGetName(machine), key);
  return value;
}

static void writeFile(const char *name, const char *text) {
  char path[256];
  snprintf(path, sizeof path, "%s/%s.machine", folder, name);
  FILE *stream = fopen(path, "w");
  CHECK(stream && fputs(text, stream) >= 0 && fclose(stream) == 0, "cannot write %s", path);
}

static void removeFile(const char *name) {
  char path[256];
  snprintf(path, sizeof path, "%s/%s.machine", folder, name);
  CHECK(remove(path) == 0, "cannot remove %s", path);
}

static void testBuiltIn(void) {
  TESSERA_LIST(list);
  TESSERA_LIST(again);
  tileMachineListNames(NULL, &list);
  const char *names = list.text;
  CHECK(strstr(names, "gfx942, ") && strstr(names, ", sm_80, ") && strstr(names, ", x86-64-v4"), "names: %s", names);
  tileMachineListNames("", &again);
  CHECK(!strcmp(names, again.text), "no folder: %s", again.text);
  for (size_t i = 0; i < tileEmbeddedMachinesCount; ++i) {
    TileMachine *machine = loaded(tileEmbeddedMachines[i].name, NULL);
    CHECK(!strcmp(tileMachineGetName(machine), tileEmbeddedMachines[i].name), "%s", tileMachineGetName(machine));
    CHECK(tileMachineGetKeyCount(machine) > 20, "%s has few keys", tileEmbeddedMachines[i].name);
    tileMachineDestroy(machine);
  }
}

// Figures that published peak rates pin down: rate = operations per cycle and core x cores x clock, within 0.3 %.
static void testPeakRates(void) {
  static const struct {
    const char *machine, *key;
    double teraflops;
  } rates[] = {{"sm_80", "mma.flops.f16", 312},    {"sm_80", "flops.f32", 19.5},
               {"sm_80", "mma.flops.i8", 624},     {"sm_90a", "mma.flops.f16", 989.4},
               {"sm_90a", "mma.flops.f8", 1978.9}, {"gfx942", "mma.flops.f16", 1307.4},
               {"gfx942", "mma.flops.f32", 163.4}, {"gfx942", "mma.flops.i8", 2614.9}};
  for (size_t i = 0; i < sizeof rates / sizeof rates[0]; ++i) {
    TileMachine *machine = loaded(rates[i].machine, NULL);
    double rate =
        (double)integer(machine, rates[i].key) * integer(machine, "cores") * integer(machine, "clock.hz") / 1e12;
    CHECK(rate > rates[i].teraflops * 0.997 && rate < rates[i].teraflops * 1.003, "%s %s: %g, published %g",
          rates[i].machine, rates[i].key, rate, rates[i].teraflops);
    tileMachineDestroy(machine);
  }
}

static void testGetters(void) {
  TileMachine *machine = loaded("sm_90a", NULL);
  int64_t value = 77, list[8] = {0};
  size_t length;
  CHECK(integer(machine, "shared.bytes") == 233472, "228 KiB");
  CHECK(!tileMachineGetInteger(machine, "fma.latency", &value) && value == 77, "an absent key changes nothing");
  CHECK(!tileMachineGetInteger(machine, "chip", &value), "chip is a word");
  CHECK(!strcmp(tileMachineGetText(machine, "chip"), "sm_90a"), "chip");
  CHECK(!tileMachineGetText(machine, "no.such"), "absent");
  CHECK(tileMachineHas(machine, "cores") && !tileMachineHas(machine, "core"), "has");
  CHECK(tileMachineGetIntegers(machine, "engine.tma.swizzles", list, 2) == 3 && list[0] == 32 && list[1] == 64 &&
            !list[2],
        "a list, cut to 2 of 3");
  CHECK(tileMachineGetIntegers(machine, "engines", list, 8) == 0, "words are no integers");
  CHECK(tileMachineListHas(machine, "engines", "tma") && !tileMachineListHas(machine, "engines", "tm"), "engines");
  CHECK(!strncmp(tileMachineGetWord(machine, "levels", 1, &length), "shared", 6) && length == 6, "second level");
  CHECK(!tileMachineGetWord(machine, "levels", 4, &length) && length == 0, "beyond the end");
  TileMachineLevel level;
  CHECK(tileMachineGetLevel(machine, "shared", &level) && level.banks == 32 && level.bankBytes == 4 && level.ways == 0,
        "shared memory");
  CHECK(!tileMachineGetLevel(machine, "l3", &level), "no l3");
  size_t cores = 0;
  for (size_t i = 0; i < tileMachineGetKeyCount(machine); ++i) {
    const char *text, *key = tileMachineGetKeyAt(machine, i, &text);
    cores += !strcmp(key, "cores") && !strcmp(text, "132");
  }
  CHECK(cores == 1, "iteration meets cores = 132 once, not %zu times", cores);
  tileMachineDestroy(machine);
}

// Every fragment of every machine covers its operand once, with the warp's lanes; found again under the name with a
// size.
static void checkFragment(const TileMachine *machine, const char *name, const char *text, int64_t rows, int64_t columns,
                          int64_t warps, uint64_t wanted) {
  TileLayout layout;
  TileError error = {0};
  int64_t shape[] = {rows, columns};
  uint64_t copies = 0;
  bool good =
      tileLayoutParse(text, strlen(text), &layout, &error) && tileLayoutCovers(&layout, shape, 2, &copies, &error);
  CHECK(good && copies == wanted, "%s %s: %s: %s", tileMachineGetName(machine), name, text, error.text);
  if (!good)
    return;
  CHECK((int64_t)tileLayoutDimSize(&layout, TileLayoutLane) == integer(machine, "warp.width"), "%s: lanes of %s", name,
        text);
  CHECK((int64_t)tileLayoutDimSize(&layout, TileLayoutWarp) == warps, "%s: warps of %s", name, text);
}

static void checkAtom(const TileMachine *machine, const char *name) {
  TileMachineAtom atom;
  TileError error = {0};
  char key[64];
  snprintf(key, sizeof key, "atom.%s", name);
  const char *value = tileMachineGetText(machine, key);
  bool isLeftOut = value && !strchr(value, ' '); // a shape without types: the base's, not this machine's
  CHECK(tileMachineFindAtom(machine, name, &atom, &error) == !isLeftOut, "%s", error.text);
  if (isLeftOut)
    return;
  bool isCpu = !strcmp(tileMachineGetText(machine, "kind"), "cpu"); // one thread has the whole tile
  CHECK(isCpu || atom.fragment[2][0], "%s has no accumulator", name);
  bool isSparse = atom.fragment[3][0];
  const int64_t rows[] = {atom.m, atom.k, atom.m, atom.m};
  const int64_t columns[] = {isSparse ? atom.k / 2 : atom.k, atom.n, atom.n, atom.k / 8};
  for (int i = 0; i < 4; ++i)
    if (atom.fragment[i][0]) { // gfx11 wants A and B in both halves of a wave
      bool isTwice = i < 2 && !strcmp(tileMachineGetName(machine), "gfx1100");
      // mma.sp.sync: of four lanes k / 16 hold places, the others are not asked.
      bool isNvidia = !strcmp(tileMachineGetText(machine, "isa"), "ptx");
      uint64_t copies = i == 3 && isNvidia ? 64 / (uint64_t)atom.k : 1;
      checkFragment(machine, name, atom.fragment[i], rows[i], columns[i], atom.warps, isTwice ? 2 : copies);
    }
}

static void testAtoms(void) {
  int found = 0;
  for (size_t i = 0; i < tileEmbeddedMachinesCount; ++i) {
    TileMachine *machine = loaded(tileEmbeddedMachines[i].name, NULL);
    for (size_t k = 0; k < tileMachineGetKeyCount(machine); ++k) {
      const char *key = tileMachineGetKeyAt(machine, k, NULL), *star = strchr(key, '*');
      char name[64];
      if (strncmp(key, "atom.", 5))
        continue;
      snprintf(name, sizeof name, star ? "%.*s96%s" : "%.*s", star ? (int)(star - key - 5) : 99, key + 5,
               star ? star + 1 : "");
      checkAtom(machine, name);
      ++found;
    }
    tileMachineDestroy(machine);
  }
  CHECK(found >= 20, "only %d atoms", found);
}

static void testAtomByName(void) {
  TileMachine *machine = loaded("sm_90a", NULL);
  TileMachineAtom atom;
  TileError error = {0};
  CHECK(tileMachineFindAtom(machine, "wgmma.m64n256k16", &atom, &error), "%s", error.text);
  CHECK(atom.m == 64 && atom.n == 256 && atom.k == 16 && atom.warps == 4, "64x256x16 by 4 warps");
  CHECK(!strcmp(atom.fragment[2], "reg [2:d1, 2:d0*8, 32:d1*8], lane [4:d1*2, 8:d0], warp [4:d0*16]"), "%s",
        atom.fragment[2]);
  CHECK(!atom.fragment[1][0], "B is in shared memory");
  CHECK(tileMachineAtomTakes(&atom, "bf16", "bf16", "f32") && tileMachineAtomTakes(&atom, "f16", "f16", "f16"),
        "types");
  CHECK(!tileMachineAtomTakes(&atom, "f16", "f16", "bf16") && !tileMachineAtomTakes(&atom, "f16", "f16", "f3"),
        "types");
  static const char *const absent[] = {"wgmma.m64n12k16", "wgmma.m64n264k16", "wgmma.m64nk16", "wgmma.m64n8k16x",
                                       "mma"};
  for (size_t i = 0; i < sizeof absent / sizeof absent[0]; ++i)
    CHECK(!tileMachineFindAtom(machine, absent[i], &atom, &error), "%s was found", absent[i]);
  CHECK(strstr(error.text, "machine sm_90a has no atom 'mma'; it has: wgmma.m64n*k16, "), "%s", error.text);
  CHECK(tileMachineFindAtom(machine, "mma.sync.m16n8k16.swapped", &atom, &error), "%s", error.text);
  CHECK(atom.isSwapped && atom.m == 8 && atom.n == 16 && atom.k == 16, "8x16x16");
  CHECK(!strcmp(atom.fragment[2], "reg [2:d0, 2:d1*8], lane [4:d0*2, 8:d1]"), "%s", atom.fragment[2]);
  CHECK(!tileMachineFindAtom(machine, "wgmma.m64n256k16.swapped", &atom, &error) &&
            strstr(error.text, "atom 'wgmma.m64n256k16' has no swapped one"),
        "%s", error.text);
  tileMachineDestroy(machine);
  machine = loaded("x86-64-v3", NULL);
  CHECK(!tileMachineFindAtom(machine, "mma", &atom, &error) && strstr(error.text, "it has: none"), "%s", error.text);
  tileMachineDestroy(machine);
}

static void testNative(void) {
  TileMachine *machine = loaded("native", NULL);
  char cores[32] = "";
  CHECK(tileHostDetect("cores", cores, sizeof cores) && integer(machine, "cores") == atoll(cores), "cores %s", cores);
  CHECK(integer(machine, "cores") <= sysconf(_SC_NPROCESSORS_CONF), "more cores than the host has");
  CHECK(integer(machine, "l1.bytes") % (integer(machine, "l1.ways") * integer(machine, "l1.line")) == 0, "whole sets");
  CHECK(!strcmp(tileMachineGetText(machine, "chip"), "native"), "chip");
  long line = sysconf(_SC_LEVEL1_DCACHE_LINESIZE), size = sysconf(_SC_LEVEL1_DCACHE_SIZE);
  CHECK(line <= 0 || integer(machine, "l1.line") == line, "the C library says a line is %ld", line);
  CHECK(size <= 0 || integer(machine, "l1.bytes") == size, "the C library says l1 is %ld", size);
  CHECK(!tileHostDetect("l9.bytes", cores, sizeof cores) && !tileHostDetect("warp.width", cores, sizeof cores),
        "no l9");
  // A dot instruction is there when the host has it, and only then.
  char value[64];
  static const char *const atoms[] = {"vfmaddph", "vdpbf16ps", "vpdpbusd", "tdpbf16ps", "tdpbssd", "tdpfp16ps"};
  for (size_t i = 0; i < sizeof atoms / sizeof *atoms; ++i) {
    char key[32];
    TileMachineAtom atom;
    snprintf(key, sizeof key, "atom.%s", atoms[i]);
    bool isThere = tileHostDetect(key, value, sizeof value);
    CHECK(isThere == tileMachineFindAtom(machine, atoms[i], &atom, NULL), "%s", atoms[i]);
    CHECK(!isThere || !strcmp(value, tileMachineGetText(machine, key)), "%s: %s", atoms[i], value);
  }
  // The nearest family is one of ours, and the host has all that it names.
  char base[64], needs[512];
  CHECK(tileHostDetect("base", base, sizeof base) && tileHostDetect("needs", needs, sizeof needs), "base");
  tileMachineDestroy(loaded(base, NULL));
  CHECK(tileCpuHas(needs) && !tileCpuHas("avx2048") && !tileCpuHas("x86-64-v3 avx2048"), "needs %s", needs);
  CHECK(!tileHostDetect("atom.mma", value, sizeof value), "no such instruction");
  tileMachineDestroy(machine);
}

// Families of CPUs: what each adds. The list of cpu_feature.h has every feature that they name.
static void testFamilies(void) {
  static const struct {
    const char *machine, *atom, *lacking;
  } families[] = {{"graniterapids", "tdpfp16ps", NULL}, {"sapphirerapids", "tdpbf16ps", "tdpfp16ps"},
                  {"sapphirerapids", "tdpbssd", NULL},  {"sapphirerapids", "vfmaddph", NULL},
                  {"skylake-avx512", NULL, "vpdpbusd"}, {"haswell", NULL, "vdpbf16ps"},
                  {"znver3", NULL, "vpdpbusd"},         {"znver4", "vdpbf16ps", "vfmaddph"},
                  {"znver5", "vpdpbusd", "tdpbf16ps"}};
  for (size_t i = 0; i < sizeof families / sizeof *families; ++i) {
    TileMachine *machine = loaded(families[i].machine, NULL);
    TileMachineAtom atom;
    const char *has = families[i].atom, *lacks = families[i].lacking;
    CHECK(!has || tileMachineFindAtom(machine, has, &atom, NULL), "%s: %s", families[i].machine, has);
    CHECK(!lacks || !tileMachineFindAtom(machine, lacks, &atom, NULL), "%s: %s", families[i].machine, lacks);
    const char *features = tileMachineGetText(machine, "features");
    for (const char *at = features ? features : ""; *at; at += strcspn(at, ",") + (at[strcspn(at, ",")] == ',')) {
      size_t length = strcspn(at + 1, ",");
      bool isKnown = false;
      for (int f = 0; f < TileCpuNumFeatures; ++f)
        isKnown |= strlen(tileCpuFeatures[f].name) == length && !memcmp(tileCpuFeatures[f].name, at + 1, length);
      CHECK(*at == '+' && isKnown, "%s: feature %.*s", families[i].machine, (int)length, at + 1);
    }
    tileMachineDestroy(machine);
  }
}

static void testOverrides(void) {
  TileMachineOverride doubled[] = {{"shared.bytes", "466944"}, {"x.note", "what if"}};
  TileError error = {0};
  TileMachine *machine = tileMachineLoad("sm_90a", NULL, doubled, 2, &error), *plain = loaded("sm_90a", NULL);
  CHECK(machine && integer(machine, "shared.bytes") == 466944, "%s", error.text);
  CHECK(machine && !strcmp(tileMachineGetText(machine, "x.note"), "what if"), "x. keys are free");
  CHECK(machine && tileMachineGetHash(machine) != tileMachineGetHash(plain), "another machine, another hash");
  TileMachine *again = loaded("sm_90a", NULL);
  CHECK(tileMachineGetHash(again) == tileMachineGetHash(plain), "the same machine, the same hash");
  tileMachineDestroy(again);
  tileMachineDestroy(plain);
  tileMachineDestroy(machine);
  static const struct {
    TileMachineOverride override;
    const char *message;
  } wrong[] = {
      {{"shared.byte", "1"}, "machine sm_90a: override of unknown key 'shared.byte'; known: base, kind, isa, "},
      {{"shard.bytes", "1"}, "machine sm_90a: override of unknown key 'shard.bytes'"},
      {{"base", "sm_80"}, "machine sm_90a: override of unknown key 'base'"},
      {{"cores", "many"},
       "machine sm_90a: override of key 'cores': expected a positive integer below 10^9, found 'many'"},
      {{"cores", ""}, "machine sm_90a: override of key 'cores': expected a positive integer below 10^9, found ''"},
      {{"cores", "0"}, "expected a positive integer below 10^9, found '0'"},
      {{"cores", "-4"}, "expected a positive integer below 10^9, found '-4'"},
      {{"cores", "9999999999999999999"}, "expected a positive integer below 10^9"},
      {{"kind", "fpga"}, "machine sm_90a: key 'kind' must be cpu or gpu, found fpga"},
      {{"levels", "shared l4"}, "machine sm_90a: key 'l4.bytes' is missing, but 'levels' names l4"},
  };
  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; ++i) {
    CHECK(!tileMachineLoad("sm_90a", NULL, &wrong[i].override, 1, &error), "%s = %s accepted", wrong[i].override.key,
          wrong[i].override.value);
    CHECK(strstr(error.text, wrong[i].message), "got '%s', wanted '%s'", error.text, wrong[i].message);
  }
}

static void testFolder(void) {
  TileError error = {0};
  writeFile("sm_80", "base = sm_80   # the built-in one\ncores = 8\n\n# a comment\n  x.why = an experiment  \r\n");
  writeFile("tiny", "base = sm_80\ncores=1");
  TileMachine *machine = loaded("sm_80", folder);
  CHECK(integer(machine, "cores") == 8 && integer(machine, "warp.width") == 32, "one key changed");
  CHECK(!strcmp(tileMachineGetText(machine, "x.why"), "an experiment"), "trimmed: '%s'",
        tileMachineGetText(machine, "x.why"));
  CHECK(!tileMachineHas(machine, "base"), "base is no key of the result");
  tileMachineDestroy(machine);
  machine = loaded("tiny", folder);
  CHECK(integer(machine, "cores") == 1, "no newline at the end");
  CHECK(!strcmp(tileMachineGetText(machine, "x.why"), "an experiment"), "its base is the folder's sm_80");
  tileMachineDestroy(machine);
  machine = loaded("sm_90a", folder);
  tileMachineDestroy(machine);
  TESSERA_LIST(ours);
  tileMachineListNames(folder, &ours);
  CHECK(strstr(ours.text, ", sm_90a, tiny, x86-64, x86-64-v3"), "%s", ours.text);
  CHECK(!tileMachineLoad("tiny", NULL, NULL, 0, &error), "only the folder has it");
  TESSERA_LIST(names);
  tileMachineListNames(NULL, &names);
  CHECK(!strncmp(error.text, "unknown machine 'tiny'; known: ", 31) && !strcmp(error.text + 31, names.text), "%s",
        error.text);
  removeFile("sm_80");
  removeFile("tiny");
}

// The process's folder: machines are read once until it is set again.
static void testShared(void) {
  TileError error = {0};
  size_t before = tileMachineCountReads();
  writeFile("sm_80", "base = sm_80\ncores = 8");
  tileMachineSetFolder(folder);
  TileMachine *first = loaded("sm_80", NULL), *second = loaded("sm_80", NULL);
  CHECK(first == second && integer(first, "cores") == 8, "one machine for both");
  CHECK(tileMachineCountReads() == before + 1, "%zu reads", tileMachineCountReads() - before);
  TileMachineOverride wide = {"cores", "9"};
  TileMachine *other = tileMachineLoad("sm_80", NULL, &wide, 1, &error);
  CHECK(other && other != first && integer(other, "cores") == 9, "%s", error.text);
  writeFile("sm_80", "base = sm_80\ncores = 16");
  tileMachineSetFolder(folder);
  TileMachine *edited = loaded("sm_80", NULL);
  CHECK(integer(edited, "cores") == 16 && integer(first, "cores") == 8, "the edited file; the first one lives on");
  tileMachineSetFolder("/no/such/folder");
  CHECK(!tileMachineLoad("sm_80", NULL, NULL, 0, &error) && strstr(error.text, "/no/such/folder"), "%s", error.text);
  tileMachineSetFolder(NULL);
  TileMachine *builtIn = loaded("sm_80", NULL);
  CHECK(integer(builtIn, "cores") == 108, "the built-in one");
  tileMachineDestroy(first);
  tileMachineDestroy(second);
  tileMachineDestroy(other);
  tileMachineDestroy(edited);
  tileMachineDestroy(builtIn);
  removeFile("sm_80");
}

#define CPU                                                                                                            \
  "kind = cpu\nisa = x86-64\nchip = c\ncores = 1\nvector.bytes = 64\nvector.registers = 32\nfma.per_cycle = 2\n"

static const struct {
  const char *text;
  size_t line;
  const char *message;
} malformed[] = {
    {"kind cpu\n", 1, "wrong.machine:1: expected 'key = value', found 'kind cpu'"},
    {"\n\nkind =\n", 3, "wrong.machine:3: key 'kind': the value is missing"},
    {"= 5\n", 1, "wrong.machine:1: expected a key before '='"},
    {"kind = cpu\nkernels = 5\n", 2, "wrong.machine:2: unknown key 'kernels'; known: base, kind, isa, "},
    {"cores = 4\ncores = 8\n", 2, "wrong.machine:2: key 'cores' is given twice"},
    {"cores = 4 8\n", 1, "wrong.machine:1: key 'cores': expected a positive integer below 10^9, found '4 8'"},
    {"chip = a b\n", 1, "wrong.machine:1: key 'chip': expected one word, found 'a b'"},
    {"mesh = 2 x\n", 1,
     "wrong.machine:1: key 'mesh': expected positive integers below 10^9 separated by spaces, found '2 x'"},
    {"levels = l1, l2\n", 1, "wrong.machine:1: key 'levels': expected words separated by spaces, found 'l1, l2'"},
    {"atom.mma = 16x8 f16,f16,f32\n", 1, "key 'atom.mma': expected a shape and types, as in 16x8x16 f16,f16,f32"},
    {"atom.mma = 16x8x16 f16,f16\n", 1, "key 'atom.mma': expected a shape and types"},
    {"atom.mma = 16x8..4/2x16 f16,f16,f32\n", 1, "key 'atom.mma': expected a shape and types"},
    {"cores = 4\nbase = sm_80\n", 2, "wrong.machine:2: key 'base' must come first"},
    {"base = sm_81\n", 1, "wrong.machine:1: key 'base': unknown machine 'sm_81'; known: gfx1100"},
    {"base = ../sm_80\n", 1, "key 'base': unknown machine '../sm_80'"},
    {"warp.width = detect\n", 1,
     "wrong.machine:1: key 'warp.width': the host does not tell, and no base gives a value"},
    {"", 0, "machine wrong: key 'kind' must be cpu or gpu, found none"},
    {CPU, 0, "machine wrong: key 'levels' is missing (memory levels, innermost first)"},
    {CPU "levels = l1\nl1.bytes = 4\n", 0, "machine wrong: key 'fma.latency' is missing"},
    {CPU "levels = l1\nfma.latency = 4\n", 0, "machine wrong: key 'l1.bytes' is missing, but 'levels' names l1"},
    {CPU "levels = l1\nfma.latency = 4\nl1.bytes = 9\nll.ways = 2\n", 0,
     "machine wrong: key 'll.ways': 'levels' names no ll"},
};

static void testMalformed(void) {
  for (size_t i = 0; i < sizeof malformed / sizeof malformed[0]; ++i) {
    TileError error = {0};
    writeFile("wrong", malformed[i].text);
    CHECK(!tileMachineLoad("wrong", folder, NULL, 0, &error), "accepted: %s", malformed[i].text);
    CHECK(error.line == malformed[i].line && strstr(error.text, malformed[i].message),
          "got line %zu: '%s', wanted '%s'", error.line, error.text, malformed[i].message);
  }
  removeFile("wrong");
}

static void testCircleAndPaths(void) {
  TileError error = {0};
  writeFile("a", "base = b\n");
  writeFile("b", "base = a\n");
  CHECK(!tileMachineLoad("a", folder, NULL, 0, &error), "a circle");
  CHECK(strstr(error.text, "do they form a circle?") && error.line == 1, "%s", error.text);
  removeFile("a");
  removeFile("b");
  static const char *const names[] = {"", "../sm_80", ".hidden", "a b", "sm_80/"};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; ++i)
    CHECK(!tileMachineLoad(names[i], folder, NULL, 0, &error) && strstr(error.text, "unknown machine"), "'%s': %s",
          names[i], error.text);
  CHECK(!tileMachineLoad("sm_80", "/no/such/folder", NULL, 0, &error), "a folder that is not there");
  CHECK(strstr(error.text, "folder of machines /no/such/folder: No such file or directory"), "%s", error.text);
  char path[256];
  snprintf(path, sizeof path, "%s/dir.machine", folder);
  CHECK(mkdir(path, 0700) == 0, "mkdir");
  CHECK(!tileMachineLoad("dir", folder, NULL, 0, &error) && strstr(error.text, "cannot be read"), "%s", error.text);
  rmdir(path);
}

// Any change of a good file is read or refused with a reason, never worse (run under sanitizers to see more).
static void testMutations(void) {
  const char letters[] = "=#\n .*0129abz_,/{}\0\xff";
  uint64_t seed = 31;
  int accepted = 0;
  for (int trial = 0; trial < 600; ++trial) {
    const TileEmbeddedText *from = &tileEmbeddedMachines[checkRandom(&seed) % tileEmbeddedMachinesCount];
    char path[256], *text = malloc(from->length);
    memcpy(text, from->text, from->length);
    for (uint64_t edits = checkRandom(&seed) % 4 + 1; edits > 0; --edits)
      text[checkRandom(&seed) % from->length] = letters[checkRandom(&seed) % sizeof letters];
    snprintf(path, sizeof path, "%s/wrong.machine", folder);
    FILE *stream = fopen(path, "w");
    size_t length = checkRandom(&seed) % 8 ? from->length : checkRandom(&seed) % from->length;
    CHECK(stream && fwrite(text, 1, length, stream) == length && fclose(stream) == 0, "cannot write %s", path);
    TileError error = {0};
    TileMachine *machine = tileMachineLoad("wrong", folder, NULL, 0, &error);
    CHECK(machine || error.text[0], "refused without a reason");
    accepted += machine != NULL;
    tileMachineDestroy(machine);
    free(text);
  }
  CHECK(accepted > 50 && accepted < 590, "%d of 600 mutants accepted", accepted);
  removeFile("wrong");
}

// A key row that no file uses, or that shadows another, is a mistake in the table.
static void testKeyTable(void) {
  for (size_t i = 0; i < tileMachineKeyRows; ++i) {
    const char *pattern = tileMachineKeys[i].pattern;
    CHECK(strchr(pattern, '*') || tileMachineFindKey(pattern) == &tileMachineKeys[i], "%s is listed twice", pattern);
    CHECK(tileMachineKeys[i].meaning[0], "%s means nothing", pattern);
  }
  CHECK(tileMachineFindKey("shared.per_block.bytes")->requiredBy[0] == 'g', "exact rows go before patterns");
  CHECK(!tileMachineFindKey(".bytes"), "* stands for something");
}

int main(void) {
  if (!mkdtemp(folder))
    return 1;
  testBuiltIn();
  testPeakRates();
  testGetters();
  testAtoms();
  testAtomByName();
  testNative();
  testFamilies();
  testOverrides();
  testFolder();
  testShared();
  testMalformed();
  testCircleAndPaths();
  testMutations();
  testKeyTable();
  CHECK(rmdir(folder) == 0, "%s is not empty", folder);
  return checkResult(200);
}
