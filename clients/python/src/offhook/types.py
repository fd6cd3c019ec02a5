"""Types of requests and answers, as they are in JSON."""

from ._generated.types import *  # noqa: F403
