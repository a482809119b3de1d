import fc from "fast-check";
import { describe, expect, test } from "vitest";

import type { KubeObject } from "../../../../../runtime/adapters/kubernetes/client/kube-types.ts";
import { ObjectCache, type ObjectChange } from "../../../../../runtime/adapters/kubernetes/watch/object-cache.ts";
import { compareResourceVersions } from "../../../../../runtime/adapters/kubernetes/watch/resource-version.ts";

interface Thing extends KubeObject {
  readonly at: number;
}
interface Step {
  readonly type: "ADDED" | "MODIFIED" | "DELETED";
  readonly object: Thing;
}

const thing = (name: string, version: string | number, uid = "u"): Thing => ({
  metadata: { name, namespace: "dev", uid, resourceVersion: String(version) },
  at: Number(version),
});
const event = (type: Step["type"], object: Thing): Step => ({ type, object });
const openCache = () => new ObjectCache<Thing, number>(({ at }) => at);

function listed(cache: ObjectCache<Thing, number>, objects: readonly Thing[], version: string) {
  return cache.replaceAll(
    objects.map((object) => cache.keep(object)),
    version,
  );
}

describe("an event", () => {
  test("that comes twice or late changes nothing", () => {
    const cache = openCache();
    listed(cache, [thing("a", 5)], "10");
    expect(cache.apply(event("MODIFIED", thing("a", 12)))).toEqual({ key: "dev/a", before: 5, after: 12 });
    for (const late of [5, 9, 11, 12]) expect(cache.apply(event("MODIFIED", thing("a", late)))).toBeUndefined();
    expect(cache.apply(event("DELETED", thing("a", 11)))).toBeUndefined();
    expect(cache.objects).toEqual(new Map([["dev/a", 12]]));
  });

  test("older than a deletion does not bring the object back, a new object of that name does", () => {
    const cache = openCache();
    listed(cache, [thing("a", 5)], "10");
    expect(cache.apply(event("DELETED", thing("a", 12)))).toEqual({ key: "dev/a", before: 5, after: undefined });
    expect(cache.apply(event("MODIFIED", thing("a", 11)))).toBeUndefined();
    expect(cache.apply(event("DELETED", thing("a", 12)))).toBeUndefined();
    expect(cache.apply(event("ADDED", thing("a", 13, "v")))).toEqual({ key: "dev/a", before: undefined, after: 13 });
  });

  test("from before the list does not add what the list does not hold", () => {
    const cache = openCache();
    listed(cache, [], "10");
    expect(cache.apply(event("ADDED", thing("a", 9)))).toBeUndefined();
    expect(cache.apply(event("ADDED", thing("a", 11)))).toBeDefined();
  });

  test("whose version has no order counts, unless it is the known version", () => {
    const cache = openCache();
    listed(cache, [thing("a", "x-2")], "x");
    expect(cache.apply(event("MODIFIED", thing("a", "x-2")))).toBeUndefined();
    expect(cache.apply(event("MODIFIED", thing("a", "x-1")))).toBeDefined();
    expect(cache.apply(event("DELETED", thing("a", "x-1")))).toMatchObject({ after: undefined });
  });
});

test("a list replaces everything, reports what differs, and keeps the rest as it is", () => {
  const cache = new ObjectCache<Thing, object>(({ at }) => ({ at }));
  const list = (objects: readonly Thing[], version: string) =>
    cache.replaceAll(
      objects.map((object) => cache.keep(object)),
      version,
    );
  list([thing("a", 20), thing("b", 21), thing("c", 22)], "30");
  const same = cache.objects.get("dev/a");
  // As after a restored backup: older than what was known.
  const changes = list([thing("a", 20), thing("b", 2, "other"), thing("d", 3)], "4");
  expect(changes).toEqual([
    { key: "dev/b", before: { at: 21 }, after: { at: 2 } },
    { key: "dev/d", before: undefined, after: { at: 3 } },
    { key: "dev/c", before: { at: 22 }, after: undefined },
  ]);
  expect(cache.objects.get("dev/a")).toBe(same);
  expect([...cache.objects.keys()]).toEqual(["dev/a", "dev/b", "dev/d"]);
});

test("versions are compared as whole numbers of any length, others only for equality", () => {
  const pairs: [string, string, number | undefined][] = [
    ["9", "10", -1],
    ["18446744073709551616", "18446744073709551615", 1],
    ["7", "7", 0],
    ["a", "a", 0],
    ["007", "8", undefined],
    ["0", "8", undefined],
    ["", "8", undefined],
  ];
  for (const [a, b, order] of pairs) {
    const compared = compareResourceVersions(a, b);
    expect(compared === undefined ? undefined : Math.sign(compared), `${a} ${b}`).toBe(order);
  }
});

describe("FP3", () => {
  const names = ["a", "b", "c"] as const;
  const action = fc.record({ name: fc.constantFrom(...names), remove: fc.boolean() });

  /** Events, and the state after each. */
  function historyOf(actions: readonly { readonly name: string; readonly remove: boolean }[]) {
    const now = new Map<string, Thing>();
    const events: Step[] = [];
    const states: ReadonlyMap<string, Thing>[] = [new Map()];
    actions.forEach(({ name, remove }, index) => {
      const version = index + 1;
      const known = now.get(name);
      const next = thing(name, version, known?.metadata.uid ?? `${name}-${version}`);
      if (remove && known !== undefined) {
        now.delete(name);
        events.push(event("DELETED", next));
      } else {
        now.set(name, next);
        events.push(event(known === undefined ? "ADDED" : "MODIFIED", next));
      }
      states.push(new Map(now));
    });
    return { events, states };
  }

  test("with repeated events in any order, the cache equals the list, and so does who followed its changes", () => {
    const runs = fc.record({
      actions: fc.array(action, { maxLength: 40 }),
      /** How much of the history each list saw. */
      lists: fc.array(fc.nat(40), { minLength: 1, maxLength: 4 }),
      noise: fc.infiniteStream(fc.nat(1_000)),
    });
    fc.assert(
      fc.property(runs, ({ actions, lists, noise }) => {
        const { events, states } = historyOf(actions);
        const cache = openCache();
        const followed = new Map<string, number>();
        const follow = ({ key, before, after }: ObjectChange<number>): void => {
          expect(followed.get(key)).toBe(before);
          if (after === undefined) followed.delete(key);
          else followed.set(key, after);
        };
        const draw = (below: number): number => (noise.next().value ?? 0) % below;
        const at = lists.map((seen) => Math.min(seen, events.length)).sort((a, b) => a - b);
        at.forEach((from, index) => {
          for (const change of listed(cache, [...(states[from]?.values() ?? [])], String(from))) follow(change);
          const until = at[index + 1] ?? events.length;
          // Some events again, some from before, all in any order.
          const stream = [...events.slice(from, until), ...events.slice(0, until).filter(() => draw(3) === 0)];
          for (const each of stream.map((step) => ({ step, place: draw(1_000) })).sort((a, b) => a.place - b.place)) {
            const change = cache.apply(each.step);
            if (change !== undefined) follow(change);
          }
          const expected = [...(states[until]?.entries() ?? [])].map(([name, { at: value }]) => [`dev/${name}`, value]);
          expect(new Map(cache.objects)).toEqual(new Map(expected as [string, number][]));
          expect(followed).toEqual(new Map(cache.objects));
        });
      }),
      { numRuns: 500 },
    );
  });
});
