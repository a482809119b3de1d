import { describe, expect, test } from "vitest";

import { share } from "../../../runtime/settings/setting.ts";

describe("share()", () => {
  const sample = share("sample", { fallback: "0.001", about: "A part" });

  test.each([
    ["0", 0],
    ["0.001", 0.001],
    ["0.5", 0.5],
    ["1", 1],
    ["1.0", 1],
  ])("reads %s", (text, value) => {
    expect(sample.parse(text)).toEqual({ value });
  });

  test.each(["", "-0.1", "1.1", "2", "01", ".5", "5%", "1e-3", "NaN", "0,5", "0x1"])("refuses %j", (text) => {
    expect(sample.parse(text)).toEqual({ expected: "a number from 0 to 1" });
  });
});
