"""Which tests run in one process, as they share what is costly to make."""

# The mark `xdist_group` of pytest-xdist 3.8 does nothing with pytest 9.2.
TOGETHER = {
    "test_pages.py": "every page, parsed",
    "test_old_addresses.py": "every page, parsed",
    "test_explorables_browser.py": "the page with all figures",
    "test_living_browser.py": "the page with a model",
    "test_run_browser.py": "Python for the browser",
    "test_zip.py": "the archive",
}


def together(nodeid: str) -> str:
    """Return the name that a test has in common with those that run in one process with it."""
    return TOGETHER.get(nodeid.split("::")[0].rpartition("/")[2], nodeid)
