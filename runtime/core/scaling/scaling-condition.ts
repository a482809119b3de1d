import type { Condition } from "../../api/schemas/function-status.ts";
import { activeHold, externalMessage, holdMessage } from "./count-hold.ts";
import { scaledBecause, type DesiredFunction, type ScaledBecause } from "../functions/desired-function.ts";
import { externalReason, isHeldReason, onHoldReason } from "./held-back.ts";
import { usableScaleRules } from "./scale-rules.ts";

/** The reason of a count that has not changed since the deployment. */
const deployed = "Deployed";

/**
 * Condition Scaling: why there are this many replicas, and since when. What holds them comes first: another scaler, a
 * hold that is active at `now` (Unix milliseconds), or what was noted after it held them for some time. The condition
 * is False for a function whose count is changed by requests only.
 */
export function scalingCondition(wanted: DesiredFunction, now: number = Date.now()): Condition {
  const { deployment, replicas, scaled, updatedAt } = wanted;
  const held = heldNow(wanted, now);
  const { min, max, zero } = usableScaleRules(deployment.labels);
  const status = min === max && !zero && wanted.externalScaler === undefined ? "False" : "True";
  const last = scaled ?? {
    reason: deployed,
    message: `As deployed: ${replicas === min ? `scale.min is ${min}` : `${replicas} wanted`}`,
    at: updatedAt,
  };
  const word = scaled === undefined ? "" : ` (${scaled.reason})`;
  const message =
    held === undefined ? last.message : `${held.message}. ${replicas} since ${last.at}${word}: ${last.message}`;
  const { reason, at } = held ?? last;
  return { type: "Scaling", status, reason, message, lastTransitionTime: at };
}

/** A hold or another scaler is reported from the first moment on; a note about one that has ended is ignored. */
function heldNow(wanted: DesiredFunction, now: number): ScaledBecause | undefined {
  const { replicas, scaled, held, updatedAt, externalScaler } = wanted;
  const at = Date.parse(scaled?.at ?? updatedAt);
  if (externalScaler !== undefined) return scaledBecause(externalReason, externalMessage(externalScaler), at);
  const hold = activeHold(wanted, now);
  if (hold !== undefined) return scaledBecause(onHoldReason, holdMessage(replicas, hold), at);
  return held?.reason === onHoldReason || held?.reason === externalReason ? undefined : held;
}

/** Inverse of `scalingCondition`: the last change, and what holds replicas, as the condition states them. */
export function readScaling(
  condition: Pick<Condition, "reason" | "message" | "lastTransitionTime">,
): Pick<DesiredFunction, "scaled" | "held"> {
  const { reason, message, lastTransitionTime: at } = condition;
  if (reason === deployed) return {};
  if (!isHeldReason(reason)) return { scaled: { reason, message, at } };
  const parts = /^(?<why>.*?)\. \d+ since (?<at>\S+?)(?: \((?<word>\w+)\))?: (?<last>.*)$/s.exec(message)?.groups;
  if (parts === undefined) return { held: { reason, message, at } };
  const held = { reason, message: parts["why"] ?? "", at };
  const word = parts["word"];
  return word === undefined
    ? { held }
    : { held, scaled: { reason: word, message: parts["last"] ?? "", at: parts["at"] ?? "" } };
}
