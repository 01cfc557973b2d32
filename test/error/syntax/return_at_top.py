import tilelang
import tilelang.language as T


x = 1
return x  # error: syntax
