import { text } from "node:stream/consumers";

import createClient from "openapi-fetch";

import { untilFound } from "./until-found.ts";
import type { components, paths } from "./weir.d.ts";

const [gateway = "", user = ""] = process.argv.slice(2);
const password = (await text(process.stdin)).trim();
// Errors come as JSON, as the client accepts it.
const client = createClient<paths, `application/${string}`>({
  baseUrl: gateway,
  headers: { authorization: `Basic ${btoa(`${user}:${password}`)}`, accept: "application/json" },
});

/** The data of a response; an error ends the program with what the gateway says. */
function must<Result extends { error?: unknown; data?: unknown }>(
  response: Result,
): Extract<Result, { error?: never }>["data"] {
  if (response.error !== undefined) throw new Error(JSON.stringify(response.error));
  return response.data;
}

const namespace = "typescript";
const name = "shout";
const { provider } = must(await client.GET("/system/info"));
console.log(`provider: ${provider.orchestration}`);

must(await client.POST("/system/namespaces", { body: { name: namespace } }));
console.log(`namespaces: ${must(await client.GET("/system/namespaces")).join(", ")}`);

must(await client.POST("/system/secrets", { body: { name: "api-key", namespace, value: "s3cret" } }));
must(await client.PUT("/system/secrets", { body: { name: "api-key", namespace, value: "n3w" } }));
const secrets = must(await client.GET("/system/secrets", { params: { query: { namespace } } }));
console.log(`secrets: ${secrets.map((secret) => secret.name).join(", ")}`);

const deployment = {
  service: name,
  image: "shout:1",
  namespace,
  envProcess: "sh -c 'echo called >&2; tr a-z A-Z'",
  secrets: ["api-key"],
};
must(await client.PUT("/system/functions", { body: { ...deployment, labels: { team: "blue" } } }));
const functions = must(await client.GET("/system/functions", { params: { query: { namespace } } }));
console.log(`functions: ${functions.map((each) => `${each.name} of team ${each.labels["team"]}`).join(", ")}`);
const again = await client.POST("/system/functions", { body: deployment });
console.log(`once more: ${again.response.status} ${again.error?.code}`);

const call = { params: { path: { name: `${name}.${namespace}` } }, body: "hello", bodySerializer: String };
console.log(`call: ${must(await client.POST("/function/{name}", { ...call, parseAs: "text" }))}`);

const queued = await client.POST("/async-function/{target}", {
  ...call,
  params: { path: { target: `${name}.${namespace}` } },
});
must(queued);
const target = queued.response.headers.get("x-call-id") ?? "";
const record = must(
  await client.GET("/async-function/{target}", { params: { path: { target }, query: { wait: "30s" } } }),
);
const result = await client.GET("/async-function/{target}/result", { params: { path: { target } }, parseAs: "text" });
console.log(`queued call: ${record.state}, ${must(result)}`);

const scaled = { params: { path: { name }, query: { namespace } } };
must(await client.POST("/system/scale-function/{name}", { ...scaled, body: { replicas: 2 } }));
const ready = await untilFound("ready", async () => {
  const status = must(await client.GET("/system/function/{name}", scaled));
  return status.availableReplicas === 2 ? status : undefined;
});
console.log(`replicas: ${ready.availableReplicas} of ${ready.replicas} ready`);

const logs = { params: { query: { name, namespace, tail: 10 } }, parseAs: "text" as const };
const lines = must(await client.GET("/system/logs", logs))
  .trim()
  .split("\n");
const texts = lines.map((line) => (JSON.parse(line) as components["schemas"]["LogRecord"]).text.trim());
console.log(`logs: ${texts.join(", ")}`);

must(await client.DELETE("/system/functions", { body: { functionName: name, namespace } }));
must(await client.DELETE("/system/secrets", { body: { name: "api-key", namespace } }));
must(await client.DELETE("/system/namespace/{namespace}", { params: { path: { namespace } } }));
const gone = await client.GET("/system/function/{name}", scaled);
console.log(`afterwards: ${gone.response.status} ${gone.error?.code}`);
