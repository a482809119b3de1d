import { describe, expect, test } from "vitest";

import { chooseGateway, type GatewaySources } from "../../../../runtime/cli/gateways/choose-gateway.ts";

const all: GatewaySources = {
  flag: "https://flag",
  contextFlag: "flagged",
  environment: {
    WEIR_CONTEXT: "variable",
    WEIR_GATEWAY: "https://variable",
    OPENFAAS_URL: "https://openfaas",
  },
  project: "https://project",
  local: "http://127.0.0.1:1234",
  contexts: {
    current: "current",
    contexts: {
      flagged: { gateway: "https://context-flag", namespace: "a" },
      variable: { gateway: "https://context-variable" },
      current: { gateway: "https://context-current" },
    },
  },
};

/** What says which gateway is meant, the strongest first: without those before it, each decides. */
const order: readonly (readonly [address: string, source: string, without: Partial<GatewaySources>])[] = [
  ["https://flag", "--gateway", {}],
  ["https://context-flag", 'context "flagged"', { flag: undefined }],
  ["https://context-variable", 'context "variable"', { contextFlag: undefined }],
  ["https://variable", "WEIR_GATEWAY", { environment: { ...all.environment, WEIR_CONTEXT: undefined } }],
  ["https://project", "weir.yaml", { environment: { OPENFAAS_URL: "https://openfaas" } }],
  ["http://127.0.0.1:1234", ".weir/address", { project: undefined }],
  ["https://context-current", 'context "current"', { local: undefined }],
  ["https://openfaas", "OPENFAAS_URL", { contexts: { contexts: {} } }],
  ["http://127.0.0.1:8080", "the default", { environment: {} }],
];

test.each(order.map(([address, source], index) => [address, source, index] as const))(
  "%s is of %s",
  (address, source, index) => {
    const without = order.slice(0, index + 1).map(([, , each]) => each);
    const sources = Object.assign({}, all, ...without) as GatewaySources;
    expect(chooseGateway(sources)).toMatchObject({ address, source, byProject: source === "weir.yaml" });
  },
);

const none: GatewaySources = {
  flag: undefined,
  contextFlag: undefined,
  environment: {},
  project: undefined,
  local: undefined,
  contexts: { contexts: {} },
};

test("empty variables and flags say nothing", () => {
  const environment = { WEIR_CONTEXT: "", WEIR_GATEWAY: "", OPENFAAS_URL: "" };
  expect(chooseGateway({ ...none, flag: "", contextFlag: "", project: "", environment }).source).toBe("the default");
});

test("a context comes with its namespace and TLS files, an address without", () => {
  expect(chooseGateway({ ...all, flag: undefined }).context).toEqual({
    gateway: "https://context-flag",
    namespace: "a",
  });
  expect(chooseGateway(all).context).toBeUndefined();
});

describe("a context that does not exist", () => {
  const { contexts } = all;
  test.each([
    ["--context", { ...none, contexts, contextFlag: "flaged" }, '; did you mean "flagged"?'],
    ["WEIR_CONTEXT", { ...none, contexts, environment: { WEIR_CONTEXT: "zzz" } }, ""],
    ["--context", { ...none, contexts, contextFlag: "toString" }, ""],
    ["the contexts", { ...none, contexts: { contexts: {}, current: "gone" } }, ""],
  ])("of %s is exit code 2", (source, sources, question) => {
    const name = sources.contextFlag ?? sources.environment["WEIR_CONTEXT"] ?? sources.contexts.current ?? "";
    expect(() => chooseGateway(sources)).toThrow(
      expect.objectContaining({
        exit: 2,
        message: `Cannot use context "${name}" of ${source}: there is none${question}`,
        hint: "weir context list",
      }),
    );
  });
});

describe("weir.yaml beside a current context", () => {
  const current = { current: "prod", contexts: { prod: { gateway: "Prod.example.com" } } };

  test("says which is used when they differ", () => {
    expect(chooseGateway({ ...none, project: "https://test.example.com", contexts: current }).note).toBe(
      'Using https://test.example.com of weir.yaml, not Prod.example.com of the current context "prod"',
    );
  });

  test.each([
    ["the same gateway", { ...none, project: "https://prod.example.com/", contexts: current }],
    ["no current context", { ...none, project: "https://a", contexts: { contexts: current.contexts } }],
    ["a current context that is gone", { ...none, project: "https://a", contexts: { contexts: {}, current: "x" } }],
    ["no project", { ...none, contexts: current }],
    ["a flag", { ...none, flag: "https://b", project: "https://a", contexts: current }],
  ])("says nothing with %s", (_, sources) => {
    expect(chooseGateway(sources).note).toBeUndefined();
  });
});
