"""What `Run.compare` of TruLens says of two runs: the recorded one, and today's requests.

    python trulens_compare.py

Its runs belong to an app that TruLens has instrumented. Here they are tables of the same shape, so
that its comparison alone is measured. Reads `calls.json`; prints the ids of sessions with a worse
score.
"""

import json
import sys
from hashlib import sha256
from pathlib import Path
from typing import Any

import pandas as pd
from trulens.core.run import compare_runs

CALLS = json.loads(Path("calls.json").read_text("utf-8"))
TODAY = CALLS["today"]


class Scored:
    """A run whose records have one score: whether the response is the expected one."""

    def __init__(self, name: str, scores: list[float]) -> None:
        self.run_name = name
        self._scores = scores

    def get_records(self) -> pd.DataFrame:
        """As the method of a run."""
        names = [f"{number}/{call['session']}" for number, call in enumerate(CALLS["calls"])]
        return pd.DataFrame({"record_id": names, "input": names, "exact": self._scores})


def score(call: dict[str, Any]) -> float:
    """Of the recorded response to today's request."""
    said = [{"role": "system", "content": TODAY["prompts"][call["step"]]}, *call["messages"]]
    sent = [TODAY["model"], TODAY["parameters"], said]
    key = json.dumps(sent, separators=(",", ":"), ensure_ascii=False)
    return float(CALLS["recorded"].get(sha256(key.encode()).hexdigest()) == call["expected"])


def main() -> None:
    """Compare, and print what got worse."""
    before = Scored("recorded", [1.0] * len(CALLS["calls"]))
    after = Scored("today", [score(call) for call in CALLS["calls"]])
    compared = compare_runs(before, after, metric_directions={"exact": True})
    items = compared.items_df("exact")
    worse = {one.partition("/")[2] for one in items[items["regressed"]]["input"]}
    sys.stdout.write(f"differing: {' '.join(sorted(worse))}\n")


if __name__ == "__main__":
    main()
