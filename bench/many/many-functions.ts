import { freePort } from "../../test/support/free-port.ts";
import { openBenchBroker, type BenchBroker } from "../processes/bench-broker.ts";
import type { BenchProcess } from "../processes/bench-process.ts";
import { openFunctionDesk } from "../queue/function-desk.ts";
import { say } from "../tools.ts";

/** A broker with `count` functions, all at one address. */
export interface ManyFunctions {
  readonly count: number;
  readonly broker: BenchBroker;
  readonly authorization: string;
  /** Starts a gateway with these functions, on one core if given; the caller stops it. */
  startGateway(core?: number, flags?: readonly string[]): Promise<BenchProcess & { readonly port: number }>;
  close(): Promise<void>;
}

const concurrency = 100;
const progressEvery = 2_500;

/** Name of a function by its number, from 0. */
export function manyName(index: number): string {
  return `many-${index}`;
}

/** Opens a broker with `count` functions at `address`; reports progress. */
export async function openManyFunctions(count: number, address: string): Promise<ManyFunctions> {
  const broker = await openBenchBroker({ slots: 1 });
  try {
    await fill(broker, count, address);
  } catch (err) {
    await broker.close();
    throw err;
  }
  return {
    count,
    broker,
    authorization: broker.authorization,
    startGateway: async (core, flags = []) => {
      const port = await freePort();
      return { ...(await broker.start("gateway", ["--port", String(port), ...flags], core)), port };
    },
    close: () => broker.close(),
  };
}

async function fill({ link }: BenchBroker, count: number, address: string): Promise<void> {
  const desk = await openFunctionDesk(link);
  let next = 0;
  const deployNext = async (): Promise<void> => {
    while (next < count) {
      const index = next++;
      if (index > 0 && index % progressEvery === 0) say(`${index} of ${count} functions are deployed`);
      await desk.deploy({ namespace: "functions", name: manyName(index) }, [address]);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, deployNext));
}
