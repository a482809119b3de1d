import type { BenchRow } from "../bench-row.ts";
import { idleNode } from "../processes/bare-node.ts";
import { openOperatorRoom } from "../processes/operator-room.ts";
import { openBrokerRoom, openMachineRoom, type ProcessRoom } from "../processes/process-rooms.ts";
import { restingMegabytes } from "../processes/resting-memory.ts";

/** P12: resident memory of an idle process with compiled modules, without the broker's memory. */
export const p12MemoryAtRest: readonly BenchRow[] = [
  ...(["gateway", "queue-worker", "autoscaler"] as const).map((name) =>
    row(name, () => openBrokerRoom(name), { firstBar: 120, goal: 80 }),
  ),
  row("operator", openOperatorRoom, { firstBar: 120, goal: 80 }),
  row("all in one process, its broker apart", openMachineRoom, { firstBar: 180, goal: 120 }),
];

function row(
  name: string,
  openRoom: () => Promise<ProcessRoom>,
  bars: { readonly firstBar: number; readonly goal: number },
): BenchRow {
  return {
    id: "P12",
    what: `memory at rest: ${name}`,
    peer: "bare Node",
    unit: "MB",
    judged: "value",
    lessIsBetter: true,
    ...bars,
    open: async () => {
      const room = await openRoom();
      return {
        weir: async () => {
          const started = await room.start();
          try {
            return await restingMegabytes(started.pid);
          } finally {
            await started.stop();
          }
        },
        peer: async () => {
          const node = await idleNode();
          try {
            return await restingMegabytes(node.child.pid ?? 0);
          } finally {
            await node.stop();
          }
        },
        close: () => room.close(),
      };
    },
  };
}
