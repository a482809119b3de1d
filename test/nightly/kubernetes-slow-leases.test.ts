import { expect, test } from "vitest";

import { operatorCluster } from "../../runtime/adapters/kubernetes/open-kubernetes.ts";
import { Leadership } from "../../runtime/core/leadership.ts";
import { pauseFor } from "../../runtime/process/pause-for.ts";
import { eventually } from "../support/eventually.ts";
import { openKubernetesApi } from "../support/kubernetes-api.ts";

const places = { edition: "community", functionNamespace: "fn", platformNamespace: "weir" } as const;
/** With 5 s per response a renewal has 6 s to spare: a busy machine may take some of them. */
const leaseTtl = 20_000;

test("an API server that responds in 5 s does not cost the leader its lease", async () => {
  const api = await openKubernetesApi();
  const cluster = operatorCluster(api.config, places, { onFailure: () => {}, onRecovered: () => {} });
  try {
    api.faults.delay = () => 5_000;
    const changes: boolean[] = [];
    const stop = new AbortController();
    const leadership = new Leadership({
      leases: cluster.leases,
      name: "process.operator",
      leaseTtl,
      now: () => performance.now(),
      pause: pauseFor,
      onChange: (leads) => changes.push(leads),
      onError: () => {},
    });
    const running = leadership.run(stop.signal);
    const renewals = (): number =>
      api.requests.filter(({ path, method }) => path.includes("/leases") && method === "PUT").length;
    await eventually(() => renewals() >= 2, { within: 60_000, what: "the first renewal in time" });
    const from = changes.length;
    await eventually(() => renewals() >= 5, { within: 60_000, what: "more renewals" });
    expect(changes.slice(from)).toEqual([]);
    expect(leadership.leads).toBe(true);
    api.faults.delay = undefined;
    stop.abort();
    await running;
  } finally {
    await cluster.close();
    await api.close();
  }
});
