import { freePort } from "../../test/support/free-port.ts";
import type { BenchRow } from "../bench-row.ts";
import { importAlone } from "../processes/bare-node.ts";
import { openBenchBroker, type BrokerUser } from "../processes/bench-broker.ts";

/** P15: from the start of a process with compiled modules until it is ready. */
export const p15ProcessStart: readonly BenchRow[] = [row("gateway"), row("queue-worker")];

function row(name: BrokerUser): BenchRow {
  return {
    id: "P15",
    what: `from the start of a process until it is ready: ${name}`,
    peer: "bare Node that imports the same packages",
    unit: "ms",
    judged: "value",
    lessIsBetter: true,
    firstBar: 1_000,
    goal: 300,
    open: async () => {
      const broker = await openBenchBroker({ slots: 1 });
      return {
        weir: async () => {
          const flags = name === "gateway" ? ["--port", String(await freePort())] : [];
          const started = await broker.start(name, flags);
          await started.stop();
          return started.took;
        },
        peer: () => importAlone(name),
        close: () => broker.close(),
      };
    },
  };
}
