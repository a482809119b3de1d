"""Calls every operation of the document with the client that OpenAPI Generator made for Python."""

import sys
import uuid

from call_history import call_id_in, walk_history
from streams import first_event, records
from until import until
from weir_client import ApiClient, Configuration
from weir_client.api import (
    AsynchronousCallsApi,
    CallsApi,
    FunctionsApi,
    IdentityApi,
    LogsApi,
    NamespacesApi,
    PlatformApi,
    QueuesApi,
    SecretsApi,
)
from weir_client.exceptions import ApiException
from weir_client.models import (
    AlertNotification,
    AuditRecord,
    DeleteFunctionRequest,
    FunctionDeployment,
    FunctionNamespace,
    LogRecord,
    ScaleServiceRequest,
    Secret,
    SecretReference,
    SimulateRequest,
)


def connect(address, user, password):
    # By itself the generated code writes slashes of a path parameter as %2F, which reaches the function as it is.
    client = ApiClient(Configuration(host=address, username=user, password=password, safe_chars_for_path_param="/"))
    # Otherwise it would take errors of `read_logs` as text, which it cannot read.
    client.set_default_header("Accept", "application/json")
    return client


gateway, user, *newer = sys.argv[1:]
client = connect(gateway, user, sys.stdin.readline().strip())


def told(api, operation, *arguments, **options):
    """Calls an operation, prints its status and returns the answer, which is an exception if it is an error."""
    try:
        answer = getattr(api(client), f"{operation}_with_http_info")(*arguments, **options)
        print(operation, answer.status_code)
    except ApiException as error:
        answer = error
        print(operation, error.status)
    return answer


# A name that is new: one that was deleted a moment ago may still be taken.
namespace = f"generator-{uuid.uuid4().hex[:8]}"
name = "shout"
called = f"{name}.{namespace}"

told(PlatformApi, "get_info")
told(PlatformApi, "get_health")
told(PlatformApi, "get_open_api_json")
told(PlatformApi, "get_open_api_yaml")
print(f"the page begins with {told(PlatformApi, 'get_start_page').data.splitlines()[0]}")
print(f"the doctor sees the {told(PlatformApi, 'get_doctor_report').data.parts[0].part}")
print(f"callbacks are signed with {told(PlatformApi, 'get_callback_keys').data.keys[0].kty}")
event, hello = first_event(client)
print(f"the stream says {event} of API {hello.api_version}")
told(IdentityApi, "get_open_id_configuration")
told(IdentityApi, "get_keys")
exchange = "urn:ietf:params:oauth:grant-type:token-exchange"
told(IdentityApi, "exchange_token", exchange, "e30.e30.c2ln", "urn:ietf:params:oauth:token-type:jwt")
print(f"the user is {told(IdentityApi, 'who_am_i').data.subject}")
deletion = SimulateRequest(action="Function:Delete", resource=f"{namespace}:{name}")
print(f"a deletion is allowed by the {told(IdentityApi, 'simulate_access', deletion).data.role}")

own = FunctionNamespace(name=namespace, labels={"team": "blue"})
other = FunctionNamespace(name=f"{namespace}-2")
told(NamespacesApi, "create_namespace", own)
told(NamespacesApi, "replace_namespace", own)
told(NamespacesApi, "get_namespace", namespace)
told(NamespacesApi, "list_namespaces")
told(NamespacesApi, "create_namespace_by_name", other.name, other)
told(NamespacesApi, "replace_namespace_by_name", other.name, other)
told(NamespacesApi, "delete_namespace_by_name", other.name)

secret = Secret(name="api-key", namespace=namespace, value="s3cret")
told(SecretsApi, "create_secret", secret)
told(SecretsApi, "replace_secret", secret)
told(SecretsApi, "list_secrets", namespace=namespace)

deployment = FunctionDeployment(
    service=name,
    image="shout:1",
    namespace=namespace,
    env_process="sh -c 'echo called >&2; echo \"$Http_Path?$Http_Query\"'",
    secrets=["api-key"],
    # The history keeps requests only of functions that ask for it.
    annotations={"com.service.history.bodies": "1h"},
)
told(FunctionsApi, "create_function", deployment)
told(FunctionsApi, "replace_function", deployment)
told(FunctionsApi, "list_functions", namespace=namespace)
told(FunctionsApi, "get_function", name, namespace=namespace, usage=True)
told(FunctionsApi, "scale_function", name, ScaleServiceRequest(replicas=1), namespace=namespace)
alert = {"alerts": [{"status": "resolved", "labels": {"function_name": called}}]}
told(PlatformApi, "receive_alert", AlertNotification.from_dict(alert))


def audited():
    # A record is stored a moment after the answer.
    found = records(AuditRecord, told(PlatformApi, "read_audit", action="Function:Create"))
    return next((record for record in found if record.resource == f"{namespace}:{name}"), None)


created = until(audited)
print(f"the audit has {created.action} by {created.subject}")

query = {"x": "1"}
told(CallsApi, "call_function", called, body=b"hello")
nested = told(CallsApi, "call_function_at_path", called, "a/b", query=query, body=b"hello")
print(f"the function got {nested.data.decode().strip()}")
queued = told(AsynchronousCallsApi, "queue_call", called, body=b"hello")
call_id = call_id_in(queued)
print(f"the call is {told(AsynchronousCallsApi, 'get_call', call_id, wait='30s').data.state}")
told(AsynchronousCallsApi, "get_call_result", call_id)
told(AsynchronousCallsApi, "cancel_call", call_id)
told(AsynchronousCallsApi, "cancel_call_of_function", called, call_id)
told(AsynchronousCallsApi, "queue_call_at_path", called, "a/b", query=query, body=b"hello")

lines = records(LogRecord, told(LogsApi, "read_logs", name, namespace=namespace, tail=1))
print(f"the function wrote {lines[0].text.strip()}")
walk_history(told, called, call_id)

unknown = uuid.uuid4()
told(QueuesApi, "list_queues")
told(QueuesApi, "get_queue", "default")
told(QueuesApi, "list_dead_letters", "default")
told(QueuesApi, "redrive_dead_letter", "default", unknown)
told(QueuesApi, "delete_dead_letter", "default", unknown)

told(FunctionsApi, "delete_function", DeleteFunctionRequest(function_name=name, namespace=namespace))
told(SecretsApi, "delete_secret", SecretReference(name="api-key", namespace=namespace))
told(NamespacesApi, "delete_namespace", FunctionNamespace(name=namespace))
print(f"afterwards: {told(FunctionsApi, 'get_function', name, namespace=namespace).data.code}")

if newer:
    # A server that is newer than the document, with a function that answers 404.
    client = connect(newer[0], "", "")
    print(f"new code: {told(FunctionsApi, 'get_function', name).data.code}")
    print(f"new state: {told(AsynchronousCallsApi, 'get_call', unknown).data.state}")
    print(f"own error: {told(CallsApi, 'call_function', name, body=b'hello').data.decode()}")
