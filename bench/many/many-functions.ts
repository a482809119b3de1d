import { freePort } from "../../test/support/free-port.ts";
import { openBenchBroker, type BenchBroker } from "../processes/bench-broker.ts";
import type { BenchProcess } from "../processes/bench-process.ts";
import { openFunctionDesk } from "../queue/function-desk.ts";
import { say } from "../tools.ts";

/** A broker that knows so many functions, all of which answer at one address. */
export interface ManyFunctions {
  readonly count: number;
  readonly authorization: string;
  /** Starts a gateway that knows them, on one core if said; the caller stops it. */
  startGateway(core?: number): Promise<BenchProcess & { readonly port: number }>;
  close(): Promise<void>;
}

const atOnce = 100;
const sayEvery = 2_500;

/** Name of a function, by its number from 0. */
export function manyName(index: number): string {
  return `many-${index}`;
}

/** Opens it with `count` functions at `address`; says how far it is. */
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
    authorization: broker.authorization,
    startGateway: async (core) => {
      const port = await freePort();
      return { ...(await broker.start("gateway", ["--port", String(port)], core)), port };
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
      if (index > 0 && index % sayEvery === 0) say(`${index} of ${count} functions are deployed`);
      await desk.deploy({ namespace: "functions", name: manyName(index) }, [address]);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, deployNext));
}
