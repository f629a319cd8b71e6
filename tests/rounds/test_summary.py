"""The classes of summaries are described."""

import ast
import inspect

import pytest

from shortlist.rounds import stream_summary, summary


@pytest.mark.parametrize("module", [summary, stream_summary])
def test_every_field_is_described_below_it(module):
    """The reference and the OpenAPI document are made from these strings."""
    for node in ast.parse(inspect.getsource(module)).body:
        if isinstance(node, ast.ClassDef):
            fields = [each for each in node.body if isinstance(each, ast.AnnAssign)]
            below = [node.body[node.body.index(each) + 1] for each in fields]
            assert fields, node.name
            assert all(isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant) for each in below), node.name
