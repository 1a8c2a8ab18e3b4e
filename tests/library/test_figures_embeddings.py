"""Figures of gradients, broadcasting, the head, learned positions and masks say what is so."""

from __future__ import annotations

import re

import pytest
import torch
import torch.nn.functional as F
from matplotlib.colors import to_rgba
from matplotlib.patches import Rectangle

from tokpos.figures import broadcasting, gradients, head, languages, learned, positions
from tokpos.figures._canvas import Canvas, use_style
from tokpos.sinusoidal import sinusoidal

# A drawing gives whole pixels where its signature says float, which beartype refuses.
pytestmark = pytest.mark.usefixtures("unchecked_shapes")

TABLE = torch.randn(6, 3, generator=torch.Generator().manual_seed(3))
WORDS = ["<PAD>", "<UNK>", "我", "喜欢", "猫", "狗"]


def numbers(text: str) -> list[float]:
    found = re.findall(r"(?<![\w.])[−-]?\d[\d,]*(?:\.\d+)?", text.replace("−", "-"))
    return [float(number.rstrip(",").replace(",", "")) for number in found]


def drawn(figure, language="en"):
    canvas = Canvas(figure.name, language, "light")
    with use_style(canvas):
        figure._draw(canvas)
    return canvas.drawn, canvas


def texts(figure, language="en"):
    sheet, _ = drawn(figure, language)
    return [text.get_text() for axes in sheet.axes for text in axes.texts]


def filled(figure, role):
    sheet, canvas = drawn(figure)
    color = to_rgba(canvas.color(role))
    boxes = [patch for axes in sheet.axes for patch in axes.patches if isinstance(patch, Rectangle)]
    return sum(box.get_facecolor() == color for box in boxes)


# Gradients


def test_D04_the_figure_counts_each_lookup():
    figure = gradients.rows_with_gradient((1, 1, 4), size=5)
    assert "1, 4 by the lookup alone, 1, 4 if row 0" in figure.alt("en")
    assert "0, 1, 2, 3, 4 with a tied head" in figure.alt("en")
    shown = texts(figure)
    assert shown.count("2") == 2 and shown.count("1") == 2  # two columns, rows 1 and 4
    assert filled(figure, "token-soft") == 2 + 2 + 5


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("SGD", [0, -0.1, 0]),
        ("SGD, momentum", [-0.09, -0.1, 0]),
        ("Adam", [-0.067006, -0.074414, 0]),
        ("AdamW", [-0.067006 - 0.0089, -0.074414 - 0.0099, -0.0099]),
        ("SparseAdam", [0, -0.074414, 0]),
    ],
)
def test_D04_the_moves_that_are_drawn(name, expected):
    assert gradients._moves(name).tolist() == pytest.approx(expected, abs=2e-6)


def test_D04_a_tied_head_moves_every_row_in_the_figure():
    assert gradients._moves("SGD, tied head").count_nonzero() == 3
    figure = gradients.rows_that_move()
    assert filled(figure, "token-soft") == 1 + 2 + 2 + 3 + 1 + 3
    for language in languages():
        assert {-0.067, -0.074, -0.1} <= set(numbers(figure.alt(language)))


# Broadcasting


def test_axes_line_up_from_the_right():
    figure = broadcasting.axes_lined_up((5, 7, 2), (7, 2))
    assert {"no axis:", "repeated 5×"} <= set(texts(figure))
    assert figure.alt("en").endswith("The sum has the shape [5, 7, 2].")
    assert {"1:", "repeated 7×"} <= set(texts(broadcasting.axes_lined_up((5, 7, 2), (1, 2))))
    with pytest.raises(RuntimeError, match="mismatch|broadcast"):
        broadcasting.axes_lined_up((5, 7, 2), (6, 2))


def test_the_view_has_stride_0_and_one_row_of_memory():
    figure = broadcasting.stride_zero(2, 5)
    assert "5 numbers" in texts(figure) and "shape [2, 5]" in texts(figure)
    assert any(words.startswith("stride (0, 1)") for words in texts(figure))
    assert texts(figure).count("4") == 2 + 1


# The head


def test_one_matrix_is_read_by_a_row_and_by_all():
    hidden = torch.tensor([-1.0, -0.5, 1.0])
    figure = head.one_matrix(TABLE, 3, hidden, WORDS)
    logits = TABLE @ hidden
    assert f"the largest for “{WORDS[int(logits.argmax())]}”" in figure.alt("en")
    shown = texts(figure)
    for value in logits.tolist():
        assert f"{value:.1f}".replace("-", "−") in shown
    assert filled(figure, "token-soft") == 3 + 6 * 3
    assert filled(figure, "score-soft") == 1


@pytest.mark.parametrize(
    ("table", "hidden", "words"),
    [
        (torch.zeros(11, 3), torch.zeros(3), ["a"] * 11),
        (torch.zeros(6, 4), torch.zeros(4), WORDS),
        (TABLE, torch.zeros(2), WORDS),
        (TABLE, torch.zeros(3), WORDS[1:]),
    ],
)
def test_what_cannot_be_drawn_is_refused(table, hidden, words):
    with pytest.raises(ValueError, match="at most 10 rows and 3 columns"):
        head.one_matrix(table, 0, hidden, words)


def test_the_two_uses_add_up_to_the_gradient():
    ids, targets = [2, 3, 2], [3, 4, 5]
    one, other = head._halves_of_the_gradient(TABLE, ids, targets)
    shared = TABLE.clone().requires_grad_()
    F.cross_entropy(shared[ids] @ shared.T, torch.tensor(targets), reduction="sum").backward()
    torch.testing.assert_close(one + other, shared.grad)
    assert one.any(-1).nonzero().flatten().tolist() == [2, 3] and other.any(-1).all()
    assert "only the rows of 我, 喜欢" in head.two_uses(TABLE, ids, targets, WORDS).alt("en")


# Learned positions


def test_the_maps_hold_the_cosines():
    table = torch.randn(40, 8, generator=torch.Generator().manual_seed(0))
    images = [axes.images[0].get_array() for axes in drawn(learned.similarity_maps(table))[0].axes]
    for image, rows in zip(images, (table, sinusoidal(torch.arange(40), 8)), strict=False):
        expected = F.cosine_similarity(rows[:, None], rows[None], dim=-1)
        torch.testing.assert_close(torch.tensor(image.data), expected, rtol=0, atol=1 / 64 + 1e-5)
    near = F.cosine_similarity(table[1:], table[:-1]).mean().item()
    assert round(near, 2) in numbers(learned.similarity_maps(table).alt("en"))
    with pytest.raises(ValueError, match=r"\[N, D\]; got shape \[8\]"):
        learned.similarity_maps(table[0])


def test_the_curve_holds_the_means_of_the_diagonals():
    table = torch.randn(50, 8, generator=torch.Generator().manual_seed(0))
    figure = learned.similarity_by_distance(table, reach=20)
    curves = [line.get_ydata() for line in drawn(figure)[0].axes[0].lines]
    for curve, rows in zip(curves, (table, sinusoidal(torch.arange(50), 8)), strict=True):
        cosines = F.cosine_similarity(rows[:, None], rows[None], dim=-1)
        expected = [cosines.diagonal(distance).mean().item() for distance in range(1, 21)]
        assert list(curve) == pytest.approx(expected, abs=1e-5)
    assert {round(curves[0][0], 2), round(curves[1][-1], 2)} <= set(numbers(figure.alt("en")))
    with pytest.raises(ValueError, match=r"N above 50; got shape \[50, 8\]"):
        learned.similarity_by_distance(table, reach=50)


def test_the_two_tables_stand_side_by_side_with_a_line_behind_what_was_reached():
    one, other = torch.randn(2, 10, 4, generator=torch.Generator().manual_seed(0))
    sheet, _ = drawn(learned.two_tasks(one, other, 7))
    for axes, rows in zip(sheet.axes, (one, other), strict=True):
        expected = F.cosine_similarity(rows[:, None], rows[None], dim=-1)
        image = torch.tensor(axes.images[0].get_array().data)
        torch.testing.assert_close(image, expected, rtol=0, atol=1e-5)
        assert [line.get_ydata()[0] for line in axes.lines][0] == 6.5
    with pytest.raises(ValueError, match=r"N above 10; got shape \[10, 4\]"):
        learned.two_tasks(one, other, 10)


# Positions


def test_A03_left_padding_shows_the_positions_of_the_mask():
    figure = positions.left_padding([["a", "b"], ["c", "d", "e", "f"]])
    for language in languages():
        assert numbers(figure.alt(language)) == [2, 4, 2, 0, 1]
    assert texts(figure).count("[PAD]") == 2


@pytest.mark.parametrize("lengths", [(3, 4, 2), (1,), (2, 2, 2, 2), (6, 6)])
def test_packed_documents_fill_a_triangle_each(lengths):
    figure = positions.packed_documents(lengths)
    pairs = sum(n * (n + 1) // 2 for n in lengths)
    assert f"{pairs} of {sum(lengths) ** 2} pairs" in figure.alt("en")
    for role, length in zip(positions.ROLES, lengths, strict=False):
        assert filled(figure, role) == length * (length + 1) // 2


@pytest.mark.parametrize("lengths", [(1,) * 5, (9, 4), (0,)])
def test_too_many_documents_are_refused(lengths):
    with pytest.raises(ValueError, match=r"at most 4 and add up to 1\.\.12"):
        positions.packed_documents(lengths)
