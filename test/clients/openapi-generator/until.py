"""Waiting for what comes a moment later."""

import time


def until(ask):
    """Asks until there is an answer; after 30 s it is an error that names the question."""
    for _ in range(300):
        answer = ask()
        if answer is not None:
            return answer
        time.sleep(0.1)
    raise SystemExit(f"It took longer than 30 s until it was {ask.__name__}")
