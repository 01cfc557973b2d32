"""tilelang.backend"""
