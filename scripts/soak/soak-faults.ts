import { setTimeout as pause } from "node:timers/promises";

import type { ChaosProxy } from "../../test/support/chaos-proxy.ts";
import type { Platform } from "../../test/support/platform.ts";

/** One kind of fault, and its possible effect. */
export interface SoakFault {
  readonly name: string;
  /** Whether runs in flight at the moment may run again. */
  readonly losesRuns: boolean;
  readonly act: () => Promise<void>;
}

const second = 1_000;

/** A worker or the broker is killed, and started again. */
export function killFaults({ server, workers, worker }: Platform, chance: () => number): SoakFault[] {
  return [
    {
      name: "a worker killed",
      losesRuns: true,
      act: async () => {
        const chosen = workers[Math.floor(chance() * workers.length)] ?? worker;
        await chosen.kill();
        await chosen.start();
      },
    },
    {
      name: "the broker killed",
      losesRuns: false,
      act: async () => {
        await server.kill();
        await server.restart();
      },
    },
  ];
}

/** The faults that a soak chooses from; when `act` resolves, the fault is over and everything runs again. */
export function soakFaults(platform: Platform, proxies: readonly ChaosProxy[], chance: () => number): SoakFault[] {
  const { server, gateway, workers, doctor, broker } = platform;
  const anyWorker = () => workers[Math.floor(chance() * workers.length)] ?? platform.worker;
  const fault = (name: string, act: () => Promise<void>): SoakFault => ({ name, losesRuns: false, act });
  const slowly = async (faults: Parameters<ChaosProxy["up"]>[0]): Promise<void> => {
    for (const proxy of proxies) proxy.up(faults);
    await pause(10 * second);
    for (const proxy of proxies) proxy.heal();
  };
  return [
    ...killFaults(platform, chance),
    fault("a worker stopped", async () => {
      const worker = anyWorker();
      await worker.stop(120 * second);
      await worker.start();
    }),
    fault("the broker stopped", () => server.restart()),
    fault("the broker paused", async () => {
      await server.pause();
      await pause(10 * second);
      server.resume();
    }),
    fault("the gateway killed", async () => {
      await gateway.kill();
      await gateway.start();
    }),
    fault("the gateway stopped", async () => {
      await gateway.stop(120 * second);
      await gateway.start();
    }),
    fault("the doctor killed", async () => {
      await doctor.kill();
      await doctor.start();
    }),
    fault("the queue mended", () => broker.makeForeign()),
    fault("connections reset", async () => {
      for (const proxy of proxies) proxy.reset();
    }),
    fault("a slow network", () => slowly({ latency: 100, jitter: 50 })),
    fault("a narrow network", () => slowly({ rate: 262_144, slice: 512 })),
  ];
}
