import { parseBoolean } from "../../api/boolean.ts";
import { parseDateTime } from "../date-time.ts";
import { parseCallId } from "../../api/grammar.ts";
import { PlatformError } from "../../api/platform-error.ts";
import type { LogQuery } from "../ports/log-source.ts";
import { quote } from "../quote.ts";

/** The parameters of a log request as they were sent. */
export interface LogParameters {
  readonly instance?: string;
  readonly tail?: string;
  readonly since?: string;
  readonly follow?: string;
}

/** The same of kept lines. */
export interface KeptLogParameters extends LogParameters {
  readonly until?: string;
  readonly history?: string;
  readonly call?: string;
}

const maxLines = 10_000;

/**
 * Parses which part of a log is requested (contract §3.4).
 * @throws PlatformError `log_query_invalid` when tail or since cannot be read
 */
export function parseLogQuery(parameters: LogParameters): Omit<LogQuery, "namespace" | "name"> {
  return {
    instance: parameters.instance === "" ? undefined : parameters.instance,
    tail: parseTail(parameters.tail),
    since: parseTime("since", parameters.since),
    follow: parseBoolean(parameters.follow ?? "false") ?? false,
  };
}

/** Which part of the kept lines is requested beside the log. */
export interface KeptLogSelection {
  /** Unix milliseconds, exclusive. */
  readonly until: number | undefined;
  /** Whether kept lines are shown that are no longer in the log. */
  readonly history: boolean;
  /** Id of a call, in lower case: only its lines. */
  readonly call: string | undefined;
}

/**
 * Parses which kept lines are requested.
 * @throws PlatformError `log_query_invalid` when they cannot be read, or cannot be followed
 */
export function parseKeptLogQuery(parameters: KeptLogParameters): KeptLogSelection {
  const until = parseTime("until", parameters.until);
  const history = parseBoolean(parameters.history ?? "false") ?? false;
  const { call: text = "" } = parameters;
  const call = parseCallId(text);
  if (text !== "" && call === undefined)
    throw new PlatformError("log_query_invalid", `Cannot read call ${quote(text)}: expected the id of a call, a UUID`);
  const bound = until === undefined ? (call === undefined ? undefined : "call") : "until";
  if (bound !== undefined && parseBoolean(parameters.follow ?? "false") === true)
    throw new PlatformError("log_query_invalid", `Cannot follow a log with ${bound}: leave out follow or ${bound}`);
  return { until, history, call };
}

function parseTail(text: string | undefined): number | undefined {
  if (text === undefined || text === "") return undefined;
  const tail = /^[+-]?\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
  if (!(tail <= maxLines)) {
    throw new PlatformError(
      "log_query_invalid",
      `Cannot read tail ${quote(text)}: expected a whole number up to ${maxLines}`,
    );
  }
  return tail <= 0 ? undefined : tail;
}

function parseTime(name: "since" | "until", text: string | undefined): number | undefined {
  if (text === undefined || text === "") return undefined;
  const at = parseDateTime(text, "optional");
  if (at !== undefined) return at;
  throw new PlatformError(
    "log_query_invalid",
    `Cannot read ${name} ${quote(text)}: expected a time such as 2026-01-31T12:00:00Z`,
  );
}
