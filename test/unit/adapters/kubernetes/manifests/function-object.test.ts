import fc from "fast-check";
import { describe, expect, test } from "vitest";

import type { FunctionObject } from "../../../../../runtime/adapters/kubernetes/manifests/function-custom-resource.ts";
import {
  completionPatch,
  countedAnnotations,
  desiredOf,
  functionObjectOf,
  rolloutCount,
} from "../../../../../runtime/adapters/kubernetes/manifests/function-object.ts";
import { endpointsOf } from "../../../../../runtime/adapters/kubernetes/manifests/status/function-status.ts";
import type { FunctionDeployment } from "../../../../../runtime/api/schemas/function-deployment.ts";
import { desireFunction, type DesiredFunction } from "../../../../../runtime/core/functions/desired-function.ts";
import { full, plain } from "../function-samples.ts";

const at = "2026-02-01T00:00:00.000Z";

/** What `kubectl apply` sends. */
const applied: FunctionObject = {
  apiVersion: "service.com/v1",
  kind: "Function",
  metadata: { name: "hello", namespace: "functions", generation: 1, creationTimestamp: "2026-01-31T12:00:00Z" },
  spec: { image: "ghcr.io/acme/hello:1", labels: { "com.service.scale.min": "3" } },
};

/** As the API server stores it: JSON, with its own generation. */
function stored(object: FunctionObject, generation = 1): FunctionObject {
  const kept = JSON.parse(JSON.stringify(object)) as FunctionObject;
  return { ...kept, metadata: { ...kept.metadata, generation } };
}

const word = fc.stringMatching(/^[a-z]{1,8}$/);
const texts = fc.dictionary(word, fc.string(), { maxKeys: 4, noNullPrototype: true });
const time = fc
  .date({ min: new Date(0), max: new Date("2100-01-01"), noInvalidDate: true })
  .map((date) => date.toISOString());
const deployment = fc.record(
  {
    service: word,
    image: word,
    envProcess: fc.string(),
    envVars: texts,
    labels: texts,
    annotations: texts,
    secrets: fc.array(word, { maxLength: 3 }),
    constraints: fc.array(word, { maxLength: 3 }),
    limits: texts,
    requests: texts,
    readOnlyRootFilesystem: fc.boolean(),
  },
  { requiredKeys: ["service", "image"], noNullPrototype: true },
);
const wanted = fc
  .record(
    {
      deployment,
      namespace: word,
      replicas: fc.nat(1_000),
      generation: fc.integer({ min: 1, max: 1_000_000 }),
      createdAt: time,
      updatedAt: time,
      scaled: fc.record({ reason: word, message: fc.string(), at: time }, { noNullPrototype: true }),
      hold: fc.record(
        { by: fc.constantFrom("scale-function" as const, "alert" as const), until: time },
        { noNullPrototype: true },
      ),
    },
    { requiredKeys: ["deployment", "namespace", "replicas", "generation", "createdAt", "updatedAt"] },
  )
  .map(({ deployment: sent, namespace, hold, ...rest }): DesiredFunction => {
    // Only a requested count is on hold.
    const held = hold === undefined || rest.scaled === undefined ? {} : { hold };
    return { ...rest, ...held, name: sent.service, namespace, deployment: { ...sent, namespace } };
  });

describe("the object of a function", () => {
  test.each<[what: string, sent: DesiredFunction, spec: object]>([
    ["the least", plain, { name: "hello", image: "ghcr.io/acme/hello:1", replicas: 1 }],
    [
      "a program and variables",
      { ...plain, replicas: 4, deployment: { ...plain.deployment, envProcess: "cat", envVars: { A: "1" } } },
      { name: "hello", image: "ghcr.io/acme/hello:1", handler: "cat", environment: { A: "1" }, replicas: 4 },
    ],
  ])("maps %s to the custom resource", (_what, sent, spec) => {
    expect(functionObjectOf(sent)).toMatchObject({ apiVersion: "service.com/v1", kind: "Function" });
    expect(functionObjectOf(sent).spec).toEqual(spec);
  });

  test.each([
    "labels",
    "annotations",
    "secrets",
    "constraints",
    "limits",
    "requests",
    "readOnlyRootFilesystem",
  ] as const)("says %s as they were sent", (field) => {
    expect(full.deployment[field]).toBeDefined();
    expect(functionObjectOf(full).spec[field]).toEqual(full.deployment[field]);
  });

  test("is marked as Weir's, and says when and how often it was deployed", () => {
    expect(functionObjectOf({ ...plain, generation: 3, updatedAt: at }).metadata).toMatchObject({
      name: "hello",
      namespace: "functions",
      labels: { "app.kubernetes.io/managed-by": "weir" },
      annotations: {
        "service.com/created-at": plain.createdAt,
        "service.com/updated-at": at,
        "service.com/generation": "3",
        "service.com/rollout": "3",
        "service.com/scaled": '{"replicas":1}',
      },
    });
  });

  /** With another hash, every existing function would count as deployed once more when Weir is upgraded. */
  test.each([
    ["plain", plain, "e18adfd07f2ca83b"],
    ["full", full, "7626a227739c13d9"],
  ])("keeps the hash of a description between versions of Weir: %s", (_what, sent, hash) => {
    expect(functionObjectOf(sent).metadata.annotations).toMatchObject({ "service.com/content": hash });
  });
});

describe("functionObjectOf() and desiredOf()", () => {
  test("lose nothing in a round trip through the API server", () => {
    fc.assert(
      fc.property(wanted, fc.option(wanted, { nil: undefined }), (desired, before) => {
        const current = before === undefined ? undefined : stored(functionObjectOf(before));
        expect(desiredOf(stored(functionObjectOf(desired, current)))).toEqual(desired);
      }),
      { numRuns: 300 },
    );
  });

  test("leave what others wrote into the object", () => {
    const current = {
      ...stored(functionObjectOf(plain)),
      metadata: {
        ...applied.metadata,
        resourceVersion: "7",
        uid: "u",
        labels: { team: "a" },
        annotations: { note: "b" },
        finalizers: ["c"],
      },
      status: { replicas: 1 },
    };
    expect(functionObjectOf(plain, current)).toMatchObject({
      metadata: {
        resourceVersion: "7",
        uid: "u",
        labels: { team: "a" },
        annotations: { note: "b" },
        finalizers: ["c"],
      },
      status: { replicas: 1 },
    });
  });

  test("an object that others wrote is a deployment like any other", () => {
    expect(desiredOf(applied)).toEqual({
      name: "hello",
      namespace: "functions",
      deployment: { service: "hello", namespace: "functions", ...applied.spec },
      replicas: 3,
      generation: 1,
      createdAt: "2026-01-31T12:00:00.000Z",
      updatedAt: "2026-01-31T12:00:00.000Z",
    });
  });

  test("unreadable annotations count as absent", () => {
    const annotations = {
      "service.com/generation": "-1e9",
      "service.com/rollout": "x",
      "service.com/created-at": "yesterday",
      "service.com/scaled": "{",
    };
    const object = { ...applied, metadata: { ...applied.metadata, annotations } };

    expect(desiredOf(object)).toEqual(desiredOf(applied));
    expect(rolloutCount(object)).toBe(0);
  });
});

describe("rollout", () => {
  const deploy = (object: FunctionObject | undefined, sent: FunctionDeployment): FunctionObject => {
    const before = object === undefined ? undefined : desiredOf(object);
    return stored(functionObjectOf(desireFunction(before, "functions", sent, at), object));
  };

  test("every deployment by request starts one, even an equal deployment", () => {
    const first = deploy(undefined, plain.deployment);
    const second = deploy(first, plain.deployment);

    expect(rolloutCount(second)).not.toBe(rolloutCount(first));
    expect(desiredOf(second).generation).toBe(2);
  });

  test("scaling by request starts none", () => {
    const first = deploy(undefined, plain.deployment);
    const scaled = stored(functionObjectOf({ ...desiredOf(first), replicas: 4 }, first));

    expect(rolloutCount(scaled)).toBe(rolloutCount(first));
    expect(desiredOf(scaled)).toMatchObject({ replicas: 4, generation: 1 });
  });

  test("a change by others is one more generation, counted or not, and starts no rollout", () => {
    const first = deploy(undefined, plain.deployment);
    const edited = { ...first, spec: { ...first.spec, image: "ghcr.io/acme/hello:2" } };
    const counted = { ...edited, metadata: { ...edited.metadata, annotations: merge(edited) } };
    const again = { ...counted, spec: { ...counted.spec, image: "ghcr.io/acme/hello:3" } };

    expect(desiredOf(edited).generation).toBe(2);
    expect(desiredOf(counted)).toMatchObject({ generation: 2, updatedAt: at, createdAt: at });
    expect(countedAnnotations(counted, at)).toBeUndefined();
    expect(desiredOf(again).generation).toBe(3);
    expect(rolloutCount(again)).toBe(rolloutCount(first));
    const scaled = stored(functionObjectOf({ ...desiredOf(again), replicas: 4 }, again));
    expect([rolloutCount(scaled), desiredOf(scaled).generation]).toEqual([1, 3]);
    expect(rolloutCount(deploy(again, plain.deployment))).toBe(4);
  });

  test("scaling by others is no generation", () => {
    const first = deploy(undefined, plain.deployment);
    const scaled = { ...first, spec: { ...first.spec, replicas: 7 } };

    expect(desiredOf(scaled)).toMatchObject({ replicas: 7, generation: 1 });
    expect(countedAnnotations(scaled, at)).toBeUndefined();
  });

  test("one that was applied without a count gets its minimum, once", () => {
    const annotations = countedAnnotations(applied, at);
    expect(completionPatch({ ...applied, metadata: { ...applied.metadata, resourceVersion: "7" } }, at)).toEqual({
      metadata: { resourceVersion: "7", annotations },
      spec: { replicas: 3 },
    });
    const complete = {
      ...applied,
      metadata: { ...applied.metadata, resourceVersion: "8", annotations: annotations ?? {} },
      spec: { ...applied.spec, replicas: 3 },
    };
    expect(completionPatch(complete, at)).toBeUndefined();
    const { replicas: _, ...spec } = complete.spec;
    expect(completionPatch({ ...complete, spec }, at)).toEqual({
      metadata: { resourceVersion: "8" },
      spec: { replicas: 3 },
    });
    expect(completionPatch({ ...complete, spec: { ...complete.spec, replicas: 0 } }, at)).toBeUndefined();
    expect(completionPatch({ ...complete, spec: { ...complete.spec, image: "ghcr.io/acme/hello:2" } }, at)).toEqual({
      metadata: { resourceVersion: "8", annotations: expect.objectContaining({ "service.com/updated-at": at }) },
    });
  });

  function merge(object: FunctionObject): Readonly<Record<string, string>> {
    return { ...object.metadata.annotations, ...countedAnnotations(object, at) };
  }
});

describe("the reason for the number of replicas", () => {
  const scaled = { reason: "Requested", message: "Scaled to 4 by request", at: "2026-02-01T10:00:00.000Z" };
  const object = stored(functionObjectOf({ ...full, replicas: 4, scaled }), 5);
  const withScaling = (lastTransitionTime: string, observedGeneration?: number): FunctionObject => ({
    ...object,
    status: {
      conditions: [
        {
          type: "Scaling",
          status: "True",
          reason: "LoadRose",
          message: "More calls",
          lastTransitionTime,
          ...(observedGeneration === undefined ? {} : { observedGeneration }),
        },
      ],
    },
  });

  test.each<[what: string, object: FunctionObject, reason: string | undefined]>([
    ["of a request", object, "Requested"],
    ["of a deployment", stored(functionObjectOf(plain)), undefined],
    ["of `kubectl scale`", { ...object, spec: { ...object.spec, replicas: 5 } }, "Requested"],
    ["of the autoscaler, later", withScaling("2026-02-01T11:00:00Z"), "LoadRose"],
    ["of the autoscaler, earlier", withScaling("2026-02-01T09:00:00Z"), "Requested"],
    ["of the autoscaler, about this generation", withScaling("2026-02-01T11:00:00Z", 5), "LoadRose"],
    ["of the autoscaler, about another generation", withScaling("2026-02-01T11:00:00Z", 4), "Requested"],
  ])("%s", (_what, from, reason) => {
    expect(desiredOf(from).scaled?.reason).toBe(reason);
  });
});

describe("a number of replicas on hold", () => {
  const scaled = { reason: "Requested", message: "Scaled to 4 by request", at: "2026-02-01T10:00:00.000Z" };
  const hold = { by: "scale-function", until: "2026-02-01T10:05:00.000Z" } as const;
  const object = stored(functionObjectOf({ ...full, replicas: 4, scaled, hold }), 5);
  const held = (from: FunctionObject) => desiredOf(from).hold;

  test("is kept until somebody changes the number or the description otherwise", () => {
    expect(held(object)).toEqual(hold);
    expect(held({ ...object, spec: { ...object.spec, replicas: 5 } })).toBeUndefined();
    const edited = { ...object, spec: { ...object.spec, image: "ghcr.io/acme/hello:2" } };
    expect(held(edited)).toBeUndefined();
    const annotations = { ...edited.metadata.annotations, ...countedAnnotations(edited, at) };
    expect(held({ ...edited, metadata: { ...edited.metadata, annotations } })).toBeUndefined();
  });

  test.each([{ by: "me" }, { until: "soon" }, { generation: "1" }])("is ignored when it cannot be read: %j", (bad) => {
    const text = JSON.stringify({ replicas: 4, ...scaled, hold: { ...hold, generation: full.generation, ...bad } });
    const annotations = { ...object.metadata.annotations, "service.com/scaled": text };
    expect(desiredOf({ ...object, metadata: { ...object.metadata, annotations } })).toMatchObject({ scaled });
    expect(held({ ...object, metadata: { ...object.metadata, annotations } })).toBeUndefined();
  });
});

test("a status of an older description is of an older generation", () => {
  const object = stored(functionObjectOf({ ...plain, generation: 4 }), 9);
  const seen = (observedGeneration: number) => endpointsOf({ ...object, status: { observedGeneration } }, []);

  expect(seen(9).observedGeneration).toBe(4);
  expect(seen(8).observedGeneration).toBe(3);
  expect(endpointsOf(object, ["10.0.0.1:8080"])).toMatchObject({ addresses: ["10.0.0.1:8080"], observedGeneration: 3 });
});
