/** Origin of a hold: a request of the REST API, or an alert manager. */
export type HoldBy = "scale-function" | "alert";

/** Keeps the autoscaler from changing a count. */
export interface CountHold {
  readonly by: HoldBy;
  /** When the hold ends; RFC 3339. */
  readonly until: string;
}

/** Longest hold after the last `firing` of an alert manager, should it never report again; milliseconds. */
export const alertHoldTime = 3_600_000;

/** A hold of `duration` milliseconds from `now` (Unix milliseconds) on; undefined for 0. */
export function holdFor(by: HoldBy, duration: number, now: number): CountHold | undefined {
  return duration === 0 ? undefined : { by, until: new Date(now + duration).toISOString() };
}

/** The hold of a function's count, unless it has ended at `now` (Unix milliseconds). */
export function activeHold({ hold }: { readonly hold?: CountHold | undefined }, now: number): CountHold | undefined {
  return hold !== undefined && now < Date.parse(hold.until) ? hold : undefined;
}

/** Sentence that names the scaler that sets the count in place of the autoscaler. */
export function externalMessage(scaler: string): string {
  return `Scaled by "${scaler}", and left alone by the autoscaler of Weir`;
}

/** Sentence with the number of replicas held, by whom and until when. */
export function holdMessage(replicas: number, { by, until }: CountHold): string {
  return `Held at ${replicas} until ${until} by ${by}`;
}
