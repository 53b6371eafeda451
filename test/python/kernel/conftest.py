"""What is wrong must be an exception, never a line on a stream nobody reads."""
import pytest


@pytest.fixture(autouse=True)
def silent(capfd):
    yield
    out, err = capfd.readouterr()
    assert err == "", f"written to stderr: {err}"
