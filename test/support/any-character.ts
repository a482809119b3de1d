import fc from "fast-check";

/** Any Unicode scalar value, like fast-check's unit "binary", which takes a second to build in each test file. */
export const anyCharacter = fc
  .integer({ min: 0, max: 0x10_f7_ff })
  .map((n) => String.fromCodePoint(n < 0xd8_00 ? n : n + 0x8_00));
