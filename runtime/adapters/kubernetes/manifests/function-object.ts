import type { FunctionDeployment } from "../../../api/schemas/function-deployment.ts";
import { managedByWeir, objectAnnotation, objectLabel } from "../../../api/names.ts";
import type { DesiredFunction } from "../../../core/functions/desired-function.ts";
import { usableScaleRules } from "../../../core/scaling/scale-rules.ts";
import { contentHash } from "./content-hash.ts";
import { externalScaler } from "./external-scaler.ts";
import { functionApiVersion } from "./object-names.ts";
import type { FunctionSpec } from "../../../api/resources/function-resource.ts";
import type { FunctionObject } from "./function-custom-resource.ts";
import type { NamedMeta } from "./object-types.ts";
import { formatScaled, scalingOf } from "./status/scaled-because.ts";

/**
 * The Function object of a desired function. What is not ours stays as in `current`, the object it replaces: other
 * labels and annotations, owner, version, status. A deployment gets a new rollout, which replaces all replicas; a
 * change of the count alone does not.
 */
export function functionObjectOf(desired: DesiredFunction, current?: FunctionObject): FunctionObject {
  const spec = specOf(desired);
  const before = current === undefined ? undefined : desiredOf(current);
  const deployed = current === undefined || before?.generation !== desired.generation;
  const metadata: NamedMeta = {
    ...current?.metadata,
    name: desired.name,
    namespace: desired.namespace,
    labels: { ...current?.metadata.labels, [objectLabel.managedBy]: managedByWeir },
    annotations: {
      ...current?.metadata.annotations,
      [objectAnnotation.content]: contentOf(desired.deployment),
      [objectAnnotation.createdAt]: desired.createdAt,
      [objectAnnotation.updatedAt]: desired.updatedAt,
      [objectAnnotation.generation]: String(desired.generation),
      [objectAnnotation.rollout]: String(deployed ? desired.generation : rolloutCount(current)),
      [objectAnnotation.scaled]: formatScaled(desired),
    },
  };
  return {
    apiVersion: functionApiVersion,
    kind: "Function",
    metadata,
    spec,
    ...(current?.status === undefined ? {} : { status: current.status }),
  };
}

/**
 * The desired function of a Function object, whoever wrote it. A spec that was not written by request counts as one
 * more deployment; absent `replicas` mean the minimum.
 */
export function desiredOf(object: FunctionObject): DesiredFunction {
  const { metadata, spec } = object;
  const { name, namespace = "" } = metadata;
  const deployment = deploymentOf(object);
  const created = timeOf(metadata, objectAnnotation.createdAt) ?? instant(metadata.creationTimestamp);
  const updatedAt = timeOf(metadata, objectAnnotation.updatedAt) ?? created;
  const replicas = spec.replicas ?? usableScaleRules(spec.labels).min;
  const generation = countOf(metadata, objectAnnotation.generation) + (isKnown(metadata, deployment) ? 0 : 1);
  const external = externalScaler(metadata);
  return {
    name,
    namespace,
    deployment,
    replicas,
    ...scalingOf(object, { replicas, generation, updatedAt }),
    ...(external === undefined ? {} : { externalScaler: external }),
    generation,
    createdAt: created,
    updatedAt,
  };
}

/** Raised by every deployment that must replace all replicas, even if it changes nothing. */
export function rolloutCount({ metadata }: Pick<FunctionObject, "metadata">): number {
  return countOf(metadata, objectAnnotation.rollout);
}

/**
 * Annotations that count a spec which was not written by request as a deployment at `now` (RFC 3339), so that the next
 * one counts as another; undefined when there is nothing to count.
 */
export function countedAnnotations(object: FunctionObject, now: string): Readonly<Record<string, string>> | undefined {
  const { deployment, generation, createdAt } = desiredOf(object);
  if (isKnown(object.metadata, deployment)) return undefined;
  return {
    [objectAnnotation.content]: contentOf(deployment),
    [objectAnnotation.generation]: String(generation),
    [objectAnnotation.createdAt]: createdAt,
    [objectAnnotation.updatedAt]: now,
  };
}

/**
 * The merge patch that completes an object which was not written by request: `countedAnnotations`, and the replica
 * count where it is absent, as without one the API server responds to subresource `scale` with 500. Undefined when
 * nothing is missing.
 */
export function completionPatch(object: FunctionObject, now: string): object | undefined {
  const annotations = countedAnnotations(object, now);
  const isCounted = object.spec.replicas !== undefined;
  if (annotations === undefined && isCounted) return undefined;
  const { resourceVersion } = object.metadata;
  return {
    metadata: { resourceVersion, ...(annotations === undefined ? {} : { annotations }) },
    ...(isCounted ? {} : { spec: { replicas: desiredOf(object).replicas } }),
  };
}

function specOf({ name, replicas, deployment }: DesiredFunction): FunctionSpec {
  const { service: _, namespace: __, envProcess, envVars, ...same } = deployment;
  return {
    name,
    ...same,
    ...(envProcess === undefined ? {} : { handler: envProcess }),
    ...(envVars === undefined ? {} : { environment: envVars }),
    replicas,
  };
}

function deploymentOf({ metadata, spec }: FunctionObject): FunctionDeployment {
  const { name: _, replicas: __, handler, environment, ...same } = spec;
  return {
    service: metadata.name,
    ...(metadata.namespace === undefined ? {} : { namespace: metadata.namespace }),
    ...same,
    ...(handler === undefined ? {} : { envProcess: handler }),
    ...(environment === undefined ? {} : { envVars: environment }),
  };
}

function contentOf(deployment: FunctionDeployment): string {
  const { service: _, namespace: __, ...content } = deployment;
  return contentHash(content);
}

function isKnown({ annotations }: NamedMeta, deployment: FunctionDeployment): boolean {
  return annotations?.[objectAnnotation.content] === contentOf(deployment);
}

/** The whole number in an annotation, which anyone may write; 0 when it is not one. */
function countOf({ annotations }: NamedMeta, key: string): number {
  const text = annotations?.[key] ?? "";
  return /^\d{1,15}$/.test(text) ? Number(text) : 0;
}

function timeOf({ annotations }: NamedMeta, key: string): string | undefined {
  const text = annotations?.[key];
  return text === undefined || Number.isNaN(Date.parse(text)) ? undefined : text;
}

function instant(text: string | undefined): string {
  const time = Date.parse(text ?? "");
  return new Date(Number.isNaN(time) ? 0 : time).toISOString();
}
