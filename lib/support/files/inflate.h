// inflate.h - deflated bytes (RFC 1951) back to what they were; and the check sum that zip files keep (CRC-32).
// Why our own: tile-exec runs where there is no zlib. About 150 MB/s: enough for arguments.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Writes the inflated bytes to |out|. True if the input is one whole deflate stream of exactly |size| bytes.
bool tessera_inflate(const void *bytes, size_t length, void *out, size_t size);

// The check sum of earlier bytes, whose sum is |crc| (0 at first), followed by these bytes.
uint32_t tessera_crc32(uint32_t crc, const void *bytes, size_t length);
