"""What agents call, as functions: `tools_of(app)` and what it is made of."""

from __future__ import annotations

from rootle.tools.tool import Answer, Tool
from rootle.tools.toolbox import tools_of

__all__ = ["Answer", "Tool", "tools_of"]
