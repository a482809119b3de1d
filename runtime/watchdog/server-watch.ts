import { findListener, type ListeningProcess } from "./listening-process.ts";

/** The input of a process: `coming` while the caller sends, `unread` when there is more than it takes, `given` when all was handed to the system. */
export type InputState = "coming" | "unread" | "given";

/** What watching a process works with. */
export interface ServerWatchParts {
  readonly pid: number;
  readonly input: () => InputState;
  /** It is a server: it listens on `port`, waits, and leaves its input unread. Called once, the last call. */
  readonly isServer: (port: number) => void;
  /** It may be one: it listens on `port` and waits; whether it read its input cannot be seen. Called at each such look. */
  readonly maybeServer: (port: number) => void;
  /** It does not look like one now. */
  readonly isNone: () => void;
  readonly look?: (pid: number) => Promise<ListeningProcess | undefined>;
}

/** Milliseconds between two looks. */
const interval = 1_000;
/** A server that waits wakes up now and then: so many ticks between two looks are no work. */
const idleTicks = 2;

/**
 * Finds out that a process which was to read its input and answer is a server instead, or may be one: at two looks in a row it
 * listens, holds its input open, and has done nothing in between. The returned function ends it.
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
