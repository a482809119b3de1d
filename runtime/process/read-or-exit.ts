/** The result of `read`; an error is worded by `tell`, printed to standard error and ends the process with code 1. */
export function readOrExit<T>(read: () => T, tell: (err: unknown) => string = messageOf): T {
  try {
    return read();
  } catch (err) {
    process.stderr.write(`${tell(err)}\n`);
    return process.exit(1);
  }
}

function messageOf(err: unknown): string {
  return err instanceof Error ? err.message : String(err);
}
