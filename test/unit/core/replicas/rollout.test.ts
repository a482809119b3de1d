import { getEventListeners } from "node:events";

import { afterEach, describe, expect, test, vi } from "vitest";

import { functionConditions, type ConditionFacts } from "../../../../runtime/core/functions/conditions.ts";
import type { DesiredFunction } from "../../../../runtime/core/functions/desired-function.ts";
import { endOfRollout, rolloutOf, type Rollout } from "../../../../runtime/core/replicas/rollout.ts";
import { WakeList } from "../../../../runtime/core/replicas/wake-list.ts";

const at = "2026-01-01T00:00:00.000Z";
const written: DesiredFunction = {
  name: "hello",
  namespace: "functions",
  deployment: { service: "hello", image: "none" },
  replicas: 1,
  generation: 2,
  createdAt: at,
  updatedAt: at,
};
const failure = { reason: "Error", message: "Replica hello-2 ended with code 3" };
const rolling: ConditionFacts = {
  wanted: 1,
  ready: 1,
  readyCurrent: 0,
  existing: 2,
  superseded: 1,
  backoff: undefined,
  blocked: undefined,
};
const status = (facts: Partial<ConditionFacts>, observedGeneration = 2) => ({
  namespace: "functions",
  name: "hello",
  addresses: ["127.0.0.1:1"],
  observedGeneration,
  conditions: functionConditions({ ...rolling, ...facts }, [], at),
});
const underWay = (message: string): Rollout => ({ kind: "under-way", message });
const failed = (message: string): Rollout => ({ kind: "failed", message });
const counts = "0 of 1 new replicas are ready, 1 old ones are left";
const away = { reason: "ProviderUnavailable", message: "Docker is away" };

describe("rolloutOf()", () => {
  test.each<[what: string, status: Parameters<typeof rolloutOf>[2], rollout: Rollout]>([
    ["no status yet", undefined, underWay("The provider has not yet acted on it")],
    ["status of another generation", status({ readyCurrent: 1 }, 1), underWay("The provider has not yet acted on it")],
    ["old replicas serve", status({}), underWay(counts)],
    ["the new one is ready, the old one ends", status({ readyCurrent: 1, ready: 2 }), { kind: "ready" }],
    ["only the new one exists", status({ readyCurrent: 1, existing: 1, superseded: 0 }), { kind: "ready" }],
    ["one failure", status({ backoff: { failures: 1, until: 0, last: failure } }), underWay(failure.message)],
    ["a failure again", status({ backoff: { failures: 2, until: 0, last: failure } }), failed(failure.message)],
    ["a secret is missing", status({ blocked: failure }), underWay(failure.message)],
    [
      "the provider is unavailable",
      status({ blocked: away, backoff: { failures: 2, until: 0, last: away } }),
      underWay(away.message),
    ],
    [
      "stalled, and nothing is said about health",
      { ...status({}), conditions: status({ blocked: failure }).conditions.filter(({ type }) => type === "Stalled") },
      underWay(failure.message),
    ],
    ["no condition yet", { ...status({}), conditions: [] }, underWay("The provider has not said why")],
  ])("%s", (_what, endpoints, rollout) => {
    expect(rolloutOf(written, written, endpoints)).toEqual(rollout);
  });

  test("is over for a function that was removed, recreated or deployed again", () => {
    const removed = failed("it was removed meanwhile");
    expect(rolloutOf(written, undefined, status({}))).toEqual(removed);
    expect(rolloutOf(written, { ...written, createdAt: "2026-01-02T00:00:00.000Z" }, status({}))).toEqual(removed);
    expect(rolloutOf(written, { ...written, generation: 3 }, status({}))).toEqual(
      failed("it was deployed again meanwhile"),
    );
  });
});

test("replicas of the previous deployment are named as such, with the error of the new one", () => {
  const { conditions } = status({ backoff: { failures: 1, until: 0, last: failure } });
  expect(conditions[0]).toMatchObject({
    type: "Ready",
    status: "True",
    message: "1 of 1 replicas is ready, of the previous deployment: Replica hello-2 ended with code 3",
  });
  expect(status({}).conditions[0]?.message).toBe("1 of 1 replicas is ready");
});

describe("endOfRollout()", () => {
  afterEach(() => void vi.useRealTimers());

  const waited = (within: number, signal = new AbortController().signal) => {
    const wakeList = new WakeList();
    const state: { rollout: Rollout } = { rollout: underWay("not yet") };
    const end = endOfRollout(
      () => state.rollout,
      (changed) => wakeList.watch("hello", changed),
      within,
      signal,
    );
    const notify = (rollout: Rollout): void => {
      state.rollout = rollout;
      wakeList.wake("hello");
    };
    return { end, notify };
  };

  test.each<Rollout>([{ kind: "ready" }, failed("it was removed meanwhile")])(
    "resolves when notified: %j",
    async (last) => {
      const { end, notify } = waited(60_000);
      notify(underWay("soon"));
      notify(last);
      notify(underWay("too late"));
      expect(await end).toEqual(last);
    },
  );

  test("resolves with the current state when the time is over, or the caller has left", async () => {
    expect(await waited(1).end).toEqual(underWay("not yet"));
    const leaving = new AbortController();
    const { end } = waited(60_000, leaving.signal);
    leaving.abort();
    expect(await end).toEqual(underWay("not yet"));
    expect(await waited(60_000, AbortSignal.abort()).end).toEqual(underWay("not yet"));
  });

  test.each<[what: string, end: (notify: () => void, leaving: AbortController) => void]>([
    ["it was notified", (notify) => notify()],
    ["the time was over", () => vi.advanceTimersByTime(60_000)],
    ["the caller has left", (_notify, leaving) => leaving.abort()],
  ])("nothing is left of the wait after %s", async (_what, endIt) => {
    vi.useFakeTimers();
    const leaving = new AbortController();
    const watchers = new Set<() => void>();
    let looks = 0;
    const rollouts = [underWay("not yet")];
    const end = endOfRollout(
      () => {
        looks += 1;
        return rollouts.at(-1) ?? failed("no rollout");
      },
      (changed) => {
        watchers.add(changed);
        return () => watchers.delete(changed);
      },
      60_000,
      leaving.signal,
    );
    const left = () => [vi.getTimerCount(), watchers.size, getEventListeners(leaving.signal, "abort").length];
    expect(left()).toEqual([1, 1, 1]);
    const notify = (): void => {
      rollouts.push({ kind: "ready" });
      for (const changed of watchers) changed();
    };
    endIt(notify, leaving);
    await end;
    expect(left()).toEqual([0, 0, 0]);
    const before = looks;
    leaving.abort();
    vi.advanceTimersByTime(60_000);
    expect(looks).toBe(before);
  });
});
