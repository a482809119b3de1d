import { objectAnnotation } from "../../../api/names.ts";
import type { DesiredFunction, ScaledBecause } from "../../../core/desired-function.ts";
import { readScaling } from "../../../core/scaling-condition.ts";
import type { FunctionObject } from "./function-custom-resource.ts";

/** A function's count and the reason for it, if it has one, as text of an annotation. */
export function formatScaled({ replicas, scaled }: Pick<DesiredFunction, "replicas" | "scaled">): string {
  return JSON.stringify({ replicas, ...scaled });
}

/**
 * Why a Function object wants `replicas`, and what holds them: what was said last, by a request in an annotation or by
 * the autoscaler in condition Scaling, if that is not from before the deployment of `updatedAt`. A count that is not the
 * one of the last request was asked for elsewhere, which nobody wrote down.
 */
export function scalingOf(
  { metadata, status }: Pick<FunctionObject, "metadata" | "status">,
  replicas: number,
  updatedAt: string,
): Pick<DesiredFunction, "scaled" | "held"> {
  const asked = parseScaled(metadata.annotations?.[objectAnnotation.scaled], replicas, updatedAt);
  const requested = asked === undefined ? {} : { scaled: asked.because };
  const said = status?.conditions?.find(({ type }) => type === "Scaling");
  if (said === undefined) return requested;
  const { lastTransitionTime: at, observedGeneration } = said;
  const holds =
    observedGeneration === undefined
      ? Date.parse(at) > Date.parse(updatedAt)
      : observedGeneration === metadata.generation;
  if (!holds) return requested;
  const scaling = readScaling(said);
  const isNewer = asked !== undefined && !asked.guessed && Date.parse(asked.because.at) >= Date.parse(at);
  return isNewer ? requested : { ...requested, ...scaling };
}

/** `guessed`: nobody wrote down why it is this count. */
function parseScaled(
  text: string | undefined,
  replicas: number,
  updatedAt: string,
): { readonly because: ScaledBecause; readonly guessed: boolean } | undefined {
  if (text === undefined) return undefined;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (typeof value !== "object" || value === null) return undefined;
  const { replicas: count, reason, message, at } = value as Readonly<Record<string, unknown>>;
  if (typeof count === "number" && count !== replicas) {
    const elsewhere = `Scaled to ${replicas} by another way than a request`;
    return { because: { reason: "Requested", message: elsewhere, at: updatedAt }, guessed: true };
  }
  if (typeof reason !== "string" || typeof message !== "string" || typeof at !== "string") return undefined;
  return { because: { reason, message, at }, guessed: false };
}
