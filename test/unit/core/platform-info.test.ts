import { expect, test } from "vitest";

import { type InfoFacts, platformInfo } from "../../../runtime/core/platform-info.ts";

const version = { release: "0.1.0", sha: "abc", commit_message: "A change" };
const facts: InfoFacts = {
  provider: "local",
  version,
  arch: "x64",
  edition: "enterprise",
  functionNamespace: "functions",
  namespaceAliases: ["openfaas-fn"],
  durability: "interval",
};

test.each([
  ["local", "weir-local", "process"],
  ["docker", "weir-docker", "docker"],
  ["kubernetes", "weir-kubernetes", "kubernetes"],
] as const)("provider %s is %s, orchestration %s, with its version in parts", (provider, name, orchestration) => {
  expect(platformInfo({ ...facts, provider })).toMatchObject({
    provider: { provider: name, orchestration, version },
    version,
  });
});

test.each([
  ["x64", "x86_64"],
  ["arm64", "arm64"],
])("processor %s is called %s", (arch, name) => {
  expect(platformInfo({ ...facts, arch }).arch).toBe(name);
});

test("it tells the namespace of functions and its other names, the edition, and how much a crash may lose", () => {
  expect(platformInfo(facts)).toMatchObject({
    functionNamespace: "functions",
    namespaceAliases: ["openfaas-fn"],
    edition: "enterprise",
    durability: "interval",
  });
});
