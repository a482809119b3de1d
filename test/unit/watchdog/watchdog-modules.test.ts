import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";

import { expect, test } from "vitest";

const main = fileURLToPath(new URL("../../../runtime/watchdog/main.ts", import.meta.url));
const printModules = 'process.on("exit", () => console.log(process.moduleLoadList.join("\\n")))';

/** Modules that Node.js has loaded when a watchdog without a process gives up: all of its own by then. */
function loadedModules(): Promise<string[]> {
  const args = ["--import", `data:text/javascript,${encodeURIComponent(printModules)}`, main];
  return new Promise((resolve) => {
    execFile(process.execPath, args, { env: { fprocess: "" } }, (_err, stdout) => resolve(stdout.split("\n")));
  });
}

test("the watchdog loads no unused HTTP client, which would be a third of its start", async () => {
  const loaded = await loadedModules();
  expect(loaded).toContain("NativeModule _http_server");
  expect(loaded.filter((name) => name.includes("undici"))).toEqual([]);
});
