import { describe, expect, test } from "vitest";

import { ReadBuffer } from "../../../runtime/http1/read-buffer.ts";

const much = 1_000_000;
const poison = 0xdd;

/** A buffer that expects much, and the bytes read to it. */
function reading(text: string): { readonly buffer: ReadBuffer; readonly bytes: Buffer } {
  const buffer = new ReadBuffer();
  return { buffer, bytes: readTo(buffer.next(much), text) };
}

function readTo(target: Buffer | undefined, text: string): Buffer {
  if (target === undefined) throw new Error("nowhere to read to");
  return target.subarray(0, target.write(text));
}

describe("ReadBuffer", () => {
  test("is shared while little is expected", () => {
    const [one, other] = [new ReadBuffer(), new ReadBuffer()];
    expect(one.next(0)).toBe(other.next(0));
    expect(one.next(65_536)).toBeUndefined();
    expect(one.keep).toBeUndefined();
  });

  test("is its own while much is expected, and the shared one afterwards", () => {
    const [one, other] = [new ReadBuffer(), new ReadBuffer()];
    const shared = one.next(0);
    other.next(0);
    const own = one.next(much);
    expect(own).not.toBe(shared);
    expect(one.next(much)).toBeUndefined();
    expect(other.next(much)).not.toBe(own);
    expect(one.next(0)).toBe(shared);
    expect(one.keep).toBeUndefined();
  });

  test("overwrites what nobody kept, in the shared buffer and in its own", () => {
    const small = new ReadBuffer();
    const inShared = readTo(small.next(0), "short");
    const read: string[] = [];
    small.read(inShared, (bytes) => void read.push(bytes.toString()));
    expect(read).toEqual(["short"]);
    expect(inShared.every((byte) => byte === poison)).toBe(true);
    const { buffer, bytes } = reading("long");
    buffer.read(bytes, () => {});
    expect(bytes.every((byte) => byte === poison)).toBe(true);
  });

  test("reads elsewhere while a chunk is kept, and overwrites it only after the last release", () => {
    const { buffer, bytes } = reading("kept");
    const releases: (() => void)[] = [];
    buffer.read(bytes, () => {
      for (let times = 0; times < 2; times += 1) releases.push(buffer.keep?.() ?? (() => {}));
    });
    const elsewhere = readTo(buffer.next(much), "else");
    expect(bytes.toString()).toBe("kept");
    releases[0]?.();
    releases[0]?.();
    expect(bytes.toString()).toBe("kept");
    expect(new ReadBuffer().next(much)?.buffer).not.toBe(bytes.buffer);
    releases[1]?.();
    expect(bytes.every((byte) => byte === poison)).toBe(true);
    expect(elsewhere.toString()).toBe("else");
    expect(new ReadBuffer().next(much)?.buffer).toBe(bytes.buffer);
  });

  test("leaves a kept chunk alone when its connection closes meanwhile", () => {
    const { buffer, bytes } = reading("kept");
    let release: (() => void) | undefined;
    buffer.read(bytes, () => {
      release = buffer.keep?.();
      buffer.close();
    });
    expect(bytes.toString()).toBe("kept");
    release?.();
    expect(bytes.every((byte) => byte === poison)).toBe(true);
  });
});
