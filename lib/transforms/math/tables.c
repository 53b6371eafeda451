// exp, exp2, log, tanh and erf of f32 in lanes of f32 with tables in registers (families.h): within 0.51 ulp, where a
// machine looks up 32 entries in one instruction (vpermi2ps).
//
// f(c + d) is a polynomial in d around the centre c of the interval that x is in. Its first two coefficients and their
// sum are pairs of f32, a value and what its rounding lost; d is exact and so small that single rounding of all other
// terms stays below 0.01 ulp. exp: e^x = 2^k 2^(j/32) e^r, 2^(j/32) a pair. Results of exp and operands of log that are
// no normal numbers, and erf of tiny numbers, are rounded from f64, in a branch for vectors that have some.
// Coefficients: minimax, by minimax.py; relative errors: erf 1.1e-11, tanh 4.8e-11, e^r 1.0e-10, log(1 + r) 1e-12.
// Largest errors over all 2^32 inputs: numerics.md section 7. Sources: Tang, ACM TOMS 15(2), 1989 (tables); Dekker 1971
// (sums). Cost: 20 to 35 instructions a vector.
#include "lib/transforms/math/families.h"
#include "upstream/scf.h"
#include "upstream/vector.h"

enum { Entries = TileLookUpEntries };

// 2^(j/32), and what rounding lost.
static const float powersOfTwo[][Entries] = {
    {0x1p0,        0x1.059b0ep0, 0x1.0b5586p0, 0x1.11301ep0, 0x1.172b84p0, 0x1.1d4874p0, 0x1.2387a6p0, 0x1.29e9ep0,
     0x1.306fep0,  0x1.371a74p0, 0x1.3dea64p0, 0x1.44e086p0, 0x1.4bfdaep0, 0x1.5342b6p0, 0x1.5ab07ep0, 0x1.6247ecp0,
     0x1.6a09e6p0, 0x1.71f75ep0, 0x1.7a1148p0, 0x1.82589ap0, 0x1.8ace54p0, 0x1.93737cp0, 0x1.9c4918p0, 0x1.a5503cp0,
     0x1.ae89fap0, 0x1.b7f77p0,  0x1.c199bep0, 0x1.cb720ep0, 0x1.d5818ep0, 0x1.dfc974p0, 0x1.ea4afap0, 0x1.f50766p0},
    {0,
     -0x1.9d4f52p-25,
     0x1.9f3122p-25,
     -0x1.fdb496p-25,
     -0x1.c15742p-27,
     -0x1.d2e8cap-25,
     0x1.ceac48p-25,
     -0x1.5c0424p-25,
     0x1.4636e2p-25,
     -0x1.18aac6p-25,
     0x1.824684p-25,
     0x1.8624b4p-30,
     -0x1.593abcp-25,
     -0x1.2c561p-25,
     -0x1.5bd5ecp-27,
     -0x1.f8b55p-25,
     0x1.9fcef4p-26,
     0x1.1d8beep-25,
     -0x1.829fdp-25,
     -0x1.accc7cp-26,
     0x1.15506ep-27,
     -0x1.e64744p-25,
     0x1.51f848p-27,
     -0x1.b83b54p-25,
     -0x1.a94b14p-26,
     -0x1.a09438p-25,
     -0x1.3d56b2p-27,
     -0x1.8837ccp-27,
     -0x1.822dbcp-27,
     -0x1.908c94p-25,
     0x1.52486cp-27,
     -0x1.246ebp-26},
};
// Around c = j / 8: erf c and what its rounding lost, erf' c and what its rounding lost, the terms of d^2 to d^6.
static const float errorTerms[][Entries] = {
    {0,
     0x1.1f5e1ap-3,
     0x1.1af54ep-2,
     0x1.9dd0d2p-2,
     0x1.0a7ef6p-1,
     0x1.3f196ep-1,
     0x1.6c1c98p-1,
     0x1.91724ap-1,
     0x1.af767ap-1,
     0x1.c6dad2p-1,
     0x1.d8865ep-1,
     0x1.e5768cp-1,
     0x1.eea556p-1,
     0x1.f4f694p-1,
     0x1.f92d08p-1,
     0x1.fbe61ep-1,
     0x1.fd9ae2p-1,
     0x1.fea422p-1,
     0x1.ff4048p-1,
     0x1.ff996p-1,
     0x1.ffcaa8p-1,
     0x1.ffe514p-1,
     0x1.fff2dp-1,
     0x1.fff9bap-1,
     0x1.fffd1ap-1,
     0x1.fffeb4p-1,
     0x1.ffff7p-1,
     0x1.ffffc4p-1,
     0x1.ffffe8p-1,
     0x1.fffff6p-1,
     0x1.fffffcp-1,
     0x1.fffffep-1},
    {0,
     0x1.ade824p-30,
     0x1.1961bp-29,
     0x1.6e431ep-27,
     -0x1.f38926p-28,
     -0x1.9786bcp-28,
     -0x1.4c5df8p-26,
     -0x1.5c8dccp-26,
     0x1.d04288p-27,
     0x1.053db4p-26,
     -0x1.9d504ap-27,
     0x1.da524p-28,
     -0x1.1d909cp-26,
     -0x1.2610a2p-27,
     -0x1.00e556p-26,
     0x1.de99e6p-26,
     -0x1.7b0d4ap-26,
     -0x1.ca69b8p-27,
     -0x1.3f9ccep-26,
     0x1.e7d662p-26,
     0x1.e9937cp-26,
     0x1.77b832p-26,
     -0x1.3eeb08p-27,
     0x1.083a0ep-27,
     0x1.8826cp-26,
     -0x1.44d98p-29,
     -0x1.82606ap-27,
     -0x1.d24c26p-26,
     -0x1.de5534p-26,
     0x1.8c3da8p-29,
     0x1.78b8f2p-28,
     0x1.259db2p-26},
    {0x1.20dd76p0,   0x1.1c62fap0,   0x1.0f5d16p0,   0x1.f5f0cep-1,  0x1.c1efcap-1,  0x1.86e96ap-1,  0x1.492e42p-1,
     0x1.0cab62p-1,  0x1.a911fp-2,   0x1.45e99cp-2,  0x1.e4653p-3,   0x1.5ce596p-3,  0x1.e72372p-4,  0x1.499d48p-4,
     0x1.b0553p-5,   0x1.12ceb4p-5,  0x1.529b9ep-6,  0x1.94624ep-7,  0x1.d4143ap-8,  0x1.06918cp-8,  0x1.1d8318p-9,
     0x1.2ce898p-10, 0x1.3360ccp-11, 0x1.30539p-12,  0x1.2408eap-13, 0x1.0f9e1cp-14, 0x1.e9b5eap-16, 0x1.abe0ap-17,
     0x1.6a5974p-18, 0x1.296a72p-19, 0x1.d93722p-21, 0x1.6ce1aep-22},
    {-0x1.f7aadcp-25, 0x1.de3c4p-28,   0x1.42d28p-31,   -0x1.44e048p-27, 0x1.27c964p-27,  -0x1.7c085ap-26,
     0x1.b12a34p-26,  -0x1.ce1fc6p-30, 0x1.315bc6p-27,  -0x1.99a8f8p-29, -0x1.45927ep-29, -0x1.dfd454p-30,
     0x1.a58f58p-30,  -0x1.dbe764p-30, 0x1.65a3a8p-32,  -0x1.08e048p-30, 0x1.0dd73ap-31,  0x1.c8b222p-33,
     0x1.3258a6p-33,  -0x1.37a1d8p-33, -0x1.d103b6p-34, 0x1.2820acp-35,  0x1.ee877ep-36,  -0x1.fadce4p-42,
     0x1.3cfaa8p-41,  -0x1.bec3c4p-41, 0x1.0a109ap-45,  0x1.1aca76p-46,  -0x1.d34c4ap-45, 0x1.87805cp-44,
     -0x1.1cabf4p-49, -0x1.ba58fap-51},
    {-0x1.ecb006p-31, -0x1.1c62fap-3,  -0x1.0f5d16p-2,  -0x1.78749ap-2,  -0x1.c1efcap-2,  -0x1.e8a3c4p-2,
     -0x1.edc564p-2,  -0x1.d62becp-2,  -0x1.a911fp-2,   -0x1.6ea6dp-2,   -0x1.2ebf3ep-2,  -0x1.dfbbaep-3,
     -0x1.6d5a96p-3,  -0x1.0bcfcap-3,  -0x1.7a4a8ap-4,  -0x1.01a1c8p-4,  -0x1.529b9ep-5,  -0x1.ada874p-6,
     -0x1.074b6p-6,   -0x1.37ccd6p-7,  -0x1.64e3dcp-8,  -0x1.8af148p-9,  -0x1.a6a51ap-10, -0x1.b5781ep-11,
     -0x1.b60d5ep-12, -0x1.a8670cp-13, -0x1.8de3cep-14, -0x1.690586p-15, -0x1.3d0e44p-16, -0x1.0d8878p-17,
     -0x1.bba3aep-19, -0x1.617aap-20},
    {-0x1.81273cp-2, -0x1.6f5518p-2, -0x1.3c9736p-2, -0x1.e106bcp-3, -0x1.2bf53cp-3, -0x1.c810b4p-5, 0x1.b6e752p-6,
     0x1.7c9d32p-4,  0x1.1b613p-3,   0x1.4cb3bep-3,  0x1.571cfcp-3,  0x1.4374dap-3,  0x1.1c2a0cp-3,  0x1.d66334p-4,
     0x1.7148dap-4,  0x1.143d2ep-4,  0x1.8b0afcp-5,  0x1.0ea484p-5,  0x1.63ef6cp-6,  0x1.c1ec0cp-7,  0x1.119d92p-7,
     0x1.407f96p-8,  0x1.69cefcp-9,  0x1.89e102p-10, 0x1.9db698p-11, 0x1.a3728ap-12, 0x1.9aa352p-13, 0x1.8450b8p-14,
     0x1.62cb3ep-15, 0x1.39495p-16,  0x1.0b689cp-17, 0x1.b95bf2p-19},
    {-0x1.7f96aep-17, 0x1.196a04p-4,  0x1.040e0ap-3,   0x1.552972p-3,   0x1.76f26ap-3,   0x1.6963ccp-3,
     0x1.349b7p-3,    0x1.cc608ap-4,  0x1.1b6182p-4,   0x1.ca514ep-6,   -0x1.93a71cp-8,  -0x1.f3b868p-6,
     -0x1.6d5a7ap-5,  -0x1.974bfep-5, -0x1.8a0db2p-5,  -0x1.5a317ap-5,  -0x1.1a2c7p-5,   -0x1.afe57ap-6,
     -0x1.38a99ep-6,  -0x1.ae598p-7,  -0x1.1a89c8p-7,  -0x1.62d4cap-8,  -0x1.ab0c14p-9,  -0x1.ed4a8ep-10,
     -0x1.11c822p-10, -0x1.2453fp-11, -0x1.2c7cd4p-12, -0x1.298ed2p-13, -0x1.1c0688p-14, -0x1.0574f8p-15,
     -0x1.d06cf6p-17, -0x1.8e1d44p-18},
    {0x1.cfa148p-4,  0x1.aa1054p-4,  0x1.477254p-4,  0x1.743aacp-5,  0x1.e25984p-8,  -0x1.bf95d6p-6, -0x1.b32214p-5,
     -0x1.12cbc6p-4, -0x1.1af4bap-4, -0x1.f5d364p-5, -0x1.824dc6p-5, -0x1.f59b2ep-6, -0x1.e832f2p-7, -0x1.1d5d2ep-9,
     0x1.af6bf6p-8,  0x1.76809ap-7,  0x1.ac257ap-7,  0x1.99087p-7,   0x1.5d148cp-7,  0x1.11e1d6p-7,  0x1.912622p-8,
     0x1.14ba4cp-8,  0x1.69c9b2p-9,  0x1.c2119ap-10, 0x1.0b2e8cp-10, 0x1.2f7314p-11, 0x1.4a427ap-12, 0x1.58ece2p-13,
     0x1.5a1762p-14, 0x1.4def42p-15, 0x1.36157ap-16, 0x1.154a2cp-17},
    {-0x1.4965c8p-8,  -0x1.6bf8cp-6,  -0x1.4a55b6p-5,  -0x1.99730ep-5,  -0x1.995d72p-5,  -0x1.527d36p-5,
     -0x1.b87ba4p-6,  -0x1.55101p-7,  0x1.2a8fcep-8,   0x1.fb2754p-7,   0x1.5c268ep-6,   0x1.6a7c3cp-6,
     0x1.3c515ap-6,   0x1.d8359ep-7,  0x1.25eea8p-7,   0x1.0de248p-8,   0x1.f0659ap-12,  -0x1.da459ap-10,
     -0x1.7b8718p-9,  -0x1.977c6cp-9, -0x1.6e80aep-9,  -0x1.2674e8p-9,  -0x1.b2a9ep-10,  -0x1.2b2d36p-10,
     -0x1.83918p-11,  -0x1.db508p-12, -0x1.15156ep-12, -0x1.340e06p-13, -0x1.475948p-14, -0x1.4d1432p-15,
     -0x1.44fcdap-16, -0x1.306d5ap-17},
};
// Quarters of binades from 2^-4 on; the first one from 0 on, around 0. Entries are numbered by the low bits of a
// float's exponent and the first two of its fraction. The centre c, then as above, to d^7.
static const float tangentTerms[][Entries] = {
    {0x1.2p1,  0x1.6p1,  0x1.ap1,  0x1.ep1,  0x1.2p2,  0x1.6p2,  0x1.ap2,  0x1.ep2,  0x1.14p3, 0,        0,
     0,        0,        0x1.6p-4, 0x1.ap-4, 0x1.ep-4, 0x1.2p-3, 0x1.6p-3, 0x1.ap-3, 0x1.ep-3, 0x1.2p-2, 0x1.6p-2,
     0x1.ap-2, 0x1.ep-2, 0x1.2p-1, 0x1.6p-1, 0x1.ap-1, 0x1.ep-1, 0x1.2p0,  0x1.6p0,  0x1.ap0,  0x1.ep0},
    {0x1.f4bfd6p-1,
     0x1.fbd50ap-1,
     0x1.fe767ap-1,
     0x1.ff6f18p-1,
     0x1.ffdfa8p-1,
     0x1.fffbap-1,
     0x1.ffff68p-1,
     0x1.ffffecp-1,
     0x1.fffffep-1,
     0,
     0,
     0,
     0,
     0x1.5f22d2p-4,
     0x1.9e9356p-4,
     0x1.ddd092p-4,
     0x1.1e1ddp-3,
     0x1.5c9308p-3,
     0x1.9a5f1cp-3,
     0x1.d7665cp-3,
     0x1.18a39ap-2,
     0x1.52c2c6p-2,
     0x1.8a87e2p-2,
     0x1.bfae6ap-2,
     0x1.05087p-1,
     0x1.3157ep-1,
     0x1.5789p-1,
     0x1.77d838p-1,
     0x1.9e5cb6p-1,
     0x1.c278a6p-1,
     0x1.d9c6fap-1,
     0x1.e8789ep-1},
    {0x1.856afcp-26,
     -0x1.46126p-27,
     -0x1.458f46p-26,
     -0x1.62a7c8p-27,
     -0x1.bc888cp-26,
     -0x1.a05f24p-26,
     0x1.3fba52p-27,
     -0x1.0eb7e8p-26,
     -0x1.4f4876p-28,
     0,
     0,
     0,
     0,
     -0x1.2659bp-32,
     0x1.f48db8p-30,
     0x1.493e06p-29,
     0x1.57365cp-29,
     -0x1.bb0c72p-28,
     -0x1.899af8p-31,
     0x1.f37704p-28,
     -0x1.94b7bep-30,
     -0x1.3c4f4p-27,
     -0x1.69987ap-27,
     0x1.72e49cp-27,
     -0x1.a1256ap-26,
     -0x1.608e1cp-29,
     -0x1.de5ab6p-26,
     0x1.c680c2p-26,
     -0x1.16debp-27,
     -0x1.ab6468p-26,
     0x1.fcc16cp-26,
     0x1.9d806cp-26},
    {0x1.64108ap-5,
     0x1.09a7a6p-6,
     0x1.88ef68p-8,
     0x1.21a7aep-9,
     0x1.02bec6p-11,
     0x1.1832dap-14,
     0x1.2f5ff6p-17,
     0x1.4875bap-20,
     0x1.14f48ap-23,
     0,
     0,
     0,
     0x1p0,
     0x1.fc3cbep-1,
     0x1.fac13ep-1,
     0x1.f9085ap-1,
     0x1.f601cap-1,
     0x1.f12bp-1,
     0x1.eb715ap-1,
     0x1.e4dfb2p-1,
     0x1.d98b36p-1,
     0x1.c7f724p-1,
     0x1.b3ff2ep-1,
     0x1.9e23aep-1,
     0x1.7aeae6p-1,
     0x1.49e6cp-1,
     0x1.197fcep-1,
     0x1.d834d2p-2,
     0x1.615002p-2,
     0x1.cea744p-3,
     0x1.265e34p-3,
     0x1.6fcfa6p-4},
    {0x1.60e93cp-30,
     -0x1.0b3788p-33,
     -0x1.c037dcp-33,
     0x1.caf9fp-36,
     -0x1.547978p-39,
     -0x1.862cbap-40,
     0x1.6081c2p-43,
     -0x1.a87056p-45,
     -0x1.927c7p-48,
     0,
     0,
     0,
     0x1.08p-46,
     0x1.fe680ep-26,
     0x1.f76d08p-28,
     0x1.397e8p-28,
     0x1.f076bap-26,
     -0x1.fadd9cp-27,
     -0x1.16dd9p-27,
     -0x1.30d28cp-26,
     0x1.b27f3ap-26,
     -0x1.5987f2p-26,
     0x1.994848p-26,
     0x1.dc891cp-30,
     0x1.0228a6p-26,
     -0x1.b573dp-26,
     -0x1.9e29bep-27,
     0x1.6c59cp-27,
     0x1.4c50d2p-27,
     0x1.efde02p-28,
     -0x1.49c8c2p-29,
     0x1.b403f6p-29},
    {-0x1.5c3d8cp-5,
     -0x1.077e0cp-6,
     -0x1.87c168p-8,
     -0x1.2155b6p-9,
     -0x1.02af4p-11,
     -0x1.18316p-14,
     -0x1.2f609cp-17,
     -0x1.4876cp-20,
     -0x1.14f816p-23,
     0,
     0,
     0,
     -0x1.38cc22p-36,
     -0x1.5c8e36p-4,
     -0x1.9a5416p-4,
     -0x1.d75004p-4,
     -0x1.18883cp-3,
     -0x1.5279fep-3,
     -0x1.89e51p-3,
     -0x1.be6cb8p-3,
     -0x1.038f72p-2,
     -0x1.2daf9ap-2,
     -0x1.4ff714p-2,
     -0x1.6a1d3ap-2,
     -0x1.825df8p-2,
     -0x1.897d28p-2,
     -0x1.79c0ep-2,
     -0x1.5aa21cp-2,
     -0x1.1defacp-2,
     -0x1.970e08p-3,
     -0x1.10646ep-3,
     -0x1.5ee892p-4},
    {0x1.bbcccap-6,
     0x1.599776p-7,
     0x1.0399d2p-8,
     0x1.80ed3p-10,
     0x1.58bdf6p-12,
     0x1.7590acp-15,
     0x1.947fc4p-18,
     0x1.b5f36ap-21,
     0x1.714a6p-24,
     0,
     0,
     0,
     -0x1.555556p-2,
     -0x1.4b5adp-2,
     -0x1.477428p-2,
     -0x1.42f17cp-2,
     -0x1.3b134ep-2,
     -0x1.2ea3fcp-2,
     -0x1.202a34p-2,
     -0x1.0fdf04p-2,
     -0x1.e91ee6p-3,
     -0x1.98587ep-3,
     -0x1.4271f2p-3,
     -0x1.d71f64p-4,
     -0x1.bd0aa8p-5,
     0x1.d76d9ep-7,
     0x1.072d04p-4,
     0x1.8434b4p-4,
     0x1.c68cf4p-4,
     0x1.97d6fcp-4,
     0x1.33de7ap-4,
     0x1.a85b92p-5},
    {-0x1.93cd2ap-7,
     -0x1.4e3baap-8,
     -0x1.007704p-9,
     -0x1.7f34e4p-11,
     -0x1.5824fep-13,
     -0x1.753a76p-16,
     -0x1.942e14p-19,
     -0x1.b59cacp-22,
     -0x1.7094bcp-25,
     0,
     0,
     0,
     -0x1.1230aep-22,
     0x1.cb9e18p-5,
     0x1.0d5946p-4,
     0x1.33cb7p-4,
     0x1.6b179ep-4,
     0x1.afb106p-4,
     0x1.ed9006p-4,
     0x1.11f6e8p-3,
     0x1.3316ep-3,
     0x1.50369ap-3,
     0x1.5c35acp-3,
     0x1.5864eap-3,
     0x1.3a4d4ap-3,
     0x1.e98254p-4,
     0x1.4716fap-4,
     0x1.626a36p-5,
     0x1.ac4c2ap-9,
     -0x1.5dd612p-6,
     -0x1.9d2ae8p-6,
     -0x1.55d69p-6},
    {0x1.056b5ep-8,
     0x1.f2f2cep-10,
     0x1.906434p-11,
     0x1.2fd89p-12,
     0x1.12c9f6p-14,
     0x1.2a8434p-17,
     0x1.43589ep-20,
     0x1.5e1a52p-23,
     0x1.26e55p-26,
     0,
     0,
     0,
     0x1.1115ap-3,
     0x1.003abep-3,
     0x1.f36ec6p-4,
     0x1.e4781ap-4,
     0x1.ca9edp-4,
     0x1.a26e6ap-4,
     0x1.74b06p-4,
     0x1.42932p-4,
     0x1.e3e31ep-5,
     0x1.05ad3ap-5,
     0x1.827ac2p-8,
     -0x1.19dbe4p-6,
     -0x1.65e2b8p-5,
     -0x1.f9d8cap-5,
     -0x1.0125bcp-4,
     -0x1.b305bap-5,
     -0x1.05e4cep-5,
     -0x1.338p-7,
     0x1.828ddep-10,
     0x1.2fab2p-8},
    {-0x1.7858b2p-11,
     -0x1.1dfc24p-11,
     -0x1.fea5f8p-13,
     -0x1.9113e2p-14,
     -0x1.7a17d4p-16,
     -0x1.9c7bfcp-19,
     -0x1.bf0c7cp-22,
     -0x1.e4144p-25,
     -0x1.a06a2p-28,
     0,
     0,
     0,
     -0x1.2e82c8p-13,
     -0x1.008b3cp-5,
     -0x1.2ae25p-5,
     -0x1.532744p-5,
     -0x1.8b0bb4p-5,
     -0x1.cc357ap-5,
     -0x1.00a5aap-4,
     -0x1.14ac28p-4,
     -0x1.25de12p-4,
     -0x1.2608fep-4,
     -0x1.0f275ap-4,
     -0x1.cdc3f2p-5,
     -0x1.313becp-5,
     -0x1.7ca0dep-7,
     0x1.d95836p-8,
     0x1.160b54p-6,
     0x1.2ea10ap-6,
     0x1.6785c6p-7,
     0x1.0de75p-8,
     0x1.54e884p-11},
    {-0x1.d0e662p-14,
     0x1.b82c0ap-14,
     0x1.04fa5p-14,
     0x1.b93b8ep-16,
     0x1.abe61ep-18,
     0x1.d663fcp-21,
     0x1.fe5404p-24,
     0x1.145694p-26,
     0x1.db2c8ap-30,
     0,
     0,
     0,
     -0x1.b1e406p-5,
     -0x1.8bc94cp-5,
     -0x1.7a198p-5,
     -0x1.65f39cp-5,
     -0x1.43a87ep-5,
     -0x1.0f5a26p-5,
     -0x1.ab21dp-6,
     -0x1.310b8ep-6,
     -0x1.e0a336p-8,
     0x1.b9ff84p-8,
     0x1.2a3428p-6,
     0x1.ab38ap-6,
     0x1.f696f6p-6,
     0x1.b07716p-6,
     0x1.0b35f8p-6,
     0x1.a10a04p-8,
     -0x1.4ad9eap-9,
     -0x1.372494p-8,
     -0x1.7d8f62p-9,
     -0x1.38bef4p-10},
};

// Reciprocals of so few digits that m times one less 1 is exact, and their logarithms' negatives: a multiple of 2^-17,
// and what that lacks. Entry 19 is for m around 1.
static const float reciprocals[][Entries] = {
    {0x1.7p0,   0x1.68p0,  0x1.6p0,   0x1.58p0, 0x1.5p0,   0x1.48p0,  0x1.4p0,  0x1.38p0,  0x1.38p0, 0x1.3p0,  0x1.28p0,
     0x1.28p0,  0x1.2p0,   0x1.18p0,  0x1.18p0, 0x1.1p0,   0x1.1p0,   0x1.08p0, 0x1p0,     0x1p0,    0x1.fp-1, 0x1.ep-1,
     0x1.d8p-1, 0x1.c8p-1, 0x1.b8p-1, 0x1.bp-1, 0x1.a8p-1, 0x1.98p-1, 0x1.9p-1, 0x1.88p-1, 0x1.8p-1, 0x1.78p-1},
    {-0x1.739ep-2,
     -0x1.5d1cp-2,
     -0x1.4618p-2,
     -0x1.2e8ep-2,
     -0x1.1676p-2,
     -0x1.fb9p-3,
     -0x1.c9p-3,
     -0x1.9524p-3,
     -0x1.9524p-3,
     -0x1.5ff4p-3,
     -0x1.2954p-3,
     -0x1.2954p-3,
     -0x1.e27p-4,
     -0x1.6f1p-4,
     -0x1.6f1p-4,
     -0x1.f0ap-5,
     -0x1.f0ap-5,
     -0x1.f82p-6,
     0,
     0,
     0x1.041p-5,
     0x1.0858p-4,
     0x1.4d3p-4,
     0x1.da7p-4,
     0x1.366p-3,
     0x1.5bf4p-3,
     0x1.823cp-3,
     0x1.d104p-3,
     0x1.f99p-3,
     0x1.1178p-2,
     0x1.2696p-2,
     0x1.3c26p-2},
    {0x1.012886p-19,
     0x1.2053fcp-21,
     -0x1.78438cp-19,
     -0x1.5d708ep-21,
     0x1.aa2a2cp-21,
     -0x1.86d5e4p-19,
     0x1.070cacp-20,
     -0x1.a9cf46p-19,
     -0x1.a9cf46p-19,
     0x1.f1eb0ep-20,
     -0x1.2f82p-19,
     -0x1.2f82p-19,
     -0x1.db8abcp-22,
     0x1.6ba8d4p-19,
     0x1.6ba8d4p-19,
     -0x1.86008cp-20,
     -0x1.86008cp-20,
     -0x1.361cfp-19,
     0,
     0,
     0x1.76279ep-19,
     0x1.8b59e4p-20,
     0x1.15d208p-20,
     0x1.3b1c22p-19,
     -0x1.a7f538p-22,
     0x1.ad50f6p-25,
     0x1.6551a4p-23,
     -0x1.01b354p-20,
     0x1.c6cb3cp-19,
     0x1.d044fcp-19,
     0x1.089a6ep-21,
     -0x1.b1199ap-19},
};
// log(1 + r) = r - r^2 / 2 + r^3 q(r).
static const double logarithm[] = {0x1.555554p-2, -0x1.fffffcp-3, 0x1.99d3eep-3, -0x1.5594a4p-3};

#define LENGTH(table) ((intptr_t)(sizeof(table) / sizeof *(table)))

//===--- sums -----------------------------------------------------------------===//

// A sum of two numbers, the first one larger or 0, and what its rounding lost.
typedef struct Pair {
  MlirValue high, low;
} Pair;

static Pair sumOf(TileLanes *lanes, MlirValue a, MlirValue b) {
  MlirValue sum = tileLanesAdd(lanes, a, b);
  return (Pair){sum, tileLanesSub(lanes, b, tileLanesSub(lanes, sum, a))};
}

static Pair productOf(TileLanes *lanes, MlirValue a, MlirValue b) {
  MlirValue product = tileLanesMul(lanes, a, b);
  MlirValue negative = tileLanesMul(lanes, tileLanesFloat(lanes, -1), product);
  return (Pair){product, tileLanesFma(lanes, a, b, negative)};
}

//===--- odd functions --------------------------------------------------------===//

// The polynomial of the interval in d; `count` rows of `table`.
static MlirValue polynomialAt(TileLanes *lanes, MlirValue index, MlirValue d, const float table[][Entries],
                              intptr_t count) {
  MlirValue rest = tileLanesLookUp(lanes, index, table[count - 1]);
  for (intptr_t i = count - 2; i >= 4; --i)
    rest = tileLanesFma(lanes, rest, d, tileLanesLookUp(lanes, index, table[i]));
  Pair linear = productOf(lanes, d, tileLanesLookUp(lanes, index, table[2]));
  Pair sum = sumOf(lanes, tileLanesLookUp(lanes, index, table[0]), linear.high);
  MlirValue low =
      tileLanesFma(lanes, d, tileLanesLookUp(lanes, index, table[3]), tileLanesLookUp(lanes, index, table[1]));
  low = tileLanesFma(lanes, tileLanesMul(lanes, d, d), rest, tileLanesAdd(lanes, low, linear.low));
  return tileLanesAdd(lanes, sum.high, tileLanesAdd(lanes, sum.low, low));
}

static MlirValue withSignOf(TileLanes *lanes, MlirValue magnitude, MlirValue x) {
  MlirValue sign = tileLanesOnInteger(lanes, ArithOp_AndI, tileLanesBits(lanes, x), INT32_MIN);
  return tileLanesFromBits(lanes, tileLanesOnIntegers(lanes, ArithOp_OrI, tileLanesBits(lanes, magnitude), sign));
}

// |x|, at most `most`; NaN stays NaN.
static MlirValue magnitude(TileLanes *lanes, MlirValue x, double most) {
  MlirValue limit = tileLanesFloat(lanes, most), size = tileLanesAbs(lanes, x);
  return tileLanesSelect(lanes, tileLanesIs(lanes, size, ArithCmpF_Ogt, limit), limit, size);
}

// tanh 9.1 rounds to 1.
MlirValue tileExpandTableTanh(TileLanes *lanes, const MlirValue *x) {
  enum { BelowTwoBitsOfFraction = 21 };
  MlirValue size = magnitude(lanes, *x, 9.1), least = tileLanesFloat(lanes, 0x1p-4);
  MlirValue inside = tileLanesSelect(lanes, tileLanesIs(lanes, size, ArithCmpF_Olt, least), least, size);
  MlirValue index = tileLanesOnInteger(lanes, ArithOp_ShRUI, tileLanesBits(lanes, inside), BelowTwoBitsOfFraction);
  MlirValue d = tileLanesSub(lanes, size, tileLanesLookUp(lanes, index, tangentTerms[0]));
  MlirValue y = polynomialAt(lanes, index, d, tangentTerms + 1, LENGTH(tangentTerms) - 1);
  return withSignOf(lanes, y, *x);
}

//===--- lanes that f32 is too narrow for -------------------------------------===//

typedef MlirValue (*Correction)(TileLanes *lanes, MlirValue x, MlirValue isInside, MlirValue y);

// y, corrected where a lane is not inside. The branch is seldom taken and small: constants of a large one would take
// the registers of the tables.
static MlirValue correct(TileLanes *lanes, MlirValue x, MlirValue isInside, MlirValue y, Correction correction) {
  TileBuilder *builder = &lanes->builder;
  MlirType bit = mlirIntegerTypeGet(builder->context, 1), type = mlirValueGetType(x);
  MlirValue none = {NULL}, areInside = vectorReductionOpBuild(builder, bit, isInside, none, VectorCombiningKind_And);
  MlirRegion then, otherwise;
  TileBuilder nothing = tileBuilderInRegion(builder, &then, 0, NULL);
  TileLanes outside = *lanes;
  outside.builder = tileBuilderInRegion(builder, &otherwise, 0, NULL);
  tileBuildYield(&nothing, 1, &y);
  MlirValue corrected = correction(&outside, x, isInside, y);
  tileBuildYield(&outside.builder, 1, &corrected);
  return tileOnlyResult(scfIfOpBuild(builder, 1, &type, areInside, then, otherwise));
}

static MlirValue widened(TileLanes *wide, MlirValue x) { return arithExtFOpBuild(&wide->builder, wide->real, x); }

//===--- erf ------------------------------------------------------------------===//

// erf x of tiny numbers: what rounding loses of a product may be no f32.
static MlirValue tinyError(TileLanes *lanes, MlirValue x, MlirValue isInside, MlirValue y) {
  static const double slope = 0x1.20dd750429b6dp+0; // 2 / sqrt(pi)
  TileLanes wide = tileLanesOf(lanes->builder, mlirValueGetType(x));
  MlirValue product = tileLanesMul(&wide, widened(&wide, x), tileLanesFloat(&wide, slope));
  return tileLanesSelect(lanes, isInside, y, arithTruncFOpBuild(&wide.builder, lanes->real, product));
}

// The sum with 1.5 * 2^20 has |x| in eighths in its low bits. erf 3.93 rounds to 1. 0 is not tiny: its bits less 1 are
// the largest number.
MlirValue tileExpandTableErf(TileLanes *lanes, const MlirValue *x) {
  enum { BitsOfTiny = 0x0d800000 }; // 2^-100
  MlirValue size = magnitude(lanes, *x, 3.93), shift = tileLanesFloat(lanes, 0x1.8p20);
  MlirValue shifted = tileLanesAdd(lanes, size, shift);
  MlirValue d = tileLanesSub(lanes, size, tileLanesSub(lanes, shifted, shift));
  MlirValue y = polynomialAt(lanes, tileLanesBits(lanes, shifted), d, errorTerms, LENGTH(errorTerms));
  MlirValue before = tileLanesOnInteger(lanes, ArithOp_SubI, tileLanesBits(lanes, tileLanesAbs(lanes, *x)), 1);
  MlirValue isInside =
      arithCmpIOpBuild(&lanes->builder, before, tileLanesInteger(lanes, BitsOfTiny - 1), ArithCmpI_Uge);
  return correct(lanes, *x, isInside, withSignOf(lanes, y, *x), tinyError);
}

//===--- exp ------------------------------------------------------------------===//

// 2^(j/32) e^(r + lowR), j in the low bits of `index`.
static Pair powerAt(TileLanes *lanes, MlirValue index, MlirValue r, MlirValue lowR) {
  MlirValue power = tileLanesLookUp(lanes, index, powersOfTwo[0]);
  Pair linear = productOf(lanes, power, r), sum = sumOf(lanes, power, linear.high);
  MlirValue low = tileLanesAdd(lanes, tileLanesLookUp(lanes, index, powersOfTwo[1]), linear.low);
  MlirValue half = tileLanesFma(lanes, r, tileLanesFloat(lanes, 0x1.555568p-3), tileLanesFloat(lanes, 0x1.00008ap-1));
  low = tileLanesFma(lanes, tileLanesMul(lanes, linear.high, r), half, low);
  low = tileLanesFma(lanes, sum.high, lowR, low);
  sum.low = tileLanesAdd(lanes, sum.low, low);
  return sum;
}

// The integer nearest to x factor, and a sum that has it in its low bits, below bits of 1.5 * 2^23.
static MlirValue nearestInteger(TileLanes *lanes, MlirValue x, double factor, MlirValue *shifted) {
  MlirValue shift = tileLanesFloat(lanes, 0x1.8p23), sum = tileLanesFma(lanes, x, tileLanesFloat(lanes, factor), shift);
  *shifted = tileLanesBits(lanes, sum);
  return tileLanesSub(lanes, sum, shift);
}

// f(x) = sum 2^k, where `shifted` is 32 k + j and a constant whose low bits are 0.
typedef Pair (*Scaled)(TileLanes *lanes, MlirValue x, MlirValue *shifted);

// x = (32 k + j) ln 2 / 32 + r, ln 2 / 32 in two parts: what the first one leaves of x is exact.
static Pair scaledExponential(TileLanes *lanes, MlirValue x, MlirValue *shifted) {
  MlirValue number = nearestInteger(lanes, x, 0x1.715476p+5, shifted);
  MlirValue r = tileLanesFma(lanes, number, tileLanesFloat(lanes, -0x1.62e43p-6), x);
  return powerAt(lanes, *shifted, r, tileLanesMul(lanes, number, tileLanesFloat(lanes, 0x1.05c61p-34)));
}

// x = k + j / 32 + d, and 2^d = e^(d ln 2), the product a pair.
static Pair scaledPower(TileLanes *lanes, MlirValue x, MlirValue *shifted) {
  MlirValue number = nearestInteger(lanes, x, 32, shifted);
  MlirValue d = tileLanesFma(lanes, number, tileLanesFloat(lanes, -0x1p-5), x);
  Pair r = productOf(lanes, d, tileLanesFloat(lanes, 0x1.62e43p-1));
  return powerAt(lanes, *shifted, r.high, tileLanesFma(lanes, d, tileLanesFloat(lanes, -0x1.05c61p-29), r.low));
}

// The sum and the power of two in f64, rounded once: to a subnormal number, 0 or infinity.
static MlirValue roundedOnce(TileLanes *lanes, MlirValue x, double least, double most, Scaled scaled) {
  enum { BitsOfShift = 0x4b400000, IndexBits = 5, Bias = 1023, FractionBits = 52 };
  TileLanes wide = tileLanesOf(lanes->builder, mlirValueGetType(x));
  MlirValue shifted;
  Pair sum = scaled(lanes, tileLanesClamp(lanes, x, least, most), &shifted);
  MlirValue k = tileLanesOnInteger(lanes, ArithOp_SubI, shifted, BitsOfShift);
  k = tileLanesOnInteger(lanes, ArithOp_ShRSI, k, IndexBits);
  k = tileLanesOnInteger(&wide, ArithOp_AddI, arithExtSIOpBuild(&wide.builder, wide.bits, k), Bias);
  MlirValue power = tileLanesFromBits(&wide, tileLanesOnInteger(&wide, ArithOp_ShLI, k, FractionBits));
  MlirValue value = tileLanesAdd(&wide, widened(&wide, sum.high), widened(&wide, sum.low));
  return arithTruncFOpBuild(&wide.builder, lanes->real, tileLanesMul(&wide, value, power));
}

static MlirValue anyExponential(TileLanes *lanes, MlirValue x, MlirValue isInside, MlirValue y) {
  return roundedOnce(lanes, x, -110, 100, scaledExponential);
}

static MlirValue anyPower(TileLanes *lanes, MlirValue x, MlirValue isInside, MlirValue y) {
  return roundedOnce(lanes, x, -160, 140, scaledPower);
}

// Results of |x| below `most` are normal numbers.
static MlirValue expandPower(TileLanes *lanes, MlirValue x, double most, Scaled scaled, Correction correction) {
  enum { FractionBits = 23, IndexBits = 5 };
  MlirValue shifted, isInside = tileLanesIs(lanes, tileLanesAbs(lanes, x), ArithCmpF_Olt, tileLanesFloat(lanes, most));
  Pair sum = scaled(lanes, x, &shifted);
  MlirValue exponent = tileLanesOnInteger(lanes, ArithOp_ShRUI, shifted, IndexBits);
  exponent = tileLanesOnInteger(lanes, ArithOp_ShLI, exponent, FractionBits);
  MlirValue bits = tileLanesBits(lanes, tileLanesAdd(lanes, sum.high, sum.low));
  MlirValue y = tileLanesFromBits(lanes, tileLanesOnIntegers(lanes, ArithOp_AddI, bits, exponent));
  return correct(lanes, x, isInside, y, correction);
}

MlirValue tileExpandTableExp(TileLanes *lanes, const MlirValue *x) {
  return expandPower(lanes, *x, 87, scaledExponential, anyExponential);
}

MlirValue tileExpandTableExp2(TileLanes *lanes, const MlirValue *x) {
  return expandPower(lanes, *x, 126, scaledPower, anyPower);
}

//===--- log ------------------------------------------------------------------===//

// Zeros, subnormal and negative numbers, infinities and nan.
static MlirValue anyLogarithm(TileLanes *lanes, MlirValue x, MlirValue isInside, MlirValue y) {
  TileLanes wide = tileLanesOf(lanes->builder, mlirValueGetType(x));
  MlirValue operand = widened(&wide, x);
  return arithTruncFOpBuild(&wide.builder, lanes->real, tileExpandLog(&wide, &operand));
}

// x = 2^k m, and log m = log(1 + r) - log c where r = m c - 1. Multiples of 2^-17, as ln 2 is in two parts, add up
// exactly.
MlirValue tileExpandTableLog(TileLanes *lanes, const MlirValue *x) {
  enum { FractionBits = 23, IndexBits = 5, One = 0x3f800000, BitsOfEntry = 1 << (FractionBits - IndexBits) };
  enum { Least = One - 19 * BitsOfEntry - BitsOfEntry / 2, LeastNormal = 1 << FractionBits, Normals = 0x7f000000 };
  MlirValue bits = tileLanesBits(lanes, *x), half = tileLanesFloat(lanes, -0.5);
  MlirValue distance = tileLanesOnInteger(lanes, ArithOp_SubI, bits, Least);
  MlirValue k = tileLanesOnInteger(lanes, ArithOp_ShRSI, distance, FractionBits);
  MlirValue index = tileLanesOnInteger(lanes, ArithOp_ShRUI, distance, FractionBits - IndexBits);
  MlirValue exponent = tileLanesOnInteger(lanes, ArithOp_ShLI, k, FractionBits);
  MlirValue m = tileLanesFromBits(lanes, tileLanesOnIntegers(lanes, ArithOp_SubI, bits, exponent));
  MlirValue r = tileLanesFma(lanes, m, tileLanesLookUp(lanes, index, reciprocals[0]), tileLanesFloat(lanes, -1));
  k = tileLanesToFloat(lanes, k);
  MlirValue exact =
      tileLanesFma(lanes, k, tileLanesFloat(lanes, 0x1.62e4p-1), tileLanesLookUp(lanes, index, reciprocals[1]));
  MlirValue low =
      tileLanesFma(lanes, k, tileLanesFloat(lanes, 0x1.7f7d1cp-20), tileLanesLookUp(lanes, index, reciprocals[2]));
  Pair sum = sumOf(lanes, exact, r), square = productOf(lanes, r, r);
  MlirValue less = tileLanesFma(lanes, square.high, half, sum.high);
  MlirValue lost = tileLanesFma(lanes, square.high, half, tileLanesSub(lanes, sum.high, less));
  MlirValue q = tileLanesPolynomial(lanes, r, LENGTH(logarithm), logarithm);
  low = tileLanesFma(lanes, square.low, half, low);
  low = tileLanesFma(lanes, tileLanesMul(lanes, square.high, r), q, low);
  MlirValue y = tileLanesAdd(lanes, less, tileLanesAdd(lanes, tileLanesAdd(lanes, sum.low, lost), low));
  MlirValue isInside = arithCmpIOpBuild(&lanes->builder, tileLanesOnInteger(lanes, ArithOp_SubI, bits, LeastNormal),
                                        tileLanesInteger(lanes, Normals), ArithCmpI_Ult);
  return correct(lanes, *x, isInside, y, anyLogarithm);
}
