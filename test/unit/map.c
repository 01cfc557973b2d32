/* map.c -- tests of maps by pointer and by text. */
#include "base/base.h"
#include "test.h"

static int things[5000];

TEST(empty_map_has_nothing)
{
    Map m = {0};
    CHECK(!map_get(&m, "x"));
    CHECK(!map_has(&m, "x"));
    map_remove(&m, "x");
}

TEST(pointer_keys_are_found)
{
    Arena *a = arena_new();
    Map m;
    map_init(&m, a);
    for (int i = 0; i < COUNT(things); i++)
        map_set(&m, &things[i], &things[COUNT(things) - 1 - i]);
    CHECK_INT(m.n, COUNT(things));
    for (int i = 0; i < COUNT(things); i++)
        CHECK(map_get(&m, &things[i]) == &things[COUNT(things) - 1 - i]);
    CHECK(!map_has(&m, &m));
    arena_free(a);
}

TEST(walk_is_in_insertion_order)
{
    Arena *a = arena_new();
    Map m;
    map_init_text(&m, a);
    for (int i = 0; i < 300; i++)
        map_set(&m, arena_printf(a, "k%d", (i * 7919) % 300), "");
    for (int i = 0; i < 300; i++)
        CHECK_TEXT(m.at[i].key, arena_printf(a, "k%d", (i * 7919) % 300));
    arena_free(a);
}

TEST(text_keys_compare_by_content)
{
    Arena *a = arena_new();
    Map m;
    map_init_text(&m, a);
    char one[] = "same", two[] = "same";
    map_set(&m, one, "first");
    map_set(&m, two, "second");
    CHECK_INT(m.n, 1);
    CHECK_TEXT(map_get(&m, "same"), "second");
    CHECK(!map_has(&m, "sam"));
    map_set(&m, "", "empty");
    CHECK_TEXT(map_get(&m, ""), "empty");
    arena_free(a);
}

TEST(absent_and_null_value_differ)
{
    Arena *a = arena_new();
    Map m;
    map_init_text(&m, a);
    map_set(&m, "x", NULL);
    CHECK(map_has(&m, "x"));
    CHECK(!map_get(&m, "x"));
    CHECK(!map_has(&m, "y"));
    arena_free(a);
}

TEST(removed_keys_are_gone_and_come_back)
{
    Arena *a = arena_new();
    Map m;
    map_init(&m, a);
    for (int i = 0; i < 1000; i++)
        map_set(&m, &things[i], &things[i]);
    for (int i = 0; i < 1000; i += 2)
        map_remove(&m, &things[i]);
    for (int i = 0; i < 1000; i++)
        CHECK_INT(map_has(&m, &things[i]), i % 2);
    map_set(&m, &things[0], &things[9]);
    CHECK(map_get(&m, &things[0]) == &things[9]);
    arena_free(a);
}

TEST(adding_and_removing_does_not_grow_for_ever)
{
    Arena *a = arena_new();
    Map m;
    map_init(&m, a);
    for (int i = 0; i < 100000; i++) {
        map_set(&m, &things[i % 100], &things[0]);
        map_remove(&m, &things[i % 100]);
    }
    CHECK(m.cap <= 64);
    CHECK(m.nslot <= 64);
    arena_free(a);
}

/* The same operations on a table of flags: the two may never differ. */
TEST(random_operations_agree_with_a_plain_table)
{
    Arena *a = arena_new();
    Map m;
    map_init(&m, a);
    void *want[64] = {0};
    uint64_t x = 1;
    for (int step = 0; step < 200000; step++) {
        x = hash_mix(x, 12345);
        int i = (int)(x % 64);
        if (x >> 40 & 1) {
            want[i] = &things[step % COUNT(things)];
            map_set(&m, &things[i], want[i]);
        } else {
            want[i] = NULL;
            map_remove(&m, &things[i]);
        }
        int j = (int)(x >> 20 & 63);
        CHECK(map_get(&m, &things[j]) == want[j]);
    }
    arena_free(a);
}

TEST(null_key_is_our_fault)
{
    Arena *a = arena_new();
    Map m;
    map_init(&m, a);
    Recover r;
    if (recover_open(&r) == 0) {
        map_set(&m, NULL, "x");
        recover_close(&r);
    }
    CHECK_INT(r.status, STATUS_BUG);
    arena_free(a);
}
