"""One kind of error for everything a user can get wrong, and one kind of warning for what no record can tell."""

from __future__ import annotations


class InvalidInput(ValueError):
    """Input that vibayes cannot work with.

    The message always has the same four parts, so that a person can act on it without a traceback.

    Args:
        where: the object and field at fault, such as ``Record.output``.
        expected: what would have been accepted.
        got: what came instead.
        remedy: what to do about it, an imperative.

    Examples:
        >>> from vibayes.errors import InvalidInput
        >>> str(InvalidInput("Record.rate", "a positive number", "-3.0", "give samples per second"))
        'Record.rate: expected a positive number, got -3.0; give samples per second.'
    """

    def __init__(self, where: str, expected: str, got: str, remedy: str):
        self.where, self.expected, self.got, self.remedy = where, expected, got, remedy
        super().__init__(f"{where}: expected {expected}, got {got}; {remedy}.")


class IdentifiabilityWarning(UserWarning):
    """Something that the record cannot tell, whatever the method; the rest of the result holds.

    Examples:
        >>> from vibayes.errors import IdentifiabilityWarning
        >>> issubclass(IdentifiabilityWarning, UserWarning)
        True
    """
