import { afterEach, describe, expect, test } from "vitest";

import { eventually } from "../support/eventually.ts";
import { openRawReplica } from "../support/raw-replica.ts";
import { brokenReplies, nextReply, wholeReplies, type RawReplyRow } from "../support/raw-replies.ts";

/** What the caller of a function got. */
export interface HeardReply {
  /** 0: it broke before its head. */
  readonly status: number;
  readonly body: string;
  /** Whether it is whole. */
  readonly whole: boolean;
}

/** A way from a caller to a replica. */
export interface Hop {
  /** Calls the replica at `address`; without a body unless there is one. */
  call(address: string, method: string, body?: Buffer): Promise<HeardReply>;
  close(): Promise<void>;
}

/**
 * What every hop makes of the bytes that a function sends. A reply that is whole is passed on whatever follows it, and
 * what follows is never the reply to the next call. `heard` is what a caller gets instead of a reply that is none.
 */
export function rawRepliesContract(
  open: () => Promise<Hop>,
  heard: { readonly malformed: (why: string) => object; readonly reset: object },
): void {
  const closing: { close(): Promise<void> }[] = [];
  afterEach(async () => {
    for (const thing of closing.splice(0).toReversed()) await thing.close();
  });
  const replica = async ({ bytes, later, ends }: RawReplyRow) => {
    let heads = 0;
    const opened = await openRawReplica((connection) => {
      heads += 1;
      const again = connection.received.split("\r\n\r\n").length > 2;
      // The stray bytes were still on their way.
      if (again && later !== undefined && heads === 2) return connection.write(later);
      if (heads > 1) return connection.write(nextReply);
      connection.write(bytes);
      if (later !== undefined) setTimeout(() => connection.write(later), 20);
      if (ends === true) connection.socket.end();
    });
    closing.push(opened);
    return opened;
  };
  const openHop = async (): Promise<Hop> => {
    const hop = await open();
    closing.push(hop);
    return hop;
  };
  const next = { status: 200, body: "next", whole: true };

  describe("a whole reply is passed on, and what follows is never the next one", () => {
    test.each(wholeReplies)("$name", async (row) => {
      const { address, connections } = await replica(row);
      const hop = await openHop();
      const { status, body } = row;
      expect(await hop.call(address, row.method ?? "GET")).toEqual({ status, body, whole: true });
      for (let call = 0; call < 3; call += 1) expect(await hop.call(address, "GET")).toEqual(next);
      await eventually(() => connections[0]?.ended !== false || row.bytes.endsWith(row.body), {
        what: "the end of a connection with stray bytes",
      });
    });
  });

  test("a reply that comes before the request was read is passed on, though its connection then breaks", async () => {
    const opened = await openRawReplica(({ socket }) => {
      socket.pause();
      // With bytes left unread, the kernel resets the connection.
      socket.write("HTTP/1.1 413 Big\r\nContent-Length: 2\r\n\r\nno", () => socket.destroy());
    });
    closing.push(opened);
    const hop = await openHop();
    const reply = { status: 413, body: "no", whole: true };
    for (let call = 0; call < 5; call += 1)
      expect(await hop.call(opened.address, "POST", Buffer.alloc(8_000_000))).toEqual(reply);
  });

  describe("a reply that is none is said to be, and its connection ends", () => {
    test.each(brokenReplies)("$name", async (row) => {
      const { address, connections } = await replica(row);
      const hop = await openHop();
      const reply = await hop.call(address, "POST");
      expect(reply).toMatchObject(row.kind === "reset" ? heard.reset : heard.malformed(row.why ?? ""));
      await eventually(() => connections[0]?.ended === true, { what: "the end of its connection" });
      expect(connections).toHaveLength(1);
      expect(await hop.call(address, "GET")).toEqual(next);
    });
  });
}
