import { afterAll, beforeAll, expect, test } from "vitest";

import { readKubeconfig } from "../../../runtime/adapters/kubernetes/client/kubeconfig.ts";
import type { ClusterConfig } from "../../../runtime/adapters/kubernetes/client/cluster-config.ts";
import {
  autoscalerCluster,
  gatewayCluster,
  historyCluster,
  operatorCluster,
  workerCluster,
} from "../../../runtime/adapters/kubernetes/open-kubernetes.ts";
import { desireFunction } from "../../../runtime/core/functions/desired-function.ts";
import { scaleFunction } from "../../../runtime/core/scaling/scale-function.ts";
import { eventually } from "../../support/eventually.ts";
import { openKubeFixture, type KubeFixture } from "../../support/kube-fixture.ts";
import {
  followCluster,
  followPods,
  functionRights,
  leaseRights,
  namespaceRights,
  readNamespaces,
} from "../../support/process-rights.ts";

let fixture: KubeFixture;
const errors: unknown[] = [];
const news = { onFailure: (err: unknown): void => void errors.push(err), onRecovered: () => {} };

beforeAll(async () => {
  fixture = await openKubeFixture();
});
afterAll(() => fixture?.close());

test.each(["community", "pro"] as const)(
  "in edition %s each process opens what it needs with only its own rights",
  async (edition) => {
    errors.length = 0;
    const { namespaces, cluster } = fixture;
    const many = edition === "pro";
    const configOf = async (name: keyof typeof functionRights): Promise<ClusterConfig> => {
      const rights = [...functionRights[name], ...leaseRights];
      const gateway = many ? namespaceRights : readNamespaces;
      const places = name === "gateway" ? gateway : many ? readNamespaces : [];
      const everywhere = [...places, ...(many ? (name === "history" ? followPods : followCluster) : [])];
      return readKubeconfig(await fixture.kubeconfigOf(name, rights, everywhere));
    };
    const settings = { edition, functionNamespace: namespaces[0], platformNamespace: cluster.namespace };
    const gateway = gatewayCluster(await configOf("gateway"), settings, news);
    const worker = workerCluster(await configOf("queue-worker"), settings, news);
    const autoscaler = autoscalerCluster(await configOf("autoscaler"), settings, news);
    const operator = operatorCluster(await configOf("operator"), settings, news);
    const kept = { keptLogs: true, logFollowMax: 10 };
    const history = historyCluster(await configOf("history"), { ...settings, ...kept }, news);
    try {
      if (many) await cluster.kubectl(["label", "namespace", namespaces[1], "com.service.namespace=1"]);
      const observers: string[] = [];
      const seen = new Set<string>();
      for (const { functions, endpoints } of [gateway, worker, autoscaler]) {
        const who = String(observers.push(""));
        await functions.watch({
          set: ({ name, namespace, replicas }) => seen.add(`${who} ${name} ${namespace} ${replicas}`),
          removed: () => {},
          synced: () => {},
        });
        await endpoints.watch({ set: () => {}, removed: () => {}, synced: () => {} });
      }
      for (const namespace of many ? namespaces : [namespaces[0]]) {
        const ref = { namespace, name: "hello" };
        await gateway.functions.write(ref, () =>
          desireFunction(undefined, namespace, { service: "hello", image: "none" }, new Date().toISOString()),
        );
        await scaleFunction(autoscaler.functions, ref, 2, 0);
        await scaleFunction(worker.functions, ref, 3, 0);
        const expected = ["1", "2", "3"].map((who) => `${who} hello ${namespace} 3`);
        await eventually(() => expected.every((each) => seen.has(each)), { what: "the function" });
        await gateway.functions.remove(ref);
      }
      // Namespaces of other tests exist, too.
      const mine = () => namespaces.filter((name) => operator.namespaces.names.has(name)).length;
      await eventually(() => mine() === (many ? 2 : 1), { what: "namespaces" });
      await eventually(() => history.functions.active(), { what: "the pods" });
      const others = (await history.facts.namespaces?.list())?.map(({ name }) => name);
      expect(others?.includes(namespaces[1])).toBe(many ? true : undefined);
      expect((await gateway.namespaces.get(namespaces[0]))?.name).toBe(namespaces[0]);
      expect(await gateway.secrets.list(namespaces[0])).toEqual([]);
      expect(await autoscaler.leases.acquire("autoscaler", "a", 5_000)).toBe(true);
      expect(await operator.leases.acquire("operator", "a", 5_000)).toBe(true);
      expect(errors.map(String).filter((sentence) => sentence.includes(`"${namespaces[0]}`))).toEqual([]);
    } finally {
      await Promise.all([gateway, worker, autoscaler, operator, history].map((each) => each.close()));
    }
  },
);
