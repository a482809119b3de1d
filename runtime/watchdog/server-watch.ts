import { findListener, type ListeningProcess } from "./listening-process.ts";

/** What watching a process works with. */
export interface ServerWatchParts {
  readonly pid: number;
  /** Whether its whole input was handed to it, or it reads none of it. */
  readonly hasInput: () => boolean;
  /** It is a server: it listens on `port` and waits. Called once, the last call. */
  readonly isServer: (port: number) => void;
  /** It does not look like one now. */
  readonly isNone: () => void;
  readonly look?: (pid: number) => Promise<ListeningProcess | undefined>;
}

/** Milliseconds between two looks. */
const interval = 1_000;
/** A server that waits wakes up now and then: so many ticks between two looks are no work. */
const idleTicks = 2;

/**
 * Finds out that a process which was to read its input and answer is a server instead: at two looks in a row it listens, has
 * its input still, and has done nothing in between. The returned function ends it.
 */
export function watchForServer(parts: ServerWatchParts): () => void {
  const { pid, hasInput, look = findListener } = parts;
  let before: ListeningProcess | undefined;
  let over = false;
  const end = (): void => {
    over = true;
    clearInterval(timer);
  };
  const timer = setInterval(() => {
    void look(pid).then((found) => {
      if (over) return;
      const now = hasInput() ? found : undefined;
      const last = before;
      before = now;
      if (now === undefined) {
        parts.isNone();
      } else if (last?.pid === now.pid) {
        if (now.ticks - last.ticks > idleTicks) return parts.isNone();
        end();
        parts.isServer(now.port);
      }
    });
  }, interval);
  return end;
}
