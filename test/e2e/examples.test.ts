import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { environment } from "../../runtime/process/settings.ts";
import { exampleNames, readExample } from "../../scripts/example/example.ts";
import { eventually } from "../support/eventually.ts";
import { freePort } from "../support/free-port.ts";
import { tempDirectory, type TempDirectory } from "../support/temp-directory.ts";
import { startWeir, type WeirProcess } from "../support/weir-process.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const examples = join(root, "examples");
const runner = join(root, "scripts/example/main.ts");

function runExample(...args: readonly string[]): { code: number | null; stdout: string; stderr: string } {
  const ended = spawnSync(process.execPath, [runner, ...args], { cwd: root, encoding: "utf8", timeout: 60_000 });
  return { code: ended.status, stdout: ended.stdout, stderr: ended.stderr };
}

describe("the runner", () => {
  test("lists every example with its sentence", async () => {
    const { code, stdout } = runExample();
    expect(code).toBe(0);
    for (const name of await exampleNames(examples)) {
      expect(stdout).toContain(`  ${name} `);
      expect(stdout).toContain((await readExample(examples, name)).about);
      expect(existsSync(join(examples, name, "README.md"))).toBe(true);
    }
  });

  test("says in a sentence what is missing", async () => {
    await using directory = await tempDirectory("examples");
    const gateway = `http://127.0.0.1:${await freePort()}`;
    expect(runExample("nope")).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^Cannot find example "nope": there are bearer, /),
    });

    const noData = runExample("checksum", "--gateway", gateway, "--data", directory.path);
    expect(noData).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^Cannot read ".*basic-auth-user": say with --data .*\n$/),
    });

    await mkdir(join(directory.path, "credentials"));
    for (const name of ["basic-auth-user", "basic-auth-password"])
      await writeFile(join(directory.path, "credentials", name), "x");
    const noWeir = runExample("checksum", "--gateway", gateway, "--data", directory.path);
    expect(noWeir).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^Cannot reach Weir at http:.* "npm start".*\n$/),
    });
    expect(runExample("--help")).toMatchObject({ code: 0, stdout: expect.stringContaining("--gateway") });
  });
});

describe("the functions by themselves", () => {
  async function withFunction(name: string, secrets: string, use: (url: string) => Promise<void>): Promise<void> {
    const port = await freePort();
    const child = spawn(process.execPath, [join(examples, name, "function.ts")], {
      env: { ...environment(), PORT: String(port), SERVICE_SECRETS_DIR: secrets },
      stdio: "ignore",
    });
    const url = `http://127.0.0.1:${port}`;
    try {
      await eventually(async () => (await fetch(url)).status > 0, { within: 10_000, what: `${name} to listen` });
      await use(url);
    } finally {
      child.kill("SIGTERM");
      const [code] = await once(child, "exit", { signal: AbortSignal.timeout(5_000) });
      expect(code).toBe(0);
    }
  }
  const post = async (url: string, body: string, headers: Record<string, string> = {}) =>
    fetch(url, { method: "POST", body, headers: { ...headers, Connection: "close" } });

  test("markdown renders, tables included, and takes nothing but POST", async () => {
    await withFunction("markdown", "", async (url) => {
      const html = await (await post(url, readFileSync(join(examples, "markdown/release-notes.md"), "utf8"))).text();
      expect(html).toContain("<h1>Release notes</h1>");
      expect(html).toContain("<td>202</td>");
      expect((await fetch(url)).status).toBe(405);
    });
  });

  test("bearer lets in who knows the secret of this moment", async () => {
    await using secrets = await tempDirectory("bearer");
    await withFunction("bearer", secrets.path, async (url) => {
      const status = async (authorization: string) => (await fetch(url, { headers: { authorization } })).status;
      expect(await status("Bearer one")).toBe(500);
      await writeFile(join(secrets.path, "bearer-token"), "one\n");
      expect(await status("Bearer one")).toBe(200);
      expect(await status("Bearer two")).toBe(401);
      expect(await status("")).toBe(401);
      await writeFile(join(secrets.path, "bearer-token"), "two");
      expect(await status("Bearer two")).toBe(200);
    });
  });

  test("callback-receiver remembers each callback once and waits for one that is asked for", async () => {
    await withFunction("callback-receiver", "", async (url) => {
      const waiting = fetch(`${url}/a`);
      const headers = {
        "X-Call-Id": "a",
        "X-Function-Name": "f",
        "X-Function-Status": "200",
        "X-Duration-Seconds": "0.5",
        "X-Retry": "1",
      };
      expect((await post(url, "out", headers)).status).toBe(204);
      expect((await post(url, "again", headers)).status).toBe(204);
      const expected = { callId: "a", functionName: "f", status: 200, durationSeconds: 0.5, retries: 1, body: "out" };
      expect(await (await waiting).json()).toEqual(expected);
      expect(await (await fetch(url)).json()).toEqual([expected]);
    });
  });
});

describe("npm run example on a Weir that runs", () => {
  const opened: { directory?: TempDirectory; weir?: WeirProcess } = {};

  beforeAll(async () => {
    opened.directory = await tempDirectory("examples");
    opened.weir = await startWeir({ data: opened.directory.path, within: 60_000 });
  }, 90_000);

  afterAll(async () => {
    try {
      await opened.weir?.stop();
    } finally {
      await opened.directory?.remove();
    }
  }, 60_000);

  test.each([
    ["checksum", [/^202 Accepted$/m, /^200 OK\n[0-9a-f]{64} {2}-$/m]],
    ["markdown", [/^202 Accepted$/m, /^200 OK\n<h1>Release notes<\/h1>$/m]],
    ["bearer", [/^201 Created$/m, /^401 Unauthorized\nSend the right bearer token\.$/m, /^200 OK\nWelcome\.$/m]],
    [
      "callback-receiver",
      [/^202 Accepted\nX-Call-Id: \S+$/m, /^200 OK\n\{\n {2}"callId": "\S+",\n {2}"functionName": "checksum",$/m],
    ],
  ] as const)("%s", { timeout: 90_000 }, (name, shown) => {
    const { weir } = opened;
    if (weir === undefined) throw new Error("Cannot run examples: Weir did not start");
    const { code, stdout, stderr } = runExample(name, "--gateway", weir.url, "--data", weir.data);
    expect({ code, stderr }, stdout).toEqual({ code: 0, stderr: "" });
    for (const pattern of shown) expect(stdout).toMatch(pattern);
    expect(stdout).not.toContain(weir.password);
  });

  test("bearer a second time replaces its secret", { timeout: 90_000 }, () => {
    const { weir } = opened;
    if (weir === undefined) throw new Error("Cannot run examples: Weir did not start");
    const { code, stdout } = runExample("bearer", "--gateway", weir.url, "--data", weir.data);
    expect(code, stdout).toBe(0);
    expect(stdout).toMatch(/-X PUT \S+\/system\/secrets /);
    expect(stdout).toContain("Welcome.");
  });
});
