# The C module: its classes and functions are described in their docstrings (native/python).
from typing import Any

def __getattr__(name: str) -> Any: ...
