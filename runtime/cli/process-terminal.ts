import { homedir } from "node:os";

import { CliError } from "./cli-error.ts";
import { exitCode } from "./exit-code.ts";
import type { Terminal } from "./terminal.ts";

/** The terminal of this process. A second Ctrl-C ends it at once. */
export function processTerminal(): Terminal {
  const { stdin, stdout, stderr } = process;
  const abort = new AbortController();
  for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(name, () => abort.abort());
  // A reader such as `head` that closed the pipe has all that it needs. Other errors are for whoever writes.
  stdout.on("error", (err: NodeJS.ErrnoException) => {
    if (err.code === "EPIPE") abort.abort(new CliError(exitCode.done, ""));
  });
  stderr.on("error", () => {});
  return {
    stdin,
    stdout,
    stderr,
    isTerminal: { stdin: isTerminal(stdin), stdout: isTerminal(stdout), stderr: isTerminal(stderr) },
    columns: () => (isTerminal(stdout) && stdout.columns > 0 ? stdout.columns : undefined),
    environment: process.env,
    directory: process.cwd(),
    home: homedir(),
    uid: process.getuid?.(),
    signal: abort.signal,
  };
}

/** The property is absent, not false, for pipes and files. */
function isTerminal({ isTTY }: { readonly isTTY?: boolean }): boolean {
  return isTTY === true;
}
