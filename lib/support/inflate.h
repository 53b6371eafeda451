// inflate.h - deflated bytes (RFC 1951) back to what they were; and the check sum that zip files keep (CRC-32).
// Why our own: tile-exec runs where there is no zlib. About 150 MB/s: enough for arguments.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Are the bytes a whole deflate stream of exactly |size| bytes? Writes them to |out|.
bool tessera_inflate(const void *bytes, size_t length, void *out, size_t size);

// Of |crc|, that of what came before (0 at first), and the bytes after it.
uint32_t tessera_crc32(uint32_t crc, const void *bytes, size_t length);
