// Asks the host: instruction set by cpuid, cores by affinity, caches by sysfs or, where a container hides that, cpuid.
// Expects: Linux; on other processors than x86-64 only what sysfs tells. Leaves: nothing changed.
#include "lib/machine/host.h"

#include "lib/machine/cpu_feature.h"

#include <inttypes.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

typedef struct {
  uint64_t bytes, ways, line;
} Cache;

static bool readWord(int index, const char *file, char *word, size_t capacity) {
  char path[128];
  snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu0/cache/index%d/%s", index, file);
  FILE *stream = fopen(path, "r");
  if (!stream)
    return false;
  bool good = fgets(word, (int)capacity, stream) != NULL;
  fclose(stream);
  return good;
}

static bool readNumber(int index, const char *file, uint64_t *number) {
  char word[32], unit = '\0';
  if (!readWord(index, file, word, sizeof word) || sscanf(word, "%" SCNu64 "%c", number, &unit) < 1)
    return false;
  *number <<= unit == 'K' ? 10 : unit == 'M' ? 20 : 0;
  return *number > 0;
}

static bool cacheFromSysfs(uint64_t level, Cache *cache) {
  char type[32];
  uint64_t found;
  for (int i = 0; readNumber(i, "level", &found); ++i)
    if (found == level && readWord(i, "type", type, sizeof type) && strncmp(type, "Instruction", 11) &&
        readNumber(i, "size", &cache->bytes) && readNumber(i, "ways_of_associativity", &cache->ways) &&
        readNumber(i, "coherency_line_size", &cache->line))
      return true;
  return false;
}

#if defined(__x86_64__)
// Leaf 4 (Intel) and 0x8000001d (AMD) answer alike: type, level, and ways - 1, partitions - 1, line - 1, sets - 1.
static bool cacheFromLeaf(unsigned leaf, uint64_t level, Cache *cache) {
  unsigned a, b, c, d;
  for (unsigned i = 0; i < 8 && __get_cpuid_count(leaf, i, &a, &b, &c, &d) && (a & 31); ++i) {
    if ((a & 31) == 2 || (a >> 5 & 7) != level)
      continue;
    cache->ways = (b >> 22) + 1;
    cache->line = (b & 0xfff) + 1;
    cache->bytes = cache->ways * ((b >> 12 & 0x3ff) + 1) * cache->line * ((uint64_t)c + 1);
    return true;
  }
  return false;
}

static bool cacheFromCpuid(uint64_t level, Cache *cache) {
  return cacheFromLeaf(0x8000001d, level, cache) || cacheFromLeaf(4, level, cache);
}

static bool isByAmd(void) {
  unsigned largest, vendor[3];
  return __get_cpuid(0, &largest, &vendor[0], &vendor[2], &vendor[1]) &&
         (!memcmp(vendor, "AuthenticAMD", sizeof vendor) || !memcmp(vendor, "HygonGenuine", sizeof vendor));
}

// The first family whose instructions the host has, of its vendor's.
static const char *baseName(void) {
  static const struct {
    bool isAmd;
    const char *name, *needs;
  } families[] = {{false, "graniterapids", "x86-64-v4 avx512fp16 amx-fp16"},
                  {false, "sapphirerapids", "x86-64-v4 avx512fp16 avx512bf16"},
                  {false, "skylake-avx512", "x86-64-v4"},
                  {false, "haswell", "x86-64-v3"},
                  {false, "x86-64", "x86-64"},
                  {true, "znver5", "x86-64-v4 avx512bf16 avxvnni"},
                  {true, "znver4", "x86-64-v4"},
                  {true, "znver3", "x86-64-v3"},
                  {true, "x86-64", "x86-64"}};
  bool isAmd = isByAmd();
  for (size_t i = 0; i < sizeof families / sizeof *families; ++i)
    if (families[i].isAmd == isAmd && tileCpuHas(families[i].needs))
      return families[i].name;
  return NULL;
}

// Matrix instructions, those of vectors for 512 bits.
static const char *atomValue(const char *name) {
  static const struct {
    const char *name, *needs, *value;
  } atoms[] = {{"vfmaddph", "avx512fp16", "1x32x1 f16,f16,f16"}, {"vdpbf16ps", "avx512bf16", "1x16x2 bf16,bf16,f32"},
               {"vpdpbusd", "avx512vnni", "1x16x4 i8,i8,i32"},   {"tdpbf16ps", "amx-bf16", "16x16x32 bf16,bf16,f32"},
               {"tdpbssd", "amx-int8", "16x16x64 i8,i8,i32"},    {"tdpbusd", "amx-int8", "16x16x64 i8,i8,i32"},
               {"tdpbsud", "amx-int8", "16x16x64 i8,i8,i32"},    {"tdpbuud", "amx-int8", "16x16x64 i8,i8,i32"},
               {"tdpfp16ps", "amx-fp16", "16x16x32 f16,f16,f32"}};
  for (size_t i = 0; i < sizeof atoms / sizeof *atoms; ++i)
    if (!strcmp(atoms[i].name, name))
      return tileCpuHas(atoms[i].needs) ? atoms[i].value : NULL;
  return NULL;
}

// All that code for this host may use unasked: code for tile registers has other code beside it.
static bool describeNeeds(char *value, size_t capacity) {
  size_t length = 0;
  value[0] = '\0';
  for (int i = TileCpuNumLevels; i-- > 0 && !length;)
    if (tileCpuHas(tileCpuLevels[i].name))
      length = (size_t)snprintf(value, capacity, "%s", tileCpuLevels[i].name);
  for (int i = 0; i < TileCpuNumFeatures; ++i)
    if (length < capacity && tileCpuFeatures[i].state != TileCpuTiles && tileCpuHasFeature(&tileCpuFeatures[i]))
      length += (size_t)snprintf(value + length, capacity - length, "%s%s", length ? " " : "", tileCpuFeatures[i].name);
  return length > 0 && length < capacity;
}
#else
static bool cacheFromCpuid(uint64_t level, Cache *cache) { return false; }
static const char *baseName(void) { return NULL; }
static const char *atomValue(const char *name) { return NULL; }
static bool describeNeeds(char *value, size_t capacity) { return false; }
#endif

static int coreCount(void) {
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) == 0)
    return CPU_COUNT(&allowed);
  return (int)sysconf(_SC_NPROCESSORS_ONLN); // more than 1024 CPUs
}

static bool detectCache(const char *key, char *value, size_t capacity) {
  unsigned level;
  char property[16];
  Cache cache;
  if (sscanf(key, "l%u.%15s", &level, property) != 2 ||
      (!cacheFromSysfs(level, &cache) && !cacheFromCpuid(level, &cache)))
    return false;
  uint64_t number = !strcmp(property, "bytes")  ? cache.bytes
                    : !strcmp(property, "ways") ? cache.ways
                    : !strcmp(property, "line") ? cache.line
                                                : 0;
  snprintf(value, capacity, "%" PRIu64, number);
  return number > 0;
}

bool tileHostDetect(const char *key, char *value, size_t capacity) {
  bool isAtom = !strncmp(key, "atom.", 5);
  if (!strcmp(key, "needs"))
    return describeNeeds(value, capacity);
  if (!strcmp(key, "base") || isAtom) {
    const char *text = isAtom ? atomValue(key + 5) : baseName();
    if (text)
      snprintf(value, capacity, "%s", text);
    return text != NULL;
  }
  if (strcmp(key, "cores"))
    return detectCache(key, value, capacity);
  int cores = coreCount();
  snprintf(value, capacity, "%d", cores);
  return cores > 0;
}
