"""What is wrong must be an exception, never a line on a stream nobody reads.

Under a sanitizer (sanitizers.test) this process carries its runtime. Children do without: our tools have their own.
"""
import os

import pytest

SANITIZED = bool(os.environ.get("TESSERA_SANITIZED"))
if SANITIZED:
    os.environ.pop("LD_PRELOAD", None)


def pytest_configure(config):
    config.addinivalue_line("markers", "unsanitized: loads our library in another Python, or measures memory")


def pytest_runtest_setup(item):
    if SANITIZED and item.get_closest_marker("unsanitized"):
        pytest.skip("not under a sanitizer")


@pytest.fixture(autouse=True)
def silent(capfd):
    yield
    out, err = capfd.readouterr()
    assert err == "", f"written to stderr: {err}"
