"""Take a file from the web with a limit of time and of size.

pooch's own downloader waits for whole blocks, so a host that sends a byte now and then could hold
it for days; this one looks at the clock whenever something arrives.
"""

import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field

BLOCK = 1 << 18
SILENCE = 30.0  # seconds without a byte
SECONDS = 3600.0  # for one file, tries included
MAX_BYTES = 4 * 2**30  # the largest archive of the registry has 0.3 GB


class BeyondLimitError(Exception):
    """A download took too long or became too large. No ValueError: pooch would try it again."""


@dataclass
class Bounded:
    """A downloader for `pooch.Pooch.fetch` that stops at the limits of this module.

    The limit of time is one for each file: how many a set has, the registry says, not the host.
    """

    most: int | None = None  # bytes, by default MAX_BYTES
    began: float = field(default_factory=time.monotonic)

    def __call__(self, url: str, output_file: str, _pooch: object) -> None:
        import requests
        from tqdm import tqdm
        from urllib3.exceptions import HTTPError

        with requests.get(url, stream=True, timeout=SILENCE) as answer:
            answer.raise_for_status()
            total = int(answer.headers.get("content-length", 0))
            self._check(url, total)
            bar = tqdm(total=total, unit="B", unit_scale=True, disable=not sys.stderr.isatty())
            try:
                with bar, open(output_file, "wb") as file:
                    for block in self._blocks(url, answer.raw):
                        file.write(block)
                        bar.update(len(block))
            except HTTPError as error:  # cut short, or silent for too long
                raise requests.exceptions.ConnectionError(f"{url}: {error}") from error

    def _blocks(self, url: str, raw) -> Iterator[bytes]:
        read = getattr(raw, "read1", raw.read)  # urllib3 before 2 has no read1
        taken = 0
        while block := read(BLOCK, decode_content=True):
            taken += len(block)
            self._check(url, taken)
            yield block

    def _check(self, url: str, size: int) -> None:
        most = MAX_BYTES if self.most is None else self.most
        if size > most:
            raise BeyondLimitError(f"{url}: more than {most / 2**20:,.0f} MiB")
        if time.monotonic() - self.began > SECONDS:
            raise BeyondLimitError(f"{url}: not there after {SECONDS / 60:.0f} minutes")
