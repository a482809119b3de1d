import { afterEach, beforeEach, vi } from "vitest";

/**
 * Gives each test of the calling file a clock that jumps to the next timer once all promises have been followed: waits
 * cost no time, and a busy machine makes no timer late. `eventually` waits by it too. Only for tests without files,
 * sockets or processes, which the clock would not wait for. Call it before other hooks: theirs then run within it.
 */
export function useJumpingClock(): void {
  beforeEach(() => {
    // With `node:timers/promises`.
    vi.useFakeTimers({ fakeNodeBuiltins: true });
    vi.setTimerTickMode("nextTimerAsync");
  });
  afterEach(() => void vi.useRealTimers());
}
