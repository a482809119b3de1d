import { DatabaseError } from "pg";

import { PlatformError } from "../../../api/platform-error.ts";

/** There is no connection, or the one in use is gone; its cause says why. */
export class ConnectionFailure extends Error {
  override readonly name = "ConnectionFailure";
}

/** A statement that this side gave up, after the server had time to end it. */
export class StatementTimeout extends Error {
  override readonly name = "StatementTimeout";
}

/** Codes of PostgreSQL. */
const codes = {
  /** Ended by `statement_timeout`. */
  canceled: "57014",
  lockUnavailable: "55P03",
};
/** Beginnings of codes with which a server ends a connection, or refuses it. */
const ending = ["08", "25P03", "28", "3D000", "53300", "57P01", "57P02", "57P03", "57P05"];
/** Thrown by `pg-pool`, which has no code for it. */
const noConnectionFree = "timeout exceeded when trying to connect";

/** What failed, for the sentence of its error. */
export interface PostgresDoing {
  /** Completes "Cannot …". */
  readonly what: string;
  /** Where the server is. */
  readonly place: string;
  /** Milliseconds that a statement may take. */
  readonly limit: number;
  /** What waits when no connection is free. */
  readonly waiting: "reads" | "writes";
}

/** The error that callers get; the password is part of none. */
export function postgresFailure(err: unknown, doing: PostgresDoing): PlatformError {
  if (err instanceof PlatformError) return err;
  return new PlatformError("history_unavailable", `Cannot ${doing.what}: ${reasonOf(err, doing)}`, { cause: err });
}

/** Whether a lock was not to be had in time. */
export function isLockTimeout(err: unknown): boolean {
  return err instanceof DatabaseError && err.code === codes.lockUnavailable;
}

/** Whether the connection is of no use after this error. */
export function endsConnection(err: unknown): boolean {
  if (err instanceof DatabaseError) return ending.some((beginning) => err.code?.startsWith(beginning));
  return err instanceof ConnectionFailure || err instanceof StatementTimeout;
}

function reasonOf(err: unknown, { place, limit, waiting }: PostgresDoing): string {
  if (err instanceof StatementTimeout || (err instanceof DatabaseError && err.code === codes.canceled))
    return `it took longer than ${limit} ms`;
  if (!endsConnection(err)) return messageOf(err);
  const reason = messageOf(err instanceof ConnectionFailure ? err.cause : err);
  return reason === noConnectionFree
    ? `too many ${waiting} wait`
    : `PostgreSQL at "${place}" cannot be reached: ${reason}`;
}

/** A name with several addresses has an error for each of them, and no message of its own. */
function messageOf(err: unknown): string {
  if (err instanceof AggregateError && err.errors.length > 0) return messageOf(err.errors[0]);
  return err instanceof Error ? err.message || err.name : String(err);
}
