import { beforeEach, describe, expect, test } from "vitest";

import { PlatformError } from "../../../../runtime/api/platform-error.ts";
import { Admission } from "../../../../runtime/gateway/calls/admission.ts";
import { asyncFunctionPrefix, functionPrefix } from "../../../../runtime/gateway/calls/split-target.ts";
import { createTestPlatform, type TestPlatform } from "../../../support/sync-gateway.ts";

type Credentials = Parameters<Admission["admit"]>[2];

const administrator = "Basic right";
const anybody: Credentials = { authorization: undefined, forwardedFor: undefined, fromWorker: false };
let platform: TestPlatform;
let checkedClients: string[];

beforeEach(() => {
  platform = createTestPlatform();
  checkedClients = [];
  platform.deploy("open");
  platform.deploy("closed", { annotations: { "com.service.auth": "required" } });
});

function open(invokeAuth = false): Admission {
  return new Admission({
    table: platform.table,
    invokeAuth,
    authorise: ({ authorization, client }) => {
      checkedClients.push(client);
      if (authorization !== administrator) throw new PlatformError("credentials_invalid", "wrong");
    },
    clientOf: (peer, forwardedFor) => forwardedFor ?? peer ?? "",
    isPlatformCredential: (authorization) => authorization.startsWith("Basic"),
  });
}

const from = (url: string) => ({ url, remoteAddress: "10.0.0.1" });
function admit(url: string, credentials: Partial<Credentials> = {}, invokeAuth = false) {
  const admission = open(invokeAuth);
  const prefix = url.startsWith(functionPrefix) ? functionPrefix : asyncFunctionPrefix;
  const admitted = admission.admit(admission.find({ url }, prefix), from(url), { ...anybody, ...credentials });
  if (admitted instanceof Promise) throw new Error("it is admitted later");
  return admitted;
}

test.each(["/function/none/x", "/async-function/none?x", "/function/No", "/function/open.dev"])(
  "%s names no function: no credentials are required",
  (url) => {
    expect(() => admit(url, {}, true)).toThrow(/^Cannot call function "(none|No|open\.dev)": it does not exist$/);
    expect(checkedClients).toEqual([]);
  },
);

describe.each(["/function/", "/async-function/"])("%s", (prefix) => {
  test("an open function may be called, and gets what the caller sent", () => {
    const { entry, target, limits, authorization } = admit(`${prefix}open/p?q`, { authorization: "Bearer own" });
    expect([entry.key, target.path, target.query, limits.queue]).toEqual(["open.functions", "/p", "q", "default"]);
    expect(authorization).toBe("Bearer own");
    expect(checkedClients).toEqual([]);
  });

  test("the platform's credentials reach no function", () => {
    expect(admit(`${prefix}open`, { authorization: administrator }).authorization).toBeUndefined();
    expect(admit(`${prefix}closed`, { authorization: administrator }).authorization).toBeUndefined();
  });

  test.each(["closed", "open"])("%s is protected by its annotation, or the setting", (name) => {
    expect(() => admit(prefix + name, { authorization: "Basic wrong" }, name === "open")).toThrow("wrong");
    expect(admit(prefix + name, { authorization: administrator }, name === "open").entry.key).toBe(`${name}.functions`);
    expect(checkedClients).toEqual(["10.0.0.1", "10.0.0.1"]);
  });
});

test("a queued call was authorised when it was accepted", () => {
  expect(admit("/function/closed", { fromWorker: true, authorization: "Bearer own" }, true).authorization).toBe(
    "Bearer own",
  );
  expect(checkedClients).toEqual([]);
});

test("a function whose annotations are invalid cannot be called", () => {
  platform.deploy("odd", { annotations: { "com.service.auth": "perhaps" } });
  expect(() => admit("/function/odd", { authorization: administrator })).toThrow(
    'Cannot read annotation "com.service.auth"',
  );
});

test("who may call a function may read its calls, also of a removed one unless all are protected", () => {
  const look =
    (name: string, authorization: string | undefined, invokeAuth = false) =>
    () => {
      const sent = { ...anybody, authorization };
      open(invokeAuth).checkCaller({ namespace: "functions", name }, from("/"), sent, undefined, "7f3c");
    };
  expect(look("open", undefined)).not.toThrow();
  expect(look("closed", undefined)).toThrow("wrong");
  expect(look("closed", administrator)).not.toThrow();
  expect(look("gone", undefined)).not.toThrow();
  expect(look("gone", undefined, true)).toThrow("wrong");
});
