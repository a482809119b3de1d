"""Reads what is known of a queued call, replays it and deletes it."""

import base64
import uuid

from streams import records
from until import until
from weir_client.api.asynchronous_calls import get_call
from weir_client.api.call_history import (
    delete_call,
    get_call_detail,
    get_call_request,
    list_calls,
    read_call_logs,
    read_rollups,
    replay_call,
)
from weir_client.models import CallLogLine, ReplayRequest


def walk_history(told, called, call_id):
    """Calls the operations of the history by `told`, with an ended call of the function `called`."""

    def listed():
        items = told(list_calls, function=called, state="done").parsed.items
        return next((item for item in items if item.call_id == call_id), None)

    print(f"the history lists the call as {until(listed).state}")

    # Its request and lines are kept a moment after its end.
    def kept():
        detail = told(get_call_detail, call_id).parsed
        return detail if detail.request.kept else None

    def logged():
        return next(iter(records(CallLogLine, told(read_call_logs, call_id))), None)

    print(f"the call began when it was {until(kept).timeline[0].kind}")
    print(f"the call wrote {until(logged).text.strip()}")
    request = told(get_call_request, call_id).parsed
    print(f"the request was {request.method} {base64.b64decode(request.body).decode()}")

    replay = told(replay_call, call_id, body=ReplayRequest(callback=False))
    record = told(get_call, uuid.UUID(replay.headers["X-Call-Id"]), wait="30s").parsed
    print(f"the replay is {record.state}")
    print(f"the replay of {call_id} names {record.replay_of}")

    told(delete_call, call_id)
    print(f"the request after that: {told(get_call_request, call_id).parsed.code}")

    def counted():
        # Figures come every 10 s.
        series = told(read_rollups, function=called).parsed.series[0]
        return series if any(series.calls) else None

    print(f"the rollups count calls of {until(counted).function_name}")
