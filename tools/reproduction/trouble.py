"""The error that ends a run: one line that names the thing, says what is wrong and what to do."""


class Trouble(Exception):
    pass
