"""Deploys, calls and removes a function with the client that openapi-python-client made."""

import base64
import io
import json
import sys

from until import until
from weir_client import AuthenticatedClient
from weir_client.api.asynchronous_calls import get_call, get_call_result, queue_call
from weir_client.api.calls import call_function
from weir_client.api.functions import (
    create_function,
    delete_function,
    get_function,
    list_functions,
    replace_function,
    scale_function,
)
from weir_client.api.logs import read_logs
from weir_client.api.namespaces import create_namespace, delete_namespace_by_name, list_namespaces
from weir_client.api.platform import get_info
from weir_client.api.secrets import create_secret, delete_secret, list_secrets, replace_secret
from weir_client.models import (
    DeleteFunctionRequest,
    FunctionDeployment,
    FunctionNamespace,
    Labels,
    LogRecord,
    ProblemDetails,
    ScaleServiceRequest,
    Secret,
    SecretReference,
)
from weir_client.types import File

gateway, user = sys.argv[1:]
password = sys.stdin.readline().strip()
client = AuthenticatedClient(
    base_url=gateway,
    prefix="Basic",
    token=base64.b64encode(f"{user}:{password}".encode()).decode(),
    # The generated code reads errors as JSON.
    headers={"Accept": "application/json"},
)


def must(answer):
    """What the gateway answered; ends the program with what the gateway says when it is an error."""
    if isinstance(answer.parsed, ProblemDetails) or answer.status_code >= 300:
        raise SystemExit(f"{answer.status_code} {answer.content.decode()}")
    return answer.parsed


def body():
    return File(payload=io.BytesIO(b"hello"))


namespace = "python"
name = "shout"
print(f"provider: {must(get_info.sync_detailed(client=client)).provider.orchestration}")

must(create_namespace.sync_detailed(client=client, body=FunctionNamespace(name=namespace)))
print(f"namespaces: {', '.join(must(list_namespaces.sync_detailed(client=client)))}")

must(create_secret.sync_detailed(client=client, body=Secret(name="api-key", namespace=namespace, value="s3cret")))
must(replace_secret.sync_detailed(client=client, body=Secret(name="api-key", namespace=namespace, value="n3w")))
secrets = must(list_secrets.sync_detailed(client=client, namespace=namespace))
print(f"secrets: {', '.join(secret.name for secret in secrets)}")

deployment = FunctionDeployment(
    service=name,
    image="shout:1",
    namespace=namespace,
    env_process="sh -c 'echo called >&2; tr a-z A-Z'",
    secrets=["api-key"],
    labels=Labels.from_dict({"team": "blue"}),
)
must(replace_function.sync_detailed(client=client, body=deployment))
functions = must(list_functions.sync_detailed(client=client, namespace=namespace))
teams = [f"{each.name} of team {each.labels['team']}" for each in functions]
print(f"functions: {', '.join(teams)}")
again = create_function.sync_detailed(client=client, body=deployment)
print(f"once more: {again.status_code} {again.parsed.code}")

answer = must(call_function.sync_detailed(f"{name}.{namespace}", client=client, body=body()))
print(f"call: {answer.payload.read().decode()}")

queued = queue_call.sync_detailed(f"{name}.{namespace}", client=client, body=body())
must(queued)
call_id = queued.headers["X-Call-Id"]
record = must(get_call.sync_detailed(call_id, client=client, wait="30s"))
result = must(get_call_result.sync_detailed(call_id, client=client))
print(f"queued call: {record.state}, {result.payload.read().decode()}")

request = ScaleServiceRequest(replicas=2)
must(scale_function.sync_detailed(name, client=client, namespace=namespace, body=request))


def ready():
    status = must(get_function.sync_detailed(name, client=client, namespace=namespace))
    return status if status.available_replicas == 2 else None


status = until(ready)
print(f"replicas: {status.available_replicas} of {status.replicas} ready")

logs = must(read_logs.sync_detailed(client=client, name=name, namespace=namespace, tail=10)).payload
records = [LogRecord.from_dict(json.loads(line)) for line in logs if line.strip()]
print(f"logs: {', '.join(record.text.strip() for record in records)}")

must(delete_function.sync_detailed(client=client, body=DeleteFunctionRequest(function_name=name, namespace=namespace)))
must(delete_secret.sync_detailed(client=client, body=SecretReference(name="api-key", namespace=namespace)))
must(delete_namespace_by_name.sync_detailed(namespace, client=client))
gone = get_function.sync_detailed(name, client=client, namespace=namespace)
print(f"afterwards: {gone.status_code} {gone.parsed.code}")
