import { describe, expect, test } from "vitest";

import {
  conditionFacts,
  type ObservedFunction,
} from "../../../../../../runtime/adapters/kubernetes/manifests/status/function-conditions.ts";
import { functionObjectOf } from "../../../../../../runtime/adapters/kubernetes/manifests/function-object.ts";
import { functionObjectStatus } from "../../../../../../runtime/adapters/kubernetes/manifests/status/function-status.ts";
import type {
  ContainerState,
  ObservedDeployment,
  ObservedPod,
} from "../../../../../../runtime/adapters/kubernetes/manifests/status/observed-objects.ts";
import { finalFailure, functionConditions } from "../../../../../../runtime/core/functions/conditions.ts";
import { plain } from "../../function-samples.ts";

const now = Date.parse("2026-01-31T12:10:00Z");
const justNow = "2026-01-31T12:09:59Z";
const longAgo = "2026-01-31T11:00:00Z";
const revision = "new";

interface PodFacts {
  readonly ready?: boolean;
  readonly of?: string;
  readonly state?: ContainerState;
  readonly lastState?: ContainerState;
  readonly restarts?: number;
  readonly deleted?: boolean;
  readonly phase?: string;
  readonly unschedulable?: string;
}

function pod(facts: PodFacts = {}): ObservedPod {
  const { ready = false, state = ready ? { running: { startedAt: longAgo } } : undefined } = facts;
  return {
    metadata: {
      name: "hello-1",
      annotations: { "service.com/revision": facts.of ?? revision },
      ...(facts.deleted === true ? { deletionTimestamp: justNow } : {}),
    },
    spec: { containers: [{ name: "hello", resources: { limits: { memory: "128Mi" } } }] },
    status: {
      phase: facts.phase ?? (ready ? "Running" : "Pending"),
      conditions: [
        ...(facts.unschedulable === undefined
          ? []
          : [{ type: "PodScheduled", status: "False", reason: "Unschedulable", message: facts.unschedulable }]),
        { type: "Ready", status: ready ? "True" : "False" },
      ],
      ...(state === undefined
        ? {}
        : {
            containerStatuses: [
              {
                name: "hello",
                ready,
                restartCount: facts.restarts ?? 0,
                state,
                ...(facts.lastState === undefined ? {} : { lastState: facts.lastState }),
              },
            ],
          }),
    },
  };
}

function deployment(condition?: { type: string; status: string; reason: string; message: string }): ObservedDeployment {
  return {
    metadata: { name: "hello", generation: 3 },
    spec: { template: { metadata: { annotations: { "service.com/revision": revision } } } },
    status: { observedGeneration: 3, conditions: condition === undefined ? [] : [condition] },
  };
}

function factsOf(over: Partial<ObservedFunction> = {}): ObservedFunction {
  return {
    wanted: plain,
    revision,
    fault: undefined,
    missing: undefined,
    deployment: deployment(),
    pods: [],
    now,
    ...over,
  };
}

function conditionsOf(over: Partial<ObservedFunction>) {
  const conditions = functionConditions(conditionFacts(factsOf(over)), [], new Date(now).toISOString());
  const shown = Object.fromEntries(conditions.map(({ type, status, reason }) => [type, `${status} ${reason}`]));
  const stalled = conditions.find(({ type }) => type === "Stalled");
  const message = stalled?.status === "True" ? stalled.message : undefined;
  return { ...shown, final: finalFailure(conditions)?.message, message };
}

const waiting = (reason: string, message = "its words"): ContainerState => ({ waiting: { reason, message } });
const ended = (reason: string, exitCode: number, message = ""): ContainerState => ({
  terminated: { reason, exitCode, message, startedAt: longAgo, finishedAt: longAgo },
});
const refused = (message: string) =>
  deployment({ type: "ReplicaFailure", status: "True", reason: "FailedCreate", message });
const late = deployment({
  type: "Progressing",
  status: "False",
  reason: "ProgressDeadlineExceeded",
  message: 'ReplicaSet "hello-7" has timed out progressing.',
});
const failure = { reason: "SecretNotFound", message: 'secret "db" does not exist' };

describe("nothing is blocked", () => {
  test.each<[what: string, over: Partial<ObservedFunction>, ready: string, reconciling: string]>([
    ["nothing is there yet", { deployment: undefined }, "False NoReplicaReady", "True Starting"],
    ["a replica is ready", { pods: [pod({ ready: true })] }, "True ReplicasReady", "False Settled"],
    [
      "its image is pulled",
      { pods: [pod({ state: waiting("ContainerCreating") })] },
      "False NoReplicaReady",
      "True Starting",
    ],
    [
      "it has just started",
      { pods: [pod({ state: { running: { startedAt: justNow } } })] },
      "False NoReplicaReady",
      "True Starting",
    ],
    [
      "an old one still serves",
      { pods: [pod({ ready: true, of: "old" }), pod()] },
      "True ReplicasReady",
      "True Rolling",
    ],
    [
      "an old one ends",
      { pods: [pod({ ready: true }), pod({ of: "old", deleted: true })] },
      "True ReplicasReady",
      "True Stopping",
    ],
    [
      "one too many ends",
      { pods: [pod({ ready: true }), pod({ ready: true, deleted: true })] },
      "True ReplicasReady",
      "True Stopping",
    ],
    [
      "an evicted pod is no replica",
      { pods: [pod({ ready: true }), pod({ phase: "Failed" })] },
      "True ReplicasReady",
      "False Settled",
    ],
    ["none is desired", { wanted: { ...plain, replicas: 0 } }, "True ScaledToZero", "False Settled"],
    [
      "some of many are ready",
      { wanted: { ...plain, replicas: 2 }, pods: [pod({ ready: true }), pod()] },
      "True SomeReplicasReady",
      "True Starting",
    ],
  ])("%s", (_what, over, ready, reconciling) => {
    expect(conditionsOf(over)).toMatchObject({
      Ready: ready,
      Reconciling: reconciling,
      Stalled: "False Progressing",
      final: undefined,
    });
  });
});

describe("what blocks a function is reported", () => {
  const image = '"ghcr.io/acme/hello:1"';

  test.each<[what: string, over: Partial<ObservedFunction>, reason: string, message: string]>([
    [
      "ErrImagePull",
      { pods: [pod({ state: waiting("ErrImagePull", "no such host") })] },
      "ErrImagePull",
      `Cannot pull image ${image}: no such host`,
    ],
    [
      "ImagePullBackOff",
      { pods: [pod({ state: waiting("ImagePullBackOff", 'Back-off pulling image "x": ErrImagePull: not found') })] },
      "ImagePullBackOff",
      `Cannot pull image ${image}: not found`,
    ],
    [
      "InvalidImageName",
      { pods: [pod({ state: waiting("InvalidImageName", "bad") })] },
      "InvalidImageName",
      `Cannot use image ${image}: bad`,
    ],
    [
      "a container that cannot be created",
      { pods: [pod({ state: waiting("CreateContainerConfigError", "image will run as root") })] },
      "CreateContainerConfigError",
      "Cannot start replica hello-1: image will run as root",
    ],
    [
      "a crash loop",
      {
        pods: [
          pod({ restarts: 3, state: waiting("CrashLoopBackOff"), lastState: ended("Error", 3, "a\nno config\n") }),
        ],
      },
      "CrashLoopBackOff",
      "Replica hello-1 ended with code 3; it said last: no config",
    ],
    [
      "too little memory",
      { pods: [pod({ restarts: 1, state: waiting("CrashLoopBackOff"), lastState: ended("OOMKilled", 137) })] },
      "OOMKilled",
      "Replica hello-1 was killed: it used more memory than its limit of 128 MiB, which function_memory sets as the function states none",
    ],
    [
      "a command that does not exist",
      {
        pods: [
          pod({ restarts: 1, state: waiting("CrashLoopBackOff"), lastState: ended("StartError", 128, "no such file") }),
        ],
      },
      "CannotRun",
      "Cannot run replica hello-1: no such file",
    ],
    [
      "a quota",
      { deployment: refused('pods "hello-1" is forbidden: exceeded quota: weir') },
      "QuotaExceeded",
      "Cannot create a replica: exceeded quota: weir",
    ],
    [
      "pod security",
      { deployment: refused('violates PodSecurity "restricted:latest"') },
      "PodSecurityRefused",
      'Cannot create a replica: violates PodSecurity "restricted:latest"',
    ],
    ["another refusal", { deployment: refused("no") }, "FailedCreate", "Cannot create a replica: no"],
    [
      "a missing part",
      { missing: failure, pods: [pod({ state: waiting("ContainerCreating") })] },
      failure.reason,
      failure.message,
    ],
    ["a description that cannot be used", { fault: failure, revision: undefined }, failure.reason, failure.message],
  ])("%s, and callers that wait get it", (_what, over, reason, message) => {
    expect(conditionsOf(over)).toMatchObject({
      Ready: "False NoReplicaReady",
      Stalled: `True ${reason}`,
      message,
      final: message,
    });
  });

  test.each<[what: string, over: Partial<ObservedFunction>, reason: string, message: string]>([
    [
      "no node takes it",
      { pods: [pod({ unschedulable: "0/1 nodes are available: 1 Insufficient cpu." })] },
      "Unschedulable",
      "Cannot place replica hello-1 on a node: 0/1 nodes are available: 1 Insufficient cpu.",
    ],
    [
      "a crash loop, while it is restarted",
      { pods: [pod({ restarts: 3, state: { running: { startedAt: justNow } }, lastState: ended("Error", 3) })] },
      "CrashLoopBackOff",
      "Replica hello-1 ended with code 3",
    ],
    [
      "it does not listen for too long",
      { deployment: late, pods: [pod({ state: { running: { startedAt: longAgo } } })] },
      "Unhealthy",
      "Replica hello-1 is not ready: the process runs, but nothing listens on port 8080 ($PORT)",
    ],
    [
      "it takes too long for an unknown reason",
      { deployment: late, pods: [pod({ state: waiting("ContainerCreating") })] },
      "ProgressDeadlineExceeded",
      'No new replica became ready in time: ReplicaSet "hello-7" has timed out progressing.',
    ],
  ])("%s; it may still become ready", (_what, over, reason, message) => {
    expect(conditionsOf(over)).toMatchObject({ Stalled: `True ${reason}`, message, final: undefined });
  });

  test.each<[what: string, over: Partial<ObservedFunction>, healthy: string]>([
    ["its first exit", { pods: [pod({ state: ended("Error", 1) })] }, "False Error"],
    [
      "an exit after it ran for long",
      {
        pods: [
          pod({
            restarts: 9,
            state: { terminated: { exitCode: 1, reason: "Error", startedAt: longAgo, finishedAt: justNow } },
          }),
        ],
      },
      "False Error",
    ],
    ["that nothing listens", { pods: [pod({ state: { running: { startedAt: longAgo } } })] }, "False Unhealthy"],
  ])("%s is no reason to give up", (_what, over, healthy) => {
    expect(conditionsOf(over)).toMatchObject({ Healthy: healthy, Stalled: "False Progressing", final: undefined });
  });
});

describe("what is past, or of another description, is not reported", () => {
  const running = [pod({ ready: true, restarts: 7, lastState: ended("Error", 1) })];

  test.each<[what: string, over: Partial<ObservedFunction>]>([
    ["a secret was removed under a running replica", { missing: failure, pods: running }],
    ["failures of replicas that are ready", { pods: running }],
    ["a refusal when all are there", { deployment: refused("exceeded quota"), pods: running }],
  ])("%s", (_what, over) => {
    expect(conditionsOf(over)).toMatchObject({
      Ready: "True ReplicasReady",
      Healthy: "True NoFailure",
      Reconciling: "False Settled",
      Stalled: "False Progressing",
    });
  });

  test.each<[what: string, over: Partial<ObservedFunction>]>([
    ["a refusal of an older template", { revision: "newer", deployment: refused("exceeded quota") }],
    [
      "a refusal that the Deployment has not checked again",
      {
        deployment: { ...refused("exceeded quota"), metadata: { name: "hello", generation: 4 } },
      },
    ],
    ["a failure of an old replica", { pods: [pod({ of: "old", state: waiting("ErrImagePull") })] }],
    ["a failure of one that ends", { pods: [pod({ deleted: true, state: waiting("ErrImagePull") })] }],
  ])("%s", (_what, over) => {
    expect(conditionsOf(over)).toMatchObject({ Stalled: "False Progressing", message: undefined });
  });
});

describe("functionObjectStatus", () => {
  const wanted = { ...plain, replicas: 3 };
  const stored = functionObjectOf(wanted);
  const object = { ...stored, metadata: { ...stored.metadata, generation: 6 } };
  const pods = [pod({ ready: true }), pod(), pod({ ready: true, deleted: true }), pod({ phase: "Failed" })];

  test("counts live pods, and gives their selector", () => {
    expect(functionObjectStatus(object, factsOf({ wanted, pods }))).toMatchObject({
      replicas: 2,
      availableReplicas: 1,
      unavailableReplicas: 2,
      observedGeneration: 6,
      selector: "faas_function=hello",
      profiles: [],
    });
  });

  test.each<[reason: string, over: Partial<ObservedFunction>]>([
    ["ReplicasReady", { wanted: { ...plain, replicas: 1 }, pods: [pod({ ready: true })] }],
    ["ScaledToZero", { wanted: { ...plain, replicas: 0 }, pods: [] }],
    ["Starting", { wanted, pods: [] }],
    ["SecretNotFound", { wanted, pods: [], missing: { reason: "SecretNotFound", message: "m" } }],
    [
      "QueueNotFound",
      {
        wanted: { ...plain, replicas: 1 },
        pods: [pod({ ready: true })],
        attention: { reason: "QueueNotFound", message: "m" },
      },
    ],
  ])("sums up as one reason: %s", (reason, over) => {
    expect(functionObjectStatus(object, factsOf(over)).reason).toBe(reason);
  });

  test("keeps the time of what did not change, and leaves Scaling to the autoscaler", () => {
    const words = { reason: "r", message: "m", lastTransitionTime: longAgo };
    const status = {
      conditions: [
        { type: "Ready", status: "True", ...words },
        { type: "Healthy", status: "False", ...words },
        { type: "Scaling", status: "True", ...words },
      ],
    } as const;
    const { conditions } = functionObjectStatus({ ...object, status }, factsOf({ wanted, pods }));

    expect(conditions?.map(({ type, lastTransitionTime }) => [type, lastTransitionTime])).toEqual([
      ["Ready", longAgo],
      ["Healthy", "2026-01-31T12:10:00.000Z"],
      ["Reconciling", "2026-01-31T12:10:00.000Z"],
      ["Stalled", "2026-01-31T12:10:00.000Z"],
    ]);
  });
});
