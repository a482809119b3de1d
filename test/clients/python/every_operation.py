"""Calls every operation of the document with the client that openapi-python-client made."""

import base64
import io
import sys
import uuid

from call_history import walk_history
from streams import first_event, records
from until import until
from weir_client import AuthenticatedClient
from weir_client.api.asynchronous_calls import (
    cancel_call,
    cancel_call_of_function,
    get_call,
    get_call_result,
    queue_call,
    queue_call_at_path,
)
from weir_client.api.calls import call_function, call_function_at_path
from weir_client.api.functions import (
    create_function,
    delete_function,
    get_function,
    list_functions,
    replace_function,
    scale_function,
)
from weir_client.api.identity import (
    exchange_token,
    get_keys,
    get_open_id_configuration,
    simulate_access,
    who_am_i,
)
from weir_client.api.logs import read_logs
from weir_client.api.namespaces import (
    create_namespace,
    create_namespace_by_name,
    delete_namespace,
    delete_namespace_by_name,
    get_namespace,
    list_namespaces,
    replace_namespace,
    replace_namespace_by_name,
)
from weir_client.api.platform import (
    get_callback_keys,
    get_doctor_report,
    get_health,
    get_info,
    get_open_api_json,
    get_open_api_yaml,
    get_start_page,
    read_audit,
    receive_alert,
)
from weir_client.api.queues import (
    delete_dead_letter,
    get_queue,
    list_dead_letters,
    list_queues,
    redrive_dead_letter,
)
from weir_client.api.secrets import create_secret, delete_secret, list_secrets, replace_secret
from weir_client.models import (
    AlertNotification,
    Annotations,
    AuditRecord,
    DeleteFunctionRequest,
    FunctionDeployment,
    FunctionNamespace,
    LogRecord,
    QueryParameters,
    ScaleServiceRequest,
    Secret,
    SecretReference,
    SimulateRequest,
    TokenRequest,
)
from weir_client.types import File


def keep_slashes(request):
    """The generated code writes slashes of a path parameter as %2F, which reaches the function as it is."""
    request.url = request.url.copy_with(raw_path=request.url.raw_path.replace(b"%2F", b"/"))


def connect(address, user, password):
    return AuthenticatedClient(
        base_url=address,
        prefix="Basic",
        token=base64.b64encode(f"{user}:{password}".encode()).decode(),
        # The generated code reads errors as JSON.
        headers={"Accept": "application/json"},
        httpx_args={"event_hooks": {"request": [keep_slashes]}},
    )


gateway, user, *newer = sys.argv[1:]
client = connect(gateway, user, sys.stdin.readline().strip())


def told(operation, *arguments, **options):
    """Calls an operation and prints its status."""
    answer = operation.sync_detailed(*arguments, client=client, **options)
    print(operation.__name__.rpartition(".")[2], int(answer.status_code))
    return answer


def body():
    return File(payload=io.BytesIO(b"hello"))


namespace = "python-all"
name = "shout"
called = f"{name}.{namespace}"

told(get_info)
told(get_health)
told(get_open_api_json)
told(get_open_api_yaml)
print(f"the page begins with {told(get_start_page).parsed.splitlines()[0]}")
print(f"the doctor sees the {told(get_doctor_report).parsed.parts[0].part}")
print(f"callbacks are signed with {told(get_callback_keys).parsed.keys[0].kty}")
event, hello = first_event(client)
print(f"the stream says {event} of API {hello.api_version}")
told(get_open_id_configuration)
told(get_keys)
exchange = {
    "grant_type": "urn:ietf:params:oauth:grant-type:token-exchange",
    "subject_token": "e30.e30.c2ln",
    "subject_token_type": "urn:ietf:params:oauth:token-type:jwt",
}
told(exchange_token, body=TokenRequest.from_dict(exchange))
print(f"the user is {told(who_am_i).parsed.subject}")
deletion = SimulateRequest.from_dict({"action": "Function:Delete", "resource": f"{namespace}:{name}"})
print(f"a deletion is allowed by the {told(simulate_access, body=deletion).parsed.role}")

own = FunctionNamespace.from_dict({"name": namespace, "labels": {"team": "blue"}})
other = FunctionNamespace(name=f"{namespace}-2")
told(create_namespace, body=own)
told(replace_namespace, body=own)
told(get_namespace, namespace)
told(list_namespaces)
told(create_namespace_by_name, other.name, body=other)
told(replace_namespace_by_name, other.name, body=other)
told(delete_namespace_by_name, other.name)

secret = Secret(name="api-key", namespace=namespace, value="s3cret")
told(create_secret, body=secret)
told(replace_secret, body=secret)
told(list_secrets, namespace=namespace)

deployment = FunctionDeployment(
    service=name,
    image="shout:1",
    namespace=namespace,
    env_process="sh -c 'echo called >&2; echo \"$Http_Path?$Http_Query\"'",
    secrets=["api-key"],
    # The history keeps requests only of functions that ask for it.
    annotations=Annotations.from_dict({"com.service.history.bodies": "1h"}),
)
told(create_function, body=deployment)
told(replace_function, body=deployment)
told(list_functions, namespace=namespace)
told(get_function, name, namespace=namespace, usage=True)
told(scale_function, name, namespace=namespace, body=ScaleServiceRequest(replicas=1))
alert = {"alerts": [{"status": "resolved", "labels": {"function_name": called}}]}
told(receive_alert, body=AlertNotification.from_dict(alert))


def audited():
    # A record is stored a moment after the answer.
    found = records(AuditRecord, told(read_audit, action="Function:Create"))
    return next((record for record in found if record.resource == f"{namespace}:{name}"), None)


created = until(audited)
print(f"the audit has {created.action} by {created.subject}")

query = QueryParameters.from_dict({"x": "1"})
told(call_function, called, body=body())
nested = told(call_function_at_path, called, "a/b", body=body(), query=query)
print(f"the function got {nested.parsed.payload.read().decode().strip()}")
queued = told(queue_call, called, body=body())
call_id = uuid.UUID(queued.headers["X-Call-Id"])
print(f"the call is {told(get_call, call_id, wait='30s').parsed.state}")
told(get_call_result, call_id)
told(cancel_call, call_id)
told(cancel_call_of_function, called, call_id)
told(queue_call_at_path, called, "a/b", body=body(), query=query)

lines = records(LogRecord, told(read_logs, name=name, namespace=namespace, tail=1))
print(f"the function wrote {lines[0].text.strip()}")
walk_history(told, called, call_id)

unknown = uuid.uuid4()
told(list_queues)
told(get_queue, "default")
told(list_dead_letters, "default")
told(redrive_dead_letter, "default", unknown)
told(delete_dead_letter, "default", unknown)

told(delete_function, body=DeleteFunctionRequest(function_name=name, namespace=namespace))
told(delete_secret, body=SecretReference(name="api-key", namespace=namespace))
told(delete_namespace, body=FunctionNamespace(name=namespace))
print(f"afterwards: {told(get_function, name, namespace=namespace).parsed.code}")

if newer:
    # A server that is newer than the document, with a function that answers 404.
    client = connect(newer[0], "", "")
    print(f"new code: {told(get_function, name).parsed.code}")
    print(f"new state: {told(get_call, unknown).parsed.state}")
    print(f"own error: {told(call_function, name, body=body()).parsed.payload.read().decode()}")
