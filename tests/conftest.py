"""Settings for all tests: Ctrl-C works, and the garbage collector skips the collected tests."""

import gc
import signal


def pytest_configure():
    gc.disable()
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # `nohup` and background jobs ignore Ctrl-C
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_finish():
    gc.enable()
    gc.freeze()
