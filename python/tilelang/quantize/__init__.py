"""Numbers of a few bits packed into wider ones: what kernels call to take one out.

Each function gives a converter; its arguments are the width of a number, the packed word, which of
the word's numbers is meant (0 is the lowest), and the type of the result."""

from .. import language as T
from .._refused import names_of


def _bits(nbit, val, pos, storage_type, storage_nbit):
    word = "%s%d" % (storage_type, storage_nbit)
    assert val.dtype == word, "the packed numbers are %s, not %s" % (val.dtype, word)
    return (T.cast(val, "uint32") >> T.cast(pos * nbit, "uint32")) & T.uint32((1 << nbit) - 1)


def _tir_packed_to_unsigned_convert(storage_type="uint", storage_nbit=8):
    def convert(nbit, val, pos, dtype):
        return T.cast(_bits(nbit, val, pos, storage_type, storage_nbit), dtype)

    return convert


def _tir_packed_to_unsigned_convert_with_zeros(storage_type="uint", storage_nbit=8):
    def convert(nbit, val, pos, zero, dtype):
        return T.cast(_bits(nbit, val, pos, storage_type, storage_nbit) - zero, dtype)

    return convert


def _tir_packed_to_signed_convert(storage_type="uint", storage_nbit=8):
    """Half of the range lies below zero."""

    def convert(nbit, val, pos, dtype):
        bits = _bits(nbit, val, pos, storage_type, storage_nbit)
        return T.cast(T.cast(bits, "int32") - (1 << (nbit - 1)), dtype)

    return convert


def _tir_packed_int_to_int_convert(storage_type="uint", storage_nbit=8):
    """Two's complement."""

    def convert(nbit, val, pos, dtype):
        bits = T.cast(_bits(nbit, val, pos, storage_type, storage_nbit), "int32")
        away = 32 - nbit
        return T.cast((bits << away) >> away, dtype)

    return convert


__getattr__ = names_of(__name__)
