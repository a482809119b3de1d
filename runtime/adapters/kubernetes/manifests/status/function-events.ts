import { apiVersionOf, kinds } from "../../client/kinds.ts";
import type { KubeObject } from "../../client/kube-types.ts";
import type { FunctionCondition, FunctionObject } from "../function-custom-resource.ts";

/** One thing that happened to a Function, as `kubectl describe` shows it. */
export interface EventObject extends KubeObject {
  readonly involvedObject: Readonly<Record<string, string | undefined>>;
  readonly type: "Normal" | "Warning";
  readonly reason: string;
  readonly message: string;
  readonly source: { readonly component: string };
  readonly firstTimestamp: string;
  readonly lastTimestamp: string;
  readonly count: number;
}

type Happening = Pick<EventObject, "type" | "reason" | "message">;

const component = "weir-operator";
/** Longest message that the API server accepts. */
const maxCharacters = 1_024;

/**
 * Events for what `conditions` change in the status of `object`, at `now` (Unix milliseconds): the function stalls or
 * recovers, becomes ready or is no longer ready. Scaling to zero is not an event, nor is the time until it is ready
 * again after that.
 */
export function functionEvents(
  object: FunctionObject,
  conditions: readonly FunctionCondition[],
  now: number,
): EventObject[] {
  const { name, namespace = "", uid, resourceVersion } = object.metadata;
  const at = new Date(now).toISOString().replace(/\.\d+Z$/, "Z");
  const before = object.status?.conditions ?? [];
  const happenings = [
    stalledHappening(find(before, "Stalled"), find(conditions, "Stalled")),
    readyHappening(find(before, "Ready"), find(conditions, "Ready")),
  ].filter((one) => one !== undefined);
  return happenings.map(({ type, reason, message }, index) => ({
    // With a fixed name, a retry after a lost response does not create a second event.
    metadata: { name: `${name}.${now.toString(16)}${index}`, namespace },
    involvedObject: {
      apiVersion: apiVersionOf(kinds.function),
      kind: kinds.function.kind,
      name,
      namespace,
      uid,
      resourceVersion,
    },
    type,
    reason,
    message: message.slice(0, maxCharacters),
    source: { component },
    firstTimestamp: at,
    lastTimestamp: at,
    count: 1,
  }));
}

function stalledHappening(
  before: FunctionCondition | undefined,
  after: FunctionCondition | undefined,
): Happening | undefined {
  const was = before?.status === "True";
  if (after?.status === "True") {
    if (was && before.reason === after.reason) return undefined;
    return { type: "Warning", reason: after.reason, message: after.message };
  }
  return was ? { type: "Normal", reason: "Recovered", message: "Nothing is in the way any more" } : undefined;
}

function readyHappening(
  before: FunctionCondition | undefined,
  after: FunctionCondition | undefined,
): Happening | undefined {
  if (after === undefined || before?.status === after.status) return undefined;
  const { reason, message } = after;
  if (after.status === "True") return reason === "ScaledToZero" ? undefined : { type: "Normal", reason, message };
  const wasScaledToZero = before === undefined || before.reason === "ScaledToZero";
  return wasScaledToZero ? undefined : { type: "Warning", reason, message };
}

function find(conditions: readonly FunctionCondition[], type: string): FunctionCondition | undefined {
  return conditions.find((condition) => condition.type === type);
}
