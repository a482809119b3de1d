import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";

import type { Edition } from "../../runtime/api/editions.ts";
import { checkAnswer } from "../support/api-answers.ts";
import { sendVerbatim } from "../support/verbatim-request.ts";
import { openRestPlatform, type RestPlatform } from "../support/rest-platform.ts";

/** The contract's bad-input table, rows of `/system/`; those of calls are in `bad-input-calls`. */
const platforms = new Map<Edition, RestPlatform>();

beforeAll(async () => {
  for (const edition of ["community", "standard", "pro"] as const)
    platforms.set(edition, await openRestPlatform({ edition }));
});
afterAll(async () => {
  for (const platform of platforms.values()) await platform[Symbol.asyncDispose]();
});

const hello = { service: "hello", image: "hello:1" };
const deep = (levels: number) => `{"network":${"[".repeat(levels - 1)}${"]".repeat(levels - 1)}}`;
const labelled = (labels: object) => ({ ...hello, labels });
const annotated = (annotations: object) => ({ ...hello, annotations });

interface Bad {
  readonly input: string;
  readonly method?: string;
  readonly target: string;
  readonly body?: unknown;
  readonly headers?: readonly string[];
  readonly edition?: Edition;
  readonly status: number;
  /** Of the error; absent for success. */
  readonly code?: string;
}

const put = (input: string, body: unknown, more: Partial<Bad> = {}): Bad => ({
  input: `PUT function: ${input}`,
  method: "PUT",
  target: "/system/functions",
  body,
  status: 400,
  code: "validation_failed",
  ...more,
});
const get = (target: string, status: number, code: string, more: Partial<Bad> = {}): Bad => ({
  input: `GET ${target}`,
  target,
  status,
  code,
  ...more,
});
const secret = (input: string, body: unknown, more: Partial<Bad> = {}): Bad => ({
  input: `POST secret: ${input}`,
  method: "POST",
  target: "/system/secrets",
  body,
  status: 400,
  code: "validation_failed",
  ...more,
});
const scale = (replicas: unknown): Bad => ({
  input: `scale to ${JSON.stringify(replicas)}`,
  method: "POST",
  target: "/system/scale-function/there",
  body: { replicas },
  status: 400,
  code: "validation_failed",
});
const noCredentials = (input: string, headers: readonly string[], code: string): Bad =>
  get("/system/info", 401, code, { input, headers });

const rows: readonly Bad[] = [
  get("/nope", 404, "route_not_found"),
  get("/metrics", 404, "route_not_found"),
  get("//system/info", 404, "route_not_found"),

  {
    input: "PATCH /system/functions",
    method: "PATCH",
    target: "/system/functions",
    status: 405,
    code: "method_not_allowed",
  },
  { input: "TRACE", method: "TRACE", target: "/system/info", status: 405, code: "method_not_allowed" },

  noCredentials("no credentials", ["Authorization", ""], "credentials_required"),
  noCredentials("`Bearer `", ["Authorization", "Bearer "], "credentials_required"),
  noCredentials("a wrong password", ["Authorization", "Basic YWRtaW46d3Jvbmc="], "credentials_invalid"),
  noCredentials("Basic that is not base64", ["Authorization", "Basic !!"], "credentials_invalid"),
  put("foreign Origin", hello, { headers: ["Origin", "https://evil.example"], status: 403, code: "cross_origin" }),

  put("empty", "", { code: "validation_failed" }),
  put("`{`", "{", { code: "malformed_request" }),
  put("`[]`", []),
  put("33 levels deep", deep(33), { code: "malformed_request" }),
  put("2 MiB + 1 byte", "x".repeat(2_097_153), { status: 413, code: "payload_too_large" }),
  put("multipart/form-data", hello, {
    headers: ["Content-Type", "multipart/form-data; boundary=x"],
    status: 415,
    code: "unsupported_media_type",
  }),

  put("service missing", { image: "a" }),
  ...["Hello", "a.b", "../x", "a".repeat(64), 1].map((service) =>
    put(`service ${String(service)}`, { ...hello, service }),
  ),
  put("image missing", { service: "hello" }),
  ...["http://x/y", "--privileged"].map((image) => put(`image ${image}`, { ...hello, image })),
  put("unknown namespace", { ...hello, namespace: "nowhere" }, { edition: "pro" }),
  put("missing secret", { ...hello, secrets: ["nobody"] }),
  put("exec_timeout 10m of 30s", { ...hello, envVars: { exec_timeout: "10m" } }),

  put("namespace kube-system", { ...hello, namespace: "kube-system" }, { status: 403, code: "namespace_reserved" }),
  put("not the default namespace", { ...hello, namespace: "dev" }, { status: 403, code: "edition_limit" }),
  put("another queue", annotated({ "com.service.queue": "slow" }), {
    edition: "pro",
    status: 403,
    code: "edition_limit",
  }),

  put('limits.memory "lots"', { ...hello, limits: { memory: "lots" } }),
  put("a label that is a number", labelled({ a: 1 })),
  put("a label with a blank", labelled({ a: "b c" })),
  put('scale.min "x"', labelled({ "com.service.scale.min": "x" })),
  put("min 5, max 2", labelled({ "com.service.scale.min": "5", "com.service.scale.max": "2" })),
  put("type disk", labelled({ "com.service.scale.type": "disk" })),
  put("retry.codes 5xx", annotated({ "com.service.retry.codes": "5xx" })),
  put('queue "A B"', annotated({ "com.service.queue": "A B" })),
  put("an unknown field", { ...hello, envvars: {} }),
  put("an unknown label", labelled({ "com.service.scale.mim": "2" })),
  put("an unknown annotation", annotated({ "com.service.retry.attempt": "2" })),
  put("a label as an annotation", annotated({ "com.service.scale.min": "2" })),

  {
    input: "POST of an existing function",
    method: "POST",
    target: "/system/functions",
    body: { ...hello, service: "there" },
    status: 409,
    code: "function_exists",
  },
  secret("existing", { name: "there", value: "x" }, { status: 409, code: "secret_exists" }),
  {
    input: "POST of an existing namespace",
    method: "POST",
    target: "/system/namespaces",
    body: { name: "there" },
    edition: "pro",
    status: 409,
    code: "namespace_exists",
  },

  get("/system/function/nobody", 404, "function_not_found"),
  {
    input: "DELETE of an unknown function",
    method: "DELETE",
    target: "/system/functions",
    body: { functionName: "nobody" },
    status: 404,
    code: "function_not_found",
  },
  {
    input: "scale of an unknown function",
    method: "POST",
    target: "/system/scale-function/nobody",
    body: { replicas: 1 },
    status: 404,
    code: "function_not_found",
  },
  get("/system/logs?name=nobody", 404, "function_not_found"),
  ...["PUT", "DELETE"].map((method) =>
    secret(`unknown, ${method}`, { name: "nobody", value: "x" }, { method, status: 404, code: "secret_not_found" }),
  ),

  {
    input: "DELETE, functionName empty",
    method: "DELETE",
    target: "/system/functions",
    body: { functionName: "" },
    status: 400,
    code: "validation_failed",
  },
  get("/system/logs", 400, "validation_failed"),
  ...[-1, 1.5, "2", undefined, 21].map(scale),

  ...["a/b", ".."].map((name) => secret(`name ${name}`, { name, value: "x" })),
  secret("no value", { name: "a" }),
  secret('rawValue "%%"', { name: "a", rawValue: "%%" }),
  secret(
    "value 1 MiB + 1 byte",
    { name: "a", value: "x".repeat(1_048_577) },
    { status: 413, code: "payload_too_large" },
  ),

  {
    input: "POST namespace",
    method: "POST",
    target: "/system/namespaces",
    body: { name: "dev" },
    edition: "standard",
    status: 403,
    code: "edition_limit",
  },
  {
    input: "DELETE of the default namespace",
    method: "DELETE",
    target: "/system/namespace/functions",
    edition: "pro",
    status: 403,
    code: "forbidden",
  },
  {
    input: 'namespace body {"namespace":"x"}',
    method: "POST",
    target: "/system/namespaces",
    body: { namespace: "x" },
    status: 400,
    code: "validation_failed",
  },
  {
    input: "namespace path ≠ body",
    method: "PUT",
    target: "/system/namespace/a",
    body: { name: "b" },
    status: 400,
    code: "validation_failed",
  },

  ...["tail=abc", "tail=1e9", "since=yesterday"].map((query) =>
    get(`/system/logs?name=there&${query}`, 422, "log_query_invalid"),
  ),
  { input: "logs follow=maybe", target: "/system/logs?name=there&follow=maybe", status: 200 },

  { input: "/oauth/token without IAM", method: "POST", target: "/oauth/token", status: 404, code: "route_not_found" },
];

/** Rules of fields that the table leaves out, each broken by the smallest amount. */
const moreRows: readonly Bad[] = [
  put('"hello"', '"hello"'),
  put("null", "null"),
  put("blank", "  "),
  put("two values", '{"service":"a"} {"image":"b"}', { code: "malformed_request" }),
  put("no UTF-8", Buffer.from('{"service":"a\xff","image":"b"}', "latin1"), { code: "malformed_request" }),
  put("a key twice", '{"service":"a","service":"b","image":"c"}', { code: "malformed_request" }),
  put("20 001 values", `{"network":[${"0,".repeat(20_000)}0]}`, { code: "malformed_request" }),
  put("__proto__", '{"service":"a","image":"b","labels":{"__proto__":"x"}}', { code: "malformed_request" }),
  put("constructor", '{"service":"a","image":"b","envVars":{"constructor":"x"}}', { code: "malformed_request" }),
  put("image with a blank", { ...hello, image: "a b" }),
  put("image of 1 025 characters", { ...hello, image: "a".repeat(1_025) }),
  put("envProcess over 4 KiB", { ...hello, envProcess: "a".repeat(4_097) }),
  put("envProcess over 4 KiB in bytes", { ...hello, envProcess: "é".repeat(2_049) }),
  put("envProcess with NUL", { ...hello, envProcess: "a\0b" }),
  put("envVars with a key of two words", { ...hello, envVars: { "a b": "c" } }),
  put("envVars over 256 KiB", { ...hello, envVars: { a: "x".repeat(262_144) } }),
  put("envVars a list", { ...hello, envVars: ["a=b"] }),
  put("secret twice", { ...hello, secrets: ["a", "a"] }),
  put("65 secrets", { ...hello, secrets: Array.from({ length: 65 }, (_, index) => `s${index}`) }),
  put("33 constraints", { ...hello, constraints: Array.from({ length: 33 }, (_, index) => `a=${index}`) }),
  put("a constraint without =", { ...hello, constraints: ["here"] }),
  put("request above limit", { ...hello, limits: { memory: "1Mi" }, requests: { memory: "2Mi" } }),
  put("limits.cpu negative", { ...hello, limits: { cpu: "-1" } }),
  put('readOnlyRootFilesystem "true"', { ...hello, readOnlyRootFilesystem: "true" }),
  put("129 labels", labelled(Object.fromEntries(Array.from({ length: 129 }, (_, index) => [`l${index}`, ""])))),
  put("a label key with a blank", labelled({ "a b": "c" })),
  put("a label of 64 characters", labelled({ a: "b".repeat(64) })),
  put("annotations over 256 KiB", annotated({ a: "x".repeat(262_144) })),
  put("scale.min 0", labelled({ "com.service.scale.min": "0" })),
  put("scale.max 1001", labelled({ "com.openfaas.scale.max": "1001" })),
  put("zero-duration 9s", labelled({ "com.service.scale.zero-duration": "9s" })),
  put("down.window 6m", labelled({ "com.service.scale.down.window": "6m" })),
  put("target 0", labelled({ "com.service.scale.target": "0" })),
  put("target-proportion 1.1", labelled({ "com.service.scale.target-proportion": "1.1" })),
  put("retry.attempts 101", annotated({ "com.service.retry.attempts": "101" })),
  put("retry.min_wait soon", annotated({ "com.service.retry.min_wait": "soon" })),
  put("result.ttl 25h", annotated({ "com.service.result.ttl": "25h" })),
  put("history.bodies 169h", annotated({ "com.service.history.bodies": "169h" })),
  put("auth maybe", annotated({ "com.service.auth": "maybe" })),
  put("protocol spdy", annotated({ "com.service.protocol": "spdy" })),
  put("concurrency.max -1", annotated({ "com.service.concurrency.max": "-1" })),
  put(
    "a query that names a bad namespace, which is not read",
    { ...hello, image: "" },
    {
      target: "/system/functions?namespace=A",
    },
  ),
  secret("empty value", { name: "a", value: "" }),
  secret("a lone surrogate", '{"name":"a","value":"\\ud800"}'),
  secret("value a number", { name: "a", value: 12_345_678 }),
  secret(
    "rawValue over 1 MiB",
    { name: "a", rawValue: Buffer.alloc(1_048_577).toString("base64") },
    { status: 413, code: "payload_too_large" },
  ),
  ...["tail=10001", "tail=1.5", "tail=%20", "since=2026-02-30T00:00:00Z", "since=2026-01-01", "since=0"].map((query) =>
    get(`/system/logs?name=there&${query}`, 422, "log_query_invalid"),
  ),
  ...[
    "{}",
    '{"alerts":[{"status":"maybe","labels":{"function_name":"there"}}]}',
    '{"alerts":[{"status":"firing"}]}',
  ].map((body): Bad => ({
    input: `alert ${body}`,
    method: "POST",
    target: "/system/alert",
    body,
    status: 400,
    code: "validation_failed",
  })),
];

describe("bad input", () => {
  beforeEach(async () => {
    for (const platform of platforms.values()) {
      await platform.call("PUT", "/system/functions", { ...hello, service: "there" });
      if (platform.secrets.size === 0) await platform.call("POST", "/system/secrets", { name: "there", value: "x" });
    }
    await of("pro").call("POST", "/system/namespaces", { name: "there" });
  });

  test.each([...rows, ...moreRows])(
    "$input: $status $code",
    async ({ method = "GET", target, body, headers = [], edition, status, code }) => {
      const platform = of(edition ?? "community");
      const before = storedIn(platform);
      const response = await sendVerbatim(platform.port, {
        method,
        target,
        headers: [
          "Accept",
          "application/json",
          ...headers,
          ...(headers.includes("Authorization") ? [] : ["Authorization", platform.authorization]),
        ],
        ...(body === undefined
          ? {}
          : { body: typeof body === "string" || body instanceof Uint8Array ? body : JSON.stringify(body) }),
      });
      await checkAnswer(method, target, response);
      const text = await response.text();

      expect(response.status, text).toBe(status);
      if (code === undefined) return;
      expect(JSON.parse(text)).toMatchObject({ code, status, detail: expect.stringMatching(/^Cannot .+: .+/) });
      expect(text).not.toContain("expected expected");
      expect(storedIn(platform)).toEqual(before);
    },
  );

  test("the 21st wrong password in a minute: 429, also for the right one", async () => {
    await using fresh = await openRestPlatform();
    const statusWith = async (authorization: string): Promise<number> => {
      const headers = ["Authorization", authorization];
      return (await sendVerbatim(fresh.port, { target: "/system/info", headers })).status;
    };
    for (let count = 1; count <= 20; count += 1) expect(await statusWith("Basic YWRtaW46d3Jvbmc=")).toBe(401);
    expect(await statusWith("Basic YWRtaW46d3Jvbmc=")).toBe(429);
    expect(await statusWith(fresh.authorization)).toBe(429);
  });
});

function of(edition: Edition): RestPlatform {
  const platform = platforms.get(edition);
  if (platform === undefined) throw new Error(`no platform of edition ${edition}`);
  return platform;
}

function storedIn({ functions, secrets }: RestPlatform) {
  return { functions: new Map(functions), secrets: new Map(secrets) };
}
