import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";

import { expect, onTestFinished, test } from "vitest";

import { chunkEnd, chunkStart, lastChunk } from "../../../runtime/http1/chunk-frame.ts";
import { joinedBody } from "../../../runtime/http1/latin1.ts";
import { sendChunk } from "../../../runtime/http1/send-chunk.ts";

/** A connection of loopback, and what its far end hears until the near one ends. */
async function openPair(): Promise<{ readonly near: Socket; heard(): Promise<string> }> {
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
    heard: async () => {
      const pieces = (await far.toArray()) as Buffer[];
      return Buffer.concat(pieces).toString("latin1");
    },
  };
}

const long = Buffer.alloc(joinedBody + 1, "\xff", "latin1");

test.each([
  ["a text", "na\xefve"],
  ["few bytes", Buffer.from("\xff\x00", "latin1")],
  ["many bytes", long],
])("%s arrives between what frames it, in order", async (_what, piece) => {
  const { near, heard } = await openPair();
  const text = typeof piece === "string" ? piece : piece.toString("latin1");
  const sent = [
    ["", ""],
    ["head", ""],
    ["", "end"],
    [chunkStart(piece.length), chunkEnd + lastChunk],
  ] as const;
  let done = 0;
  for (const [before, after] of sent) sendChunk(near, before, piece, after, () => (done += 1));
  near.end();
  expect(await heard()).toBe(sent.map(([before, after]) => before + text + after).join(""));
  expect(done).toBe(sent.length);
});

test("bytes are the socket's until it says that they are with the kernel", async () => {
  const { near, heard } = await openPair();
  const piece = Buffer.alloc(8 * 1_048_576, "x");
  let done = false;
  // More than the kernel takes while nobody reads.
  expect(sendChunk(near, "a", piece, "b", () => (done = true))).toBe(false);
  expect([done, near.writableLength > 0]).toEqual([false, true]);
  near.end();
  expect((await heard()).length).toBe(piece.length + 2);
  expect(done).toBe(true);
});
