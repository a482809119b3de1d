import type { Log } from "../../process/log.ts";

/** One ended call as the access log tells it. Never among it: queries, headers, bodies. */
export interface AccessLine {
  readonly callId: string;
  /** As deployed, else as called; undefined when the address names none. */
  readonly functionName: string | undefined;
  readonly namespace: string | undefined;
  readonly method: string;
  /** As the metrics count it, see `endStatus`. */
  readonly status: number;
  /** Milliseconds from the request's head to the end of the reply, or of the WebSocket. */
  readonly duration: number;
  /** Bytes of the request's body that were read, or that came over the WebSocket. */
  readonly bytesIn: number;
  /** Bytes of the reply's body that were passed on, or that went out over the WebSocket. */
  readonly bytesOut: number;
  /** Address of the client, seen through trusted proxies. */
  readonly client: string;
  readonly traceId: string;
}

/** Writes one line. */
export type AccessLog = (line: AccessLine) => void;

/** An access log beside the other lines of `log`, written whatever its level. */
export function createAccessLog(log: Log): AccessLog {
  const lines = log.child({}, { level: "info" });
  return (line) => lines.info({ ...line, duration: Math.round(line.duration * 1_000) / 1_000 }, "call");
}
