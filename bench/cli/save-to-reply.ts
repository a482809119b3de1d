import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { eventually } from "../../test/support/eventually.ts";
import { startBackground } from "../background.ts";
import { spreadOf } from "../interleave.ts";
import type { BenchCommand } from "./bench-command.ts";

const saves = 7;
/** What the program of template node replies, and where a save puts another text. */
const greeting = /Hello[^,]*/;

/** Milliseconds from a save of the function's program to the first reply of the new one, while `weir dev` runs. */
export async function saveToReply({ program, project, url, variables }: BenchCommand): Promise<number> {
  const dev = startBackground(
    ["sh", "-c", 'cd "$0" && exec "$@"', project, process.execPath, program, "dev"],
    variables,
  );
  dev.child.stdout?.resume();
  try {
    const file = join(project, "server.js");
    const source = await readFile(file, "utf8");
    const times: number[] = [];
    for (let save = 0; save <= saves; save += 1) {
      const text = `Hello${save}`;
      const began = performance.now();
      await writeFile(file, source.replace(greeting, text));
      await eventually(async () => (await reply(url)).startsWith(text), { every: 5, what: "the new reply" });
      // The first one may come while the command is still starting.
      if (save > 0) times.push(performance.now() - began);
    }
    return spreadOf(times).median;
  } finally {
    await dev.stop();
  }
}

async function reply(url: string): Promise<string> {
  const response = await fetch(`${url}/function/hello`, { method: "POST", body: "bench" });
  return await response.text();
}
