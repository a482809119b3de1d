/** What is in flight when a stop begins. */
export interface UnderWay {
  /** Synchronous calls, including those that wait for a replica. */
  readonly calls: number;
  /** Runs of queued calls. */
  readonly runs: number;
}

/** What a stop waits for, for the person at the terminal; undefined when it waits for nothing. */
export function stopNotice({ calls, runs }: UnderWay): string | undefined {
  const parts = [
    ...(calls === 0 ? [] : [`${calls} ${calls === 1 ? "call" : "calls"}`]),
    ...(runs === 0 ? [] : [`${runs} queued ${runs === 1 ? "run" : "runs"}`]),
  ];
  return parts.length === 0 ? undefined : `waiting for ${parts.join(", ")}; Ctrl-C again ends them now`;
}
