import { openFunctionServer } from "../../test/support/function-server.ts";
import { freePort } from "../../test/support/free-port.ts";
import { mostResidentBytes, openDescriptors } from "../../test/support/process-facts.ts";
import type { BenchRow } from "../bench-row.ts";
import { needDescriptors } from "../connections/descriptor-limit.ts";
import { startClients } from "../connections/start-clients.ts";
import { openBenchBroker } from "../processes/bench-broker.ts";
import { restingMegabytes } from "../processes/resting-memory.ts";
import { openFunctionDesk, type FunctionDesk } from "../queue/function-desk.ts";
import { callsUnderWay } from "../queue/gateway-metrics.ts";
import { until } from "../queue/bench-platform.ts";
import { say } from "../tools.ts";

const [idle, waiting] = [8_000, 5_000];
const megabyte = 1_000_000;
const target = { namespace: "functions", name: "tiny" } as const;
const path = `/function/${target.name}`;

/** The measured gateway and what the measurement needs beside it. */
interface Surroundings {
  readonly gateway: { readonly pid: number; readonly adminPort: number; readonly port: number };
  readonly desk: FunctionDesk;
  /** Address of a function that replies at once. */
  readonly address: string;
}

/** P14: memory of a gateway with many connections; a new gateway for each measurement. Every call must succeed. */
export const p14ManyConnections: readonly BenchRow[] = [
  row(`memory with ${idle} idle connections, a call made on each`, holdIdle),
  row(`most memory with ${waiting} callers that wait for one function at zero, and all are answered`, wakeForAll),
];

function row(what: string, measure: (around: Surroundings) => Promise<number>): BenchRow {
  return {
    id: "P14",
    what,
    peer: "nothing",
    unit: "MB",
    judged: "value",
    lessIsBetter: true,
    firstBar: 400,
    goal: 250,
    open: async () => {
      // Each waiting caller also gets a connection to the function.
      needDescriptors(Math.max(idle, 2 * waiting) + 100);
      const fn = await openFunctionServer();
      const broker = await openBenchBroker({ slots: 1 }).catch(async (err: unknown) => {
        await fn.close();
        throw err;
      });
      const desk = await openFunctionDesk(broker.link);
      return {
        weir: async () => {
          const port = await freePort();
          const started = await broker.start("gateway", ["--port", String(port)]);
          try {
            return await measure({ gateway: { ...started, port }, desk, address: fn.address });
          } finally {
            await started.stop();
            fn.requests.length = 0;
          }
        },
        close: async () => {
          await broker.close();
          await fn.close();
        },
      };
    },
  };
}

async function holdIdle({ gateway, desk, address }: Surroundings): Promise<number> {
  await desk.deploy(target, [address]);
  const clients = startClients(gateway.port, path, idle);
  try {
    await clients.answered();
    const held = await restingMegabytes(gateway.pid);
    const open = openDescriptors(gateway.pid);
    if (open < idle) throw new Error(`Only ${open} descriptors are open: connections were closed meanwhile`);
    say(`P14: ${open} descriptors open`);
    return held;
  } finally {
    await clients.stop();
  }
}

async function wakeForAll({ gateway, desk, address }: Surroundings): Promise<number> {
  await desk.deploy(target, []);
  const clients = startClients(gateway.port, path, waiting);
  try {
    await until(async () => (await callsUnderWay(gateway.adminPort)) === waiting, "all callers to wait", 100);
    await desk.tell(target, [address]);
    await clients.answered();
    return mostResidentBytes(gateway.pid) / megabyte;
  } finally {
    await clients.stop();
  }
}
