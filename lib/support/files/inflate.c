// inflate.c - the three kinds of blocks of RFC 1951, by canonical codes decoded bit by bit. See inflate.h.
// Expects: any bytes. Leaves: |out| partly written when they are wrong; never a write or read past either end.
#include "lib/support/files/inflate.h"

#include <string.h>

enum { MOST_BITS = 15, LITERALS = 288, DISTANCES = 30, END_OF_BLOCK = 256 };

typedef struct stream_t {
  const uint8_t *in, *in_end;
  uint8_t *out, *out_start, *out_end;
  uint32_t bits; // not yet used, lowest first
  int count;
  bool bad;
} stream_t;

// Symbols in the order of their codes, and how many codes there are of each length.
typedef struct code_t {
  uint16_t count[MOST_BITS + 1], symbol[LITERALS];
} code_t;

static uint32_t take_bits(stream_t *stream, int count) {
  while (stream->count < count) {
    if (stream->in == stream->in_end) {
      stream->bad = true;
      return 0;
    }
    stream->bits |= (uint32_t)*stream->in++ << stream->count;
    stream->count += 8;
  }
  uint32_t value = stream->bits & ((UINT32_C(1) << count) - 1);
  stream->bits >>= count;
  stream->count -= count;
  return value;
}

// False when the lengths make no code: more codes than bits can tell apart.
static bool make_code(code_t *code, const uint8_t *lengths, int symbols) {
  uint16_t offset[MOST_BITS + 1];
  memset(code->count, 0, sizeof code->count);
  for (int i = 0; i < symbols; ++i)
    ++code->count[lengths[i]];
  int left = 1;
  for (int length = 1; length <= MOST_BITS; ++length) {
    left = 2 * left - code->count[length];
    if (left < 0)
      return false;
  }
  offset[1] = 0;
  for (int length = 1; length < MOST_BITS; ++length)
    offset[length + 1] = (uint16_t)(offset[length] + code->count[length]);
  for (int i = 0; i < symbols; ++i)
    if (lengths[i])
      code->symbol[offset[lengths[i]]++] = (uint16_t)i;
  code->count[0] = 0;
  return true;
}

static int take_symbol(stream_t *stream, const code_t *code) {
  int value = 0, first = 0, index = 0;
  for (int length = 1; length <= MOST_BITS && !stream->bad; ++length) {
    value |= (int)take_bits(stream, 1);
    int count = code->count[length];
    if (value - count < first)
      return code->symbol[index + (value - first)];
    index += count;
    first = (first + count) << 1;
    value <<= 1;
  }
  stream->bad = true;
  return END_OF_BLOCK;
}

static void copy_stored(stream_t *stream) {
  stream->bits = 0;
  stream->count = 0;
  if (stream->in_end - stream->in < 4) {
    stream->bad = true;
    return;
  }
  const uint8_t *in = stream->in;
  size_t length = (size_t)(in[0] | in[1] << 8), inverse = (size_t)(in[2] | in[3] << 8);
  stream->in += 4;
  if (length + inverse != 0xffff || length > (size_t)(stream->in_end - stream->in) ||
      length > (size_t)(stream->out_end - stream->out)) {
    stream->bad = true;
    return;
  }
  memcpy(stream->out, stream->in, length);
  stream->in += length;
  stream->out += length;
}

static void copy_from_before(stream_t *stream, size_t length, size_t distance) {
  if (stream->bad || distance > (size_t)(stream->out - stream->out_start) ||
      length > (size_t)(stream->out_end - stream->out)) {
    stream->bad = true;
    return;
  }
  for (; length; --length, ++stream->out) // may overlap: what is written is read again
    *stream->out = *(stream->out - distance);
}

static void copy_match(stream_t *stream, int symbol, const code_t *distances) {
  static const uint16_t length_base[] = {3,  4,  5,  6,  7,  8,  9,  10, 11,  13,  15,  17,  19,  23, 27,
                                         31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258};
  static const uint8_t length_bits[] = {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2,
                                        2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0};
  static const uint16_t distance_base[] = {1,    2,    3,    4,    5,    7,    9,    13,    17,    25,
                                           33,   49,   65,   97,   129,  193,  257,  385,   513,   769,
                                           1025, 1537, 2049, 3073, 4097, 6145, 8193, 12289, 16385, 24577};
  int kind = symbol - END_OF_BLOCK - 1;
  if (kind > 28) {
    stream->bad = true;
    return;
  }
  size_t length = length_base[kind] + take_bits(stream, length_bits[kind]);
  int far = take_symbol(stream, distances);
  if (stream->bad || far >= DISTANCES) {
    stream->bad = true;
    return;
  }
  size_t distance = distance_base[far] + take_bits(stream, far < 2 ? 0 : far / 2 - 1);
  copy_from_before(stream, length, distance);
}

static void take_block(stream_t *stream, const code_t *literals, const code_t *distances) {
  for (;;) {
    int symbol = take_symbol(stream, literals);
    if (stream->bad || symbol == END_OF_BLOCK)
      return;
    if (symbol > END_OF_BLOCK)
      copy_match(stream, symbol, distances);
    else if (stream->out < stream->out_end)
      *stream->out++ = (uint8_t)symbol;
    else
      stream->bad = true;
  }
}

static void take_fixed_block(stream_t *stream) {
  uint8_t lengths[LITERALS + DISTANCES];
  code_t literals, distances;
  for (int i = 0; i < LITERALS; ++i)
    lengths[i] = i < 144 ? 8 : i < 256 ? 9 : i < 280 ? 7 : 8;
  memset(lengths + LITERALS, 5, DISTANCES);
  make_code(&literals, lengths, LITERALS);
  make_code(&distances, lengths + LITERALS, DISTANCES);
  take_block(stream, &literals, &distances);
}

// Lengths of both codes, themselves coded: 0 to 15 is a length, 16 repeats the last, 17 and 18 repeat 0.
static void take_lengths(stream_t *stream, const code_t *code, uint8_t *lengths, int count) {
  for (int at = 0; at < count && !stream->bad;) {
    int symbol = take_symbol(stream, code), times = 1;
    uint8_t length = (uint8_t)symbol;
    if (symbol > 15) {
      length = symbol == 16 && at ? lengths[at - 1] : 0;
      stream->bad = stream->bad || (symbol == 16 && !at);
      times = symbol == 18 ? 11 + (int)take_bits(stream, 7) : 3 + (int)take_bits(stream, symbol == 16 ? 2 : 3);
    }
    if (times > count - at)
      stream->bad = true;
    for (; times && !stream->bad; --times)
      lengths[at++] = length;
  }
}

static void take_dynamic_block(stream_t *stream) {
  static const uint8_t order[] = {16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15};
  uint8_t lengths[LITERALS + 32 + 2] = {0};
  code_t code, literals, distances;
  int num_literals = (int)take_bits(stream, 5) + 257, num_distances = (int)take_bits(stream, 5) + 1;
  int num_lengths = (int)take_bits(stream, 4) + 4;
  for (int i = 0; i < num_lengths; ++i)
    lengths[order[i]] = (uint8_t)take_bits(stream, 3);
  if (stream->bad || num_literals > 286 || num_distances > DISTANCES || !make_code(&code, lengths, 19)) {
    stream->bad = true;
    return;
  }
  memset(lengths, 0, sizeof lengths);
  take_lengths(stream, &code, lengths, num_literals + num_distances);
  if (stream->bad || !make_code(&literals, lengths, num_literals) ||
      !make_code(&distances, lengths + num_literals, num_distances)) {
    stream->bad = true;
    return;
  }
  take_block(stream, &literals, &distances);
}

bool tessera_inflate(const void *bytes, size_t length, void *out, size_t size) {
  stream_t stream = {bytes, (const uint8_t *)bytes + length, out, out, (uint8_t *)out + size, 0, 0, false};
  for (bool last = false; !last && !stream.bad;) {
    last = take_bits(&stream, 1);
    switch (take_bits(&stream, 2)) {
    case 0:
      copy_stored(&stream);
      break;
    case 1:
      take_fixed_block(&stream);
      break;
    case 2:
      take_dynamic_block(&stream);
      break;
    default:
      stream.bad = true;
    }
  }
  return !stream.bad && stream.out == stream.out_end;
}

uint32_t tessera_crc32(uint32_t crc, const void *bytes, size_t length) {
  uint32_t table[256];
  for (uint32_t i = 0; i < 256; ++i) {
    table[i] = i;
    for (int k = 0; k < 8; ++k)
      table[i] = table[i] >> 1 ^ (table[i] & 1 ? UINT32_C(0xedb88320) : 0);
  }
  crc = ~crc;
  for (const uint8_t *at = bytes, *end = at + length; at < end; ++at)
    crc = crc >> 8 ^ table[(crc ^ *at) & 0xff];
  return ~crc;
}
