// A gateway process without a broker, with the real server, invoker, table and upstream. Arguments: the function's
// address and the upstream timeout in milliseconds.
import { HttpUpstream } from "../../runtime/adapters/http/upstream/http-upstream.ts";
import { desireFunction } from "../../runtime/core/functions/desired-function.ts";
import { FunctionTable } from "../../runtime/core/replicas/function-table.ts";
import type { FunctionStore } from "../../runtime/core/ports/function-store.ts";
import { Waker } from "../../runtime/core/replicas/wake.ts";
import { createCallObserver } from "../../runtime/gateway/calls/call-observer.ts";
import { createErrorWriter } from "../../runtime/gateway/error-handler.ts";
import { createGatewayServer, type GatewayServer } from "../../runtime/gateway/edge/http-server.ts";
import { DeadlineSweep } from "../../runtime/gateway/calls/sync/deadline-sweep.ts";
import { InvocationCounts } from "../../runtime/process/metrics/invocation-counts.ts";
import { Admission } from "../../runtime/gateway/calls/admission.ts";
import { createSyncInvoker } from "../../runtime/gateway/calls/sync/sync-invoker.ts";
import { RouteCounts } from "../../runtime/gateway/metrics/route-counts.ts";
import { createLog } from "../../runtime/process/log.ts";

const [address = "", upstreamTimeout = "30000"] = process.argv.slice(2);
const table = new FunctionTable({ defaultNamespace: "functions", aliases: ["openfaas-fn"] });
const desired = desireFunction(undefined, "functions", { service: "tiny", image: "none" }, new Date().toISOString());
table.functionObserver.set(desired);
table.endpointsObserver.set({
  name: "tiny",
  namespace: "functions",
  addresses: [address],
  observedGeneration: 1,
  conditions: [],
});

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
    authorise: () => {},
    clientOf,
    isPlatformCredential: () => false,
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
