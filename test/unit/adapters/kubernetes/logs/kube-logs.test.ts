import { afterEach, beforeEach, describe, expect, test } from "vitest";

import { KubeClient } from "../../../../../runtime/adapters/kubernetes/client/client.ts";
import { kinds } from "../../../../../runtime/adapters/kubernetes/client/kinds.ts";
import { followedPodLines } from "../../../../../runtime/adapters/kubernetes/logs/followed-pod-lines.ts";
import { FollowedPods } from "../../../../../runtime/adapters/kubernetes/logs/followed-pods.ts";
import {
  KubeLoggedFunctions,
  type PodWatch,
} from "../../../../../runtime/adapters/kubernetes/logs/kube-logged-functions.ts";
import { KubeLogSource, loggedPodOf } from "../../../../../runtime/adapters/kubernetes/stores/kube-log-source.ts";
import { podLines } from "../../../../../runtime/adapters/kubernetes/stores/pod-lines.ts";
import { fixedNamespaces } from "../../../../../runtime/adapters/kubernetes/watch/namespace-set.ts";
import { NamespacedWatch } from "../../../../../runtime/adapters/kubernetes/watch/namespaced-watch.ts";
import { functionLabel } from "../../../../../runtime/api/names.ts";
import type { FunctionRef } from "../../../../../runtime/core/functions/function-ref.ts";
import { keepLogs } from "../../../../../runtime/history/logs/keep-logs.ts";
import { createLog } from "../../../../../runtime/process/log.ts";
import { logSourceContract } from "../../../../contract/log-source.contract.ts";
import { loggedFunctionsContract } from "../../../../contract/logged-functions.contract.ts";
import { eventually } from "../../../../support/eventually.ts";
import { openKubernetesApi } from "../../../../support/kubernetes-api.ts";
import { KubernetesPods } from "../../../../support/kubernetes-pods.ts";
import { MemoryKeptLogs } from "../../../../support/memory/memory-kept-logs.ts";

const hello = { namespace: "functions", name: "hello" };

/** An API server with pods, and their logs as a history process reads them. `now` is Unix milliseconds. */
async function openLogs(max = 100, now: () => number = Date.now) {
  const api = await openKubernetesApi();
  const pods = new KubernetesPods(api);
  const client = new KubeClient(api.config, { fieldManager: "test", firstDelay: 5, longestDelay: 20 });
  const where = fixedNamespaces("functions", "functions-2");
  const watch: PodWatch = new NamespacedWatch(client, kinds.pod, where, {
    keep: loggedPodOf,
    labelSelector: functionLabel,
  });
  const followed = new FollowedPods(max, 5);
  const functions = new KubeLoggedFunctions(watch, followed, now);
  const idsOf = async (ref: FunctionRef) => (await functions.podsOf(ref)).map(({ id }) => id);
  const start = async (ref: FunctionRef, pod: string, startedAt?: string): Promise<void> => {
    pods.start(ref, pod, startedAt);
    await eventually(async () => (await idsOf(ref)).includes(pod), { what: "the pod" });
  };
  return {
    api,
    pods,
    functions,
    watch,
    isFollowed: (pod: string) => followed.find(`functions/${pod}`)?.isFollowed === true,
    source: new KubeLogSource(functions, followedPodLines(followed, podLines(client))),
    start,
    write: async (ref: FunctionRef, pod: string, text: string): Promise<void> => {
      if (!pods.has(ref, pod)) await start(ref, pod);
      pods.write(ref, pod, text);
    },
    end: async (ref: FunctionRef, pod: string): Promise<void> => {
      pods.remove(ref, pod);
      await eventually(async () => !(await idsOf(ref)).includes(pod), { what: "its end" });
    },
    close: async (): Promise<void> => {
      functions.close();
      await watch.close();
      await client.close();
      await api.close();
    },
  };
}

type OpenedLogs = Awaited<ReturnType<typeof openLogs>>;

describe("KubeLogSource with watched pods", () =>
  logSourceContract(async () => {
    const { source, write, end, close } = await openLogs();
    return { source, write, removeReplica: end, close };
  }));

describe("KubeLoggedFunctions", () => {
  loggedFunctionsContract(async () => {
    const opened = await openLogs();
    await opened.watch.synced;
    return opened;
  });

  test("rejects while the pods are not known, and counts a function for ten seconds after its last pod", async () => {
    let now = 0;
    const { api, functions, watch, start, end, close } = await openLogs(100, () => now);
    try {
      await expect(functions.active()).rejects.toThrow("Cannot look for logs: the pods are not known yet");
      await watch.synced;
      await start(hello, "hello-a");
      await end(hello, "hello-a");
      now = 9_999;
      expect(await functions.active()).toEqual([{ ...hello, replicas: 0 }]);
      now = 10_000;
      expect(await functions.active()).toEqual([]);
      api.store.write(kinds.pod, {
        metadata: { namespace: "functions", name: "starting", labels: { [functionLabel]: "hello" } },
      });
      await start({ ...hello, name: "other" }, "other-a");
      expect((await functions.active()).map(({ name }) => name)).toEqual(["other"]);
    } finally {
      await close();
    }
  });
});

describe("lines that are kept", () => {
  const log = createLog("test", "fatal");
  let opened: OpenedLogs;
  let kept: MemoryKeptLogs;
  let stop: AbortController;
  let keeping: Promise<void>;
  let followed: number;

  beforeEach(async () => {
    opened = await openLogs(2);
    kept = new MemoryKeptLogs();
    stop = new AbortController();
    followed = 0;
    await opened.watch.synced;
  });
  afterEach(async () => {
    stop.abort();
    await keeping;
    await opened.close();
  });

  function begin(): void {
    const { source, functions } = opened;
    const onFollow = (replicas: number): void => {
      followed = replicas;
    };
    keeping = keepLogs({ source, functions, writer: kept, onDrop: () => {}, onFollow, log, period: 5 }, stop.signal);
  }

  const textsOf = async (instance: string): Promise<string[]> =>
    (await kept.lines({ ...hello, instance, limit: 100 })).lines.map(({ text }) => text.trimEnd());
  const until = (instance: string, ...texts: readonly string[]) =>
    eventually(async () => (await textsOf(instance)).join() === texts.join(), { what: `the lines of ${instance}` });
  const minute = (number: number): string => new Date(Date.UTC(2026, 0, 31, 12, number)).toISOString();

  test("of a pod whose container restarted begin with the end of what it wrote before", async () => {
    const { pods, start } = opened;
    await start(hello, "hello-a");
    pods.write(hello, "hello-a", "Error: no port");
    pods.restart(hello, "hello-a");
    await eventually(async () => (await opened.functions.podsOf(hello))[0]?.endedAt, { what: "the restart" });
    begin();
    pods.write(hello, "hello-a", "second life");
    await until("hello-a", "Error: no port", "second life");

    pods.startAgain(hello, "hello-b", "Error: no port either");
    pods.write(hello, "hello-b", "second life, too");
    await until("hello-b", "Error: no port either", "second life, too");
    expect(await textsOf("hello-a")).toEqual(["Error: no port", "second life"]);
  });

  test("are those of the pods that started last; one line stands for each of the others", async () => {
    const { pods, start } = opened;
    for (const [index, pod] of ["hello-a", "hello-b", "hello-c"].entries()) await start(hello, pod, minute(10 * index));
    for (const pod of ["hello-a", "hello-b", "hello-c"]) pods.write(hello, pod, `of ${pod}`);
    await eventually(() => !opened.isFollowed("hello-a"), { what: "the choice" });
    begin();
    const note = "not kept: 2 streams are followed";
    await until("hello-a", note);
    await until("hello-b", "of hello-b");
    await until("hello-c", "of hello-c");
    expect(pods.followed).toEqual(["hello-b", "hello-c"]);
    await eventually(() => followed === 2, { what: "the number of streams" });

    await opened.end(hello, "hello-b");
    await eventually(() => pods.followed.includes("hello-a"), { what: "the next one" });
    pods.write(hello, "hello-a", "from now on");
    await until("hello-a", note, "from now on");
  });

  test("are those of a function that is called, before those of one that only started later", async () => {
    const { pods, start, functions } = opened;
    const busy = { ...hello, name: "busy" };
    await start(busy, "busy-a", minute(0));
    await start(hello, "hello-a", minute(10));
    await start(hello, "hello-b", minute(20));
    begin();
    await eventually(() => pods.followed.join() === "hello-a,hello-b", { what: "those that started last" });
    pods.write(hello, "hello-a", "before");
    await until("hello-a", "before");
    functions.called(busy, Date.parse(minute(30)));
    await eventually(() => pods.followed.join() === "busy-a,hello-b", { what: "the one that is called" });

    await opened.end(busy, "busy-a");
    await eventually(() => pods.followed.join() === "hello-a,hello-b", { what: "the one that was displaced" });
    pods.write(hello, "hello-a", "after");
    await until("hello-a", "before", "not kept: 2 streams are followed", "after");
    const asked = opened.api.requests.findLast(({ path }) => path.endsWith("/pods/hello-a/log"));
    const [first] = (await kept.lines({ ...hello, instance: "hello-a", limit: 1 })).lines;
    expect(asked?.query.get("sinceTime")).toBe(first?.timestamp);
  });
});
