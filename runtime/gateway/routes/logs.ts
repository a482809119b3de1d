import Type from "typebox";

import { grammarRule, isFunctionName } from "../../api/grammar.ts";
import { PlatformError } from "../../api/platform-error.ts";
import { parseLogQuery } from "../../core/log-query.ts";
import { resolveNamespace } from "../../core/namespace-rules.ts";
import { quote } from "../../core/quote.ts";
import { functionNotFound } from "../../core/scale-function.ts";
import { LogStreams } from "../log-streams.ts";
import { namedNamespace, NamespaceQuery, type RoutePlugin } from "../route-plugin.ts";

const text = (about: string) => Type.Optional(Type.String({ description: about }));
const LogQuery = Type.Object({
  ...NamespaceQuery.properties,
  name: text("Function name; required"),
  instance: text("One replica only"),
  tail: text("Most lines of each replica; all when absent or ≤ 0"),
  since: text("RFC 3339; UTC without zone"),
  follow: text("Go on until the client leaves"),
});

/** Logs of the running replicas of a function (contract §3.4). */
export const logRoutes: RoutePlugin = async (app, { functions, logs, namespaces, logHeartbeat, errors }) => {
  const streams = new LogStreams({ heartbeat: logHeartbeat, patience: 30_000, checkEvery: 2_000 });
  app.addHook("preClose", async () => streams.close());

  app.get("/system/logs", { schema: { querystring: LogQuery }, exposeHeadRoute: false }, async (request, reply) => {
    const { query } = request;
    const name = functionNameOf(query.name);
    const asked = parseLogQuery(query);
    const namespace = resolveNamespace(namedNamespace(query), namespaces, "namespace_not_found");
    const ref = { namespace, name };
    if ((await functions.get(ref)) === undefined) throw functionNotFound(ref);
    if (logs === undefined) throw new PlatformError("not_built", "Cannot read logs: this provider keeps none");

    reply.header("content-type", "application/x-ndjson");
    const headers = Object.fromEntries(
      Object.entries(reply.getHeaders()).map(([header, value]) => [header, String(value)]),
    );
    const read = (signal: AbortSignal) => logs.read({ ...asked, ...ref }, signal);
    const isThere = async (): Promise<boolean> => (await functions.get(ref)) !== undefined;
    reply.hijack();
    await streams
      .send(reply.raw, headers, read, isThere)
      .catch((err: unknown) => errors.writeError(request.raw, reply.raw, err));
  });
};

function functionNameOf(name: string | undefined): string {
  if (name === undefined || name === "")
    throw new PlatformError("validation_failed", "Cannot read logs: parameter name is required");
  if (isFunctionName(name)) return name;
  throw new PlatformError("validation_failed", `Cannot read function name ${quote(name)}: ${grammarRule.function}`);
}
