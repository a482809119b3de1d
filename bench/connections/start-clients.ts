import { join } from "node:path";

import { firstLine, startBackground } from "../background.ts";

/** Many clients in one process, each with a connection of its own on which it sends one GET. */
export interface Clients {
  /**
   * Resolves when each has its answer, and every connection is still there.
   * @throws Error that says what else they heard, if not all were answered 200
   */
  answered(): Promise<void>;
  /** Ends them; resolves when they are gone. */
  stop(): Promise<void>;
}

const program = join(import.meta.dirname, "clients.ts");

/** Starts `count` clients that call `path` at `port`. */
export function startClients(port: number, path: string, count: number): Clients {
  const clients = startBackground([process.execPath, program, String(port), path, String(count)]);
  return {
    answered: async () => {
      const statuses = JSON.parse(await firstLine(clients)) as Readonly<Record<string, number>>;
      if (statuses["200"] !== count) throw new Error(`Not all of ${count} calls: ${JSON.stringify(statuses)}`);
    },
    stop: () => clients.stop(),
  };
}
