/** Errors of the operating system that a person can do something about, as states. */
const states: Readonly<Record<string, string>> = {
  ENOSPC: "the disk is full",
  EDQUOT: "the quota of the disk is used up",
  EACCES: "permission denied",
  EPERM: "permission denied",
  EROFS: "the file system is read-only",
  ENOENT: "there is no such file or directory",
  ENOTDIR: "a part of its path is no directory",
  EISDIR: "it is a directory",
  EMFILE: "too many files are open; raise the limit with ulimit -n",
  EIO: "the disk reports an error",
};

/** The message of whatever was thrown; of a file that cannot be used, the state alone. */
export function errorMessage(err: unknown): string {
  return fileError(err)?.state ?? (err instanceof Error ? err.message : String(err));
}

/** The same, with the path of the file first if the error has one. */
export function namedErrorMessage(err: unknown): string {
  const { path, state } = fileError(err) ?? {};
  return path === undefined ? errorMessage(err) : `"${path}": ${state}`;
}

/** The sentence for a file that cannot be used; undefined for any other error. */
export function fileFault(err: unknown): string | undefined {
  return fileError(err)?.path === undefined ? undefined : `Cannot use ${namedErrorMessage(err)}`;
}

/** What the operating system says of sockets and programs is told by those who use them. */
const otherCalls = /^(?:connect|bind|listen|spawn|getaddrinfo|kill)/;

function fileError(err: unknown): { readonly path: string | undefined; readonly state: string } | undefined {
  if (!(err instanceof Error) || !("code" in err) || !("syscall" in err) || otherCalls.test(String(err.syscall)))
    return undefined;
  const state = states[String(err.code)];
  const path = "path" in err && typeof err.path === "string" ? err.path : undefined;
  return state === undefined ? undefined : { path, state };
}
