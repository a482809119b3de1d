import { homedir } from "node:os";

import type { Terminal } from "./terminal.ts";

/** The terminal of this process. A second Ctrl-C ends it at once. */
export function processTerminal(): Terminal {
  const { stdin, stdout, stderr } = process;
  const abort = new AbortController();
  for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(name, () => abort.abort());
  // A reader such as `head` that closed the pipe has all that it needs.
  stdout.on("error", (err: NodeJS.ErrnoException) => {
    if (err.code === "EPIPE") process.exit(0);
  });
  return {
    stdin,
    stdout,
    stderr,
    isTerminal: { stdin: stdin.isTTY, stdout: stdout.isTTY, stderr: stderr.isTTY },
    columns: () => (stdout.isTTY ? stdout.columns : undefined),
    environment: process.env,
    directory: process.cwd(),
    home: homedir(),
    uid: process.getuid?.(),
    signal: abort.signal,
  };
}
