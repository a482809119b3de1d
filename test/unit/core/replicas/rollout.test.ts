import { describe, expect, test } from "vitest";

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
const said = (facts: Partial<ConditionFacts>, observedGeneration = 2) => ({
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
  test.each<[what: string, said: Parameters<typeof rolloutOf>[2], rollout: Rollout]>([
    ["nothing was said yet", undefined, underWay("The provider has not yet acted on it")],
    ["of another generation only", said({ readyCurrent: 1 }, 1), underWay("The provider has not yet acted on it")],
    ["old replicas serve", said({}), underWay(counts)],
    ["the new one is ready, the old one ends", said({ readyCurrent: 1, ready: 2 }), { kind: "ready" }],
    ["only the new one is left", said({ readyCurrent: 1, existing: 1, superseded: 0 }), { kind: "ready" }],
    ["one failure", said({ backoff: { failures: 1, until: 0, last: failure } }), underWay(failure.message)],
    ["a failure again", said({ backoff: { failures: 2, until: 0, last: failure } }), failed(failure.message)],
    ["a secret is missing", said({ blocked: failure }), underWay(failure.message)],
    [
      "the provider is away",
      said({ blocked: away, backoff: { failures: 2, until: 0, last: away } }),
      underWay(away.message),
    ],
  ])("%s", (_what, endpoints, rollout) => {
    expect(rolloutOf(written, written, endpoints)).toEqual(rollout);
  });

  test("is over for one that was removed, made anew or deployed again", () => {
    const removed = failed("it was removed meanwhile");
    expect(rolloutOf(written, undefined, said({}))).toEqual(removed);
    expect(rolloutOf(written, { ...written, createdAt: "2026-01-02T00:00:00.000Z" }, said({}))).toEqual(removed);
    expect(rolloutOf(written, { ...written, generation: 3 }, said({}))).toEqual(
      failed("it was deployed again meanwhile"),
    );
  });
});

test("what serves of the deployment before says so, with what is wrong with the new one", () => {
  const { conditions } = said({ backoff: { failures: 1, until: 0, last: failure } });
  expect(conditions[0]).toMatchObject({
    type: "Ready",
    status: "True",
    message: "1 of 1 replicas is ready, of the previous deployment: Replica hello-2 ended with code 3",
  });
  expect(said({}).conditions[0]?.message).toBe("1 of 1 replicas is ready");
});

describe("endOfRollout()", () => {
  const waited = (within: number, signal = new AbortController().signal) => {
    const words = new WakeList();
    const state: { rollout: Rollout } = { rollout: underWay("not yet") };
    const end = endOfRollout(
      () => state.rollout,
      (changed) => words.watch("hello", changed),
      within,
      signal,
    );
    const tell = (rollout: Rollout): void => {
      state.rollout = rollout;
      words.wake("hello");
    };
    return { end, tell };
  };

  test.each<Rollout>([{ kind: "ready" }, failed("it was removed meanwhile")])(
    "resolves at the word: %j",
    async (last) => {
      const { end, tell } = waited(60_000);
      tell(underWay("soon"));
      tell(last);
      tell(underWay("too late"));
      expect(await end).toEqual(last);
    },
  );

  test("resolves with what is known when the time is over, or nobody waits any more", async () => {
    expect(await waited(1).end).toEqual(underWay("not yet"));
    const leaving = new AbortController();
    const { end } = waited(60_000, leaving.signal);
    leaving.abort();
    expect(await end).toEqual(underWay("not yet"));
    expect(await waited(60_000, AbortSignal.abort()).end).toEqual(underWay("not yet"));
  });
});
