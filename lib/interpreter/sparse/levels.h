// Tensors of upstream's sparse_tensor dialect as the interpreter sees them: the list of what their levels store, in the
// order of the levels (entries.h). Zeros that a dense level stores are entries like any other.
//
//   int64_t sizes[] = {3, 4};
//   Entries *entries = interpretEntriesCreate(2, sizes);                     // in any order, none twice
//   entries = interpretLevelsStore(machine, instruction, type, entries, NULL);   // takes the list over; null after an
//   error
//
// Why apart from lib/conversion/sparse_tensor_to_tile: that one makes loops over levels, this one is what these loops
// have to give. The two share no code.
#pragma once

#include "lib/interpreter/sparse/entries.h"

enum { LevelsMax = 8 };

// A place that fills up an n:m window (`part` of an entry): stored, and part of nothing.
enum { LevelPadding = -1 };

// How a type stores its levels.
typedef struct Levels {
  MlirType type;
  MlirAttribute encoding;
  MlirAffineMap dimToLvl, lvlToDim;
  int count, rank;
  int together; // from which level on all coordinates are one array; `count`: none
} Levels;

bool interpretLevelsIsEncoded(MlirType type);
// Zero of either sign.
static inline bool interpretElementIsZero(const Format *format, Element x) {
  return format->isFloat ? x.f == 0 : x.i == 0;
}
// False for an encoding that has no meaning here (batch levels, maps that are no permutation or division).
bool interpretLevelsOf(MlirType type, Levels *levels);

// The arrays that a tensor of `type` stores: null where a level has none.
typedef struct LevelArrays {
  struct LevelNumbers {
    int64_t count, *items;
    bool isThere;
  } positions[LevelsMax], coordinates[LevelsMax];
} LevelArrays;
void interpretLevelArraysFree(LevelArrays *arrays);

// Entries (none twice, unless a level may hold one place several times) as `type` stores them, with the zeros of its
// dense levels. `arraysOrNull` gets the levels' arrays.
Entries *interpretLevelsStore(Machine *machine, const Instruction *instruction, MlirType type, Entries *entries,
                              LevelArrays *arraysOrNull);
// The sizes of the levels of a tensor of these sizes.
void interpretLevelSizes(const Levels *levels, const int64_t *sizes, int64_t *levelSizes);
void interpretLevelCoordinates(const Levels *levels, const int64_t *at, int64_t *coordinates);
void interpretLevelDimensions(const Levels *levels, const int64_t *coordinates, int64_t *at);

// What takes part in an operation, row-major: of a dense tensor all elements or those that are not zero, of a stored
// one what is stored. Entries at one place are added. Null after an error.
Entries *interpretLevelsEntriesOf(Machine *machine, const Instruction *instruction, InterpretValue value, MlirType type,
                                  bool skipsZeros);

// sparse_tensor.new (tensor_files.c).
bool interpretLevelsNew(Machine *machine, Frame *frame, const Instruction *instruction);
// The meaning of an op that takes or gives such tensors, or of the dialect's own; null: none.
Execute interpretLevelsExecute(MlirOperation op);
// linalg's ops with such an operand (level_body.c).
bool interpretLevelsLinalg(Machine *machine, Frame *frame, const Instruction *instruction);
// An op of arith or math on whole tensors, as the linalg op with that body.
bool interpretLevelsElementwise(Machine *machine, Frame *frame, const Instruction *instruction);
