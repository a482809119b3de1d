import { describe, expect, test } from "vitest";

import type { DeadLetterView } from "../../../../runtime/api/schemas/queue-status.ts";
import { fitsFilter } from "../../../../runtime/cli/commands/queues/dead-letter-filter.ts";
import {
  noRoute,
  openPretendedGateway,
  problem,
  type GotRequest,
  type PretendedReply,
} from "../../../support/pretended-gateway.ts";

const idOf = (n: number): string => `7f3c1d52-5c0e-4d7b-9a53-${String(n).padStart(12, "0")}`;
const letter = (n: number, over: Partial<DeadLetterView> = {}): DeadLetterView => ({
  callId: idOf(n),
  functionName: "hello",
  namespace: "functions",
  reason: "exhausted",
  attempts: 2,
  lastStatus: 500,
  acceptedAt: "2026-01-31T12:00:00.000Z",
  deadAt: "2026-01-31T12:20:00.000Z",
  size: 5,
  advice: "Fix it.",
  ...over,
});

/** Queues by name with their dead letters, in pages of two. */
const gatewayWith =
  (
    queues: Readonly<Record<string, readonly DeadLetterView[]>>,
    change: (target: string) => PretendedReply | Promise<PretendedReply> = () => ({ status: 202 }),
  ) =>
  ({ method, target }: GotRequest): PretendedReply | Promise<PretendedReply> => {
    const url = new URL(target, "http://gateway");
    const [, queue = ""] = /^\/system\/queue\/([^/]+)\/dead-letters/.exec(url.pathname) ?? [];
    if (target === "/system/queues")
      return { json: Object.entries(queues).map(([name, letters]) => ({ name, deadLetters: letters.length })) };
    if (target === "/system/info")
      return { json: { functionNamespace: "functions", edition: "community", provider: { provider: "weir-local" } } };
    if (target === "/system/namespace/openfaas-fn") return { json: { name: "functions" } };
    if (target.startsWith("/system/namespace/")) return problem(404, "namespace_not_found", "Cannot find namespace");
    if (method !== "GET" && queue !== "") return change(target);
    if (queue === "") return noRoute;
    const start = Number(url.searchParams.get("after") ?? 0);
    const items = queues[queue]?.slice(start, start + 2) ?? [];
    const more = (queues[queue]?.length ?? 0) > start + 2;
    return { json: { items, ...(more ? { next: String(start + 2) } : {}) } };
  };
const changesIn = (requests: readonly GotRequest[]): readonly string[] =>
  requests.filter(({ method }) => method !== "GET").map(({ method, target }) => `${method} ${target}`);
const redriveOf = (queue: string, n: number): string => `POST /system/queue/${queue}/dead-letters/${idOf(n)}/redrive`;

describe("fitsFilter", () => {
  const any = { functionName: undefined, namespace: undefined, reason: undefined };
  test.each([
    [any, true],
    [{ ...any, functionName: "hello" }, true],
    [{ ...any, functionName: "hell" }, false],
    [{ ...any, functionName: "hello", namespace: "functions" }, true],
    [{ ...any, functionName: "hello", namespace: "dev" }, false],
    [{ ...any, reason: "exhausted" }, true],
    [{ ...any, functionName: "hello", reason: "crash" }, false],
  ] as const)("%j: %s", (filter, fits) => {
    expect(fitsFilter(filter, letter(1))).toBe(fits);
  });

  test("a letter that could not be read is of no function", () => {
    const { functionName: _, namespace: __, ...unreadable } = letter(1, { reason: "undecodable" });
    expect(fitsFilter({ ...any, functionName: "hello" }, unreadable)).toBe(false);
    expect(fitsFilter({ ...any, reason: "undecodable" }, unreadable)).toBe(true);
  });
});

describe("weir dead-letters redrive", () => {
  test("--all reads every page of every queue that has some, and redrives each call once", async () => {
    // The call and its callback were both given up.
    const both = [letter(1), letter(1, { reason: "callback" })];
    await using gateway = await openPretendedGateway(
      gatewayWith({ a: [...both, letter(2), letter(3)], b: [], c: [letter(4)] }),
    );
    const { stderr } = await gateway.run(["dead-letters", "redrive", "--all"]);
    expect(stderr).toMatch(/^Cannot ask "Redrive 4 dead letters\?"/);
    expect(await gateway.run(["dead-letters", "redrive", "--all", "--yes"])).toEqual({
      code: 0,
      stdout: "redriven 4\n",
      stderr: "",
    });
    expect(changesIn(gateway.requests).toSorted()).toEqual([
      redriveOf("a", 1),
      redriveOf("a", 2),
      redriveOf("a", 3),
      redriveOf("c", 4),
    ]);
    expect(gateway.requests.some(({ target }) => target.includes("/queue/b/"))).toBe(false);
  });

  test("is exit code 1 with the reasons when any was refused; the others are redriven", async () => {
    const refuse = (target: string): PretendedReply => {
      const n = Number(/(\d+)\/redrive$/.exec(target)?.[1]);
      if (n <= 3)
        return problem(409, "call_not_redrivable", `Cannot redrive call "${idOf(n)}": function "gone" does not exist`);
      return n === 4
        ? problem(429, "queue_full", `Cannot redrive call "${idOf(n)}": queue "a" is full`)
        : { status: 202 };
    };
    const letters = Array.from({ length: 30 }, (_, index) => letter(index + 1));
    await using gateway = await openPretendedGateway(gatewayWith({ a: letters }, refuse));
    const { code, stdout, stderr } = await gateway.run(["dead-letters", "redrive", "--all", "--queue", "a", "--yes"]);
    expect(stdout).toBe("redriven 26, refused 4\n");
    expect(code).toBe(1);
    expect(stderr.split("\n")).toEqual([
      expect.stringMatching(/^3 refused: function "gone" does not exist \(7f3c1d52-[^,]+, [^,]+, [^,]+\)$/),
      `Cannot redrive call "${idOf(4)}": queue "a" is full`,
      "",
    ]);
    expect(changesIn(gateway.requests)).toHaveLength(30);
  });

  test("sends eight requests at once, and no more", async () => {
    let inFlight = 0;
    let most = 0;
    const eight = Promise.withResolvers<void>();
    const change = async (): Promise<PretendedReply> => {
      most = Math.max(most, ++inFlight);
      if (inFlight === 8) eight.resolve();
      await eight.promise;
      inFlight--;
      return { status: 202 };
    };
    const letters = Array.from({ length: 40 }, (_, index) => letter(index + 1));
    await using gateway = await openPretendedGateway(gatewayWith({ a: letters }, change));
    const { stdout } = await gateway.run(["dead-letters", "redrive", "--all", "--yes"]);
    expect(stdout).toBe("redriven 40\n");
    expect(most).toBe(8);
  });

  test("stops when the broker is away, and says how far it came", async () => {
    const away = problem(503, "queue_unavailable", "Cannot redrive: the broker is away");
    let left = 5;
    const letters = Array.from({ length: 100 }, (_, index) => letter(index + 1));
    await using gateway = await openPretendedGateway(
      gatewayWith({ a: letters }, () => (left-- > 0 ? { status: 202 } : away)),
    );
    const { code, stdout, stderr } = await gateway.run(["dead-letters", "redrive", "--all", "--yes"]);
    expect(stdout).toBe("redriven 5\n");
    expect(code).toBe(5);
    expect(stderr).toMatch(/^Cannot redrive: the broker is away\n/);
    expect(changesIn(gateway.requests).length).toBeLessThanOrEqual(5 + 8);
  });

  test("asks for nothing by id, and takes the beginning of an id that only one has", async () => {
    const other = letter(2, { callId: "aaaabbbb-5c0e-4d7b-9a53-000000000002" });
    await using gateway = await openPretendedGateway(gatewayWith({ a: [letter(1)], b: [other] }));
    expect(await gateway.run(["dead-letter", "redrive", "7f3c1d", "aaaabbbb-5C0E"])).toMatchObject({
      code: 0,
      stdout: "redriven 2\n",
    });
    expect(changesIn(gateway.requests).toSorted()).toEqual([
      redriveOf("a", 1),
      redriveOf("b", 2).replace(idOf(2), other.callId),
    ]);
  });

  test.each([
    [["7f3c1d"], 2, 'Cannot redrive call "7f3c1d": the ids of 2 dead letters begin so; give more digits\n'],
    [[idOf(9)], 3, `Cannot redrive call "${idOf(9)}": there is no dead letter of it\nTry: weir dead-letters list\n`],
    [
      [idOf(1), idOf(9)],
      3,
      `Cannot redrive call "${idOf(9)}": there is no dead letter of it\nTry: weir dead-letters list\n`,
    ],
    [[], 2, "Cannot redrive dead letters: give ids of calls, or --all\n"],
    [[idOf(1), "--all", "--yes"], 2, "Cannot redrive dead letters: give ids or --all, not both\n"],
    [["--function", "hello"], 2, "Cannot redrive dead letters: --function and --reason choose among --all\n"],
    [["--all"], 2, 'Cannot ask "Redrive 2 dead letters?": there is no terminal; say --yes\n'],
    [["--all", "--yes", "--queue", ".."], 2, 'Cannot redrive dead letters of queue "..": a name has '],
    [["--all", "--yes", "--function", "A b"], 2, 'Cannot use function name "A b": '],
    [["xyz"], 2, 'Cannot redrive call "xyz": an id is a UUID'],
  ])("%j changes nothing and is exit code %i", async (args, exit, sentence) => {
    await using gateway = await openPretendedGateway(gatewayWith({ a: [letter(1), letter(2)] }));
    const { code, stdout, stderr } = await gateway.run(["dead-letters", "redrive", ...args]);
    expect(stderr.slice(0, sentence.length)).toBe(sentence);
    expect(code).toBe(exit);
    expect(stdout).toBe("");
    expect(changesIn(gateway.requests)).toEqual([]);
  });

  test.each([
    [["--function", "hello"], [1]],
    [["--function", "hello.dev"], [2]],
    [["--function", "hello.openfaas-fn"], [1]],
    [["--function", "hello.gone"], [3]],
    [["--reason", "crash"], [4]],
    [["--reason", "crash", "--function", "hello"], []],
  ])("%j chooses %j", async (flags, expected) => {
    const letters = [
      letter(1),
      letter(2, { namespace: "dev" }),
      letter(3, { namespace: "gone" }),
      letter(4, { functionName: "other", reason: "crash" }),
    ];
    await using gateway = await openPretendedGateway(gatewayWith({ a: letters }));
    const { stdout, code } = await gateway.run(["dead-letters", "redrive", "--all", "--yes", ...flags]);
    expect([code, stdout]).toEqual([0, `redriven ${expected.length}\n`]);
    expect(changesIn(gateway.requests)).toEqual(expected.map((n) => redriveOf("a", n)));
  });
});

describe("weir dead-letters delete", () => {
  test("asks for one by id, too", async () => {
    await using gateway = await openPretendedGateway(gatewayWith({ a: [letter(1)] }));
    const { code, stderr } = await gateway.run(["dead-letters", "delete", idOf(1)]);
    expect([code, stderr]).toEqual([2, 'Cannot ask "Delete 1 dead letter?": there is no terminal; say --yes\n']);
    expect(changesIn(gateway.requests)).toEqual([]);
  });

  test("deletes what was named with --yes", async () => {
    await using gateway = await openPretendedGateway(gatewayWith({ a: [letter(1)] }));
    expect(await gateway.run(["dead-letters", "rm", idOf(1), "--yes"])).toEqual({
      code: 0,
      stdout: "deleted 1\n",
      stderr: "",
    });
    expect(changesIn(gateway.requests)).toEqual([`DELETE /system/queue/a/dead-letters/${idOf(1)}`]);
  });

  test("of nothing needs --yes as well where there is no terminal", async () => {
    await using gateway = await openPretendedGateway(gatewayWith({ a: [] }));
    expect(await gateway.run(["dead-letters", "delete", "--all"])).toMatchObject({ code: 2, stdout: "" });
    expect(await gateway.run(["dead-letters", "delete", "--all", "--yes"])).toMatchObject({
      code: 0,
      stdout: "deleted 0\n",
    });
  });
});

describe("weir dead-letters list and show", () => {
  test("show escapes of a hostile gateway as text", async () => {
    const hostile = letter(1, { functionName: "a\u001b[2J", advice: "see\r\u202ehere" });
    await using gateway = await openPretendedGateway(gatewayWith({ a: [hostile] }));
    for (const args of [["list"], ["show", idOf(1)], ["show", idOf(1), "-o", "json"]]) {
      const { code, stdout } = await gateway.run(["dead-letters", ...args]);
      expect(code).toBe(0);
      expect(["\u001b", "\r", "\u202e"].filter((hidden) => stdout.includes(hidden))).toEqual([]);
      expect(stdout).toContain(String.raw`a\u001b[2J`);
    }
  });

  test("list is [] in JSON when there is none", async () => {
    await using gateway = await openPretendedGateway(gatewayWith({ a: [] }));
    expect(await gateway.run(["dead-letters", "list", "-o", "json"])).toEqual({ code: 0, stdout: "[]\n", stderr: "" });
  });

  test("show has both letters of a call whose callback was given up, too", async () => {
    const both = [letter(1), letter(1, { reason: "callback", attempts: 5 })];
    await using gateway = await openPretendedGateway(gatewayWith({ a: both }));
    const { stdout } = await gateway.run(["dead-letters", "get", idOf(1), "-o", "json"]);
    expect(JSON.parse(stdout)).toEqual(both);
    const { stdout: text } = await gateway.run(["dead-letters", "get", idOf(1)]);
    expect(text).toMatch(/^runs +2$/m);
    expect(text).toMatch(/^times sent +5$/m);
  });
});
