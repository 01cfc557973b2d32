"""Pictures of layouts."""


def plot_layout(layout, save_directory="./tmp", name="layout", colormap="RdPu", verbose=False,
                formats="svg"):
    """Write NAME.txt with the storage index of every element (what this package can draw without
    other packages); JITKernel.get_layout(buffer, svg=True) draws layouts of compiled kernels."""
    import itertools
    import os

    shape = [int(n) for n in layout.get_input_shape()]
    os.makedirs(save_directory, exist_ok=True)
    path = os.path.join(save_directory, name + ".txt")
    with open(path, "w") as f:
        for at in itertools.product(*map(range, shape)):
            f.write("%s -> %s\n" % (at, layout.map_forward_index(list(at))))
    if verbose:
        print("wrote", path)
    return path


def Analyzer(*args, **keys):
    raise NotImplementedError("tilelang.tools.Analyzer is not supported; JITKernel._core.work "
                              "gives operations and bytes of a call")
