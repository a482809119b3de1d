/**
 * Operations of the history's API between gateways and the history process; the last two are for its own commands. Each is a POST of `historyPath`: its body is
 * the argument of the port's method, its 200 response the result, both as `encodeHistoryValue` writes them. Any other
 * status means that nothing was done, its body is a sentence.
 */
export const historyOperations = [
  "list",
  "get",
  "replays",
  "functions",
  "gaps",
  "rollups",
  "remove",
  "lines",
  "line-replicas",
  "remove-lines",
  "erase",
  "rebuild",
] as const;
export type HistoryOperation = (typeof historyOperations)[number];

/** GET: how far the history is behind the records, a `HistoryProgress`. */
export const historyProgressPath = "/v1/progress";

/** GET: the metrics of the history process, as text that Prometheus reads. */
export const historyMetricsPath = "/v1/metrics";

/** Bytes that the body of a request has at most: a list may name every function that its sender may see. */
export const historyRequestMax = 4 * 1024 * 1024;

/** Bytes that the body of a response has at most: the longest are rollups of 50 functions with 1 000 points each. */
export const historyResponseMax = 16 * 1024 * 1024;

/** The socket of the history process on one machine, below the directory of the platform's data. */
export const historySocket = ["history", "api.sock"] as const;

/** The port of the history process on a cluster. */
export const historyPort = 8083;

const prefix = "/v1/";

/** The path of an operation. */
export function historyPath(operation: HistoryOperation): string {
  return `${prefix}${operation}`;
}

/** The operation that a path names, if it names one. */
export function parseHistoryPath(path: string): HistoryOperation | undefined {
  return historyOperations.find((operation) => path === historyPath(operation));
}

/** The header `Authorization` of a request on a cluster, which the file `history-key` is compared with. */
export function historyAuthorization(key: string): string {
  return `Bearer ${key}`;
}

/** An argument or a result as JSON; what is undefined, or no argument at all, is `null`. */
export function encodeHistoryValue(value: unknown): string {
  return JSON.stringify(value ?? null);
}

/**
 * The inverse of `encodeHistoryValue`.
 * @throws SyntaxError when it is not JSON
 */
export function decodeHistoryValue(text: string): unknown {
  const value: unknown = JSON.parse(text);
  return value ?? undefined;
}
