import { expect, test } from "vitest";

import { openPretendedGateway, problem } from "../../../support/pretended-gateway.ts";

const id = "7f3c1d52-5c0e-4d7b-9a53-0f5d2f4f2f10";
const line = (text: string, match?: string) => ({
  name: "hello",
  namespace: "functions",
  instance: "hello-1",
  timestamp: "2026-01-31T12:00:00.123456789Z",
  text: `${text}\n`,
  ...(match === undefined ? {} : { match }),
});

/** A gateway whose streams have these lines. */
const gatewayOf = (...lines: readonly object[]) =>
  openPretendedGateway(() => ({
    bytes: Buffer.from(lines.map((one) => `${JSON.stringify(one)}\n`).join("")),
    headers: { "content-type": "application/x-ndjson" },
  }));

test("weir calls logs shows the lines of a call, and in JSON why each belongs to it", async () => {
  await using gateway = await gatewayOf(line("one", "text"), line("two", "window"));
  const shown = await gateway.run(["calls", "logs", id]);
  expect(shown).toMatchObject({ code: 0, stderr: "" });
  expect(shown.stdout).toMatch(/^\S+ \S+ {2}hello-1 {2}one\n\S+ \S+ {2}hello-1 {2}two\n$/);
  const { stdout } = await gateway.run(["calls", "logs", id, "-o", "json"]);
  expect(
    stdout
      .trimEnd()
      .split("\n")
      .map((text) => JSON.parse(text).match),
  ).toEqual(["text", "window"]);
  expect(gateway.requests.map(({ target }) => target)).toEqual([
    `/system/calls/${id}/logs`,
    `/system/calls/${id}/logs`,
  ]);
});

test("weir calls logs refuses what is no line", async () => {
  await using gateway = await gatewayOf(line("one"));
  expect(await gateway.run(["calls", "logs", id])).toMatchObject({
    code: 1,
    stderr: `Cannot read the log of call "${id}": a line of it is no log record\n`,
  });
});

test("weir calls logs says what the gateway refuses", async () => {
  const sentence = `Cannot read the logs of call "${id}": it is unknown or expired`;
  await using gateway = await openPretendedGateway(() => problem(404, "call_not_found", sentence));
  const { code, stderr } = await gateway.run(["calls", "logs", id]);
  expect(code).not.toBe(0);
  expect(stderr).toContain(sentence);
});

test("weir logs --call shows the lines of a call, of one replica, from a time on", async () => {
  await using gateway = await gatewayOf(line("one"));
  const args = ["logs", "hello", "--call", id, "--instance", "hello-1", "--since", "2026-01-31T12:00:00Z"];
  expect(await gateway.run(args)).toMatchObject({ code: 0, stdout: expect.stringMatching(/ {2}one\n$/) });
  const target = gateway.requests.at(-1)?.target ?? "";
  expect(Object.fromEntries(new URL(target, "http://gateway").searchParams)).toMatchObject({
    name: "hello",
    call: id,
    instance: "hello-1",
    since: "2026-01-31T12:00:00.000Z",
  });
});

test("weir logs --call cannot be followed", async () => {
  await using gateway = await gatewayOf();
  expect(await gateway.run(["logs", "hello", "--follow", "--call", id])).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/^Cannot use --follow with --call: /),
  });
});
