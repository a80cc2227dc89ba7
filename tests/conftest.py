"""Settings for all tests.

Ctrl-C works, the garbage collector skips the test objects, and findings are computed once.
"""

import gc
import signal
import sys
from functools import cache

from hypothesis import HealthCheck, settings

settings.register_profile("any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any machine")  # a slow or busy machine fails no test


def pytest_configure():
    gc.disable()
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # `nohup` and background jobs ignore Ctrl-C
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_finish():
    gc.enable()
    gc.freeze()  # the garbage collector skips the tests that pytest has collected
    for name, module in [*sys.modules.items()]:
        if name.startswith(("mechanisms.findings.", "learners.findings.")):
            offered = getattr(module, "FINDINGS", {})
            offered.update({each: cache(compute) for each, compute in offered.items()})
