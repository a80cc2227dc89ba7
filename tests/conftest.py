"""Settings for all tests: Ctrl-C is heeded, and collected tests are exempt from garbage collection."""

import gc
import signal


def pytest_configure():
    gc.disable()
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # a job of `nohup` or a script
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_finish():
    gc.enable()
    gc.freeze()
