import { Socket } from "node:net";
import { setImmediate as flowing } from "node:timers/promises";

import { describe, expect, test } from "vitest";

import { PlainBody } from "../../../runtime/gateway/fast-path/plain-body.ts";

/** A piece with memory of its own, as it is read from a socket. */
const piece = (text: string): Buffer => Buffer.from(new Uint8Array(Buffer.from(text)).buffer);

describe("PlainBody", () => {
  test("gives what is behind it back, and ends", async () => {
    const body = new PlainBody(3, new Socket());
    expect(body.receive(piece("a"))).toBeUndefined();
    expect(body.complete).toBe(false);
    expect(body.receive(piece("bcde"))?.toString()).toBe("de");
    expect(body).toMatchObject({ complete: true, bytes: 3, consumed: false });
    expect(Buffer.concat(await body.toArray()).toString()).toBe("abc");
    expect(body.consumed).toBe(true);
  });

  test("frees pieces that a borrower took at once, and no others", async () => {
    const body = new PlainBody(100, new Socket());
    const read: string[] = [];
    body.on("data", (chunk: Buffer) => read.push(chunk.toString()));
    body.resume();
    await flowing();
    const [kept, given, shared, held] = [piece("kept"), piece("given"), Buffer.from("shared"), piece("held")];
    body.receive(kept);
    body.borrowed = true;
    body.receive(given);
    body.receive(shared);
    body.pause();
    body.receive(held);
    expect([kept, given, shared, held].map(String)).toEqual(["kept", "", "shared", "held"]);
    expect(read).toEqual(["kept", "given", "shared"]);
  });

  test("keeps what its borrower paused at", async () => {
    const body = new PlainBody(100, new Socket());
    body.borrowed = true;
    body.on("data", () => void body.pause());
    body.resume();
    await flowing();
    const chunk = piece("pending");
    body.receive(chunk);
    expect(chunk.toString()).toBe("pending");
  });

  test("counts, and keeps nothing, once it is destroyed", () => {
    const body = new PlainBody(10, new Socket());
    body.destroy();
    expect(body.receive(piece("a"))).toBeUndefined();
    expect(body.receive(piece("123456789x"))?.toString()).toBe("x");
    expect(body).toMatchObject({ complete: true, bytes: 10, readableLength: 0 });
  });
});
