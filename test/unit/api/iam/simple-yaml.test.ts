import fc from "fast-check";
import { expect, test } from "vitest";
import { stringify } from "yaml";

import { readSimpleYaml } from "../../../../runtime/api/iam/simple-yaml.ts";
import { parseYaml } from "../../../../runtime/api/yaml-document.ts";

const text = (...lines: readonly string[]): string => lines.join("\n");

test("what most manifests hold is read", () => {
  const read = readSimpleYaml(
    text(
      "---",
      "# who may deploy",
      "kind: Role",
      "spec:",
      "  principal:",
      "    jwt:sub: [\"repo:acme/shop\", main, 'a b'] # both",
      "  policy:",
      "  - deployers",
      "  - viewers",
      "  statement:",
      "    - sid: deploy",
      "      action:",
      "        - Function:*",
      '      resource: ["dev:*"]',
      "",
    ),
  );
  expect(read).toEqual({
    kind: "Role",
    spec: {
      principal: { "jwt:sub": ["repo:acme/shop", "main", "a b"] },
      policy: ["deployers", "viewers"],
      statement: [{ sid: "deploy", action: ["Function:*"], resource: ["dev:*"] }],
    },
  });
});

test.each([
  ["a number", "a: 1"],
  ["null", "a: null"],
  ["a boolean", "a: True"],
  ["nothing", "a:"],
  ["an alias", "a: &x b\nc: *x"],
  ["a tag", "a: !x b"],
  ["a text of several lines", "a: b\n  c"],
  ["a block text", "a: |\n  b"],
  ["an escape", 'a: "\\u0041"'],
  ["a tab", "a:\tb"],
  ["a key twice", "a: b\na: c"],
  ["a refused key", "__proto__: b"],
  ["a flow mapping", "a: {b: c}"],
  ["an empty list", "a: []"],
  ["a mapping in a flow list", "a: [b: c]"],
  ["a line that is indented too far", "a: b\n c: d"],
  ["a line that is indented too little", "a:\n    b: c\n  d: e"],
  ["lists of lists", "- - a"],
  ["16 levels", Array.from({ length: 17 }, (_, level) => `${" ".repeat(level)}a:`).join("\n")],
  ["a long text", `a: ${"x".repeat(1_000)}`],
  ["many lines", Array.from({ length: 1_600 }, (_, line) => `k${line}: x`).join("\n")],
  ["nothing at all", "# empty"],
])("%s is left to parseYaml()", (_what, document) => {
  expect(readSimpleYaml(document)).toBeUndefined();
});

const marks =
  "a|b: c|jwt:sub|*|-|- |[|]|, |,|:|: | |  |\"|'|'*'|#| # c|true|Null|1|---|...|&a|*a|{|}|>|\\|?|- k: v|%|@|`|!|<<";
const others = ["\n", "\n  ", "\n    ", "key:", "key: [a, b]", "|", "é", "\u00a0", "\u2028", "\ufeff", "\u0085", "\t"];
const part = fc.constantFrom(...marks.split("|"), ...others);
const manifest = fc.constantFrom(
  "kind: Role\nspec:\n  policy: [a, 'b', \"c d\"]\n  mode: report # no\n",
  "---\na:\n- b: c\n  d:\n    - e:*\n    - f\n- g\nh: i\n",
  "a:\n  b:\n    jwt:c: [https://d.e/f]\n  # g\n  h:\n  - i\nj: 'k'\n",
);
const edit = fc.record({ at: fc.nat(60), removed: fc.nat(3), added: fc.oneof(fc.constant(""), part) });

/** Simple texts with some edits, so that what is read wrongly is found. */
const nearlySimple = fc
  .tuple(manifest, fc.array(edit, { maxLength: 3 }))
  .map(([start, edits]) =>
    edits.reduce<string>((all, { at, removed, added }) => all.slice(0, at) + added + all.slice(at + removed), start),
  );

test("whatever is read, parseYaml() reads as the same", () => {
  fc.assert(
    fc.property(nearlySimple, (document) => {
      const simple = readSimpleYaml(document);
      if (simple !== undefined) expect(parseYaml(Buffer.from(document))).toEqual(simple);
    }),
    { numRuns: 5_000 },
  );
});

test("what a YAML writer wrote of texts in mappings and lists is read as it was, or left", () => {
  const word = fc.stringMatching(/^[A-Za-z][\w./@-]{0,12}$/);
  const value = fc.oneof(
    word,
    fc.string({ unit: "grapheme", maxLength: 6 }),
    fc.array(word, { minLength: 1, maxLength: 3 }),
  );
  const mapping = fc.dictionary(word, fc.oneof(value, fc.dictionary(word, value, { minKeys: 1 })), { minKeys: 1 });
  fc.assert(
    fc.property(mapping, fc.boolean(), (data, indented) => {
      const simple = readSimpleYaml(stringify(data, { indentSeq: indented }));
      if (simple !== undefined) expect(simple).toEqual(data);
    }),
    { numRuns: 300 },
  );
});
