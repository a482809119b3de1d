import { existsSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { afterEach, beforeEach, describe, expect, test } from "vitest";

import { isAlive } from "../../support/process-tree.ts";
import { tempDirectory, type TempDirectory } from "../../support/temp-directory.ts";
import { runWeir, startWeir } from "../../support/weir-process.ts";

/** Prints what the host prints, and starts a broker in another process group, as the host does. */
const stand = `
  import { spawn } from "node:child_process";
  import { createServer } from "node:http";
  const broker = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"], { detached: true, stdio: "ignore" });
  const server = createServer((request, response) => response.end("ok")).listen(0, "127.0.0.1", () => {
    const url = "http://127.0.0.1:" + server.address().port;
    console.log("Weir 0 is ready\\n\\n  address     " + url + "\\n  admin       " + url + "\\n  user        admin");
  });
  process.on("SIGINT", () => {
    const end = () => process.exit(Number(process.env.CODE ?? 0));
    if (process.env.LEAVE === "yes") return end();
    broker.once("exit", end);
    broker.kill("SIGKILL");
  });
`;

describe.skipIf(!existsSync("/proc/self/stat"))("startWeir", () => {
  let directory: TempDirectory;
  let main: string;

  beforeEach(async () => {
    directory = await tempDirectory("weir-process");
    main = join(directory.path, "main.mjs");
    await writeFile(main, stand);
    await mkdir(join(directory.path, "credentials"));
    await writeFile(join(directory.path, "credentials/basic-auth-user"), "admin\n");
    await writeFile(join(directory.path, "credentials/basic-auth-password"), "secret\n");
  });
  afterEach(() => directory.remove());

  test("resolves once it serves, with address and credentials, and stops by Ctrl-C", async () => {
    await using weir = await startWeir({ data: directory.path, main });
    expect((await fetch(weir.url)).status).toBe(200);
    expect(weir).toMatchObject({ user: "admin", password: "secret", adminUrl: weir.url });
    expect(weir.authorization).toBe(`Basic ${btoa("admin:secret")}`);
    expect(weir.below()).toHaveLength(1);

    const below = weir.below();
    await weir.stop();
    expect(below.some(isAlive)).toBe(false);
  });

  test("stop reports an exit code other than 0 and orphaned processes, and ends those", async () => {
    const leaving = await startWeir({ data: directory.path, main, environment: { LEAVE: "yes" } });
    const below = leaving.below();
    await expect(leaving.stop()).rejects.toThrow(/^Weir ended with 0, left: .*setInterval/);
    expect(below.some(isAlive)).toBe(false);

    const failing = await startWeir({ data: directory.path, main, environment: { CODE: "7" } });
    await expect(failing.stop()).rejects.toThrow(/^Weir ended with 7, left: nothing/);
  });

  test("kill leaves the broker, close does not", async () => {
    const weir = await startWeir({ data: directory.path, main });
    const [broker] = weir.below();
    if (broker === undefined) throw new Error("Cannot test: the stand-in has no broker");
    await weir.kill();
    expect(isAlive(broker)).toBe(true);
    await weir.close();
    expect(isAlive(broker)).toBe(false);
    await weir.close();
  });

  test("a start that ends early shows what was written", async () => {
    await writeFile(main, 'console.error("Cannot start: port 1 is in use"); process.exit(1);');
    await expect(startWeir({ data: directory.path, main })).rejects.toThrow(
      /^Cannot start Weir: it ended\nCannot start: port 1 is in use/,
    );
    expect(await runWeir({ data: directory.path, main })).toEqual({
      code: 1,
      signal: null,
      stdout: "",
      stderr: "Cannot start: port 1 is in use\n",
    });
  });
});
