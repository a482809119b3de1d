/** The time of streams. */
export interface WatchClock {
  /** Monotonic milliseconds. */
  now(): number;
  /** Calls `run` every `period` milliseconds until the returned function is called. */
  every(period: number, run: () => void): () => void;
}

export const processClock: WatchClock = {
  now: () => performance.now(),
  every: (period, run) => {
    const timer = setInterval(run, period);
    return () => clearInterval(timer);
  },
};
