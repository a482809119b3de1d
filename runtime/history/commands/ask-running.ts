import { request, type RequestOptions } from "node:http";
import { join } from "node:path";
import { text } from "node:stream/consumers";

import {
  decodeHistoryValue,
  encodeHistoryValue,
  historyAuthorization,
  historyPath,
  historySocket,
  type HistoryOperation,
} from "../../api/schemas/history/history-wire.ts";
import { ApiKey } from "../api/api-key.ts";
import type { HistoryApiPlace } from "../api/open-history-api.ts";

/** Errors of a place where nobody listens. */
const nobody: ReadonlySet<string | undefined> = new Set(["ECONNREFUSED", "ENOENT"]);
/** Addresses that stand for all of a machine, and that of this machine among them. */
const ownAddress: ReadonlyMap<string, string> = new Map([
  ["0.0.0.0", "127.0.0.1"],
  ["::", "::1"],
]);

/**
 * The result of an operation of the history process that runs; undefined if none does.
 * @throws Error with its sentence when it refuses
 */
export async function askRunning(
  place: HistoryApiPlace,
  operation: HistoryOperation,
  argument?: unknown,
): Promise<{ readonly result: unknown } | undefined> {
  const options = await optionsOf(place);
  const sent = request({ ...options, method: "POST", path: historyPath(operation) });
  const answered = new Promise<{ readonly status: number; readonly body: string }>((resolve, reject) => {
    sent.once("error", reject);
    sent.once("response", (response) => {
      text(response).then((body) => resolve({ status: response.statusCode ?? 0, body }), reject);
    });
  });
  sent.end(encodeHistoryValue(argument));
  try {
    const { status, body } = await answered;
    if (status !== 200) throw new Error(body);
    return { result: decodeHistoryValue(body) };
  } catch (err) {
    if (nobody.has((err as NodeJS.ErrnoException).code)) return undefined;
    throw err;
  }
}

async function optionsOf(place: HistoryApiPlace): Promise<RequestOptions> {
  if ("directory" in place) return { socketPath: join(place.directory, historySocket[1]) };
  const { host, port, keyDirectory } = place;
  const authorization = historyAuthorization(await new ApiKey(keyDirectory).read());
  return { host: ownAddress.get(host) ?? host, port, headers: { authorization } };
}
