import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { env, execPath } from "node:process";
import { createInterface } from "node:readline";
import { test } from "node:test";

await test("the server is ready and replies", async (context) => {
  const child = spawn(execPath, ["server.js"], {
    cwd: import.meta.dirname,
    env: { ...env, HOST: "127.0.0.1", PORT: "0" },
    stdio: ["ignore", "pipe", "inherit"],
  });
  context.after(() => child.kill());
  const [line] = await once(createInterface(child.stdout), "line");
  const address = `http://127.0.0.1:${line.split(" ").at(-1)}`;

  assert.equal((await fetch(`${address}/_/ready`)).status, 200);

  const response = await fetch(address, { method: "POST", body: "hi" });
  assert.equal(await response.text(), "Hello, hi!\n");
});
