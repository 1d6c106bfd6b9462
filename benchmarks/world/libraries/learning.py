"""Opacus, Synthcity and dpmm: training steps and models of synthetic data."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from benchmarks.world.rows import Environment, Report, Row, Samples

ENVIRONMENTS = (
    Environment("opacus", "1.6.0"),
    Environment("synthcity", "0.2.12", ("opacus==1.4.1", "numpy==1.26.4")),
    Environment("dpmm", "0.1.9", ("numpy==1.26.4",)),
)
_ARTIFACT = "https://github.com/ObliviousAI/dp-recorder"
#: A dataset is how many records more there are than the least, or which of two it is.
_TWO = [((0,), (1,))]


def _each(function: Callable[[int], Any]) -> Callable[..., list[Any]]:
    def draw(dataset: Any, count: int, rng: Any) -> list[Any]:
        return [function(int(dataset[0])) for _ in range(count)]

    return draw


def _one_step(records: list[float]) -> tuple[Any, list[float]]:
    """The engine, and 20 weights after one step of training at a sampling rate of 1/2."""
    import torch
    from opacus import PrivacyEngine
    from torch.utils.data import DataLoader, TensorDataset

    model = torch.nn.Linear(20, 1, bias=False)
    torch.nn.init.zeros_(model.weight)
    inputs = torch.tensor(records).reshape(-1, 1).expand(-1, 20)
    engine = PrivacyEngine()
    private, optimizer, loader = engine.make_private(
        module=model,
        optimizer=torch.optim.SGD(model.parameters(), lr=1.0),
        data_loader=DataLoader(TensorDataset(inputs, inputs[:, :1]), batch_size=2),
        noise_multiplier=4.0,
        max_grad_norm=1.0,
    )
    given, wanted = next(iter(loader))
    optimizer.zero_grad()
    torch.nn.functional.mse_loss(private(given), wanted, reduction="sum").backward()
    optimizer.step()
    return engine, [float(weight) for weight in model.weight.flatten()]


def _claim_of_a_step() -> dict[str, float]:
    engine, _ = _one_step([1.0] * 4)
    return {"epsilon": float(engine.get_epsilon(1e-5)), "delta": 1e-5}


def _size(version: str) -> Samples:
    """How far a step goes, which the noise decides: from 3 records twice as far as from 4."""

    def length(more: int) -> float:
        _, weights = _one_step([1.0] * (3 + more))
        return math.hypot(*weights)

    return Samples(_each(length), _TWO, samples=4_000, claim=_claim_of_a_step())


def _nan_step(version: str) -> Samples:
    def trained(which: int) -> str:
        _, weights = _one_step([1.0, 1.0, 1.0, math.nan if which else 1.0])
        return "nan" if math.isnan(math.hypot(*weights)) else "numbers"

    return Samples(_each(trained), _TWO, samples=4_000, claim=_claim_of_a_step())


def _bayes(degree: int) -> Callable[[str], Samples]:
    """Conditional distributions of two columns, of 18 or 19 records."""

    def made(version: str) -> Samples:
        import pandas as pd
        from synthcity.plugins.privacy.plugin_privbayes import PrivBayes

        def release(more: int) -> tuple[float, ...]:
            frame = pd.DataFrame({"a": [0] * 9 + [1] * (9 + more), "b": [0, 1] * 9 + [1] * more})
            model = PrivBayes(epsilon=1.0, K=degree, mi_thresh=0.0).fit(frame)
            tables = sorted(model.network.get_cpds(), key=lambda table: str(table.variable))
            return tuple(float(p) for table in tables for p in table.values.flatten())

        return Samples(_each(release), _TWO, samples=2_000)

    return made


def _domain(version: str) -> Samples:
    """Of how many values of a column a fitted model knows."""
    import pandas as pd
    from dpmm.models import PrivBayesGM

    def values(which: int) -> int:
        frame = pd.DataFrame({"a": [0, 1, 0, 1, 0, 2 if which else 1], "b": [0, 1] * 3})
        model = PrivBayesGM(epsilon=1.0, delta=1e-5, n_jobs=1, n_iters=5)
        model.fit(frame)
        return int(model.generator.model.domain["a"])

    return Samples(_each(values), _TWO, samples=2_000)


def _row(
    library: str, name: str, words: str, relation: str, make: Any, report: Report, **more: Any
) -> Row:
    (version,) = (one.version for one in ENVIRONMENTS if one.library == library)
    options = {"claim": {"epsilon": 1.0}, **more}
    return Row(
        f"{library}-{name}",
        library,
        words,
        relation,
        versions=(version,),
        make=make,
        report=report,
        broken=(version,),
        **options,
    )


ROWS = (
    _row(
        "opacus",
        "size",
        "a step of DP-SGD at rate 1/2 and batches of 2, 20 weights",
        "3 records or 4",
        _size,
        Report(
            "Opacus issue 571; arXiv 2602.17454, artifact: the number of records is a scale",
            "https://github.com/meta-pytorch/opacus/issues/571",
        ),
    ),
    _row(
        "opacus",
        "nan",
        "the same, of 4 numbers, one of them perhaps NaN",
        "one record changes",
        _nan_step,
        Report("arXiv 2602.17454, artifact: NaN survives clipping", _ARTIFACT),
    ),
    _row(
        "synthcity",
        "privbayes-no-noise",
        "PrivBayes of degree 2 on 2 columns: conditional distributions",
        "one record more",
        _bayes(2),
        Report("arXiv 2602.17454, artifact: noise of scale 0 where K is the width", _ARTIFACT),
    ),
    _row(
        "synthcity",
        "privbayes-size",
        "the same of degree 1: its noise falls with the number of records",
        "one record more",
        _bayes(1),
        Report("arXiv 2602.17454, artifact: the number of records is taken for public", _ARTIFACT),
    ),
    _row(
        "dpmm",
        "domain",
        "PrivBayesGM without a domain: how many values a column has",
        "one record changes",
        _domain,
        Report("dpmm issue 18", "https://github.com/sassoftware/dpmm/issues/18"),
        claim={"epsilon": 1.0, "delta": 1e-5},
    ),
)
