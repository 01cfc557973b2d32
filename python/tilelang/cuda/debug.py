"""What a kernel says while it runs."""

from ..language import device_assert, print  # noqa: F401
