"""Threads that meet a class for the first time at once all decode it."""

from __future__ import annotations

import subprocess
import sys
from typing import Final

import pytest

PROGRAM: Final = """
import sys, threading, types
from preflights_es.kernel.json import decoder
COUNT = 200
source = ["import msgspec", "from typing import Literal"]
for n in range(COUNT):
    source += [
        f"class Inner{n}(msgspec.Struct): kind: Literal['a']; name: str = ''; more: int = 0",
        f"class One{n}(msgspec.Struct): inner: Inner{n}; others: tuple[Inner{n}, ...]",
        f"class Other{n}(msgspec.Struct): inner: Inner{n}; one: One{n} | None = None",
    ]
module = sys.modules["made"] = types.ModuleType("made")
exec(chr(10).join(source), module.__dict__)
together = threading.Barrier(2)
decoded = []
def decode(kind, data):
    for n in range(COUNT):
        together.wait()
        found = decoder(getattr(module, f"{kind}{n}"))
        decoded.append([found(data) for _ in range(20)][-1].inner.kind)
sys.setswitchinterval(1e-6)
threads = [
    threading.Thread(target=decode, args=pair)
    for pair in [
        ("One", b'{"inner":{"kind":"a"},"others":[]}'),
        ("Other", b'{"inner":{"kind":"a"}}'),
    ]
]
for one in threads: one.start()
for one in threads: one.join()
print(len(decoded))
"""
"""Without a lock msgspec 0.22 ends nine of ten such processes by a segmentation fault."""


@pytest.mark.slow("crowds")
def test_threads_find_out_what_a_class_holds_one_after_the_other() -> None:
    for _ in range(3):
        done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True)
        assert (done.returncode, done.stdout) == (0, "400\n"), done.stderr
