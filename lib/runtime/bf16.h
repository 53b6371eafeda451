// bf16.h - rounding to bf16, for compiled code. LLVM 22 calls these functions on processors that have no instruction
// for it, where it keeps a loaded bf16 in an f32 register between two blocks. libgcc has them since version 13 only.
#pragma once

// To nearest, ties to even; nan stays nan and becomes quiet. The result is in the lower half of the float's bits: bf16
// is returned in the register of a float.
float __truncsfbf2(float value);
float __truncdfbf2(double value);
