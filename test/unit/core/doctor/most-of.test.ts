import { expect, test } from "vitest";

import type { Finding } from "../../../../runtime/api/schemas/doctor-report.ts";
import { mostOf } from "../../../../runtime/core/doctor/most-of.ts";

const findings = (count: number, level: Finding["level"]): readonly Finding[] =>
  Array.from({ length: count }, (_, index) => ({
    id: "starts",
    level,
    subject: `function "f${index}.functions"`,
    sentence: "It starts slowly",
  }));
const levels = (found: readonly Finding[]) => found.map(({ level }) => level);

test("up to twenty findings are all listed, problems first", () => {
  const found = mostOf([...findings(15, "warning"), ...findings(5, "problem")], "functions");
  expect(levels(found)).toEqual([...Array<string>(5).fill("problem"), ...Array<string>(15).fill("warning")]);
});

test("of more the first twenty are listed, and the last one counts the others", () => {
  const found = mostOf(findings(22, "problem"), "functions");
  expect(found).toHaveLength(21);
  expect(found.at(-1)).toEqual({
    id: "starts",
    level: "problem",
    subject: "2 more functions",
    sentence: "They have findings of this check, too, which are not listed",
    advice: "act on the others first",
  });
});

test("what is not listed is as bad as the worst of it", () => {
  const found = mostOf([...findings(30, "warning"), ...findings(20, "problem")], "functions");
  expect(levels(found)).toEqual([...Array<string>(20).fill("problem"), "warning"]);
});
