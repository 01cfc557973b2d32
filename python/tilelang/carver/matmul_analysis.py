"""Matrix products inside of functions are found by the compiler itself."""


def get_tensorized_func_and_tags(func, target, **keys):
    return func, None
