import { existsSync } from "node:fs";
import { join } from "node:path";

import { afterEach, beforeEach, expect, test } from "vitest";

import { eventually } from "../support/eventually.ts";
import { tempDirectory, type TempDirectory } from "../support/temp-directory.ts";
import { startWeir, type WeirProcess } from "../support/weir-process.ts";

let data: TempDirectory;
let weir: WeirProcess;

const start = (edition: string): Promise<WeirProcess> =>
  startWeir({ data: data.path, flags: ["--provider", "local", "--edition", edition, "--shutdown-delay", "0s"] });

beforeEach(async () => {
  data = await tempDirectory("namespaces");
  weir = await start("pro");
});
afterEach(async () => {
  await weir?.stop();
  await data.remove();
});

async function system(method: string, path: string, body?: unknown): Promise<{ status: number; text: string }> {
  const response = await fetch(`${weir.url}/system/${path}`, {
    method,
    headers: { authorization: weir.authorization },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: response.status, text: await response.text() };
}
const change = async (method: string, path: string, body?: unknown): Promise<number> =>
  (await system(method, path, body)).status;

const call = async (key: string): Promise<string> => {
  const response = await fetch(`${weir.url}/function/${key}`, { method: "POST" });
  return response.status === 200 ? await response.text() : String(response.status);
};
const replies = (key: string, expected: string) =>
  eventually(async () => (await call(key)) === expected, { what: `${key} to reply ${expected}` });

/** Deploys a function to the default namespace and to `dev`, each with a secret of the same name. */
async function deployBoth(): Promise<void> {
  expect(await change("POST", "namespace", { name: "dev" })).toBe(201);
  for (const namespace of ["functions", "dev"]) {
    expect(await change("POST", "secrets", { name: "key", value: namespace, namespace })).toBe(201);
    const hello = {
      service: "hello",
      namespace,
      image: "none",
      envProcess: `sh -c 'echo "$SERVICE_NAMESPACE $(cat "$SERVICE_SECRETS_DIR/key")"'`,
      secrets: ["key"],
    };
    expect(await change("PUT", "functions", hello)).toBe(202);
  }
  await replies("hello", "functions functions\n");
  await replies("hello.dev", "dev dev\n");
}
const directories = (): string[] => ["secrets", "logs"].map((kind) => join(data.path, kind, "dev")).filter(existsSync);
const nameIsFree = () =>
  eventually(async () => (await change("POST", "namespace", { name: "dev" })) === 201, {
    what: "the name to be free",
  });

test("two namespaces work side by side, also after a restart, and a deleted one leaves nothing", async () => {
  await deployBoth();
  const running = weir.below().filter(({ command }) => command.includes("watchdog")).length;
  expect(running).toBe(2);
  await weir.stop();
  weir = await start("pro");
  await replies("hello.dev", "dev dev\n");
  await replies("hello", "functions functions\n");

  expect(await change("DELETE", "namespace/dev")).toBe(202);
  expect(await call("hello.dev")).toBe("404");
  expect(await change("POST", "namespace", { name: "dev" })).toBe(409);
  await nameIsFree();
  expect(directories()).toEqual([]);
  expect(weir.below().filter(({ command }) => command.includes("watchdog"))).toHaveLength(1);
  expect(JSON.parse((await system("GET", "secrets?namespace=dev")).text)).toEqual([]);
  expect(await call("hello")).toBe("functions functions\n");
});

test.each([20, 300])("killed %i ms after the deletion, the next start finishes it", async (delay) => {
  await deployBoth();
  expect(await change("DELETE", "namespace/dev")).toBe(202);
  const until = performance.now() + delay;
  await eventually(() => performance.now() >= until, { what: "the moment", every: 1 });
  await weir.kill();
  const killed = weir;
  weir = await start("pro");
  await killed.close();

  expect(await call("hello.dev")).toBe("404");
  await nameIsFree();
  expect(directories()).toEqual([]);
  expect(JSON.parse((await system("GET", "functions?namespace=dev")).text)).toEqual([]);
  await replies("hello", "functions functions\n");
});

test("reopened in an edition with one namespace, it serves that one and names the edition of the others", async () => {
  await deployBoth();
  await weir.stop();
  weir = await start("community");
  await replies("hello", "functions functions\n");

  expect(await call("hello.dev")).toBe("404");
  const refused = await system("GET", "functions?namespace=dev");
  expect(refused).toEqual({
    status: 403,
    text: 'Cannot use namespace "dev": edition "community" has only "functions", more need edition "pro"\n',
  });
  expect(await change("DELETE", "namespace/dev")).toBe(403);
  await weir.stop();
  weir = await start("pro");
  await replies("hello.dev", "dev dev\n");
});
