"""How a workload ends that does not end well."""


class FailedError(Exception):
    """Operations failed, which the events told; the text is the engine's words for the last of them."""


class StreamBrokenError(Exception):
    """The generator failed, or its stream ended in the middle; the text says which."""
