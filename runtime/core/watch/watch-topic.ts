import { grammarRule, isFunctionName, isNamespaceName, parseCallId } from "../../api/grammar.ts";
import { callFilterNames } from "../../api/names.ts";
import { PlatformError } from "../../api/platform-error.ts";
import type { FunctionRef } from "../functions/function-ref.ts";
import type { CallListParameters } from "../history/list-cursor.ts";
import { quote } from "../quote.ts";

/** What a stream shows; `on` is the topic as the request names it. Namespaces may be aliases. */
export type WatchTopic = { readonly on: string } & (
  | { readonly kind: "functions"; readonly namespace: string | undefined }
  | { readonly kind: "function"; readonly ref: FunctionRef }
  | { readonly kind: "queues" }
  | { readonly kind: "calls"; readonly parameters: CallListParameters }
  | { readonly kind: "call"; readonly id: string }
  | { readonly kind: "log"; readonly ref: FunctionRef }
  | { readonly kind: "doctor" }
);

/** Most topics of one stream. */
export const maxTopics = 16;
/** Of these, each of which reads by itself. */
export const maxLogTopics = 4;
const longestText = 4_096;

/** Parameters of a list that have no place in a filter. */
const notFilters: ReadonlySet<string> = new Set(["limit", "after"]);
const filterNames: ReadonlySet<string> = new Set(callFilterNames);

/**
 * The topics that `on` lists, separated by commas, each once. A comma within the filter of `calls` is written `%2C`, as
 * in the query of a list.
 * @throws PlatformError `validation_failed`, naming the topic and what is expected
 */
export function parseWatchTopics(text: string | undefined): readonly WatchTopic[] {
  if (text === undefined || text === "") return [];
  if (text.length > longestText) {
    throw new PlatformError(
      "validation_failed",
      `Cannot read on: its ${text.length} characters are over the limit of ${longestText}`,
    );
  }
  const topics = [...new Set(text.split(","))].map(parseTopic);
  const logs = topics.filter(({ kind }) => kind === "log").length;
  if (topics.length > maxTopics || logs > maxLogTopics) {
    throw new PlatformError(
      "validation_failed",
      `Cannot watch ${topics.length} topics, ${logs} of them logs: one stream has at most ${maxTopics}, ${maxLogTopics} of them logs`,
    );
  }
  return topics;
}

function parseTopic(on: string): WatchTopic {
  const colon = on.indexOf(":");
  const kind = colon === -1 ? on : on.slice(0, colon);
  const rest = colon === -1 ? undefined : on.slice(colon + 1);
  switch (kind) {
    case "queues":
    case "doctor":
      if (rest !== undefined) throw unreadable(on, `${kind} alone`);
      return { on, kind };
    case "functions":
      if (rest !== undefined && !isNamespaceName(rest)) throw unreadable(on, grammarRule.namespace);
      return { on, kind, namespace: rest };
    case "function":
    case "log":
      return { on, kind, ref: parseRef(on, rest) };
    case "calls":
      return { on, kind, parameters: rest === undefined ? {} : parseFilter(on, rest) };
    case "call": {
      const id = parseCallId(rest ?? "");
      if (id === undefined) throw unreadable(on, "call:<id>, a UUID");
      return { on, kind, id };
    }
    default:
      throw unreadable(
        on,
        "functions[:<namespace>], function:<namespace>:<name>, queues, calls[:<filter>], call:<id>, log:<namespace>:<name> or doctor",
      );
  }
}

function parseRef(on: string, text = ""): FunctionRef {
  const [namespace = "", name = "", ...others] = text.split(":");
  if (!isNamespaceName(namespace) || !isFunctionName(name) || others.length > 0) {
    throw unreadable(on, `${on.split(":", 1)[0]}:<namespace>:<name>`);
  }
  return { namespace, name };
}

/** The values themselves are read as those of a list are. */
function parseFilter(on: string, text: string): CallListParameters {
  const parameters = Object.fromEntries(new URLSearchParams(text));
  for (const name of Object.keys(parameters)) {
    if (filterNames.has(name)) continue;
    const why = notFilters.has(name) ? `no ${name}, as a stream begins with the newest calls` : "parameters of a list";
    throw unreadable(on, why);
  }
  return parameters;
}

function unreadable(on: string, expected: string): PlatformError {
  return new PlatformError("validation_failed", `Cannot watch ${quote(on)}: expected ${expected}`);
}
