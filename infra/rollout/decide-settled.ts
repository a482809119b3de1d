import { isDeepStrictEqual } from "node:util";

import { isMapping } from "../../runtime/settings/mapping.ts";
import { imageTriedAgain } from "./decide-images.ts";
import { at, conditionOf, remedy, type RolloutDecision, type Workload } from "./decide-rollout.ts";

/** What it names may be made in the same run. */
const incomplete = "Incomplete";
/** Reasons that an object of access has no effect, which no wait changes. */
const judged: ReadonlySet<unknown> = new Set(["Refused", "NotEnforced", "WrongNamespace", incomplete]);
/** A cluster that adds nodes by itself takes minutes to do so. */
const unschedulable = "Unschedulable";

/**
 * Whether the last change of one of the platform's own objects is out: its conditions are of this generation, and
 * nothing is being started, stopped or replaced. Calls that replicas of an earlier generation serve do not count.
 */
export function decideSettled(wanted: Workload, live: Workload | undefined): RolloutDecision {
  if (live === undefined) return { kind: "failed", because: `it is not in the cluster; ${remedy}` };
  const other = Object.entries(specOf(wanted)).find(
    ([field, value]) => value !== undefined && !holds(live["spec"], field, value),
  );
  if (other !== undefined)
    return { kind: "failed", because: `its ${other[0]} in the cluster is not that of the program; ${remedy}` };
  const observed = Number(at(live, "status.observedGeneration") ?? 0);
  if (observed < Number(at(live, "metadata.generation") ?? 0))
    return { kind: "under-way", because: "the operator has not looked at the change yet" };
  const stalled = conditionOf(live, "Stalled");
  if (stalled?.["status"] === "True") return decideStalled(stalled);
  const accepted = conditionOf(live, "Accepted");
  if (accepted?.["status"] === "False") return { kind: "failed", because: messageOf(accepted) };
  const reconciling = conditionOf(live, "Reconciling");
  const ready = conditionOf(live, "Ready");
  if (reconciling?.["status"] === "True")
    return { kind: "under-way", because: messageOf(ready?.["status"] === "False" ? ready : reconciling) };
  const last = ready ?? accepted;
  if (last?.["status"] === "False" && judged.has(last["reason"])) return decideJudged(last);
  if (last?.["status"] !== "True")
    return { kind: "under-way", because: last === undefined ? "the operator has not judged it yet" : messageOf(last) };
  return { kind: "done" };
}

function decideStalled(stalled: Workload): RolloutDecision {
  const because = messageOf(stalled);
  if (imageTriedAgain.has(stalled["reason"]) || stalled["reason"] === incomplete) return { kind: "failing", because };
  return { kind: stalled["reason"] === unschedulable ? "under-way" : "failed", because };
}

function decideJudged(condition: Workload): RolloutDecision {
  return { kind: condition["reason"] === incomplete ? "failing" : "failed", because: messageOf(condition) };
}

function messageOf(condition: Workload): string {
  return String(condition["message"] ?? condition["reason"]);
}

function specOf(object: Workload): Workload {
  const spec = object["spec"];
  return isMapping(spec) ? spec : {};
}

/** Whether a field is as wanted; entries that others added to a mapping do not matter. */
function holds(live: unknown, field: string, wanted: unknown): boolean {
  const found = isMapping(live) ? live[field] : undefined;
  if (isMapping(wanted))
    return Object.entries(wanted).every(([key, value]) => value === undefined || holds(found ?? {}, key, value));
  return isDeepStrictEqual(found, wanted);
}
