"""What all tests share: no garbage is looked for among thousands of collected tests."""

import gc


def pytest_configure():
    gc.disable()


def pytest_collection_finish():
    gc.enable()
    gc.freeze()
