// The table of float formats (float_format.h).
#include "lib/ir/float_format.h"

#include "mlir-c/BuiltinTypes.h"

static const struct {
  bool (*is)(MlirType type);
  TileFloatFormat format;
} formats[] = {
    {mlirTypeIsAF64, {64, 52, -1022, 0x1.fffffffffffffp1023, TileFloat_Ieee}},
    {mlirTypeIsAF32, {32, 23, -126, 0x1.fffffep127, TileFloat_Ieee}},
    {mlirTypeIsAF16, {16, 10, -14, 65504, TileFloat_Ieee}},
    {mlirTypeIsABF16, {16, 7, -126, 0x1.fep127, TileFloat_Ieee}},
    {mlirTypeIsAFloat8E5M2, {8, 2, -14, 57344, TileFloat_Ieee}},
    {mlirTypeIsAFloat8E4M3FN, {8, 3, -6, 448, TileFloat_NanOnly}},
    {mlirTypeIsAFloat8E5M2FNUZ, {8, 2, -15, 57344, TileFloat_NanAtMinus}},
    {mlirTypeIsAFloat8E4M3FNUZ, {8, 3, -7, 240, TileFloat_NanAtMinus}},
    {mlirTypeIsAFloat6E2M3FN, {6, 3, 0, 7.5, TileFloat_None}},
    {mlirTypeIsAFloat6E3M2FN, {6, 2, -2, 28, TileFloat_None}},
    {mlirTypeIsAFloat4E2M1FN, {4, 1, 0, 6, TileFloat_None}},
    {mlirTypeIsAFloat8E8M0FNU, {8, 0, -127, 0x1p127, TileFloat_Scale}},
};

bool tileFloatFormatOf(MlirType type, TileFloatFormat *out) {
  for (size_t i = 0; i < sizeof formats / sizeof *formats; ++i)
    if (formats[i].is(type)) {
      *out = formats[i].format;
      return true;
    }
  return false;
}

TileFloatFormat tileFloatFormatGet(MlirType type) {
  TileFloatFormat format = {0};
  tileFloatFormatOf(type, &format);
  return format;
}
