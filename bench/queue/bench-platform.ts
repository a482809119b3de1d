import { setTimeout as pause } from "node:timers/promises";

import type { NatsLink } from "../../runtime/adapters/nats/link/nats-link.ts";
import { freePort } from "../../test/support/free-port.ts";
import { openBenchBroker } from "../processes/bench-broker.ts";
import { openFunctionDesk } from "./function-desk.ts";

/** The function of every bench of queued calls. */
export const benchFunction = { namespace: "functions", name: "tiny" } as const;

/** A broker, and queue-doctor, gateway and optionally a queue-worker as separate processes. */
export interface BenchPlatform {
  /** URL of the broker. */
  readonly url: string;
  /** Port of the gateway. */
  readonly port: number;
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

const timeout = 60_000;

/**
 * Starts the platform and deploys the function, which listens on `functionPort`. Without `worker`, calls stay in the
 * queue.
 */
export async function openBenchPlatform(options: {
  readonly slots: number;
  readonly worker: boolean;
  readonly functionPort: number;
}): Promise<BenchPlatform> {
  const broker = await openBenchBroker(options);
  try {
    const worker = options.worker ? await broker.start("queue-worker") : undefined;
    const port = await freePort();
    const gateway = await broker.start("gateway", ["--port", String(port)]);
    await (await openFunctionDesk(broker.link)).deploy(benchFunction, [`127.0.0.1:${options.functionPort}`]);
    const { url, link, authorization, close } = broker;
    return { url, link, authorization, close, port, gatewayPid: gateway.pid, workerAdmin: worker?.adminPort ?? 0 };
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
