"""How objects show themselves in notebooks: small tables, with all text escaped."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

_CELL = 'style="text-align:left;padding:0.2em 1em 0.2em 0"'


def card(title: str, head: Sequence[str], rows: Sequence[Sequence[object]], notes: Sequence[str] = ()) -> str:
    """A title, a table and notes as HTML that needs no stylesheet.

    Args:
        title: above the table.
        head: of the columns.
        rows: shown as text.
        notes: below the table.

    Examples:
        >>> "<b>" in card("<b>", ("name",), [("k",)])
        False
    """
    top = "".join(f'<th scope="col" {_CELL}>{escape(each)}</th>' for each in head)
    body = "".join("<tr>" + "".join(f"<td {_CELL}>{escape(str(each))}</td>" for each in row) + "</tr>" for row in rows)
    below = "".join(f"<div>{escape(note)}</div>" for note in notes)
    return (
        f"<div><strong>{escape(title)}</strong><table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>"
        f"{below}</div>"
    )
