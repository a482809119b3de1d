import { join } from "node:path";

import { firstLine, startBackground } from "../background.ts";

/** Many clients in one process; each sends one GET over its own connection. */
export interface Clients {
  /**
   * Resolves when each client has its response.
   * @throws Error with the number of each status and error, unless all responses are 200
   */
  answered(): Promise<void>;
  /** Ends the clients; resolves once their process has exited. */
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
