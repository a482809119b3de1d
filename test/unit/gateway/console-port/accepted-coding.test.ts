import fc from "fast-check";
import { expect, test } from "vitest";

import { acceptedCoding } from "../../../../runtime/gateway/console-port/accepted-coding.ts";

const both = ["br", "gzip"] as const;

test.each<[header: string | undefined, chosen: string | undefined]>([
  [undefined, undefined],
  ["", undefined],
  ["gzip, deflate, br, zstd", "br"],
  ["gzip", "gzip"],
  ["GZIP", "gzip"],
  ["br;q=0.1, gzip;q=0.2", "gzip"],
  ["br;q=0, gzip", "gzip"],
  ["br;q=0, gzip;q=0", undefined],
  ["*", "br"],
  ["*;q=0", undefined],
  ["*, br;q=0", "gzip"],
  ["identity", undefined],
  ["identity, br;q=0.5", undefined],
  ["identity;q=0, br;q=0.5", "br"],
  ["br;q=x", undefined],
  ["br;q=2", undefined],
  ["br;q=-1, gzip", "gzip"],
  ["x-gzip", undefined],
])("acceptedCoding() of %j is %s", (header, chosen) => {
  expect(acceptedCoding(header, both)).toBe(chosen);
});

test("a coding that is not there is never chosen, whatever the header", () => {
  fc.assert(
    fc.property(fc.string(), (header) => {
      expect(acceptedCoding(header, [])).toBeUndefined();
      expect([undefined, "br"]).toContain(acceptedCoding(header, ["br"]));
    }),
  );
});
