"""Whole numbers of launches."""


def next_power_of_2(x):
    return 1 if x <= 1 else 1 << (x - 1).bit_length()


def cdiv(a, b):
    return -(a // -b)
