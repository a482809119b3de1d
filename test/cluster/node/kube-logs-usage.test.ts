import { afterAll, beforeAll, describe, expect, test } from "vitest";

import type { KubeClient } from "../../../runtime/adapters/kubernetes/client/client.ts";
import { kinds } from "../../../runtime/adapters/kubernetes/client/kinds.ts";
import { followedPodLines } from "../../../runtime/adapters/kubernetes/logs/followed-pod-lines.ts";
import { FollowedPods } from "../../../runtime/adapters/kubernetes/logs/followed-pods.ts";
import { KubeLoggedFunctions, type PodWatch } from "../../../runtime/adapters/kubernetes/logs/kube-logged-functions.ts";
import {
  KubeLogSource,
  listedPodLogs,
  loggedPodOf,
  type KnownFunctions,
} from "../../../runtime/adapters/kubernetes/stores/kube-log-source.ts";
import { podLines } from "../../../runtime/adapters/kubernetes/stores/pod-lines.ts";
import { KubeUsage } from "../../../runtime/adapters/kubernetes/stores/kube-usage.ts";
import { fixedNamespaces } from "../../../runtime/adapters/kubernetes/watch/namespace-set.ts";
import { NamespacedWatch } from "../../../runtime/adapters/kubernetes/watch/namespaced-watch.ts";
import type { LogRecord } from "../../../runtime/api/schemas/log-record.ts";
import { functionLabel } from "../../../runtime/api/names.ts";
import { formatRef, type FunctionRef } from "../../../runtime/core/functions/function-ref.ts";
import { logSourceContract } from "../../contract/log-source.contract.ts";
import { usageContract } from "../../contract/usage.contract.ts";
import { loadBaseImage } from "../../support/cluster-images.ts";
import { eventually } from "../../support/eventually.ts";
import { openKubeFixture, type KubeFixture } from "../../support/kube-fixture.ts";
import { followPods, functionRights } from "../../support/process-rights.ts";

let fixture: KubeFixture;
let gateway: KubeClient;
let history: KubeClient;
let image: string;

const podWait = { within: 60_000, every: 250 } as const;

beforeAll(async () => {
  fixture = await openKubeFixture();
  image = await loadBaseImage(fixture.cluster);
  gateway = await fixture.clientOf("gateway", functionRights.gateway);
  history = await fixture.clientOf("history", functionRights.history, followPods);
  for (const namespace of fixture.namespaces) {
    // Pods are refused until it exists.
    const account = { namespace, name: "default" };
    await eventually(() => fixture.admin.find(kinds.serviceAccount, account), { ...podWait, what: "its account" });
  }
});
afterAll(() => fixture?.close());

/** Runs a shell script as a replica of a function; it ends at once on SIGTERM. */
async function startPod({ namespace, name }: FunctionRef, pod: string, script: string): Promise<void> {
  const command = ["sh", "-c", `trap 'exit 0' TERM\n${script}\nwhile :; do sleep 1 & wait; done`];
  const container = { name, image, imagePullPolicy: "Never", command };
  const spec = {
    automountServiceAccountToken: false,
    terminationGracePeriodSeconds: 1,
    containers: [container],
  };
  const object = { metadata: { name: pod, namespace, labels: { [functionLabel]: name } }, spec };
  await fixture.admin.create(kinds.pod, object);
  await fixture.cluster.kubectl(["wait", "--for=jsonpath={.status.phase}=Running", `pod/${pod}`, "--timeout=60s"], {
    namespace,
    timeout: 70_000,
  });
}

async function removePods(...names: readonly string[]): Promise<void> {
  for (const namespace of fixture.namespaces) {
    const selected = names.length === 0 ? ["--all"] : names;
    await fixture.cluster.kubectl(["delete", "pod", ...selected, "--ignore-not-found", "--grace-period=1"], {
      namespace,
      timeout: 90_000,
    });
  }
}

const nothing: KnownFunctions = { find: () => undefined, listen: () => () => {} };

/** Pods that write given lines to their logs. */
function openLogs() {
  const pods = new Set<string>();
  const logOf = (ref: FunctionRef, pod: string) => fixture.cluster.kubectl(["logs", pod], { namespace: ref.namespace });
  return {
    source: listedPodLogs(gateway, nothing),
    namespaces: fixture.namespaces,
    write: async (ref: FunctionRef, pod: string, text: string): Promise<void> => {
      if (!pods.has(`${formatRef(ref)}/${pod}`)) await startPod(ref, pod, "");
      pods.add(`${formatRef(ref)}/${pod}`);
      const lines = async () => (await logOf(ref, pod)).split("\n").length;
      const before = await lines();
      // Only the first process's output is logged, so others write to that.
      const say = ["exec", pod, "--", "sh", "-c", 'printf "%s\\n" "$0" >/proc/1/fd/1', text];
      await fixture.cluster.kubectl(say, { namespace: ref.namespace });
      await eventually(async () => (await lines()) > before, { ...podWait, what: "the line" });
    },
    removeReplica: (_ref: FunctionRef, pod: string) => removePods(pod),
    close: () => removePods(),
  };
}

describe("listedPodLogs", () => logSourceContract(async () => openLogs()));

/** The same as a history process reads them. */
function openWatchedLogs() {
  const { source: _, write, removeReplica, close, ...others } = openLogs();
  const watch: PodWatch = new NamespacedWatch(history, kinds.pod, fixedNamespaces(...fixture.namespaces), {
    keep: loggedPodOf,
    labelSelector: functionLabel,
  });
  const followed = new FollowedPods(10);
  const functions = new KubeLoggedFunctions(watch, followed);
  const isKnown = async (ref: FunctionRef, pod: string) => (await functions.podsOf(ref)).some(({ id }) => id === pod);
  return {
    ...others,
    source: new KubeLogSource(functions, followedPodLines(followed, podLines(history))),
    write: async (ref: FunctionRef, pod: string, text: string): Promise<void> => {
      await write(ref, pod, text);
      await eventually(() => isKnown(ref, pod), { ...podWait, what: "the pod in the watch" });
    },
    removeReplica: async (ref: FunctionRef, pod: string): Promise<void> => {
      await removeReplica(ref, pod);
      await eventually(async () => !(await isKnown(ref, pod)), { ...podWait, what: "its end in the watch" });
    },
    close: async (): Promise<void> => {
      functions.close();
      await watch.close();
      await close();
    },
  };
}

describe("KubeLogSource with watched pods", () => logSourceContract(async () => openWatchedLogs()));

function query(ref: FunctionRef, over: { readonly follow?: boolean; readonly tail?: number } = {}) {
  return { ...ref, instance: undefined, tail: undefined, since: undefined, follow: false, ...over };
}

describe("logs of pods", () => {
  test("are followed across restarts and new replicas, and end when the function is gone", async () => {
    const ref = { namespace: fixture.namespaces[0], name: "restarts" };
    const functions = new Set([formatRef(ref)]);
    const known: KnownFunctions = {
      find: () => (functions.size === 0 ? undefined : { uid: "1", desired: undefined, reported: undefined }),
      listen: () => () => {},
    };
    const records: LogRecord[] = [];
    const { signal } = new AbortController();
    await startPod(ref, "restarts-a", "read id </proc/sys/kernel/random/uuid; echo began $id");
    const reading = (async () => {
      for await (const record of listedPodLogs(gateway, known).read(query(ref, { follow: true }), signal))
        records.push(record);
    })();
    const countOf = (pod: string) => records.filter(({ instance }) => instance === pod).length;
    await eventually(() => countOf("restarts-a") === 1, { ...podWait, what: "the first life" });
    // The command may die with the process that it kills.
    await fixture.cluster.kubectl(["exec", "restarts-a", "--", "sh", "-c", "kill 1"]).catch(() => {});
    await eventually(() => countOf("restarts-a") === 2, { ...podWait, what: "the second life" });
    await startPod(ref, "restarts-b", "echo began");
    await eventually(() => countOf("restarts-b") === 1, { ...podWait, what: "the other replica" });
    // A reader that comes only now also gets what was written before the restart.
    const texts: string[] = [];
    for await (const { text } of listedPodLogs(gateway, known).read(query(ref), signal)) texts.push(text);
    expect(texts).toEqual(records.map(({ text }) => text));
    functions.clear();
    await removePods("restarts-a", "restarts-b");
    await reading;
    expect(records).toHaveLength(3);
    expect(new Set(records.map(({ text }) => text)).size).toBe(3);
    expect(records.every(({ timestamp }) => /^\d{4}-.*\.\d{9}Z$/.test(timestamp))).toBe(true);
  });

  test("have whole lines up to 64 KiB, and truncated ones beyond", async () => {
    const ref = { namespace: fixture.namespaces[0], name: "long" };
    const line = (count: number) => `node -e 'console.log("x".repeat(${count}))'`;
    await startPod(ref, "long-a", ["echo before", line(65_536), line(70_000), "echo after"].join("\n"));
    const read = async (tail?: number): Promise<string[]> => {
      const texts: string[] = [];
      const options = tail === undefined ? {} : { tail };
      const { signal } = new AbortController();
      for await (const { text } of listedPodLogs(gateway, nothing).read(query(ref, options), signal))
        texts.push(text.replaceAll(/x{9,}/g, (found) => `${found.length}`));
      return texts;
    };
    await eventually(async () => (await read()).includes("after\n"), { ...podWait, what: "all lines" });
    expect(await read()).toEqual(["before\n", "65536\n", "65536 [cut]\n", "after\n"]);
    expect(await read(1)).toEqual(["after\n"]);
    expect(await read(2)).toEqual(["65536 [cut]\n", "after\n"]);
    await removePods("long-a");
  });
});

describe("KubeUsage", () =>
  usageContract(async () => ({
    usage: new KubeUsage(gateway),
    namespaces: fixture.namespaces,
    // The kubelet measures about every 10 s, and metrics-server scrapes it every 15 s.
    within: 120_000,
    start: (ref, busy) => startPod(ref, `${ref.name}-a`, busy ? "while :; do :; done" : ""),
    end: (ref) => removePods(`${ref.name}-a`),
    close: () => removePods(),
  })));

test("usage is unknown where nothing measures it", async () => {
  const blind = await fixture.clientOf("blind", []);
  expect(await new KubeUsage(blind).of({ namespace: fixture.namespaces[0], name: "x" })).toBeUndefined();
});
