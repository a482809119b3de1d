import { describe, expect, test } from "vitest";

import type { FunctionDeployment } from "../../../runtime/api/function-deployment.ts";
import { PlatformError } from "../../../runtime/api/platform-error.ts";
import { checkDeploymentEdition } from "../../../runtime/core/check-deployment-edition.ts";
import { checkDeployment, checkExecTimeout } from "../../../runtime/core/check-deployment.ts";
import { callLimit, functionLimits } from "../../../runtime/core/function-limits.ts";
import { scaleRules } from "../../../runtime/core/scale-rules.ts";

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
      'Cannot read label "scale.zero-duration": expected a duration from 10s to 8784h, got "9s"',
    ],
    [labelled("scale.zero", "maybe"), 'Cannot read label "scale.zero": expected true or false, got "maybe"'],
    [labelled("scale.target", "0"), 'Cannot read label "scale.target": expected a number above 0, got "0"'],
    [
      labelled("scale.target-proportion", "1.1"),
      'Cannot read label "scale.target-proportion": expected a number above 0, at most 1, got "1.1"',
    ],
    [
      labelled("scale.down.window", "6m"),
      'Cannot read label "scale.down.window": expected a duration from 0s to 5m, got "6m"',
    ],
    [
      annotated("retry.attempts", "101"),
      'Cannot read annotation "retry.attempts": expected a whole number from 0 to 100, got "101"',
    ],
    [
      annotated("result.ttl", "25h"),
      'Cannot read annotation "result.ttl": expected a duration from 0s to 24h, got "25h"',
    ],
    [
      annotated("concurrency.max", "-1"),
      'Cannot read annotation "concurrency.max": expected a whole number from 0 to 100000, got "-1"',
    ],
    [annotated("protocol", "h3"), 'Cannot read annotation "protocol": expected "http1" or "h2c", got "h3"'],
    [
      annotated("ready.http.path", "ready"),
      'Cannot read annotation "ready.http.path": expected a path that begins with "/", got "ready"',
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

  test("functions may speak HTTP/2", () => {
    expect(() => checkDeployment(annotated("protocol", "h2c"))).not.toThrow();
  });
});

test("exec_timeout may be above one limit but not above both, and the sentence names them", () => {
  const slow = { ...hello, envVars: { exec_timeout: "10m" } };
  checkExecTimeout(slow, 30_000, 600_000);
  checkExecTimeout(slow, 600_000, 30_000);
  expect(refusalOf(() => checkExecTimeout(slow, 30_000, 60_000)).message).toBe(
    'Cannot deploy function "hello": exec_timeout 10m is above upstream_timeout (30s) and the timeout of queue "default" (1m)',
  );
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
      },
      envVars: { exec_timeout: "500ms" },
    });
    expect(limits).toEqual({
      execTimeout: 500,
      queue: "ours",
      authRequired: true,
      concurrencyMax: 3,
      resultTtl: 3_600_000,
      retry: { attempts: 0, codes: [], maxWait: 60_000 },
      protocol: "http1",
    });
  });

  test("a call ends at the smaller of the platform's limit and exec_timeout + 1 s", () => {
    const platform = { timeout: 30_000, timeoutName: "upstream_timeout" };
    expect(callLimit(platform, { execTimeout: undefined })).toBe(platform);
    expect(callLimit(platform, { execTimeout: 29_000 })).toBe(platform);
    expect(functionLimits({ envVars: { exec_timeout: "0" } }).execTimeout).toBeUndefined();
    expect(callLimit(platform, { execTimeout: 5_000 })).toEqual({ timeout: 6_000, timeoutName: "exec_timeout" });
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
