import { expect, test } from "vitest";

import { resolveNamespace, type NamespaceRules } from "../../../runtime/core/namespace-rules.ts";

const rules: NamespaceRules = {
  defaultNamespace: "functions",
  aliases: ["openfaas-fn"],
  platformNamespace: "weir",
  reserved: ["kept"],
  edition: "community",
};

test.each([undefined, "functions", "openfaas-fn"])("%s means the default one", (name) => {
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

test("with several namespaces an unknown one is what the route says", () => {
  for (const unknown of ["validation_failed", "namespace_not_found"] as const) {
    expect(() => resolveNamespace("dev", { ...rules, edition: "pro" }, unknown)).toThrow(
      expect.objectContaining({ code: unknown }),
    );
  }
});
