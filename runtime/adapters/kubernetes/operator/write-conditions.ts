import type { AcceptedObjectStatus } from "../../../api/resources/resource-conditions.ts";
import type { KubeClient } from "../client/client.ts";
import { holdsAll } from "../client/in-doubt.ts";
import type { Kind } from "../client/kinds.ts";
import type { ObjectMeta } from "../client/kube-types.ts";

/** A condition as it is decided: what it says, without when that began. */
export type ConditionStatement = Pick<
  NonNullable<AcceptedObjectStatus["conditions"]>[number],
  "type" | "status" | "reason" | "message"
>;

/** An object whose status consists of conditions. */
export interface ConditionedObject {
  readonly metadata: Pick<ObjectMeta, "namespace" | "name" | "generation">;
  readonly status?: AcceptedObjectStatus | undefined;
}

/** Writes the conditions of an object, unless it has them already. `now` is Unix milliseconds. */
export async function writeConditions(
  client: KubeClient,
  kind: Kind,
  { metadata, status: current }: ConditionedObject,
  statements: readonly ConditionStatement[],
  now: number,
): Promise<void> {
  const { namespace = "", name = "", generation = 0 } = metadata;
  const conditions = statements.map((statement) => {
    const before = current?.conditions?.find(({ type }) => type === statement.type);
    const isSame = before?.status === statement.status;
    const lastTransitionTime = isSame ? before.lastTransitionTime : new Date(now).toISOString();
    return { ...statement, lastTransitionTime, observedGeneration: generation };
  });
  const status = { conditions, observedGeneration: generation };
  // Other writers have conditions of their own beside these.
  const holdsEach = conditions.every((one) => current?.conditions?.some((each) => holdsAll(each, one)) ?? false);
  if (holdsEach && current?.observedGeneration === generation) return;
  const update = { metadata: { namespace, name }, status };
  await client.apply(kind, update, { namespace, name, subresource: "status" }, { force: true });
}
