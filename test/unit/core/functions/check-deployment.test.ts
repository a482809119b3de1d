import { describe, expect, test } from "vitest";

import type { FunctionDeployment } from "../../../../runtime/api/schemas/function-deployment.ts";
import { PlatformError } from "../../../../runtime/api/platform-error.ts";
import { checkDeploymentEdition } from "../../../../runtime/core/functions/check-deployment-edition.ts";
import { limitsIn, readFacts } from "../../../../runtime/core/functions/function-facts.ts";
import {
  checkDeployment,
  checkExecTimeout,
  checkTimeoutMax,
} from "../../../../runtime/core/functions/check-deployment.ts";
import { callLimit, functionLimits, runTimeout } from "../../../../runtime/core/functions/function-limits.ts";
import { probeRules } from "../../../../runtime/core/replicas/probe-rules.ts";
import { quote } from "../../../../runtime/core/quote.ts";
import { usableScaleRules, scaleRules } from "../../../../runtime/core/scaling/scale-rules.ts";

const hello: FunctionDeployment = { service: "hello", image: "ghcr.io/acme/hello:1@sha256:00" };
const annotated = (key: string, value: string): FunctionDeployment => ({
  ...hello,
  annotations: { [`com.service.${key}`]: value },
});
const labelled = (key: string, value: string): FunctionDeployment => ({
  ...hello,
  labels: { [`com.service.${key}`]: value },
});

function refusalOf(act: () => void): PlatformError {
  try {
    act();
  } catch (err) {
    if (err instanceof PlatformError) return err;
    throw err;
  }
  throw new Error("nothing was refused");
}

describe("checkDeployment()", () => {
  test("accepts what the contract allows", () => {
    checkDeployment({
      ...hello,
      envProcess: "node index.js",
      envVars: { exec_timeout: "10s", "a.b-c": "" },
      labels: {
        "com.service.scale.zero": "",
        "com.openfaas.scale.zero-duration": "10s",
        "com.service.scale.type": "queue",
        unknown: "",
      },
      annotations: {
        "com.service.retry.codes": "500, 503",
        "com.service.retry.min_wait": "0s",
        "com.service.result.ttl": "24h",
        "com.service.history.bodies": "168h",
        "com.service.auth": "required",
        "com.service.health.http.path": "/_/health",
        "com.service.ready.http.periodSeconds": "5",
        "com.service.profile": "gpu, spot",
        topic: "anything at all",
      },
      limits: { memory: "128Mi", cpu: "1", "nvidia.com/gpu": "1" },
      requests: { memory: "128Mi", cpu: "700m" },
      secrets: ["a", "b.c"],
    });
  });

  test.each<[FunctionDeployment, string]>([
    [
      { ...hello, image: "https://x/y" },
      'Cannot read field "image" "https://x/y": expected an image reference without a scheme',
    ],
    [
      labelled("scale.zero-duration", "9s"),
      'Cannot read label "com.service.scale.zero-duration": expected a duration from 10s to 8784h, got "9s"',
    ],
    [
      labelled("scale.zero", "maybe"),
      'Cannot read label "com.service.scale.zero": expected true or false, got "maybe"',
    ],
    [labelled("scale.target", "0"), 'Cannot read label "com.service.scale.target": expected a number above 0, got "0"'],
    [
      labelled("scale.target-proportion", "1.1"),
      'Cannot read label "com.service.scale.target-proportion": expected a number above 0, at most 1, got "1.1"',
    ],
    [
      labelled("scale.down.window", "6m"),
      'Cannot read label "com.service.scale.down.window": expected a duration from 0s to 5m, got "6m"',
    ],
    [
      annotated("retry.attempts", "101"),
      'Cannot read annotation "com.service.retry.attempts": expected a whole number from 0 to 100, got "101"',
    ],
    [
      annotated("result.ttl", "25h"),
      'Cannot read annotation "com.service.result.ttl": expected a duration from 0s to 24h, got "25h"',
    ],
    [
      annotated("concurrency.max", "-1"),
      'Cannot read annotation "com.service.concurrency.max": expected a whole number from 0 to 100000, got "-1"',
    ],
    [annotated("protocol", "h3"), 'Cannot read annotation "com.service.protocol": expected "http1" or "h2c", got "h3"'],
    [
      annotated("ready.http.path", "ready"),
      'Cannot read annotation "com.service.ready.http.path": expected a path that begins with "/", got "ready"',
    ],
    [
      { ...hello, limits: { disk: "1" } },
      'Cannot read field "limits": expected memory, cpu or a device such as nvidia.com/gpu, got "disk"',
    ],
    [
      { ...hello, limits: { "nvidia.com/gpu": "500m" } },
      'Cannot read field "limits.nvidia.com/gpu": expected a whole number of devices, got "500m"',
    ],
    [
      { ...hello, limits: { cpu: "0.5" }, requests: { cpu: "501m" } },
      'Cannot read field "requests.cpu": "501m" is above its limit of "0.5"',
    ],
    [{ ...hello, envVars: { a: "\0" } }, 'Cannot read field "envVars.a": its value holds NUL'],
    [
      { ...hello, annotations: { a: "x".repeat(262_144) } },
      'Cannot read field "annotations": 262145 bytes are over the limit of 262144',
    ],
    [
      { ...hello, annotations: { "com.service.retry.min_wait": "2s", "com.service.retry.max_wait": "1s" } },
      "Cannot retry with these waits: retry.min_wait is above retry.max_wait",
    ],
    [
      { ...hello, envVars: { exec_timeout: "soon" } },
      'Cannot read exec_timeout of envVars: expected a duration such as 30s, got "soon"',
    ],
  ])("refuses with a sentence %#", (deployment, sentence) => {
    const refusal = refusalOf(() => checkDeployment(deployment));
    expect([refusal.code, refusal.message]).toEqual(["validation_failed", sentence]);
  });

  test.each<[FunctionDeployment, field: string]>([
    [{ ...hello, service: "Hello" }, "service"],
    [{ ...hello, envProcess: "x".repeat(4_097) }, "envProcess"],
    [{ ...hello, envProcess: "a\0b" }, "envProcess"],
    [{ ...hello, envVars: { "1a": "" } }, "envVars"],
    [{ ...hello, envVars: { "a b": "" } }, "envVars"],
    [{ ...hello, envVars: { "": "" } }, "envVars"],
    [{ ...hello, envVars: { a: "é".repeat(65_535) } }, "envVars.a"],
    [{ ...hello, envVars: { a: "x".repeat(131_070) } }, "envVars.a"],
    [{ ...hello, envVars: { a: "x".repeat(131_069), b: "x".repeat(131_069), c: "xyzab" } }, "envVars"],
    [{ ...hello, labels: { "-a": "" } }, "labels"],
    [{ ...hello, labels: { a: "b c" } }, "labels.a"],
    [{ ...hello, annotations: { "-a": "" } }, "annotations"],
    [{ ...hello, annotations: { a: "x".repeat(131_072), b: "x".repeat(131_072) } }, "annotations"],
    [{ ...hello, secrets: ["a/b"] }, "secrets"],
    [{ ...hello, secrets: ["a", "b", "a"] }, "secrets"],
    [{ ...hello, limits: { "/gpu": "1" } }, "limits"],
    [{ ...hello, limits: { gpu: "1" } }, "limits"],
    [{ ...hello, limits: { memory: "lots" } }, "limits.memory"],
    [{ ...hello, requests: { memory: "lots" } }, "requests.memory"],
    [{ ...hello, limits: { memory: "1" }, requests: { memory: "2" } }, "requests.memory"],
  ])("names the field that breaks a rule %#", (deployment, field) => {
    const refusal = refusalOf(() => checkDeployment(deployment));
    expect(refusal.code).toBe("validation_failed");
    expect(refusal.message).toMatch(new RegExp(`^Cannot read field "${field}"[: ]`));
  });

  test.each<[FunctionDeployment]>([
    [{ ...hello, envProcess: "x".repeat(4_096) }],
    [{ ...hello, envVars: { _: "", "A.b-c_9": "" } }],
    [{ ...hello, envVars: { a: "x".repeat(131_069), b: "x".repeat(131_069), c: "xyz" } }],
    [{ ...hello, annotations: { ab: "x".repeat(262_142) } }],
    [{ ...hello, limits: { cpu: "1" }, requests: { cpu: "1" } }],
    [{ ...hello, limits: { cpu: "1" }, requests: { memory: "1Gi" } }],
  ])("accepts what is just within a rule %#", (deployment) => {
    expect(() => checkDeployment(deployment)).not.toThrow();
  });

  const most = "8784h";
  test.each<[key: string, good: string[], bad: string[]]>([
    ["scale.min", ["1", "20"], ["", "0", "21", "1.5", "-1", "1001", "x1", "1x", "00001"]],
    ["scale.max", ["1", "1000"], ["", "0", "1001", "1e3"]],
    ["scale.zero", ["", "true", "no"], ["maybe"]],
    ["scale.zero-duration", ["10s", most], ["9.999s", "8785h", "x"]],
    ["scale.type", ["rps", "capacity", "cpu", "queue"], ["memory", ""]],
    ["scale.target", ["0.000000001", "1", "999999999999999.5"], ["0", "-1", "1.", ".5", "x1", "1x", "1.0000000001"]],
    ["scale.target-proportion", ["0.01", "1"], ["0", "1.01"]],
    ["scale.down.window", ["0s", "5m"], ["5.1m", "soon"]],
  ])("label %s: exactly the range of the contract", (key, good, bad) => {
    for (const value of good) expect(() => checkDeployment(labelled(key, value)), value).not.toThrow();
    for (const value of bad) {
      const refusal = refusalOf(() => checkDeployment(labelled(key, value)));
      expect([refusal.code, value], refusal.message).toEqual(["validation_failed", value]);
    }
  });

  const seconds = (least: string, below: string): [string[], string[]] => [
    [least, "3600"],
    [below, "3601", "1.5"],
  ];
  test.each<[key: string, good: string[], bad: string[]]>([
    ["retry.attempts", ["0", "100"], ["101", "-1", "", "1x", "x1"]],
    ["retry.codes", ["", " ", "400", "599", "400, 503 ,500"], ["399", "600", "4000", "x500", "500,", "500,x", "200"]],
    ["retry.min_wait", ["0s", most], ["8785h", "x"]],
    ["retry.max_wait", ["0s", most], ["8785h", "x"]],
    ["result.ttl", ["0s", "24h"], ["24.1h"]],
    ["history.bodies", ["0", "168h"], ["168.1h", "7d", ""]],
    ["concurrency.max", ["0", "100000"], ["100001"]],
    ["auth", ["required", "none"], ["", "maybe"]],
    ["protocol", ["http1", "h2c"], ["h2"]],
    ["queue", ["default"], ["", "A/B"]],
    ["profile", ["gpu", "gpu, spot"], ["", "gpu,,spot", "GPU", "gpu,a/b"]],
    ["serviceaccount", ["reader"], []],
    ["callback.secret", ["signing", "a.b"], ["", "A", "a/b"]],
    [
      "health.http.path",
      ["/", "/_/health?x=1", `/${"x".repeat(1_023)}`],
      ["", "x/", "/a b", "/é", `/${"x".repeat(1_024)}`],
    ],
    ["health.http.initialDelaySeconds", ...seconds("0", "-1")],
    ["health.http.periodSeconds", ...seconds("1", "0")],
    ["ready.http.timeoutSeconds", ...seconds("1", "0")],
    ["ready.http.failureThreshold", ["1", "1000"], ["0", "1001"]],
  ])("annotation %s: exactly the range of the contract", (key, good, bad) => {
    for (const value of good) expect(() => checkDeployment(annotated(key, value)), value).not.toThrow();
    for (const value of bad) {
      const refusal = refusalOf(() => checkDeployment(annotated(key, value)));
      expect([refusal.code, value], refusal.message).toEqual(["validation_failed", value]);
    }
  });

  test("retry.codes has at most 1024 characters", () => {
    const codes = (length: number): FunctionDeployment => annotated("retry.codes", "500,".repeat(300).slice(0, length));
    expect(() => checkDeployment(codes(1_023))).not.toThrow();
    expect(() => checkDeployment(codes(1_027))).toThrow(/retry\.codes/);
  });

  test("a minimum above the maximum is refused, an equal one is not", () => {
    const bounds = (min: string, max: string): FunctionDeployment => ({
      ...hello,
      labels: { "com.service.scale.min": min, "com.service.scale.max": max },
    });
    expect(() => checkDeployment(bounds("5", "5"))).not.toThrow();
    expect(() => checkDeployment(bounds("1000", "1000"))).not.toThrow();
    expect(refusalOf(() => checkDeployment(bounds("6", "5"))).message).toBe(
      "Cannot scale between 6 and 5 replicas: scale.min is above scale.max",
    );
  });

  test("functions may use HTTP/2", () => {
    expect(() => checkDeployment(annotated("protocol", "h2c"))).not.toThrow();
  });
});

test("exec_timeout may be above one limit but not above both, and the error names them", () => {
  const slow = { ...hello, envVars: { exec_timeout: "10m" } };
  checkExecTimeout(slow, { upstreamTimeout: 30_000 }, 600_000);
  checkExecTimeout(slow, { upstreamTimeout: 600_000 }, 30_000);
  expect(refusalOf(() => checkExecTimeout(slow, { upstreamTimeout: 30_000 }, 60_000)).message).toBe(
    'Cannot deploy function "hello": exec_timeout 10m is above upstream_timeout (30s) and the timeout of queue "default" (1m); set annotation com.service.timeout to 10m or more',
  );
});

test("the function's own timeout replaces upstream_timeout, and exec_timeout is checked against it", () => {
  const slow = { ...annotated("timeout", "10m"), envVars: { exec_timeout: "10m" } };
  checkExecTimeout(slow, { upstreamTimeout: 30_000 }, 30_000);
  const short = { ...annotated("timeout", "10s"), envVars: { exec_timeout: "15s" } };
  checkExecTimeout(short, { upstreamTimeout: 30_000 }, 15_000);
  expect(refusalOf(() => checkExecTimeout(short, { upstreamTimeout: 30_000 }, 10_000)).message).toBe(
    'Cannot deploy function "hello": exec_timeout 15s is above com.service.timeout (10s) and the timeout of queue "default" (10s); set annotation com.service.timeout to 15s or more',
  );
});

test("a function may have a timeout up to timeout_max, and the error names it", () => {
  expect(() => checkTimeoutMax(annotated("timeout", "1h"), 3_600_000)).not.toThrow();
  expect(() => checkTimeoutMax(hello, 0)).not.toThrow();
  const refusal = refusalOf(() => checkTimeoutMax(annotated("timeout", "2h"), 3_600_000));
  expect([refusal.code, refusal.message]).toEqual([
    "validation_failed",
    'Cannot deploy function "hello": com.service.timeout 2h is above timeout_max (1h), a setting of the gateway',
  ]);
});

test("exec_timeout equal to a limit is within it", () => {
  const minute = { ...hello, envVars: { exec_timeout: "1m" } };
  expect(() => checkExecTimeout(minute, { upstreamTimeout: 1_000 }, 60_000)).not.toThrow();
  expect(() => checkExecTimeout(hello, { upstreamTimeout: 0 }, 0)).not.toThrow();
});

test("another queue needs the edition that has it", () => {
  const queued = annotated("queue", "slow");
  for (const edition of ["community", "standard", "pro"] as const) {
    const refusal = refusalOf(() => checkDeploymentEdition(queued, edition));
    expect([refusal.code, refusal.message]).toEqual(["edition_limit", expect.stringContaining('"enterprise"')]);
  }
  checkDeploymentEdition(queued, "enterprise");
  checkDeploymentEdition(annotated("queue", "default"), "community");
});

describe("functionLimits()", () => {
  test("has the defaults of the contract", () => {
    expect(functionLimits(hello)).toEqual({
      execTimeout: undefined,
      timeout: undefined,
      queue: "default",
      authRequired: false,
      concurrencyMax: 0,
      resultTtl: 3_600_000,
      retry: {},
      protocol: "http1",
    });
  });

  test("reads annotations under both prefixes, ours first", () => {
    const limits = functionLimits({
      annotations: {
        "com.openfaas.queue": "theirs",
        "com.service.queue": "ours",
        "com.openfaas.concurrency.max": "3",
        "com.service.auth": "required",
        "com.service.retry.attempts": "0",
        "com.service.retry.codes": "",
        "com.service.retry.max_wait": "1m",
        "com.openfaas.timeout": "5m",
        "com.openfaas.history.bodies": "0s",
      },
      envVars: { exec_timeout: "500ms" },
    });
    expect(limits).toEqual({
      execTimeout: 500,
      timeout: 300_000,
      queue: "ours",
      authRequired: true,
      concurrencyMax: 3,
      resultTtl: 3_600_000,
      historyBodies: 0,
      retry: { attempts: 0, codes: [], maxWait: 60_000 },
      protocol: "http1",
    });
  });

  test.each([
    [undefined, "true", true],
    [undefined, "1", true],
    [undefined, "false", false],
    [undefined, "perhaps", false],
    ["none", "true", false],
    ["required", "false", true],
  ])("with annotation auth %s, jwt_auth %s protects the function: %s", (auth, jwt, required) => {
    const annotations = auth === undefined ? {} : { "com.openfaas.auth": auth };
    expect(functionLimits({ annotations, envVars: { jwt_auth: jwt } }).authRequired).toBe(required);
  });

  test("auth.claims lists claims", () => {
    const claims = (text: string) => functionLimits({ annotations: { "com.service.auth.claims": text } }).authClaims;
    expect(claims(" email,https://example.com/roles , groups")).toEqual([
      "email",
      "https://example.com/roles",
      "groups",
    ]);
    for (const text of ["", ",", "a,,b", "a b"])
      expect(() => claims(text)).toThrow("names of claims separated by commas");
  });

  test("an exec_timeout of 0 means no limit", () => {
    expect(functionLimits({ envVars: { exec_timeout: "0" } }).execTimeout).toBeUndefined();
  });
});

describe("the limit of a call", () => {
  const platform = { upstreamTimeout: 30_000, timeoutMax: 3_600_000 };

  test.each<[timeout: number | undefined, execTimeout: number | undefined, limit: number, name: string]>([
    [undefined, undefined, 30_000, "upstream_timeout"],
    [undefined, 29_000, 30_000, "upstream_timeout"],
    [undefined, 5_000, 6_000, "exec_timeout"],
    [40_000, undefined, 40_000, "com.service.timeout"],
    [10_000, undefined, 10_000, "com.service.timeout"],
    [40_000, 39_000, 40_000, "com.service.timeout"],
    [40_000, 35_000, 36_000, "exec_timeout"],
    // Deployed while timeout_max was longer.
    [7_200_000, undefined, 3_600_000, "com.service.timeout"],
  ])("a synchronous one with timeout %s and exec_timeout %s: %d ms, by %s", (timeout, execTimeout, limit, name) => {
    const { timeout: milliseconds, timeoutName } = callLimit(platform, { timeout, execTimeout });
    expect([milliseconds, String(timeoutName)]).toEqual([limit, name]);
  });

  test.each<[timeout: number | undefined, execTimeout: number | undefined, limit: number]>([
    [undefined, undefined, 60_000],
    [40_000, undefined, 60_000],
    [90_000, undefined, 90_000],
    [7_200_000, undefined, 3_600_000],
    [90_000, 80_000, 81_000],
    [undefined, 5_000, 6_000],
    [90_000, 600_000, 90_000],
  ])("a run from a queue of 1 min with timeout %s and exec_timeout %s: %d ms", (timeout, execTimeout, limit) => {
    expect(runTimeout(60_000, platform.timeoutMax, { timeout, execTimeout })).toBe(limit);
  });
});

test("scaleRules() has the defaults of the contract", () => {
  expect(scaleRules(undefined)).toEqual({
    min: 1,
    max: 20,
    zero: false,
    zeroDuration: 120_000,
    type: "rps",
    target: 50,
    targetProportion: 0.9,
    downWindow: 0,
  });
  expect(scaleRules({ "com.service.scale.zero": "YES", "com.service.scale.target": "0.5" })).toMatchObject({
    zero: true,
    target: 0.5,
  });
});

test("labels that are no longer valid count as absent", () => {
  expect(usableScaleRules({ "com.service.scale.max": "7" }).max).toBe(7);
  expect(usableScaleRules({ "com.service.scale.max": "none" })).toEqual(scaleRules(undefined));
  expect(usableScaleRules(undefined)).toEqual(scaleRules(undefined));
});

test("access to a function whose annotations are no longer valid is not known", () => {
  const facts = readFacts({ ...annotated("auth", "perhaps"), labels: { "com.service.scale.max": "7" } });
  expect(facts.scale.max).toBe(7);
  expect(() => limitsIn(facts)).toThrow('Cannot read annotation "com.service.auth"');
  expect(limitsIn(readFacts(annotated("concurrency.max", "7"))).concurrencyMax).toBe(7);
});

test("errors quote at most 64 characters of what was sent", () => {
  expect(quote("x".repeat(64))).toBe(`"${"x".repeat(64)}"`);
  expect(quote("x".repeat(65))).toBe(`"${"x".repeat(64)}…"`);
  expect(quote('a"\n')).toBe(String.raw`"a\"\n"`);
});

test("retry rules of a function have only what it states", () => {
  const retry = (annotations: Record<string, string>) =>
    functionLimits({
      annotations: Object.fromEntries(
        Object.entries(annotations).map(([key, value]) => [`com.service.retry.${key}`, value]),
      ),
    }).retry;
  expect(Object.entries(retry({}))).toEqual([]);
  expect(Object.entries(retry({ codes: " 500, 503 " }))).toEqual([["codes", [500, 503]]]);
  expect(Object.entries(retry({ codes: " " }))).toEqual([["codes", []]]);
  expect(Object.entries(retry({ min_wait: "2s" }))).toEqual([["minWait", 2_000]]);
  expect(Object.entries(retry({ max_wait: "2s" }))).toEqual([["maxWait", 2_000]]);
  expect(retry({ min_wait: "2s", max_wait: "2s" })).toEqual({ minWait: 2_000, maxWait: 2_000 });
  expect(retry({ codes: `${"500,".repeat(255)}500 ` }).codes).toHaveLength(256);
});

test.each([
  [annotated("retry.codes", "x"), "statuses from 400 to 599 separated by commas"],
  [annotated("profile", "A"), "names separated by commas"],
  [annotated("serviceaccount", "A"), "the name of a service account"],
  [annotated("auth", "x"), '"required" or "none"'],
  [annotated("health.http.path", "x"), 'a path that begins with "/"'],
])("the error says what is expected %#", (deployment, expected) => {
  expect(refusalOf(() => checkDeployment(deployment)).message).toContain(`: expected ${expected}, got "`);
});

test("each probe is read under its own key", () => {
  const annotations = {
    "com.service.health.http.path": "/healthz",
    "com.service.health.http.initialDelaySeconds": "1",
    "com.service.health.http.periodSeconds": "2",
    "com.service.ready.http.timeoutSeconds": "3",
    "com.openfaas.ready.http.failureThreshold": "4",
  };
  const none = {
    path: undefined,
    initialDelaySeconds: undefined,
    periodSeconds: undefined,
    timeoutSeconds: undefined,
    failureThreshold: undefined,
  };
  expect(probeRules(annotations)).toEqual({
    health: { ...none, path: "/healthz", initialDelaySeconds: 1, periodSeconds: 2 },
    ready: { ...none, timeoutSeconds: 3, failureThreshold: 4 },
  });
  expect(probeRules(undefined)).toEqual({ health: none, ready: none });
});

test.each<[FunctionDeployment, sentence: string]>([
  [
    { ...hello, envProcess: "a\0b" },
    String.raw`Cannot read field "envProcess" "a\u0000b": expected at most 4096 bytes without NUL`,
  ],
  [
    { ...hello, envVars: { "1a": "" } },
    'Cannot read field "envVars" "1a": expected keys of letters, digits, "_", "." and "-", beginning with a letter or "_"',
  ],
  [{ ...hello, secrets: ["a", "a"] }, 'Cannot read field "secrets" "a": expected no secret twice'],
  [
    { ...hello, limits: { memory: "lots" } },
    'Cannot read field "limits.memory": expected a quantity such as 128Mi or 500m, got "lots"',
  ],
  [
    labelled("scale.min", "0"),
    'Cannot read label "com.service.scale.min": expected a whole number from 1 to 1000, got "0"',
  ],
  [
    annotated("profile", "A"),
    'Cannot read annotation "com.service.profile": expected names separated by commas, got "A"',
  ],
])("the error tells what to correct %#", (deployment, sentence) => {
  expect(refusalOf(() => checkDeployment(deployment)).message).toBe(sentence);
});
