"""What all tests share: Ctrl-C is heeded, and no garbage is looked for among thousands of collected tests."""

import gc
import signal


def pytest_configure():
    gc.disable()
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # a job of `nohup` or a script
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_finish():
    gc.enable()
    gc.freeze()
