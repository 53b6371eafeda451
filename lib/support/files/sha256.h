// sha256.h - SHA-256 (FIPS 180-4): a name for bytes that no other bytes have. For keys of caches.
//
//   tessera_sha256_t hash = tessera_sha256_start();
//   tessera_sha256_add(&hash, bytes, size);           // as often as wanted
//   char text[TESSERA_SHA256_TEXT];
//   tessera_sha256_end(&hash, text);                  // 64 digits and a zero
//
// Cost: some 10 cycles a byte.
#pragma once

#include <stddef.h>
#include <stdint.h>

enum { TESSERA_SHA256_TEXT = 65 };

typedef struct tessera_sha256_t {
  uint32_t state[8];
  uint64_t size;           // in bytes
  unsigned char block[64]; // its first size % 64 bytes wait
} tessera_sha256_t;

tessera_sha256_t tessera_sha256_start(void);
void tessera_sha256_add(tessera_sha256_t *hash, const void *bytes, size_t size);
// Writes the digits in lower case. The hash takes no more bytes afterwards.
void tessera_sha256_end(tessera_sha256_t *hash, char out_text[TESSERA_SHA256_TEXT]);
