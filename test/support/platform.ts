import type { FunctionDeployment } from "../../runtime/api/schemas/function-deployment.ts";
import { eventually } from "./eventually.ts";
import type { LedgerWriter } from "./ledger.ts";
import { openNatsServer, type TestNatsServer, type TestNatsServerOptions } from "./nats-server.ts";
import { metricOf, probeOf } from "./platform-admin.ts";
import { openBrokerView, type BrokerView } from "./platform-broker.ts";
import { platformCalls, type PlatformCalls } from "./platform-calls.ts";
import { administrator, openFleet, type FleetOptions, type Special } from "./platform-fleet.ts";
import type { PlatformProcess } from "./platform-process.ts";
import { tempDirectory } from "./temp-directory.ts";

export interface PlatformOptions extends FleetOptions {
  /** Number of queue-workers (1). */
  readonly workers?: number;
  /** Deviations of all workers, or all gateways, of the start. */
  readonly worker?: Special;
  readonly gateway?: Special;
  /** Number of gateways (1). */
  readonly gateways?: number;
  /** Where the calls that `calls` queues are recorded. */
  readonly ledger?: LedgerWriter;
  readonly server?: Pick<TestNatsServerOptions, "maxFileStore" | "durability" | "binary" | "encrypted">;
  /** Called with the empty broker before any process of the platform starts. */
  readonly before?: (server: TestNatsServer) => Promise<void>;
}

/** A function without its name; `addresses` are those of its ready replicas. */
export interface DeployOptions extends Omit<FunctionDeployment, "service" | "image" | "namespace"> {
  readonly addresses: readonly string[];
}

export interface PlatformQueue {
  readonly name: string;
  readonly workers: readonly PlatformProcess[];
}

/** Broker, queue-doctor, gateways and queue-workers as real processes on free ports; the test acts as the provider. */
export interface Platform extends AsyncDisposable {
  /** Of the gateway, without a path; restarts do not change it. */
  readonly url: string;
  readonly port: number;
  readonly user: string;
  readonly password: string;
  /** Value of an `Authorization` header. */
  readonly authorization: string;
  /** Directory with the credentials of all its processes. */
  readonly credentials: string;
  readonly calls: PlatformCalls;
  readonly server: TestNatsServer;
  readonly broker: BrokerView;
  readonly doctor: PlatformProcess;
  /** Flags of the queue-doctor. */
  readonly doctorFlags: readonly string[];
  /** The only, or first, gateway. */
  readonly gateway: PlatformProcess;
  readonly gateways: readonly PlatformProcess[];
  readonly workers: readonly PlatformProcess[];
  /** The default queue, and those of the profile. */
  readonly queues: readonly PlatformQueue[];
  /** Queue-workers of a queue of the profile. */
  workersOf(queue: string): readonly PlatformProcess[];
  /** The only, or first, queue-worker. */
  readonly worker: PlatformProcess;
  /** One more process, not started yet; it ends with the platform. */
  add(kind: "worker" | "gateway" | "autoscaler", special?: Special): PlatformProcess;
  /** Deploys through the REST API, publishes the addresses, and waits until the gateway knows them. */
  deploy(name: string, options: DeployOptions): Promise<void>;
  /** Deletes through the REST API, and the endpoints as the provider does. */
  undeploy(name: string): Promise<void>;
  /** Sum of all samples of a metric of a process whose labels include `labels`; 0 if there is none. */
  metric(process: PlatformProcess, name: string, labels?: Readonly<Record<string, string>>): Promise<number>;
  /** Status of a path of a process's admin port. */
  probe(process: PlatformProcess, path: string): Promise<number>;
  /** Throws if a process ended unexpectedly or logged something fatal. */
  checkProcesses(): void;
  /** Ends and removes everything; rejects if `checkProcesses` throws. */
  close(): Promise<void>;
}

const { user, password } = administrator;

/** Starts a platform, by default of the fast profile, and resolves when it accepts calls. */
export async function openPlatform(options: PlatformOptions = {}): Promise<Platform> {
  const { workers: workerCount = 1, gateways: gatewayCount = 1, users = true } = options;
  const directory = await tempDirectory("platform");
  const { queues = {} } = options;
  const server = await openNatsServer({
    ...options.server,
    users,
    queues: ["default", ...Object.keys(queues)],
  }).catch(async (err: unknown) => {
    await directory.remove();
    throw err;
  });
  const processes: PlatformProcess[] = [];
  const keep = (process: PlatformProcess): PlatformProcess => {
    processes.push(process);
    return process;
  };
  let view: BrokerView | undefined;
  const endAll = async (): Promise<void> => {
    await view?.close().catch(() => undefined);
    await Promise.all(processes.map((process) => process.kill()));
    await server.close();
    await directory.remove();
  };
  const opened = await start().catch(async (err: unknown) => {
    await endAll();
    throw err;
  });

  async function start() {
    await options.before?.(server);
    const fleet = await openFleet(server, directory.path, options);
    const doctor = keep(fleet.doctor());
    const many = (count: number, make: (index: number) => PlatformProcess) =>
      Array.from({ length: count }, (_, index) => keep(make(index + 1)));
    const gateways = many(gatewayCount, (index) => fleet.gateway(`gateway ${index}`, options.gateway));
    const workers = many(workerCount, (index) => fleet.worker(`queue-worker ${index}`, options.worker));
    const named = Object.entries(queues).map(([name, { workers: count = 1 }]): PlatformQueue => ({
      name,
      workers: many(count, (index) => fleet.worker(`queue-worker ${index} of ${name}`, {}, name)),
    }));
    const all: readonly PlatformQueue[] = [{ name: "default", workers }, ...named];
    const [gateway] = gateways;
    const [worker] = workers;
    if (gateway === undefined || worker === undefined) throw new Error("a platform has a gateway and a queue-worker");
    await doctor.start();
    const opening = openBrokerView(server, users).then((broker) => (view = broker));
    const outcomes = await Promise.allSettled(
      [...gateways, ...all.flatMap((queue) => queue.workers)].map((process) => process.start()),
    );
    const broker = await opening;
    const failed = outcomes.find((outcome) => outcome.status === "rejected");
    if (failed !== undefined) throw failed.reason;
    return { fleet, doctor, gateway, gateways, worker, workers, queues: all, broker };
  }

  const { fleet, broker, gateway } = opened;
  const port = Number(gateway.ready["port"]);
  const url = `http://127.0.0.1:${port}`;
  const authorization = `Basic ${Buffer.from(`${user}:${password}`).toString("base64")}`;
  const calls = platformCalls(url, { ledger: options.ledger, authorization });
  const rest = async (method: string, body: unknown): Promise<void> => {
    const response = await calls.send(method, "/system/functions", {
      headers: { authorization, "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    if (response.status !== 202)
      throw new Error(`${method} /system/functions answered ${response.status}: ${response.body.toString()}`);
  };
  const checkProcesses = (): void => {
    const mishaps = processes.flatMap((process) => process.mishaps);
    if (mishaps.length > 0) throw new Error(mishaps.join("\n"));
  };
  const close = async (): Promise<void> => {
    await endAll();
    checkProcesses();
  };
  const { doctor, gateways, worker, workers } = opened;
  return {
    url,
    port,
    user,
    password,
    authorization,
    credentials: directory.path,
    calls,
    server,
    broker,
    doctor,
    doctorFlags: fleet.doctorFlags,
    gateway,
    gateways,
    workers,
    queues: opened.queues,
    workersOf: (queue) => opened.queues.find(({ name }) => name === queue)?.workers ?? [],
    worker,
    add: (kind, special) => keep(fleet[kind](`added ${kind} ${processes.length}`, special)),
    deploy: async (name, { addresses, ...deployment }) => {
      await rest("PUT", { service: name, image: "none", ...deployment });
      const namespace = "functions";
      await broker.endpoints.publish({ name, namespace, addresses, observedGeneration: 1, conditions: [] });
      await eventually(
        async () => {
          const response = await calls.send("GET", `/system/function/${name}`, { headers: { authorization } });
          return response.status === 200 && JSON.parse(response.body.toString()).availableReplicas === addresses.length;
        },
        { what: `function ${name} to be known` },
      );
    },
    undeploy: async (name) => {
      await rest("DELETE", { functionName: name });
      await broker.endpoints.remove({ name, namespace: "functions" });
    },
    metric: metricOf,
    probe: probeOf,
    checkProcesses,
    close,
    [Symbol.asyncDispose]: close,
  };
}
