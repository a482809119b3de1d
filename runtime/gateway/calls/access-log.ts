import type { Log } from "../../process/log.ts";

/** One ended call in the access log. Queries, headers and bodies are never logged. */
export interface AccessLine {
  readonly callId: string;
  /** As deployed, else as called; undefined when the URL names no function. */
  readonly functionName: string | undefined;
  readonly namespace: string | undefined;
  readonly method: string;
  /** The status that the metrics count, see `endStatus`. */
  readonly status: number;
  /** Milliseconds from the request's head to the end of the reply, or of the WebSocket. */
  readonly duration: number;
  /** Bytes of the request's body that were read, or bytes received over the WebSocket. */
  readonly bytesIn: number;
  /** Bytes of the reply's body that were passed on, or bytes sent over the WebSocket. */
  readonly bytesOut: number;
  /** Address of the client, seen through trusted proxies. */
  readonly client: string;
  readonly traceId: string;
}

/** Writes one line. */
export type AccessLog = (line: AccessLine) => void;

/** An access log among the other lines of `log`, written whatever the log level. */
export function createAccessLog(log: Log): AccessLog {
  const lines = log.child({}, { level: "info" });
  return (line) => lines.info({ ...line, duration: Math.round(line.duration * 1_000) / 1_000 }, "call");
}
