// The value of an `atom.…` key: MxNxK (warps=W)? then types a,b,c; N may be LOW..HIGH/STEP. See tileMachineFindAtom.
#ifndef TESSERA_LIB_MACHINE_ATOM_H
#define TESSERA_LIB_MACHINE_ATOM_H

#include <stdbool.h>

bool tileMachineAtomIsWellFormed(const char *value);

#endif
