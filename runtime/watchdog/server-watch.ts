import { findListener, type ListeningProcess } from "./listening-process.ts";

/** Input of a process: `coming` from the caller, `unread` if the process takes no more, `given` if all is written. */
export type InputState = "coming" | "unread" | "given";

/** What watching a process depends on. */
export interface ServerWatchParts {
  readonly pid: number;
  readonly input: () => InputState;
  /** It is a server: it listens on `port`, waits, and leaves its input unread. Called once, as the last callback. */
  readonly isServer: (port: number) => void;
  /**
   * It may be one: it listens on `port` and waits, but may have read its input. Called at each check that finds this.
   */
  readonly maybeServer: (port: number) => void;
  /** It does not look like a server now. */
  readonly isNone: () => void;
  readonly look?: (pid: number) => Promise<ListeningProcess | undefined>;
}

/** Milliseconds between two checks. */
const interval = 1_000;
/** A waiting server wakes up now and then: this many ticks between two checks still count as idle. */
const idleTicks = 2;

/**
 * Detects that a process, which should read its input and reply, is a server instead, or may be one: at two checks in a
 * row it listens, holds its input open, and was idle in between. The returned function ends the watch.
 */
export function watchForServer(parts: ServerWatchParts): () => void {
  const { pid, input, look = findListener } = parts;
  let before: ListeningProcess | undefined;
  let over = false;
  const end = (): void => {
    over = true;
    clearInterval(timer);
  };
  const timer = setInterval(() => {
    void look(pid).then((found) => {
      if (over) return;
      const state = input();
      const now = state === "coming" ? undefined : found;
      const last = before;
      before = now;
      if (now === undefined) {
        parts.isNone();
      } else if (last?.pid === now.pid) {
        if (now.ticks - last.ticks > idleTicks) return parts.isNone();
        if (state === "given") return parts.maybeServer(now.port);
        end();
        parts.isServer(now.port);
      }
    });
  }, interval);
  return end;
}
