import { objectAnnotation } from "../../../../api/names.ts";
import type { CountHold, HoldBy } from "../../../../core/scaling/count-hold.ts";
import type { DesiredFunction, ScaledBecause } from "../../../../core/functions/desired-function.ts";
import { readScaling } from "../../../../core/scaling/scaling-condition.ts";
import type { FunctionObject } from "../function-custom-resource.ts";

type Scaling = Pick<DesiredFunction, "scaled" | "held" | "hold">;

/**
 * A function's count, the reason for it and the hold on it, as far as it has them, as text of an annotation. The hold
 * names the deployment that it is of: the next one ends it, whoever makes it.
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
 * Why a Function object wants `replicas`, and what holds them: what was said last, by a request in an annotation or by
 * the autoscaler in condition Scaling, if that is not from before the deployment of `updatedAt`. A count that is not the
 * one of the last request was asked for elsewhere, which nobody wrote down; nothing is on hold then.
 */
export function scalingOf(
  { metadata, status }: Pick<FunctionObject, "metadata" | "status">,
  { replicas, generation, updatedAt }: Pick<DesiredFunction, "replicas" | "generation" | "updatedAt">,
): Scaling {
  const asked = parseScaled(metadata.annotations?.[objectAnnotation.scaled], replicas, updatedAt);
  const hold = asked?.hold?.generation === generation ? { hold: asked.hold.hold } : {};
  const requested = asked === undefined ? {} : { scaled: asked.because, ...hold };
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

/** What the annotation says of the count that is wanted. */
interface Asked {
  readonly because: ScaledBecause;
  /** Nobody wrote down why it is this count. */
  readonly guessed: boolean;
  readonly hold?: { readonly hold: CountHold; readonly generation: number } | undefined;
}

function parseScaled(text: string | undefined, replicas: number, updatedAt: string): Asked | undefined {
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
    const elsewhere = `Scaled to ${replicas} by another way than a request`;
    return { because: { reason: "Requested", message: elsewhere, at: updatedAt }, guessed: true };
  }
  if (typeof reason !== "string" || typeof message !== "string" || typeof at !== "string") return undefined;
  return { because: { reason, message, at }, guessed: false, hold: parseHold(hold) };
}

function parseHold(value: unknown): Asked["hold"] {
  if (typeof value !== "object" || value === null) return undefined;
  const { by, until, generation } = value as Readonly<Record<string, unknown>>;
  if (!isHoldBy(by) || typeof until !== "string" || Number.isNaN(Date.parse(until))) return undefined;
  return typeof generation === "number" ? { hold: { by, until }, generation } : undefined;
}

function isHoldBy(value: unknown): value is HoldBy {
  return value === "scale-function" || value === "alert";
}
