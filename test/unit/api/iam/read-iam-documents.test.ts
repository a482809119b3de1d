import { describe, expect, test } from "vitest";

import { checkIamManifest } from "../../../../runtime/api/iam/iam-document.ts";
import { iamKinds, iamValidator, type IamKind } from "../../../../runtime/api/iam/iam-schemas.ts";
import { readIamDocuments } from "../../../../runtime/api/iam/read-iam-documents.ts";
import { manifestExamples } from "../../../../scripts/crds/examples.ts";
import { badRows, goodRows, objectOf } from "../../../support/custom-resource-rows.ts";

const head = (kind: string, name = "a"): string =>
  `apiVersion: iam.service.com/v1\nkind: ${kind}\nmetadata:\n  name: ${name}\n`;
const role = (spec: string): string => `${head("Role")}spec:\n  policy: [p]\n${spec}`;
const statement = (fields: string): string => `${head("Policy")}spec:\n  statement:\n  - ${fields}`;
const issuer = (fields: string): string =>
  `${head("JwtIssuer")}spec:\n  iss: https://a.example\n  aud: [weir]\n${fields}`;
const sentences = (text: string): string[] =>
  [...readIamDocuments(text)].map((read) => `${read.line} ${read.sentence ?? read.document?.name}`);

describe("a manifest", () => {
  test.each(["JwtIssuer", "Policy", "Role"] as const)("of kind %s as the documents show it is read", (kind) => {
    const example = {
      JwtIssuer: manifestExamples.jwtIssuer,
      Policy: manifestExamples.policy,
      Role: manifestExamples.role,
    }[kind];
    expect(checkIamManifest(example)).toEqual({
      document: { kind, name: example.metadata.name, spec: example.spec },
    });
  });

  test("as kubectl shows it is read, without what Kubernetes added", () => {
    const { metadata, ...others } = manifestExamples.role;
    const added = { uid: "u", resourceVersion: "1", generation: 2, creationTimestamp: "2026-01-01T00:00:00Z" };
    const shown = { ...others, metadata: { ...metadata, ...added, managedFields: [{}] }, status: { conditions: [] } };
    expect(checkIamManifest(shown).document).toEqual(checkIamManifest(manifestExamples.role).document);
  });

  test.each([
    ["no mapping", "- a", "1 it is no manifest: expected a mapping with apiVersion, kind, metadata and spec"],
    ["no kind", "a: b", '1 field "kind" is required'],
    ["another kind", "kind: Function", '1 field "kind" is "Function": expected JwtIssuer, Policy or Role'],
    [
      "a misspelt kind",
      "kind: polcy",
      '1 field "kind" is "polcy": expected JwtIssuer, Policy or Role; did you mean Policy?',
    ],
    [
      "another version",
      role("").replace("v1", "v2"),
      '1 field "apiVersion" is "iam.service.com/v2": expected "iam.service.com/v1"',
    ],
    [
      "a name that Kubernetes refuses",
      role("").replace("name: a", "name: A_b"),
      '4 field "metadata.name" is "A_b": expected a to z, 0 to 9, and "-" and "." inside, at most 253 characters',
    ],
    [
      "a name that is too long",
      role("").replace("name: a", `name: ${"a".repeat(254)}`),
      /^4 field "metadata.name" is "a+…": expected at most 253 characters$/,
    ],
    ["an unknown field", role("  policys: [q]\n"), '7 field "spec.policys" is not known; did you mean policy?'],
    ["an unknown field far from any", role("  effect: Allow\n"), '7 field "spec.effect" is not known'],
    [
      "an unknown field for a required one",
      `${head("Role")}spec:\n  polcy: [p]\n`,
      '6 field "spec.polcy" is not known; did you mean policy?',
    ],
    [
      "an unknown field of metadata",
      role("").replace("  name: a", "  name: a\n  lables: {}"),
      '5 field "metadata.lables" is not known; did you mean labels?',
    ],
    [
      "an unknown operator",
      role("  condition:\n    StringLik:\n      jwt:a: b\n"),
      /^8 field "spec.condition.StringLik" is not an allowed key: expected "StringEqual" or .*; did you mean "StringLike"\?$/,
    ],
    [
      "a claim without prefix",
      role("  condition:\n    StringLike:\n      a: b\n"),
      '9 field "spec.condition.StringLike.a" is not an allowed key: expected "jwt:" and the name of a claim',
    ],
    [
      "a number as value",
      role("  condition:\n    StringLike:\n      jwt:a: 5\n"),
      /^9 field "spec.condition.StringLike.jwt:a" is 5: expected text, or a list of texts/,
    ],
    ["text for a list", role("  principal:\n    jwt:a: b\n"), '8 field "spec.principal.jwt:a" is "b": expected a list'],
    ["an unknown mode", role("  mode: audit\n"), '7 field "spec.mode" is "audit": expected "enforce" or "report"'],
    ["one policy twice", role("").replace("[p]", "[p, p]"), '6 field "spec.policy" is a list: expected no item twice'],
    ["no policy", role("").replace("[p]", "[]"), '6 field "spec.policy" is an empty list: expected something in it'],
    ["no spec", `${head("Role")}spec:\n`, '5 field "spec" is empty: expected a mapping'],
    [
      "an unknown action",
      statement("sid: s\n    effect: Allow\n    action: [Function:Lst]\n    resource: ['*']\n"),
      '9 field "spec.statement[0].action[0]" is "Function:Lst": expected an action such as "Function:Delete" or "Function:*"; did you mean "Function:List"?',
    ],
    [
      "an action that ends with a pattern",
      statement("sid: s\n    effect: Allow\n    action: [Function:Del*]\n    resource: ['*']\n"),
      /^9 field "spec.statement\[0\].action\[0\]" is "Function:Del\*": expected an action/,
    ],
    [
      "a denial",
      statement("sid: s\n    effect: Deny\n    action: ['*']\n    resource: ['*']\n"),
      '8 field "spec.statement[0].effect" is "Deny": expected "Allow"',
    ],
    [
      "a pattern without colon",
      statement("sid: s\n    effect: Allow\n    action: ['*']\n    resource:\n    - a:*\n    - dev\n"),
      '12 field "spec.statement[0].resource[1]" is "dev": expected "*", "namespace:*" or "namespace:function", which are matched as a whole; "*" may stand inside a part',
    ],
    [
      "a regular expression",
      statement("sid: s\n    effect: Allow\n    action: ['*']\n    resource: ['^dev:.*$']\n"),
      /^10 field "spec.statement\[0\].resource\[0\]" is "\^dev:\.\*\$": expected "\*", /,
    ],
    ["a list for text", issuer("  issInternal: [a]\n"), '8 field "spec.issInternal" is a list: expected text'],
    [
      "an address of another scheme",
      issuer("").replace("https", "ftp"),
      '6 field "spec.iss" is "ftp://a.example": expected an address such as https://issuer.example.com',
    ],
    [
      "a duration that is too short",
      issuer("  tokenExpiry: 999ms\n"),
      '8 field "spec.tokenExpiry" is "999ms": expected a duration of at least 1s',
    ],
    [
      "a duration that is too long",
      issuer("  tokenExpiry: 9000h\n"),
      '8 field "spec.tokenExpiry" is "9000h": expected a duration of at least 1s',
    ],
    ["a duration without unit", issuer("  tokenExpiry: 90\n"), '8 field "spec.tokenExpiry" is 90: expected text'],
    [
      "a misspelt field of login",
      issuer("  login:\n    clientID: a\n"),
      '9 field "spec.login.clientID" is not known; did you mean clientId?',
    ],
    ["an alias inside its anchor", "a: &a [*a]", '1 alias "a" names nothing before it'],
    ["a key twice", "kind: Role\nkind: Role", '1 key "kind" comes twice'],
    ["no YAML", "a:\n  b: [c", /^2 it is not YAML of the core schema: /],
    ["a tag", "a: b\nc: !!binary d", /^2 it is not YAML of the core schema: /],
    ["too many levels", "[".repeat(1_000), "1 it is nested deeper than 32 levels"],
    ["64 KiB", `a: ${"b".repeat(65_536)}`, "1 it is over the limit of 65536 bytes"],
  ])("with %s is refused by a sentence", (_what, text, expected) => {
    const found = sentences(text);
    expect(found).toHaveLength(1);
    if (typeof expected === "string") expect(found[0]).toBe(expected);
    else expect(found[0]).toMatch(expected);
  });

  test.each(["1s", "8784h", "1m30s", "90s"])("with the duration %s is read", (duration) => {
    expect(sentences(issuer(`  tokenExpiry: ${duration}\n`))).toEqual(["1 a"]);
  });
});

test("what the API server of Kubernetes accepts and refuses is accepted and refused", () => {
  const isIam = ({ kind }: { readonly kind: string }): boolean => ["jwtIssuer", "policy", "role"].includes(kind);
  const [good, bad] = [goodRows.filter(isIam), badRows.filter(isIam)];
  expect([good.length > 5, bad.length > 5]).toEqual([true, true]);
  for (const row of good) expect([row, checkIamManifest(objectOf(row)).finding?.sentence]).toEqual([row, undefined]);
  for (const row of bad) expect([row, checkIamManifest(objectOf(row)).document]).toEqual([row, undefined]);
});

test("documents are read apart from each other, with their lines", () => {
  const text = [
    "# who may what",
    "---",
    "",
    head("Role", "one") + "spec: {policy: [p]}",
    "--- # the next",
    head("Role", "two") + "spec: {policy: p}",
    "...",
    "---",
    "---",
    "kind: [",
    "---",
    head("Role", "three") + 'spec:\n  policy: [p]\n  principal:\n    jwt:sub: ["--- a"]',
    "...",
  ].join("\n");
  expect(sentences(text)).toEqual([
    "4 one",
    '14 field "spec.policy" is "p": expected a list',
    expect.stringMatching(/^1[89] it is not YAML/),
    "20 three",
  ]);
  expect(sentences(text.replaceAll("\n", "\r\n"))).toEqual(sentences(text));
});

test("nothing, comments and empty documents are no documents", () => {
  for (const text of ["", "\n", "# a\n", "---\n---\n", "...\n", "--- # a\n\n---"]) expect(sentences(text)).toEqual([]);
});

test("every pattern of the schemas is explained in words", () => {
  const patterns = (schema: unknown): string[] =>
    typeof schema !== "object" || schema === null
      ? []
      : Object.entries(schema).flatMap(([key, inner]) =>
          key === "pattern" && typeof inner === "string" ? [inner] : patterns(inner),
        );
  const wrong = {
    iss: "ftp:",
    issInternal: "x",
    clientSecretName: "A",
    scopes: ["a b"],
    resource: ["a"],
    policy: ["A"],
  };
  const specs: Readonly<Record<IamKind, readonly object[]>> = {
    JwtIssuer: [
      { iss: wrong.iss, aud: ["a"] },
      { iss: "https://a", aud: ["a"], issInternal: wrong.issInternal },
      { iss: "https://a", aud: ["a"], login: { clientId: "a", clientSecretName: wrong.clientSecretName } },
      { iss: "https://a", aud: ["a"], login: { clientId: "a", scopes: wrong.scopes } },
    ],
    Policy: [
      { statement: [{ sid: "s", effect: "Allow", action: ["*"], resource: wrong.resource }] },
      {
        statement: [
          { sid: "s", effect: "Allow", action: ["*"], resource: ["*"], condition: { StringLike: { a: "b" } } },
        ],
      },
    ],
    Role: [
      { policy: wrong.policy },
      { policy: ["a"], principal: { a: ["b"] } },
      { policy: ["a"], condition: { StringLike: { a: "b" } } },
    ],
  };
  for (const kind of Object.keys(iamKinds) as IamKind[]) {
    expect([kind, specs[kind].length]).toEqual([kind, patterns(iamKinds[kind].spec).length]);
    for (const spec of specs[kind]) {
      const { finding } = checkIamManifest({ apiVersion: "iam.service.com/v1", kind, metadata: { name: "a" }, spec });
      expect(finding?.sentence).toMatch(/: expected /);
      expect(finding?.sentence).not.toContain("text like");
    }
  }
});

test("a kind whose schema has a rule that only Kubernetes could check does not compile", () => {
  // Each rule of the schemas has a counterpart here, or this throws.
  for (const kind of Object.keys(iamKinds) as IamKind[]) expect(iamValidator(kind)).toBeTypeOf("function");
});
