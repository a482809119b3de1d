import type { Readable, Writable } from "node:stream";

/** What the command sees of the process that runs it; tests give their own. */
export interface Terminal {
  readonly stdin: Readable;
  readonly stdout: Writable;
  readonly stderr: Writable;
  /** Whether each of them is a terminal and not a pipe or a file. */
  readonly isTerminal: { readonly stdin: boolean; readonly stdout: boolean; readonly stderr: boolean };
  /** Columns of stdout, if it is a terminal. */
  readonly columns: () => number | undefined;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** The working directory. */
  readonly directory: string;
  readonly home: string;
  /** User id of this process; undefined where the system has none. */
  readonly uid: number | undefined;
  /** Aborts at Ctrl-C, and when the process is told to end. */
  readonly signal: AbortSignal;
}
