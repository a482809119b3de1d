"""Reads what is known of a queued call, replays it and deletes it."""

import base64
import uuid

from streams import records
from until import until
from weir_client.api import AsynchronousCallsApi, CallHistoryApi
from weir_client.models import CallLogLine, ReplayRequest


def call_id_in(answer):
    """The id of the call that an answer tells; the generated code gives headers as they came, in any case."""
    headers = {header.lower(): value for header, value in answer.headers.items()}
    return uuid.UUID(headers["x-call-id"])


def walk_history(told, called, call_id):
    """Calls the operations of the history by `told`, with an ended call of the function `called`."""

    def listed():
        items = told(CallHistoryApi, "list_calls", function=called, state="done").data.items
        return next((item for item in items if item.call_id == call_id), None)

    print(f"the history lists the call as {until(listed).state}")

    # Its request and lines are kept a moment after its end.
    def kept():
        detail = told(CallHistoryApi, "get_call_detail", call_id).data
        return detail if detail.request.kept else None

    def logged():
        return next(iter(records(CallLogLine, told(CallHistoryApi, "read_call_logs", call_id))), None)

    print(f"the call began when it was {until(kept).timeline[0].kind}")
    print(f"the call wrote {until(logged).text.strip()}")
    request = told(CallHistoryApi, "get_call_request", call_id).data
    print(f"the request was {request.method} {base64.b64decode(request.body).decode()}")

    replay = told(CallHistoryApi, "replay_call", call_id, ReplayRequest(callback=False))
    record = told(AsynchronousCallsApi, "get_call", call_id_in(replay), wait="30s").data
    print(f"the replay is {record.state}")
    print(f"the replay of {call_id} names {record.replay_of}")

    told(CallHistoryApi, "delete_call", call_id)
    print(f"the request after that: {told(CallHistoryApi, 'get_call_request', call_id).data.code}")

    def counted():
        # Figures come every 10 s.
        series = told(CallHistoryApi, "read_rollups", function=called).data.series[0]
        return series if any(series.calls) else None

    print(f"the rollups count calls of {until(counted).function_name}")
