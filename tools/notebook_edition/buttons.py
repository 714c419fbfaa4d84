"""Where a page's buttons lead: to the notebook of the edition, on its branch."""

from typing import Any
from urllib.parse import quote, urlencode

from sphinx.application import Sphinx
from sphinx.config import Config

GITHUB = "https://github.com/"


def repository(config: Config) -> str:
    """Return the address of the book's repository, or nothing."""
    return (config.html_theme_options or {}).get("repository_url", "").rstrip("/")


def site_address(config: Config) -> str:
    """Return where the site is published: `html_baseurl`, or else GitHub's pages."""
    if config.html_baseurl or not repository(config).startswith(GITHUB):
        return config.html_baseurl.rstrip("/")
    owner, name = repository(config).removeprefix(GITHUB).split("/")[:2]
    site = f"{owner.lower()}.github.io"
    return f"https://{site}" if name.lower() == site else f"https://{site}/{name}"


def lead_to_edition(
    app: Sphinx,
    pagename: str,
    templatename: str,  # noqa: ARG001
    context: dict[str, Any],
    doctree: object,  # noqa: ARG001
) -> None:
    """Change the addresses of the buttons of a notebook's page."""
    if pagename not in app.env.found_docs or not app.env.doc2path(pagename).endswith(".ipynb"):
        return
    for group in context.get("header_buttons", []):
        for button in group.get("buttons", []):
            if "url" in button:
                button["url"] = address(app.config, pagename, button["url"])


def address(config: Config, pagename: str, url: str) -> str:
    """Return where a button leads that led to the source of a page."""
    options = config.html_theme_options.get("launch_buttons", {})
    colab, binder = (options.get(key, "").rstrip("/") for key in ("colab_url", "binderhub_url"))
    slug = repository(config).removeprefix(GITHUB)
    if colab and url.startswith(f"{colab}/github/"):
        return f"{colab}/github/{slug}/blob/{config.notebook_edition_branch}/{pagename}.ipynb"
    if binder and url.startswith(f"{binder}/v2/gh/"):
        return binder_address(config, pagename, url)
    return url


def binder_address(config: Config, pagename: str, url: str) -> str:
    """Return an address of Binder: its environment as before, and content of the edition's branch.

    The environment needs the package nbgitpuller, which fetches the branch.
    """
    name = repository(config).rpartition("/")[2]
    pull = {
        "repo": repository(config),
        "branch": config.notebook_edition_branch,
        "urlpath": f"lab/tree/{name}/{pagename}.ipynb",
    }
    return f"{url.partition('?')[0]}?urlpath={quote(f'git-pull?{urlencode(pull)}', safe='')}"
