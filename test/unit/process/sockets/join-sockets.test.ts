import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";

import { afterEach, expect, test } from "vitest";

import { joinSockets } from "../../../../runtime/process/sockets/join-sockets.ts";

const closers: (() => void)[] = [];
afterEach(() => {
  for (const close of closers.splice(0)) close();
});

/** Both ends of a connection on this machine: that of a program, and ours. */
async function connection(): Promise<{ readonly far: Socket; readonly near: Socket }> {
  const server = createServer({ allowHalfOpen: true }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("expected a port");
  const far = connect({ port: address.port, host: "127.0.0.1", allowHalfOpen: true });
  far.on("error", () => {});
  const [near] = (await once(server, "connection")) as [Socket];
  closers.push(() => {
    far.destroy();
    near.destroy();
    server.close();
  });
  return { far, near };
}

/** All that arrives until the other side ends; the socket can still be written. */
async function textOf(socket: Socket): Promise<string> {
  let text = "";
  socket.setEncoding("utf8").on("data", (data: string) => (text += data));
  await once(socket, "end");
  return text;
}

test("bytes go both ways, and the end of one side lets the other send the rest", async () => {
  const [one, other] = [await connection(), await connection()];
  joinSockets(one.near, other.near);
  one.far.end("question");
  expect(await textOf(other.far)).toBe("question");
  other.far.end("reply");
  expect(await textOf(one.far)).toBe("reply");
});

test.each([
  ["first", false],
  ["second", true],
])("the %s of two that was closed before closes the other", async (_which, swap) => {
  const [gone, stays] = [await connection(), await connection()];
  gone.near.destroy();
  await once(gone.near, "close");
  const closed = once(stays.far.resume(), "close");
  stays.far.on("end", () => stays.far.end());
  if (swap) joinSockets(stays.near, gone.near);
  else joinSockets(gone.near, stays.near);
  await closed;
  expect(stays.near.destroyed).toBe(true);
});

test("what had ended before ends the other", async () => {
  const [ended, stays] = [await connection(), await connection()];
  ended.far.end();
  await once(ended.near.resume(), "end");
  joinSockets(ended.near, stays.near);
  await once(stays.far.resume(), "end");
  stays.far.end("the rest");
  expect(await textOf(ended.far)).toBe("the rest");
});
