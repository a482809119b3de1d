import { formatDuration } from "../../api/duration.ts";
import type { FunctionProtocol } from "../functions/function-limits.ts";
import type { ProbeResult } from "../ports/prober.ts";

/** The probe that was sent to a replica. */
export interface ProbeAsked {
  /** `host:port`. */
  readonly address: string;
  readonly path: string | undefined;
  readonly protocol: FunctionProtocol;
  /** Milliseconds. */
  readonly timeout: number;
  /** The port is the one that functions get in `$PORT`, not that of a watchdog, which means nothing to users. */
  readonly isFunctionPort: boolean;
}

/** Nothing listens where a function should; `source` is what tells its process the port. */
export function nothingListens(port: number, source: "$PORT" | "upstream_url"): string {
  return `the process runs, but nothing listens on port ${port} (${source})`;
}

/**
 * As `nothingListens`, with the addresses (`host:port`) on which the process listens instead; `address` is where
 * requests are sent to it.
 */
export function listensElsewhere(address: string, source: "$PORT" | "upstream_url", found: readonly string[]): string {
  const port = portOf(address);
  if (found.length === 0) return nothingListens(Number(port), source);
  const isOtherAddress = found.some((other) => portOf(other) === port);
  const where = isOtherAddress ? address : `port ${port}`;
  return `the process runs and listens on ${found.join(", ")}, but not on ${where} (${source})`;
}

/** Why a probe failed, in words, with port, path and response; undefined for one that passed. */
export function probeFault(asked: ProbeAsked, result: ProbeResult): string | undefined {
  const port = portOf(asked.address);
  const get = asked.isFunctionPort ? `GET ${asked.path} on port ${port}` : `GET ${asked.path}`;
  const subject = asked.isFunctionPort ? `port ${port}` : "it";
  switch (result.kind) {
    case "passed":
      return undefined;
    case "refused":
      return asked.isFunctionPort ? nothingListens(Number(port), "$PORT") : "its watchdog does not listen";
    case "responded":
      return `${get} answered ${result.status}`;
    case "silent":
      return asked.path === undefined
        ? `${subject} ${asked.protocol === "h2c" ? "spoke no HTTP/2" : "accepted no connection"} within ${formatDuration(asked.timeout)}`
        : `${get} was not answered within ${formatDuration(asked.timeout)}`;
    case "broken":
      return asked.path === undefined
        ? `${subject} ${asked.protocol === "h2c" ? "speaks no HTTP/2" : "cannot be reached"}: ${result.words}`
        : `${get} failed: ${result.words}`;
    default:
      return result satisfies never;
  }
}

function portOf(address: string): string {
  return address.slice(address.lastIndexOf(":") + 1);
}
