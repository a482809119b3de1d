import { beforeAll, expect, test } from "vitest";

import type { CallDetail } from "../../runtime/api/schemas/history/call-detail.ts";
import type { CallPageView } from "../../runtime/api/schemas/history/call-page.ts";
import type { Rollups } from "../../runtime/api/schemas/history/rollups.ts";
import { clusterClient, type ClusterClient } from "./cluster-client.ts";
import type { ClusterPlatform } from "./cluster-platform.ts";
import { eventually } from "./eventually.ts";

const timeout = 60_000;
const name = "chronicled";

/** Tests of the history of calls of a platform in a cluster of real pods. */
export function testClusterHistory(opened: () => ClusterPlatform): void {
  const client = clusterClient(opened);
  const read = async <T>(path: string): Promise<T> => {
    const response = await client.send(path);
    expect([path, response.status]).toEqual([path, 200]);
    return (await response.json()) as T;
  };
  const detailOf = (id: string): Promise<CallDetail> => read(`/system/calls/${id}`);
  const queued = async (path: string, body?: string): Promise<string> => {
    const response = await client.send(path, { method: "POST", ...(body !== undefined && { body }) });
    expect([response.status, response.ok ? "" : await response.text()]).toEqual([202, ""]);
    const id = response.headers.get("x-call-id") ?? "";
    expect(await client.ended(id)).toMatchObject({ state: "done" });
    return id;
  };
  let id = "";

  beforeAll(async () => {
    await client.deploy(name, {
      envProcess: `sh -c 'cat; echo "ran $Http_X_Call_Id" >&2'`,
      annotations: { "com.service.history.bodies": "1h" },
    });
    id = await queued(`/async-function/${name}`, "hello");
  });

  test("a queued call is listed, with its timeline", async () => {
    await listedCall(client, name, id);
    const detail = await detailOf(id);
    expect(detail.timeline.map(({ kind }) => kind)).toEqual(["accepted", "taken", "started", "answered", "ended"]);
    const { items, history } = await read<CallPageView>(`/system/calls?function=${name}&since=1h`);
    expect(items.map(({ callId }) => callId)).toEqual([id]);
    expect(history).toMatchObject({ complete: true, gaps: [] });
  });

  test("its request is replayed as another call", async () => {
    const again = await queued(`/system/calls/${id}/replay`);
    expect(again).not.toBe(id);
    await listedCall(client, name, again);
    expect(await detailOf(again)).toMatchObject({ functionName: name, source: "replay", replayOf: id });
    const result = await client.send(`/async-function/${again}/result`);
    expect(await result.text()).toBe("hello");
  });

  test("its lines are shown after its replica is gone", async () => {
    const scaled = await client.sendJson("POST", `/system/scale-function/${name}`, { replicas: 0 });
    expect(scaled.status).toBe(202);
    await eventually(async () => (await client.kubectl(...podsOfIt)) === "", {
      within: timeout,
      what: "the pod to be gone",
      every: 250,
    });
    const lines = await eventually(
      async () => {
        const text = await (await client.send(`/system/calls/${id}/logs`)).text();
        return text.includes("ran ") ? text : undefined;
      },
      { within: timeout, what: "the line of the call", every: 250 },
    );
    expect(
      lines
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line) as object),
    ).toMatchObject([{ name, text: `ran ${id}\n`, match: expect.stringMatching(/^(?:tagged|text)$/) }]);
  });

  test("its rollups count it", async () => {
    const calls = async (): Promise<number> => {
      const { series } = await read<Rollups>(`/system/rollups?function=${name}&since=10m`);
      return (series[0]?.calls ?? []).reduce((sum: number, count) => sum + (count ?? 0), 0);
    };
    // Gateways and queue-workers report every 10 s.
    await eventually(async () => (await calls()) === 2, {
      within: timeout,
      what: "the call and its replay",
      every: 500,
    });
  });

  test("a function cannot ask the history itself", async () => {
    const url = `http://history.${opened().namespace}.svc.cluster.local:8083/v1/gaps`;
    const options = '{ method: "POST", body: "null", signal: AbortSignal.timeout(3000) }';
    const asks = `fetch("${url}", ${options}).then((reply) => console.log(reply.status), () => console.log("no reply"))`;
    await client.deploy("curious", { envProcess: `node -e '${asks}'` });
    // Where the network enforces policies, there is no reply at all.
    expect(await client.call("curious")).toMatch(/^200 (?:401|no reply)\n$/);
  });
}

/** Waits until a call of a function is in the history as one that is done. */
export function listedCall(client: ClusterClient, functionName: string, id: string): Promise<unknown> {
  const path = `/system/calls?function=${functionName}&state=done&since=1h`;
  const isListed = async (): Promise<boolean> => {
    const { items } = (await (await client.send(path)).json()) as CallPageView;
    return items.some(({ callId }) => callId === id);
  };
  return eventually(isListed, { within: timeout, what: `call ${id} in the history`, every: 250 });
}

const podsOfIt = ["get", "pods", `--selector=faas_function=${name}`, "--output=name"] as const;
