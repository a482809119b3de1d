"""Reading what is no single JSON object."""

import json

from weir_client.api.platform import watch_platform
from weir_client.models import WatchHello


def records(model, answer):
    """The objects of an answer that has one in each line."""
    return [model.from_dict(json.loads(line)) for line in answer.parsed.payload if line.strip()]


def first_event(client):
    """Name and data of the first event of a stream that has no end; the generated function would read it whole."""
    with client.get_httpx_client().stream(**watch_platform._get_kwargs(on="queues")) as response:
        print("watch_platform", response.status_code)
        lines = response.iter_lines()
        event, data = next(lines), next(lines)
    return event.removeprefix("event: "), WatchHello.from_dict(json.loads(data.removeprefix("data: ")))
