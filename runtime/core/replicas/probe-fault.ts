import { formatDuration } from "../../api/duration.ts";
import type { FunctionProtocol } from "../functions/function-limits.ts";
import type { ProbeResult } from "../ports/prober.ts";

/** What a replica was asked. */
export interface ProbeAsked {
  /** `host:port`. */
  readonly address: string;
  readonly path: string | undefined;
  readonly protocol: FunctionProtocol;
  /** Milliseconds. */
  readonly timeout: number;
  /** The port is the one that functions are told in `$PORT`, not that of a watchdog, which would tell nobody anything. */
  readonly isFunctionPort: boolean;
}

/** Nothing listens where a function should; `told` is where its process could have learnt the port. */
export function nothingListens(port: number, told: "$PORT" | "upstream_url"): string {
  return `the process runs, but nothing listens on port ${port} (${told})`;
}

/**
 * The same where it is known on which addresses, `host:port`, the process listens instead; `address` is where its requests
 * come.
 */
export function listensElsewhere(address: string, told: "$PORT" | "upstream_url", found: readonly string[]): string {
  const port = portOf(address);
  if (found.length === 0) return nothingListens(Number(port), told);
  const isOtherAddress = found.some((other) => portOf(other) === port);
  const where = isOtherAddress ? address : `port ${port}`;
  return `the process runs and listens on ${found.join(", ")}, but not on ${where} (${told})`;
}

/** In words what was wrong with the answer to a probe: port, path and answer; undefined for one that passed. */
export function probeFault(asked: ProbeAsked, result: ProbeResult): string | undefined {
  const port = portOf(asked.address);
  const get = asked.isFunctionPort ? `GET ${asked.path} on port ${port}` : `GET ${asked.path}`;
  const subject = asked.isFunctionPort ? `port ${port}` : "it";
  switch (result.kind) {
    case "passed":
      return undefined;
    case "refused":
      return asked.isFunctionPort ? nothingListens(Number(port), "$PORT") : "its watchdog does not listen";
    case "answered":
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
