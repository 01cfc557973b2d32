"""cubin.py FILE -- what machine code says of the clusters of its kernels: "NAME 2 1 1", a line each.

The section .nv.info.NAME is a list of attributes: a byte for the form (4: so many bytes follow), the number,
and two bytes that are the value or its length.  61 (0x3d) is the number of blocks of a cluster in each dimension."""
import struct
import sys

FOLLOWS, CLUSTER = 4, 0x3D


def sections(data):
    start, = struct.unpack_from("<Q", data, 40)
    count, names = struct.unpack_from("<HH", data, 60)
    heads = [struct.unpack_from("<IIQQQQ", data, start + 64 * i) for i in range(count)]
    for head in heads:
        name = heads[names][4] + head[0]
        yield data[name : data.index(b"\0", name)].decode(), data[head[4] : head[4] + head[5]]


def attributes(info):
    at = 0
    while at < len(info):
        form, number, size = struct.unpack_from("<BBH", info, at)
        at += 4
        length = size if form == FOLLOWS else 0
        yield number, info[at : at + length]
        at += length


with open(sys.argv[1], "rb") as file:
    for name, info in sections(file.read()):
        for number, value in attributes(info) if name.startswith(".nv.info.") else ():
            if number == CLUSTER:
                print(name[len(".nv.info.") :], *struct.unpack("<3I", value))
