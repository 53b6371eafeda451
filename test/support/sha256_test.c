// sha256_test.c - SHA-256 of the standard's examples, in pieces of any size.
#include "lib/support/files/sha256.h"

#include "test/check.h"

static const char *hash_of(const void *bytes, size_t size, size_t piece) {
  static char text[TESSERA_SHA256_TEXT];
  tessera_sha256_t hash = tessera_sha256_start();
  for (size_t at = 0; at < size; at += piece)
    tessera_sha256_add(&hash, (const char *)bytes + at, size - at < piece ? size - at : piece);
  tessera_sha256_end(&hash, text);
  return text;
}

static void expect(const void *bytes, size_t size, const char *wanted) {
  for (size_t piece = 1; piece <= 130; ++piece)
    CHECK(!strcmp(hash_of(bytes, size, piece), wanted), "%zu bytes by %zu: %s", size, piece,
          hash_of(bytes, size, piece));
}

int main(void) {
  static const char two[] = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
  static char many[1000];
  memset(many, 'a', sizeof many);
  expect("", 0, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  expect("abc", 3, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  expect(two, sizeof two - 1, "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  // The lengths around which padding takes another block, by Python's hashlib.
  static const struct {
    size_t size;
    const char *wanted;
  } lengths[] = {{54, "a3f01b6939256127582ac8ae9fb47a382a244680806a3f613a118851c1ca1d47"},
                 {55, "9f4390f8d30c2dd92ec9f095b65e2b9ae9b0a925a5258e241c9f1e910f734318"},
                 {56, "b35439a4ac6f0948b6d6f9e3c6af0f5f590ce20f1bde7090ef7970686ec6738a"},
                 {57, "f13b2d724659eb3bf47f2dd6af1accc87b81f09f59f2b75e5c0bed6589dfe8c6"},
                 {63, "7d3e74a05d7db15bce4ad9ec0658ea98e3f06eeecf16b4c6fff2da457ddc2f34"},
                 {64, "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb"},
                 {65, "635361c48bb9eab14198e76ea8ab7f1a41685d6ad62aa9146d301d4f17eb0ae0"}};
  for (size_t i = 0; i < sizeof lengths / sizeof *lengths; ++i)
    expect(many, lengths[i].size, lengths[i].wanted);
  tessera_sha256_t million = tessera_sha256_start();
  char text[TESSERA_SHA256_TEXT];
  for (int i = 0; i < 1000; ++i)
    tessera_sha256_add(&million, many, sizeof many);
  tessera_sha256_end(&million, text);
  CHECK(!strcmp(text, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"), "%s", text);
  return checkResult(1000);
}
