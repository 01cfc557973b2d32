"""Policies: which tiles suit a computation on a machine."""

from ..arch import auto_infer_current_arch


class DefaultPolicy:
    """Tiles for a template, the least traffic first."""

    def __init__(self, template, arch=None, tags=None):
        self.template, self.arch, self.tags = template, arch or auto_infer_current_arch(), tags

    @classmethod
    def from_output_nodes(cls, nodes, arch=None, tags=None):
        return cls(nodes[0], arch, tags)

    def emit_config(self, topk=10):
        return self.template.with_arch(self.arch).recommend_hints(topk)


class TensorCorePolicy(DefaultPolicy):
    """The same: templates of products say which instructions they use."""
