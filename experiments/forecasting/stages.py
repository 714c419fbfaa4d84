"""Train stage after stage what each lacks, until all is there or no time is left."""

from argparse import Namespace
from collections.abc import Callable, Iterable

from posenc_book.bench import local
from posenc_book.bench.driver import Driver, Stores, deadline
from posenc_book.bench.progress import Progress, name_place
from posenc_book.bench.tuning import Cells

Stage = tuple[str, Stores, Cells]  # its title, its files, what is trained


def carry_out(
    options: Namespace, device: str, stages: Iterable[Stage], train: Callable, stack: int
) -> int:
    """Return 0, or 1 if some trainings failed; `stack` is the most that are trained as one."""
    until, failed = deadline(options.seconds), 0
    name_place(options.out)
    with local.LocalEngine(options.workers) as engine:
        for name, store, some in stages:
            driver = Driver(
                some,
                store,
                engine,
                stack=stack,
                device=device,
                retry_failed=options.retry_failed,
                until=until,
                train=train,
            )
            with Progress(len(some), stage=name) as progress:
                failed += driver.run(progress).failed
            if driver.stopped:
                print("no time is left; the same command goes on from here")
                break
    return int(failed > 0)
