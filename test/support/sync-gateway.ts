import type { Condition } from "../../runtime/api/schemas/function-status.ts";
import type { RequestListener } from "node:http";
import { HttpUpstream } from "../../runtime/adapters/http/upstream/http-upstream.ts";
import { desireFunction, type DesiredFunction } from "../../runtime/core/functions/desired-function.ts";
import { formatRef, type FunctionRef } from "../../runtime/core/functions/function-ref.ts";
import { FunctionTable } from "../../runtime/core/replicas/function-table.ts";
import type { FunctionStore } from "../../runtime/core/ports/function-store.ts";
import { Waker } from "../../runtime/core/replicas/wake.ts";
import type { AccessLine } from "../../runtime/gateway/calls/access-log.ts";
import type { CutReason } from "../../runtime/gateway/calls/call-facts.ts";
import { createCallObserver } from "../../runtime/gateway/calls/call-observer.ts";
import { createErrorWriter } from "../../runtime/gateway/error-handler.ts";
import {
  createGatewayServer,
  type GatewayServer,
  type GatewayServerParts,
} from "../../runtime/gateway/edge/http-server.ts";
import { DeadlineSweep } from "../../runtime/gateway/calls/sync/deadline-sweep.ts";
import { InvocationCounts } from "../../runtime/process/metrics/invocation-counts.ts";
import { Admission, type AdmissionParts } from "../../runtime/gateway/calls/admission.ts";
import {
  createSyncInvoker,
  type HandleCall,
  type SyncInvokerParts,
} from "../../runtime/gateway/calls/sync/sync-invoker.ts";
import type { WriteError } from "../../runtime/gateway/calls/write-error.ts";
import { RouteCounts } from "../../runtime/gateway/metrics/route-counts.ts";
import { createLog } from "../../runtime/process/log.ts";

/** A function of a test, without its name. */
export interface TestFunction {
  readonly namespace?: string;
  readonly replicas?: number;
  readonly addresses?: readonly string[];
  readonly annotations?: Record<string, string>;
  readonly labels?: Record<string, string>;
  readonly envVars?: Record<string, string>;
}

/** A function store in memory that counts its writes and notifies its observer at once. */
export class TestFunctionStore implements FunctionStore {
  readonly functions = new Map<string, DesiredFunction>();
  writes = 0;
  failure: Error | undefined;
  readonly #table: FunctionTable;

  constructor(table: FunctionTable) {
    this.#table = table;
  }

  put(desired: DesiredFunction): void {
    this.functions.set(formatRef(desired), desired);
    this.#table.functionObserver.set(desired);
  }

  async get(ref: FunctionRef): Promise<DesiredFunction | undefined> {
    return this.functions.get(formatRef(ref));
  }

  async list(): Promise<readonly DesiredFunction[]> {
    return [...this.functions.values()];
  }

  async write(
    ref: FunctionRef,
    change: (current: DesiredFunction | undefined) => DesiredFunction,
  ): Promise<DesiredFunction> {
    if (this.failure !== undefined) throw this.failure;
    const changed = change(this.functions.get(formatRef(ref)));
    this.writes += 1;
    this.put(changed);
    return changed;
  }

  async remove(ref: FunctionRef): Promise<boolean> {
    this.#table.functionObserver.removed(ref);
    return this.functions.delete(formatRef(ref));
  }

  async watch(): Promise<() => void> {
    return () => {};
  }
}

/** A function table with its store, as in the gateway, without a process. */
export interface TestPlatform {
  readonly table: FunctionTable;
  readonly store: TestFunctionStore;
  deploy(name: string, options?: TestFunction): void;
  setReplicas(name: string, addresses: readonly string[], conditions?: readonly Condition[], namespace?: string): void;
}

/** Opens an empty platform with default namespace `functions` and alias `openfaas-fn`. */
export function createTestPlatform(): TestPlatform {
  const table = new FunctionTable({ defaultNamespace: "functions", aliases: ["openfaas-fn"] });
  const store = new TestFunctionStore(table);
  const setReplicas: TestPlatform["setReplicas"] = (name, addresses, conditions = [], namespace = "functions") =>
    table.endpointsObserver.set({ name, namespace, addresses, observedGeneration: 1, conditions });
  return {
    table,
    store,
    setReplicas,
    deploy: (name, options = {}) => {
      const { namespace = "functions", replicas = 1, addresses = [], ...deployment } = options;
      const desired = desireFunction(
        undefined,
        namespace,
        { service: name, image: "none", ...deployment },
        "2026-01-01T00:00:00Z",
      );
      store.put({ ...desired, replicas });
      setReplicas(name, addresses, [], namespace);
    },
  };
}

/** A gateway without REST API: the real server, invoker, table, waker and upstream. */
export interface SyncGateway extends TestPlatform {
  readonly port: number;
  readonly base: string;
  readonly gateway: GatewayServer;
  readonly waker: Waker;
  readonly counts: InvocationCounts;
  readonly routes: RouteCounts;
  /** The lines of the access log. */
  readonly lines: AccessLine[];
  /** Why calls were aborted, in order. */
  readonly cuts: CutReason[];
  close(): Promise<void>;
}

/** Durations in milliseconds. */
export interface SyncGatewayOptions {
  /** Default 30 s. */
  readonly upstreamTimeout?: number;
  readonly wakeTimeout?: number;
  readonly maxWaitingCallers?: number;
  readonly server?: Partial<GatewayServerParts>;
  readonly invoker?: Partial<SyncInvokerParts & AdmissionParts>;
  readonly invokeAsync?: HandleCall;
  readonly other?: RequestListener;
  /** Called with `METHOD target` of each request whose head the gateway has read. */
  readonly onRequest?: (request: string) => void;
}

/** Opens a gateway on a free port. */
export async function openSyncGateway(options: SyncGatewayOptions = {}): Promise<SyncGateway> {
  const platform = createTestPlatform();
  const { table, store } = platform;
  const { wakeTimeout = 2_000, maxWaitingCallers = 10_000 } = options;
  const waker = new Waker({ functions: store, table, wakeTimeout, maxWaitingCallers, maxWaitingBytes: 1e8 });
  const counts = new InvocationCounts();
  const upstream = new HttpUpstream();
  table.onGone((address) => upstream.release(address));
  const reported = new WeakSet<object>();
  const report = (request: { readonly method?: string | undefined; readonly url?: string | undefined }): void => {
    if (reported.has(request)) return;
    reported.add(request);
    options.onRequest?.(`${request.method} ${request.url}`);
  };
  const errors = createErrorWriter(createLog("test", "silent"));
  const writeError: WriteError = (exchange, ...more) => {
    report(exchange);
    return errors.writeError(exchange, ...more);
  };
  const routes = new RouteCounts();
  const lines: AccessLine[] = [];
  const cuts: CutReason[] = [];
  const clientOf = options.invoker?.clientOf ?? ((peer: string | undefined) => peer ?? "");
  const sweep = new DeadlineSweep();
  const admission = new Admission({
    table,
    invokeAuth: false,
    authorise: () => {},
    isPlatformCredential: () => false,
    ...options.invoker,
    clientOf,
  });
  const invoke = createSyncInvoker({
    admission,
    waker,
    upstream,
    counts,
    settings: { upstreamTimeout: options.upstreamTimeout ?? 30_000, timeoutMax: 3_600_000 },
    writeError,
    draining: () => gateway.draining,
    observer: createCallObserver({
      path: "/function/:name",
      counts: routes,
      accessLog: (line) => lines.push(line),
      cuts: (reason) => cuts.push(reason),
      clientOf,
    }),
    sweep,
    streamIdle: 60_000,
    webSocketIdle: 5_000,
    ...options.invoker,
  });
  const invokeAsync: HandleCall = options.invokeAsync ?? ((exchange) => void exchange.writeHead(202).end());
  const reporting =
    (handler: HandleCall): HandleCall =>
    (exchange) => {
      report(exchange);
      handler(exchange);
    };
  const gateway: GatewayServer = createGatewayServer({
    invoke: reporting(invoke),
    invokeAsync: reporting(invokeAsync),
    writeError,
    routes,
    headersTimeout: 20_000,
    bodyIdleTimeout: 20_000,
    asyncBody: {},
    maxConnectionsPerClient: 0,
    onTooManyConnections: () => {},
    onMalformed: (method, target) => options.onRequest?.(`${method} ${target}`),
    drainTimeout: 60_000,
    cutCalls: () => sweep.cutAll(),
    ...options.server,
  });
  gateway.serverFactory((request, response) => {
    report(request);
    if (options.other !== undefined) options.other(request, response);
    else {
      request.resume();
      response.end("other");
    }
  });
  const port = await gateway.listen({ host: "127.0.0.1", port: 0 });
  return {
    ...platform,
    port,
    base: `http://127.0.0.1:${port}`,
    gateway,
    waker,
    counts,
    routes,
    lines,
    cuts,
    close: async () => {
      const closed = gateway.close();
      gateway.cutConnections();
      sweep.cutAll();
      await closed;
      await upstream.close();
    },
  };
}
