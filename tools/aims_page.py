"""Sphinx extension: `{aims}` shows the stored table of benchmarks/aims.py on a page."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

SOURCE = Path(__file__).resolve().parents[1] / "benchmarks" / "aims.py"
LIMITS = SOURCE.with_name("aim_limits.py")


def module() -> ModuleType:
    """Return benchmarks/aims.py, which stands in no package."""
    if str(SOURCE.parent) not in sys.path:
        sys.path.append(str(SOURCE.parent))
    spec = importlib.util.spec_from_file_location("posenc_aims", SOURCE)
    found = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = found  # dataclasses look there
    spec.loader.exec_module(found)
    return found


class Aims(SphinxDirective):
    """The aims, what was measured, and whether it is enough."""

    def run(self) -> list[nodes.Node]:
        aims = module()
        for path in (SOURCE, LIMITS, aims.STORED):
            self.env.note_dependency(str(path))
        holder = nodes.Element()
        lines = StringList(aims.table(aims.read()).splitlines(), source=str(SOURCE))
        self.state.nested_parse(lines, self.content_offset, holder)
        return holder.children


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the directive."""
    app.add_directive("aims", Aims)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
