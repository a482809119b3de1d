import { Agent, request } from "undici";

import type { TestCluster } from "./test-cluster.ts";

/** The API server's response. */
export interface ApiServerAnswer {
  readonly status: number;
  /** The object, or a Status that says why there is none. */
  readonly body: {
    readonly message?: string;
    readonly kind?: string;
    readonly spec?: Readonly<Record<string, unknown>>;
    readonly status?: unknown;
  };
}

/** A connection with all rights in the test's namespace, for tests that send more than `kubectl` can in time. */
export interface ApiServerClient {
  send(method: "GET" | "POST" | "PUT", path: string, body?: unknown): Promise<ApiServerAnswer>;
  close(): Promise<void>;
}

/** Opens one as a service account, which it creates in the namespace of the test. */
export async function openApiServerClient(cluster: TestCluster): Promise<ApiServerClient> {
  const { namespace, server, ca } = cluster;
  const rbac = "rbac.authorization.k8s.io";
  await cluster.apply(
    { apiVersion: "v1", kind: "ServiceAccount", metadata: { name: "client" } },
    {
      apiVersion: `${rbac}/v1`,
      kind: "RoleBinding",
      metadata: { name: "client" },
      subjects: [{ kind: "ServiceAccount", name: "client", namespace }],
      roleRef: { apiGroup: rbac, kind: "ClusterRole", name: "cluster-admin" },
    },
  );
  const { token } = await cluster.account("client");
  const dispatcher = new Agent({ connections: 4, connect: ca === "" ? {} : { ca } });
  return {
    async send(method, path, body) {
      const response = await request(new URL(path, server), {
        method,
        dispatcher,
        headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      return { status: response.statusCode, body: (await response.body.json()) as ApiServerAnswer["body"] };
    },
    close: () => dispatcher.close(),
  };
}
