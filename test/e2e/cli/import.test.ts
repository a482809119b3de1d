import { once } from "node:events";
import { cp, mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";

import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { parse } from "yaml";

import type { MoveRow } from "../../../runtime/cli/moves/report/move-report.ts";
import { openCliHome, type CliHome, type CommandEnd, type CommandOptions } from "../../support/cli-home.ts";
import { sampleDirectory } from "../../support/import-samples.ts";
import { tempDirectory, type TempDirectory } from "../../support/temp-directory.ts";
import { startWeir, type WeirProcess } from "../../support/weir-process.ts";

/** Commands that move functions in and out, as processes. */
let person: CliHome;
let directory: TempDirectory;
const run = (args: readonly string[], options: CommandOptions = {}): Promise<CommandEnd> =>
  person.run(args, { directory: directory.path, ...options });
const fileOf = (name: string): Promise<string> => readFile(join(directory.path, name), "utf8");

beforeAll(async () => {
  person = await openCliHome();
});
afterAll(() => person?.[Symbol.asyncDispose]());

beforeEach(async () => {
  directory = await tempDirectory("cli-import");
  await cp(sampleDirectory, directory.path, { recursive: true });
  return () => directory.remove();
});

interface Written {
  readonly functions: Readonly<Record<string, object>>;
}

describe("what was imported", () => {
  let data: TempDirectory;
  let weir: WeirProcess;

  beforeAll(async () => {
    data = await tempDirectory("cli-import-data");
    weir = await startWeir({ data: data.path });
  });
  afterAll(async () => {
    await weir?.stop();
    await data?.remove();
  });

  test("is deployed as it stands in weir.yaml, and called", async () => {
    expect((await run(["import", "stack-images.yml"])).code).toBe(0);
    const { upper } = (parse(await fileOf("weir.yaml")) as Written).functions;
    const deployed = await fetch(`${weir.url}/system/functions?wait=60s`, {
      method: "PUT",
      headers: { authorization: weir.authorization },
      body: JSON.stringify({ service: "upper", ...upper }),
    });
    expect(deployed.status).toBe(202);
    const called = await fetch(`${weir.url}/function/upper`, { method: "POST", body: "from a stack file" });
    expect(await called.text()).toBe("FROM A STACK FILE");
  });

  test.each(["stack-scaling.yml", "stack-events.yml", "stack-odd.yml"])(
    "of %s is what the gateway takes, whether keys are renamed or not",
    async (name) => {
      for (const flags of [[], ["--rename-keys"]]) {
        expect((await run(["import", name, "--force", ...flags])).code).toBe(0);
        for (const [service, definition] of Object.entries((parse(await fileOf("weir.yaml")) as Written).functions)) {
          const { secrets: _, ...rest } = definition as { readonly secrets?: unknown };
          const reply = await fetch(`${weir.url}/system/functions`, {
            method: "PUT",
            headers: { authorization: weir.authorization },
            // Queues and profiles are declared by whoever runs the platform.
            body: JSON.stringify({ service, ...rest }).replace(/"com\.(?:openfaas|service)\.queue":"slow",/, ""),
          });
          expect(await reply.text(), service).toBe("");
          expect(reply.status, service).toBe(202);
        }
      }
    },
  );
});

describe("weir import", () => {
  test("says what became of each field and which secrets to create, and writes weir.yaml", async () => {
    const { code, stdout, stderr } = await run(["import", "stack-dockerfile.yml"]);
    expect(code).toBe(0);
    expect(stdout.split("\n")[0]).toMatch(/^LINE {2}FIELD +RESULT +DETAILS$/);
    expect(stdout).toMatch(/^ +10 {2}functions\.invoice\.image +same$/m);
    expect(stdout).toMatch(/^ +15 {2}functions\.invoice\.fprocess +translated +to envProcess$/m);
    expect(stdout).toMatch(/^signing-key +weir secrets create signing-key -n billing --from-file FILE$/m);
    expect(stderr).toMatch(
      /^weir\.yaml, environment\.env written; fields: \d+ same, \d+ translated, 0 not supported\n$/,
    );
    expect(await fileOf("weir.yaml")).toMatch(
      /^version: 1\n# gateway: http:\/\/127\.0\.0\.1:8080\nfunctions:\n {2}invoice:\n/,
    );
    expect(await fileOf("environment.env")).toContain("currency=EUR\n");
  });

  test("--report json is one document with the same rows", async () => {
    const { stdout } = await run(["import", "stack-templates.yml", "--report", "json"]);
    const report = JSON.parse(stdout) as {
      readonly rows: readonly MoveRow[];
      readonly secrets: object;
      readonly files: object;
    };
    expect(report).toMatchObject({ secrets: [], files: ["weir.yaml"] });
    expect(report.rows).toContainEqual({
      file: "stack-templates.yml",
      line: 6,
      field: "functions.thumbnail.lang",
      result: "not supported",
      why: "weir builds no templates: the image is deployed as it is",
      instead: "faas-cli build",
    });
  });

  test("--strict fails when something is not supported, and only then", async () => {
    const strict = await run(["import", "stack-templates.yml", "--strict", "--out", "strict"]);
    expect(strict.code).toBe(1);
    expect(strict.stderr).toMatch(/Cannot import all of "stack-templates.yml": fields that are not supported: \d+\n$/);
    expect((await run(["import", "stack-images.yml", "--strict"])).code).toBe(0);
  });

  test("overwrites nothing unless it is told to, and leaves no half of it", async () => {
    await writeFile(join(directory.path, "environment.env"), "mine");
    const refused = await run(["import", "stack-dockerfile.yml"]);
    expect(refused).toMatchObject({ code: 2, stdout: "" });
    expect(refused.stderr).toBe('Cannot write "environment.env": it is there; --force overwrites it\n');
    expect(await readdir(directory.path)).not.toContain("weir.yaml");
    expect((await run(["import", "stack-dockerfile.yml", "--force"])).code).toBe(0);
    expect(await fileOf("environment.env")).not.toBe("mine");
  });

  test("objects become objects, in a directory that is made", async () => {
    expect((await run(["import", "function.yml", "profile.yml", "iam.yml", "--out", "moved/"])).code).toBe(0);
    expect(await readdir(join(directory.path, "moved"))).toEqual(["manifests.yaml"]);
    expect((await fileOf("moved/manifests.yaml")).match(/^apiVersion: (?:iam\.)?service\.com\/v1$/gm)).toHaveLength(7);
  });

  test("--out names a file", async () => {
    expect((await run(["import", "profile.yml", "--out", "profiles.yaml"])).code).toBe(0);
    expect(await fileOf("profiles.yaml")).toContain("kind: Profile");
  });

  test("--out - writes the result to stdout and the report to stderr", async () => {
    const input = await fileOf("stack-images.yml");
    const { code, stdout, stderr } = await run(["import", "-", "--out", "-"], { input });
    expect(code).toBe(0);
    expect(parse(stdout)).toMatchObject({ functions: { stronghash: { envProcess: "sha512sum" } } });
    expect(stderr).toContain("functions.stronghash.fprocess");
    expect(await readdir(directory.path)).not.toContain("weir.yaml");
    const quiet = await run(["import", "-", "--out", "-", "-q"], { input });
    expect(quiet).toEqual({ code: 0, stdout, stderr: "" });
  });

  test.each([
    [["import"], 2, /missing required argument 'file'/],
    [["import", "nowhere.yml"], 2, /^Cannot read "nowhere\.yml": /],
    [["import", "-", "-"], 2, /^Cannot read standard input twice\n$/],
    [["import", "-"], 2, /^-:1:\d+: Cannot read .*not YAML/],
    [["import", "stack-images.yml", "stack-images.yml"], 2, /function "upper" is there twice\n$/],
    [["import", "environment.yml"], 2, /neither a stack file nor an object/],
    [["import", "stack-images.yml", "profile.yml", "--out", "one.yaml"], 2, /give --out a directory\n$/],
    [["import", "stack-images.yml", "--out", "stack-odd.yml/x"], 2, /^Cannot write "stack-odd\.yml\/x\/weir\.yaml": /],
    [["import", "stack-images.yml", "--report", "xml"], 2, /Allowed choices are table, json/],
    [["import", "other-kinds.yml"], 1, /Cannot import "other-kinds\.yml": Weir has nothing of what is in it\n$/],
  ])("%j ends with %i", async (args, code, sentence) => {
    const end = await run(args, { input: "{" });
    expect(end.code).toBe(code);
    expect(end.stderr).toMatch(sentence);
    expect(await readdir(directory.path)).not.toContain("weir.yaml");
  });
});

const project = `version: 1
namespace: dev
functions:
  hello:
    image: REGISTRY/acme/hello:1
    envProcess: cat
    envVars:
      greeting: \${GREETING:-hi}
    secrets:
      - api-key
`;

describe("weir generate", () => {
  beforeEach(() => writeFile(join(directory.path, "weir.yaml"), project.replace("REGISTRY", "ghcr.io")));

  test("functions, then import: the same weir.yaml", async () => {
    const generated = await run(["generate", "functions"]);
    expect(generated).toMatchObject({ code: 0, stderr: "" });
    expect(generated.stdout).toContain("apiVersion: service.com/v1\nkind: Function\n");
    const back = await run(["import", "-", "--out", "-", "--strict"], { input: generated.stdout });
    expect(back.code).toBe(0);
    expect(back.stdout).toBe((await fileOf("weir.yaml")).replace("${GREETING:-hi}", "hi"));
  });

  test("variables come from the environment and from --env-file", async () => {
    await writeFile(join(directory.path, "x.env"), "GREETING=hey\n");
    expect((await run(["generate", "functions", "--env-file", "x.env"])).stdout).toContain("greeting: hey\n");
    const { stdout } = await run(["generate", "functions"], { environment: { GREETING: "hello" } });
    expect(stdout).toContain("greeting: hello\n");
  });

  test("pulumi prints a program", async () => {
    const { code, stdout, stderr } = await run(["generate", "pulumi"]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toContain('import { Function, FunctionSecret } from "weir/infra";\n');
    expect(stdout).toContain('  hello: new Function("hello", {\n    image: "ghcr.io/acme/hello:1",\n');
  });

  test("works below the project, and says when there is none", async () => {
    await mkdir(join(directory.path, "below"));
    expect((await run(["generate", "functions"], { directory: join(directory.path, "below") })).code).toBe(0);
    const lost = await person.run(["generate", "functions"]);
    expect(lost.code).toBe(2);
    expect(lost.stderr).toMatch(/^Cannot find "weir\.yaml"/);
  });
});

describe("weir generate functions --digest", () => {
  const digest = `sha256:${"0123456789abcdef".repeat(4)}`;
  let registry: Server;
  let host: string;
  /** What the registry replies to a request for the manifest that has a token. */
  let reply: { readonly status: number; readonly headers: Readonly<Record<string, string>> };
  let heard: readonly string[] = [];

  beforeAll(async () => {
    registry = createServer((request, response) => {
      heard = [...heard, `${request.method} ${request.url}`];
      if (request.url?.startsWith("/token") === true) response.end(JSON.stringify({ token: "for-all" }));
      else if (request.headers.authorization === "Bearer for-all")
        response.writeHead(reply.status, reply.headers).end();
      else response.writeHead(401, { "www-authenticate": challengeOf(request) }).end();
    });
    registry.listen(0, "127.0.0.1");
    await once(registry, "listening");
    host = `127.0.0.1:${(registry.address() as AddressInfo).port}`;
  });
  afterAll(async () => {
    registry?.closeAllConnections();
    registry?.close();
    await once(registry, "close");
  });
  beforeEach(async () => {
    heard = [];
    await writeFile(join(directory.path, "weir.yaml"), project.replace("REGISTRY", host));
  });

  function challengeOf({ headers }: IncomingMessage): string {
    return `Bearer realm="http://${headers.host}/token",service="registry",scope="repository:acme/hello:pull"`;
  }

  test("pins an image to what its tag stands for, with a token that everybody gets", async () => {
    reply = { status: 200, headers: { "docker-content-digest": digest } };
    const { code, stdout, stderr } = await run(["generate", "functions", "--digest"]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toContain(`  image: ${host}/acme/hello:1@${digest}\n`);
    expect(heard).toEqual([
      "HEAD /v2/acme/hello/manifests/1",
      "GET /token?service=registry&scope=repository%3Aacme%2Fhello%3Apull",
      "HEAD /v2/acme/hello/manifests/1",
    ]);
  });

  test("leaves an image with a digest as it is, and asks nobody", async () => {
    const pinned = `${host}/acme/hello:1@${digest}`;
    await writeFile(join(directory.path, "weir.yaml"), project.replace("REGISTRY/acme/hello:1", pinned));
    const { stdout } = await run(["generate", "functions", "--digest"]);
    expect(stdout).toContain(`  image: ${pinned}\n`);
    expect(heard).toEqual([]);
  });

  test.each([
    [404, {}, 3, /has no such image/],
    [401, {}, 4, /without credentials/],
    [500, {}, 5, /replied 500/],
    [200, {}, 1, /gave no digest/],
    [200, { "docker-content-digest": "sha256:x image: other" }, 1, /gave no digest/],
  ])("after %i %j it ends with %i and prints nothing", async (status, headers, code, sentence) => {
    reply = { status, headers };
    const end = await run(["generate", "functions", "--digest"]);
    expect(end).toMatchObject({ code, stdout: "" });
    expect(end.stderr).toMatch(/^Cannot pin image "127\.0\.0\.1:\d+\/acme\/hello:1": /);
    expect(end.stderr).toMatch(sentence);
  });

  test("of a registry that is not there: 5", async () => {
    await writeFile(join(directory.path, "weir.yaml"), project.replace("REGISTRY", "127.0.0.1:1"));
    const end = await run(["generate", "functions", "--digest"]);
    expect(end).toMatchObject({ code: 5, stdout: "" });
    expect(end.stderr).toMatch(
      /^Cannot pin image "127\.0\.0\.1:1\/acme\/hello:1": http:\/\/127\.0\.0\.1:1 cannot be reached: /,
    );
  });
});
