import { annotation, objectAnnotation } from "../../../../api/names.ts";
import type { ConditionFacts } from "../../../../core/functions/conditions.ts";
import type { DesiredFunction } from "../../../../core/functions/desired-function.ts";
import { keyValue } from "../../../../core/labels/keys.ts";
import type { Backoff, ReplicaFailure } from "../../../../core/replicas/reconcile-backoff.ts";
import type { ObservedDeployment, ObservedPod } from "./observed-objects.ts";
import { placementFailure, podFailure, type PodFailure } from "./pod-failure.ts";
import { podProbes } from "../pods/pod-probes.ts";

/** What is known of one function in Kubernetes. */
export interface ObservedFunction {
  readonly wanted: DesiredFunction;
  /** `revision` of the pod template that is wanted; undefined when none can be made: `fault` says why. */
  readonly revision: string | undefined;
  /** See `functionFault`. */
  readonly fault: ReplicaFailure | undefined;
  /** See `missingParts`. */
  readonly missing: ReplicaFailure | undefined;
  /** A fault that keeps no replica from running but needs a person. */
  readonly attention?: ReplicaFailure | undefined;
  readonly deployment: ObservedDeployment | undefined;
  /** All that carry the function's label. */
  readonly pods: readonly ObservedPod[];
  /** Unix milliseconds. */
  readonly now: number;
}

/** The facts behind a function's conditions, from what Kubernetes reports of its Deployment and pods. */
export function conditionFacts(facts: ObservedFunction): ConditionFacts {
  const { wanted, revision, fault, now } = facts;
  const pods = facts.pods.filter(exists);
  const serving = pods.filter(isReady);
  const current = pods.filter((pod) => revision !== undefined && revisionOf(pod) === revision);
  const readyCurrent = current.filter(isReady).length;
  const pending = current.filter((pod) => !isReady(pod) && pod.metadata.deletionTimestamp === undefined);
  const enough = readyCurrent >= wanted.replicas;
  const { image, annotations, limits } = wanted.deployment;
  const readinessProbe = fault === undefined ? podProbes(annotations).readinessProbe : undefined;
  // A Profile may state a limit, too, and then the limit is not the platform's default.
  const limitsMemory = limits?.["memory"] !== undefined || keyValue(annotations, annotation.profile) !== undefined;
  const container = { name: wanted.name, image, readinessProbe, limitsMemory };
  const failed = pending.map((pod) => podFailure(pod, container, now));
  const backoff = enough ? undefined : worst(failed, now);
  const refused = enough ? undefined : (facts.missing ?? creationFailure(facts));
  const stalled = enough ? undefined : (first(pending.map(placementFailure)) ?? overdue(facts, backoff));
  return {
    wanted: wanted.replicas,
    ready: serving.length,
    readyCurrent,
    existing: pods.length,
    superseded: pods.length - current.length,
    backoff,
    blocked: fault ?? refused ?? stalled,
    attention: facts.attention,
    // No attempt is in progress: callers that wait for a replica may be told why.
    backingOff: (fault ?? refused) !== undefined || (pending.length > 0 && failed.every((one) => one?.pauses === true)),
  };
}

/** Whether the pod gets calls. */
export function isReady({ metadata, status }: ObservedPod): boolean {
  return (
    metadata.deletionTimestamp === undefined &&
    (status?.conditions?.some(({ type, status: is }) => type === "Ready" && is === "True") ?? false)
  );
}

/** Whether anything of the pod may still run. */
export function exists({ status }: ObservedPod): boolean {
  return status?.phase !== "Failed" && status?.phase !== "Succeeded";
}

function revisionOf({ metadata }: ObservedPod): string | undefined {
  return metadata.annotations?.[objectAnnotation.revision];
}

function worst(failed: readonly (PodFailure | undefined)[], now: number): Backoff | undefined {
  const [most] = failed.filter((one) => one !== undefined).sort((a, b) => b.failures - a.failures);
  return most === undefined ? undefined : { failures: most.failures, until: now, last: most.failure };
}

/** A condition of the Deployment for the wanted revision; one of an older revision does not count. */
function deploymentCondition({ deployment, revision }: ObservedFunction, type: string) {
  if (deployment === undefined) return undefined;
  const { metadata, spec, status } = deployment;
  if (spec?.template.metadata?.annotations?.[objectAnnotation.revision] !== revision) return undefined;
  if ((status?.observedGeneration ?? 0) < (metadata.generation ?? 0)) return undefined;
  return status?.conditions?.find((condition) => condition.type === type);
}

/** The generated name of a pod that was not created, which differs each time. */
const generatedName = /^pods "[^"]*" is forbidden: /;
const creationReasons: readonly (readonly [words: RegExp, reason: string])[] = [
  [/exceeded quota/, "QuotaExceeded"],
  [/violates PodSecurity/, "PodSecurityRefused"],
  [/service ?account .*not found/i, "ServiceAccountNotFound"],
];

/** Why the API server accepts no more pods of the function. */
function creationFailure(facts: ObservedFunction): ReplicaFailure | undefined {
  const condition = deploymentCondition(facts, "ReplicaFailure");
  if (condition?.status !== "True") return undefined;
  const words = (condition.message ?? "no reason is given").replace(generatedName, "");
  const known = creationReasons.find(([pattern]) => pattern.test(words));
  return { reason: known?.[1] ?? condition.reason ?? "FailedCreate", message: `Cannot create a replica: ${words}` };
}

/** The failure when new replicas missed Kubernetes' progress deadline. */
function overdue(facts: ObservedFunction, backoff: Backoff | undefined): ReplicaFailure | undefined {
  const condition = deploymentCondition(facts, "Progressing");
  if (condition?.status !== "False") return undefined;
  const message = `No new replica became ready in time: ${condition.message ?? "no reason is given"}`;
  return backoff?.last ?? { reason: condition.reason ?? "ProgressDeadlineExceeded", message };
}

function first<T>(values: readonly (T | undefined)[]): T | undefined {
  return values.find((value) => value !== undefined);
}
