import { text as readText } from "node:stream/consumers";

import { afterAll, beforeAll, describe, expect, test } from "vitest";

import type { KubeClient } from "../../../runtime/adapters/kubernetes/client/client.ts";
import { kinds } from "../../../runtime/adapters/kubernetes/client/kinds.ts";
import type { KubeObject } from "../../../runtime/adapters/kubernetes/client/kube-types.ts";
import { listObjects } from "../../../runtime/adapters/kubernetes/client/list-objects.ts";
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

const podWait = { within: 60_000, every: 100 } as const;
/** Enough to be measured as busy. */
const busyLimit = { cpu: "300m" };

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
async function startPod(ref: FunctionRef, pod: string, script: string, limits = {}): Promise<void> {
  await runPod(ref, pod, ["sh", "-c", `trap 'exit 0' TERM\n${script}\nwhile :; do sleep 1 & wait; done`], limits);
}

/** Runs a command as a replica of a function, and resolves with the address of its pod. */
async function runPod(
  { namespace, name }: FunctionRef,
  pod: string,
  command: readonly string[],
  limits = {},
): Promise<string> {
  const container = { name, image, imagePullPolicy: "Never", command, resources: { limits } };
  const spec = {
    automountServiceAccountToken: false,
    terminationGracePeriodSeconds: 1,
    containers: [container],
  };
  const object = { metadata: { name: pod, namespace, labels: { [functionLabel]: name } }, spec };
  await fixture.admin.create(kinds.pod, object);
  const addressOf = async (): Promise<string | undefined> => {
    const { status } = await fixture.admin.get<RunningPod>(kinds.pod, { namespace, name: pod });
    return status?.phase === "Running" ? status.podIP : undefined;
  };
  return eventually(addressOf, { ...podWait, what: `pod ${pod} to run` });
}

interface RunningPod extends KubeObject {
  readonly status?: { readonly phase?: string; readonly podIP?: string };
}

async function podsIn(namespace: string): Promise<readonly string[]> {
  const { items } = await listObjects(
    fixture.admin,
    kinds.pod,
    { namespace },
    ({ metadata: { name = "" } }: KubeObject) => name,
  );
  return items;
}

async function removePods(...names: readonly string[]): Promise<void> {
  for (const namespace of fixture.namespaces) {
    const isRemoved = (name: string): boolean => names.length === 0 || names.includes(name);
    const left = async () => (await podsIn(namespace)).filter(isRemoved);
    for (const name of await left()) await fixture.admin.delete(kinds.pod, { namespace, name });
    await eventually(async () => (await left()).length === 0, { ...podWait, what: "the end of the pods" });
  }
}

const nothing: KnownFunctions = { find: () => undefined, listen: () => () => {} };

const writerPort = 8080;
/** Writes each request's body as a line to its log. */
const writer = `process.once("SIGTERM", () => process.exit());
require("http").createServer((request, response) => {
  let line = "";
  request.setEncoding("utf8").on("data", (text) => (line += text));
  request.on("end", () => process.stdout.write(line + "\\n", () => response.end()));
}).listen(${writerPort})`;

/** Pods that write given lines to their logs. */
function openLogs() {
  const addresses = new Map<string, string>();
  const linesOf = async (namespace: string, name: string): Promise<number> => {
    const log = await fixture.admin.open(kinds.pod, { namespace, name, subresource: "log" }, {}, { attempts: 1 });
    return (await readText(log)).split("\n").length;
  };
  return {
    source: listedPodLogs(gateway, nothing),
    namespaces: fixture.namespaces,
    write: async (ref: FunctionRef, pod: string, line: string): Promise<void> => {
      const key = `${formatRef(ref)}/${pod}`;
      const address = addresses.get(key) ?? (await runPod(ref, pod, ["node", "-e", writer]));
      addresses.set(key, address);
      const before = await linesOf(ref.namespace, pod);
      const sent = async () => (await fetch(`http://${address}:${writerPort}`, { method: "POST", body: line })).ok;
      await eventually(sent, { ...podWait, what: "the pod to take the line" });
      const isThere = async () => (await linesOf(ref.namespace, pod)) > before;
      await eventually(isThere, { ...podWait, what: "the line" });
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
    start: (ref, busy) => startPod(ref, `${ref.name}-a`, busy ? "while :; do :; done" : "", busy ? busyLimit : {}),
    end: (ref) => removePods(`${ref.name}-a`),
    close: () => removePods(),
  })));

test("usage is unknown where nothing measures it", async () => {
  const blind = await fixture.clientOf("blind", []);
  expect(await new KubeUsage(blind).of({ namespace: fixture.namespaces[0], name: "x" })).toBeUndefined();
});
