// f16.h - the 16-bit and 8-bit floats, as bits, to and from f32. Rounding is to nearest, ties to even; every value of
// the 16-bit types becomes an f32 exactly; overflow gives infinity, subnormals are kept, a NaN stays a NaN (quiet, with
// the top of its payload). In integer arithmetic, so it does not depend on the machine, the compiler or the rounding
// mode.
#pragma once

#include <stdint.h>

uint16_t tessera_f16_from_f32(float value); // IEEE binary16: 5 bits of exponent, 10 of fraction
float tessera_f16_to_f32(uint16_t bits);
uint16_t tessera_bf16_from_f32(float value); // the upper half of an f32: 8 bits of exponent, 7 of fraction
float tessera_bf16_to_f32(uint16_t bits);

// To f32 only: exact. docs/numerics.md §1 has their tables.
float tessera_f8e4m3fn_to_f32(uint8_t bits);  // no infinities; 0x7f and 0xff are nan
float tessera_f8e5m2_to_f32(uint8_t bits);    // the upper half of an f16
float tessera_f8e8m0fnu_to_f32(uint8_t bits); // 2^(bits - 127); 0xff is nan
