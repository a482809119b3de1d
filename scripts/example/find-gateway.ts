import { readFile } from "node:fs/promises";

import { dataLayout } from "../../runtime/host/data-directory.ts";

/** Where Weir listens if nothing else is said. */
export const usualGateway = "http://127.0.0.1:8080";

/** The gateway of the Weir that runs with this data directory; the usual address if there is none. */
export async function findGateway(data: string): Promise<string> {
  const text = await readFile(dataLayout(data).address, "utf8").catch(() => "");
  return URL.canParse(text.trim()) ? text.trim() : usualGateway;
}
