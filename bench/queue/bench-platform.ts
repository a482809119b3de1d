import { setTimeout as pause } from "node:timers/promises";

import type { NatsLink } from "../../runtime/adapters/nats/link/nats-link.ts";
import { freePort } from "../../test/support/free-port.ts";
import type { TestNatsServer } from "../../test/support/nats-server.ts";
import { openBenchBroker } from "../processes/bench-broker.ts";
import { openFunctionDesk } from "./function-desk.ts";

/** The function of every bench of queued calls. */
export const benchFunction = { namespace: "functions", name: "tiny" } as const;

/** A broker, and queue-doctor, gateway and optionally a queue-worker as separate processes. */
export interface BenchPlatform {
  /** URL of the broker. */
  readonly url: string;
  readonly server: TestNatsServer;
  /** Port of the gateway. */
  readonly port: number;
  /** Port of the gateway's metrics. */
  readonly gatewayAdmin: number;
  /** Process id of the gateway. */
  readonly gatewayPid: number;
  /** `Authorization` header of the administrator. */
  readonly authorization: string;
  /** The bench's own connection, with all permissions. */
  readonly link: NatsLink;
  /** Port of the worker's metrics; 0 without a worker. */
  readonly workerAdmin: number;
  close(): Promise<void>;
}

export interface BenchPlatformOptions {
  readonly slots: number;
  readonly worker: boolean;
  readonly functionPort: number;
  /** Whether its processes report to a history (true). */
  readonly history?: boolean;
  /** The core that the gateway is pinned to; any when absent. */
  readonly gatewayCore?: number;
}

const timeout = 60_000;

/**
 * Starts the platform and deploys the function, which listens on `functionPort`. Without `worker`, calls stay in the
 * queue.
 */
export async function openBenchPlatform(options: BenchPlatformOptions): Promise<BenchPlatform> {
  const broker = await openBenchBroker(options);
  try {
    const flags = [`--history=${options.history ?? true}`];
    const worker = options.worker ? await broker.start("queue-worker", flags) : undefined;
    const port = await freePort();
    const gateway = await broker.start("gateway", ["--port", String(port), ...flags], options.gatewayCore);
    await (await openFunctionDesk(broker.link)).deploy(benchFunction, [`127.0.0.1:${options.functionPort}`]);
    const { pid: gatewayPid, adminPort: gatewayAdmin } = gateway;
    return { ...broker, port, gatewayPid, gatewayAdmin, workerAdmin: worker?.adminPort ?? 0 };
  } catch (err) {
    await broker.close();
    throw err;
  }
}

/** Resolves once `condition` holds, polled every `every` milliseconds; rejects after a minute. */
export async function until(condition: () => Promise<boolean>, what: string, every: number): Promise<void> {
  for (const deadline = performance.now() + timeout; performance.now() < deadline; await pause(every)) {
    if (await condition()) return;
  }
  throw new Error(`waited ${timeout} ms for ${what}`);
}
