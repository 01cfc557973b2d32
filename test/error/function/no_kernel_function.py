import tilelang  # error: no-kernel-function
import tilelang.language as T

x = 3
