"""The exceptions of Lamella. Each is an `Error`, and the closest built-in type as well."""


class Error(Exception):
    """Base of all. The message names the place from the outside in: file, element, chunk, fault."""


class NotFoundError(Error, FileNotFoundError, KeyError):
    """No such file or element."""

    __str__ = Exception.__str__  # KeyError's would show the quoted form


class ExistsError(Error, FileExistsError):
    """The target is there already and may not be replaced."""


class InvalidError(Error, ValueError):
    """The call makes no sense."""


class CorruptError(Error, ValueError, OSError):
    """The file disobeys its format."""


class UnsupportedError(Error, NotImplementedError):
    """Well-formed, but outside of what Lamella reads or writes."""


class OutOfBudgetError(Error, MemoryError):
    """Cannot be done within the memory that was granted; the message says what would do."""


class IoError(Error, OSError):
    """The operating system refused."""


class CancelledError(Error, KeyboardInterrupt):
    """Stopped by the user."""


class BugError(Error, RuntimeError):
    """An invariant of Lamella itself does not hold. Please report it."""
