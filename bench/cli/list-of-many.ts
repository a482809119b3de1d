import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

import type { FunctionStatus } from "../../runtime/api/schemas/function-status.ts";
import type { BenchCommand } from "./bench-command.ts";

/** Milliseconds and megabytes (peak of resident memory) of `weir list`. */
export interface ListCosts {
  readonly time: number;
  readonly memory: number;
}

/**
 * Makes the command say how much memory it took at most; `maxRSS` of `process.resourceUsage()` counts that of the process
 * which started it, too.
 */
const reportMemory = `data:text/javascript,${encodeURIComponent(
  'import { readFileSync } from "node:fs"; process.on("exit", () => process.stderr.write(readFileSync("/proc/self/status", "utf8")));',
)}`;

/** Lists `count` functions: a stand-in sends the reply of the real gateway's function so often. */
export async function listOfMany(command: BenchCommand, count: number): Promise<ListCosts> {
  const reply = await fetch(`${command.url}/system/functions`, { headers: await authorization(command) });
  const [sample] = (await reply.json()) as readonly FunctionStatus[];
  const body = JSON.stringify(Array.from({ length: count }, (_, index) => ({ ...sample, name: `many-${index}` })));
  const server = createServer((_, response) => {
    response.writeHead(200, { "content-type": "application/json" }).end(body);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  try {
    const gateway = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const began = performance.now();
    await command.run(["list", "--gateway", gateway]);
    const time = performance.now() - began;
    const { stderr } = await command.run(["list", "--gateway", gateway], { NODE_OPTIONS: `--import=${reportMemory}` });
    return { time, memory: (Number(/^VmHWM:\s+(\d+) kB$/m.exec(stderr)?.[1]) * 1_024) / 1_000_000 };
  } finally {
    server.close();
  }
}

async function authorization({ variables }: BenchCommand): Promise<Record<string, string>> {
  const password = (await readFile(variables["WEIR_PASSWORD_FILE"] ?? "", "utf8")).trim();
  return { authorization: `Basic ${Buffer.from(`admin:${password}`).toString("base64")}` };
}
