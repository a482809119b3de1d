import { setImmediate as turn } from "node:timers/promises";

import { describe, expect, test } from "vitest";

import { Http1Body } from "../../../../../runtime/gateway/edge/http1/http1-body.ts";

const piece = (text: string): Buffer => Buffer.from(text, "latin1");

function source() {
  const calls: string[] = [];
  return { calls, pause: () => void calls.push("pause"), resume: () => void calls.push("resume") };
}

describe("Http1Body", () => {
  test("of a length gives what is behind it back, and ends", async () => {
    const body = new Http1Body(3, source());
    expect(body.receive(piece("a"))).toBeUndefined();
    expect(body).toMatchObject({ complete: false, left: 2 });
    expect(body.receive(piece("bcde"))?.toString()).toBe("de");
    expect(body).toMatchObject({ complete: true, bytes: 3, left: 0, consumed: false });
    expect(Buffer.concat(await body.toArray()).toString()).toBe("abc");
    expect(body.consumed).toBe(true);
  });

  test("in chunks gives its data, what is behind it, and counts data alone", async () => {
    const body = new Http1Body(undefined, source());
    expect(body.receive(piece("2;a=b\r\nab\r\n1"))).toBeUndefined();
    expect(body).toMatchObject({ complete: false, bytes: 2 });
    expect(body.receive(piece("\r\nc\r\n0\r\nX-T: 1\r\n\r\nGET"))?.toString()).toBe("GET");
    expect(body).toMatchObject({ complete: true, bytes: 3, left: 0, fault: undefined });
    expect(Buffer.concat(await body.toArray()).toString()).toBe("abc");
  });

  test("says what is wrong with its chunks, once", () => {
    const body = new Http1Body(undefined, source());
    body.receive(piece("2\r\nabX\r\n"));
    expect(body).toMatchObject({ complete: false, fault: "a line that is not a chunk's end" });
  });

  test("counts, and keeps nothing, once it is destroyed", () => {
    const body = new Http1Body(10, source());
    body.destroy();
    expect(body.receive(piece("a"))).toBeUndefined();
    expect(body.receive(piece("123456789x"))?.toString()).toBe("x");
    expect(body).toMatchObject({ complete: true, bytes: 10, readableLength: 0 });
  });

  test("stops its connection when nobody reads, and lets it go on when somebody does or it is given up", () => {
    for (const goOn of [(body: Http1Body) => void body.read(), (body: Http1Body) => void body.destroy()]) {
      const { calls, ...from } = source();
      const body = new Http1Body(1_000_000, from);
      body.receive(Buffer.alloc(100_000));
      expect(calls).toEqual(["pause"]);
      goOn(body);
      expect(calls).toEqual(["pause", "resume"]);
    }
  });

  test("is wanted when it gets a reader, not when bytes of it come", async () => {
    let wanted = 0;
    const body = new Http1Body(10, source(), () => (wanted += 1));
    body.receive(piece("abc"));
    await turn();
    expect(wanted).toBe(0);
    body.on("data", () => {});
    await turn();
    expect(wanted).toBe(1);
  });
});
