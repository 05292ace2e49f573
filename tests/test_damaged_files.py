"""Whatever happened to a file, reading it gives a record or one of our errors: nothing else, and no crash.

`verify/inputs.py` does the same thousands of times.
"""

import random

import pytest
from tests.mutations import MAKERS, damaged

from vibayes.errors import InvalidInput
from vibayes.io import look, read_record
from vibayes.record import Record


@pytest.fixture(scope="module", params=MAKERS)
def whole(request, tmp_path_factory):
    """The bytes of a sound file, and a place for damaged ones."""
    path = tmp_path_factory.mktemp("sound") / request.param
    MAKERS[request.param](path)
    assert look(path).columns
    return path.read_bytes(), path.with_name(f"damaged-{request.param}")


def test_a_damaged_file_gives_a_record_or_our_error(whole):
    content, path = whole
    for seed in range(50):
        path.write_bytes(damaged(random.Random(seed), content, path.name.removeprefix("damaged-")))
        try:
            read_record(path)
        except InvalidInput:
            pass
        try:
            wanted = look(path).suggested()
            record = read_record(path, wanted.input or None, wanted.output or None, wanted.time, wanted.rate)
            assert isinstance(record, Record)
        except InvalidInput as error:
            assert error.remedy and error.where
