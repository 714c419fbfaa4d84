"""Sphinx extension: a page with explorable figures links their scripts and styles, others do not.

The scripts are classic ones in files of their own: pages open from a folder, and a content security
policy without inline scripts can hold.
"""

import re

from sphinx.application import Sphinx

OWN_STYLE = {"living-model"}
FIGURE = re.compile(r'class="explorable"[^>]*? data-name="([a-z-]+)"')


def link(app: Sphinx, pagename: str, templatename: str, context: dict, doctree: object) -> None:  # noqa: ARG001
    """Add the files of the figures on a page."""
    names = list(dict.fromkeys(FIGURE.findall(context.get("body", ""))))
    if not names:
        return
    app.add_css_file("explorables.css")
    for name in sorted(OWN_STYLE.intersection(names)):
        app.add_css_file(f"{name}.css")
    for name in ("explorables", *names):
        app.add_js_file(f"{name}.js", loading_method="defer")


def setup(app: Sphinx) -> dict[str, bool]:
    """Look at every page once its body is there."""
    app.connect("html-page-context", link)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
