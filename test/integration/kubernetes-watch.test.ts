import { setTimeout as pause } from "node:timers/promises";

import { describe, expect, test } from "vitest";

import { KubeClient } from "../../runtime/adapters/kubernetes/client/client.ts";
import { kinds } from "../../runtime/adapters/kubernetes/client/kinds.ts";
import type { KubeObject } from "../../runtime/adapters/kubernetes/client/kube-types.ts";
import type { ContactOptions } from "../../runtime/adapters/kubernetes/client/server-contact.ts";
import { KubeWatch, type WatchOptions } from "../../runtime/adapters/kubernetes/watch/watch.ts";
import { below, pick, seededRandom } from "../../scripts/random.ts";
import { eventually } from "../support/eventually.ts";
import { openKubernetesApi, type KubernetesApi } from "../support/kubernetes-api.ts";

interface Endpoint extends KubeObject {
  readonly at: number;
}
type Options = Partial<WatchOptions<Endpoint, number>>;

/** Of the fast profile, milliseconds. Bookmarks, in tests that have them, come more often. */
const watchSilence = 5_000;
const kind = kinds.endpointSlice;
const endpoint = (name: string, at: number, namespace = "dev") => ({ metadata: { name, namespace }, at });

interface Bench extends AsyncDisposable {
  readonly api: KubernetesApi;
  readonly client: KubeClient;
  readonly errors: unknown[];
  /** What the listeners of all watches received, in order, as `key: before > after`. */
  readonly changes: string[];
  watch(options?: Options): KubeWatch<Endpoint, number>;
  /** How many such requests were made. */
  count(which: "list" | "watch"): number;
}

async function openBench(bookmarkEvery?: number, contact: ContactOptions = {}): Promise<Bench> {
  const api = await openKubernetesApi(bookmarkEvery);
  const client = new KubeClient(api.config, { fieldManager: "weir-test", pace: { perSecond: 20, burst: 10 }, contact });
  const watches: KubeWatch<Endpoint, number>[] = [];
  const [errors, changes]: [unknown[], string[]] = [[], []];
  return {
    api,
    client,
    errors,
    changes,
    watch: (options = {}) => {
      const watch = new KubeWatch<Endpoint, number>(client, kind, {
        namespace: "dev",
        keep: ({ at }) => at,
        silence: watchSilence,
        firstDelay: 100,
        longestDelay: 500,
        onFailure: (err) => errors.push(err),
        ...options,
      });
      watch.listen(({ key, before, after }) => changes.push(`${key}: ${before ?? "-"} > ${after ?? "-"}`));
      watches.push(watch);
      return watch;
    },
    count: (which) => api.requests.filter(({ query }) => query.has("watch") === (which === "watch")).length,
    [Symbol.asyncDispose]: async () => {
      await Promise.all(watches.map((watch) => watch.close()));
      await client.close();
      await api.close();
    },
  };
}

function sees(watch: KubeWatch<Endpoint, number>, expected: Readonly<Record<string, number>>, within = 45_000) {
  const textOf = (entries: readonly (readonly [string, number])[]) =>
    entries
      .map(String)
      .toSorted((a, b) => a.localeCompare(b))
      .join(" ");
  const expectedText = textOf(Object.entries(expected));
  const what = `the cache to be ${expectedText}`;
  return eventually(() => textOf([...watch.objects]) === expectedText, { within, what });
}

describe.concurrent("a watch", () => {
  test("lists in pages, then follows changes, in its namespace and with its labels", async () => {
    await using bench = await openBench();
    const { api, changes } = bench;
    for (const name of ["a", "b", "c"]) api.store.write(kind, { ...endpoint(name, 1) });
    api.store.write(kind, endpoint("a", 9, "other"));
    const watch = bench.watch({ pageSize: 2 });
    await watch.synced;
    expect(watch.objects).toEqual(new Map([["dev/a", 1], ["dev/b", 1], ["dev/c", 1]])); // prettier-ignore
    expect(watch.age).toBeLessThan(5_000);
    const labelled = bench.watch({ labelSelector: "faas_function=x", keep: ({ at }) => -at });
    await labelled.synced;
    await eventually(() => api.watching === 2, { what: "both watches" });
    api.store.write(kind, {
      ...endpoint("a", 2),
      metadata: { ...endpoint("a", 2).metadata, labels: { faas_function: "x" } },
    });
    api.store.remove("endpointslices", "dev", "b");
    await sees(watch, { "dev/a": 2, "dev/c": 1 });
    await sees(labelled, { "dev/a": -2 });
    expect(changes.slice(3).toSorted((a, b) => a.localeCompare(b))).toEqual([
      "dev/a: - > -2",
      "dev/a: 1 > 2",
      "dev/b: 1 > -",
    ]);
    expect([bench.count("list"), bench.count("watch")]).toEqual([3, 2]);
  });

  test("that the server ends continues from the last version, bookmarks included", async () => {
    await using bench = await openBench(100);
    const { api } = bench;
    api.store.write(kind, endpoint("a", 1));
    const watch = bench.watch({ silence: 1_400 });
    await watch.synced;
    api.store.write(kinds.pod, endpoint("elsewhere", 1));
    const elsewhere = String(api.store.version);
    const resumed = () => api.requests.some(({ query }) => query.get("resourceVersion") === elsewhere);
    await eventually(resumed, { what: "a watch from the bookmark's version" });
    expect(bench.count("list")).toBe(1);
    expect(bench.errors).toEqual([]);
  });

  test.each(["status", "event"] as const)(
    "whose version has expired (410 as %s) lists again, and keeps its cache",
    async (goneAs) => {
      await using bench = await openBench();
      const { api, changes } = bench;
      api.faults.goneAs = goneAs;
      for (const name of ["a", "b"]) api.store.write(kind, endpoint(name, 1));
      const watch = bench.watch({ pageSize: 1 });
      await watch.synced;
      await eventually(() => api.watching === 1, { what: "the watch" });
      api.faults.failPages = { times: 2, status: 500 };
      await api.down();
      api.store.write(kind, endpoint("c", 1));
      api.store.remove("endpointslices", "dev", "a");
      api.store.compact();
      expect(watch.objects.size).toBe(2);
      await api.up();
      // Pages that fail midway leave the cache as it was.
      const seen = await eventually(() => (watch.objects.has("dev/c") ? [...watch.objects.keys()] : undefined), {
        what: "the new list",
      });
      expect(seen).toEqual(["dev/b", "dev/c"]);
      expect(changes).toEqual(["dev/a: - > 1", "dev/b: - > 1", "dev/c: - > 1", "dev/a: 1 > -"]);
      expect(api.faults.failPages.times).toBe(0);
    },
  );

  test("of a store that was restored to an earlier state notices it without any event", async () => {
    await using bench = await openBench();
    const { api } = bench;
    api.store.version = 1_000;
    api.store.write(kind, endpoint("a", 1));
    const watch = bench.watch({ silence: 1_400 });
    await watch.synced;
    await eventually(() => api.watching === 1, { what: "the watch" });
    await api.down();
    api.store.remove("endpointslices", "dev", "a");
    api.store.version = 50;
    api.store.write(kind, endpoint("b", 2));
    await api.up();
    await sees(watch, { "dev/b": 2 }, 8_000);
  });

  test("that is closed before its list waits for nothing", async () => {
    await using bench = await openBench();
    bench.api.faults.hangs = true;
    const watch = bench.watch();
    expect(watch.age).toBe(Number.POSITIVE_INFINITY);
    await watch.close();
    await expect(watch.synced).rejects.toThrow(
      "Cannot watch endpointslices: the watch was closed before they were listed",
    );
  });

  test("FP1: the API server is down: the cache stays, changes are refused in time, then all continues", async () => {
    await using bench = await openBench();
    const { api, client } = bench;
    api.store.write(kind, endpoint("a", 1));
    const watch = bench.watch();
    await watch.synced;
    await eventually(() => api.watching === 1, { what: "the watch" });
    await api.down();
    const awayAt = performance.now();
    const scale = client.patch(kinds.function, "merge", { spec: { replicas: 1 } }, { namespace: "dev", name: "a", subresource: "scale" }, { attempts: 3 }); // prettier-ignore
    await expect(scale).rejects.toMatchObject({ code: "provider_unavailable" });
    await eventually(() => watch.age >= 2_000, { what: "2 s without the API server" });
    expect(watch.objects).toEqual(new Map([["dev/a", 1]]));
    expect(bench.errors).toHaveLength(1);
    api.store.write(kind, endpoint("a", 2));
    await api.up();
    await sees(watch, { "dev/a": 2 });
    expect(performance.now() - awayAt).toBeLessThan(10_000);
    expect(bench.count("list")).toBe(1);
    expect(bench.changes).toEqual(["dev/a: - > 1", "dev/a: 1 > 2"]);
  });

  test("FP1: watches resume together, whatever their back-off, and report the outage and its end once", async () => {
    let recoveries = 0;
    const contact = { probeEvery: 50, onRecovered: () => (recoveries += 1) };
    await using bench = await openBench(undefined, contact);
    const { api, errors } = bench;
    const long = { firstDelay: 3_600_000, longestDelay: 3_600_000, silence: 600_000 };
    const count = 10;
    const watches = Array.from({ length: count }, () => bench.watch(long));
    await Promise.all(watches.map(({ synced }) => synced));
    await eventually(() => api.watching === count, { what: "all watches" });
    await api.down();
    await eventually(() => errors.length === 1, { what: "the outage" });
    api.store.write(kind, endpoint("a", 1));
    await api.up();
    for (const watch of watches) await sees(watch, { "dev/a": 1 });
    await eventually(() => recoveries === 1, { what: "the end of the outage" });
    expect(errors).toHaveLength(1);
    expect(bench.count("list")).toBe(count);
  });

  test("FP4: a watch does not retry before Retry-After", async () => {
    await using bench = await openBench(undefined, { probeEvery: 20 });
    const { api, errors } = bench;
    api.faults.refuse = () => ({ status: 429, retryAfter: 2 });
    const watch = bench.watch({ firstDelay: 1, longestDelay: 2 });
    await eventually(() => errors.length === 1, { what: "the refusal" });
    api.faults.refuse = undefined;
    await watch.synced;
    const [first, second] = api.requests;
    expect((second?.at ?? 0) - (first?.at ?? 0)).toBeGreaterThanOrEqual(1_990);
  });

  test("FP4: with a Retry-After of years a watch retries at its own limit, and no more often", async () => {
    await using bench = await openBench();
    const { api, errors } = bench;
    api.faults.refuse = () => ({ status: 503, retryAfter: 999_999_999 });
    const watch = bench.watch({ firstDelay: 1, longestDelay: 2, longestAsked: 500 });
    await eventually(() => api.requests.length === 3, { what: "the third attempt" });
    api.faults.refuse = undefined;
    await watch.synced;
    const [first, second, third] = api.requests;
    expect((second?.at ?? 0) - (first?.at ?? 0)).toBeGreaterThanOrEqual(490);
    expect((third?.at ?? 0) - (second?.at ?? 0)).toBeGreaterThanOrEqual(490);
    expect(errors).toHaveLength(1);
  });

  test("FP2: watches that are aborted repeatedly resume, lose nothing, and list nothing again", async () => {
    await using bench = await openBench();
    const { api } = bench;
    api.faults.dropWatchesAfter = 300;
    const watch = bench.watch();
    await watch.synced;
    for (let at = 1; at <= 20; at += 1) {
      api.store.write(kind, endpoint(`e${at % 4}`, at));
      await pause(100);
    }
    await sees(watch, { "dev/e0": 20, "dev/e1": 17, "dev/e2": 18, "dev/e3": 19 });
    expect(bench.count("list")).toBe(1);
    expect(bench.count("watch")).toBeGreaterThan(2);
    expect(bench.changes.filter((change) => change.startsWith("dev/e0"))).toEqual([
      "dev/e0: - > 4",
      "dev/e0: 4 > 8",
      "dev/e0: 8 > 12",
      "dev/e0: 12 > 16",
      "dev/e0: 16 > 20",
    ]);
  });

  test("FP2: a silent watch is aborted and resumed, one with bookmarks is not", async () => {
    await using bench = await openBench(500);
    await using sound = await openBench(500);
    const { api } = bench;
    const watch = bench.watch();
    const other = sound.watch();
    await Promise.all([watch.synced, other.synced]);
    await eventually(() => api.watching === 1, { what: "the watch" });
    api.faults.silent = true;
    const silentAt = performance.now();
    api.store.write(kind, endpoint("a", 1));
    await eventually(() => bench.count("watch") === 2, { within: 3 * watchSilence, what: "another watch" });
    expect(performance.now() - silentAt).toBeGreaterThanOrEqual(watchSilence - 600);
    api.faults.silent = false;
    api.store.write(kind, endpoint("b", 1));
    await sees(watch, { "dev/a": 1, "dev/b": 1 });
    expect(performance.now() - silentAt).toBeLessThan(3 * watchSilence);
    expect(bench.count("list")).toBe(1);
    expect(sound.errors).toEqual([]);
    expect(bench.errors).toHaveLength(1);
  });

  test("FP3: bad pages, repeated or disordered events, aborts, old versions: the cache ends as the list", async () => {
    const seed = below(Math.random, 2 ** 32);
    const random = seededRandom(seed);
    await using bench = await openBench(150);
    const { api } = bench;
    api.faults.disorder = seededRandom(seed + 1);
    const watches = [bench.watch({ pageSize: 3 }), bench.watch({ pageSize: 2 })];
    const wrong: string[] = [];
    const followed = watches.map((watch) => {
      const known = new Map<string, number>();
      watch.listen(({ key, before, after }) => {
        if (known.get(key) !== before) wrong.push(`${key} was ${known.get(key)}, not ${before}`);
        if (after === undefined) known.delete(key);
        else known.set(key, after);
      });
      return known;
    });
    for (let at = 1; at <= 300; at += 1) {
      const name = `e${below(random, 8)}`;
      if (random() < 0.3) api.store.remove("endpointslices", "dev", name);
      else api.store.write(kind, endpoint(name, at));
      if (random() < 0.04) {
        const fault = pick(random, ["reset", "compact", "page", "410"]);
        if (fault === "page") api.faults.failPages = { times: 1, status: pick(random, [500, 410]) };
        if (fault === "compact" || fault === "410") api.store.compact();
        api.faults.goneAs = fault === "410" ? "event" : "status";
        if (fault !== "page") api.resetAll();
      }
      if (random() < 0.3) await pause(below(random, 30));
    }
    const expected = Object.fromEntries(
      api.store.list("endpointslices").map(({ metadata, ...rest }) => [`dev/${metadata.name}`, (rest as Endpoint).at]),
    );
    for (const [index, watch] of watches.entries()) {
      await sees(watch, expected).catch((cause: unknown) => Promise.reject(new Error(`seed ${seed}`, { cause })));
      expect(followed[index], `seed ${seed}`).toEqual(new Map(watch.objects));
    }
    expect(wrong, `seed ${seed}`).toEqual([]);
  });
});
