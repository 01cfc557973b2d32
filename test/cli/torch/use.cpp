/* use.cpp -- the operator of a bundle, called through the made-up torch beside this file. */
#include <cstdio>
#include <torch/library.h>

static int nfailed;

static void refused(const char *words, Function f, const at::Tensor &a, const at::Tensor &c)
{
    std::string why = "nothing was refused";
    try {
        f(a, 2.0, c);
    } catch (const std::runtime_error &e) {
        why = e.what();
    }
    if (why.find(words) == std::string::npos)
        printf("FAIL: %s, not %s\n", why.c_str(), words), nfailed++;
}

int main()
{
    uint16_t a[6] = {0x3f80, 0x4000, 0x4040, 0x4080, 0x40a0, 0x40c0}; /* 1 to 6 */
    float c[6] = {0};
    at::Tensor A{at::ScalarType::BFloat16, {2, 3}, a}, C{at::ScalarType::Float, {2, 3}, c}, bad = A;
    Function run = Library::table()["CPU/scale"];

    nfailed += Library::schema() != "scale(Tensor A, float s, Tensor(a!) C) -> ()";
    run(A, 2.0, C);
    for (int i = 0; i < 6; i++)
        nfailed += c[i] != 2 * (i + 1);
    Library::table()["Meta/scale"](A, 2.0, C);
    refused("argument 'A' is not bfloat16", run, C, C);
    bad.sizes = {6};
    refused("argument 'A' has not 2 dimensions", run, bad, C);
    bad.sizes = {3, 2};
    refused("argument 'C' size 0 is not m", run, bad, C);
    bad = A, bad.packed = false;
    refused("argument 'A' is not contiguous", run, bad, C);
    bad = A, bad.on_cpu = false;
    refused("other memory", run, bad, C);
    printf("%d wrong\n", nfailed);
    return nfailed != 0;
}
