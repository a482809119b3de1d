import { writeFile } from "node:fs/promises";
import { join } from "node:path";

import { natsUser } from "../../runtime/api/broker/nats-users.ts";
import { credentialFile } from "../../runtime/api/names.ts";
import { makeSigningKey } from "../../runtime/api/iam/signing-keys.ts";
import type { FaultRule } from "./fault-plan.ts";
import type { TestNatsServer } from "./nats-server.ts";
import { fastProfile, platformFlags, soakFlags, type QueueProfile } from "./platform-flags.ts";
import { platformProcess, type PlatformProcess, type PlatformProcessOptions } from "./platform-process.ts";

export interface FleetOptions extends QueueProfile {
  /** `soak`: every time is the default of its setting, and those of the profile are ignored; `fast` by default. */
  readonly speed?: "fast" | "soak";
  /** Each process is a user of the broker with the rights that it needs only; true by default. */
  readonly users?: boolean;
  readonly gatewayFlags?: readonly string[];
  readonly workerFlags?: readonly string[];
  readonly doctorFlags?: readonly string[];
  /** Maps the broker's port to the port of this machine through which gateways reach it. */
  readonly gatewayThrough?: (port: number) => Promise<number>;
  /** The same for the queue-workers. */
  readonly workersThrough?: (port: number) => Promise<number>;
}

/** Deviations of one process. */
export interface Special {
  /** Faults of its ports; without, it is the real process. */
  readonly faults?: readonly FaultRule[];
  /** Modules that Node loads before its main one. */
  readonly preload?: readonly string[];
  /** Node's own options. */
  readonly node?: readonly string[];
  /** Port of this machine through which this queue-worker alone reaches the broker. */
  readonly brokerPort?: number;
}

/** Creates the processes of one platform, not started yet. */
export interface Fleet {
  /** Flags of the queue-doctor. */
  readonly doctorFlags: readonly string[];
  doctor(): PlatformProcess;
  gateway(name: string, special?: Special): PlatformProcess;
  /** `queue` is the one it serves (`default`). */
  worker(name: string, special?: Special, queue?: string): PlatformProcess;
  autoscaler(name: string): PlatformProcess;
}

/** The administrator of every test platform. */
export const administrator = { user: "admin", password: "integration-test" } as const;

/** Writes credentials below `directory` and determines the ports of the broker. */
export async function openFleet(server: TestNatsServer, directory: string, options: FleetOptions): Promise<Fleet> {
  const { users = true, gatewayFlags = [], workerFlags = [], doctorFlags = [], ...rest } = options;
  const { gatewayThrough, workersThrough, speed, ...profile } = rest;
  const flags = speed === "soak" ? soakFlags(profile) : platformFlags({ ...fastProfile, ...profile });
  const { queues = {} } = profile;
  const queueNames = ["default", ...Object.keys(queues)];
  const place = (name: string): string => join(directory, name);
  const gatewayPort = (await gatewayThrough?.(server.port)) ?? server.port;
  const workersPort = (await workersThrough?.(server.port)) ?? server.port;
  await writeFile(place(credentialFile.user), `${administrator.user}\n`);
  await writeFile(place(credentialFile.password), `${administrator.password}\n`);
  const entries = Object.entries(queues).map(([name, { entry = {} }]) => [name, entry]);
  await writeFile(place("queues.yaml"), JSON.stringify({ queues: Object.fromEntries(entries) }));
  await writeFile(place("invoke-key"), "key-of-the-integration-test\n");
  await writeFile(place(credentialFile.callbackKey), makeSigningKey("callbacks"), { mode: 0o600 });
  for (const name of users
    ? [natsUser.doctor, natsUser.gateway, natsUser.autoscaler, ...queueNames.map(natsUser.worker)]
    : []) {
    await writeFile(place(`${name}.password`), server.access(name).password, { mode: 0o600 });
  }
  const access = (name: string, brokerPort: number): readonly string[] => [
    "--nats-url",
    `nats://127.0.0.1:${brokerPort}`,
    ...(users ? ["--nats-user", name, "--nats-password-file", place(`${name}.password`)] : []),
  ];
  /** The real main file, or the test's own with the plan as its last argument. */
  const specialised = (
    special: Special,
    real: string,
    faulty: string,
    given: () => readonly string[],
  ): Pick<PlatformProcessOptions, "main" | "flags" | "preload" | "node"> => ({
    main: special.faults === undefined ? real : faulty,
    flags: () => [...given(), ...(special.faults === undefined ? [] : [JSON.stringify(special.faults)])],
    preload: () => special.preload ?? [],
    node: special.node ?? [],
  });

  const allDoctorFlags = [
    ...access(natsUser.doctor, server.port),
    `--nats-monitor-url=${server.monitorUrl}`,
    ...flags.doctor,
    ...(doctorFlags.includes("--config") ? [] : ["--config", place("queues.yaml")]),
    ...doctorFlags,
  ];
  return {
    doctorFlags: allDoctorFlags,
    doctor: () =>
      platformProcess({
        name: "queue-doctor",
        main: "runtime/queue-doctor/main.ts",
        flags: () => allDoctorFlags,
        readyMessage: "queue-doctor is ready",
      }),
    gateway: (name, special = {}) => {
      const gateway: PlatformProcess = platformProcess({
        name,
        ...specialised(special, "runtime/gateway/main.ts", "test/support/mains/faulty-gateway.ts", () => [
          ...access(natsUser.gateway, gatewayPort),
          ...flags.gateway,
          `--port=${Number(gateway.ready["port"] ?? 0)}`,
          `--secret-mount-path=${directory}`,
          `--secrets-dir=${place("secrets")}`,
          `--logs-dir=${place("logs")}`,
          ...gatewayFlags,
        ]),
        readyMessage: "gateway is ready",
      });
      return gateway;
    },
    worker: (name, special = {}, queue = "default") =>
      platformProcess({
        name,
        ...specialised(special, "runtime/queue-worker/main.ts", "test/support/mains/faulty-worker.ts", () => [
          ...access(natsUser.worker(queue), special.brokerPort ?? workersPort),
          ...flags.worker,
          `--queue=${queue}`,
          `--secret-mount-path=${directory}`,
          ...workerFlags,
        ]),
        readyMessage: "queue-worker is ready",
      }),
    autoscaler: (name) =>
      platformProcess({
        name,
        main: "runtime/autoscaler/main.ts",
        flags: () => [...access(natsUser.autoscaler, server.port), ...flags.autoscaler],
        readyMessage: "autoscaler is ready",
      }),
  };
}
