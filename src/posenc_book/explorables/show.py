"""Put an explorable under a notebook's cell.

Two outputs: the figure, which is all that the site takes, and the scripts and styles that the site
links and a notebook has to bring along.
"""

from posenc_book.explorables import bundle
from posenc_book.explorables.registry import make


def show(name: str) -> None:
    """Display an explorable."""
    from IPython.display import publish_display_data

    figure = make(name)
    publish_display_data({"text/html": figure.html(), "text/plain": f"[figure: {figure.alt}]"})
    publish_display_data({"application/javascript": bundle.live(name)})
