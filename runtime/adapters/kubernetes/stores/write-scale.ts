import { isDeepStrictEqual } from "node:util";

import type { DesiredFunction } from "../../../core/functions/desired-function.ts";
import { scalingCondition } from "../../../core/scaling/scaling-condition.ts";
import type { KubeClient } from "../client/client.ts";
import { kinds } from "../client/kinds.ts";
import type { KubeScale } from "../client/kube-types.ts";
import type { FunctionObject } from "../manifests/function-custom-resource.ts";
import { desiredOf } from "../manifests/function-object.ts";

/**
 * Writes the replica count of a function through its subresource `scale`, if the function has not changed since
 * `current`, and, with `reason`, the reason as condition Scaling of its status: for accounts with no right to change
 * anything else of functions. Values that are set already are not written. Resolves with the desired function after
 * that; throws as the client does, also for a conflict.
 */
export async function writeScale(
  client: KubeClient,
  current: FunctionObject,
  wanted: DesiredFunction,
  { reason }: { readonly reason: boolean },
): Promise<DesiredFunction> {
  const { replicas } = wanted;
  const scaled = desiredOf(current).replicas === replicas ? current : await scaleTo(client, current, replicas);
  if (!reason) return desiredOf(scaled);
  const { namespace = "", name, uid, generation = 0 } = scaled.metadata;
  const condition = { ...scalingCondition(wanted), observedGeneration: generation };
  const others = scaled.status?.conditions ?? [];
  const updated = { ...scaled, status: { ...scaled.status, conditions: [condition, ...others.filter(isNotScaling)] } };
  if (!others.some((other) => isDeepStrictEqual({ ...other }, condition))) {
    const metadata = { namespace, name, ...(uid === undefined ? {} : { uid }) };
    const object = { metadata, status: { conditions: [condition] } };
    const place = { namespace, name, subresource: "status" };
    await client.apply(kinds.function, object, place, { force: true });
  }
  return desiredOf(updated);
}

async function scaleTo(client: KubeClient, current: FunctionObject, replicas: number): Promise<FunctionObject> {
  // The count is ours from now on, whoever owned it before.
  const { managedFields: _, ...metadata } = current.metadata;
  const { namespace = "", name, resourceVersion, generation = 0 } = metadata;
  const patch = { metadata: { resourceVersion }, spec: { replicas } };
  await client.patch<KubeScale>(kinds.function, "merge", patch, { namespace, name, subresource: "scale" });
  return {
    ...current,
    metadata: { ...metadata, generation: generation + 1 },
    spec: { ...current.spec, replicas },
  };
}

function isNotScaling({ type }: { readonly type: string }): boolean {
  return type !== "Scaling";
}
