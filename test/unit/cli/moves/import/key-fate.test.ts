import { describe, expect, test } from "vitest";

import { annotationRules, labelRules } from "../../../../../runtime/api/schemas/key-rules.ts";
import { fateOfKey } from "../../../../../runtime/cli/moves/import/key-fate.ts";

const fate = (kind: "labels" | "annotations", key: string, value: string, rename = false) =>
  fateOfKey(kind, key, value, { rename, sample: value });

/** Values, of which each rule takes at least one and refuses at least one. */
const values = [
  "required",
  "all",
  "http1",
  "rps",
  "true",
  "2",
  "0.5",
  "30s",
  "/path",
  "429",
  "word",
  "https://acme.example",
  "GET",
  "",
  "-1",
  "a b",
  "∞",
];

describe.each([
  ["labels", labelRules],
  ["annotations", annotationRules],
] as const)("%s", (kind, rules) => {
  test.each(Object.keys(rules))("%s is kept with the values that Weir takes, and with no others", (name) => {
    const taken = values.filter((value) => rules[name]?.parse(value) !== undefined);
    const refused = values.filter((value) => rules[name]?.parse(value) === undefined);
    expect(taken.length * refused.length).toBeGreaterThan(0);
    for (const prefix of ["com.openfaas.", "com.service."]) {
      for (const value of taken)
        expect(fate(kind, prefix + name, value)).toMatchObject({ kind: "kept", key: prefix + name });
      for (const value of refused) expect(fate(kind, prefix + name, value)).toMatchObject({ kind: "refused" });
    }
    expect(fate(kind, `com.openfaas.${name}`, taken[0] ?? "", true)).toMatchObject({ key: `com.service.${name}` });
  });
});

test.each([
  ["labels", "com.service.scale.mim", "com.service.scale.min"],
  ["annotations", "com.service.queu", "com.service.queue"],
] as const)("%s: %s is refused, as Weir refuses it", (kind, key, instead) => {
  expect(fate(kind, key, "1")).toMatchObject({ kind: "refused", instead });
});

test("keys of others stay, whatever their values are", () => {
  expect(fate("annotations", "com.openfaas.git-sha", "a b", true)).toMatchObject({
    kind: "kept",
    key: "com.openfaas.git-sha",
  });
  expect(fate("labels", "team", "blue", true)).toEqual({ kind: "kept", key: "team", value: "blue" });
});

test.each([
  ["30s", "30"],
  ["2m", "120"],
  ["1500ms", "2"],
])("a delay of %s is %s seconds", (delay, seconds) => {
  expect(fate("annotations", "com.openfaas.health.http.initialDelay", delay)).toEqual({
    kind: "kept",
    key: "com.openfaas.health.http.initialDelaySeconds",
    value: seconds,
  });
});

test.each(["soon", "2h"])("a delay of %s is refused", (delay) => {
  expect(fate("annotations", "com.openfaas.ready.http.initialDelay", delay)).toMatchObject({ kind: "refused" });
});
