"""What a model must answer in each pass: the schema's file, then every stage of a judgement."""

from __future__ import annotations

import json
from functools import partial
from typing import Any, Final

from preflights_es.features.compiler.domain.passes import PASSES
from preflights_es.features.compiler.domain.prompting import PACKAGE, POLICY
from preflights_es.judging.contract import Contract
from preflights_es.kernel.completions import schema


def loaded(id_: str) -> dict[str, Any]:
    """A schema of this workflow, `name.vN`."""
    found: dict[str, Any] = json.loads(schema(PACKAGE, id_).text)
    return found


CONTRACTS: Final[dict[str, Contract]] = {
    f"{one.schema}.v1": Contract(
        name=one.schema, version=1, schema=partial(loaded, f"{one.schema}.v1"), policy=POLICY
    )
    for one in PASSES.values()
}
"""By the id that a request names."""

FAILURE_REPORT: Final = Contract(
    name="failure_report",
    version=1,
    schema=partial(loaded, "failure_report.v1"),
    failure=False,
    code=False,
)
"""What the payload of a report is; no model answers it."""
