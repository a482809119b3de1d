import { describe, expect, test } from "vitest";

import type { FunctionDeployment } from "../../../../runtime/api/schemas/function-deployment.ts";
import { checkDeployment } from "../../../../runtime/core/functions/check-deployment.ts";
import {
  checkLocalFolder,
  localFolder,
  needsLoopback,
  refuseLocalFolder,
} from "../../../../runtime/core/functions/local-folder.ts";

const hello: FunctionDeployment = { service: "hello", image: "local/hello:1" };
const folder = "com.service.local.folder";
const prepare = "com.service.local.prepare";
const inFolder = { ...hello, annotations: { [folder]: "/srv/hello" } };
const badRequest = (message: string) => expect.objectContaining({ code: "validation_failed", message });

describe("localFolder()", () => {
  test.each<[Record<string, string>, ReturnType<typeof localFolder>]>([
    [{}, undefined],
    [{ [folder]: "/srv/hello" }, { path: "/srv/hello", prepare: [] }],
    [{ "com.openfaas.local.folder": "/a b/é" }, { path: "/a b/é", prepare: [] }],
    [
      { [folder]: "/srv", [prepare]: ' ["npm ci", "node -e \'1 + 1\'"] ' },
      { path: "/srv", prepare: ["npm ci", "node -e '1 + 1'"] },
    ],
    [
      { [folder]: "/srv", [prepare]: "[]" },
      { path: "/srv", prepare: [] },
    ],
  ])("%j", (annotations, expected) => {
    expect(localFolder(annotations)).toEqual(expected);
    expect(() => checkDeployment({ ...hello, annotations })).not.toThrow();
  });

  const aPath = "expected the absolute path of a folder on this machine";
  const commands = 'expected a JSON array of commands such as ["npm ci"]';
  test.each<[Record<string, string>, string]>([
    [{ [folder]: "srv" }, `Cannot read annotation "${folder}": ${aPath}, got "srv"`],
    [{ [folder]: "" }, `Cannot read annotation "${folder}": ${aPath}, got ""`],
    [{ [folder]: "/a\nb" }, `Cannot read annotation "${folder}": ${aPath}, got "/a\\nb"`],
    [{ [folder]: `/${"x".repeat(4_096)}` }, `Cannot read annotation "${folder}": ${aPath}, got "/${"x".repeat(63)}…"`],
    ...["npm ci", "", "{}", '["npm ci"', '["npm ci", 1]', '[" "]', '["a\\u0000"]', "[[]]"].map(
      (text): [Record<string, string>, string] => [
        { [folder]: "/srv", [prepare]: text },
        `Cannot read annotation "${prepare}": ${commands}, got ${JSON.stringify(text)}`,
      ],
    ),
    [{ [prepare]: "[]" }, `Cannot read annotation "${prepare}": it needs ${folder}`],
    [{ "com.openfaas.local.prepare": "[]" }, `Cannot read annotation "com.openfaas.local.prepare": it needs ${folder}`],
  ])("%j is refused", (annotations, message) => {
    expect(() => checkDeployment({ ...hello, annotations })).toThrow(badRequest(message));
  });
});

describe("providers other than local", () => {
  const sentence = `Cannot deploy function "hello": ${folder} needs provider "local" and a Weir on the machine of the folder; build an image instead`;

  test("refuse a folder, and nothing else", async () => {
    expect(() => refuseLocalFolder(inFolder)).toThrow(badRequest(sentence));
    expect(() => refuseLocalFolder(hello)).not.toThrow();
    await expect(checkLocalFolder(inFolder, undefined)).rejects.toEqual(badRequest(sentence));
    await checkLocalFolder(hello, undefined);
  });
});

test("provider local says what is wrong with a folder", async () => {
  const asked: string[] = [];
  const fault = (path: string): Promise<string | undefined> => {
    asked.push(path);
    return Promise.resolve(path === "/srv/hello" ? "it does not exist" : undefined);
  };
  const message = 'Cannot deploy function "hello": it does not exist';
  await expect(checkLocalFolder(inFolder, fault)).rejects.toEqual(badRequest(message));
  await checkLocalFolder({ ...hello, annotations: { [folder]: "/srv/other" } }, fault);
  await checkLocalFolder(hello, fault);
  expect(asked).toEqual(["/srv/hello", "/srv/other"]);
});

test("a gateway that other machines can reach says how to start one that takes folders", async () => {
  const message = `Cannot deploy function "hello": ${folder} needs a gateway that only this machine can reach; start it without --host`;
  await expect(checkLocalFolder(inFolder, () => Promise.resolve(needsLoopback))).rejects.toEqual(badRequest(message));
});
