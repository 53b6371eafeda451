// The value of an `atom.…` key: MxNxK (warps=W)? then types a,b,c; N may be LOW..HIGH/STEP. See tileMachineFindAtom.
#pragma once

#include <stdbool.h>

bool tileMachineAtomIsWellFormed(const char *value);
