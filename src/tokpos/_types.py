"""Shapes in signatures: ``Float[Tensor, "B S D"]``, ``Int[Tensor, "*batch"]``.

The package needs torch alone. Where jaxtyping is not installed the annotations are only read
by people, and the stand-ins below let the modules load. Type checkers take each for its first
part, a tensor.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from torch import Tensor

if TYPE_CHECKING:
    from typing import Annotated as Bool
    from typing import Annotated as Float
    from typing import Annotated as Int
else:
    try:
        from jaxtyping import Bool, Float, Int
    except ImportError:

        class _Annotation:
            def __class_getitem__(cls, item: Any) -> Any:
                return item[0]

        Bool = Float = Int = _Annotation

__all__ = ["Bool", "Float", "Int", "Tensor"]
