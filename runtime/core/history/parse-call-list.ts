import { isFunctionName, isNamespaceName, isQueueName, grammarRule } from "../../api/grammar.ts";
import { PlatformError } from "../../api/platform-error.ts";
import { callKinds, callSources, historyStates } from "../../api/schemas/history/call-summary.ts";
import type { FunctionRef } from "../functions/function-ref.ts";
import type { CallFilter, CallListQuery } from "../ports/call-history.ts";
import { quote } from "../quote.ts";
import { parseListCursor, type CallListParameters } from "./list-cursor.ts";
import { parseMoment } from "./parse-moment.ts";

/** Which namespace a name means; undefined = the request names none. The history may know namespaces that are gone. */
export type NamespaceOf = (name: string | undefined) => string;

const defaultLimit = 50;
const maxLimit = 500;

/**
 * Parses which calls are listed, for all that may be seen: who asks adds `permitted`. `now` is Unix milliseconds.
 * @throws PlatformError `validation_failed`, naming parameter, value and what is expected
 */
export function parseCallList(parameters: CallListParameters, now: number, namespaceOf: NamespaceOf): CallListQuery {
  const after = parseListCursor(parameters);
  return {
    filter: parseFilter(parameters, now, namespaceOf),
    limit: parseLimit(parameters.limit),
    ...(after === undefined ? {} : { after }),
  };
}

function parseFilter(parameters: CallListParameters, now: number, namespaceOf: NamespaceOf): CallFilter {
  const namespace = namespaceParameter(parameters.namespace);
  const ref = parseFunction(parameters.function, namespace, namespaceOf);
  const queue = oneOf("queue", parameters.queue, isQueueName, grammarRule.queue);
  const kind = word("kind", parameters.kind, callKinds);
  const states = words("state", parameters.state, historyStates);
  const statuses = list(parameters.status)?.map(parseStatus);
  const reasons = list(parameters.reason)?.map(parseReason);
  const sources = words("source", parameters.source, callSources);
  const since = parseMoment("since", parameters.since, now);
  const until = parseMoment("until", parameters.until, now);
  if (since !== undefined && until !== undefined && until < since)
    throw unreadable("until", parameters.until ?? "", `a time after since ${quote(parameters.since ?? "")}`);
  const idPrefix = parseIdPrefix(parameters.id);
  return {
    ...(ref === undefined ? {} : { function: ref }),
    ...(namespace === undefined || ref !== undefined ? {} : { namespace: namespaceOf(namespace) }),
    ...(queue === undefined ? {} : { queue }),
    ...(kind === undefined ? {} : { kind }),
    ...(states === undefined ? {} : { states }),
    ...(statuses === undefined ? {} : { statuses }),
    ...(reasons === undefined ? {} : { reasons }),
    ...(sources === undefined ? {} : { sources }),
    ...(since === undefined ? {} : { since }),
    ...(until === undefined ? {} : { until }),
    ...(idPrefix === undefined ? {} : { idPrefix }),
  };
}

/**
 * The function that `name` or `name.namespace` means; undefined if it is absent.
 * @throws PlatformError `validation_failed`
 */
export function parseFunction(
  text: string | undefined,
  namespace: string | undefined,
  namespaceOf: NamespaceOf,
): FunctionRef | undefined {
  if (text === undefined || text === "") return undefined;
  const [name = "", named, ...others] = text.split(".");
  if (!isFunctionName(name) || (named !== undefined && !isNamespaceName(named)) || others.length > 0)
    throw unreadable("function", text, "name or name.namespace of a function");
  if (named !== undefined && namespace !== undefined && namespaceOf(named) !== namespaceOf(namespace))
    throw unreadable("namespace", namespace, `that of function ${quote(text)}, or none`);
  return { namespace: namespaceOf(named ?? namespace), name };
}

/**
 * The namespace that a parameter names; undefined if it is absent.
 * @throws PlatformError `validation_failed`
 */
export function namespaceParameter(text: string | undefined): string | undefined {
  return oneOf("namespace", text, isNamespaceName, grammarRule.namespace);
}

function parseLimit(sent: string | number | undefined): number {
  if (sent === undefined || sent === "") return defaultLimit;
  const text = String(sent);
  const limit = /^\d{1,4}$/.test(text) ? Number(text) : 0;
  if (limit < 1 || limit > maxLimit) throw unreadable("limit", text, `a whole number from 1 to ${maxLimit}`);
  return limit;
}

function parseStatus(text: string): readonly [number, number] {
  const [, digit, exact] = /^(?:([1-5])xx|([1-5]\d\d))$/.exec(text) ?? [];
  if (exact !== undefined) return [Number(exact), Number(exact)];
  if (digit === undefined) throw unreadable("status", text, "a status from 100 to 599 or a class such as 5xx");
  return [Number(digit) * 100, Number(digit) * 100 + 99];
}

function parseReason(text: string): string {
  if (/^[a-z][a-z_]{0,63}$/.test(text)) return text;
  throw unreadable("reason", text, "a word such as exhausted");
}

function parseIdPrefix(text: string | undefined): string | undefined {
  if (text === undefined || text === "") return undefined;
  const prefix = text.replaceAll("-", "").toLowerCase();
  if (/^[0-9a-f]{4,32}$/.test(prefix)) return prefix;
  throw unreadable("id", text, "the first 4 to 32 hexadecimal digits of an id");
}

function oneOf(name: string, text: string | undefined, isValid: (text: string) => boolean, rule: string) {
  if (text === undefined || text === "") return undefined;
  if (isValid(text)) return text;
  throw unreadable(name, text, rule);
}

function words<Word extends string>(name: string, text: string | undefined, known: readonly Word[]) {
  return list(text)?.map((one) => knownWord(name, one, known));
}

function word<Word extends string>(name: string, text: string | undefined, known: readonly Word[]): Word | undefined {
  return text === undefined || text === "" ? undefined : knownWord(name, text, known);
}

function knownWord<Word extends string>(name: string, text: string, known: readonly Word[]): Word {
  const found = known.find((one) => one === text);
  if (found === undefined) throw unreadable(name, text, `${known.slice(0, -1).join(", ")} or ${known.at(-1)}`);
  return found;
}

/** The members of a list with commas; each once. */
function list(text: string | undefined): readonly string[] | undefined {
  return text === undefined || text === "" ? undefined : [...new Set(text.split(","))];
}

function unreadable(name: string, text: string, expected: string): PlatformError {
  return new PlatformError("validation_failed", `Cannot read ${name} ${quote(text)}: expected ${expected}`);
}
