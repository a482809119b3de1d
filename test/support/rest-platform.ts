import { writeFile } from "node:fs/promises";
import type { Socket } from "node:net";
import { join } from "node:path";

import pino from "pino";

import { MemoryKeptRequests } from "./memory/memory-kept-requests.ts";
import { MemorySessionStore } from "./memory/memory-session-store.ts";
import { MemoryNamespaceStore } from "./memory/memory-namespace-store.ts";
import type { Edition } from "../../runtime/api/editions.ts";
import type { LogRecord } from "../../runtime/api/schemas/log-record.ts";
import { PlatformError } from "../../runtime/api/platform-error.ts";
import type { DesiredFunction } from "../../runtime/core/functions/desired-function.ts";
import { functionNotFound } from "../../runtime/core/functions/function-not-found.ts";
import { formatRef, type FunctionRef } from "../../runtime/core/functions/function-ref.ts";
import { NamespaceTable } from "../../runtime/core/namespaces/namespace-table.ts";
import { platformInfo } from "../../runtime/core/platform-info.ts";
import type { FunctionEndpoints } from "../../runtime/core/ports/endpoints.ts";
import type { FunctionStore } from "../../runtime/core/ports/function-store.ts";
import type { LogQuery, LogSource } from "../../runtime/core/ports/log-source.ts";
import type { SecretStore } from "../../runtime/core/ports/secret-store.ts";
import { WakeList } from "../../runtime/core/replicas/wake-list.ts";
import type { AppParts } from "../../runtime/gateway/rest/app-parts.ts";
import { buildApp } from "../../runtime/gateway/rest/app.ts";
import { openBasicAuth } from "../../runtime/gateway/access/basic-auth.ts";
import { SessionTable } from "../../runtime/gateway/access/sessions/session-table.ts";
import { loopbackOrigins } from "../../runtime/gateway/access/check-origin.ts";
import { clientAddresses } from "../../runtime/gateway/edge/client-address.ts";
import { createErrorWriter } from "../../runtime/gateway/error-handler.ts";
import { createGatewayServer } from "../../runtime/gateway/edge/http-server.ts";
import { RouteCounts } from "../../runtime/gateway/metrics/route-counts.ts";
import { checkAnswer } from "./api-answers.ts";
import { memoryDoctor } from "./memory-doctor.ts";
import { memoryQueues } from "./memory-queues.ts";
import { tempDirectory } from "./temp-directory.ts";

/** The REST side of a gateway on a real port, with stores in memory. */
export interface RestPlatform extends AsyncDisposable {
  /** What it was built from. */
  readonly parts: AppParts;
  /** Where the administrator's credentials are. */
  readonly directory: string;
  readonly user: string;
  readonly password: string;
  readonly port: number;
  readonly url: string;
  /** `Authorization` of the administrator. */
  readonly authorization: string;
  readonly functions: Map<string, DesiredFunction>;
  readonly namespaces: MemoryNamespaceStore;
  readonly secrets: Map<string, Uint8Array>;
  readonly endpoints: Map<string, FunctionEndpoints>;
  /** Publishes a function's endpoints as its provider would. */
  publish(endpoints: FunctionEndpoints): void;
  /** Requests that wait for a deployment. */
  waiting(): number;
  readonly logs: FakeLogs;
  /** Log lines, parsed. */
  readonly logged: Record<string, unknown>[];
  /** Remote ports of the open connections. */
  connections(): readonly number[];
  /** Sends a request as the administrator; rejects when the OpenAPI document does not describe the response. */
  call(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Response>;
  /** The status of the response to such a request. */
  statusOf(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<number>;
  /** The error in the response to such a request. */
  refusal(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Refusal>;
}

/** The response of an error, as JSON. */
export interface Refusal {
  readonly status: number;
  readonly code: string;
  readonly detail: string;
}

/** A log that tests write to. */
export class FakeLogs implements LogSource {
  readonly queries: LogQuery[] = [];
  readonly records: LogRecord[] = [];
  readonly #waiting = new Set<() => void>();
  failure: Error | undefined;

  add(record: LogRecord): void {
    this.records.push(record);
    for (const wake of this.#waiting) wake();
  }

  get readers(): number {
    return this.#waiting.size;
  }

  async *read(query: LogQuery, signal: AbortSignal): AsyncIterable<LogRecord> {
    this.queries.push(query);
    for (let next = 0; !signal.aborted;) {
      const record = this.records[next];
      if (record !== undefined) {
        next += 1;
        yield record;
        continue;
      }
      if (this.failure !== undefined) throw this.failure;
      if (!query.follow) return;
      await new Promise<void>((resolve) => {
        const wake = (): void => {
          this.#waiting.delete(wake);
          resolve();
        };
        this.#waiting.add(wake);
        signal.addEventListener("abort", wake, { once: true });
      });
    }
  }
}

const user = "admin";
const password = "päss:word";

export async function openRestPlatform(
  options: Partial<AppParts> & {
    readonly edition?: Edition;
    readonly bodyIdleTimeout?: number;
    readonly namespaceStore?: MemoryNamespaceStore;
  } = {},
): Promise<RestPlatform> {
  const directory = await tempDirectory("rest");
  await writeFile(join(directory.path, "basic-auth-user"), `${user}\n`);
  await writeFile(join(directory.path, "basic-auth-password"), ` ${password}\n`);
  const logged: Record<string, unknown>[] = [];
  const log = pino({ level: "debug" }, { write: (line: string) => void logged.push(JSON.parse(line)) });
  const functions = new Map<string, DesiredFunction>();
  const secrets = new Map<string, Uint8Array>();
  const endpoints = new Map<string, FunctionEndpoints>();
  const watchers = new WakeList();
  let waiting = 0;
  const logs = new FakeLogs();
  const errors = createErrorWriter(log);
  const namespaceStore = options.namespaceStore ?? new MemoryNamespaceStore();
  const namespaceTable = new NamespaceTable();
  await namespaceStore.watch(namespaceTable.observer);
  const edition = options.edition ?? "community";
  const unknown = (exchange: { end(): unknown }) => exchange.end();
  const routes = new RouteCounts();
  const allowed = new Set(["https://console.example"]);
  const gateway = createGatewayServer({
    invoke: unknown,
    invokeAsync: unknown,
    writeError: errors.writeError,
    headersTimeout: 10_000,
    bodyIdleTimeout: options.bodyIdleTimeout ?? 30_000,
    asyncBody: {},
    maxConnectionsPerClient: 0,
    onTooManyConnections: () => {},
    drainTimeout: 60_000,
    cutCalls: () => {},
    routes,
  });
  const parts: AppParts = {
    functions: functionStore(functions),
    secrets: secretStore(secrets),
    queues: undefined,
    namespaces: {
      defaultNamespace: "functions",
      aliases: ["openfaas-fn"],
      platformNamespace: "weir",
      reserved: ["kept"],
      edition,
      exists: (name) => namespaceTable.find(name) !== undefined,
    },
    namespaceStore,
    namespaceTable,
    edition,
    upstreamTimeout: 30_000,
    timeoutMax: 3_600_000,
    scaleHold: 300_000,
    log,
    errors,
    auth: openBasicAuth(directory.path),
    sessions: new SessionTable({ store: new MemorySessionStore(), log }),
    origins: { allowed, clients: clientAddresses(["10.0.0.0/8"]) },
    logs,
    endpoints: (ref) => endpoints.get(formatRef(ref)),
    namesOf: (namespace) =>
      [...functions.values()].filter((desired) => desired.namespace === namespace).map(({ name }) => name),
    watched: {
      functions: () =>
        functions.values().map((wanted) => {
          const { name, namespace } = wanted;
          const key = formatRef(wanted);
          return { ref: { name, namespace }, key, wanted, endpoints: endpoints.get(key) };
        }),
      here: { find: () => undefined },
    },
    view: {
      wanted: (ref) => functions.get(formatRef(ref)),
      endpoints: (ref) => endpoints.get(formatRef(ref)),
      watch: (ref, changed) => {
        waiting += 1;
        const end = watchers.watch(formatRef(ref), changed);
        return () => {
          waiting -= 1;
          end();
        };
      },
    },
    invocations: () => 7,
    info: platformInfo({
      provider: "local",
      version: { release: "0.1.0", sha: "abc", commit_message: "A change" },
      arch: "x64",
      edition,
      functionNamespace: "functions",
      namespaceAliases: ["openfaas-fn"],
      durability: "interval",
    }),
    address: () => "http://gateway.example:8080",
    credentials: { platformNamespace: "weir", secretMountPath: "data/credentials" },
    logHeartbeatPeriod: 15_000,
    routes,
    queueParts: memoryQueues(),
    requests: new MemoryKeptRequests(),
    acceptReplay: ({ call }) => Promise.reject(functionNotFound(call.function)),
    doctor: memoryDoctor(),
    ...options,
  };
  const app = buildApp(parts, gateway.serverFactory);
  const connections = new Set<Socket>();
  gateway.listener.on("connection", (socket: Socket) => {
    connections.add(socket);
    socket.once("close", () => connections.delete(socket));
  });
  await app.ready();
  const port = await gateway.listen({ host: "127.0.0.1", port: 0 });
  for (const origin of loopbackOrigins(port, false)) allowed.add(origin);
  const url = `http://127.0.0.1:${port}`;
  const authorization = `Basic ${Buffer.from(`${user}:${password}`).toString("base64")}`;

  const call: RestPlatform["call"] = async (method, path, body, headers = {}) => {
    const response = await fetch(url + path, {
      method,
      redirect: "manual",
      headers: { authorization, ...headers },
      ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
    });
    await checkAnswer(method, path, response);
    return response;
  };
  return {
    parts,
    directory: directory.path,
    user,
    password,
    port,
    url,
    authorization,
    functions,
    namespaces: namespaceStore,
    secrets,
    endpoints,
    publish: (entry) => {
      endpoints.set(formatRef(entry), entry);
      watchers.wake(formatRef(entry));
    },
    waiting: () => waiting,
    logs,
    logged,
    connections: () => [...connections].flatMap(({ remotePort }) => remotePort ?? []),
    call,
    statusOf: async (...request) => {
      const response = await call(...request);
      await response.arrayBuffer();
      return response.status;
    },
    refusal: async (method, path, body, headers) => {
      const response = await call(method, path, body, { accept: "application/json", ...headers });
      const { code, detail }: Pick<Refusal, "code" | "detail"> = JSON.parse(await response.text());
      return { status: response.status, code, detail };
    },
    async [Symbol.asyncDispose]() {
      await app.close();
      gateway.cutConnections();
      await gateway.close();
      await directory.remove();
    },
  };
}

function functionStore(functions: Map<string, DesiredFunction>): FunctionStore {
  return {
    get: async (ref) => functions.get(formatRef(ref)),
    list: async (namespace) =>
      [...functions.values()]
        .filter((desired) => desired.namespace === namespace)
        .toSorted((a, b) => (a.name < b.name ? -1 : 1)),
    write: async (ref: FunctionRef, change) => {
      const desired = change(functions.get(formatRef(ref)));
      functions.set(formatRef(ref), desired);
      return desired;
    },
    remove: async (ref) => functions.delete(formatRef(ref)),
    watch: async () => () => {},
  };
}

function secretStore(secrets: Map<string, Uint8Array>): SecretStore {
  const missing = (name: string) =>
    new PlatformError("secret_not_found", `Cannot find secret "${name}": it does not exist`);
  return {
    list: async (namespace) =>
      [...secrets.keys()]
        .filter((key) => key.endsWith(`@${namespace}`))
        .map((key) => key.split("@", 1)[0] ?? "")
        .toSorted(),
    create: async ({ name, namespace }, value) => {
      const key = `${name}@${namespace}`;
      if (secrets.has(key))
        throw new PlatformError("secret_exists", `Cannot create secret "${name}": it already exists`);
      secrets.set(key, value);
    },
    replace: async ({ name, namespace }, value) => {
      if (!secrets.has(`${name}@${namespace}`)) throw missing(name);
      secrets.set(`${name}@${namespace}`, value);
    },
    remove: async ({ name, namespace }) => {
      if (!secrets.delete(`${name}@${namespace}`)) throw missing(name);
    },
    removeAll: async (namespace) => {
      for (const key of secrets.keys()) if (key.endsWith(`@${namespace}`)) secrets.delete(key);
    },
  };
}
