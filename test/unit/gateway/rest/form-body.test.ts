import type { IncomingMessage } from "node:http";
import { Readable } from "node:stream";

import { expect, test } from "vitest";

import { admitFormBody, formType, readFormBody } from "../../../../runtime/gateway/rest/form-body.ts";

/** A request with this body. */
function request(
  body: string | Buffer,
  headers: Record<string, string> = { "content-type": formType },
): IncomingMessage {
  const chunks = Buffer.from(body);
  const half = Math.floor(chunks.length / 2);
  const stream = Readable.from([chunks.subarray(0, half), chunks.subarray(half)].filter(({ length }) => length > 0));
  return Object.assign(stream, { headers }) as unknown as IncomingMessage;
}
async function read(body: string | Buffer, headers?: Record<string, string>): Promise<unknown> {
  const sent = request(body, headers);
  admitFormBody(sent);
  const form = await readFormBody(sent);
  return form.kind === "form" ? Object.fromEntries(form.fields) : form.why;
}

test("fields come decoded, in the order sent, each with all its values", async () => {
  expect(await read("a=1&b=x+y%2B%C3%A9&a=2&c=&d")).toEqual({ a: ["1", "2"], b: ["x y+é"], c: [""], d: [""] });
  expect(await read("")).toEqual({});
  expect(await read("__proto__=1&constructor=2")).toEqual(
    Object.fromEntries([
      ["__proto__", ["1"]],
      ["constructor", ["2"]],
    ]),
  );
});

test.each([
  ["parameters", { "content-type": `${formType}; charset=UTF-8` }],
  ["another case", { "content-type": "Application/X-WWW-Form-Urlencoded" }],
])("a type may have %s", async (_name, headers) => {
  expect(await read("a=1", headers)).toEqual({ a: ["1"] });
});

test.each<[string, Record<string, string>]>([
  ["JSON", { "content-type": "application/json" }],
  ["no type", {}],
  ["a malformed type", { "content-type": "form" }],
  ["multipart", { "content-type": "multipart/form-data; boundary=a" }],
  ["an encoded form", { "content-type": formType, "content-encoding": "gzip" }],
])("%s is no form", async (_name, headers) => {
  expect(await read("a=1", headers)).toBe(`expected ${formType}`);
});

const encoding = `its encoding is not that of ${formType}`;
test.each([
  ["a lone percent sign", "a=100%"],
  ["no hexadecimal digits", "a=%zz"],
  ["no UTF-8", "a=%ff"],
  ["bytes that are not ASCII", "a=é"],
  ["a line end", "a=1\n"],
  ["NUL", "a=\0"],
])("a form is unreadable with %s", async (_name, body) => {
  expect(await read(body)).toBe(encoding);
});

test("a form has at most 64 KiB", async () => {
  expect(await read(`a=${"1".repeat(65_534)}`)).toEqual({ a: ["1".repeat(65_534)] });
  expect(await read(`a=${"1".repeat(65_535)}`)).toBe("it is over the limit of 65536 bytes");
});

test("a client that leaves sent no form", async () => {
  const sent = request("a=1");
  admitFormBody(sent);
  sent.destroy(new Error("aborted"));
  expect(await readFormBody(sent)).toEqual({ kind: "unreadable", why: "the client left" });
});
