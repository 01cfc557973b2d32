/* prove.c -- tests of proofs: bounds, facts, elimination. */
#include "unit/expr_text.h"
#include "test.h"

static Proof ask(Words *w, const char *text)
{
    return prove(w->ir, w->f, words_read(w, text));
}

TEST(by_bounds)
{
    Words w = words_new();
    words_range(&w, 'i', 0, 8);
    words_range(&w, 'j', 0, 16);
    CHECK(ask(&w, "i * 16 + j < 128") == PROOF_YES);
    CHECK(ask(&w, "i * 16 + j < 127") == PROOF_UNKNOWN);
    CHECK(ask(&w, "i * 16 + j >= 128") == PROOF_NO);
    CHECK(ask(&w, "i < 8 and j >= 0") == PROOF_YES);
    CHECK(ask(&w, "i < 8 and j < 0") == PROOF_NO);
    CHECK(ask(&w, "i == 9 or j != 20") == PROOF_YES);
}

TEST(tiles_of_a_multiple)
{
    Words w = words_new();
    words_assume(&w, "n % 128 == 0");
    words_assume(&w, "n >= 0");
    facts_range(w.f, words_var(&w, 'x'), expr_int(w.ir, 0), words_read(&w, "(n + 127) // 128"));
    words_range(&w, 'i', 0, 128);
    CHECK(ask(&w, "x * 128 + i < n") == PROOF_YES);
    CHECK(ask(&w, "x * 128 + i + 1 < n") == PROOF_UNKNOWN);
    CHECK(ask(&w, "x * 128 + i >= 0") == PROOF_YES);
}

TEST(tiles_of_anything)
{
    Words w = words_new();
    words_assume(&w, "n >= 0");
    facts_range(w.f, words_var(&w, 'x'), expr_int(w.ir, 0), words_read(&w, "(n + 127) // 128"));
    words_range(&w, 'i', 0, 128);
    CHECK(ask(&w, "x * 128 + i < n") == PROOF_UNKNOWN);
    CHECK(ask(&w, "x * 128 < n") == PROOF_YES);
    CHECK(ask(&w, "min(x * 128 + i, n - 1) < n") == PROOF_YES);
    CHECK(ask(&w, "min(n - x * 128, 128) >= 1") == PROOF_YES);
}

TEST(chains_of_facts)
{
    Words w = words_new();
    words_assume(&w, "x < y");
    words_assume(&w, "y < n");
    words_assume(&w, "n <= m");
    CHECK(ask(&w, "x + 2 <= m") == PROOF_YES);
    CHECK(ask(&w, "x + 3 <= m") == PROOF_UNKNOWN);
    CHECK(ask(&w, "m < x") == PROOF_NO);
}

TEST(quotients_of_a_grid)
{
    Words w = words_new();
    words_assume(&w, "n >= 0");
    facts_range(w.f, words_var(&w, 'x'), expr_int(w.ir, 0), words_read(&w, "n * 3"));
    CHECK(ask(&w, "x // 3 < n") == PROOF_YES);
    CHECK(ask(&w, "x // 3 + 1 < n") == PROOF_UNKNOWN);
    CHECK(ask(&w, "x // 2 < n") == PROOF_UNKNOWN);
    CHECK(ask(&w, "(x + 1) // 3 < n") == PROOF_UNKNOWN);
    CHECK(ask(&w, "(x + 1) // 3 <= n") == PROOF_YES);
}

TEST(residues_of_an_assumption)
{
    Words w = words_new();
    CHECK(ask(&w, "x % 6 != 1 or x % 4 != 2") == PROOF_YES);
    CHECK(ask(&w, "x % 6 != 1 or x % 4 != 3") == PROOF_UNKNOWN);
}

TEST(parity_of_a_difference_is_not_known)
{
    Words w = words_new();
    CHECK(ask(&w, "(x + y) % 2 == (x - y) % 2") == PROOF_UNKNOWN);
}
