"""Random templates on random chats: the emitted Jinja renders, or refuses, what Ollama renders or refuses.

`python -m fuzz` in `tests` runs as many as one likes and makes what it finds small.
"""

from __future__ import annotations

from random import Random

import pytest

from fuzz.chats import random_chats
from fuzz.check import Tally, faults_of
from fuzz.templates import TemplateMaker
from transpiler.verify.oracle import Oracle

_BATCHES = 8
_TEMPLATES = 8
_CHATS = 6


@pytest.mark.parametrize("batch", range(_BATCHES))
def test_random_templates(batch: int, oracle: Oracle) -> None:
    tally = Tally()
    for seed in range(batch * _TEMPLATES, (batch + 1) * _TEMPLATES):
        draw = Random(seed)
        template = TemplateMaker(draw).template()
        chats = random_chats(draw, _CHATS, fim=".Suffix" in template)
        faults = list(faults_of(template, chats, oracle, tally))
        assert not faults, f"seed {seed}\n{template}\n{faults[0]}"
    assert tally.pairs > _TEMPLATES * _CHATS / 3, f"too much is refused: {tally.refused}"
