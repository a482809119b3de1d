import { once } from "node:events";
import { access, mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { dirname, join } from "node:path";

import Type from "typebox";
import { Parse } from "typebox/value";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { FunctionStatus } from "../../../runtime/api/schemas/function-status.ts";
import {
  gatewayEnvironment,
  openCliHome,
  type CliHome,
  type CommandEnd,
  type CommandOptions,
} from "../../support/cli-home.ts";
import { eventually } from "../../support/eventually.ts";
import { fakePrograms } from "../../support/fake-program.ts";
import { livingProcess } from "../../support/process-tree.ts";
import { tempDirectory, type TempDirectory } from "../../support/temp-directory.ts";
import { startWeir, type WeirProcess } from "../../support/weir-process.ts";

/** `up`, `deploy` and `build`, as processes, against a real Weir with the local provider. */
let data: TempDirectory;
let weir: WeirProcess;
let person: CliHome;
beforeAll(async () => {
  data = await tempDirectory("cli-deploy");
  person = await openCliHome();
  weir = await startWeir({ data: data.path });
});
afterAll(async () => {
  await weir?.stop();
  await person?.[Symbol.asyncDispose]();
  await data?.remove();
});

const run = (args: readonly string[], options: CommandOptions = {}): Promise<CommandEnd> =>
  person.run(args, { ...options, environment: { ...gatewayEnvironment(weir), ...options.environment } });

/** A project in a directory of its own; `run` works in it. */
async function project(files: Readonly<Record<string, string>>) {
  const { path, remove } = await tempDirectory("cli-project");
  const write = async (more: Readonly<Record<string, string>>): Promise<void> => {
    for (const [name, text] of Object.entries(more)) {
      await mkdir(dirname(join(path, name)), { recursive: true });
      await writeFile(join(path, name), text);
    }
  };
  await write(files);
  return {
    path,
    write,
    run: (args: readonly string[], options: CommandOptions = {}) => run(args, { directory: path, ...options }),
    [Symbol.asyncDispose]: remove,
  };
}

async function deployed(name: string): Promise<FunctionStatus | undefined> {
  const reply = await fetch(`${weir.url}/system/function/${name}`, { headers: { authorization: weir.authorization } });
  return reply.status === 404 ? undefined : Parse(FunctionStatus, await reply.json());
}

async function generationOf(name: string): Promise<number | undefined> {
  return (await deployed(name))?.generation;
}

async function call(name: string, body: string): Promise<string> {
  const reply = await fetch(`${weir.url}/function/${name}`, { method: "POST", body });
  return reply.text();
}

const yaml = (...functions: readonly string[]): string =>
  `version: 1\nfunctions:\n${functions.map((each) => `  ${each}\n`).join("")}`;

describe("weir deploy with flags", () => {
  test("deploys a function and waits until it replies", async () => {
    const flags = ["--env", "LEVEL=2", "--label", "com.service.scale.max=3", "--annotation", "topic=a,b"];
    const more = ["--limit", "memory=64Mi", "--request", "cpu=10m", "--constraint", "zone=a", "--read-only"];
    const { code, stdout, stderr } = await run([
      "deploy",
      "flags",
      "--image",
      "any",
      "--process",
      "tr a-z A-Z",
      ...flags,
      ...more,
    ]);
    expect([code, stderr.split("\n").at(-2)]).toEqual([0, "flags: ready"]);
    expect(stdout).toMatch(
      /^NAME +READY +IMAGE +ADDRESS\nflags +1\/1 +any +http:\/\/127\.0\.0\.1:\d+\/function\/flags\n$/,
    );
    expect(await call("flags", "hi")).toBe("HI");
    expect(await deployed("flags")).toMatchObject({
      envVars: { LEVEL: "2" },
      labels: { "com.service.scale.max": "3" },
      annotations: { topic: "a,b" },
      limits: { memory: "64Mi" },
      requests: { cpu: "10m" },
      constraints: ["zone=a"],
      readOnlyRootFilesystem: true,
    });
  });

  test("sends a function again that has not changed, as its secrets may have", async () => {
    const args = ["deploy", "again", "--image", "any", "--process", "cat", "-q"];
    expect(await run(args)).toMatchObject({ code: 0, stderr: "" });
    const before = await generationOf("again");
    expect(await run(args)).toMatchObject({ code: 0, stderr: "" });
    expect(await generationOf("again")).toBe((before ?? 0) + 1);
  });

  test("overrides what weir.yaml says of this function, and sends no other", async () => {
    await using here = await project({
      "weir.yaml": yaml(
        "over: { image: any, envProcess: cat, envVars: { A: '1', B: '1' } }",
        "left: { image: any, envProcess: cat }",
      ),
    });
    const { code, stdout } = await here.run(["deploy", "over", "--env", "B=2", "-o", "name"]);
    expect([code, stdout]).toEqual([0, "over\n"]);
    expect(await deployed("over")).toMatchObject({ envVars: { A: "1", B: "2" } });
    expect(await deployed("left")).toBeUndefined();
  });
});

describe("weir deploy -f stack.yml", () => {
  test("deploys what a stack file says, less what it says of what is left out", async () => {
    await using here = await project({
      "stack.yml": [
        "version: 1.0",
        "provider: { name: openfaas, gateway: 'http://127.0.0.1:1' }",
        "functions:",
        "  stacked: { image: any, fprocess: tr a-z A-Z, environment: { LEVEL: '2' }, build_options: [dev] }",
      ].join("\n"),
    });
    const { code, stdout, stderr } = await here.run([
      "deploy",
      "-f",
      "stack.yml",
      "--label",
      "x=1",
      "stacked",
      "-o",
      "name",
    ]);
    expect(code, stderr).toBe(0);
    expect(stdout).toBe("stacked\n");
    expect(stderr).toMatch(/^stack\.yml:4: functions\.stacked\.build_options is left out: /m);
    expect(await call("stacked", "hi")).toBe("HI");
    expect(await deployed("stacked")).toMatchObject({ envVars: { LEVEL: "2" }, labels: { x: "1" } });
  });
});

describe("weir up", () => {
  const server = (reply: string): string =>
    `require("node:http").createServer((request, response) => response.end(${JSON.stringify(reply)} + process.env.WHO)).listen(process.env.PORT);\n`;
  const files = {
    "weir.yaml": yaml(
      "folder: { folder: app, envVars: { mode: http, WHO: '${WHO:-you}' }, run: { process: node app.js } }",
      "image: { image: any, envProcess: cat }",
    ),
    "app/app.js": server("hello "),
  };

  test("runs a folder, takes up a change of it, and sends nothing without one", async () => {
    await using here = await project(files);
    const first = await here.run(["up", "-o", "json"]);
    expect(first.code, first.stderr).toBe(0);
    const statuses = Parse(Type.Array(FunctionStatus), JSON.parse(first.stdout));
    expect(statuses.map(({ name }) => name).toSorted()).toEqual(["folder", "image"]);
    expect(await call("folder", "")).toBe("hello you");

    const before = [await generationOf("folder"), await generationOf("image")];
    const second = await here.run(["up"]);
    expect(second).toMatchObject({ code: 0, stderr: "folder: no change\nimage: no change\n" });
    expect([await generationOf("folder"), await generationOf("image")]).toEqual(before);

    await here.write({ "app/app.js": server("goodbye ") });
    const third = await here.run(["up", "folder"], { environment: { WHO: "all" } });
    expect(third.code, third.stderr).toBe(0);
    expect(await call("folder", "")).toBe("goodbye all");
    expect(await generationOf("image")).toBe(before[1]);
  });

  test("--dry-run shows what would change without values of envVars, and changes nothing", async () => {
    await using here = await project({ "weir.yaml": yaml("dry: { image: any, envProcess: cat }") });
    const created = await here.run(["up", "--dry-run"]);
    expect(created).toMatchObject({
      code: 0,
      stderr: "",
      stdout: "dry is created\n  + image: any\n  + envProcess: cat\n",
    });
    expect(await deployed("dry")).toBeUndefined();

    expect((await here.run(["up", "-q"])).code).toBe(0);
    await here.write({ "weir.yaml": yaml("dry: { image: other, envProcess: cat, envVars: { KEY: canary-value } }") });
    const shown: Record<string, string> = {};
    for (const format of ["table", "json", "yaml"]) {
      const { code, stdout, stderr } = await here.run(["up", "--dry-run", "-o", format]);
      expect([code, stderr]).toEqual([0, ""]);
      expect(stdout).toMatch(/envVars\.KEY/);
      expect(stdout).not.toContain("canary");
      shown[format] = stdout;
    }
    expect(JSON.parse(shown["json"] ?? "")).toEqual([
      {
        name: "dry",
        change: "update",
        fields: [
          { path: "image", before: "any", after: "other" },
          { path: "envVars.KEY", after: "…" },
        ],
      },
    ]);
    expect(await deployed("dry")).toMatchObject({ image: "any", generation: 1 });
  });

  test("says why a function is stalled, with its last lines; the others go on", async () => {
    await using here = await project({
      "weir.yaml": yaml(
        "stalled: { folder: bad, envVars: { mode: http }, run: { process: sh bad.sh } }",
        "refused: { image: any, envProcess: cat, limits: { memory: 1Mi }, requests: { memory: 2Mi } }",
        "beside: { image: any, envProcess: cat }",
      ),
      "bad/bad.sh": "seq -f 'line %g' 30 >&2\nexit 3\n",
    });
    const { code, stdout, stderr } = await here.run(["up", "-o", "name"]);
    expect([code, stdout]).toEqual([1, "beside\n"]);
    expect(stderr).toMatch(/^Cannot get function "stalled" ready: .+$/m);
    const [, quoted = ""] = stderr.split("\nIts last lines:\n");
    const lines = quoted.split("\n").filter((line) => line.startsWith("  "));
    expect(lines.length).toBeLessThanOrEqual(10);
    expect(lines.join("\n")).toContain("line 30");
    expect(stderr).toMatch(/^Cannot .*requests.*$/m);
    expect((await deployed("beside"))?.conditions).toContainEqual(
      expect.objectContaining({ type: "Ready", status: "True" }),
    );
    expect(await deployed("refused")).toBeUndefined();
  });

  test("sends a stalled function again, as its reason may be gone", async () => {
    const args = ["deploy", "stuck", "--image", "any", "--process", "no-such-program", "-q"];
    expect(await run(args)).toMatchObject({ code: 1 });
    await using here = await project({ "weir.yaml": yaml("stuck: { image: any, envProcess: no-such-program }") });
    const before = await generationOf("stuck");
    expect(await here.run(["up", "-q"])).toMatchObject({ code: 1 });
    expect(await generationOf("stuck")).toBe((before ?? 0) + 1);
  });
});

describe("what is checked before anything is sent", () => {
  test("secrets: all that are missing, with the command that creates one", async () => {
    await using here = await project({
      "weir.yaml": yaml(
        "first: { image: any, envProcess: cat, secrets: [gone-a] }",
        "second: { image: any, envProcess: cat, secrets: [gone-b] }",
        "third: { image: any, envProcess: cat }",
      ),
    });
    expect(await here.run(["up"])).toEqual({
      code: 1,
      stdout: "",
      stderr: [
        'Cannot deploy "first": secret "gone-a" does not exist in the default namespace',
        'Cannot deploy "second": secret "gone-b" does not exist in the default namespace',
        "Try: weir secrets create gone-a --from-file <file>",
        "",
      ].join("\n"),
    });
    expect(await deployed("third")).toBeUndefined();
  });

  test("times that no call could take", async () => {
    const flags = ["--env", "exec_timeout=2m", "--annotation", "com.service.timeout=40s"];
    const { code, stderr } = await run(["deploy", "long", "--image", "any", "--process", "cat", ...flags]);
    expect([code, stderr]).toEqual([
      1,
      'Cannot deploy "long": exec_timeout 2m is above com.service.timeout (40s) and the timeout of queue "default" (30s); set annotation com.service.timeout to 2m or more\n',
    ]);
    expect(await deployed("long")).toBeUndefined();
  });

  test("the namespace", async () => {
    const { code, stderr } = await run(["deploy", "lost", "--image", "any", "--process", "cat", "-n", "nowhere"]);
    expect(code).toBe(3);
    expect(stderr).toMatch(/^Cannot .*"nowhere".*\nTry: weir namespaces list\n$/);
  });

  test("a registry, if a cluster pulls the images: nothing is built", async () => {
    await using cluster = await infoServer("weir-kubernetes", "kubernetes");
    await using programs = await fakePrograms({ docker: "touch $STATE/called" });
    await using here = await project({
      "weir.yaml": yaml("hello: { folder: . }"),
      Dockerfile: "FROM scratch\n",
    });
    const environment = { WEIR_GATEWAY: cluster.url, PATH: programs.path };
    expect(await here.run(["up"], { environment })).toEqual({
      code: 2,
      stdout: "",
      stderr: 'Cannot deploy "hello" to a cluster: no registry is set; set build.registry or --registry\n',
    });
    await expect(access(join(programs.state, "called"))).rejects.toThrow("ENOENT");
  });
});

describe("the wait", () => {
  const never = ["--image", "any", "--process", "sleep 600", "--env", "mode=http"];

  test("is left out with --no-wait", async () => {
    const { code, stdout, stderr } = await run(["deploy", "unawaited", ...never, "--no-wait", "-o", "name"]);
    expect([code, stdout, stderr]).toEqual([0, "unawaited\n", ""]);
  });

  test("ends with exit code 6 when its time is over; the function stays deployed", async () => {
    const { code, stdout, stderr } = await run(["deploy", "late", ...never, "--timeout", "3s"]);
    expect([code, stdout]).toEqual([6, ""]);
    expect(stderr).toMatch(/^Cannot get function "late" ready in 3s: .+\n$/m);
    expect(await deployed("late")).toBeDefined();
  });

  test("ends at Ctrl-C with exit code 130, and the function stays deployed", async () => {
    let pid = 0;
    const running = run(["deploy", "interrupted", ...never], { started: (started) => (pid = started) });
    await eventually(async () => deployed("interrupted"), { what: "the deployment" });
    process.kill(pid, "SIGINT");
    const { code, stdout, stderr } = await running;
    expect([code, stdout]).toEqual([130, ""]);
    expect(stderr).not.toContain("Cannot");
    expect(await deployed("interrupted")).toBeDefined();
  });
});

describe("weir build", () => {
  const files = { "weir.yaml": yaml("hello: { folder: app }"), "app/Dockerfile": "FROM scratch\n", "app/app.js": "1" };
  const engine = `case "$1" in
    version) echo 28;;
    image) exit 1;;
    build) echo "building $*"; test -n "$SLOW" && { sleep 600 & echo $! > $STATE/pid; wait; }; exit 0;;
    push) echo "pushing $2";;
    *) exit 9;;
  esac`;

  test("shows the builder's progress on stderr and the images on stdout", async () => {
    await using programs = await fakePrograms({ docker: engine });
    await using here = await project(files);
    const args = ["build", "--builder", "docker", "--push", "--registry", "r:5000/a"];
    const { code, stdout, stderr } = await here.run(args, { environment: { PATH: programs.path } });
    expect(code, stderr).toBe(0);
    expect(stdout).toMatch(/^NAME +IMAGE +BUILT +PUSHED\nhello +r:5000\/a\/hello:[0-9a-f]{12} +yes +yes\n$/);
    expect(stderr).toMatch(
      /^hello: building build --tag r:5000\/a\/hello:.*\nhello: pushing r:5000\/a\/hello:[0-9a-f]{12}\n$/,
    );
  });

  test("ends the builder and what it started at Ctrl-C", async () => {
    await using programs = await fakePrograms({ docker: engine });
    await using here = await project(files);
    let pid = 0;
    const environment = { PATH: programs.path, SLOW: "1" };
    const running = here.run(["build", "--builder", "docker"], { environment, started: (started) => (pid = started) });
    const child = await eventually(
      async () => Number(await readFile(join(programs.state, "pid"), "utf8")) || undefined,
      { what: "the builder's child" },
    );
    process.kill(pid, "SIGINT");
    expect(await running).toMatchObject({ code: 130, stdout: "" });
    await eventually(() => livingProcess(child) === undefined, { what: "the end of that child" });
  });

  test("without an engine is exit code 2, with the reason of each", async () => {
    await using programs = await fakePrograms({});
    await using here = await project(files);
    expect(await here.run(["build"], { environment: { PATH: programs.only } })).toEqual({
      code: 2,
      stdout: "",
      stderr:
        'Cannot build "hello": no engine answers (docker buildx: not installed; docker: not installed; podman: not installed)\n',
    });
  });

  test("gives no token of the environment to the builder", async () => {
    await using programs = await fakePrograms({ docker: `env > $STATE/environment\n${engine}` });
    await using here = await project(files);
    const environment = { PATH: programs.path, WEIR_TOKEN: "canary-token", DOCKER_HOST: "unix:///kept" };
    expect((await here.run(["build", "--builder", "docker"], { environment })).code).toBe(0);
    const given = await readFile(join(programs.state, "environment"), "utf8");
    expect(given).toContain("DOCKER_HOST=unix:///kept");
    expect(given).not.toContain("canary-token");
  });
});

describe("mistakes are exit code 2, and nothing is sent", () => {
  test.each<[string, readonly string[], RegExp]>([
    ["no project", ["up"], /^Cannot find "weir\.yaml": .*\nTry: weir init\n$/],
    ["no name", ["deploy", "--image", "a"], /^Cannot use --image: name the one function to deploy\nTry: /],
    [
      "not key=value",
      ["deploy", "a", "--image", "a", "--label", "x"],
      /^Cannot read --label "x": it is not key=value\n$/,
    ],
    ["no such builder", ["build", "--builder", "kaniko"], /Allowed choices are buildx, docker, podman/],
    ["no such format", ["up", "-o", "xml"], /Allowed choices are table, json, yaml, name/],
    ["no duration", ["deploy", "a", "--image", "a", "--timeout", "soon"], /^Cannot use --timeout "soon": /],
  ])("%s", async (_name, args, sentence) => {
    const { code, stdout, stderr } = await run(args);
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr).toMatch(sentence);
  });

  test.each<[string, string, RegExp]>([
    [
      "nothing to run",
      "bad: { folder: app }",
      /^Cannot deploy "bad" to the local provider: it runs no images; set run\.process, or start Weir with --provider docker\n$/,
    ],
    [
      "a link out of the folder",
      "bad: { folder: app, run: { process: cat } }",
      /^Cannot deploy "bad" .*: link "hosts" leaves its folder, to "\/etc\/hosts"\n$/,
    ],
    [
      "a folder out of the project",
      "bad: { folder: .., run: { process: cat } }",
      /^weir\.yaml:\d+:\d+: Cannot read functions\.bad\.folder: /,
    ],
    [
      "an unknown key",
      "bad: { image: any, limit: {} }",
      /^weir\.yaml:3:\d+: Cannot read functions\.bad\.limit: no such key/,
    ],
  ])("in weir.yaml: %s", async (_name, definition, sentence) => {
    await using here = await project({ "weir.yaml": yaml(definition), "app/app.js": "" });
    await symlink("/etc/hosts", join(here.path, "app", "hosts"));
    for (const verb of ["up", "deploy"]) {
      const { code, stdout, stderr } = await here.run([verb]);
      expect([code, stdout]).toEqual([2, ""]);
      expect(stderr).toMatch(sentence);
    }
    expect(await deployed("bad")).toBeUndefined();
  });
});

/** A server that says what runs its functions, and knows nothing else. */
async function infoServer(provider: string, orchestration: string) {
  const reply = await fetch(`${weir.url}/system/info`, { headers: { authorization: weir.authorization } });
  const info = (await reply.json()) as { readonly provider: object };
  const server = createServer((request, response) => {
    response.statusCode = request.url === "/system/info" ? 200 : 500;
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify({ ...info, provider: { ...info.provider, provider, orchestration } }));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    [Symbol.asyncDispose]: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
}
