"""The claims of the library, one line each; the noise halved turns them red."""

import tinydp

import liptest as lt


def test_count(assert_private):
    """Proved for any number of records."""
    assert_private(lt.mechanism(tinydp.count), lt.Hypercube(5_000), epsilon=1)


def test_histogram(assert_private):
    """The same at 10,000 records of eight values."""
    assert_private(lt.mechanism(tinydp.histogram), lt.RecordGrid([8] * 10_000), epsilon=1)
