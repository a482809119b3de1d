// A gateway process for P1: the real server, invoker, table and upstream, with the functions given as arguments.
import { UndiciUpstream } from "../../runtime/adapters/http/undici-upstream.ts";
import { desireFunction } from "../../runtime/core/desired-function.ts";
import { FunctionTable } from "../../runtime/core/function-table.ts";
import type { FunctionStore } from "../../runtime/core/ports/function-store.ts";
import { Waker } from "../../runtime/core/wake.ts";
import { createErrorWriter } from "../../runtime/gateway/error-handler.ts";
import { createGatewayServer, type GatewayServer } from "../../runtime/gateway/http-server.ts";
import { InvocationCounts } from "../../runtime/gateway/invocation/invocation-counts.ts";
import { createSyncInvoker } from "../../runtime/gateway/invocation/sync-invoker.ts";
import { createLog } from "../../runtime/process/log.ts";

const [address = ""] = process.argv.slice(2);
const table = new FunctionTable({ defaultNamespace: "functions", aliases: ["openfaas-fn"] });
const wanted = desireFunction(undefined, "functions", { service: "tiny", image: "none" }, new Date().toISOString());
table.functionObserver.set(wanted);
table.endpointsObserver.set({
  name: "tiny",
  namespace: "functions",
  addresses: [address],
  observedGeneration: 1,
  conditions: [],
});

const functions: FunctionStore = {
  get: async () => wanted,
  list: async () => [wanted],
  write: async () => wanted,
  remove: async () => false,
  watch: async () => () => {},
};
const { writeError } = createErrorWriter(createLog("bench-gateway", "error"));
const invoke = createSyncInvoker({
  table,
  waker: new Waker({ functions, table, wakeTimeout: 1_000, maxWaitingCallers: 100 }),
  upstream: new UndiciUpstream(),
  counts: new InvocationCounts(),
  settings: { upstreamTimeout: 30_000, invokeAuth: false },
  authorise: () => {},
  clientOf: (peer) => peer ?? "",
  isPlatformCredential: () => false,
  writeError,
  draining: () => gateway.draining,
});
const gateway: GatewayServer = createGatewayServer({
  invoke,
  invokeAsync: invoke,
  writeError,
  headersTimeout: 10_000,
  bodySilence: 30_000,
});
const port = await gateway.listen({ host: "127.0.0.1", port: 0 });
process.stdout.write(`${port}\n`);
process.on("SIGTERM", () => process.exit(0));
