import type { Log } from "../../process/log.ts";
import type { ConsoleFiles } from "./console-files.ts";

/** Logs why there are no pages to serve, if there are none: sessions and the API work without them. */
export async function warnNotBuilt(files: Pick<ConsoleFiles, "check">, log: Pick<Log, "warn">): Promise<void> {
  try {
    await files.check();
  } catch (err) {
    log.warn({ err }, "console has no pages");
  }
}
