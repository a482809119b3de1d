import fc from "fast-check";
import { expect, test } from "vitest";

import { coversResource, namesAction } from "../../../../runtime/core/access/decide-access.ts";
import { matchesWildcard } from "../../../../runtime/core/access/wildcard.ts";

/** Few letters, so that patterns match often; and what means something in regular expressions. */
const letters = fc.constantFrom("a", "b", "*", ".", "?", "[", "\\", "$", "é", "\n", "-");
const words = (max: number) => fc.array(letters, { maxLength: max }).map((all) => all.join(""));

/** The whole text, `*` for any text, all else for itself. */
function oracle(pattern: string): RegExp {
  const source = pattern.replaceAll(/[.?+^$[\]\\(){}|/-]/g, "\\$&").replaceAll("*", "[^]*");
  return new RegExp(`^${source}$`);
}

/** A text that a pattern matches: each `*` is replaced. */
const matched = fc
  .tuple(words(6), fc.array(words(3), { minLength: 6, maxLength: 6 }))
  .map(([pattern, fillings]): [string, string] => {
    let used = 0;
    return [pattern, pattern.replaceAll("*", () => fillings[used++] ?? "")];
  });

test("a pattern matches what the anchored regular expression matches", () => {
  fc.assert(
    fc.property(fc.oneof(fc.tuple(words(6), words(8)), matched), ([pattern, text]) => {
      expect([pattern, text, matchesWildcard(pattern, text)]).toEqual([pattern, text, oracle(pattern).test(text)]);
    }),
    { numRuns: 3_000 },
  );
});

test.each([
  ["ab*ba", "aba", false],
  ["ab*ba", "abba", true],
  ["a*b*b", "ab", false],
  ["a*b*b", "abb", true],
  ["*ab*ab*", "ab", false],
  ["*ab*ab*", "abab", true],
])("no two parts of a pattern share a letter: %s matches %s: %s", (pattern, text, expected) => {
  expect(matchesWildcard(pattern, text)).toBe(expected);
});

test("a pattern matches itself with anything for each *, and nothing that is added outside", () => {
  fc.assert(
    fc.property(matched, fc.constantFrom("x", "y"), ([pattern, text], added) => {
      expect(matchesWildcard(pattern, text)).toBe(true);
      if (!pattern.startsWith("*")) expect(matchesWildcard(pattern, `${added}${text}`)).toBe(false);
      if (!pattern.endsWith("*")) expect(matchesWildcard(pattern, `${text}${added}`)).toBe(false);
    }),
    { numRuns: 1_000 },
  );
});

const part = fc.array(fc.constantFrom("a", "b", "-", "*"), { minLength: 1, maxLength: 5 }).map((all) => all.join(""));
const name = fc.array(fc.constantFrom("a", "b", "-"), { minLength: 1, maxLength: 6 }).map((all) => all.join(""));

test("namespace and function are each matched as a whole: no * reaches across the colon", () => {
  fc.assert(
    fc.property(part, part, name, name, (wantedNamespace, wantedName, namespace, functionName) => {
      const expected = oracle(wantedNamespace).test(namespace) && oracle(wantedName).test(functionName);
      expect(coversResource(`${wantedNamespace}:${wantedName}`, `${namespace}:${functionName}`)).toBe(expected);
      expect(coversResource("*", `${namespace}:${functionName}`)).toBe(true);
      expect(coversResource(wantedNamespace, `${namespace}:${functionName}`)).toBe(wantedNamespace === "*");
    }),
    { numRuns: 2_000 },
  );
});

test("an action is named by itself, its kind or all, and by nothing else", () => {
  const kind = fc.constantFrom("Function", "Functio", "FunctionX", "Secret", "");
  const verb = fc.constantFrom("List", "Lis", "ListX", "*", "");
  fc.assert(
    fc.property(kind, verb, kind, verb, (listedKind, listedVerb, wantedKind, wantedVerb) => {
      const listed = `${listedKind}:${listedVerb}`;
      const action = `${wantedKind}:${wantedVerb}`;
      const expected = listed === action || (listedKind === wantedKind && listedVerb === "*");
      expect([listed, action, namesAction(listed, action)]).toEqual([listed, action, expected]);
      expect(namesAction("*", action)).toBe(true);
    }),
  );
});
