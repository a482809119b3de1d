import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";

import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { pythonBaseImageName } from "../../runtime/api/version.ts";
import { readTemplate, type TemplateName } from "../../runtime/cli/project/template-files.ts";
import { environment as ownEnvironment } from "../../runtime/process/settings.ts";
import { makeBaseImage } from "../../scripts/base-image/make-base-image.ts";
import { machinePython } from "../../scripts/base-image/machine-python.ts";
import { installedTool } from "../../scripts/debian-tool.ts";
import { noDockerEngine } from "../support/docker-engine.ts";
import { buildFunctionImage, runContainer, writeFiles } from "../support/function-image.ts";
import { openDockerEngine, type TestDockerEngine } from "../support/shared-docker-engine.ts";
import { tempDirectory } from "../support/temp-directory.ts";

const run = promisify(execFile);
const say = (line: string): void => void process.stderr.write(`${line}\n`);
const hi = { method: "POST", body: "hi" };

/** What functions in Python count on: modules of the standard library, trust in certificates, bytecode, time zones. */
const about = `
import asyncio, bz2, ctypes, decimal, hashlib, http.server, json, lzma, os, sqlite3, ssl, sys, urllib.request, venv, zlib, zoneinfo
print(json.dumps({
  "sum": sqlite3.connect(":memory:").execute("select 1 + 2").fetchone()[0],
  "length": ctypes.CDLL(None).strlen(b"weir"),
  "trusted": len(ssl.create_default_context().get_ca_certs()) > 0,
  "digest": hashlib.sha256(b"").hexdigest()[:8],
  "encoding": sys.getfilesystemencoding(),
  "compiled": os.path.exists(ssl.__cached__),
  "zone": str(zoneinfo.ZoneInfo("Europe/Zurich")),
  "user": os.getuid(),
}))
`;

describe.skipIf(noDockerEngine() !== undefined)("functions made FROM the base images", () => {
  let engine: TestDockerEngine;

  beforeAll(async () => {
    engine = await openDockerEngine();
    installedTool("python3", "python3", say);
    await makeBaseImage(engine.client, "python");
  }, 300_000);
  afterAll(() => engine?.close(), 90_000);

  /** Builds the image of a directory that `fill` fills, with the image `base` and no registry. */
  async function build(
    image: string,
    files: Readonly<Record<string, string>>,
    { base, fill }: { readonly base: string; readonly fill?: (directory: string) => Promise<unknown> },
  ): Promise<void> {
    await using directory = await tempDirectory("function-image");
    await writeFiles(directory.path, files);
    await fill?.(directory.path);
    await buildFunctionImage(engine.client, directory.path, image, { BASE: base });
  }

  async function templateFiles(template: TemplateName): Promise<Readonly<Record<string, string>>> {
    return Object.fromEntries((await readTemplate(template, "hello")).map(({ path, text }) => [path, text]));
  }

  test.each([
    ["node", (): string => engine.image],
    ["python", (): string => pythonBaseImageName],
    ["shell", (): string => engine.image],
  ] as const)("the template %s builds, replies, and ends when it is told to", async (template, base) => {
    await build(`test/${template}:1`, await templateFiles(template), { base: base() });
    const environment = template === "shell" ? { fprocess: "sh function.sh" } : {};
    await using container = await runContainer(engine.client, `test/${template}:1`, { path: "/_/ready", environment });
    expect(await (await fetch(container.url, hi)).text()).toBe("Hello, hi!\n");
    expect(await container.stop()).toBe(0);
  });

  test("a program of Go that was built outside needs no other base image", { timeout: 300_000 }, async () => {
    const go = installedTool("go", "golang-go", say);
    if (go === undefined) throw new Error("Cannot build a program: Go is missing");
    const dockerfile = 'ARG BASE\nFROM ${BASE}\nCOPY function /function\nUSER 12000:12000\nCMD ["/function"]\n';
    await build(
      "test/go:1",
      { ...(await templateFiles("go")), Dockerfile: dockerfile },
      {
        base: engine.image,
        fill: (directory) =>
          run(go, ["build", "-o", "function", "."], {
            cwd: directory,
            env: { ...ownEnvironment(), CGO_ENABLED: "0", GOFLAGS: "-mod=mod", GOPROXY: "off" },
          }),
      },
    );
    await using container = await runContainer(engine.client, "test/go:1", { path: "/_/ready" });
    expect(await (await fetch(container.url, hi)).text()).toBe("Hello, hi!\n");
    expect(await container.stop()).toBe(0);
  });

  test("the standard library of Python is whole, also behind the watchdog", async () => {
    const dockerfile = `ARG BASE\nFROM \${BASE}\nCOPY about.py ./\nENV fprocess="python3 about.py"\n`;
    await build("test/about:1", { Dockerfile: dockerfile, "about.py": about }, { base: pythonBaseImageName });
    await using container = await runContainer(engine.client, "test/about:1", { path: "/_/ready" });
    expect(await (await fetch(container.url, hi)).json()).toEqual({
      sum: 3,
      length: 4,
      trusted: true,
      digest: "e3b0c442",
      encoding: "utf-8",
      compiled: true,
      zone: "Europe/Zurich",
      user: 12_000,
    });
  });

  test("a virtual environment of this machine works where it is copied to", async () => {
    const dockerfile = `ARG BASE\nFROM \${BASE}\nCOPY . .\nENV fprocess=".venv/bin/python use.py"\n`;
    const { command } = await machinePython();
    await build(
      "test/venv:1",
      { Dockerfile: dockerfile, "use.py": "import greeting, sys\nprint(greeting.text, sys.prefix)\n" },
      {
        base: pythonBaseImageName,
        fill: async (directory) => {
          await run(command, ["-m", "venv", "--without-pip", join(directory, ".venv")]);
          const code = "import sysconfig; print(sysconfig.get_path('purelib'))";
          const { stdout } = await run(join(directory, ".venv/bin/python"), ["-c", code]);
          await writeFiles(stdout.trim(), { "greeting.py": 'text = "from a package"\n' });
        },
      },
    );
    await using container = await runContainer(engine.client, "test/venv:1", { path: "/_/ready" });
    expect(await (await fetch(container.url, hi)).text()).toBe("from a package /home/app/.venv\n");
  });
});
