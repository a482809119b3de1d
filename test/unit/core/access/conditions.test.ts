import { describe, expect, test } from "vitest";

import type { Claims } from "../../../../runtime/core/access/claims.ts";
import { isPrincipal, meetsCondition } from "../../../../runtime/core/access/conditions.ts";

describe("a condition", () => {
  test.each<[string, string | string[], Claims["team"], boolean]>([
    ["StringEqual", "core", "core", true],
    ["StringEqual", ["web", "core"], "core", true],
    ["StringEqual", "core", "Core", false],
    ["StringEqual", "c*", "core", false],
    ["StringEqual", "core", undefined, false],
    ["StringEquals", "core", "core", true],
    ["StringEquals", "core", "web", false],
    ["StringEqualIgnoreCase", "CORE", "core", true],
    ["StringEqualIgnoreCase", "core", "CORE", true],
    ["StringEqualIgnoreCase", "core", "web", false],
    ["StringLike", "c*e", "core", true],
    ["StringLike", "c*", "web", false],
    ["ForAnyValue:StringEqual", "core", "core", true],
    ["ForAnyValue:StringEqual", "core", ["web", "core"], true],
    ["ForAnyValue:StringEqual", ["ops", "core"], ["web", "core"], true],
    ["ForAnyValue:StringEqual", "ops", ["web", "core"], false],
    ["ForAnyValue:StringEqual", "core", [], false],
  ])("%s of %j is met by %j: %s", (operator, wanted, team, isMet) => {
    expect(meetsCondition({ [operator]: { "jwt:team": wanted } }, { team })).toBe(isMet);
  });

  test.each(["StringEqual", "StringEquals", "StringEqualIgnoreCase", "StringLike"])(
    "%s takes a list of one as its member, and is not met by a longer one",
    (operator) => {
      const isMet = (team: readonly unknown[]): boolean =>
        meetsCondition({ [operator]: { "jwt:team": "core" } }, { team });
      expect([isMet(["core"]), isMet(["web"]), isMet(["core", "web"]), isMet([])]).toEqual([true, false, false, false]);
      // What has no text is a member all the same.
      expect([isMet(["core", null]), isMet([{}, "core"])]).toEqual([false, false]);
    },
  );

  test("is met only if all of its operators and claims are", () => {
    const condition = {
      StringEqual: { "jwt:team": "core", "jwt:region": "eu" },
      StringLike: { "jwt:sub": "a*" },
    };
    const claims = { team: "core", region: "eu", sub: "alice" };
    expect(meetsCondition(condition, claims)).toBe(true);
    for (const name of ["team", "region", "sub"])
      expect(meetsCondition(condition, { ...claims, [name]: "x" })).toBe(false);
  });

  test("with an operator that is not known is never met", () => {
    for (const operator of ["StringNotEquals", "toString"]) {
      expect(meetsCondition({ [operator]: { "jwt:team": "core" } }, { team: "core" })).toBe(false);
      expect(meetsCondition({ [operator]: {} }, { team: "core" })).toBe(false);
    }
  });

  test("that is absent is met by all", () => {
    expect(meetsCondition(undefined, {})).toBe(true);
  });
});

describe("a principal", () => {
  const principal = { "jwt:iss": ["https://idp.example"], "jwt:team": ["core", "web"] };

  test.each<[Claims, boolean]>([
    [{ iss: "https://idp.example", team: "web" }, true],
    [{ iss: "https://idp.example", team: ["core"] }, true],
    [{ iss: "https://idp.example", team: ["core", "web"] }, false],
    [{ iss: "https://idp.example", team: "Core" }, false],
    [{ iss: "https://idp.example" }, false],
    [{ team: "core" }, false],
  ])("is one whose claims each equal a text, as in %j: %s", (claims, isOne) => {
    expect(isPrincipal(principal, claims)).toBe(isOne);
  });

  test("that is absent is everybody", () => {
    expect(isPrincipal(undefined, {})).toBe(true);
  });
});
