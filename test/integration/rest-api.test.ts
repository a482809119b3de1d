import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";

import type { FunctionStatus } from "../../runtime/api/schemas/function-status.ts";
import { openRawClient, rawRequest } from "../support/raw-client.ts";
import { openRestPlatform, type RestPlatform } from "../support/rest-platform.ts";

let platform: RestPlatform;

beforeAll(async () => {
  platform = await openRestPlatform();
});
afterAll(async () => {
  await platform?.[Symbol.asyncDispose]();
});
beforeEach(() => {
  platform.functions.clear();
  platform.secrets.clear();
  platform.endpoints.clear();
});

const hello = { service: "hello", image: "ghcr.io/acme/hello:1" };

describe("functions", () => {
  test("are deployed, shown, replaced and removed", async () => {
    const deployment = {
      ...hello,
      labels: { "com.openfaas.scale.min": "2", team: "a" },
      envVars: { a: "b" },
      network: "weave",
      limits: null,
    };
    const put = await platform.call("PUT", "/system/functions", deployment, { "content-type": "text/plain" });
    expect([put.status, await put.text()]).toEqual([202, ""]);

    const shown = await platform.call("GET", "/system/function/hello?usage=1&namespace=openfaas-fn");
    expect(shown.headers.get("content-type")).toMatch(/^application\/json/);
    const status = (await shown.json()) as FunctionStatus;
    expect(status).toMatchObject({
      name: "hello",
      namespace: "functions",
      image: hello.image,
      envVars: { a: "b" },
      labels: { team: "a", faas_function: "hello", "com.openfaas.scale.min": "2" },
      annotations: {},
      replicas: 2,
      availableReplicas: 0,
      invocationCount: 7,
      generation: 1,
      queue: "default",
    });
    for (const absent of ["usage", "limits", "network", "service"]) expect(status).not.toHaveProperty(absent);

    expect(await platform.statusOf("PUT", "/system/functions", hello)).toBe(202);
    const list = await (await platform.call("GET", "/system/functions")).json();
    expect(list).toHaveLength(1);
    expect(list).toMatchObject([{ name: "hello", generation: 2, replicas: 2, createdAt: status.createdAt }]);

    expect(await platform.statusOf("DELETE", "/system/functions", { functionName: "hello" })).toBe(202);
    expect(await (await platform.call("GET", "/system/functions?namespace=")).json()).toEqual([]);
  });

  test("POST creates and never replaces", async () => {
    expect(await platform.statusOf("POST", "/system/functions", hello)).toBe(202);
    expect(await platform.refusal("POST", "/system/functions", hello)).toMatchObject({
      status: 409,
      code: "function_exists",
    });
  });

  test("show the provider's conditions once it has seen the newest deployment", async () => {
    await platform.statusOf("PUT", "/system/functions", hello);
    const before = (await (await platform.call("GET", "/system/function/hello")).json()) as FunctionStatus;
    expect(before.conditions).toMatchObject([
      { type: "Reconciling", status: "True" },
      { type: "Ready", status: "Unknown" },
      { type: "Scaling", status: "True", reason: "Deployed", message: "As deployed: scale.min is 1" },
    ]);

    const ready = {
      type: "Ready",
      status: "True",
      reason: "Up",
      message: "Up",
      lastTransitionTime: "2026-01-01T00:00:00Z",
    } as const;
    platform.endpoints.set("hello.functions", {
      name: "hello",
      namespace: "functions",
      addresses: ["127.0.0.1:1"],
      observedGeneration: 1,
      conditions: [ready],
    });
    const after = await (await platform.call("GET", "/system/function/hello")).json();
    expect(after).toMatchObject({ availableReplicas: 1, conditions: [ready, { type: "Scaling" }] });
  });

  test("are scaled to 0, or from scale.min to scale.max", async () => {
    await platform.statusOf("PUT", "/system/functions", hello);
    expect(await platform.statusOf("POST", "/system/scale-function/hello", { replicas: 0, serviceName: "other" })).toBe(
      202,
    );
    expect(await (await platform.call("GET", "/system/function/hello")).json()).toMatchObject({
      replicas: 0,
      generation: 1,
    });
    for (const replicas of [-1, 1.5, "2", undefined, 21]) {
      expect(await platform.statusOf("POST", "/system/scale-function/hello", { replicas }), String(replicas)).toBe(400);
    }
    expect(await platform.statusOf("POST", "/system/scale-function/nobody", { replicas: 1 })).toBe(404);
    await platform.statusOf("PUT", "/system/functions", { ...hello, labels: { "com.service.scale.min": "2" } });
    await platform.statusOf("POST", "/system/scale-function/hello", { replicas: 1 });
    const below = await (await platform.call("GET", "/system/function/hello")).text();
    expect(below).toContain('"replicas":2');
    expect(below).toMatch(/Held at 2 until .*: Scaled to 2 by a request for 1: the label scale\.min is 2"/);
  });

  test("are scaled by alerts: firing adds a fifth of scale.max, resolved sets scale.min", async () => {
    const labels = { "com.service.scale.min": "2", "com.service.scale.max": "11" };
    await platform.statusOf("PUT", "/system/functions", { ...hello, labels });
    await platform.statusOf("PUT", "/system/functions", { ...hello, service: "other" });
    const alert = (status: string, ...names: string[]) =>
      platform.refusal("POST", "/system/alert", {
        version: "4",
        receiver: "weir",
        alerts: names.map((name) => ({
          status,
          startsAt: "2026-01-01T00:00:00Z",
          labels: { alertname: "busy", function_name: name },
        })),
      });
    const replicas = () => [...platform.functions.values()].map((desired) => desired.replicas);

    const fired = await platform.call("POST", "/system/alert", {
      alerts: [{ status: "firing", labels: { function_name: "hello.functions" } }],
    });
    expect([fired.status, await fired.text(), ...replicas()]).toEqual([200, "", 5, 1]);
    await platform.statusOf("POST", "/system/alert", {
      alerts: [
        { status: "firing", labels: { function_name: "hello" } },
        { status: "firing", labels: { function_name: "hello.openfaas-fn" } },
        { status: "firing", labels: { function_name: "other" } },
      ],
    });
    expect(replicas()).toEqual([11, 5]);

    // Existing ones are scaled nevertheless.
    expect(await alert("resolved", "nobody", "hello.functions", "other")).toMatchObject({
      status: 404,
      code: "function_not_found",
      detail: expect.stringContaining('"nobody"'),
    });
    expect(replicas()).toEqual([2, 1]);
    expect(await alert("firing", "hello.kube-system")).toMatchObject({ status: 403, code: "namespace_reserved" });
    expect(await alert("firing", "hello.dev")).toMatchObject({ status: 403, code: "edition_limit" });
    expect(await alert("firing", "hello", "A")).toMatchObject({ status: 400, code: "validation_failed" });
    expect(await platform.statusOf("POST", "/system/alert", { alerts: [] })).toBe(200);
    expect(replicas()).toEqual([2, 1]);
    expect([...platform.functions.values()].map(({ generation }) => generation)).toEqual([1, 1]);
  });

  test("are shown as they were sent, in either spelling of the keys", async () => {
    const sent = {
      envProcess: "sh -c 'echo  two  blanks'",
      envVars: { b: "", a: " é\n" },
      labels: { "com.openfaas.scale.min": "2", "com.service.scale.max": "3", "example.com/team": "", Z: "z" },
      annotations: { topic: "a,b", schedule: "*/5 * * * *", "com.openfaas.health.http.path": "/h", text: "é {}\n" },
      constraints: ["zone==b", "zone=a", "disk=ssd"],
      limits: { memory: "128Mi", cpu: "0.5", "nvidia.com/gpu": "1" },
      requests: { memory: "64Mi" },
      secrets: ["two", "one"],
      readOnlyRootFilesystem: true,
    };
    for (const name of sent.secrets) await platform.statusOf("POST", "/system/secrets", { name, value: "x" });
    const image =
      "registry.example:5000/acme/hello@sha256:0123456789012345678901234567890123456789012345678901234567890123";
    expect(
      await platform.statusOf("POST", "/system/functions", { ...sent, service: "hello", image, registryAuth: "" }),
    ).toBe(202);

    const shown = (await (await platform.call("GET", "/system/function/hello")).json()) as FunctionStatus;
    expect(shown).toMatchObject({ ...sent, image, labels: { ...sent.labels, faas_function: "hello" } });
    expect(Object.keys(shown.labels).toSorted()).toEqual([...Object.keys(sent.labels), "faas_function"].toSorted());
    expect(shown.annotations).toEqual(sent.annotations);
    const [listed] = (await (await platform.call("GET", "/system/functions")).json()) as FunctionStatus[];
    expect(listed).toEqual(shown);
  });

  test("that are unknown are 404", async () => {
    expect(await platform.refusal("GET", "/system/function/nobody")).toMatchObject({
      status: 404,
      code: "function_not_found",
    });
    expect(await platform.statusOf("DELETE", "/system/functions", { functionName: "nobody" })).toBe(404);
    expect(await platform.statusOf("GET", "/system/logs?name=nobody")).toBe(404);
  });

  test("the error names field, rule and value", async () => {
    const named = async (body: unknown) => (await platform.refusal("PUT", "/system/functions", body)).detail;
    expect(await named({ ...hello, service: "Hello" })).toBe(
      'Cannot read field "service" "Hello": only a to z, 0 to 9 and "-" inside are allowed, at most 63 characters',
    );
    expect(await named({ service: "a" })).toBe('Cannot read field "image": it is required');
    expect(await named({ ...hello, labels: { a: 1 } })).toBe('Cannot read field "labels.a" 1: expected text');
    expect(await named("")).toBe("Cannot read the body: it is empty");
    expect(await named({ ...hello, envVars: { exec_timeout: "10m" } })).toContain("upstream_timeout (30s)");
    expect((await platform.refusal("GET", "/system/function/Hello")).detail).toMatch(
      /^Cannot read function name "Hello": only a to z/,
    );
  });

  test("an empty functionName is 400; the body's namespace wins over the query's", async () => {
    expect(await platform.statusOf("DELETE", "/system/functions", { functionName: "" })).toBe(400);
    await platform.statusOf("PUT", "/system/functions?namespace=dev", hello);
    expect(await platform.statusOf("DELETE", "/system/functions?namespace=dev", { functionName: "hello" })).toBe(403);
    expect(
      await platform.statusOf("DELETE", "/system/functions?namespace=dev", {
        functionName: "hello",
        namespace: "functions",
      }),
    ).toBe(202);
  });

  test("namespaces and queues beyond the edition are 403", async () => {
    for (const [namespace, code] of [
      ["kube-system", "namespace_reserved"],
      ["weir", "namespace_reserved"],
      ["kept", "namespace_reserved"],
      ["dev", "edition_limit"],
    ]) {
      expect(await platform.refusal("PUT", "/system/functions", { ...hello, namespace })).toMatchObject({
        status: 403,
        code,
      });
      expect(await platform.refusal("GET", `/system/functions?namespace=${namespace}`)).toMatchObject({
        status: 403,
        code,
      });
    }
    const queued = { ...hello, annotations: { "com.service.queue": "slow" } };
    expect(await platform.refusal("PUT", "/system/functions", queued)).toMatchObject({
      status: 403,
      code: "edition_limit",
    });
  });

  test("the last of a repeated parameter wins", async () => {
    expect(await platform.statusOf("GET", "/system/functions?namespace=kube-system&namespace=functions")).toBe(200);
  });
});

test("an edition with several namespaces tells unknown ones apart from missing ones", async () => {
  await using pro = await openRestPlatform({ edition: "pro" });
  const put = await pro.call("PUT", "/system/functions", { ...hello, namespace: "dev" });
  const get = await pro.call("GET", "/system/functions?namespace=dev");
  const queued = await pro.call("PUT", "/system/functions", { ...hello, annotations: { "com.service.queue": "slow" } });
  expect([put.status, get.status, queued.status]).toEqual([400, 404, 403]);
});

describe("secrets", () => {
  test("are created, listed without values, replaced and removed", async () => {
    const created = await platform.call("POST", "/system/secrets", { name: "api-key", value: "s3cret-canary" });
    expect([created.status, await created.text()]).toEqual([201, ""]);
    expect(
      await platform.statusOf("PUT", "/system/secrets", { name: "api-key", value: "ignored", rawValue: "AAEC/w==" }),
    ).toBe(202);
    expect(platform.secrets.get("api-key@functions")).toEqual(Buffer.from([0, 1, 2, 255]));
    expect(await (await platform.call("GET", "/system/secrets")).json()).toEqual([
      { name: "api-key", namespace: "functions" },
    ]);
    expect(await platform.statusOf("DELETE", "/system/secrets", { name: "api-key", namespace: "openfaas-fn" })).toBe(
      202,
    );
    expect(JSON.stringify(platform.logged)).not.toContain("canary");
  });

  test("that exist or are unknown", async () => {
    expect(await platform.statusOf("POST", "/system/secrets", { name: "a", value: "x" })).toBe(201);
    expect(await platform.refusal("POST", "/system/secrets", { name: "a", value: "x" })).toMatchObject({
      status: 409,
      code: "secret_exists",
    });
    expect(await platform.refusal("PUT", "/system/secrets", { name: "b", value: "x" })).toMatchObject({
      status: 404,
      code: "secret_not_found",
    });
    expect(await platform.statusOf("DELETE", "/system/secrets", { name: "b" })).toBe(404);
  });

  test.each<[string, unknown, number]>([
    ["name with slash", { name: "a/b", value: "x" }, 400],
    ["name of dots", { name: "..", value: "x" }, 400],
    ["no value", { name: "a" }, 400],
    ["empty value", { name: "a", value: "" }, 400],
    ["not base64", { name: "a", rawValue: "%%" }, 400],
    ["lone surrogate", '{"name":"a","value":"\\ud800"}', 400],
    ["value of 1 MiB", { name: "a", value: "x".repeat(1_048_576) }, 201],
    ["value over 1 MiB", { name: "a", value: "x".repeat(1_048_577) }, 413],
    ["raw value over 1 MiB", { name: "a", rawValue: Buffer.alloc(1_048_577).toString("base64") }, 413],
  ])("%s", async (_name, body, status) => {
    const response = await platform.call("POST", "/system/secrets", body);
    const text = await response.text();
    expect(response.status, text).toBe(status);
  });

  test("a value never shows in an error", async () => {
    const { detail } = await platform.refusal("POST", "/system/secrets", { name: "a", value: 12345678 });
    expect(detail).toBe('Cannot read field "value": expected text');
  });
});

describe("other routes", () => {
  test("info, namespaces and health", async () => {
    expect(await (await platform.call("GET", "/system/info")).json()).toMatchObject({
      apiVersion: "1.0",
      durability: "interval",
    });
    for (const path of ["/system/namespaces", "/system/namespaces/"]) {
      expect(await (await platform.call("GET", path)).json()).toEqual(["functions"]);
    }
    expect(await (await platform.call("GET", "/system/namespace/openfaas-fn/")).json()).toMatchObject({
      name: "functions",
    });
    expect(await platform.statusOf("GET", "/system/namespace")).toBe(400);
    expect(await platform.statusOf("POST", "/system/namespace/", { name: "dev" })).toBe(403);
    expect(await platform.statusOf("DELETE", "/system/namespace/functions")).toBe(403);
    expect(await platform.statusOf("POST", "/system/namespace", { namespace: "x" })).toBe(400);
    expect(await platform.statusOf("PUT", "/system/namespace/a", { name: "b" })).toBe(400);
    expect(await platform.statusOf("POST", "/system/namespace")).toBe(400);
    const healthy = await fetch(`${platform.url}/healthz`);
    expect([healthy.status, await healthy.text()]).toEqual([200, ""]);
  });

  test("queues are shown, and unknown dead letters are not found", async () => {
    const queues = await platform.call("GET", "/system/queues");
    const shown = { name: "default", queued: 0, running: 0, deadLetters: 0, workers: 0 };
    expect([queues.status, await queues.json()]).toEqual([200, [expect.objectContaining(shown)]]);
    expect(await platform.statusOf("GET", "/system/queue/default")).toBe(200);
    expect(await platform.refusal("GET", "/system/queue/none")).toMatchObject({ status: 404, code: "queue_not_found" });
    const letters = await platform.call("GET", "/system/queue/default/dead-letters");
    expect([letters.status, await letters.json()]).toEqual([200, { items: [] }]);
    const letter = "/system/queue/default/dead-letters/7f3c1d52-5c0e-4d7b-9a53-0f5d2f4f2f10";
    for (const [method, path] of [
      ["POST", `${letter}/redrive`],
      ["DELETE", letter],
    ] as const) {
      expect(await platform.refusal(method, path)).toMatchObject({ status: 404, code: "call_not_found" });
    }
  });

  test("what does not exist is 404, also without credentials", async () => {
    for (const path of [
      "/nope",
      "/ui",
      "/ui/",
      "/ui/x/y",
      "/metrics",
      "/oauth/token",
      "/.well-known/jwks.json",
      "/system",
      "/system/functions/",
      "/system/nope",
      "/system/inf%6f",
      "/system/function/a%2fb",
      "/system/function/%zz",
      "/system/info;x",
      "/SYSTEM/INFO",
    ]) {
      const response = await fetch(platform.url + path);
      expect([path, response.status, await response.text()]).toEqual([
        path,
        404,
        expect.stringMatching(/^Cannot find .+\n$/),
      ]);
    }
    for (const target of [
      "//system/info",
      "/./system/info",
      "/system/../system/info",
      "/system/./info",
      "/system//info",
      "/system/info/",
      "/system/info/..",
      "/system\\info",
      "/\\system/info",
      "/system/function/../info",
      "/system/function/..",
      "/system/info%3fx",
      "/system/info%00",
      "/%73ystem/info",
      "/functions/../system/info",
    ]) {
      const reply = await rawRequest(platform.port, `GET ${target} HTTP/1.1\r\nHost: x\r\n\r\n`);
      expect([target, reply.status]).toEqual([target, 404]);
    }
  });

  test("a known path with another method is 405 and says what it allows", async () => {
    const patched = await fetch(`${platform.url}/system/functions`, { method: "PATCH", body: "{" });
    expect([patched.status, patched.headers.get("allow")]).toEqual([405, "DELETE, GET, HEAD, POST, PUT"]);
    expect((await fetch(`${platform.url}/system/function/x`, { method: "OPTIONS" })).headers.get("allow")).toBe(
      "GET, HEAD",
    );
    const head = await platform.call("HEAD", "/system/logs?name=x");
    expect([head.status, head.headers.get("allow")]).toEqual([405, "GET"]);
    expect((await rawRequest(platform.port, "TRACE /system/info HTTP/1.1\r\nHost: x\r\n\r\n")).status).toBe(405);
  });

  test("HEAD goes where GET does", async () => {
    const head = await platform.call("HEAD", "/system/info");
    expect([head.status, await head.text()]).toEqual([200, ""]);
    expect(Number(head.headers.get("content-length"))).toBeGreaterThan(100);
  });
});

describe("replies", () => {
  test("carry their headers, errors too", async () => {
    for (const path of ["/system/info", "/system/function/nobody", "/system/nope", "/system/queues"]) {
      const { headers } = await platform.call("GET", path);
      expect([
        path,
        headers.get("x-content-type-options"),
        headers.get("cache-control"),
        headers.get("x-api-version"),
      ]).toEqual([path, "nosniff", "no-store", "1.0"]);
      expect(headers.get("access-control-allow-origin")).toBeNull();
      expect(headers.get("server")).toBeNull();
    }
    const { headers } = await fetch(`${platform.url}/nope`);
    expect([headers.get("x-content-type-options"), headers.get("cache-control")]).toEqual(["nosniff", null]);
  });

  test("errors are problems for clients that accept JSON, text for all others", async () => {
    const json = await platform.call("GET", "/system/function/nobody?x=1", undefined, {
      accept: "text/html, application/json;q=0.5",
    });
    expect(json.headers.get("content-type")).toBe("application/problem+json");
    expect(await json.json()).toEqual({
      type: "urn:weir:error:function_not_found",
      title: "Not Found",
      status: 404,
      detail: 'Cannot find function "nobody": it does not exist in namespace "functions"',
      instance: "/system/function/nobody",
      code: "function_not_found",
    });
    const text = await platform.call("GET", "/system/function/nobody", undefined, { accept: "*/*" });
    expect(text.headers.get("content-type")).toBe("text/plain; charset=utf-8");
    expect(await text.text()).toBe('Cannot find function "nobody": it does not exist in namespace "functions"\n');
  });

  test("internal defects are 500 with a constant sentence and one line in the log", async () => {
    const boom = new Error("canary in the engine");
    await using broken = await openRestPlatform({
      invocations: () => {
        throw boom;
      },
    });
    await broken.call("PUT", "/system/functions", hello);
    const response = await broken.call("GET", "/system/functions");
    expect([response.status, await response.text()]).toEqual([
      500,
      "Cannot answer this request: an internal error occurred\n",
    ]);
    expect(broken.logged).toHaveLength(1);
    expect(broken.logged[0]).toMatchObject({ err: { message: boom.message }, path: "/system/functions" });
  });
});

describe("bodies", () => {
  test("over 2 MiB are 413, with and without length", async () => {
    const body = JSON.stringify({ ...hello, annotations: { a: "x".repeat(2_097_152) } });
    expect(await platform.statusOf("PUT", "/system/functions", body)).toBe(413);
    const chunked = await fetch(`${platform.url}/system/functions`, {
      method: "PUT",
      headers: { authorization: platform.authorization },
      body: new Blob([body]).stream(),
      duplex: "half",
    });
    expect(chunked.status).toBe(413);
  });

  test("of other kinds are 415", async () => {
    expect(
      await platform.statusOf("PUT", "/system/functions", hello, { "content-type": "multipart/form-data; boundary=x" }),
    ).toBe(415);
    expect(await platform.statusOf("PUT", "/system/functions", hello, { "content-encoding": "gzip" })).toBe(415);
    for (const type of [
      "application/x-www-form-urlencoded",
      "nonsense",
      "text/plain;",
      "application/json; charset=latin1",
    ]) {
      expect(await platform.statusOf("PUT", "/system/functions", hello, { "content-type": type }), type).toBe(202);
    }
  });

  test("on GET are ignored and the connection stays in step", async () => {
    const client = await openRawClient(platform.port);
    const head = `Host: x\r\nAuthorization: ${platform.authorization}\r\n`;
    client.send(
      `GET /system/info HTTP/1.1\r\n${head}Content-Length: 5\r\n\r\nhello` +
        `GET /system/info HTTP/1.1\r\n${head}Transfer-Encoding: chunked\r\n\r\n5;a\r\nhello\r\n0\r\n\r\n` +
        `GET /system/nope HTTP/1.1\r\n${head}Content-Length: 5\r\n\r\nhello` +
        `GET /healthz HTTP/1.1\r\n${head}\r\n`,
    );
    expect((await client.replies(4)).map(({ status }) => status)).toEqual([200, 200, 404, 200]);
    client.close();
  });

  test("that are idle are 408", async () => {
    await using impatient = await openRestPlatform({ bodyIdleTimeout: 200 });
    const head = `PUT /system/functions HTTP/1.1\r\nHost: x\r\nAuthorization: ${impatient.authorization}\r\nContent-Length: 9\r\n\r\n{`;
    expect(await rawRequest(impatient.port, head)).toMatchObject({ status: 408, closed: true });
    expect(impatient.logged).toEqual([]);
  });

  test("32 levels are read", async () => {
    const deep = `{"service":"a","image":"b","network":${"[".repeat(31)}${"]".repeat(31)}}`;
    expect(await platform.statusOf("PUT", "/system/functions", deep)).toBe(202);
  });
});
