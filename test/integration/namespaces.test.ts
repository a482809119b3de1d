import type { ServerResponse } from "node:http";

import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { NatsFunctionStore } from "../../runtime/adapters/nats/stores/nats-function-store.ts";
import { NatsLink } from "../../runtime/adapters/nats/link/nats-link.ts";
import { NatsNamespaceStore } from "../../runtime/adapters/nats/stores/nats-namespace-store.ts";
import { natsUser } from "../../runtime/api/broker/nats-users.ts";
import { openCallbackSink, type CallbackSink } from "../support/callback-sink.ts";
import { eventually } from "../support/eventually.ts";
import { openFunctionServer, type FunctionServer } from "../support/function-server.ts";
import { openPlatform, type Platform } from "../support/platform.ts";
import type { Answer } from "../support/platform-calls.ts";

const gatewayFlags: string[] = ["--edition=pro"];

let platform: Platform;
let servers: Record<"functions" | "dev" | "openfaas-fn", FunctionServer>;
let held: FunctionServer;
let waiting: ServerResponse | undefined;
let sink: CallbackSink;
let link: NatsLink;
/** As the provider has them. */
let namespaces: NatsNamespaceStore;
let functions: NatsFunctionStore;

const named = (text: string): Promise<FunctionServer> => openFunctionServer((_request, response) => response.end(text));

beforeAll(async () => {
  platform = await openPlatform({ gatewayFlags });
  servers = {
    functions: await named("default"),
    dev: await named("dev"),
    "openfaas-fn": await named("real"),
  };
  held = await openFunctionServer((_request, response) => {
    waiting = response;
  });
  sink = await openCallbackSink();
  link = await NatsLink.open({
    ...platform.server.access(natsUser.provider),
    name: "test",
    pingInterval: 1_000,
  });
  namespaces = new NatsNamespaceStore(link);
  functions = new NatsFunctionStore(link);
});
afterAll(async () => {
  await link?.close();
  await platform?.close();
  await sink?.close();
  for (const server of [...Object.values(servers ?? {}), held]) await server?.close();
});

function system(method: string, path: string, body?: unknown): Promise<Answer> {
  return platform.calls.send(method, `/system/${path}`, {
    headers: { authorization: platform.authorization, accept: "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
}

/** Deploys and publishes as the provider does, and waits until the gateway knows the address. */
async function deploy(name: string, namespace: string, address: string): Promise<void> {
  expect((await system("PUT", "functions", { service: name, namespace, image: "none" })).status).toBe(202);
  await platform.broker.endpoints.publish({
    name,
    namespace,
    addresses: [address],
    observedGeneration: 1,
    conditions: [],
  });
  await eventually(
    async () => {
      const response = await system("GET", `function/${name}?namespace=${namespace}`);
      return response.status === 200 && JSON.parse(response.body.toString()).availableReplicas === 1;
    },
    { what: `${name}.${namespace}` },
  );
}

const call = async (key: string): Promise<string> => {
  const { status, body } = await platform.calls.send("POST", `/function/${key}`);
  return status === 200 ? body.toString() : String(status);
};
const queued = async (key: string): Promise<string> => {
  const id = await platform.calls.accepted(key);
  await platform.calls.ended(id);
  return (await platform.calls.result(id)).body.toString();
};
const left = async (namespace: string): Promise<number> => (await functions.list(namespace)).length;
const emptied = (namespace: string) =>
  eventually(async () => (await left(namespace)) === 0, { what: `${namespace} to be empty` });

describe("namespaces of a gateway with a real broker", () => {
  test("functions of one name are kept apart, in both kinds of call, as soon as POST returns", async () => {
    await deploy("hello", "functions", servers.functions.address);
    for (const namespace of ["dev", "openfaas-fn"] as const) {
      if (namespace === "openfaas-fn") expect(await call("hello.openfaas-fn")).toBe("default");
      expect((await system("POST", "namespace", { name: namespace })).status).toBe(201);
      expect(await call(`hello.${namespace}`)).toBe("404");
      await deploy("hello", namespace, servers[namespace].address);
    }
    expect(await Promise.all(["hello", "hello.functions", "hello.dev", "hello.openfaas-fn"].map(call))).toEqual([
      "default",
      "default",
      "dev",
      "real",
    ]);
    expect(await queued("hello.dev")).toBe("dev");
    expect(await queued("hello")).toBe("default");
    expect(await Promise.all(["hello.qa", "hello.kube-system", "hello.Dev", ".dev"].map(call))).toEqual(
      Array(4).fill("404"),
    );
    expect((await platform.calls.queue("hello.qa")).status).toBe(404);
    expect(JSON.parse((await system("GET", "namespaces")).body.toString())).toEqual([
      "dev",
      "functions",
      "openfaas-fn",
    ]);
  });

  test("deletion hides a namespace at once, fails its queued calls and restores an alias", async () => {
    await deploy("held", "dev", held.address);
    const running = await platform.calls.accepted("held.dev", { callbackUrl: sink.url });
    await eventually(() => waiting !== undefined, { what: "the run" });
    const behind = await platform.calls.accepted("hello.dev", { callbackUrl: sink.url });

    for (const namespace of ["dev", "openfaas-fn"])
      expect((await system("DELETE", `namespace/${namespace}`)).status).toBe(202);
    expect(await call("hello.dev")).toBe("404");
    expect(await call("hello.openfaas-fn")).toBe("default");
    expect((await platform.calls.queue("hello.dev")).status).toBe(404);
    expect((await system("GET", "functions?namespace=dev")).status).toBe(404);
    expect((await system("PUT", "functions", { service: "a", image: "none", namespace: "dev" })).status).toBe(400);
    expect((await system("POST", "namespace", { name: "dev" })).status).toBe(409);
    for (const namespace of ["dev", "openfaas-fn"]) await emptied(namespace);

    waiting?.end("done");
    expect((await platform.calls.ended(running)).state).toBe("done");
    expect(await platform.calls.ended(behind)).toMatchObject({ state: "failed", reason: "function_not_found" });
    await eventually(() => sink.received.length === 2, { what: "the callbacks" });
    const status = sink.received.map(({ headers }) => [headers["x-call-id"], headers["x-function-status"]]);
    expect(Object.fromEntries(status)).toEqual({ [running]: "200", [behind]: "404" });
    expect(await left("functions")).toBe(1);

    expect((await system("POST", "namespace", { name: "dev" })).status).toBe(409);
    for (const namespace of ["dev", "openfaas-fn"]) {
      await namespaces.remove(namespace);
      await platform.broker.endpoints.remove({ name: "hello", namespace });
    }
    await eventually(async () => (await system("POST", "namespace", { name: "dev" })).status === 201, {
      what: "the name to be free",
    });
    expect(JSON.parse((await system("GET", "functions?namespace=dev")).body.toString())).toEqual([]);
  });

  test("a gateway killed after marking a namespace empties it when it is back", async () => {
    await deploy("hello", "dev", servers.dev.address);
    await platform.gateway.kill();
    await namespaces.write("dev", (current) => {
      if (current === undefined) throw new Error("dev is not there");
      return { ...current, deleting: true };
    });
    expect(await left("dev")).toBe(1);
    await platform.gateway.start();
    expect(await call("hello.dev")).toBe("404");
    expect((await system("GET", "namespace/dev")).status).toBe(404);
    await emptied("dev");
    await namespaces.remove("dev");
  });

  test("an edition with one namespace serves the default one of a store that has more, and deletes nothing", async () => {
    for (const name of ["qa", "openfaas-fn"]) {
      expect((await system("POST", "namespace", { name })).status).toBe(201);
      await deploy("hello", name, servers.dev.address);
    }
    const restart = async (edition: string): Promise<void> => {
      await platform.gateway.stop();
      gatewayFlags.splice(0, 1, `--edition=${edition}`);
      await platform.gateway.start();
      await eventually(async () => (await call("hello")) === "default", { what: "the default one" });
    };
    await restart("standard");
    expect(await Promise.all(["hello.qa", "hello.openfaas-fn"].map(call))).toEqual(["404", "default"]);
    expect((await platform.calls.queue("hello.qa")).status).toBe(404);
    const refused = await system("GET", "function/hello?namespace=qa");
    expect([refused.status, JSON.parse(refused.body.toString())]).toEqual([
      403,
      expect.objectContaining({
        code: "edition_limit",
        detail: 'Cannot use namespace "qa": edition "standard" has only "functions", more need edition "pro"',
      }),
    ]);
    expect((await system("DELETE", "namespace/qa")).status).toBe(403);
    expect(JSON.parse((await system("GET", "namespaces")).body.toString())).toEqual(["functions"]);

    await restart("pro");
    expect(await Promise.all(["hello.qa", "hello.openfaas-fn"].map(call))).toEqual(["dev", "dev"]);
  });
});
