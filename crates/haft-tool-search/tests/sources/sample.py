"""Shapes and what is known of them."""

import math
from typing import Protocol, overload

MOST_CORNERS = 64
registry: dict[str, "Shape"] = {}


class Area(Protocol):
    def area(self) -> float: ...


@dataclass(frozen=True)
class Shape(Area):
    """A shape."""

    corners: list[tuple[float, float]]
    name: str = "shape"
    count = 0

    @property
    def area(self) -> float:
        def part(a, b):
            return a[0] * b[1] - a[1] * b[0]

        total = sum(part(a, b) for a, b in pairs(self.corners))
        return total / 2

    @classmethod
    async def load(
        cls,
        path: str,  # where it is
        *,
        strict: bool = True,
    ) -> "Shape":
        return cls(await read(path))

    class Meta:
        ordering = ["name"]


if math.pi > 3:
    def pairs(items):
        return zip(items, items[1:])
else:
    pairs = None


def main() -> None:
    shape = Shape([(0, 0)])
    print(shape.area)
