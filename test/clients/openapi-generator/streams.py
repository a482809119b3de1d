"""Reading what is no single JSON object."""

from weir_client.api import PlatformApi
from weir_client.models import WatchHello


def records(model, answer):
    """The objects of an answer that has one in each line."""
    return [model.from_json(line.decode()) for line in answer.data.splitlines() if line.strip()]


def first_event(client):
    """Name and data of the first event of a stream that has no end; `told` would read it whole."""
    with PlatformApi(client).watch_platform_without_preload_content(on="queues") as response:
        print("watch_platform", response.status)
        lines = iter(response)
        event, data = next(lines).decode().strip(), next(lines).decode()
    return event.removeprefix("event: "), WatchHello.from_json(data.removeprefix("data: "))
