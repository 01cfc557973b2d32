"""tilelang.cuda"""

