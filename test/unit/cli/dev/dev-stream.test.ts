import { PassThrough } from "node:stream";
import { expect, test } from "vitest";

import { devKeysIn, listenToKeys, type DevKey } from "../../../../runtime/cli/dev/dev-keys.ts";
import { DevStream } from "../../../../runtime/cli/dev/dev-stream.ts";
import { Output } from "../../../../runtime/cli/output/output.ts";
import { heardTerminal } from "../../../support/heard-terminal.ts";

function openStream() {
  const terminal = heardTerminal();
  const stream = new DevStream(new Output(terminal, { format: "table", quiet: false, colour: false }));
  return { stream, shown: () => terminal.written.stdout };
}

test("each line has its name before it, as wide as the longest", async () => {
  const { shown, stream } = openStream();
  stream.expect(["a", "function"]);
  stream.say("one\ntwo");
  stream.say("deploying", "a");
  await stream.log("function", "said\n");
  expect(shown()).toBe("weir       one\nweir       two\na          deploying\nfunction | said\n");
});

test("what a function logs cannot move the cursor, and what it logged within a line stays one", async () => {
  const { shown, stream } = openStream();
  await stream.log("a", "x\u001b[2J\r\ty\nhello   ready\n");
  expect(shown()).toBe("a    | x\\u001b[2J\\u000d\ty\\nhello   ready\n");
  stream.say("\u001b[2J");
  expect(shown()).not.toContain("\u001b");
});

test("logs are left out while they are off", async () => {
  const { shown, stream } = openStream();
  stream.toggleLogs();
  await stream.log("a", "hidden\n");
  stream.toggleLogs();
  await stream.log("a", "shown\n");
  expect(shown()).toBe("weir   logs are not shown\nweir   logs are shown\na    | shown\n");
});

test("keys are read in either case, also several at once; others mean nothing", () => {
  expect(devKeysIn("lLx\u001b[Ac q\u0003")).toEqual(["logs", "logs", "clear", "quit", "interrupt"]);
  expect(devKeysIn("constructor".replaceAll("c", ""))).toEqual([]);
});

test("keys are heard on an input that a question paused, until they are no longer listened to", async () => {
  const stdin = new PassThrough();
  stdin.pause();
  const heard: DevKey[] = [];
  const stop = listenToKeys({ stdin }, (key) => heard.push(key));
  stdin.write("l");
  await expect.poll(() => heard).toEqual(["logs"]);
  stop();
  expect(stdin.isPaused()).toBe(true);
  expect(stdin.listenerCount("data")).toBe(0);
});
