import { describe, expect, test } from "vitest";

import type { FunctionStatus } from "../../../../runtime/api/schemas/function-status.ts";
import type { FunctionRow } from "../../../../runtime/api/schemas/watch/function-row.ts";
import { functionKeyOf, functionOfKey } from "../../../../runtime/console/data/functions/function-of-page.ts";
import { ListedFunctions } from "../../../../runtime/console/data/functions/listed-functions.ts";
import { narrowFunctions } from "../../../../runtime/console/data/functions/narrow-functions.ts";
import { stateOfStatus } from "../../../../runtime/console/data/functions/state-of-status.ts";
import { formatOrder, parseOrder } from "../../../../runtime/console/parts/tables/column.ts";

const row = (key: string, part: Partial<{ state: FunctionRow[3]; calls: number; ready: number }> = {}): FunctionRow => [
  key,
  1,
  part.ready ?? 1,
  part.state ?? "ready",
  part.calls ?? 0,
  0,
  0,
  1_769_860_800,
];
const event = (rows: readonly FunctionRow[], part: object = {}) => ({
  on: "functions",
  begin: false,
  more: false,
  rows: [...rows],
  removed: [],
  ...part,
});
const keysOf = (functions: ListedFunctions): readonly string[] => [...functions.cells.keys()];

describe("ListedFunctions", () => {
  test("the whole comes in portions, then changes, each to its own cell", () => {
    const functions = new ListedFunctions();
    functions.take(event([row("a.dev")], { begin: true, more: true }));
    expect(functions.isWhole.value).toBe(false);
    functions.take(event([row("b.dev")]));
    expect(functions.isWhole.value).toBe(true);
    const [a, b] = [functions.cells.get("a.dev"), functions.cells.get("b.dev")];
    const seen: (number | undefined)[] = [];
    a?.subscribe(({ calls }) => void seen.push(calls));
    const others: unknown[] = [];
    b?.subscribe((listed) => void others.push(listed));

    functions.take(event([row("a.dev", { calls: 12.5 })], { removed: ["b.dev"] }));

    expect(seen).toEqual([0, 12.5]);
    expect(others).toHaveLength(1);
    expect(keysOf(functions)).toEqual(["a.dev"]);
    expect(a?.value).toMatchObject({ name: "a", namespace: "dev", since: 1_769_860_800_000 });
  });

  test("a stream that begins again removes what is gone, but not before it is whole", () => {
    const functions = new ListedFunctions();
    functions.take(event([row("a.dev"), row("b.dev")], { begin: true }));

    functions.take(event([row("c.dev")], { begin: true, more: true }));
    expect(keysOf(functions)).toEqual(["a.dev", "b.dev", "c.dev"]);
    functions.take(event([row("b.dev")]));

    expect(keysOf(functions).toSorted()).toEqual(["b.dev", "c.dev"]);
  });
});

describe("narrowFunctions()", () => {
  const functions = new ListedFunctions();
  functions.take(
    event(
      [
        row("pay.dev", { calls: 3 }),
        row("pay-late.prod", { calls: 9, state: "stalled" }),
        row("hello.dev", { calls: 3 }),
      ],
      { begin: true },
    ),
  );
  const all = { text: "", state: "", namespace: "", order: parseOrder("name") } as const;
  const shown = (filter: Partial<Parameters<typeof narrowFunctions>[1]>): readonly string[] =>
    narrowFunctions(functions.byName, { ...all, ...filter }).map((cell) => cell.peek().key);

  test("by words of name and namespace, state and namespace", () => {
    expect(shown({ text: "PAY" })).toEqual(["pay-late.prod", "pay.dev"]);
    expect(shown({ text: "pay dev" })).toEqual(["pay.dev"]);
    expect(shown({ state: "stalled" })).toEqual(["pay-late.prod"]);
    expect(shown({ namespace: "dev" })).toEqual(["hello.dev", "pay.dev"]);
  });

  test("in the order of a column; equal ones by name", () => {
    expect(shown({ order: parseOrder("-calls") })).toEqual(["pay-late.prod", "hello.dev", "pay.dev"]);
    expect(shown({ order: parseOrder("-name") })).toEqual(["pay.dev", "pay-late.prod", "hello.dev"]);
    expect(shown({ order: parseOrder("state") })).toEqual(["pay-late.prod", "hello.dev", "pay.dev"]);
    expect(formatOrder(parseOrder("-calls"))).toBe("-calls");
  });
});

test("whatever comes, changes and goes, the list is what sorting all of it anew would make", () => {
  const functions = new ListedFunctions();
  const chance = (most: number): number => Math.floor(Math.random() * most);
  const states = ["ready", "stalled", "scaled_to_zero"] as const;
  const some = (count: number): string[] => Array.from({ length: count }, () => `f-${chance(60)}.n-${chance(3)}`);
  for (let round = 0; round < 200; round++) {
    const rows = some(12).map((key) => row(key, { calls: chance(4), state: states[chance(3)] ?? "ready" }));
    functions.take(event(rows, { begin: round % 50 === 0, removed: some(4) }));
    const all = [...functions.cells.values()].map((cell) => cell.peek());
    const byName = all.toSorted((one, other) => (one.key < other.key ? -1 : 1));
    expect(functions.byName.map((cell) => cell.peek())).toEqual(byName);
    const byCalls = all
      .filter(({ key, state }) => key.includes("1") && state === "ready")
      .toSorted((one, other) => (other.calls ?? -1) - (one.calls ?? -1) || (one.key < other.key ? -1 : 1));
    const filter = { text: "1", state: "ready", namespace: "", order: parseOrder("-calls") } as const;
    expect(narrowFunctions(functions.byName, filter).map((cell) => cell.peek())).toEqual(byCalls);
  }
});

test("the list by name is the same one while only figures change, and narrowing leaves it as it is", () => {
  const functions = new ListedFunctions();
  functions.take(event([row("b.dev"), row("a.dev")], { begin: true }));
  const before = functions.byName;

  functions.take(event([row("a.dev", { calls: 5 })]));
  narrowFunctions(functions.byName, { text: "", state: "", namespace: "", order: parseOrder("-name") });

  expect(functions.byName).toBe(before);
  expect(before.map((cell) => cell.peek().key)).toEqual(["a.dev", "b.dev"]);
});

test.each([
  [{ replicas: 1, availableReplicas: 1 }, "ready"],
  [{ replicas: 0, availableReplicas: 0 }, "scaled_to_zero"],
  [{ replicas: 0, availableReplicas: 1 }, "stopping"],
  [{ replicas: 2, availableReplicas: 1 }, "degraded"],
  [{ replicas: 2, availableReplicas: 0 }, "starting"],
  [{ replicas: 1, availableReplicas: 1, conditions: [{ type: "Stalled", status: "True" }] }, "stalled"],
])("a function with %j is %s", (part, state) => {
  expect(stateOfStatus({ conditions: [], ...part } as unknown as FunctionStatus)).toBe(state);
});

test("a key names one function; without a namespace it names that of none", () => {
  expect(functionOfKey(functionKeyOf({ name: "pay-late", namespace: "dev" }))).toEqual({
    name: "pay-late",
    namespace: "dev",
  });
  expect(functionOfKey("pay")).toEqual({ name: "pay", namespace: "" });
});
