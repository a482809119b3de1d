import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { eventually } from "../support/eventually.ts";
import { tempDirectory, type TempDirectory } from "../support/temp-directory.ts";
import { startWeir, type WeirProcess } from "../support/weir-process.ts";

/** The requests of clients of this API family, as they send them, and what each of them reads from the response. */
describe("clients of the API family", () => {
  const opened: { directory?: TempDirectory; weir?: WeirProcess } = {};

  beforeAll(async () => {
    opened.directory = await tempDirectory("family");
    opened.weir = await startWeir({ data: opened.directory.path, flags: ["--edition", "pro"], within: 60_000 });
  });

  afterAll(async () => {
    await opened.weir?.close();
    await opened.directory?.remove();
  });

  /** Sends one request with the administrator's credentials; `body` is sent as JSON unless it is text. */
  async function send(method: string, path: string, body?: unknown, headers: Record<string, string> = {}) {
    const { weir } = opened;
    if (weir === undefined) throw new Error("Cannot send a request: Weir did not start");
    const response = await fetch(`${weir.url}${path}`, {
      method,
      headers: { authorization: weir.authorization, "user-agent": "client", ...headers },
      ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
    });
    return { status: response.status, text: await response.text(), headers: response.headers };
  }

  async function statusOf(...request: Parameters<typeof send>): Promise<number> {
    return (await send(...request)).status;
  }

  async function json(...request: Parameters<typeof send>): Promise<unknown> {
    const response = await send(...request);
    expect(response.status, response.text).toBe(200);
    return JSON.parse(response.text);
  }

  /** A deployment as command lines write it: with every field, empty or null if it was not given. */
  const asCommandLine = (service: string, rest: object = {}) => ({
    service,
    image: "family/echo:latest",
    network: "",
    envProcess: "cat",
    envVars: {},
    registryAuth: "",
    constraints: null,
    secrets: [],
    labels: {},
    annotations: {},
    limits: null,
    requests: null,
    readOnlyRootFilesystem: false,
    ...rest,
  });

  describe("a command line", () => {
    test("deploys by PUT, first and again, and gets 202 both times", async () => {
      expect(await send("PUT", "/system/functions", asCommandLine("cli"))).toMatchObject({ status: 202 });
      expect(await send("PUT", "/system/functions", asCommandLine("cli"))).toMatchObject({ status: 202 });
    });

    test("lists, describes and calls", async () => {
      expect(await json("GET", "/system/functions?namespace=")).toMatchObject([{ name: "cli", invocationCount: 0 }]);
      expect(await json("GET", "/system/function/cli?usage=1")).toMatchObject({ name: "cli", envProcess: "cat" });
      const called = await send("POST", "/function/cli", "hello", { "content-type": "text/plain" });
      expect(called).toMatchObject({ status: 200, text: "hello" });
    });

    test("creates a secret, and replaces it after a 409", async () => {
      const secret = { name: "api-key", value: "s3cret" };
      expect(await statusOf("POST", "/system/secrets", secret)).toBe(201);
      expect(await statusOf("POST", "/system/secrets", secret)).toBe(409);
      expect(await statusOf("PUT", "/system/secrets", secret)).toBe(202);
      expect(await json("GET", "/system/secrets?namespace=")).toEqual([{ name: "api-key", namespace: "functions" }]);
    });

    test("never gets 204 when it deletes", async () => {
      expect(await statusOf("DELETE", "/system/secrets", { name: "api-key" })).toBe(202);
      expect(await statusOf("DELETE", "/system/functions", { functionName: "cli" })).toBe(202);
      expect(await statusOf("DELETE", "/system/functions", { functionName: "cli" })).toBe(404);
    });

    test("without a login sends an empty bearer token, which counts as none", async () => {
      const response = await send("GET", "/system/functions", undefined, { authorization: "Bearer " });
      expect(response).toMatchObject({ status: 401, text: "invalid credentials" });
    });
  });

  describe("a library", () => {
    const marked = { name: "sdk", labels: null, annotations: { openfaas: "1" } };

    test("creates and changes namespaces at /system/namespace/, with the family's marker", async () => {
      expect(await statusOf("POST", "/system/namespace/", marked)).toBe(201);
      expect(await statusOf("POST", "/system/namespace/", marked)).toBe(409);
      expect(await json("GET", "/system/namespaces")).toEqual(["functions", "sdk"]);
      expect(await json("GET", "/system/namespace/sdk")).toMatchObject({ name: "sdk", annotations: { openfaas: "1" } });
      expect(await statusOf("PUT", "/system/namespace/sdk", { ...marked, labels: { team: "blue" } })).toBe(202);
      expect(await json("GET", "/system/namespace/sdk")).toMatchObject({ labels: { team: "blue" } });
    });

    test("names the namespace in the body, which overrides the one in the query", async () => {
      const secret = { name: "key", namespace: "sdk", value: "s3cret" };
      expect(await statusOf("POST", "/system/secrets?namespace=functions", secret)).toBe(201);
      expect(await json("GET", "/system/secrets?namespace=sdk")).toEqual([{ name: "key", namespace: "sdk" }]);
      const deployment = asCommandLine("lib", { namespace: "sdk", secrets: ["key"] });
      expect(await statusOf("POST", "/system/functions?namespace=functions", deployment)).toBe(202);
      expect(await statusOf("POST", "/system/functions", deployment)).toBe(409);
      expect(await json("GET", "/system/functions?namespace=sdk")).toMatchObject([{ name: "lib", namespace: "sdk" }]);
    });

    test("in older versions names the namespace only in the query", async () => {
      expect(await statusOf("POST", "/system/scale-function/lib?namespace=sdk", { replicas: 2 })).toBe(202);
      expect(await json("GET", "/system/function/lib?namespace=sdk")).toMatchObject({ replicas: 2 });
    });

    test("scales with the name in the body, too, and to 0", async () => {
      const request = { serviceName: "lib", replicas: 0, namespace: "sdk" };
      expect(await statusOf("POST", "/system/scale-function/lib", request)).toBe(202);
      expect(await json("GET", "/system/function/lib?namespace=sdk")).toMatchObject({ replicas: 0 });
      expect(await send("POST", "/function/lib.sdk", "awake")).toMatchObject({ status: 200, text: "awake" });
    });

    test("appends openfaas-fn, which means the default namespace", async () => {
      const deployment = asCommandLine("aliased", { namespace: "openfaas-fn" });
      expect(await statusOf("PUT", "/system/functions", deployment)).toBe(202);
      expect(await json("GET", "/system/function/aliased?namespace=openfaas-fn")).toMatchObject({
        namespace: "functions",
      });
      expect(await send("POST", "/function/aliased.openfaas-fn", "hi")).toMatchObject({ status: 200, text: "hi" });
      const queued = await send("POST", "/async-function/aliased.openfaas-fn", "hi");
      expect(queued).toMatchObject({ status: 202, text: "" });
      expect(queued.headers.get("x-call-id")).toMatch(/^[0-9a-f-]{36}$/);
    });

    test("reads logs since a time without a zone, and follows with 1", async () => {
      const deployment = asCommandLine("talks", { envProcess: "sh -c 'echo called >&2'" });
      expect(await statusOf("PUT", "/system/functions", deployment)).toBe(202);
      expect(await statusOf("POST", "/function/talks")).toBe(200);
      const path = "/system/logs?name=talks&namespace=&instance=&tail=-1&since=2020-01-31T12:00:00";
      const lines = await eventually(
        async () => {
          const { text } = await send("GET", `${path}&follow=false`);
          return text === "" ? undefined : text.trim().split("\n");
        },
        { what: "a line of the log" },
      );
      expect(JSON.parse(lines[0] ?? "")).toMatchObject({ name: "talks", namespace: "functions", text: "called\n" });

      const { weir } = opened;
      const leave = new AbortController();
      const response = await fetch(`${weir?.url}${path}&follow=1`, {
        headers: { authorization: weir?.authorization ?? "" },
        signal: leave.signal,
      });
      const first = await response.body?.getReader().read();
      expect(Buffer.from(first?.value ?? []).toString()).toContain("called");
      leave.abort();
    });

    test("finds the versions of provider and gateway in the information, without empty or null fields", async () => {
      const text = expect.stringMatching(/./);
      const version = { release: text, sha: text, commit_message: text };
      expect(await json("GET", "/system/info")).toMatchObject({
        provider: { provider: "weir-local", orchestration: "process", version },
        version,
        arch: expect.stringMatching(/^(x86_64|arm64)$/),
      });
    });

    test("deletes the namespace with all its content", async () => {
      expect(await statusOf("DELETE", "/system/namespace/sdk", { name: "sdk" })).toBe(202);
      expect(await json("GET", "/system/namespaces")).toEqual(["functions"]);
      expect(await statusOf("POST", "/function/lib.sdk")).toBe(404);
    });
  });

  test("a connector finds functions by topic or schedule in all namespaces, and calls them anonymously", async () => {
    const annotations = { topic: "cron-function", schedule: "*/5 * * * *" };
    expect(await statusOf("PUT", "/system/functions", asCommandLine("timed", { annotations }))).toBe(202);
    const namespaces = (await json("GET", "/system/namespaces")) as readonly string[];
    const lists = await Promise.all(namespaces.map((name) => json("GET", `/system/functions?namespace=${name}`)));
    expect(lists.flat()).toContainEqual(
      expect.objectContaining({
        name: "timed",
        namespace: "functions",
        annotations,
        labels: { faas_function: "timed" },
      }),
    );
    const called = await fetch(`${opened.weir?.url}/function/timed.functions`, { method: "POST", body: "tick" });
    expect([called.status, await called.text()]).toEqual([200, "tick"]);
  });

  test("a test suite gets objects for labels and annotations never sent, and 404 for an empty name", async () => {
    const bare = { service: "bare", image: "family/echo:latest", envProcess: "cat" };
    expect(await statusOf("POST", "/system/functions", bare)).toBe(202);
    const status = await json("GET", "/system/function/bare");
    expect(status).toMatchObject({ labels: { faas_function: "bare" }, annotations: {} });
    expect(await statusOf("POST", "/function/.openfaas-fn")).toBe(404);
  });

  test("an image finds its process, its name and its namespace in the environment", async () => {
    expect(await statusOf("PUT", "/system/functions", asCommandLine("tells", { envProcess: "env" }))).toBe(202);
    const { text } = await send("GET", "/function/tells");
    const lines = text.split("\n");
    for (const line of ["fprocess=env", "OPENFAAS_NAME=tells", "OPENFAAS_NAMESPACE=functions"]) {
      expect(lines).toContain(line);
    }
  });

  test.skipIf(process.platform !== "linux" || process.getuid?.() !== 0)(
    "an image finds its secrets at both paths (needs root on Linux)",
    async () => {
      expect(await statusOf("POST", "/system/secrets", { name: "both", value: "s3cret" })).toBe(201);
      const envProcess = "cat /var/openfaas/secrets/both /var/service/secrets/both";
      const deployment = asCommandLine("reads", { envProcess, secrets: ["both"] });
      expect(await statusOf("PUT", "/system/functions", deployment)).toBe(202);
      expect(await send("GET", "/function/reads")).toMatchObject({ status: 200, text: "s3crets3cret" });
    },
  );
});
