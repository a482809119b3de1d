import { setImmediate as turn } from "node:timers/promises";

import { describe, expect, test } from "vitest";

import { Http1Body } from "../../../../../runtime/gateway/edge/http1/http1-body.ts";

const chunk = (text: string): Buffer => Buffer.from(text, "latin1");

function source() {
  const calls: string[] = [];
  return { calls, pause: () => void calls.push("pause"), resume: () => void calls.push("resume") };
}

describe("Http1Body", () => {
  test("with a length returns what follows it, and ends", async () => {
    const body = new Http1Body(3, source());
    expect(body.receive(chunk("a"))).toBeUndefined();
    expect(body).toMatchObject({ complete: false, left: 2 });
    expect(body.receive(chunk("bcde"))?.toString()).toBe("de");
    expect(body).toMatchObject({ complete: true, bytes: 3, left: 0, consumed: false });
    expect(Buffer.concat(await body.toArray()).toString()).toBe("abc");
    expect(body.consumed).toBe(true);
  });

  test("in chunks gives its data, returns what follows it, and counts data alone", async () => {
    const body = new Http1Body(undefined, source());
    expect(body.receive(chunk("2;a=b\r\nab\r\n1"))).toBeUndefined();
    expect(body).toMatchObject({ complete: false, bytes: 2 });
    expect(body.receive(chunk("\r\nc\r\n0\r\nX-T: 1\r\n\r\nGET"))?.toString()).toBe("GET");
    expect(body).toMatchObject({ complete: true, bytes: 3, left: 0, fault: undefined });
    expect(Buffer.concat(await body.toArray()).toString()).toBe("abc");
  });

  test("reports a fault of its chunks", () => {
    const body = new Http1Body(undefined, source());
    body.receive(chunk("2\r\nabX\r\n"));
    expect(body).toMatchObject({ complete: false, fault: "a line that is not a chunk's end" });
  });

  test("counts bytes, and keeps none, once it is destroyed", () => {
    const body = new Http1Body(10, source());
    body.destroy();
    expect(body.receive(chunk("a"))).toBeUndefined();
    expect(body.receive(chunk("123456789x"))?.toString()).toBe("x");
    expect(body).toMatchObject({ complete: true, bytes: 10, readableLength: 0 });
  });

  test("pauses its connection when nobody reads, and resumes it when somebody does or the body is destroyed", () => {
    for (const resume of [(body: Http1Body) => void body.read(), (body: Http1Body) => void body.destroy()]) {
      const { calls, ...from } = source();
      const body = new Http1Body(1_000_000, from);
      body.receive(Buffer.alloc(100_000));
      expect(calls).toEqual(["pause"]);
      resume(body);
      expect(calls).toEqual(["pause", "resume"]);
    }
  });

  test("is requested when it gets a reader, not when its bytes come", async () => {
    let requests = 0;
    const body = new Http1Body(10, source(), () => (requests += 1));
    body.receive(chunk("abc"));
    await turn();
    expect(requests).toBe(0);
    body.on("data", () => {});
    await turn();
    expect(requests).toBe(1);
  });
});
