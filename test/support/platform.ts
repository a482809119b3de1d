import { writeFile } from "node:fs/promises";
import { join } from "node:path";

import type { FunctionDeployment } from "../../runtime/api/function-deployment.ts";
import { credentialFile } from "../../runtime/api/names.ts";
import { natsUser } from "../../runtime/adapters/nats/server/nats-users.ts";
import { eventually } from "./eventually.ts";
import { openNatsServer, type TestNatsServer } from "./nats-server.ts";
import { openBrokerView, type BrokerView } from "./platform-broker.ts";
import { platformCalls, type PlatformCalls } from "./platform-calls.ts";
import { fastProfile, platformFlags, type QueueProfile } from "./platform-flags.ts";
import { platformProcess, type PlatformProcess } from "./platform-process.ts";
import { tempDirectory } from "./temp-directory.ts";

export interface PlatformOptions extends QueueProfile {
  /** Queue-workers; 1 when absent. */
  readonly workers?: number;
  /** Each process as a user of the broker with no more rights than it needs; true when absent. */
  readonly users?: boolean;
  readonly gatewayFlags?: readonly string[];
  /** Says, given the broker's port, through which port of this machine the gateway reaches it. */
  readonly gatewayThrough?: (port: number) => Promise<number>;
  /** The same for the queue-workers. */
  readonly workersThrough?: (port: number) => Promise<number>;
}

/** A function beside its name; `addresses` are those of its ready replicas. */
export interface DeployOptions extends Omit<FunctionDeployment, "service" | "image" | "namespace"> {
  readonly addresses: readonly string[];
}

/** Broker, doctor, gateway and workers as real processes on free ports, and the provider's part in the test's hands. */
export interface Platform extends AsyncDisposable {
  /** Of the gateway, without a path; it stays the same through restarts. */
  readonly url: string;
  readonly port: number;
  readonly user: string;
  readonly password: string;
  /** Value of an `Authorization` header. */
  readonly authorization: string;
  readonly calls: PlatformCalls;
  readonly server: TestNatsServer;
  readonly broker: BrokerView;
  readonly doctor: PlatformProcess;
  readonly gateway: PlatformProcess;
  readonly workers: readonly PlatformProcess[];
  /** The only, or first, queue-worker. */
  readonly worker: PlatformProcess;
  /** Deploys through the REST API, publishes the addresses, and waits until gateway and workers can know. */
  deploy(name: string, options: DeployOptions): Promise<void>;
  /** Deletes through the REST API, and the endpoints as the provider does. */
  undeploy(name: string): Promise<void>;
  /** Sum of all samples of a metric of a process whose labels include `labels`; 0 when there is none. */
  metric(process: PlatformProcess, name: string, labels?: Readonly<Record<string, string>>): Promise<number>;
  /** Status of a path of a process's admin port. */
  probe(process: PlatformProcess, path: string): Promise<number>;
  /** Throws when a process ended by itself or said something fatal. */
  checkProcesses(): void;
  /** Ends everything and removes all of it; rejects when a process had ended by itself. */
  close(): Promise<void>;
}

const user = "admin";
const password = "integration-test";

/** Starts a platform of the fast profile and resolves when it takes calls. */
export async function openPlatform(options: PlatformOptions = {}): Promise<Platform> {
  const {
    workers: workerCount = 1,
    users = true,
    gatewayFlags = [],
    gatewayThrough,
    workersThrough,
    ...profile
  } = options;
  const directory = await tempDirectory("platform");
  const flags = platformFlags({ ...fastProfile, ...profile });
  const server = await openNatsServer({ users }).catch(async (err: unknown) => {
    await directory.remove();
    throw err;
  });
  const passwordFile = (name: string) => join(directory.path, `${name}.password`);
  const gatewayPort = (await gatewayThrough?.(server.port)) ?? server.port;
  const workersPort = (await workersThrough?.(server.port)) ?? server.port;
  const access = (name: string, brokerPort: number): readonly string[] => [
    "--nats-url",
    `nats://127.0.0.1:${brokerPort}`,
    ...(users ? ["--nats-user", name, "--nats-password-file", passwordFile(name)] : []),
  ];
  const place = (name: string): string => join(directory.path, name);

  const doctor = platformProcess({
    name: "queue-doctor",
    main: "runtime/queue-doctor/main.ts",
    flags: () => [...access(natsUser.doctor, server.port), ...flags.doctor],
    readyMessage: "queue-doctor is ready",
  });
  const gateway: PlatformProcess = platformProcess({
    name: "gateway",
    main: "runtime/gateway/main.ts",
    flags: () => [
      ...access(natsUser.gateway, gatewayPort),
      ...flags.gateway,
      ...gatewayFlags,
      `--port=${Number(gateway.ready["port"] ?? 0)}`,
      `--secret-mount-path=${directory.path}`,
      `--secrets-dir=${place("secrets")}`,
      `--logs-dir=${place("logs")}`,
    ],
    readyMessage: "gateway is ready",
  });
  const workers = Array.from({ length: workerCount }, (_, index) =>
    platformProcess({
      name: `queue-worker ${index + 1}`,
      main: "runtime/queue-worker/main.ts",
      flags: () => [...access(natsUser.worker("default"), workersPort), ...flags.worker],
      readyMessage: "queue-worker is ready",
    }),
  );
  const processes = [doctor, gateway, ...workers];
  let view: BrokerView | undefined;
  const endAll = async (): Promise<void> => {
    await view?.close().catch(() => undefined);
    await Promise.all(processes.map((process) => process.kill()));
    await server.close();
    await directory.remove();
  };

  try {
    for (const [name, text] of [
      [credentialFile.user, user],
      [credentialFile.password, password],
    ] as const) {
      await writeFile(place(name), `${text}\n`);
    }
    for (const name of users ? [natsUser.doctor, natsUser.gateway, natsUser.worker("default")] : []) {
      await writeFile(passwordFile(name), server.access(name).password, { mode: 0o600 });
    }
    await doctor.start();
    const opening = openBrokerView(server, users).then((opened) => (view = opened));
    const outcomes = await Promise.allSettled([opening, gateway.start(), ...workers.map((worker) => worker.start())]);
    const failed = outcomes.find((outcome) => outcome.status === "rejected");
    if (failed !== undefined) throw failed.reason;
  } catch (err) {
    await endAll();
    throw err;
  }
  const [worker] = workers;
  if (view === undefined || worker === undefined)
    throw new Error("a platform has a broker and at least one queue-worker");

  const broker = view;
  const port = Number(gateway.ready["port"]);
  const url = `http://127.0.0.1:${port}`;
  const authorization = `Basic ${Buffer.from(`${user}:${password}`).toString("base64")}`;
  const calls = platformCalls(url);
  const admin = (process: PlatformProcess, path: string): Promise<Response> =>
    fetch(`http://127.0.0.1:${String(process.ready["adminPort"])}${path}`, { signal: AbortSignal.timeout(2_000) });
  const rest = async (method: string, body: unknown): Promise<void> => {
    const answer = await calls.send(method, "/system/functions", {
      headers: { authorization, "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    if (answer.status !== 202)
      throw new Error(`${method} /system/functions answered ${answer.status}: ${answer.body.toString()}`);
  };
  const checkProcesses = (): void => {
    const mishaps = processes.flatMap((process) => process.mishaps);
    if (mishaps.length > 0) throw new Error(mishaps.join("\n"));
  };
  const close = async (): Promise<void> => {
    await endAll();
    checkProcesses();
  };
  return {
    url,
    port,
    user,
    password,
    authorization,
    calls,
    server,
    broker,
    doctor,
    gateway,
    workers,
    worker,
    deploy: async (name, { addresses, ...deployment }) => {
      await rest("PUT", { service: name, image: "none", ...deployment });
      await broker.endpoints.publish({
        name,
        namespace: "functions",
        addresses,
        observedGeneration: 1,
        conditions: [],
      });
      await eventually(
        async () => {
          const answer = await calls.send("GET", `/system/function/${name}`, { headers: { authorization } });
          return answer.status === 200 && JSON.parse(answer.body.toString()).availableReplicas === addresses.length;
        },
        { within: 5_000, what: `function ${name} to be known` },
      );
    },
    undeploy: async (name) => {
      await rest("DELETE", { functionName: name });
      await broker.endpoints.remove({ name, namespace: "functions" });
    },
    metric: async (process, name, labels = {}) => sumOf(await (await admin(process, "/metrics")).text(), name, labels),
    probe: async (process, path) => {
      const answer = await admin(process, path);
      await answer.body?.cancel();
      return answer.status;
    },
    checkProcesses,
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** Adds up samples in the Prometheus text format. */
function sumOf(text: string, name: string, labels: Readonly<Record<string, string>>): number {
  const wanted = Object.entries(labels).map(([key, value]) => `${key}="${value}"`);
  return text
    .split("\n")
    .filter((line) => line.startsWith(`${name} `) || line.startsWith(`${name}{`))
    .filter((line) => wanted.every((label) => line.includes(label)))
    .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(" ") + 1)), 0);
}
