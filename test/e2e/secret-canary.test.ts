import { randomBytes, randomUUID } from "node:crypto";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";

import { afterAll, beforeAll, expect, test } from "vitest";

import { pathsOf, restRoutes } from "../../runtime/gateway/rest/route-table.ts";
import { eventually } from "../support/eventually.ts";
import { tempDirectory, type TempDirectory } from "../support/temp-directory.ts";
import { startWeir, type WeirProcess } from "../support/weir-process.ts";
import { textOfBody } from "../support/text-of-body.ts";

/** `security.md` §6: a value goes in and never comes out, in anything the platform sends, stores or starts. */
let data: TempDirectory;
let weir: WeirProcess;

beforeAll(async () => {
  data = await tempDirectory("canary");
  weir = await startWeir({
    data: data.path,
    flags: [
      "--edition",
      "pro",
      "--shutdown-delay",
      "0s",
      "--log-level",
      "trace",
      "--retry-attempts",
      "0",
      "--wake-timeout",
      "2s",
    ],
  });
});
afterAll(async () => {
  await weir?.stop();
  await data?.remove();
});

const text = `canary-${randomUUID()}`;
const binary = randomBytes(48);
const values = [text, `${text}-replaced`, `${text}-refused`];

/** Each value in every form in which it could leak. */
const forms: readonly Buffer[] = [...values.map((value) => Buffer.from(value)), binary].flatMap((bytes) => [
  bytes,
  // Without the end, which depends on what follows.
  Buffer.from(bytes.toString("base64").slice(0, 40)),
  Buffer.from(bytes.toString("base64url").slice(0, 40)),
  Buffer.from(bytes.toString("hex")),
  Buffer.from(JSON.stringify(bytes.toJSON().data).slice(0, -1)),
]);
const isIn = (place: Uint8Array | string): boolean => forms.some((form) => Buffer.from(place).includes(form));

/** All responses, to be searched. */
const responses: string[] = [];

async function ask(
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<Response> {
  const response = await fetch((path.startsWith("http") ? "" : weir.url) + path, {
    method,
    redirect: "manual",
    headers: { authorization: weir.authorization, ...headers },
    ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
  });
  // Of a stream there is one reader: a copy would wait for the other one.
  const isStream = response.headers.get("content-type") === "text/event-stream";
  const content = await textOfBody(isStream ? response : response.clone());
  responses.push(`${method} ${path}: ${response.status} ${JSON.stringify([...response.headers])} ${content}`);
  return response;
}

/** Creates two secrets, replaces one, and deploys functions that use them, fail with them, and crash. */
async function useSecrets(): Promise<void> {
  expect((await ask("POST", "/system/secrets", { name: "text", value: values[0] })).status).toBe(201);
  expect((await ask("PUT", "/system/secrets", { name: "text", value: values[1] })).status).toBe(202);
  const rawValue = binary.toString("base64");
  expect((await ask("POST", "/system/secrets", { name: "binary", rawValue })).status).toBe(201);
  const uses = `sh -c 'test "$(cat "$SERVICE_SECRETS_DIR/text")" = "$(printf %s "$(cat)")" && echo same'`;
  const functions = [
    { service: "uses", image: "none", envProcess: uses, secrets: ["text", "binary"] },
    { service: "fails", image: "none", envProcess: "sh -c 'exit 3'", secrets: ["text"] },
    { service: "crashes", image: "none", envProcess: "no-such-program", secrets: ["text"], envVars: { mode: "http" } },
  ];
  for (const each of functions) expect((await ask("PUT", "/system/functions", each)).status).toBe(202);
}

/** Sends requests that contain the value and are refused. */
async function beRefused(): Promise<void> {
  const [, , value = ""] = values;
  const rawValue = Buffer.from(value).toString("base64");
  const bodies: readonly unknown[] = [
    { name: "text", value },
    { name: "a/b", value },
    { name: "x", rawValue: `%%${rawValue}` },
    { name: "x", value: [value] },
    { name: "x", value: { [value]: value } },
    { name: "x", value: value.repeat(30_000) },
    { name: "x", value, namespace: "nowhere" },
    { name: "x", value, namespace: "kube-system" },
    { value },
    `{"name":"x","value":"${value}`,
    `{"name":"x","value":"${value}","value":"${value}"}`,
    `{"name":"x","value":${value}}`,
    `["${value}"]`,
    `"${value}"`,
  ];
  for (const body of bodies) {
    for (const method of ["POST", "PUT"]) {
      for (const accept of ["*/*", "application/json"]) {
        const { status } = await ask(method, "/system/secrets", body, { accept });
        const accepted = method === "PUT" && body === bodies[0];
        const shown = JSON.stringify(body).slice(0, 200);
        if (accepted) expect(status, shown).toBe(202);
        else expect(status, shown).toBeGreaterThanOrEqual(400);
      }
    }
  }
  await ask("PUT", "/system/secrets", { name: "text", value: values[1] });
}

/** Reads everything that the REST API and the admin port serve. */
async function readAll(): Promise<void> {
  const targets = restRoutes(false)
    .filter(({ method }) => method === "GET")
    .flatMap(pathsOf)
    .flatMap((path) =>
      path.includes(":name") ? ["uses", "fails", "crashes"].map((name) => path.replace(":name", name)) : path,
    )
    .map((path) => path.replace(":namespace", "functions").replace(":queue", "default").replace("*", ""));
  for (const target of targets) {
    await ask("GET", target === "/system/logs" ? "/system/logs?name=uses" : `${target}?usage=1`);
    await ask("GET", target, undefined, { authorization: "", accept: "application/json" });
  }
  for (const name of ["fails", "crashes"]) await ask("GET", `/system/logs?name=${name}`);
  for (const path of ["metrics", "readyz", "livez", "healthz"]) await ask("GET", `${weir.adminUrl}/${path}`);
}

/** Queues calls that succeed and fail, and reads their records and results. */
async function queueCalls(): Promise<void> {
  for (const name of ["uses", "fails", "crashes"]) {
    const accepted = await ask("POST", `/async-function/${name}`, "not the value");
    const id = accepted.headers.get("x-call-id") ?? "";
    await eventually(
      async () => {
        const { state } = (await (await ask("GET", `/async-function/${id}?wait=5s`)).json()) as { state: string };
        return ["done", "failed"].includes(state);
      },
      { what: `the call of ${name} to end` },
    );
    await ask("GET", `/async-function/${id}/result`);
  }
}

/** Files below `directory` with what is in them, except those of the secrets themselves. */
function filesIn(directory: string): (readonly [path: string, content: Buffer])[] {
  return readdirSync(directory, { recursive: true, encoding: "utf8" })
    .map((name) => join(directory, name))
    .filter((path) => !path.split("/").includes("secrets"))
    .filter((path) => statSync(path, { throwIfNoEntry: false })?.isFile() === true)
    .flatMap((path) => {
      const content = readIfThere(path);
      return content === undefined ? [] : [[path, content] as const];
    });
}

test("a secret's value is in no response, log, record, file, argument or environment", async () => {
  await useSecrets();
  await eventually(async () => (await (await ask("POST", "/function/uses", values[1])).text()) === "same\n", {
    what: "the function to find its secret",
  });
  // That call sent the value to the function in its body, which the platform does not treat as secret.
  await beRefused();
  await queueCalls();
  await readAll();
  const processes = weir.below().map(({ pid }) => pid);

  expect(responses.length).toBeGreaterThan(80);
  expect(responses.filter(isIn)).toEqual([]);
  expect(weir.output().length).toBeGreaterThan(1_000);
  expect(weir.output().split("\n").filter(isIn)).toEqual([]);
  for (const pid of [weir.pid, ...processes]) {
    for (const kind of ["environ", "cmdline"]) {
      const facts = readIfThere(`/proc/${pid}/${kind}`) ?? Buffer.alloc(0);
      expect(isIn(facts), `${kind} of ${facts.toString("latin1").slice(0, 200)}`).toBe(false);
    }
  }
  const files = filesIn(data.path);
  expect(files.some(([path]) => path.endsWith(".blk"))).toBe(true);
  expect(files.filter(([, content]) => isIn(content)).map(([path]) => path)).toEqual([]);
});

/** Undefined if the process has ended, or a file is gone: those of a replica that fails go while others are read. */
function readIfThere(path: string): Buffer | undefined {
  try {
    return readFileSync(path);
  } catch (err) {
    if (["ENOENT", "ESRCH"].includes((err as NodeJS.ErrnoException).code ?? "")) return undefined;
    throw err;
  }
}
