import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";

import { expect, test } from "vitest";

const main = fileURLToPath(new URL("../../../runtime/watchdog/main.ts", import.meta.url));
const tell = 'process.on("exit", () => console.log(process.moduleLoadList.join("\\n")))';

/** What Node.js has loaded when a watchdog without a process to run gives up: all modules of its own are loaded then. */
function loadedModules(): Promise<string[]> {
  const args = ["--import", `data:text/javascript,${encodeURIComponent(tell)}`, main];
  return new Promise((resolve) => {
    execFile(process.execPath, args, { env: { fprocess: "" } }, (_err, stdout) => resolve(stdout.split("\n")));
  });
}

test("the watchdog loads no HTTP client it does not use, which would be a third of its start", async () => {
  const loaded = await loadedModules();
  expect(loaded).toContain("NativeModule _http_server");
  expect(loaded.filter((name) => name.includes("undici"))).toEqual([]);
});
