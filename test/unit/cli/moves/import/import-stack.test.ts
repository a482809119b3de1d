import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { parse } from "yaml";
import { describe, expect, test } from "vitest";

import { importFiles } from "../../../../../runtime/cli/moves/import/import-files.ts";
import type { MoveRow } from "../../../../../runtime/cli/moves/report/move-report.ts";
import { importSample, importText } from "../../../../support/import-samples.ts";
import { tempDirectory } from "../../../../support/temp-directory.ts";

interface Written {
  readonly functions: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

const functionOf = async (name: string, sample: string): Promise<Readonly<Record<string, unknown>>> =>
  (parse((await importSample(sample)).project ?? "") as Written).functions[name] ?? {};

const rowOf = (rows: readonly MoveRow[], field: string): MoveRow | undefined => rows.find((row) => row.field === field);

test("a function with a Dockerfile keeps all that weir.yaml has", async () => {
  const { project, files, secrets, rows } = await importSample("stack-dockerfile.yml");
  expect(parse(project ?? "")).toEqual({
    version: 1,
    functions: {
      invoice: {
        image: "ghcr.io/acme/invoice:1.4.0",
        namespace: "billing",
        envProcess: "./invoice --currency EUR",
        envVars: { write_debug: "true", exec_timeout: "30s", motto: "first line\nsecond line\n" },
        labels: { team: "billing", canary: "true" },
        annotations: { description: "Makes invoices as PDF" },
        secrets: ["smtp-password", "signing-key"],
        constraints: ["node.kubernetes.io/instance-type=c5.large"],
        limits: { memory: "256Mi", cpu: "500m", "nvidia.com/gpu": "1" },
        requests: { memory: "64Mi", cpu: "100m" },
        readOnlyRootFilesystem: true,
        folder: "invoice",
        environmentFiles: ["environment.env", "secret-settings.env"],
        build: {
          dockerfile: "Dockerfile",
          args: { GO_VERSION: "1.22", TESTS: "true" },
          platforms: ["linux/amd64", "linux/arm64"],
        },
      },
    },
  });
  expect(project).toContain("\n# gateway: http://127.0.0.1:8080\n");
  expect(files).toEqual([{ path: "environment.env", text: 'currency=EUR\nfooter=" Thank you "\n' }]);
  expect(secrets.map(({ command }) => command)).toEqual([
    "weir secrets create smtp-password -n billing --from-file FILE",
    "weir secrets create signing-key -n billing --from-file FILE",
  ]);
  expect(rowOf(rows, "functions.invoice.environment.currency")).toMatchObject({
    result: "translated",
    to: "nothing",
    note: "environment.yml sets it, too, and wins",
  });
});

test("what templates build is deployed by its image, and their fields are not supported", async () => {
  const { rows } = await importSample("stack-templates.yml");
  expect(await functionOf("thumbnail", "stack-templates.yml")).toEqual({
    image: "registry.example.com:5000/acme/thumbnail:latest",
  });
  for (const field of ["lang", "handler", "build_options", "build_args", "build_secrets", "platforms"])
    expect(rowOf(rows, `functions.thumbnail.${field}`)?.result, field).toBe("not supported");
  for (const field of ["configuration.templates", "configuration.copy"])
    expect(rowOf(rows, field)?.result).toBe("not supported");
});

test("references stay; others than weir.yaml reads are not supported", async () => {
  const { rows } = await importSample("stack-variables.yml");
  expect(await functionOf("bcrypt", "stack-variables.yml")).toEqual({
    image: "ghcr.io/${OWNER:-alexellis}/bcrypt:${TAG:-latest}",
    labels: {
      "com.openfaas.scale.min": "${MIN:-1}",
      "com.openfaas.git-owner": "${OWNER:-alexellis}",
      "com.openfaas.git-sha": "${TAG}",
    },
    annotations: { price: "$5" },
    envVars: { greeting: "${GREETING:-hello there}", token_url: "https://${HOST}/token" },
  });
  expect(rowOf(rows, "functions.bcrypt.environment.token_url")).toMatchObject({
    result: "translated",
    note: expect.stringContaining("HOST must be set"),
  });
  expect(rowOf(rows, "functions.bcrypt.annotations.upper-case")).toMatchObject({
    result: "not supported",
    why: expect.stringContaining("${OWNER^^}"),
  });
  expect(rowOf(rows, "functions.bcrypt.readonly_root_filesystem")?.result).toBe("not supported");
});

test("a default that a key of the platform refuses is not supported", async () => {
  const labels = (text: string): string => `functions: {a: {image: x, labels: {com.openfaas.scale.min: "${text}"}}}`;
  expect((await importText(labels("${MIN:-none}"))).rows.at(-1)).toMatchObject({ result: "not supported" });
  expect((await importText(labels("${MIN}"))).rows.at(-1)).toMatchObject({ result: "same" });
});

describe("keys of the platform", () => {
  test("with a value that Weir refuses are not supported", async () => {
    const { rows } = await importSample("stack-scaling.yml");
    const refused = rows.filter(({ result }) => result === "not supported").map(({ field }) => field);
    expect(refused).toEqual([
      "functions.latency.labels.com.openfaas.scale.type",
      "functions.latency.labels.com.openfaas.scale.max",
      "functions.latency.labels.com.service.scale.mim",
      "functions.latency.annotations.com.openfaas.health.http.periodSeconds",
      "functions.latency.annotations.com.openfaas.health.http.initialDelay",
    ]);
    expect(await functionOf("latency", "stack-scaling.yml")).toEqual({
      image: "ghcr.io/openfaas/nodeinfo:latest",
      labels: { "com.openfaas.scale.factor": "20" },
    });
  });

  test("get the other prefix if that is asked for, and others do not", async () => {
    const { project } = await importSample("stack-scaling.yml", true);
    const { sleep, latency } = (parse(project ?? "") as Written).functions;
    expect(Object.keys(sleep?.["labels"] ?? {}).every((key) => key.startsWith("com.service.scale."))).toBe(true);
    expect(sleep?.["annotations"]).toMatchObject({ "com.service.health.http.initialDelaySeconds": "30" });
    expect(latency?.["labels"]).toEqual({ "com.openfaas.scale.factor": "20" });
  });

  test("of both prefixes ours wins", async () => {
    const both = 'functions: {a: {image: x, labels: {com.openfaas.scale.min: "1", com.service.scale.min: "2"}}}';
    const { project, rows } = await importText(both, true);
    expect((parse(project ?? "") as Written).functions["a"]).toMatchObject({
      labels: { "com.service.scale.min": "2" },
    });
    expect(rowOf(rows, "functions.a.labels.com.openfaas.scale.min")).toMatchObject({ to: "nothing" });
  });
});

test("a function that asked for a token is not open afterwards", async () => {
  expect(await functionOf("figlet", "stack-events.yml")).toEqual({
    image: "ghcr.io/openfaas/figlet:latest",
    envVars: { color: "blue" },
    annotations: { "com.openfaas.concurrency.max": "4", "com.service.auth": "required" },
  });
  const open = "functions: {a: {image: x, environment: {jwt_auth: false}}}";
  expect((await importText(open)).project).not.toContain("auth");
});

test("a schedule is kept, and said not to be supported", async () => {
  const { rows } = await importSample("stack-events.yml");
  expect(await functionOf("nightly", "stack-events.yml")).toMatchObject({
    annotations: { topic: "cron-function", schedule: "0 3 * * *" },
  });
  expect(rowOf(rows, "functions.nightly.annotations.schedule")?.result).toBe("not supported");
  expect(rowOf(rows, "functions.payments.annotations.topic")?.result).toBe("same");
});

test.each([
  ["functions.resize.secrets[0]", "s3-access-key, in the function, too"],
  ["functions.resize.limits.memory", "40Mi"],
  ["functions.nothing", "image, or lang: dockerfile with handler"],
])("%s says what to do instead", async (field, instead) => {
  const { rows } = await importSample("stack-odd.yml");
  expect(rowOf(rows, field)).toMatchObject({ result: "not supported", instead });
});

test.each([
  ["functions.crop.enviroment", "did you mean environment?"],
  ["functions.Not_A_Name", "expected a name"],
  ["functions.second.skip_build", "expected true or false"],
  ["provider.network", "no such field"],
])("%s says why it is not supported", async (field, why) => {
  const { rows } = await importSample("stack-odd.yml");
  expect(rowOf(rows, field)).toMatchObject({ result: "not supported", why: expect.stringContaining(why) });
});

test.each([
  [
    "a field of weir.yaml",
    "envVars: {A: b}",
    "functions.a.envVars",
    "it is a field of weir.yaml, and of no stack file",
  ],
  ["a secret twice", "secrets: [key, key]", "functions.a.secrets[1]", "it is there twice"],
  ["a list for a map", "environment: [A]", "functions.a.environment", "expected a map"],
  ["a map for a text", "image: {A: b}", "functions.a.image", "expected an image reference"],
  ["a text for a list", "secrets: key", "functions.a.secrets", "expected a list"],
])("%s is not supported", async (_what, text, field, why) => {
  const { rows } = await importText(`functions: {a: {skip_build: true, ${text}}}`);
  expect(rowOf(rows, field)).toMatchObject({ result: "not supported", why: expect.stringContaining(why) });
});

test("what only holds anchors is no field, and their values are merged in", async () => {
  const { rows } = await importSample("stack-odd.yml");
  expect(rowOf(rows, "x-defaults")).toMatchObject({ result: "translated", to: "nothing" });
  expect(await functionOf("crop", "stack-odd.yml")).toEqual({ image: "acme/tools:7", limits: { cpu: "1" } });
});

describe("paths", () => {
  const stack = `
functions:
  a:
    lang: Dockerfile
    handler: ./a
    image: x
    environment: { mode: inline, other: kept }
    environment_file: [first.yml, second.yml, ../outside.yml]
`;

  const importFrom = async (directory: string, project: string) =>
    importFiles([{ file: "s.yml", text: stack, directory }], { directory: project, renameKeys: false });

  test("are relative to where weir.yaml is written", async () => {
    await using root = await tempDirectory("import");
    const inner = join(root.path, "inner");
    await mkdir(inner);
    const { project } = await importFrom(inner, root.path);
    expect((parse(project ?? "") as Written).functions["a"]).toMatchObject({
      folder: "inner/a",
      environmentFiles: ["inner/first.env", "inner/second.env", "outside.env"],
    });
  });

  test("that are not below it are not supported, and nothing is built of half a description", async () => {
    await using root = await tempDirectory("import");
    const { project, rows } = await importFrom(root.path, join(root.path, "inner"));
    expect((parse(project ?? "") as Written).functions["a"]).toEqual({
      image: "x",
      envVars: { mode: "inline", other: "kept" },
    });
    for (const field of ["lang", "handler", "environment_file[0]"])
      expect(rowOf(rows, `functions.a.${field}`)?.result, field).toBe("not supported");
  });

  test("of environment files: the last one wins over all, and a token is asked for", async () => {
    await using root = await tempDirectory("import");
    await writeFile(join(root.path, "first.yml"), "environment: {mode: first, jwt_auth: true}");
    await writeFile(join(root.path, "second.yml"), 'environment: {mode: "second\\nline", quoted: "\'x\'"}');
    const { project, files } = await importFrom(root.path, root.path);
    expect(files).toEqual([
      { path: "first.env", text: "mode=first\n" },
      { path: "second.env", text: "quoted=\"'x'\"\n" },
    ]);
    expect((parse(project ?? "") as Written).functions["a"]).toMatchObject({
      envVars: { other: "kept", mode: "second\nline" },
      annotations: { "com.service.auth": "required" },
      environmentFiles: ["first.env", "second.env"],
    });
  });
});

describe("times of a function", () => {
  const imported = async (environment: string, annotations = "") =>
    importText(
      `functions:\n  a:\n    image: x\n    environment: {${environment}}\n    annotations: {${annotations}}\n`,
    );

  test.each([
    ["exec_timeout: 5m, read_timeout: 5m, write_timeout: 5m", "5m"],
    ["write_timeout: 90", "1m30s"],
    ["exec_timeout: 1h30m, read_timeout: 10s", "1h30m"],
    ['exec_timeout: "${LIMIT:-45s}"', "45s"],
    ["exec_timeout: 30s, write_timeout: 30s", undefined],
    ["exec_timeout: 0s", undefined],
    ['exec_timeout: "${LIMIT}"', undefined],
  ])("{%s}: a call may take %s", async (environment, timeout) => {
    const { project } = await imported(environment);
    const { annotations } = (parse(project ?? "") as Written).functions["a"] ?? {};
    expect(annotations ?? {}).toEqual(timeout === undefined ? {} : { "com.service.timeout": timeout });
  });

  test("of a file of variables count, too, and those of an object", async () => {
    await using directory = await tempDirectory("import-times");
    await writeFile(join(directory.path, "env.yml"), "environment:\n  exec_timeout: 2m\n");
    const text = "functions: {a: {image: x, environment_file: [env.yml], environment: {exec_timeout: 10s}}}";
    const input = { file: "stack.yml", text, directory: directory.path };
    const { project } = await importFiles([input], { directory: directory.path, renameKeys: false });
    expect(project).toContain("com.service.timeout: 2m");
    const object =
      "apiVersion: openfaas.com/v1\nkind: Function\nmetadata: {name: a}\nspec: {image: x, environment: {exec_timeout: 2m}}";
    expect((await importText(object)).manifests).toContain("com.service.timeout: 2m");
  });

  test("an annotation that is there wins, and one that is too short is said", async () => {
    const { project, rows } = await imported("exec_timeout: 5m", "com.service.timeout: 1m");
    expect(project).toContain("com.service.timeout: 1m");
    expect(rowOf(rows, "functions.a.environment.exec_timeout")).toMatchObject({
      result: "not supported",
      why: "5m is above com.service.timeout, 1m: raise it",
    });
  });

  test("beyond what a gateway allows by default, or that Weir cannot read, are said", async () => {
    const { rows } = await imported("exec_timeout: 3h, write_timeout: 10us");
    expect(rowOf(rows, "functions.a.environment.exec_timeout")).toMatchObject({
      result: "not supported",
      why: "the gateway's timeout_max must be 3h or more; its default is 1h",
    });
    expect(rowOf(rows, "functions.a.environment.write_timeout")).toMatchObject({ result: "not supported" });
  });
});

test("a mode that Weir's own watchdog does not have is said", async () => {
  const rowsOf = async (mode: string): Promise<MoveRow | undefined> => {
    const { rows } = await importText(`functions: {a: {image: x, environment: {mode: ${mode}}}}`);
    return rowOf(rows, "functions.a.environment.mode");
  };
  expect(await rowsOf("static")).toMatchObject({ note: expect.stringContaining("process") });
  expect(await rowsOf("streaming")).not.toHaveProperty("note");
});

test("an empty text is absent", async () => {
  const { project, rows } = await importText(
    'functions: {a: {image: x, namespace: "", limits: {cpu: "", memory: 1Gi}, labels: {com.openfaas.scale.min: "", team: ""}}}',
  );
  expect(parse(project ?? "")).toEqual({
    version: 1,
    functions: { a: { image: "x", limits: { memory: "1Gi" }, labels: { team: "" } } },
  });
  expect(rows.filter(({ result }) => result === "not supported")).toEqual([]);
});
