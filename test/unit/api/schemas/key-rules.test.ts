import { describe, expect, test } from "vitest";

import { longestDuration } from "../../../../runtime/api/duration.ts";
import {
  annotationRules,
  expectedOf,
  labelRules,
  localAnnotationRules,
  type KeyRule,
} from "../../../../runtime/api/schemas/key-rules.ts";
import { annotation, keyPrefixes, label, localAnnotation } from "../../../../runtime/api/names.ts";
import { checkDeployment } from "../../../../runtime/core/functions/check-deployment.ts";

const hello = { service: "hello", image: "ghcr.io/acme/hello:1" };

/** Values at the bounds of a rule: accepted ones, and ones beyond. */
function samples(rule: KeyRule): { readonly accepted: readonly string[]; readonly refused: readonly string[] } {
  switch (rule.kind) {
    case "choice":
      return { accepted: rule.words, refused: ["", "other", rule.words[0]?.toUpperCase() ?? ""] };
    case "boolean":
      return { accepted: ["", "TRUE", "t", "1", "yes", "f", "0", "No"], refused: ["maybe", "2", "on"] };
    case "whole":
      return {
        accepted: [`${rule.min}`, `${rule.max}`, `${rule.min}`.padStart(rule.digits, "0")],
        refused: [`${rule.min - 1}`, `${rule.max + 1}`, "1.5", "x", "", "1".padStart(rule.digits + 1, "0")],
      };
    case "number":
      return {
        accepted: ["0.000000001", "0.9", "1", ...(rule.max === Infinity ? ["999999999999999.999999999"] : ["1.0"])],
        refused: [`${rule.above}`, "-1", "1e1", ".5", "", ...(rule.max === Infinity ? [] : ["1.000000001"])],
      };
    case "duration":
      return {
        accepted: [`${rule.min}ms`, `${rule.max / 1_000}s0.4ms`, `${rule.max / 1_000}`, `${rule.min}.5ms`],
        refused: [
          `${rule.max / 1_000}s0.5ms`,
          `${rule.max / 1_000}s1ms`,
          "1d",
          "",
          "-1s",
          ...(rule.min > 0 ? [`${rule.min - 1}.4ms`] : []),
        ],
      };
    case "text":
      return { accepted: [], refused: ["\u0001"] };
    default:
      return rule satisfies never;
  }
}

function verdict(map: "labels" | "annotations", key: string, value: string): boolean {
  try {
    // The other bound must not interfere, and what a key needs must be there.
    const beside = key.endsWith("scale.min")
      ? { "com.service.scale.max": "1000" }
      : key.includes(".cors.") && !key.endsWith(".origins")
        ? { "com.service.cors.origins": "https://app.example.com" }
        : {};
    checkDeployment({ ...hello, [map]: { ...beside, [key]: value } });
    return true;
  } catch {
    return false;
  }
}

describe.each([
  ["labels", Object.entries(labelRules)],
  ["annotations", Object.entries(annotationRules)],
] as const)("rules of %s are those of the REST API", (map, rules) => {
  test.each(rules)("%s", (name, rule) => {
    for (const prefix of keyPrefixes) {
      const { accepted, refused } = samples(rule);
      expect(accepted.filter((value) => !verdict(map, prefix + name, value))).toEqual([]);
      expect(refused.filter((value) => verdict(map, prefix + name, value))).toEqual([]);
    }
    expect(expectedOf(rule)).toMatch(/^\S.*[^.]$/);
  });
});

test("every key of the platform has a rule", () => {
  expect(Object.keys(labelRules)).toEqual(expect.arrayContaining(Object.values(label)));
  expect(Object.keys(annotationRules)).toEqual(expect.arrayContaining(Object.values(annotation)));
  expect(Object.keys(localAnnotationRules)).toEqual(Object.values(localAnnotation));
  // A cluster has no folders: its definitions know nothing of them.
  expect(Object.values(localAnnotation).filter((name) => name in annotationRules)).toEqual([]);
  expect(longestDuration).toBe(8_784 * 3_600_000);
});
