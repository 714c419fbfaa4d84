"""The code of the book: data, benchmark, statistics, readers of results, figures, audit and guide.

It stands on the library `posenc`, which knows nothing of it.
"""

from posenc._extras import install
from posenc_book._extras import HINT

install(HINT)
