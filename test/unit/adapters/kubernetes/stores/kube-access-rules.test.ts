import { afterEach, beforeEach, describe, expect, test } from "vitest";

import { KubeClient } from "../../../../../runtime/adapters/kubernetes/client/client.ts";
import { KubeAccessRules } from "../../../../../runtime/adapters/kubernetes/stores/kube-access-rules.ts";
import { ruleKinds } from "../../../../../runtime/adapters/kubernetes/stores/watched-rules.ts";
import type { RuleSet } from "../../../../../runtime/core/access/rule-set.ts";
import { accessRulesContract } from "../../../../contract/access-rules.contract.ts";
import { eventually } from "../../../../support/eventually.ts";
import { heardFailures } from "../../../../support/heard-failures.ts";
import { openKubernetesApi, type KubernetesApi } from "../../../../support/kubernetes-api.ts";

const namespace = "weir";
const failures = heardFailures();
const policy = (name: string, action = "Function:*") => ({
  metadata: { namespace, name },
  spec: { statement: [{ sid: "s", effect: "Allow", action: [action], resource: ["dev:*"] }] },
});

let api: KubernetesApi;
let client: KubeClient;

beforeEach(async () => {
  api = await openKubernetesApi();
  client = new KubeClient(api.config, { fieldManager: "test", firstDelay: 5, longestDelay: 20 });
});
afterEach(async () => {
  try {
    failures.none();
  } finally {
    await client.close();
    await api.close();
  }
});

describe("KubeAccessRules", () =>
  accessRulesContract(async () => {
    const rules = new KubeAccessRules(client, { namespace, onFailure: failures.hear });
    return {
      rules,
      put: async ({ kind, metadata, spec }) =>
        void api.store.write(ruleKinds[kind], { metadata: { ...metadata, namespace }, spec } as never),
      remove: async ({ kind, metadata }) => void api.store.remove(ruleKinds[kind].plural, namespace, metadata.name),
      close: () => rules.close(),
    };
  }));

async function opened(body: (seen: readonly RuleSet[]) => Promise<void>, onFailure = failures.hear): Promise<void> {
  const rules = new KubeAccessRules(client, { namespace, onFailure });
  const seen: RuleSet[] = [];
  try {
    await rules.watch((each) => void seen.push(each));
    await body(seen);
  } finally {
    await rules.close();
  }
}

test("what means nothing for the rules changes nothing, and one that is being deleted counts no more", async () => {
  api.store.write(ruleKinds.Policy, policy("one"));
  api.store.write(ruleKinds.Policy, { ...policy("two"), metadata: { namespace: "other", name: "two" } });
  await opened(async (seen) => {
    expect([...(seen[0]?.policies.keys() ?? [])]).toEqual(["one"]);
    const status = { conditions: [] };
    api.store.write(ruleKinds.Policy, { ...policy("one"), status } as never);
    api.store.write(ruleKinds.Policy, policy("three"));
    await eventually(() => seen.at(-1)?.policies.size === 2, { what: "the other policy" });
    expect(seen).toHaveLength(2);
    const metadata = { namespace, name: "one", deletionTimestamp: "2026-01-01T00:00:00Z", finalizers: ["x/y"] };
    api.store.write(ruleKinds.Policy, { ...policy("one"), metadata });
    await eventually(() => seen.at(-1)?.policies.size === 1, { what: "the deletion" });
    expect([...(seen.at(-1)?.policies.keys() ?? [])]).toEqual(["three"]);
  });
});

test("changes that come together are one change of the rules", async () => {
  await opened(async (seen) => {
    for (let count = 0; count < 100; count += 1) api.store.write(ruleKinds.Policy, policy(`p-${count}`));
    await eventually(() => seen.at(-1)?.policies.size === 100, { what: "all policies" });
    expect(seen.length).toBeLessThan(50);
  });
});

test("while the API server is away the known rules stay, and what changed meanwhile follows", async () => {
  api.store.write(ruleKinds.Policy, policy("one"));
  const away: unknown[] = [];
  await opened(
    async (seen) => {
      await api.down();
      await eventually(() => away.length > 0, { what: "a failure" });
      api.store.write(ruleKinds.Policy, policy("two"));
      expect(seen).toHaveLength(1);
      await api.up();
      await eventually(() => seen.at(-1)?.policies.size === 2, { what: "the change" });
    },
    (err) => void away.push(err),
  );
});

test("closing ends a watch() that waits for the API server", async () => {
  api.faults.hangs = true;
  const rules = new KubeAccessRules(client, { namespace, onFailure: () => {} });
  const ended = expect(rules.watch(() => {})).rejects.toMatchObject({ code: "provider_unavailable" });
  await rules.close();
  await ended;
});
