"""What all tests of the core need: the methods are registered."""

import sinew.core.methods  # noqa: F401
