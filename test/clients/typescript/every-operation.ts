/** Calls every operation of the OpenAPI document with openapi-fetch and types from openapi-typescript. */
import { randomUUID } from "node:crypto";
import { text } from "node:stream/consumers";

import createClient, { defaultPathSerializer } from "openapi-fetch";

import { walkHistory } from "./call-history.ts";
import { firstEvent, recordsIn } from "./streams.ts";
import { untilFound } from "./until-found.ts";
import type { components, paths } from "./weir.d.ts";

const [gateway = "", user = "", newer] = process.argv.slice(2);
const password = (await text(process.stdin)).trim();

function connect(baseUrl: string) {
  const client = createClient<paths, `application/${string}`>({
    baseUrl,
    headers: { authorization: `Basic ${btoa(`${user}:${password}`)}`, accept: "application/json" },
    // The function gets its query as `name=value`, which is not the library's default.
    querySerializer: { object: { style: "form", explode: true } },
    // The library escapes slashes in a path parameter as %2F, which would reach the function unchanged.
    pathSerializer: (path, values) => defaultPathSerializer(path, values).replaceAll("%2F", "/"),
  });
  client.use({
    onResponse: ({ request, schemaPath, response }) => {
      console.log(`${request.method} ${schemaPath} ${response.status}`);
    },
  });
  return client;
}

const client = connect(gateway);
const parseAs = "text";
const namespace = "typescript-all";
const name = "shout";
const called = `${name}.${namespace}`;

await client.GET("/system/info");
await client.GET("/healthz", { parseAs });
await client.GET("/openapi.json");
await client.GET("/openapi.yaml", { parseAs });
const page = await client.GET("/", { parseAs });
console.log(`the page begins with ${String(page.data).split("\n")[0]}`);
const doctor = await client.GET("/system/doctor");
console.log(`the doctor sees the ${doctor.data?.parts[0]?.part}`);
const callbacks = await client.GET("/.well-known/weir-callback-keys");
console.log(`callbacks are signed with ${callbacks.data?.keys[0]?.kty}`);
const stream = await client.GET("/system/watch", { params: { query: { on: "queues" } }, parseAs: "stream" });
const [event, data] = await firstEvent(stream.data);
const hello = JSON.parse(data) as components["schemas"]["WatchHello"];
console.log(`the stream says ${event} of API ${hello.apiVersion}`);
await client.GET("/.well-known/openid-configuration");
await client.GET("/.well-known/jwks.json");
await client.POST("/oauth/token", {
  headers: { "content-type": "application/x-www-form-urlencoded" },
  body: {
    grant_type: "urn:ietf:params:oauth:grant-type:token-exchange",
    subject_token: "e30.e30.c2ln",
    subject_token_type: "urn:ietf:params:oauth:token-type:jwt",
  },
});
const self = await client.GET("/system/iam/whoami");
console.log(`the user is ${self.data?.subject}`);
const deletion = { action: "Function:Delete", resource: `${namespace}:${name}` } as const;
const decision = await client.POST("/system/iam/simulate", { body: deletion });
console.log(`a deletion is allowed by the ${decision.data?.role}`);

const other = `${namespace}-2`;
const atOther = { params: { path: { namespace: other } }, body: { name: other } };
await client.POST("/system/namespaces", { body: { name: namespace, labels: { team: "blue" } } });
await client.PUT("/system/namespaces", { body: { name: namespace } });
await client.GET("/system/namespace/{namespace}", { params: { path: { namespace } } });
await client.GET("/system/namespaces");
await client.POST("/system/namespace/{namespace}", atOther);
await client.PUT("/system/namespace/{namespace}", atOther);
await client.DELETE("/system/namespace/{namespace}", atOther);

const secret = { name: "api-key", namespace, value: "s3cret" };
const inNamespace = { params: { query: { namespace } } };
await client.POST("/system/secrets", { body: secret });
await client.PUT("/system/secrets", { body: secret });
await client.GET("/system/secrets", inNamespace);

const deployment = {
  service: name,
  image: "shout:1",
  namespace,
  envProcess: `sh -c 'echo called >&2; echo "$Http_Path?$Http_Query"'`,
  secrets: ["api-key"],
  // The history keeps requests only of functions that ask for it.
  annotations: { "com.service.history.bodies": "1h" },
};
const ofFunction = { params: { path: { name }, query: { namespace } } };
await client.POST("/system/functions", { body: deployment });
await client.PUT("/system/functions", { body: deployment });
await client.GET("/system/functions", inNamespace);
await client.GET("/system/function/{name}", ofFunction);
await client.POST("/system/scale-function/{name}", { ...ofFunction, body: { replicas: 1 } });
await client.POST("/system/alert", {
  body: { alerts: [{ status: "resolved", labels: { function_name: called } }] },
});
// A record is stored a moment after the reply.
const created = await untilFound("audited", async () => {
  const audit = await client.GET("/system/audit", { params: { query: { action: "Function:Create" } }, parseAs });
  const records = recordsIn<components["schemas"]["AuditRecord"]>(audit.data);
  return records.find(({ resource }) => resource === `${namespace}:${name}`);
});
console.log(`the audit has ${created.action} by ${created.subject}`);

const sent = { body: "hello", bodySerializer: String, parseAs } as const;
const query = { query: { x: "1" } };
await client.POST("/function/{name}", { ...sent, params: { path: { name: called } } });
const nested = await client.POST("/function/{name}/{path}", {
  ...sent,
  params: { path: { name: called, path: "a/b" }, query },
});
console.log(`the function got ${String(nested.data).trim()}`);

const queued = await client.POST("/async-function/{target}", { ...sent, params: { path: { target: called } } });
const target = queued.response.headers.get("x-call-id") ?? "";
const record = await client.GET("/async-function/{target}", { params: { path: { target }, query: { wait: "30s" } } });
console.log(`the call is ${record.data?.state}`);
await client.GET("/async-function/{target}/result", { params: { path: { target } }, parseAs });
await client.DELETE("/async-function/{target}", { params: { path: { target } } });
await client.DELETE("/async-function/{target}/{path}", { params: { path: { target: called, path: target } } });
await client.POST("/async-function/{target}/{path}", {
  ...sent,
  params: { path: { target: called, path: "a/b" }, query },
});

const logs = await client.GET("/system/logs", { params: { query: { name, namespace, tail: 1 } }, parseAs });
const [line] = recordsIn<components["schemas"]["LogRecord"]>(logs.data);
console.log(`the function wrote ${line?.text.trim()}`);
await walkHistory(client, called, target);

const letter = { params: { path: { queue: "default", callId: randomUUID() } } };
const ofQueue = { params: { path: { queue: "default" } } };
await client.GET("/system/queues");
await client.GET("/system/queue/{queue}", ofQueue);
await client.GET("/system/queue/{queue}/dead-letters", ofQueue);
await client.POST("/system/queue/{queue}/dead-letters/{callId}/redrive", letter);
await client.DELETE("/system/queue/{queue}/dead-letters/{callId}", letter);

await client.DELETE("/system/functions", { body: { functionName: name, namespace } });
await client.DELETE("/system/secrets", { body: { name: "api-key", namespace } });
await client.DELETE("/system/namespaces", { body: { name: namespace } });
const gone = await client.GET("/system/function/{name}", ofFunction);
console.log(`afterwards: ${gone.error?.code}`);

if (newer !== undefined) {
  // A server that is newer than the document, with a function that returns 404.
  const stranger = connect(newer);
  const refused = await stranger.GET("/system/function/{name}", { params: { path: { name } } });
  console.log(`new code: ${refused.error?.code}`);
  const unknown = await stranger.GET("/async-function/{target}", { params: { path: { target: randomUUID() } } });
  console.log(`new state: ${unknown.data?.state}`);
  const own = await stranger.POST("/function/{name}", { ...sent, params: { path: { name } } });
  console.log(`own error: ${String(own.error)}`);
}
