"""What all tests share: `--update`, the oracle, and the rule for what must not be skipped."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from transpiler.verify.oracle import Oracle, OracleUnavailable


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update",
        action="store_true",
        help="rewrite the goldens in jinja_out from the library, and the recordings in tests/recorded from Ollama",
    )


@pytest.fixture(scope="session")
def update(pytestconfig: pytest.Config) -> bool:
    """Whether `--update` was given."""
    return bool(pytestconfig.getoption("--update"))


@pytest.fixture(scope="session")
def oracle_or_reason() -> Iterator[Oracle | str]:
    """The oracle, or why there is none."""
    try:
        with Oracle() as oracle:
            yield oracle
    except OracleUnavailable as error:
        yield str(error)


@pytest.fixture(scope="session")
def oracle(oracle_or_reason: Oracle | str) -> Oracle:
    """The oracle; a test that asks for it is skipped where there is none, or fails if REQUIRE_ORACLE is 1."""
    if isinstance(oracle_or_reason, Oracle):
        return oracle_or_reason
    if os.environ.get("REQUIRE_ORACLE") == "1":
        pytest.fail(oracle_or_reason)
    pytest.skip(oracle_or_reason)


@pytest.fixture(scope="session")
def oracle_if_any(oracle_or_reason: Oracle | str) -> Oracle | None:
    """The oracle, or None; for tests that can do with recordings. None fails too if REQUIRE_ORACLE is 1."""
    if isinstance(oracle_or_reason, Oracle):
        return oracle_or_reason
    if os.environ.get("REQUIRE_ORACLE") == "1":
        pytest.fail(oracle_or_reason)
    return None
