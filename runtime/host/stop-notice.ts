/** What is under way when a stop begins. */
export interface UnderWay {
  /** Synchronous calls, those waiting for a replica too. */
  readonly calls: number;
  /** Runs of queued calls. */
  readonly runs: number;
}

/** What a stop waits for, in words for a person at the terminal; undefined when it waits for nothing. */
export function stopNotice({ calls, runs }: UnderWay): string | undefined {
  const parts = [
    ...(calls === 0 ? [] : [`${calls} ${calls === 1 ? "call" : "calls"}`]),
    ...(runs === 0 ? [] : [`${runs} queued ${runs === 1 ? "run" : "runs"}`]),
  ];
  return parts.length === 0 ? undefined : `waiting for ${parts.join(", ")}; Ctrl-C again ends them now`;
}
