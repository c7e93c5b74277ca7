"""What can go wrong, each with the library's one line that says what is wrong and what would be right."""


class Error(Exception):
    """Something failed: a file that cannot be read, too little memory, a device, a model of one's own."""


class UsageError(Error, ValueError):
    """A value that is not allowed: an option outside its range, an unknown method, a prompt that is too long."""
