"""Hints and rasterization plans."""

from ..._refused import names_of


class NoRasterization:
    panel_width = order = None  # of T.use_swizzle

    def __repr__(self):
        return "<NoRasterization>"


class Rasterization2DRow:
    order = "row"

    def __init__(self, row_size=4, panel_width=4):
        self.row_size = self.panel_width = panel_width or row_size

    def __repr__(self):
        return "<Rasterization2DRow(%d)>" % self.panel_width


class Rasterization2DColumn(Rasterization2DRow):
    order = "column"

    def __repr__(self):
        return "<Rasterization2DColumn(%d)>" % self.panel_width


class Hint:
    """One choice of tiles."""

    def __init__(self, **keys):
        self.arch = None
        self.block, self.warp, self.thread = [], [], []
        self.rstep, self.reduce_thread = [], []
        self.use_tc = self.use_async = False
        self.pipeline_stage = 1
        self.rasterization_plan = NoRasterization()
        self.vectorize, self.split_k_factor = {}, 1
        self.shared_scope = "shared"
        self.block_order = None
        self.__dict__.update(keys)

    def to_dict(self):
        return {k: v for k, v in self.__dict__.items() if k != "arch"}

    def __repr__(self):
        return "<Hint> " + str(self.to_dict())


__getattr__ = names_of(__name__, DefaultPolicy="policy", TensorCorePolicy="policy")
