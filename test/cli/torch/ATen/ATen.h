/* ATen.h -- as much of torch's tensors as the source of a bundle's operator asks for, made up for its test. */
#pragma once
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace at {
enum class ScalarType { Float, BFloat16 };

struct Tensor {
    ScalarType type;
    std::vector<int64_t> sizes;
    void *data;
    bool packed = true, on_cpu = true;
    ScalarType scalar_type() const { return type; }
    int64_t dim() const { return (int64_t)sizes.size(); }
    int64_t size(int64_t d) const { return sizes[d]; }
    bool is_contiguous() const { return packed; }
    bool is_cpu() const { return on_cpu; }
    void *data_ptr() const { return data; }
};
} // namespace at

inline std::string said(const char *a, const char *b = "") { return std::string(a) + b; }
#define TORCH_CHECK(cond, ...)                                                                     \
    do {                                                                                           \
        if (!(cond))                                                                               \
            throw std::runtime_error(said(__VA_ARGS__));                                           \
    } while (0)
