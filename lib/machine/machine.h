// A machine: one description, read from `NAME.machine`, on which every decision of every pass rests.
// Why: no code names a chip. A new chip is a new file; an edited number is an experiment.
// Expects: a name, and optionally a folder of the user's own files and overrides. Leaves: a TileMachine, read-only and
// safe to share between threads, or an error that names file, line and key. A process reads a machine once: a second
// call with the same arguments returns the same TileMachine.
//
//   TileError error; int64_t bytes;
//   TileMachineOverride more[] = {{"shared.bytes", "466944"}};       // what if shared memory doubled?
//   TileMachine *machine = tileMachineLoad("sm_90a", NULL, more, 1, &error);
//   if (!machine) return report(error.text);
//   if (tileMachineGetInteger(machine, "shared.bytes", &bytes)) …
//   tileMachineDestroy(machine);
//
// A line of a file is `key = value`; `#` begins a comment. `base = NAME`, on the first line, takes over all keys of
// another machine; later lines replace them. The value `detect` asks the host (host.h). keys.c lists every key with its
// meaning and unit; `x.…` keys are the user's own and hold any text. Sizes are bytes, times are cycles of the
// core, bandwidths bytes per second of the whole machine, a register is 32 bits on a GPU.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/support/error.h"
#include "lib/support/grow.h"
#include "lib/support/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct TileMachine TileMachine;

typedef struct TileMachineOverride {
  const char *key, *value;
} TileMachineOverride;

// Sets the folder that is searched for NAME.machine before the built-in machines; null: none. The initial folder is the
// one that the environment variable names. After this call every machine is read again, so that an edited file counts.
#define TILE_MACHINE_PATH_VARIABLE "TESSERA_MACHINE_PATH"
void tileMachineSetFolder(const char *path);
// Writes that folder. False if there is none, or if its path does not fit.
bool tileMachineGetFolder(char *path, size_t capacity);
// Removes --tile-machine-path=DIR from a tool's arguments, and sets the folder for this process and its children.
// False if memory is exhausted, or, after a message on stderr, if the folder cannot be read.
bool tileMachineTakeFlag(int *argc, char **argv);
#define TILE_MACHINE_PATH_HELP "A folder of NAME.machine files, ahead of the chips built in"
#define TILE_MACHINE_PATH_USAGE                                                                                        \
  "  --tile-machine-path=DIR  a folder of NAME.machine files, ahead of the chips built in\n"

// Reads NAME.machine from searchDir (NULL: the process's folder), or the built-in machine if the folder lacks the file.
// Then applies the overrides in order. A file of the folder may name itself as base: it then changes the built-in
// machine. Returns NULL after an error; for an unknown name error->text lists the known ones. The caller destroys the
// result.
TileMachine *tileMachineLoad(const char *name, const char *searchDir, const TileMachineOverride *overrides,
                             size_t overrideCount, TileError *error);
void tileMachineDestroy(TileMachine *machine);
// How many machines this process has read from text. Machines that were already in memory do not count.
size_t tileMachineCountReads(void);

// Lists the names that tileMachineLoad knows, sorted. searchDir as in tileMachineLoad.
void tileMachineListNames(const char *searchDir, tessera_list_t *list);
// The machine file for a GPU that says it is `device` ("sm_90"): its name with all that it has ("sm_90a"), its name, or
// that of a chip whose code it runs ("sm_86" for an sm_87). False after an error where none describes it.
bool tileMachineOfDevice(const char *device, char *chip, size_t size, tessera_error_t *error);
// Lists the machines, of the process's folder and built in, whose `key` has this value: "kind", "cpu".
void tileMachineListWhere(const char *key, const char *value, tessera_list_t *list);

const char *tileMachineGetName(const TileMachine *machine);
// Covers all keys and values after base, detection and overrides: equal descriptions have equal hashes, in any order of
// keys.
uint64_t tileMachineGetHash(const TileMachine *machine);

// Keys one by one. Strings belong to the machine.
bool tileMachineHas(const TileMachine *machine, const char *key);
// The value as written, or NULL.
const char *tileMachineGetText(const TileMachine *machine, const char *key);
// False if the key is absent or is no integer key; the value stays untouched then.
bool tileMachineGetInteger(const TileMachine *machine, const char *key, int64_t *value);
// Fills at most `capacity` integers of a list; returns how many the list has, 0 if the key is absent.
size_t tileMachineGetIntegers(const TileMachine *machine, const char *key, int64_t *values, size_t capacity);
// Whether a list of words holds this one, as in tileMachineListHas(machine, "engines", "tma").
bool tileMachineListHas(const TileMachine *machine, const char *key, const char *word);
// Word number `place` of a list, from 0, not terminated; NULL and *length 0 beyond the end. The machine owns the text.
const char *tileMachineGetWord(const TileMachine *machine, const char *key, size_t place, size_t *length);

// All keys, in the order of the files.
size_t tileMachineGetKeyCount(const TileMachine *machine);
const char *tileMachineGetKeyAt(const TileMachine *machine, size_t index, const char **value);

// A memory level, as named in the list `levels` (innermost first): "l1", "shared", "global", …; 0 where the file is
// silent.
typedef struct TileMachineLevel {
  int64_t bytes;       // of one instance; the whole machine's for the levels that all cores share
  int64_t ways, line;  // associativity; bytes of a cache line
  int64_t transaction; // the least bytes that an access moves
  int64_t bandwidth;   // bytes per second, all cores together
  int64_t latency;     // cycles
  int64_t banks, bankBytes;
} TileMachineLevel;
// False if `levels` does not name it.
bool tileMachineGetLevel(const TileMachine *machine, const char *name, TileMachineLevel *level);

enum { TileMachineFragments = 6, TileMachineFragmentBytes = 160, TileMachineScalesBytes = 24 };

// A matrix multiply-accumulate instruction: D (m x n) = A (m x k) * B (k x n) + C (m x n).
typedef struct TileMachineAtom {
  int64_t m, n, k;
  int64_t warps;     // that execute it together
  const char *types; // "a,b,c a,b,c …", MLIR's names, as in "f16,f16,f32 bf16,bf16,f32"
  // The layouts of A, B and C/D in registers, in the text form of #tile.layout; empty where the operand is in memory.
  // An instruction with a fourth layout is sparse: A is m x k/2 and holds two of each four neighbours along k. The
  // fourth layout is that of m x k/8 bytes that give the places of these two (tile.mma_sparse).
  // One with a fifth and a sixth layout takes the scales of A, m x k/block, and of B, k/block x n (tile.mma_scaled).
  char fragment[TileMachineFragments][TileMachineFragmentBytes];
  char scales[TileMachineScalesBytes]; // their type; empty: it takes none
  int64_t block;
  bool isSwapped; // the instruction multiplies Bᵀ by Aᵀ: its sum is the transposed one
} TileMachineAtom;
// Finds an atom by name: "mma.sync.m16n8k16". The key `wgmma.m64n*k16` has a free size and matches "wgmma.m64n256k16".
// "mfma.32x32x8.swapped" is "mfma.32x32x8" with exchanged factors. If a lane of the atom holds a part of a column of
// the sum, a lane of the swapped atom holds a part of a row. Every dense atom of one warp has a swapped form.
#define TILE_MACHINE_SWAPPED ".swapped"
// On failure the error lists the machine's atoms.
bool tileMachineFindAtom(const TileMachine *machine, const char *name, TileMachineAtom *atom, TileError *error);
// Whether the atom multiplies dense factors without scales.
bool tileMachineAtomIsPlain(const TileMachineAtom *atom);
// Whether the atom multiplies these element types.
bool tileMachineAtomTakes(const TileMachineAtom *atom, const char *a, const char *b, const char *c);

#ifdef __cplusplus
}
#endif
