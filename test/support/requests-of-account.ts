import type { TestCluster } from "./test-cluster.ts";

/** Counts the requests of one service account, as the API server counts them. */
export interface RequestsOfAccount {
  /** So far; a watch counts as one. */
  count(): Promise<number>;
}

const metric = "apiserver_flowcontrol_dispatched_requests_total";

/**
 * Gives the account's requests their own FlowSchema, at the priority level that they have anyway, because the API
 * server counts by FlowSchema. Closing the cluster removes it.
 */
export async function countRequestsOf(cluster: TestCluster, account: string): Promise<RequestsOfAccount> {
  const { namespace } = cluster;
  const name = `${namespace}-${account}`;
  const any = { verbs: ["*"], apiGroups: ["*"], resources: ["*"], clusterScope: true, namespaces: ["*"] };
  await cluster.apply({
    apiVersion: "flowcontrol.apiserver.k8s.io/v1",
    kind: "FlowSchema",
    metadata: { name },
    spec: {
      priorityLevelConfiguration: { name: "workload-low" },
      matchingPrecedence: 100,
      distinguisherMethod: { type: "ByUser" },
      rules: [
        {
          subjects: [{ kind: "ServiceAccount", serviceAccount: { name: account, namespace } }],
          resourceRules: [any],
          nonResourceRules: [{ verbs: ["*"], nonResourceURLs: ["*"] }],
        },
      ],
    },
  });
  return {
    count: async () => {
      const text = await cluster.kubectl(["get", "--raw=/metrics"], { namespace: null });
      const lines = text
        .split("\n")
        .filter((line) => line.startsWith(`${metric}{`) && line.includes(`flow_schema="${name}"`));
      return lines.reduce((sum, line) => sum + Number(line.split(" ").at(-1)), 0);
    },
  };
}
