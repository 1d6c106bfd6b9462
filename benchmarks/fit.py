"""How long it takes to fit a product law on a table: 1,000,000 rows of 20 bits.

CPU seconds of this process; of PostgreSQL those of the server's process too, which runs without
parallel workers so that none are missed. The server is started here and stopped again; without
Debian's package ``postgresql`` its row is left out, and a line says so.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import sqlalchemy as sa
from figures import SECONDS, Figure, Row, cpu_seconds, medians, report
from numpy.typing import NDArray

import liptest as lt
from liptest.data.sources import SqlTable

ROWS, COLUMNS, REPETITIONS, TARGET = 1_000_000, 20, 3, 2.0
ROOT = Path(__file__).parents[1]
LIMITED = ("polars", "Parquet, duckdb", "PostgreSQL")


def table(rows: int) -> NDArray[np.int8]:
    rates = np.linspace(0.02, 0.6, COLUMNS)
    return lt.ProductDistribution.bernoulli(rates).sample(np.random.default_rng(0), rows)


def sources(bits: NDArray[np.int8], folder: Path) -> dict[str, Any]:
    columns = {f"c{r}": np.ascontiguousarray(bits[:, r]) for r in range(COLUMNS)}
    frame = pl.DataFrame(columns)
    frame.write_parquet(folder / "bits.parquet")
    frame.write_csv(folder / "bits.csv")
    return {
        "NumPy array": bits,
        "polars": frame,
        "pandas": pd.DataFrame(columns),
        "pyarrow": pa.table(columns),
        "Parquet, duckdb": folder / "bits.parquet",
        "CSV, duckdb": folder / "bits.csv",
    }


def fit(source: Any) -> lt.ProductDistribution:
    domain = lt.Hypercube(COLUMNS) if isinstance(source, np.ndarray) else None
    return lt.ProductDistribution.fit(source, domain=domain)


def row(
    name: str, source: Any, bits: NDArray[np.int8], quick: bool, others: Callable[[], float]
) -> Row:
    law = fit(source)
    expected = fit(bits)
    cost = medians(1 if quick else REPETITIONS, lambda: {"all": _timed(source, others)})
    limit = TARGET if name in LIMITED else None
    same = bool(np.array_equal(law.probabilities, expected.probabilities))
    return Row(
        name,
        counts={"rows": law.fitted.rows if law.fitted else 0, "same law": same},
        planned={"rows": len(bits), "same law": True},
        figures={SECONDS: Figure(cost["all"], at_most=limit)},
    )


def _timed(source: Any, others: Callable[[], float]) -> float:
    before = others()
    own = cpu_seconds(lambda: fit(source))
    return own + others() - before


@contextmanager
def postgres(bits: NDArray[np.int8]) -> Iterator[tuple[Any, Callable[[], float]]]:
    """The table in a server, and the CPU seconds of the one process that serves it."""
    sys.path.insert(0, str(ROOT))
    from tests.unit.data.postgres import running_server

    with running_server() as engine:
        serial = {"options": "-c max_parallel_workers_per_gather=0"}
        one = sa.create_engine(engine.url, poolclass=sa.StaticPool, connect_args=serial)
        with one.connect() as connection:
            _load(connection, bits)
            process = connection.execute(sa.text("SELECT pg_backend_pid()")).scalar()
            connection.commit()
        yield SqlTable(one, table="bits"), lambda: _cpu_of(int(process or 0))
        one.dispose()


def _load(connection: sa.Connection, bits: NDArray[np.int8]) -> None:
    columns = ", ".join(f"c{r} smallint" for r in range(COLUMNS))
    connection.execute(sa.text(f"CREATE TABLE bits ({columns})"))
    text = np.full((len(bits), 2 * COLUMNS), ord("\t"), dtype=np.uint8)
    text[:, ::2] = bits + ord("0")
    text[:, -1] = ord("\n")
    raw: Any = connection.connection.driver_connection
    with raw.cursor() as cursor, cursor.copy("COPY bits FROM STDIN") as copy:
        copy.write(text.tobytes())
    connection.commit()
    connection.execution_options(isolation_level="AUTOCOMMIT")
    connection.execute(sa.text("VACUUM ANALYZE bits"))


def _cpu_of(process: int) -> float:
    fields = Path(f"/proc/{process}/stat").read_text(encoding="ascii").rsplit(")", 1)[1].split()
    ticks = 100.0  # USER_HZ, on Linux always
    return (int(fields[11]) + int(fields[12])) / ticks


def measure(quick: bool) -> list[Row]:
    bits = table(ROWS // 1000 if quick else ROWS)
    with tempfile.TemporaryDirectory() as folder:
        rows = [
            row(name, source, bits, quick, lambda: 0.0)
            for name, source in sources(bits, Path(folder)).items()
        ]
    if not Path("/usr/lib/postgresql").is_dir():
        print("no PostgreSQL server here: install Debian's package postgresql", file=sys.stderr)
        return rows
    with postgres(bits) as (source, others):
        rows.append(row("PostgreSQL", source, bits, quick, others))
    return rows


if __name__ == "__main__":
    report(f"Fit: {ROWS:,} rows of {COLUMNS} bits", measure)
