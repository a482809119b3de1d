/** How the command ends; scripts decide by these numbers. */
export const exitCode = {
  done: 0,
  /** Refused or failed; not ready; a build failed. */
  failed: 1,
  /** The command line, a file or a schema is wrong; nothing was sent. */
  usage: 2,
  /** 404. */
  notFound: 3,
  /** 401, 403, or credentials that cannot be used. */
  credentials: 4,
  /** Out of reach, TLS, 429, 503. */
  unavailable: 5,
  /** The time is over; it may still happen. */
  timeout: 6,
  /** The function replied 400 or more, or the call ended `failed` or `cancelled`. */
  functionFailed: 7,
  /** A defect of this program. */
  defect: 70,
  /** Ctrl-C. */
  interrupted: 130,
} as const;

export type ExitCode = (typeof exitCode)[keyof typeof exitCode];
