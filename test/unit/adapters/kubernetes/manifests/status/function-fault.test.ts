import { describe, expect, test } from "vitest";

import {
  callbackSecretFault,
  functionFault,
  missingParts,
  profileNames,
  registrySecretsOf,
  queueMissing,
  type FunctionSurroundingsFacts,
} from "../../../../../../runtime/adapters/kubernetes/manifests/status/function-fault.ts";
import { isOwnedBy } from "../../../../../../runtime/adapters/kubernetes/manifests/object-names.ts";
import { functionDeployment } from "../../../../../../runtime/adapters/kubernetes/manifests/function-deployment.ts";
import type { FunctionDeployment } from "../../../../../../runtime/api/schemas/function-deployment.ts";
import { changed, context, full, plain, profiles } from "../../function-samples.ts";

const there: FunctionSurroundingsFacts = {
  secrets: new Map([
    ["db", { type: "Opaque", keys: ["user", "password"] }],
    ["api-key", { type: "Opaque", keys: ["api-key"] }],
    ["registry", { type: "kubernetes.io/dockerconfigjson", keys: [".dockerconfigjson"] }],
    ["registry-2", { type: "kubernetes.io/dockerconfigjson", keys: [".dockerconfigjson"] }],
    ["other-key", { type: "Opaque", keys: ["x", "api-key"] }],
  ]),
  profiles: new Map(Object.entries(profiles)),
  serviceAccount: { exists: true },
};

test("nothing is missing when all that a function names exists", () => {
  expect(functionFault(full, there)).toBeUndefined();
  expect(missingParts(full, there)).toBeUndefined();
  expect(registrySecretsOf(full, there.secrets)).toEqual(new Set(["registry"]));
});

test.each<[what: string, facts: FunctionSurroundingsFacts["callbackSecret"], why: string | undefined]>([
  ["one that can", {}, undefined],
  ["one that does not exist", undefined, "it does not exist"],
  ["one that is too short", { signingFault: "it has 3 bytes" }, "it has 3 bytes"],
])("the secret that callbacks are to be signed with: %s", (_what, callbackSecret, why) => {
  const named = changed(plain, { annotations: { "com.service.callback.secret": "signing" } });
  const message = `Cannot sign callbacks of function "hello.functions": secret "signing" cannot be used: ${why}`;
  const fault = callbackSecretFault(named, { callbackSecret });
  expect(fault).toEqual(why === undefined ? undefined : { reason: "CallbackSecretUnusable", message });
  expect(callbackSecretFault(plain, { callbackSecret })).toBeUndefined();
});

test("the check of the platform's settings comes from the caller", () => {
  const check = () => {
    throw new RangeError("exec_timeout is above upstream_timeout");
  };
  expect(functionFault(plain, there, check)).toEqual({
    reason: "Invalid",
    message: "exec_timeout is above upstream_timeout",
  });
});

test.each<
  [what: string, queue: string | undefined, declared: readonly string[] | undefined, message: string | undefined]
>([
  ["the default one", undefined, ["default", "mail"], undefined],
  ["one that is declared", "mail", ["default", "mail"], undefined],
  [
    "one that is not",
    "post",
    ["default"],
    'Cannot queue calls of function "hello.functions": queue "post" is not declared',
  ],
  [
    "one with an invalid name",
    "a b",
    ["default"],
    'Cannot queue calls of function "hello.functions": queue "a b" is not declared',
  ],
  ["any, where no queue is known", "post", undefined, undefined],
])("the queue: %s", (_what, queue, declared, message) => {
  const named = queue === undefined ? plain : changed(plain, { annotations: { "com.service.queue": queue } });
  const missing = queueMissing(named, declared && new Map(declared.map((name) => [name, 30_000])));
  expect(missing).toEqual(message === undefined ? undefined : { reason: "QueueNotFound", message });
});

describe("functionFault", () => {
  const annotated = (name: string, value: string): Partial<FunctionDeployment> => ({
    annotations: { [`com.service.${name}`]: value },
  });

  test.each<
    [fields: Partial<FunctionDeployment>, over: Partial<FunctionSurroundingsFacts>, reason: string, message: string]
  >([
    [annotated("retry.attempts", "many"), {}, "Invalid", 'Cannot read annotation "com.service.retry.attempts"'],
    [{ labels: { "com.service.scale.min": "5", "com.service.scale.max": "2" } }, {}, "Invalid", "scale.min is above"],
    [
      { labels: { "com.service.scale.mim": "2" } },
      {},
      "UnknownKey",
      'there is no such label; did you mean "com.service.scale.min"?',
    ],
    [{ constraints: ["no label=a"] }, {}, "Invalid", 'Cannot place pods by constraint "no label=a"'],
    [
      annotated("profile", "gpu,fast"),
      {},
      "ProfileNotFound",
      'Cannot start function "hello.functions": Profile "fast" does not exist',
    ],
    [
      annotated("profile", "gpu"),
      { profiles: new Map([["gpu", { podSecurityContext: { seccompProfile: { type: "Unconfined" } } }]]) },
      "ProfileRefused",
      'Cannot use Profile "gpu"',
    ],
    [
      annotated("serviceaccount", "reader"),
      { serviceAccount: { exists: true, bound: "weir-operator-functions" } },
      "ServiceAccountRefused",
      'service account "reader" has the platform\'s own rights by role "weir-operator-functions"',
    ],
  ])("%j", (fields, over, reason, message) => {
    const fault = functionFault(changed(plain, fields), { ...there, ...over });

    expect(fault?.reason).toBe(reason);
    expect(fault?.message).toContain(message);
  });
});

test.each<
  [fields: Partial<FunctionDeployment>, over: Partial<FunctionSurroundingsFacts>, reason: string, state: string]
>([
  [{ secrets: ["db", "gone"] }, {}, "SecretNotFound", 'secret "gone" does not exist'],
  [{ secrets: ["gone", "lost"] }, {}, "SecretNotFound", 'secrets "gone", "lost" do not exist'],
  [
    { secrets: ["api-key", "other-key"] },
    {},
    "SecretFileTwice",
    'secrets "api-key" and "other-key" both have a file "api-key"',
  ],
  [
    { annotations: { "com.service.serviceaccount": "reader" } },
    { serviceAccount: { exists: false } },
    "ServiceAccountNotFound",
    'service account "reader" does not exist in namespace "functions"',
  ],
])("missing for %j", (fields, over, reason, state) => {
  expect(missingParts(changed(plain, fields), { ...there, ...over })).toEqual({
    reason,
    message: `Cannot start function "hello.functions": ${state}`,
  });
});

test("two registry credentials do not clash as files", () => {
  expect(missingParts(changed(plain, { secrets: ["registry", "registry-2"] }), there)).toBeUndefined();
});

test("names of Profiles are those between commas, each once", () => {
  expect(profileNames({ "com.openfaas.profile": " b, a,,b " })).toEqual(["b", "a"]);
  expect(profileNames(undefined)).toEqual([]);
});

test("only what was created for this very Function object is its own", () => {
  const deployment = functionDeployment(plain, context);
  const { ownerReferences: _, ...unowned } = deployment.metadata;

  expect(isOwnedBy(deployment, context.owner)).toBe(true);
  expect(isOwnedBy(deployment, { name: "hello", uid: "another" })).toBe(false);
  expect(isOwnedBy({ metadata: unowned }, context.owner)).toBe(false);
});
