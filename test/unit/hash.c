/* hash.c -- tests of hashing. */
#include "base/base.h"
#include "test.h"

/* Published values of XXH3-128 with seed 0. */
TEST(hex_of_nothing_is_the_published_value)
{
    char hex[33];
    hash_hex("", 0, hex);
    CHECK_TEXT(hex, "99aa06d3014798d86001c324468d497f");
}

TEST(hex_depends_on_each_byte)
{
    char data[300] = {0}, one[33], two[33];
    hash_hex(data, sizeof data, one);
    for (size_t i = 0; i < sizeof data; i++) {
        data[i] = 1;
        hash_hex(data, sizeof data, two);
        CHECK(strcmp(one, two) != 0);
        data[i] = 0;
    }
    hash_hex(data, sizeof data, two);
    CHECK_TEXT(two, one);
    CHECK_INT(strlen(one), 32);
}

TEST(bytes_depends_on_length_seed_and_content)
{
    const char zero[20] = {0};
    for (size_t n = 0; n < 19; n++)
        CHECK(hash_bytes(zero, n, 0) != hash_bytes(zero, n + 1, 0));
    CHECK(hash_bytes("abc", 3, 0) != hash_bytes("abd", 3, 0));
    CHECK(hash_bytes("abc", 3, 0) != hash_bytes("abc", 3, 1));
    CHECK(hash_bytes("abc", 3, 5) == hash_bytes("abc", 3, 5));
}

/* Aligned pointers must not crowd into few slots. */
TEST(mix_spreads_multiples_of_sixteen)
{
    int count[256] = {0};
    for (uint64_t i = 0; i < 256 * 64; i++)
        count[hash_mix(i * 16, 0x9e3779b97f4a7c15u) & 255]++;
    for (int i = 0; i < 256; i++)
        CHECK(count[i] > 16 && count[i] < 160);
}
