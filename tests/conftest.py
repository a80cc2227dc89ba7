"""Settings for all tests: Ctrl-C works, the garbage collector skips collected tests, findings are kept."""

import gc
import signal
import sys
from functools import cache


def pytest_configure():
    gc.disable()
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # `nohup` and background jobs ignore Ctrl-C
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_finish():
    gc.enable()
    gc.freeze()  # the collector skips the collected tests
    for name, module in [*sys.modules.items()]:
        if name.startswith(("mechanisms.findings.", "learners.findings.")):
            offered = getattr(module, "FINDINGS", {})
            offered.update({each: cache(compute) for each, compute in offered.items()})
