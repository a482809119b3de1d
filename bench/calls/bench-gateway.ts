// A gateway process without a broker, with the real server, invoker, table and upstream. Arguments: the function's
// address, the upstream timeout in milliseconds, and a directory with a key for tokens: function `guarded` needs one.
import { benchIssuer, guardingRules } from "./guarded-function.ts";
import { HttpUpstream } from "../../runtime/adapters/http/upstream/http-upstream.ts";
import { desireFunction } from "../../runtime/core/functions/desired-function.ts";
import { FunctionTable } from "../../runtime/core/replicas/function-table.ts";
import type { FunctionStore } from "../../runtime/core/ports/function-store.ts";
import { Waker } from "../../runtime/core/replicas/wake.ts";
import { openToAll } from "../../runtime/gateway/access/basic-auth.ts";
import { FunctionCallers } from "../../runtime/gateway/access/function-callers.ts";
import { TokenHolders } from "../../runtime/gateway/access/token-holders.ts";
import { openOwnKeys } from "../../runtime/gateway/access/tokens/own-keys.ts";
import { isOwnToken } from "../../runtime/core/access/own-token.ts";
import { createCallObserver } from "../../runtime/gateway/calls/call-observer.ts";
import { createErrorWriter } from "../../runtime/gateway/error-handler.ts";
import { createGatewayServer, type GatewayServer } from "../../runtime/gateway/edge/http-server.ts";
import { DeadlineSweep } from "../../runtime/gateway/calls/sync/deadline-sweep.ts";
import { InvocationCounts } from "../../runtime/process/metrics/invocation-counts.ts";
import { Admission } from "../../runtime/gateway/calls/admission.ts";
import { createSyncInvoker } from "../../runtime/gateway/calls/sync/sync-invoker.ts";
import { RouteCounts } from "../../runtime/gateway/metrics/route-counts.ts";
import { createLog } from "../../runtime/process/log.ts";

const [address = "", upstreamTimeout = "30000", keys] = process.argv.slice(2);
const table = new FunctionTable({ defaultNamespace: "functions", aliases: ["openfaas-fn"] });
const createdAt = new Date().toISOString();
const desired = desireFunction(undefined, "functions", { service: "tiny", image: "none" }, createdAt);
const guarded = { service: "guarded", image: "none", annotations: { "com.service.auth": "required" } };
for (const wanted of [desired, desireFunction(undefined, "functions", guarded, createdAt)]) {
  table.functionObserver.set(wanted);
  const { name, namespace } = wanted;
  table.endpointsObserver.set({ name, namespace, addresses: [address], observedGeneration: 1, conditions: [] });
}

const functions: FunctionStore = {
  get: async () => desired,
  list: async () => [desired],
  write: async () => desired,
  remove: async () => false,
  watch: async () => () => {},
};
const { writeError } = createErrorWriter(createLog("bench-gateway", "error"));
const routes = new RouteCounts();
const clientOf = (peer: string | undefined): string => peer ?? "";
const sweep = new DeadlineSweep();
const invoke = createSyncInvoker({
  admission: new Admission({
    table,
    invokeAuth: false,
    clientOf,
    ...(keys === undefined ? { authorise: () => {}, isPlatformCredential: () => false } : tokenChecks(keys)),
  }),
  waker: new Waker({ functions, table, wakeTimeout: 1_000, maxWaitingCallers: 100, maxWaitingBytes: 1e8 }),
  upstream: new HttpUpstream(),
  counts: new InvocationCounts(),
  settings: { upstreamTimeout: Number(upstreamTimeout), timeoutMax: 3_600_000 },
  writeError,
  draining: () => gateway.draining,
  observer: createCallObserver({ path: "/function/:name", counts: routes, accessLog: undefined, clientOf }),
  sweep,
  streamIdle: 60_000,
  webSocketIdle: 600_000,
});
const gateway: GatewayServer = createGatewayServer({
  invoke,
  invokeAsync: invoke,
  writeError,
  routes,
  headersTimeout: 10_000,
  bodyIdleTimeout: 30_000,
  asyncBody: {},
  maxConnectionsPerClient: 0,
  onTooManyConnections: () => {},
  drainTimeout: 1_000,
  cutCalls: () => sweep.cutAll(),
});
const port = await gateway.listen({ host: "127.0.0.1", port: 0 });
process.stdout.write(`${port}\n`);
process.on("SIGTERM", () => process.exit(0));

/** How a gateway with tokens decides on calls. */
function tokenChecks(directory: string) {
  const rules = guardingRules();
  const holders = new TokenHolders(openOwnKeys({ directory, issuer: benchIssuer }).reader, () => rules);
  const callers = new FunctionCallers(openToAll, holders);
  return {
    readToken: (authorization: string | undefined) => callers.readToken(authorization),
    authorise: (...given: Parameters<FunctionCallers["authorise"]>) => callers.authorise(...given),
    isPlatformCredential: (authorization: string) => isOwnToken(authorization, benchIssuer),
  };
}
