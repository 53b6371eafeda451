// A stand-in for tile registers (AMX): executes the instructions in a handler of SIGILL, on processors that lack them.
//
//   LD_PRELOAD=build/test/standin/tiles.so tile-run program.mlir --target=cpu
//
// Written from Intel's manual (Software Developer's Manual, volume 2, and Architecture Instruction Set Extensions
// Programming Reference), not from the compiler. Stops the process, with a line on stderr, where a processor would
// fault, and where a thread ends with registers that are not released.
//
// TESSERA_STANDIN_KINDS=N: the kinds that the process may use (lib/support/tile_kinds.h); default: all.
// TESSERA_STANDIN_COUNT=1: prints how often each instruction ran when the process ends.
#include <cpuid.h>
#include <dlfcn.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>

enum { NumTiles = 8, MostRows = 16, MostBytes = 64 };

typedef struct Tile {
  int rows, bytes;
  uint8_t data[MostRows][MostBytes];
} Tile;

typedef struct State {
  int palette; // 0: not configured
  Tile tiles[NumTiles];
} State;

static __attribute__((tls_model("initial-exec"))) _Thread_local State state;
static pthread_key_t threads;

//===--- faults -------------------------------------------------------------------------------------------------===//

static _Noreturn void fault(const char *what) {
  fprintf(stderr, "tile registers: %s\n", what);
  fflush(stderr);
  _exit(99);
}

static void expect(int holds, const char *what) {
  if (!holds)
    fault(what);
}

static void endThread(void *unused) {
  (void)unused;
  expect(state.palette == 0, "a thread ends and has not released them");
}

//===--- instructions ---------------------------------------------------------------------------------------------===//

typedef enum Kind {
  LoadConfig,
  StoreConfig,
  Release,
  Zero,
  Load,
  LoadStream,
  Store,
  Bf16,
  F16,
  SS,
  SU,
  US,
  UU,
  NumKinds
} Kind;

static const char *const names[NumKinds] = {"ldtilecfg",   "sttilecfg",  "tilerelease", "tilezero",  "tileloadd",
                                            "tileloaddt1", "tilestored", "tdpbf16ps",   "tdpfp16ps", "tdpbssd",
                                            "tdpbsud",     "tdpbusd",    "tdpbuud"};
static atomic_long counts[NumKinds];

// Palette 1: eight registers of 16 rows of 64 bytes. Byte 0 palette, 1 start row, 16 to 31 bytes of a row, 48 to 55
// rows; all else is 0.
static void loadConfig(const uint8_t *memory) {
  memset(&state, 0, sizeof state);
  if (memory[0] == 0)
    return;
  expect(memory[0] == 1, "the configuration's palette is not 1");
  for (int i = 1; i < 64; ++i) {
    int isUsed = (i >= 16 && i < 32) || (i >= 48 && i < 56);
    expect(isUsed || memory[i] == 0, "a reserved byte of the configuration is not 0");
  }
  for (int i = 0; i < NumTiles; ++i) {
    int bytes = memory[16 + 2 * i] | memory[17 + 2 * i] << 8, rows = memory[48 + i];
    expect(bytes <= MostBytes && rows <= MostRows, "the configuration has a register of more than 16 rows of 64 bytes");
    expect((bytes == 0) == (rows == 0), "the configuration has a register with rows or bytes alone");
    state.tiles[i].rows = rows;
    state.tiles[i].bytes = bytes;
  }
  state.palette = 1;
  pthread_setspecific(threads, &state);
}

static void storeConfig(uint8_t *memory) {
  memset(memory, 0, 64);
  memory[0] = (uint8_t)state.palette;
  for (int i = 0; i < NumTiles && state.palette; ++i) {
    memory[16 + 2 * i] = (uint8_t)state.tiles[i].bytes;
    memory[48 + i] = (uint8_t)state.tiles[i].rows;
  }
}

static Tile *tileOf(int number) {
  expect(state.palette == 1, "used before a configuration was loaded");
  expect(number < NumTiles && state.tiles[number].rows > 0, "a register is used that the configuration leaves out");
  return &state.tiles[number];
}

static void load(Tile *tile, const uint8_t *place, int64_t pitch) {
  memset(tile->data, 0, sizeof tile->data);
  for (int row = 0; row < tile->rows; ++row)
    memcpy(tile->data[row], place + row * pitch, (size_t)tile->bytes);
}

static void store(const Tile *tile, uint8_t *place, int64_t pitch) {
  for (int row = 0; row < tile->rows; ++row)
    memcpy(place + row * pitch, tile->data[row], (size_t)tile->bytes);
}

//===--- products -------------------------------------------------------------------------------------------------===//

// Inputs and results that are subnormal count as 0; the rounding is to nearest, ties to even, whatever MXCSR says.
static float flush(float x) { return fpclassify(x) == FP_SUBNORMAL ? copysignf(0, x) : x; }

static float ofBf16(const uint8_t *place) {
  uint16_t half;
  memcpy(&half, place, 2);
  uint32_t bits = (uint32_t)half << 16;
  float x;
  memcpy(&x, &bits, 4);
  return flush(x);
}

// Subnormal f16 are numbers.
static float ofF16(const uint8_t *place) {
  uint16_t half;
  memcpy(&half, place, 2);
  int exponent = half >> 10 & 31, fraction = half & 1023;
  float x = exponent == 31 ? (fraction ? NAN : INFINITY)
            : exponent     ? ldexpf((float)(1024 + fraction), exponent - 25)
                           : ldexpf((float)fraction, -24);
  return half >> 15 ? -x : x;
}

static float multiplyAdd(float a, float b, float sum) { return flush(fmaf(flush(a), flush(b), flush(sum))); }

// For each row the even and the odd elements of k have sums of their own, from 0; both are added up, then to C.
static void addFloats(Tile *c, const Tile *a, const Tile *b, float (*read)(const uint8_t *)) {
  for (int m = 0; m < c->rows; ++m)
    for (int n = 0; n < c->bytes / 4; ++n) {
      float even = 0, odd = 0, old;
      for (int k = 0; k < a->bytes / 4; ++k) {
        even = multiplyAdd(read(&a->data[m][4 * k]), read(&b->data[k][4 * n]), even);
        odd = multiplyAdd(read(&a->data[m][4 * k + 2]), read(&b->data[k][4 * n + 2]), odd);
      }
      memcpy(&old, &c->data[m][4 * n], 4);
      float sum = flush(flush(old) + flush(even + odd));
      memcpy(&c->data[m][4 * n], &sum, 4);
    }
}

static int32_t ofByte(uint8_t byte, int isSigned) { return isSigned ? (int8_t)byte : byte; }

static void addBytes(Tile *c, const Tile *a, const Tile *b, int aIsSigned, int bIsSigned) {
  for (int m = 0; m < c->rows; ++m)
    for (int n = 0; n < c->bytes / 4; ++n) {
      uint32_t sum;
      memcpy(&sum, &c->data[m][4 * n], 4);
      for (int k = 0; k < a->bytes / 4; ++k)
        for (int i = 0; i < 4; ++i)
          sum += (uint32_t)(ofByte(a->data[m][4 * k + i], aIsSigned) * ofByte(b->data[k][4 * n + i], bIsSigned));
      memcpy(&c->data[m][4 * n], &sum, 4);
    }
}

static void multiply(Kind kind, int ofC, int ofA, int ofB) {
  Tile *c = tileOf(ofC);
  const Tile *a = tileOf(ofA), *b = tileOf(ofB);
  expect(ofC != ofA && ofC != ofB && ofA != ofB, "a product names a register twice");
  expect(a->bytes % 4 == 0 && b->bytes % 4 == 0 && c->bytes % 4 == 0, "a product's register has a part of a word");
  expect(a->rows == c->rows, "a product's left factor and sums differ in rows");
  expect(b->bytes == c->bytes, "a product's right factor and sums differ in columns");
  expect(b->rows == a->bytes / 4, "a product's left factor has other groups than the right factor has rows");
  if (kind == Bf16 || kind == F16)
    addFloats(c, a, b, kind == Bf16 ? ofBf16 : ofF16);
  else
    addBytes(c, a, b, kind == SS || kind == SU, kind == SS || kind == US);
}

//===--- decoding -------------------------------------------------------------------------------------------------===//

typedef struct Instruction {
  Kind kind;
  int reg, rm, vvvv, length;
  uint8_t *address;
  int64_t pitch;
} Instruction;

static int64_t registerOf(const greg_t *registers, int number) {
  static const int order[16] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
                                REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};
  return registers[order[number]];
}

// The bytes behind the opcode that name memory; returns how many, ModRM included.
static int decodeMemory(const uint8_t *code, const greg_t *registers, int x, int b, int64_t next, Instruction *out) {
  int mod = code[0] >> 6, rm = code[0] & 7, at = 1;
  int64_t place = 0, displacement = 0;
  int32_t wide = 0;
  int hasBase = 1, base = rm;
  if (rm == 4) {
    int sib = code[at++], index = (sib >> 3 & 7) | x << 3;
    base = sib & 7;
    hasBase = !(base == 5 && mod == 0);
    out->pitch = index == 4 ? 0 : (int64_t)((uint64_t)registerOf(registers, index) << (sib >> 6));
  }
  int isRelative = rm == 5 && mod == 0, isWide = mod == 2 || isRelative || !hasBase;
  if (mod == 1)
    displacement = (int8_t)code[at++];
  else if (isWide) {
    memcpy(&wide, &code[at], 4);
    displacement = wide;
    at += 4;
  }
  if (isRelative)
    place = next + at;
  else if (hasBase)
    place = registerOf(registers, base | b << 3);
  out->address = (uint8_t *)(uintptr_t)(place + displacement);
  return at;
}

// VEX of three bytes, 128 bits, W0, map 0F38; `prefix`: 0 none, 1 66, 2 F3, 3 F2.
static int decode(const uint8_t *code, const greg_t *registers, Instruction *out) {
  static const Kind loads[4] = {NumKinds, LoadStream, Store, Load}, bytes[4] = {UU, US, SU, SS};
  if (code[0] != 0xc4 || (code[1] & 31) != 2 || (code[2] & 0x84))
    return 0;
  int r = !(code[1] >> 7 & 1), x = !(code[1] >> 6 & 1), b = !(code[1] >> 5 & 1), prefix = code[2] & 3;
  int opcode = code[3], modrm = code[4], isMemory = modrm >> 6 != 3;
  *out = (Instruction){.kind = NumKinds,
                       .vvvv = ~(code[2] >> 3) & 15,
                       .reg = (modrm >> 3 & 7) | r << 3,
                       .rm = (modrm & 7) | b << 3,
                       .length = 5};
  if (opcode == 0x49)
    out->kind = prefix == 3 && !isMemory       ? Zero
                : prefix == 0 && modrm == 0xc0 ? Release
                : !isMemory || (modrm & 0x38)  ? NumKinds
                : prefix == 0                  ? LoadConfig
                : prefix == 1                  ? StoreConfig
                                               : NumKinds;
  else if (opcode == 0x4b && isMemory && (modrm & 7) == 4)
    out->kind = loads[prefix];
  else if (opcode == 0x5c && !isMemory)
    out->kind = prefix == 2 ? Bf16 : prefix == 3 ? F16 : NumKinds;
  else if (opcode == 0x5e && !isMemory)
    out->kind = bytes[prefix];
  if (isMemory)
    out->length = 4 + decodeMemory(&code[4], registers, x, b, (int64_t)(uintptr_t)&code[4], out);
  return out->kind != NumKinds;
}

static void execute(const Instruction *instruction) {
  atomic_fetch_add(&counts[instruction->kind], 1);
  switch (instruction->kind) {
  case LoadConfig:
    loadConfig(instruction->address);
    break;
  case StoreConfig:
    storeConfig(instruction->address);
    break;
  case Release:
    memset(&state, 0, sizeof state);
    break;
  case Zero:
    memset(tileOf(instruction->reg)->data, 0, sizeof state.tiles->data);
    break;
  case Load:
  case LoadStream:
    load(tileOf(instruction->reg), instruction->address, instruction->pitch);
    break;
  case Store:
    store(tileOf(instruction->reg), instruction->address, instruction->pitch);
    break;
  default:
    multiply(instruction->kind, instruction->reg, instruction->rm, instruction->vvvv);
  }
}

//===--- the process ----------------------------------------------------------------------------------------------===//

static int32_t kindsGiven(void) {
  const char *kinds = getenv("TESSERA_STANDIN_KINDS");
  return kinds ? (int32_t)strtol(kinds, NULL, 0) : 7;
}

// What lib/runtime/tiles.c asks. Negative: ask the processor, which has the instructions.
int32_t tessera_stand_in_tiles(void);
int32_t tessera_stand_in_tiles(void) {
  unsigned words[4];
  bool has = __get_cpuid_count(7, 0, &words[0], &words[1], &words[2], &words[3]) && (words[3] >> 24 & 1);
  return has && kindsGiven() ? -1 : kindsGiven();
}

// The program's own handler of SIGILL waits behind ours, for what we do not execute.
static struct sigaction others;
static int (*setAction)(int, const struct sigaction *, struct sigaction *);

int sigaction(int number, const struct sigaction *action, struct sigaction *before) {
  if (number != SIGILL)
    return setAction(number, action, before);
  if (before)
    *before = others;
  if (action)
    others = *action;
  return 0;
}

static void onIllegal(int number, siginfo_t *info, void *context) {
  (void)info;
  greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;
  Instruction instruction;
  if (!decode((const uint8_t *)(uintptr_t)registers[REG_RIP], registers, &instruction)) {
    setAction(number, &others, NULL); // runs again, into the fault
    return;
  }
  expect(kindsGiven() != 0, "used without permission");
  execute(&instruction);
  registers[REG_RIP] += instruction.length;
}

__attribute__((constructor)) static void begin(void) {
  struct sigaction action = {.sa_sigaction = onIllegal, .sa_flags = SA_SIGINFO | SA_NODEFER};
  sigemptyset(&action.sa_mask);
  pthread_key_create(&threads, endThread);
  setAction = (int (*)(int, const struct sigaction *, struct sigaction *))(uintptr_t)dlsym(RTLD_NEXT, "sigaction");
  setAction(SIGILL, &action, NULL);
}

__attribute__((destructor)) static void end(void) {
  if (getenv("TESSERA_STANDIN_COUNT"))
    for (int i = 0; i < NumKinds; ++i)
      if (counts[i])
        fprintf(stderr, "%s: %ld\n", names[i], counts[i]);
  expect(state.palette == 0, "the process ends and has not released them");
}
