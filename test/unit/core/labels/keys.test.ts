import { describe, expect, test } from "vitest";

import { annotationKey } from "../../../../runtime/api/schemas/key-rules.ts";
import { keyReader } from "../../../../runtime/core/labels/key-reader.ts";
import { keyValue, sentKey } from "../../../../runtime/core/labels/keys.ts";

describe("keyValue()", () => {
  test.each<[texts: Record<string, string> | undefined, key: string | undefined, value: string | undefined]>([
    [undefined, undefined, undefined],
    [{}, undefined, undefined],
    [{ "scale.min": "1", undefined: "2" }, undefined, undefined],
    [{ "com.service.scale.min": "1" }, "com.service.scale.min", "1"],
    [{ "com.openfaas.scale.min": "2" }, "com.openfaas.scale.min", "2"],
    [{ "com.openfaas.scale.min": "2", "com.service.scale.min": "1" }, "com.service.scale.min", "1"],
  ])("scale.min of %j", (texts, key, value) => {
    expect(sentKey(texts, "scale.min")).toBe(key);
    expect(keyValue(texts, "scale.min")).toBe(value);
  });
});

describe("keyReader()", () => {
  test("reads the value, and nothing from other keys", () => {
    expect(keyReader("annotation", { "com.openfaas.timeout": "2s" })(annotationKey.timeout)).toBe(2_000);
    expect(keyReader("annotation", { undefined: "2s" })(annotationKey.timeout)).toBeUndefined();
    expect(keyReader("annotation", undefined)(annotationKey.timeout)).toBeUndefined();
  });

  test.each([
    ["timeout", annotationKey.timeout, "a duration from 100ms to timeout_max"],
    ["result.ttl", annotationKey.resultTtl, "a duration from 0s to 24h"],
    ["concurrency.max", annotationKey.concurrencyMax, "a whole number from 0 to 100000"],
  ])("the error says which values of %s can be read, with the setting that bounds them", (name, rule, expected) => {
    expect(() => keyReader("annotation", { [`com.service.${name}`]: "no" })(rule)).toThrow(
      expect.objectContaining({
        code: "validation_failed",
        message: `Cannot read annotation "com.service.${name}": expected ${expected}, got "no"`,
      }),
    );
  });
});
