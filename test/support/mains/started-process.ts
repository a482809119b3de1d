import { setTimeout as pause } from "node:timers/promises";

import { start } from "../../../runtime/process/start.ts";
import { processSettings } from "../../../runtime/settings/platform-settings.ts";
import { choice } from "../../../runtime/settings/setting.ts";

/** A process that logs its steps; by its flag it fails to open, or waits for `go` on stdin to open and to drain. */
const { settings, log, run } = start({
  name: "sample",
  about: "A process of a test.",
  version: "1.2.3",
  settings: { ...processSettings, way: choice("way", ["good", "bad"], { fallback: "good", about: "How it goes" }) },
  rules: [],
});

const go = (): Promise<unknown> => new Promise((resolve) => process.stdin.once("data", resolve));

await run({
  drainTimeout: 30_000,
  open: async ({ lifecycle, admin, stop }) => {
    lifecycle.onClose("part", () => log.info("part closed"));
    if (settings.way === "bad") throw new Error("Cannot open: it is a bad way");
    log.info({ adminPort: admin.port }, "opening");
    await go();
    const drain = async (): Promise<void> => {
      log.info({ stopped: stop.aborted }, "draining");
      await go();
      await pause(0);
    };
    return { facts: { colour: "green" }, drain };
  },
});
