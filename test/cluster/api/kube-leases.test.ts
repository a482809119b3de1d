import { afterAll, beforeAll, describe, expect, test } from "vitest";

import type { KubeClient } from "../../../runtime/adapters/kubernetes/client/client.ts";
import { kinds } from "../../../runtime/adapters/kubernetes/client/kinds.ts";
import { KubeLeases } from "../../../runtime/adapters/kubernetes/stores/kube-leases.ts";
import { leasesContract } from "../../contract/leases.contract.ts";
import { openKubeFixture, type KubeFixture } from "../../support/kube-fixture.ts";
import { leaseRights } from "../../support/process-rights.ts";

let fixture: KubeFixture;
let clients: readonly [KubeClient, KubeClient];
let namespace: string;

beforeAll(async () => {
  fixture = await openKubeFixture();
  clients = [await fixture.clientOf("here", leaseRights), await fixture.clientOf("there", leaseRights)];
  [namespace] = fixture.namespaces;
});
afterAll(() => fixture?.close());

describe("KubeLeases", () =>
  leasesContract(async () => ({
    here: new KubeLeases(clients[0], namespace),
    there: new KubeLeases(clients[1], namespace),
    close: () => fixture.empty(kinds.lease),
  })));

interface Spec {
  readonly spec: Readonly<Record<string, unknown>>;
}

test("the times in a lease, and a clock that is wrong by years, do not matter", async () => {
  let now = 0;
  const clock = () => now;
  const here = new KubeLeases(clients[0], namespace, clock);
  const there = new KubeLeases(clients[1], namespace, clock);
  const place = { namespace, name: "skewed" };
  expect(await here.acquire("skewed", "a", 10_000)).toBe(true);
  const spec = { renewTime: "1999-01-01T00:00:00.000000Z", acquireTime: "1999-01-01T00:00:00.000000Z" };
  await fixture.admin.patch(kinds.lease, "merge", { spec }, place);
  expect(await there.acquire("skewed", "b", 10_000)).toBe(false);
  now = 9_999;
  expect(await there.acquire("skewed", "b", 10_000)).toBe(false);
  expect(await here.acquire("skewed", "a", 10_000)).toBe(true);
  now = 19_000;
  // The lease was renewed since it was first seen, whatever its times say.
  expect(await there.acquire("skewed", "b", 10_000)).toBe(false);
  now = 29_000;
  expect(await there.acquire("skewed", "b", 10_000)).toBe(true);
  expect(await here.acquire("skewed", "a", 10_000)).toBe(false);
});

test("its object says who holds it, for how long, since when, and how often the holder changed", async () => {
  const [here, there] = clients.map((client) => new KubeLeases(client, namespace));
  await here?.acquire("told", "a", 1_500);
  await here?.release("told", "a");
  await there?.acquire("told", "b", 1_500);
  const { spec } = (await fixture.admin.get(kinds.lease, { namespace, name: "told" })) as Spec & { metadata: object };
  expect(spec).toMatchObject({ holderIdentity: "b", leaseDurationSeconds: 2, leaseTransitions: 1 });
  expect(Math.abs(Date.parse(String(spec["renewTime"])) - Date.now())).toBeLessThan(60_000);
});
