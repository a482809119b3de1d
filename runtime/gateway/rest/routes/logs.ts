import Type from "typebox";

import { grammarRule, isFunctionName } from "../../../api/grammar.ts";
import { LogRecord } from "../../../api/schemas/log-record.ts";
import { callId, functionName } from "../../../api/schemas/name-schemas.ts";
import { PlatformError } from "../../../api/platform-error.ts";
import { functionNotFound } from "../../../core/functions/function-not-found.ts";
import { parseKeptLogQuery, parseLogQuery } from "../../../core/replicas/log-query.ts";
import { resolveNamespace } from "../../../core/namespaces/namespace-rules.ts";
import { quote } from "../../../core/quote.ts";
import { logReader } from "./log-reader.ts";
import { functionResource } from "../named-resource.ts";
import { namedNamespace, NamespaceQuery } from "../namespace-query.ts";
import { route } from "../route.ts";
import { sendRecords } from "./send-records.ts";

const LogQuery = Type.Object({
  ...NamespaceQuery.properties,
  name: functionName("Name of the function"),
  instance: Type.Optional(Type.String({ description: "One replica only; all when absent" })),
  tail: Type.Optional(
    Type.Integer({
      maximum: 10_000,
      description: "Most lines of each replica, from the end; all when absent, zero or less",
      examples: [20],
    }),
  ),
  since: Type.Optional(
    Type.String({
      format: "date-time",
      description: "Only lines since then; without a zone it is UTC",
      examples: ["2026-01-31T12:00:00Z"],
    }),
  ),
  until: Type.Optional(
    Type.String({
      format: "date-time",
      description: "Only lines before then, in the same way; not with follow",
      examples: ["2026-01-31T12:10:00Z"],
    }),
  ),
  history: Type.Optional(
    Type.Boolean({ description: "Whether to show kept lines first that are no longer in the log, of ended replicas" }),
  ),
  call: Type.Optional(callId("Only kept lines of this call of the function; not with follow")),
  follow: Type.Optional(Type.Boolean({ description: "Whether to continue until the client leaves" })),
});

/** Logs of a function (contract §3.4). */
export const logRoute = route(
  {
    id: "readLogs",
    group: "logs",
    method: "GET",
    path: "/system/logs",
    needs: "Function:Logs",
    resource: ({ query }, names) => functionResource(namedNamespace(query), functionNameOf(query.name), names),
    about:
      "Reads the logs of a function, one JSON object per line: what is kept of replicas that ended, then those that run, in the order of time.",
    details:
      "With follow=true it continues until the client leaves, the function is deleted or the sender's token expired five minutes ago; after 15 s without a line an empty one is sent.",
    query: LogQuery,
    responses: [{ status: 200, about: "The lines", schema: LogRecord, type: "application/x-ndjson" }],
    errors: [
      "namespace_not_found",
      "function_not_found",
      "call_not_found",
      "namespace_reserved",
      "edition_limit",
      "log_query_invalid",
      "too_many_streams",
      "not_built",
      "history_off",
      "history_unavailable",
    ],
    head: false,
    trial: { commands: 'curl -u admin:$P "$G/system/logs?name=echo&tail=20"', shows: "…" },
  },
  ({ functions, history, logs, namespaces, logStreams, errors, queueParts: { ledger } }) =>
    async ({ query, principal, request, reply }) => {
      const name = functionNameOf(query.name);
      const selection = { ...parseLogQuery(query), ...parseKeptLogQuery(query) };
      const namespace = resolveNamespace(namedNamespace(query), namespaces, "namespace_not_found");
      const ref = { namespace, name };
      using stream = logStreams.begin();
      if ((await functions.get(ref)) === undefined) throw functionNotFound(ref);
      const read = await logReader({ logs, history, ledger }, { ...selection, ...ref });

      const isThere = async (): Promise<boolean> => (await functions.get(ref)) !== undefined;
      await sendRecords(stream, { request, reply, principal, errors }, read, isThere);
    },
);

function functionNameOf(name: string | undefined): string {
  if (name === undefined || name === "")
    throw new PlatformError("validation_failed", "Cannot read logs: parameter name is required");
  if (isFunctionName(name)) return name;
  throw new PlatformError("validation_failed", `Cannot read function name ${quote(name)}: ${grammarRule.function}`);
}
