import { afterAll, beforeAll, describe, expect, test } from "vitest";

import type { KubeClient } from "../../../runtime/adapters/kubernetes/client/client.ts";
import { kinds } from "../../../runtime/adapters/kubernetes/client/kinds.ts";
import { OperatedRules } from "../../../runtime/adapters/kubernetes/operator/rules/operated-rules.ts";
import { KubeAccessRules } from "../../../runtime/adapters/kubernetes/stores/kube-access-rules.ts";
import { ruleKinds, WatchedRules } from "../../../runtime/adapters/kubernetes/stores/watched-rules.ts";
import { accessRulesContract, type IamManifest } from "../../contract/access-rules.contract.ts";
import { eventually } from "../../support/eventually.ts";
import { openKubeFixture, type KubeFixture } from "../../support/kube-fixture.ts";

const resources = [kinds.jwtIssuer, kinds.policy, kinds.role];
const group = { apiGroups: [kinds.role.group] };
const failOnError = (err: unknown): void => {
  throw err;
};
let fixture: KubeFixture;
let gateway: KubeClient;
let operator: KubeClient;
let namespace: string;

beforeAll(async () => {
  fixture = await openKubeFixture();
  const watched = { ...group, resources: resources.map(({ plural }) => plural), verbs: ["list", "watch"] };
  const conditions = { ...group, resources: resources.map(({ plural }) => `${plural}/status`), verbs: ["patch"] };
  gateway = await fixture.clientOf("gateway", [watched]);
  operator = await fixture.clientOf("operator", [watched, conditions]);
  [namespace] = fixture.namespaces;
});
afterAll(() => fixture?.close());

async function put({ kind, metadata: { name }, spec }: IamManifest): Promise<void> {
  const object = { metadata: { namespace, name }, spec };
  await fixture.admin.apply(ruleKinds[kind], object, { namespace, name }, { force: true });
}

describe("KubeAccessRules", () =>
  accessRulesContract(async () => {
    const rules = new KubeAccessRules(gateway, { namespace, onFailure: failOnError });
    return {
      rules,
      put,
      remove: ({ kind, metadata: { name } }) => fixture.admin.delete(ruleKinds[kind], { namespace, name }),
      close: async () => {
        await rules.close();
        await fixture.empty(...resources);
      },
    };
  }));

test("objects of another namespace are no rules", async () => {
  const rules = new KubeAccessRules(gateway, { namespace: fixture.namespaces[1], onFailure: failOnError });
  await put({ apiVersion: "iam.service.com/v1", kind: "Role", metadata: { name: "team" }, spec: { policy: ["p"] } });
  const counts: number[] = [];
  await rules.watch(({ roles }) => void counts.push(roles.length));
  expect(counts).toEqual([0]);
  await rules.close();
  await fixture.empty(kinds.role);
});

test("the API server keeps the conditions that the operator writes", async () => {
  const watched = new WatchedRules(operator, { namespace, onFailure: failOnError });
  const roles = new OperatedRules(operator, { kind: "Role", watched, isEnforced: true });
  await put({ apiVersion: "iam.service.com/v1", kind: "Role", metadata: { name: "team" }, spec: { policy: ["p"] } });
  await roles.open(() => {});
  const key = `${namespace}/team`;
  // It may come after the first list.
  await eventually(() => watched.isCurrent && watched.objects("Role").has(key), { what: "the role in the rules" });
  expect(await roles.reconcile(key)).toBeUndefined();
  const { status } = (await fixture.admin.get(kinds.role, { namespace, name: "team" })) as { readonly status?: object };
  expect(status).toMatchObject({
    observedGeneration: 1,
    conditions: [
      { type: "Accepted", status: "True", reason: "Accepted" },
      { type: "Enforced", status: "True", reason: "Enforced" },
      { type: "Ready", status: "False", reason: "Incomplete", message: expect.stringContaining('Policy "p"') },
    ],
  });
  // A status is no change of the rules.
  await eventually(() => watched.objects("Role").get(key)?.status !== undefined, { what: "the status" });
  expect(watched.isCurrent).toBe(true);
  await roles.close();
  await fixture.empty(kinds.role);
});
