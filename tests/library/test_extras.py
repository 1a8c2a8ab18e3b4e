"""What comes only with an extra: the error names the extra, and nothing else is blamed on it."""

from __future__ import annotations

import pytest

from tokpos._extras import from_extra


@pytest.mark.parametrize("missing", ["matplotlib", None])
def test_a_missing_library_names_the_extra(missing):
    with pytest.raises(ModuleNotFoundError, match="with its extra 'figures'") as raised:
        with from_extra("figures"):
            raise ModuleNotFoundError("no such module", name=missing)
    assert raised.value.name == missing


def test_a_module_that_the_package_lacks_itself_is_no_matter_of_the_extra():
    with pytest.raises(ModuleNotFoundError, match="^no such module$"), from_extra("figures"):
        raise ModuleNotFoundError("no such module", name="tokpos.figures.none")
