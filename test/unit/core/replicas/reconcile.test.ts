import fc from "fast-check";
import { describe, expect, test } from "vitest";

import {
  decideReconcile,
  type ReconcileFacts,
  type ReplicaFacts,
} from "../../../../runtime/core/replicas/reconcile.ts";

const now = 100_000;
const drain = 100;

function replica(id: string, over: Partial<ReplicaFacts> = {}): ReplicaFacts {
  return {
    id,
    generation: 2,
    state: "running",
    ready: true,
    unhealthy: false,
    retired: false,
    unpublishedAt: undefined,
    ...over,
  };
}

function decide(replicas: readonly ReplicaFacts[], over: Partial<ReconcileFacts> = {}) {
  return decideReconcile({
    wanted: { replicas: 1, generation: 2 },
    replicas,
    startAfter: 0,
    exclusive: false,
    now,
    drain,
    ...over,
  });
}

describe("decideReconcile", () => {
  test("starts all missing replicas at once", () => {
    expect(decide([], { wanted: { replicas: 3, generation: 2 } })).toEqual([
      { action: "start", count: 3, because: "missing" },
    ]);
    expect(decide([replica("a")], { wanted: { replicas: 3, generation: 2 } })).toEqual([
      { action: "start", count: 2, because: "missing" },
    ]);
  });

  test("has nothing to do when what runs equals desired state, also at 0", () => {
    expect(decide([replica("a")])).toEqual([]);
    expect(decide([replica("a", { ready: false, state: "starting" })])).toEqual([]);
    expect(decide([], { wanted: { replicas: 0, generation: 2 } })).toEqual([]);
  });

  test("retires surplus replicas, those that are not ready and the youngest first", () => {
    const replicas = [replica("a"), replica("b", { ready: false }), replica("c"), replica("d")];

    expect(decide(replicas, { wanted: { replicas: 2, generation: 2 } })).toEqual([
      { action: "retire", id: "d", because: "surplus" },
      { action: "retire", id: "b", because: "surplus" },
    ]);
    expect(decide([replica("a")], { wanted: { replicas: 0, generation: 2 } })).toEqual([
      { action: "retire", id: "a", because: "surplus" },
    ]);
  });

  test("stops a retired replica only when endpoints without it were published long enough before", () => {
    expect(decide([replica("a"), replica("b", { retired: true })])).toEqual([]);
    expect(decide([replica("a"), replica("b", { retired: true, unpublishedAt: now - 99 })])).toEqual([
      { action: "wait", until: now + 1, because: "draining" },
    ]);
    expect(decide([replica("a"), replica("b", { retired: true, unpublishedAt: now - 100 })])).toEqual([
      { action: "stop", id: "b", because: "drained" },
    ]);
    expect(decide([replica("a"), replica("b", { retired: true, state: "starting", ready: false })])).toEqual([
      { action: "stop", id: "b", because: "without-calls" },
    ]);
    expect(decide([replica("a"), replica("b", { retired: true, state: "stopping", unpublishedAt: 0 })])).toEqual([]);
  });

  test("removes what ended and starts another one, after the back-off", () => {
    const ended = [replica("a", { state: "exited", ready: false })];
    expect(decide(ended)).toEqual([
      { action: "stop", id: "a", because: "ended" },
      { action: "start", count: 1, because: "missing" },
    ]);
    expect(decide(ended, { startAfter: now + 500 })).toEqual([
      { action: "stop", id: "a", because: "ended" },
      { action: "wait", until: now + 500, because: "backing-off" },
    ]);
  });

  test("replaces an unhealthy replica", () => {
    expect(decide([replica("a", { unhealthy: true })])).toEqual([
      { action: "retire", id: "a", because: "unhealthy" },
      { action: "start", count: 1, because: "missing" },
    ]);
  });

  test("rolls one by one: start beside, then retire as many old ones as new ones are ready", () => {
    const wanted = { replicas: 2, generation: 2 };
    const [a, b] = [replica("a", { generation: 1 }), replica("b", { generation: 1 })];
    expect(decide([a, b], { wanted })).toEqual([{ action: "start", count: 1, because: "superseding" }]);
    expect(decide([a, b, replica("c", { ready: false })], { wanted })).toEqual([]);
    expect(decide([a, b, replica("c")], { wanted })).toEqual([
      { action: "retire", id: "a", because: "superseded" },
      { action: "start", count: 1, because: "superseding" },
    ]);
    expect(decide([b, replica("c"), replica("d")], { wanted })).toEqual([
      { action: "retire", id: "b", because: "superseded" },
    ]);
  });

  test("old replicas that are not ready make room at once", () => {
    expect(decide([replica("a", { generation: 1, ready: false })])).toEqual([
      { action: "retire", id: "a", because: "superseded" },
      { action: "start", count: 1, because: "superseding" },
    ]);
  });

  test("an old replica keeps serving while the new generation fails", () => {
    const old = replica("a", { generation: 1 });
    expect(decide([old, replica("b", { state: "exited", ready: false })], { startAfter: now + 1 })).toEqual([
      { action: "stop", id: "b", because: "ended" },
      { action: "wait", until: now + 1, because: "backing-off" },
    ]);
  });

  test("an exclusive function is stopped first, and started when no replica is left", () => {
    const old = replica("a", { generation: 1 });
    expect(decide([old], { exclusive: true })).toEqual([{ action: "retire", id: "a", because: "superseded" }]);
    expect(decide([{ ...old, retired: true, state: "stopping" }], { exclusive: true })).toEqual([]);
    expect(decide([], { exclusive: true })).toEqual([{ action: "start", count: 1, because: "missing" }]);
  });

  test("retires all replicas of a function that was removed", () => {
    expect(decide([replica("a"), replica("b", { generation: 1 })], { wanted: undefined })).toEqual([
      { action: "retire", id: "a", because: "removed" },
      { action: "retire", id: "b", because: "removed" },
    ]);
  });

  const anyReplica = fc.record({
    generation: fc.constantFrom(1, 2),
    state: fc.constantFrom("starting" as const, "running" as const, "stopping" as const, "exited" as const),
    ready: fc.boolean(),
    unhealthy: fc.boolean(),
    retired: fc.boolean(),
    unpublishedAt: fc.option(fc.integer({ min: now - 200, max: now }), { nil: undefined }),
  });

  test("never retires ready replicas that are needed, and never starts more than one too many", () => {
    fc.assert(
      fc.property(fc.array(anyReplica, { maxLength: 12 }), fc.integer({ min: 0, max: 6 }), (drawn, wanted) => {
        const replicas = drawn.map((over, index) =>
          replica(`r${index}`, { ...over, ready: over.ready && over.state === "running" }),
        );
        const actions = decide(replicas, { wanted: { replicas: wanted, generation: 2 } });
        const retired = new Set(actions.flatMap((action) => (action.action === "retire" ? [action.id] : [])));
        const started = actions.reduce((sum, action) => sum + (action.action === "start" ? action.count : 0), 0);
        const live = replicas.filter(
          ({ state, retired: before }) => !before && (state === "starting" || state === "running"),
        );
        const left = live.filter(({ id }) => !retired.has(id));
        const serving = live.filter(({ ready, unhealthy }) => ready && !unhealthy);

        expect(left.filter(({ ready }) => ready).length).toBeGreaterThanOrEqual(Math.min(wanted, serving.length));
        expect(started === 0 || left.length + started <= wanted + 1).toBe(true);
        for (const action of actions) {
          if (action.action !== "stop") continue;
          const stopped = replicas.find(({ id }) => id === action.id);
          expect(stopped?.state === "exited" || stopped?.retired).toBe(true);
        }
      }),
    );
  });

  test("reaches desired state from any state, with never fewer ready than before or desired", () => {
    fc.assert(
      fc.property(fc.array(anyReplica, { maxLength: 8 }), fc.integer({ min: 0, max: 5 }), (drawn, wanted) => {
        let replicas = drawn.map((over, index) =>
          replica(`r${index}`, { ...over, unhealthy: false, ready: over.ready && over.state === "running" }),
        );
        let time = now;
        const readyIn = (): number =>
          replicas.filter(({ ready, retired, state }) => ready && !retired && state === "running").length;
        const floor = Math.min(wanted, readyIn());
        for (let round = 0; round < 60; round += 1) {
          const actions = decideReconcile({
            wanted: { replicas: wanted, generation: 2 },
            replicas,
            startAfter: 0,
            exclusive: false,
            now: time,
            drain,
          });
          for (const action of actions) {
            if (action.action === "retire")
              replicas = replicas.map((known) => (known.id === action.id ? { ...known, retired: true } : known));
            if (action.action === "stop") replicas = replicas.filter(({ id }) => id !== action.id);
            if (action.action === "start") {
              for (let number = 0; number < action.count; number += 1)
                replicas.push(replica(`n${round}-${number}`, { state: "starting", ready: false }));
            }
          }
          expect(readyIn()).toBeGreaterThanOrEqual(floor);
          replicas = replicas
            .filter(({ state }) => state !== "stopping")
            .map((known) => ({
              ...known,
              ...(known.state === "starting" ? { state: "running" as const } : { ready: known.state === "running" }),
              unpublishedAt: known.retired ? (known.unpublishedAt ?? time) : undefined,
            }));
          time += 60;
        }
        expect(replicas.filter(({ generation, ready, retired }) => generation === 2 && ready && !retired)).toHaveLength(
          wanted,
        );
        expect(replicas).toHaveLength(wanted);
      }),
    );
  });
});

describe("decideReconcile, edge cases", () => {
  test("an old replica that serves stays until a new one does, whatever others are old", () => {
    const old = [replica("a", { generation: 1 }), replica("b", { generation: 1, ready: false })];
    expect(decide(old)).toEqual([
      { action: "retire", id: "b", because: "superseded" },
      { action: "start", count: 1, because: "superseding" },
    ]);
  });

  test("a pause ends exactly on time", () => {
    expect(decide([], { startAfter: now })).toEqual([{ action: "start", count: 1, because: "missing" }]);
    expect(decide([], { startAfter: now + 1 })).toEqual([{ action: "wait", until: now + 1, because: "backing-off" }]);
  });
});
