import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";

import { expect, onTestFinished, test } from "vitest";

import { chunkEnd, chunkStart, lastChunk } from "../../../runtime/http1/chunk-frame.ts";
import { joinedBody } from "../../../runtime/http1/latin1.ts";
import { sendChunk } from "../../../runtime/http1/send-chunk.ts";

/** A loopback connection, and what its far end receives until the near one ends. */
async function openPair(): Promise<{ readonly near: Socket; received(): Promise<string> }> {
  const server = createServer();
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const taken = once(server, "connection");
  const near = connect((server.address() as AddressInfo).port, "127.0.0.1");
  const [far] = (await taken) as [Socket];
  onTestFinished(() => {
    near.destroy();
    far.destroy();
    server.close();
  });
  return {
    near,
    received: async () => {
      const chunks = (await far.toArray()) as Buffer[];
      return Buffer.concat(chunks).toString("latin1");
    },
  };
}

const long = Buffer.alloc(joinedBody + 1, "\xff", "latin1");

test.each([
  ["a text", "na\xefve"],
  ["few bytes", Buffer.from("\xff\x00", "latin1")],
  ["many bytes", long],
])("%s arrives between its frame, in order", async (_what, chunk) => {
  const { near, received } = await openPair();
  const text = typeof chunk === "string" ? chunk : chunk.toString("latin1");
  const sent = [
    ["", ""],
    ["head", ""],
    ["", "end"],
    [chunkStart(chunk.length), chunkEnd + lastChunk],
  ] as const;
  let done = 0;
  for (const [before, after] of sent) sendChunk(near, before, chunk, after, () => (done += 1));
  near.end();
  expect(await received()).toBe(sent.map(([before, after]) => before + text + after).join(""));
  expect(done).toBe(sent.length);
});

test("bytes belong to the socket until it reports that the kernel has them", async () => {
  const { near, received } = await openPair();
  const chunk = Buffer.alloc(8 * 1_048_576, "x");
  let done = false;
  // More than the kernel accepts while nobody reads.
  expect(sendChunk(near, "a", chunk, "b", () => (done = true))).toBe(false);
  expect([done, near.writableLength > 0]).toEqual([false, true]);
  near.end();
  expect((await received()).length).toBe(chunk.length + 2);
  expect(done).toBe(true);
});
