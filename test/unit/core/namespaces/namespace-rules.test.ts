import { expect, test } from "vitest";

import {
  realNamespace,
  resolveNamespace,
  type NamespaceRules,
} from "../../../../runtime/core/namespaces/namespace-rules.ts";

const rules: NamespaceRules = {
  defaultNamespace: "functions",
  aliases: ["openfaas-fn"],
  platformNamespace: "weir",
  reserved: ["kept"],
  edition: "community",
  exists: (name) => ["dev", "kept"].includes(name),
};
const pro: NamespaceRules = { ...rules, edition: "pro" };

test.each([undefined, "functions", "openfaas-fn"])("%s means the default namespace", (name) => {
  expect(resolveNamespace(name, rules, "namespace_not_found")).toBe("functions");
});

test("a default namespace may have any name, even one that would be reserved", () => {
  expect(resolveNamespace("default", { ...rules, defaultNamespace: "default" }, "namespace_not_found")).toBe("default");
});

test.each([
  ["", "validation_failed"],
  ["A", "validation_failed"],
  ["a.b", "validation_failed"],
  ["__proto__", "validation_failed"],
  ["default", "namespace_reserved"],
  ["kube-system", "namespace_reserved"],
  ["weir", "namespace_reserved"],
  ["kept", "namespace_reserved"],
  ["dev", "edition_limit"],
])("%j is refused: %s", (name, code) => {
  expect(() => resolveNamespace(name, rules, "namespace_not_found")).toThrow(expect.objectContaining({ code }));
});

test("with several namespaces an existing name means itself, unless it is reserved", () => {
  expect(resolveNamespace("dev", pro, "namespace_not_found")).toBe("dev");
  expect(() => resolveNamespace("kept", pro, "namespace_not_found")).toThrow(
    expect.objectContaining({ code: "namespace_reserved" }),
  );
});

test("a namespace with the name of an alias outranks it, in editions with several", () => {
  const exists = (name: string): boolean => name === "openfaas-fn";
  expect(resolveNamespace("openfaas-fn", { ...pro, exists }, "namespace_not_found")).toBe("openfaas-fn");
  expect(resolveNamespace("openfaas-fn", pro, "namespace_not_found")).toBe("functions");
  expect(resolveNamespace("openfaas-fn", { ...rules, exists }, "namespace_not_found")).toBe("functions");
});

test("the error of the edition's limit names the edition needed", () => {
  expect(() => resolveNamespace("dev", rules, "namespace_not_found")).toThrow(
    'Cannot use namespace "dev": edition "community" has only "functions", more need edition "pro"',
  );
});

test("with several namespaces the error for an unknown one is that of the route", () => {
  for (const unknown of ["validation_failed", "namespace_not_found"] as const) {
    expect(() => resolveNamespace("qa", pro, unknown)).toThrow(expect.objectContaining({ code: unknown }));
  }
});

test.each([
  ["A", rules, 'Cannot read namespace name "A": only a to z, 0 to 9 and "-" inside are allowed, at most 63 characters'],
  ["weir", rules, 'Cannot use namespace "weir": it is reserved'],
  ["qa", pro, 'Cannot find namespace "qa": it does not exist'],
])("the error says what is wrong with %j", (name, under, sentence) => {
  expect(() => resolveNamespace(name, under, "namespace_not_found")).toThrow(sentence);
});

test.each<[name: string | undefined, real: string]>([
  [undefined, "functions"],
  ["functions", "functions"],
  ["openfaas-fn", "functions"],
  ["dev", "dev"],
  ["never", "never"],
])("rights in namespace %s are those in %s, whether it exists or not", (name, real) => {
  expect(realNamespace(name, pro)).toBe(real);
});

test("rights in a namespace with the name of an alias are its own", () => {
  const exists = (name: string) => name === "openfaas-fn";
  expect(realNamespace("openfaas-fn", { ...pro, exists })).toBe("openfaas-fn");
});
