import { expect, test } from "vitest";

import { secretValue } from "../../../runtime/core/secret-value.ts";

const name = "api-key";
const mebibyte = 1_048_576;
const code = (expected: string) => expect.objectContaining({ code: expected });

test("rawValue is decoded and outranks value, which is UTF-8", () => {
  expect([...secretValue({ name, value: "é" })]).toEqual([0xc3, 0xa9]);
  expect([...secretValue({ name, rawValue: "AP/+" })]).toEqual([0, 255, 254]);
  expect([...secretValue({ name, value: "x", rawValue: "AA==" })]).toEqual([0]);
});

test.each([{ name }, { name, value: "" }, { name, rawValue: "" }])("no value: %j", (secret) => {
  expect(() => secretValue(secret)).toThrow('Cannot store secret "api-key": it has no value');
  expect(() => secretValue(secret)).toThrow(code("validation_failed"));
});

test.each(["AAA", "AA=", "A===", "=AAA", "AA=A", "A A=", "AA_-", "!AAA", "AAA!", "AAAA\n"])(
  "not base64: %j",
  (rawValue) => {
    expect(() => secretValue({ name, rawValue })).toThrow('Cannot store secret "api-key": its rawValue is not base64');
    expect(() => secretValue({ name, rawValue })).toThrow(code("validation_failed"));
  },
);

test("text that is not valid Unicode is refused", () => {
  expect(() => secretValue({ name, value: "\ud800" })).toThrow(
    'Cannot store secret "api-key": its value is not valid Unicode',
  );
  expect(() => secretValue({ name, value: "\ud800" })).toThrow(code("validation_failed"));
});

test("the limit is one mebibyte, and the error gives the size", () => {
  expect(secretValue({ name, value: "x".repeat(mebibyte) })).toHaveLength(mebibyte);
  const tooMuch = { name, value: "x".repeat(mebibyte + 1) };
  expect(() => secretValue(tooMuch)).toThrow(
    'Cannot store secret "api-key": 1048577 bytes are over the limit of 1048576',
  );
  expect(() => secretValue(tooMuch)).toThrow(code("payload_too_large"));
});
