// tcgen05.mma: see tcgen05.h. Factors lie as wgmma's do; only the codes of the swizzles differ.
#include "lib/emulator/lanes/tcgen05.h"

static uint32_t field(uint64_t bits, int from, int to) {
  return (uint32_t)(bits >> from & ((UINT64_C(1) << (to - from)) - 1));
}

// Types by kind and code. TESSERA_LANE_COUNT: none, or one the emulator does not know.
static tessera_lane_type_t type_of(tessera_tcgen05_kind_t kind, uint32_t code) {
  static const tessera_lane_type_t types[][3] = {
      [TESSERA_TCGEN05_F16] = {TESSERA_LANE_F16, TESSERA_LANE_BF16, TESSERA_LANE_COUNT},
      [TESSERA_TCGEN05_TF32] = {TESSERA_LANE_COUNT, TESSERA_LANE_COUNT, TESSERA_LANE_TF32},
      [TESSERA_TCGEN05_F8] = {TESSERA_LANE_E4M3, TESSERA_LANE_E5M2, TESSERA_LANE_COUNT},
      [TESSERA_TCGEN05_I8] = {TESSERA_LANE_U8, TESSERA_LANE_S8, TESSERA_LANE_COUNT},
  };
  return code < 3 ? types[kind][code] : TESSERA_LANE_COUNT;
}

static bool is_shape(int m, int n) {
  return (m == 128 && n >= 16 && n <= 256 && n % 16 == 0) || (m == 64 && n >= 8 && n <= 256 && n % 8 == 0);
}

bool tessera_tcgen05_read(tessera_tcgen05_kind_t kind, uint32_t word, tessera_tcgen05_t *out, tessera_error_t *error) {
  tessera_lane_type_t a = type_of(kind, field(word, 7, 10)), b = type_of(kind, field(word, 10, 13));
  uint32_t sums = field(word, 4, 6), wanted = kind == TESSERA_TCGEN05_I8 ? 2 : 1;
  if (field(word, 0, 3) || field(word, 6, 7) || field(word, 23, 24) || field(word, 29, 32))
    return tessera_fail(error,
                        "tcgen05.mma by the instruction descriptor 0x%08x, whose sparsity or shift the emulator "
                        "does not know",
                        word);
  if (a == TESSERA_LANE_COUNT || b == TESSERA_LANE_COUNT || sums != wanted)
    return tessera_fail(
        error, "tcgen05.mma by the instruction descriptor 0x%08x, whose types the emulator does not know", word);
  *out = (tessera_tcgen05_t){
      .m = (int)field(word, 24, 29) * 16,
      .of = {.n = (int)field(word, 17, 23) * 8,
             .k = TESSERA_WGMMA_DEPTH_BYTES * 8 / tessera_lane_type_bits(a),
             .a = a,
             .b = b,
             .d = kind == TESSERA_TCGEN05_I8 ? TESSERA_LANE_S32 : TESSERA_LANE_F32,
             .a_is_column = field(word, 15, 16),
             .b_is_row = field(word, 16, 17),
             .a_negated = field(word, 13, 14),
             .b_negated = field(word, 14, 15),
             .saturate = field(word, 3, 4)},
  };
  if (!is_shape(out->m, out->of.n))
    return tessera_fail(error, "there is no tcgen05.mma of %d x %d", out->m, out->of.n);
  return tessera_wgmma_check(&out->of, error);
}

uint32_t tessera_tcgen05_places(uint64_t descriptor, bool along_rows, int rows, uint32_t *places,
                                tessera_error_t *error) {
  static const struct {
    uint32_t own, wgmmas;
  } swizzles[] = {{0, 0}, {2, 1}, {4, 2}, {6, 3}};
  uint32_t swizzle = (uint32_t)(descriptor >> 61);
  if (field(descriptor, 46, 48) != 1 || field(descriptor, 49, 53)) {
    tessera_fail(error, "tcgen05.mma by a matrix descriptor 0x%016llx whose version is not 1, or with a base offset",
                 (unsigned long long)descriptor);
    return 0;
  }
  for (size_t i = 0; i < sizeof swizzles / sizeof *swizzles; ++i)
    if (swizzles[i].own == swizzle) {
      uint64_t rest = descriptor & ((UINT64_C(1) << 46) - 1);
      return tessera_wgmma_places(rest | (uint64_t)swizzles[i].wgmmas << 62, along_rows, 0, rows, places, error);
    }
  tessera_fail(error, "tcgen05.mma by a matrix descriptor of swizzle %u, which the emulator does not know", swizzle);
  return 0;
}
