"""A Dask scheduler and workers in this process, for `bench.scaling`: `python -m bench.sleepers COUNT`."""

import sys
import time

from distributed import LocalCluster


def main() -> None:
    """Print the scheduler's address, and run until this process is ended."""
    count = int(sys.argv[1])
    with LocalCluster(
        n_workers=count, threads_per_worker=1, processes=False, protocol="tcp://", dashboard_address=None
    ) as cluster:
        print(cluster.scheduler_address, flush=True)
        while True:
            time.sleep(60)


if __name__ == "__main__":
    main()
