import { execFile } from "node:child_process";
import { mkdir, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";

import type { Project } from "../../../../runtime/cli/project/project.ts";
import { readProject } from "../../../../runtime/cli/project/read-project.ts";
import { tempDirectory } from "../../../support/temp-directory.ts";

interface Reading {
  /** Files by path; a folder ends with `/`, and `link -> target` makes a link. */
  readonly files?: Readonly<Record<string, string>>;
  readonly environment?: Readonly<Record<string, string>>;
  readonly environmentFiles?: readonly string[];
  /** Where the command runs. */
  readonly from?: string;
}

async function read(yaml: string, { files = {}, from = ".", ...options }: Reading = {}): Promise<Project> {
  await using temp = await tempDirectory("project");
  const directory = join(temp.path, "project");
  for (const [path, text] of Object.entries({ ...files, "weir.yaml": yaml })) {
    const file = join(directory, path);
    await mkdir(path.endsWith("/") ? file : dirname(file), { recursive: true });
    if (text.startsWith("-> ")) await symlink(text.slice(3), file);
    else if (!path.endsWith("/")) await writeFile(file, text);
  }
  return await readProject({ environment: {}, ...options, directory: join(directory, from) });
}

/** The lines of the error. */
async function problems(yaml: string, reading?: Reading): Promise<readonly string[]> {
  const error: unknown = await read(yaml, reading).then(
    () => new Error("no problem"),
    (err: unknown) => err,
  );
  expect(error).toMatchObject({ exit: 2 });
  return error instanceof Error ? error.message.split("\n") : [];
}

const functions = (text: string): string => `version: 1\nfunctions:\n${text}`;

describe("a weir.yaml", () => {
  test("is read with its variables replaced", async () => {
    const yaml = [
      "version: 1",
      "gateway: https://${HOST}",
      "namespace: ${NAMESPACE:-shop}",
      "functions:",
      "  hello:",
      "    image: ghcr.io/acme/hello:${TAG}",
      "    envVars: { GREETING: 'hi ${WHO:-you}', RAW: '$${NOT}' }",
    ].join("\n");
    const { content, environments } = await read(yaml, {
      environment: { HOST: "weir.example", TAG: "1", WHO: "" },
    });
    expect(content).toEqual({
      version: 1,
      gateway: "https://weir.example",
      namespace: "shop",
      functions: {
        hello: { image: "ghcr.io/acme/hello:1", envVars: { GREETING: "hi you", RAW: "${NOT}" } },
      },
    });
    expect(environments).toEqual({});
  });

  test("is found above, and its sentences name it from there", async () => {
    const { directory, file } = await read(functions("  a: { image: x }"), { files: { "a/b/": "" }, from: "a/b" });
    expect(file).toBe(join(directory, "weir.yaml"));
    expect(await problems("version: 2\nfunctions: {}\n", { files: { "a/b/": "" }, from: "a/b" })).toEqual([
      '../../weir.yaml:1:10: Cannot read version: expected 1, got "2"',
      "../../weir.yaml:2:12: Cannot read functions: it is empty",
    ]);
  });

  test("that is nowhere is said so, with the command that makes one", async () => {
    await using temp = await tempDirectory("project");
    await expect(readProject({ directory: temp.path, environment: {} })).rejects.toMatchObject({
      exit: 2,
      message: 'Cannot find "weir.yaml": it is neither here nor above',
      hint: "weir init",
    });
  });

  test.each([
    ["settings of the platform", "port: 8080\nedition: pro\n"],
    ["nothing", ""],
    ["a comment", "# functions:\n"],
    ["a list", "- functions\n"],
    ["a text", "functions\n"],
  ])("with %s in it has no functions", async (_name, yaml) => {
    expect(await problems(yaml)).toEqual([
      'Cannot read "weir.yaml": it has no "functions"; settings of the platform are given with --config',
    ]);
  });

  test("has all its problems reported at once, in their order, each with the nearest key", async () => {
    const yaml = [
      "gateway: [x]",
      "nmespace: shop",
      "functions:",
      "  hello:",
      "    imgae: x",
      "    folder: ./gone",
      "    limit: { memory: 128Mi }",
      "    limits: { memory: 12 MB, cpu: 2, disk: 1Gi }",
      "    requests:",
      "    labels:",
      "      com.service.scale.mim: '1'",
      "      com.service.scale.max: '0'",
      "      com.service.retry.attempts: '3'",
      "      team: a b",
      "    annotations:",
      "      com.service.timeout: soon",
      "      com.service.publish.on-done: all",
      "      com.openfaas.unknown: kept",
      "      com.service.zzz: x",
      "    envVars: { A-B: ok, 1A: no, C: true }",
      "    secrets: [key, key, Key]",
      "    readOnlyRootFilesystem: yes",
      "    run: { process: '', prepare: npm ci, build: x }",
      "    build: { tag: -x, registry: 'https://x', platforms: [linux], args: { A: 1 } }",
      "  Bad_Name: { image: x }",
      "  none: {}",
      "  hello: { image: x }",
      "version: '1'",
    ].join("\n");
    const name = 'only a to z, 0 to 9 and "-" inside are allowed, at most 63 characters';
    expect(await problems(yaml)).toEqual([
      "weir.yaml:1:10: Cannot read gateway: expected text, got a list",
      "weir.yaml:2:1: Cannot read nmespace: no such key; did you mean namespace?",
      "weir.yaml:5:5: Cannot read functions.hello.imgae: no such key; did you mean image?",
      'weir.yaml:6:13: Cannot read functions.hello.folder: "./gone": it is not there',
      "weir.yaml:7:5: Cannot read functions.hello.limit: no such key; did you mean limits?",
      'weir.yaml:8:23: Cannot read functions.hello.limits.memory: expected a quantity such as 128Mi or 500m, got "12 MB"',
      "weir.yaml:8:35: Cannot read functions.hello.limits.cpu: expected text; put 2 in quotes",
      "weir.yaml:8:38: Cannot read functions.hello.limits.disk: the key does not fit: expected memory, cpu or a device such as nvidia.com/gpu",
      "weir.yaml:9:14: Cannot read functions.hello.requests: it is empty; write a value, or leave the key out",
      "weir.yaml:11:7: Cannot read functions.hello.labels.com.service.scale.mim: no such label; did you mean com.service.scale.min?",
      'weir.yaml:12:30: Cannot read functions.hello.labels.com.service.scale.max: expected a whole number from 1 to 1000, got "0"',
      "weir.yaml:13:7: Cannot read functions.hello.labels.com.service.retry.attempts: it belongs to annotations",
      'weir.yaml:14:13: Cannot read functions.hello.labels.team: expected at most 63 letters, digits, "-", "_" or ".", with a letter or digit at both ends, got "a b"',
      'weir.yaml:16:28: Cannot read functions.hello.annotations.com.service.timeout: expected a duration from 100ms to 24h, got "soon"',
      "weir.yaml:19:7: Cannot read functions.hello.annotations.com.service.zzz: no such annotation",
      'weir.yaml:20:25: Cannot read functions.hello.envVars.1A: the key does not fit: expected letters, digits, "_", "." and "-", beginning with a letter or "_"',
      "weir.yaml:20:36: Cannot read functions.hello.envVars.C: expected text; put true in quotes",
      "weir.yaml:21:20: Cannot read functions.hello.secrets[1]: it comes twice",
      'weir.yaml:21:25: Cannot read functions.hello.secrets[2]: expected the name of a secret: labels of a to z, 0 to 9 and "-" joined by ".", at most 253 characters, got "Key"',
      'weir.yaml:22:29: Cannot read functions.hello.readOnlyRootFilesystem: expected true or false, got "yes"',
      "weir.yaml:23:21: Cannot read functions.hello.run.process: it is empty",
      'weir.yaml:23:34: Cannot read functions.hello.run.prepare: expected a list, got "npm ci"',
      "weir.yaml:23:42: Cannot read functions.hello.run.build: no such key",
      'weir.yaml:24:19: Cannot read functions.hello.build.tag: expected a tag of letters, digits, "_", "-" and ".", not beginning with "-" or ".", got "-x"',
      'weir.yaml:24:33: Cannot read functions.hello.build.registry: expected a registry and path without a scheme, as in ghcr.io/acme, got "https://x"',
      'weir.yaml:24:58: Cannot read functions.hello.build.platforms[0]: expected a platform such as linux/amd64, got "linux"',
      "weir.yaml:24:77: Cannot read functions.hello.build.args.A: expected text; put 1 in quotes",
      `weir.yaml:25:3: Cannot read functions.Bad_Name: the key does not fit: expected a name: ${name}`,
      "weir.yaml:26:9: Cannot read functions.none: it needs one of image, folder, build",
      "weir.yaml:27:3: Cannot read functions.hello: it comes twice",
      'weir.yaml:28:10: Cannot read version: expected 1, got "1"',
    ]);
  });

  test("may have the keys of the OpenFaaS family; with both, only ours counts", async () => {
    const labels = (...lines: readonly string[]): string =>
      functions(`  a:\n    image: x\n    labels:\n${lines.map((line) => `      ${line}\n`).join("")}`);
    const theirs = "com.openfaas.scale.min: many";
    expect(await problems(labels(theirs))).toEqual([
      'weir.yaml:6:31: Cannot read functions.a.labels.com.openfaas.scale.min: expected a whole number from 1 to 1000, got "many"',
    ]);
    await expect(read(labels(theirs, "com.service.scale.min: '1'"))).resolves.toBeDefined();
  });

  test("with more than 100 problems shows the first ones and counts the others", async () => {
    const many = Array.from({ length: 130 }, (_, index) => `  f${index}: { imagine: x }\n`).join("");
    const lines = await problems(functions(many));
    expect(lines).toHaveLength(101);
    expect(lines.at(-1)).toBe("… and 160 more");
  });

  test("whose variable is not set is refused at its place, and for no other reason", async () => {
    const yaml = functions(
      '  a:\n    image: ${IMAGE}\n    folder: "${FOLDER-x}"\n    secrets: ["${A} ${B:-b}"]\n    x: 1',
    );
    expect(await problems(yaml)).toEqual([
      "weir.yaml:4:12: Cannot read functions.a.image: variable IMAGE is not set, in the environment or by --env-file",
      'weir.yaml:5:13: Cannot read functions.a.folder: "${FOLDER-x}" is neither ${NAME} nor ${NAME:-default}; a literal ${ is written $${',
      "weir.yaml:6:15: Cannot read functions.a.secrets[0]: variable A is not set, in the environment or by --env-file",
      "weir.yaml:7:5: Cannot read functions.a.x: no such key",
    ]);
  });

  test("takes no variable from the prototype of the environment", async () => {
    expect(await problems(functions("  a: { image: '${constructor}' }"))).toEqual([
      "weir.yaml:3:15: Cannot read functions.a.image: variable constructor is not set, in the environment or by --env-file",
    ]);
  });

  test("never shows values of envVars, of build.args and of variables", async () => {
    const yaml = functions(
      `  a:\n    image: "\${SECRET}"\n    envVars: { A: "s3cret\\0" }\n    build: { args: { B: "s3cret\\0" } }\n    labels: { com.service.scale.min: "\${SECRET}" }`,
    );
    const lines = await problems(yaml, { environment: { SECRET: "s3cret value" } });
    expect(lines).toHaveLength(5);
    expect(lines.join("\n")).not.toContain("s3cret");
  });
});

describe("--env-file", () => {
  const yaml = functions("  a: { image: 'x:${A}-${B}-${C}' }");

  test("sets what the environment does not; a later file wins", async () => {
    const { content } = await read(yaml, {
      files: { "one.env": "A=1\nB=1\nC=1\n", "two.env": "C=2\n" },
      environmentFiles: ["one.env", "two.env"],
      environment: { A: "0" },
    });
    expect(content.functions["a"]?.image).toBe("x:0-1-2");
  });

  test.each([
    ["is not there", { "b.env": "" }, 'Cannot read "a.env": it is not there'],
    [
      "has other lines",
      { "a.env": "A=1\nB\nexport C=1" },
      'Cannot read "a.env": line 2 is not KEY=value; line 3 is not KEY=value',
    ],
    ["is a folder", { "a.env/": "" }, 'Cannot read "a.env": it is not a file'],
  ])("that %s is refused", async (_name, files, sentence) => {
    expect(await problems(yaml, { files, environmentFiles: ["a.env"] })).toEqual([sentence]);
  });
});

describe("environmentFiles", () => {
  test("are read by function", async () => {
    const yaml = functions("  a: { image: x, environmentFiles: [1.env, sub/2.env] }\n  b: { image: x }");
    const { environments } = await read(yaml, { files: { "1.env": "A=1\nB=1", "sub/2.env": "B=2\n__proto__=3" } });
    expect(Object.keys(environments)).toEqual(["a"]);
    expect(Object.entries(environments["a"] ?? {})).toEqual([
      ["A", "1"],
      ["B", "2"],
      ["__proto__", "3"],
    ]);
  });

  test("that cannot be read are problems at their place", async () => {
    const yaml = functions("  a: { image: x, environmentFiles: [gone.env, ../out.env, bad.env, sub, big.env] }");
    const files = { "../out.env": "A=1", "bad.env": "A=1\n=2\n", "sub/": "", "big.env": `A=${"x".repeat(262_144)}` };
    const at = "Cannot read functions.a.environmentFiles";
    expect(await problems(yaml, { files })).toEqual([
      `weir.yaml:3:37: ${at}[0]: "gone.env": it is not there`,
      `weir.yaml:3:47: ${at}[1]: "../out.env": it leads out of the project`,
      `weir.yaml:3:59: ${at}[2]: "bad.env": line 2 is not KEY=value`,
      `weir.yaml:3:68: ${at}[3]: "sub": it is not a file`,
      `weir.yaml:3:73: ${at}[4]: "big.env": it is over the limit of 262144 bytes`,
    ]);
  });
});

describe("folders", () => {
  test("inside the project may be reached by a link inside it", async () => {
    const yaml = functions("  a: { folder: here/../link, build: { context: ., dockerfile: link/Dockerfile } }");
    const { content } = await read(yaml, { files: { "sub/Dockerfile": "FROM x", link: "-> sub" } });
    expect(content.functions["a"]?.folder).toBe("here/../link");
  });

  test.each([
    ["/etc", '"/etc": a path must be relative to weir.yaml'],
    ["..", '"..": it leads out of the project'],
    ["sub/../../project", '"sub/../../project": it leads out of the project'],
    ["out", '"out": its symbolic link leads out of the project'],
    ["out/inner", '"out/inner": its symbolic link leads out of the project'],
    ["circle", '"circle": its links lead in a circle'],
    ["file", '"file": it is not a directory'],
    ["file/x", '"file/x": it is not there'],
    ["..hidden", undefined],
    [".", undefined],
  ])("%s", async (folder, state) => {
    const files = {
      "../project-outside/inner/": "",
      "..hidden/": "",
      file: "",
      out: "-> ../project-outside",
      circle: "-> circle",
    };
    const yaml = functions(`  a: { folder: "${folder}" }`);
    if (state === undefined) await expect(read(yaml, { files })).resolves.toMatchObject({ environments: {} });
    else expect(await problems(yaml, { files })).toEqual([`weir.yaml:3:16: Cannot read functions.a.folder: ${state}`]);
  });

  test("a Dockerfile lies in the context, else in the folder", async () => {
    const files = { "sub/One": "", "ctx/Two": "" };
    const yaml = (build: string): string => functions(`  a: { folder: sub, build: { ${build} } }`);
    await expect(read(yaml("dockerfile: One"), { files })).resolves.toBeDefined();
    await expect(read(yaml("context: ctx, dockerfile: Two"), { files })).resolves.toBeDefined();
    expect(await problems(yaml("context: ctx, dockerfile: One"), { files })).toEqual([
      'weir.yaml:3:56: Cannot read functions.a.build.dockerfile: "One": it is not there',
    ]);
    expect(await problems(yaml("dockerfile: ../../One"), { files })).toEqual([
      'weir.yaml:3:42: Cannot read functions.a.build.dockerfile: "../../One": it leads out of the project',
    ]);
  });
});

describe("a hostile weir.yaml", () => {
  test("of 5 MB is refused within 300 ms", async () => {
    await using temp = await tempDirectory("project");
    await writeFile(join(temp.path, "weir.yaml"), functions("  a: { image: x }\n".repeat(300_000)));
    const before = process.cpuUsage();
    await expect(readProject({ directory: temp.path, environment: {} })).rejects.toMatchObject({
      exit: 2,
      message: 'Cannot read "weir.yaml": it is over the limit of 262144 bytes',
    });
    const { user, system } = process.cpuUsage(before);
    expect(user + system).toBeLessThan(300_000);
  });

  test("with escapes and marks that turn text around shows them as text", async () => {
    const lines = await problems(functions('  a: { image: "\\e[31m", "k\\u202e\\n": 1 }'));
    expect(lines).toEqual([
      'weir.yaml:3:15: Cannot read functions.a.image: expected an image reference without scheme, blank or leading "-", got "\\u001b[31m"',
      "weir.yaml:3:25: Cannot read functions.a.k\\u202e\\n: no such key",
    ]);
  });

  test("that is a pipe without a writer is refused", async () => {
    await using temp = await tempDirectory("project");
    await promisify(execFile)("mkfifo", [join(temp.path, "weir.yaml")]);
    await expect(readProject({ directory: temp.path, environment: {} })).rejects.toThrow(
      'Cannot read "weir.yaml": it is not a file',
    );
  });

  test("that is not UTF-8 is refused", async () => {
    await using temp = await tempDirectory("project");
    await writeFile(join(temp.path, "weir.yaml"), Uint8Array.of(0x61, 0xff));
    await expect(readProject({ directory: temp.path, environment: {} })).rejects.toThrow(
      'Cannot read "weir.yaml": it is not UTF-8',
    );
  });
});
