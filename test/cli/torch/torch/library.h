/* library.h -- operators are noted by their dispatch keys; made up for the test of a bundle's operator. */
#pragma once
#include <ATen/ATen.h>
#include <map>

using Function = void (*)(const at::Tensor &, double, const at::Tensor &);
struct Library {
    static std::string &schema() { static std::string s; return s; }
    static std::map<std::string, Function> &table() { static std::map<std::string, Function> t; return t; }
    std::string key;
    void def(const char *text) { schema() = text; }
    void impl(const char *name, Function f) { table()[key + "/" + name] = f; }
    Library(const char *k, void (*fill)(Library &)) : key(k) { fill(*this); }
};
#define TORCH_LIBRARY_FRAGMENT(space, m) LIBRARY(space, def, m)
#define TORCH_LIBRARY_IMPL(space, key, m) LIBRARY(space, key, m)
#define LIBRARY(space, word, m)                                                                    \
    static void fill_##word(Library &m);                                                           \
    static Library library_##word(#word, fill_##word);                                             \
    static void fill_##word(Library &m)
