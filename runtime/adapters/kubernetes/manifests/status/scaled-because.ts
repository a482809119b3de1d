import { objectAnnotation } from "../../../../api/names.ts";
import type { CountHold, HoldBy } from "../../../../core/scaling/count-hold.ts";
import type { DesiredFunction, ScaledBecause } from "../../../../core/functions/desired-function.ts";
import { readScaling } from "../../../../core/scaling/scaling-condition.ts";
import type { FunctionObject } from "../function-custom-resource.ts";

type Scaling = Pick<DesiredFunction, "scaled" | "held" | "hold">;

/**
 * The annotation text for a function's replica count, with the reason for it and the hold on it, if any. The hold names
 * the generation it belongs to: the next deployment ends it, whoever makes it.
 */
export function formatScaled({
  replicas,
  scaled,
  hold,
  generation,
}: Pick<DesiredFunction, "replicas" | "scaled" | "hold" | "generation">): string {
  return JSON.stringify({ replicas, ...scaled, ...(hold === undefined ? {} : { hold: { ...hold, generation } }) });
}

/**
 * Why a Function object wants `replicas`, and the hold on them: the later of what a request wrote in the annotation and
 * what the autoscaler wrote in condition Scaling, unless that is older than the deployment of `updatedAt`. A count that
 * differs from the last request's was set by other means, for no recorded reason, and without a hold.
 */
export function scalingOf(
  { metadata, status }: Pick<FunctionObject, "metadata" | "status">,
  { replicas, generation, updatedAt }: Pick<DesiredFunction, "replicas" | "generation" | "updatedAt">,
): Scaling {
  const annotated = parseScaled(metadata.annotations?.[objectAnnotation.scaled], replicas, updatedAt);
  const hold = annotated?.hold?.generation === generation ? { hold: annotated.hold.hold } : {};
  const requested = annotated === undefined ? {} : { scaled: annotated.because, ...hold };
  const condition = status?.conditions?.find(({ type }) => type === "Scaling");
  if (condition === undefined) return requested;
  const { lastTransitionTime: at, observedGeneration } = condition;
  const holds =
    observedGeneration === undefined
      ? Date.parse(at) > Date.parse(updatedAt)
      : observedGeneration === metadata.generation;
  if (!holds) return requested;
  const scaling = readScaling(condition);
  const isNewer = annotated !== undefined && !annotated.guessed && Date.parse(annotated.because.at) >= Date.parse(at);
  return isNewer ? requested : { ...requested, ...scaling };
}

/** What the annotation says of the wanted count. */
interface AnnotatedScale {
  readonly because: ScaledBecause;
  /** The reason for this count was not recorded. */
  readonly guessed: boolean;
  readonly hold?: { readonly hold: CountHold; readonly generation: number } | undefined;
}

function parseScaled(text: string | undefined, replicas: number, updatedAt: string): AnnotatedScale | undefined {
  if (text === undefined) return undefined;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (typeof value !== "object" || value === null) return undefined;
  const { replicas: count, reason, message, at, hold } = value as Readonly<Record<string, unknown>>;
  if (typeof count === "number" && count !== replicas) {
    const elsewhere = `Scaled to ${replicas} by other means than a request`;
    return { because: { reason: "Requested", message: elsewhere, at: updatedAt }, guessed: true };
  }
  if (typeof reason !== "string" || typeof message !== "string" || typeof at !== "string") return undefined;
  return { because: { reason, message, at }, guessed: false, hold: parseHold(hold) };
}

function parseHold(value: unknown): AnnotatedScale["hold"] {
  if (typeof value !== "object" || value === null) return undefined;
  const { by, until, generation } = value as Readonly<Record<string, unknown>>;
  if (!isHoldBy(by) || typeof until !== "string" || Number.isNaN(Date.parse(until))) return undefined;
  return typeof generation === "number" ? { hold: { by, until }, generation } : undefined;
}

function isHoldBy(value: unknown): value is HoldBy {
  return value === "scale-function" || value === "alert";
}
