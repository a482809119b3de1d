import { describe, expect, test } from "vitest";

import { ReadBuffer } from "../../../runtime/adapters/http/raw/read-buffer.ts";

const much = 1_000_000;

describe("ReadBuffer", () => {
  test("is the one of all while little is expected", () => {
    const [one, other] = [new ReadBuffer(), new ReadBuffer()];
    expect(one.next(0)).toBe(other.next(0));
    expect(one.next(0)).toBeUndefined();
    expect(one.next(65_536)).toBeUndefined();
    expect(one.lendable).toBe(false);
  });

  test("is one of its own while much is expected, and the one of all afterwards", () => {
    const [one, other] = [new ReadBuffer(), new ReadBuffer()];
    const shared = one.next(0);
    other.next(0);
    const own = one.next(much);
    expect(own).not.toBe(shared);
    expect(one.lendable).toBe(true);
    expect(one.next(much)).toBeUndefined();
    expect(other.next(much)).not.toBe(own);
    expect(one.next(0)).toBe(shared);
    expect(one.lendable).toBe(false);
  });

  test("goes to the next one who expects much, unless it is lent", () => {
    const read = (): { readonly buffer: ReadBuffer; readonly own: Buffer | undefined } => {
      const buffer = new ReadBuffer();
      buffer.next(0);
      return { buffer, own: buffer.next(much) };
    };
    const first = read();
    first.buffer.drop();
    const second = read();
    expect(second.own).toBe(first.own);
    second.buffer.lend();
    second.buffer.drop();
    const third = read();
    expect(third.own).not.toBe(second.own);
    third.buffer.lend();
    third.buffer.takeBack();
    third.buffer.drop();
    expect(read().own).toBe(third.own);
  });
});
