import { readFileSync } from "node:fs";
import { join } from "node:path";

import Type from "typebox";
import { Value } from "typebox/value";
import { LuaFactory } from "wasmoon";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";

import { customResources } from "../../../runtime/api/resources/custom-resources.ts";
import { FunctionSpec } from "../../../runtime/api/resources/function-resource.ts";
import { functionConditions, type ConditionFacts } from "../../../runtime/core/functions/conditions.ts";
import { codeBlocks } from "../../support/markdown-blocks.ts";

const file = join(import.meta.dirname, "..", "..", "..", "docs", "reference", "gitops.md");
const page = readFileSync(file, "utf8");

interface PageObject {
  readonly kind: string;
  readonly spec?: unknown;
  readonly data?: Readonly<Record<string, string>>;
}
const objects = codeBlocks(page)
  .filter(({ language }) => language === "yaml")
  .map(({ text }): PageObject => parse(text));
const key = "resource.customizations.health.service.com_Function";
const scripts = objects.find(({ kind }) => kind === "ConfigMap")?.data ?? {};

/** The health of an object as Argo CD computes it. */
async function health(object: object, script = scripts[key] ?? ""): Promise<unknown> {
  // Tables, as Argo CD passes them, instead of JavaScript objects.
  const engine = await new LuaFactory().createEngine({ enableProxy: false });
  try {
    engine.global.set("obj", object);
    return await engine.doString(script);
  } finally {
    engine.global.close();
  }
}

const settled: ConditionFacts = {
  wanted: 1,
  ready: 1,
  readyCurrent: 1,
  existing: 1,
  superseded: 0,
  backoff: undefined,
  blocked: undefined,
};
const failure = { reason: "SecretNotFound", message: 'secret "api-key" does not exist' };
const none = { ready: 0, readyCurrent: 0, existing: 0 };

/** A Function of generation 3, with the status of the operator. */
function functionWith(facts: Partial<ConditionFacts>, observedGeneration = 3): object {
  const conditions = functionConditions({ ...settled, ...facts }, [], "2026-01-01T00:00:00.000Z");
  return { metadata: { name: "hello", generation: 3 }, status: { conditions, observedGeneration } };
}

describe("the health script for Argo CD", () => {
  test.each<[what: string, status: string, message: string, object: object]>([
    ["nothing said", "Progressing", "The operator has not yet acted on it", { metadata: { generation: 1 } }],
    ["of an older generation", "Progressing", "The operator has not yet acted on it", functionWith({}, 2)],
    ["ready", "Healthy", "1 of 1 replicas is ready", functionWith({})],
    ["scaled-to-zero", "Healthy", "No replica is wanted; a call starts one", functionWith({ ...none, wanted: 0 })],
    ["starting", "Progressing", "0 of 1 replicas are ready", functionWith(none)],
    [
      "rolling",
      "Progressing",
      "0 of 1 new replicas are ready, 1 old ones are left",
      functionWith({ readyCurrent: 0, superseded: 1 }),
    ],
    [
      "stuck",
      "Degraded",
      'SecretNotFound: secret "api-key" does not exist',
      functionWith({ ...none, blocked: failure }),
    ],
    [
      "stalled, and served by the previous deployment",
      "Degraded",
      'SecretNotFound: secret "api-key" does not exist',
      functionWith({ readyCurrent: 0, superseded: 1, blocked: failure }),
    ],
    [
      "ready, and a person has to act",
      "Degraded",
      "QueueNotFound: not declared",
      functionWith({ attention: { reason: "QueueNotFound", message: "not declared" } }),
    ],
  ])("%s", async (_what, status, message, object) => {
    expect(await health(object)).toEqual({ status, message });
  });
});

describe("docs/reference/gitops.md", () => {
  test("shows a valid function without its number of replicas", () => {
    const shown = objects.filter(({ kind }) => kind === "Function").map(({ spec }) => spec);
    expect(shown).toHaveLength(1);
    expect([...Value.Errors(Type.Object(FunctionSpec.properties, { additionalProperties: false }), shown[0])]).toEqual(
      [],
    );
    expect(shown[0]).not.toHaveProperty("replicas");
  });
});

describe("the health scripts of the other kinds", () => {
  const prefix = "resource.customizations.health.";
  const others = Object.values(customResources)
    .filter(({ kind }) => kind !== "Function")
    .map(({ group, kind }) => `${group}_${kind}`);
  const object = (conditions: readonly object[], observedGeneration = 1): object => ({
    metadata: { generation: 1 },
    status: { conditions, observedGeneration },
  });

  test("there is one for each", () => {
    const found = Object.keys(scripts).map((each) => each.replace(prefix, ""));
    expect(found.toSorted()).toEqual([...others, "service.com_Function"].toSorted());
  });

  test.each([
    ["nothing said", "Progressing", { metadata: { generation: 1 } }],
    ["of an older generation", "Progressing", object([{ type: "Ready", status: "True", message: "x" }], 0)],
    ["ready", "Healthy", object([{ type: "Ready", status: "True", reason: "Enforced", message: "x" }])],
    ["accepted, of a kind with nothing more", "Healthy", object([{ type: "Accepted", status: "True", message: "x" }])],
    ["awaited", "Progressing", object([{ type: "Ready", status: "False", reason: "SecretNotFound", message: "x" }])],
    ["refused", "Degraded", object([{ type: "Ready", status: "False", reason: "Refused", message: "x" }])],
  ])("%s: %s", async (_what, status, judged) => {
    for (const name of others) expect(await health(judged, scripts[prefix + name]), name).toMatchObject({ status });
  });
});
