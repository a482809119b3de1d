import fc from "fast-check";
import { test } from "vitest";

import { checkName } from "../../../../../scripts/fuzz/targets/names.ts";

const letters = fc.constantFrom(...Array.from("abz09-_.AZ/\\:%*>$ \0\né"));
const plain = fc.constantFrom(...Array.from("abyz0189"));
const label = fc
  .tuple(plain, fc.string({ unit: fc.constantFrom(...Array.from("abyz0189-")), maxLength: 61 }), plain)
  .map((parts) => parts.join(""));
const units = fc.uint16Array({ maxLength: 70 }).map((codes) => String.fromCharCode(...codes));

test("names of each grammar, and near misses, are accepted only where they are safe", () => {
  const near = fc.tuple(label, letters, label).map((parts) => parts.join(""));
  const many = fc.array(label, { minLength: 1, maxLength: 6 }).map((labels) => labels.join("."));
  const long = fc.nat(300).map((length) => "a".repeat(length));
  const any = fc.oneof(fc.string({ unit: letters, maxLength: 70 }), units);
  const names = fc.oneof(
    label,
    near,
    many,
    long,
    any,
    fc.uuid(),
    fc.constantFrom("__proto__", "constructor", "toString"),
  );
  fc.assert(fc.property(names, checkName), { numRuns: 500 });
});
