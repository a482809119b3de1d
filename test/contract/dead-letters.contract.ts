import { randomUUID } from "node:crypto";

import { expect, test } from "vitest";

import type { QueuedCall } from "../../runtime/core/calls/call.ts";
import type {
  DeadLetter,
  DeadLetters,
  DeadLetterStore,
  DeadLetterContent,
  StoredDeadLetter,
} from "../../runtime/core/ports/dead-letters.ts";
import { plain, sampleCall, sampleCallback } from "./samples.ts";

export interface OpenDeadLetters {
  readonly letters: DeadLetters & DeadLetterStore;
  /** A call as a queue of the same adapter stores it. */
  rawOf(call: QueuedCall): { readonly headers: ReadonlyMap<string, string>; readonly body: Uint8Array };
  close(): Promise<void>;
}

const letter = (over: Partial<DeadLetter> = {}): DeadLetter => ({
  kind: "call",
  id: randomUUID(),
  queue: "default",
  function: { namespace: "functions", name: "echo" },
  reason: "exhausted",
  attempts: 11,
  lastStatus: 503,
  acceptedAt: 1_790_000_000_000,
  deadAt: 1_790_000_001_000,
  redrives: 0,
  headers: new Map(),
  body: Buffer.from([0, 255, 10]),
  ...over,
});

/** A letter as `list` returns it, without its position. */
const facts = ({ headers: _headers, body, callback: _callback, ...rest }: DeadLetter) => ({
  ...rest,
  size: body.byteLength,
});
const withoutPosition = ({ position: _position, ...rest }: StoredDeadLetter) => rest;
const listed = async (letters: DeadLetterStore, queue = "default") => {
  const { letters: found, more } = await letters.list(queue, 0, 1_000);
  expect(more).toBe(false);
  return found.map(withoutPosition);
};
/** Contents with bodies as lists of bytes. */
const contentOf = (content: DeadLetterContent | undefined): unknown => {
  switch (content?.kind) {
    case "call":
      return plain(content.call);
    case "callback":
      return { ...content.callback, output: content.callback.output && plain(content.callback.output) };
    default:
      return content?.kind;
  }
};

/** What every `DeadLetters` and `DeadLetterStore` must do. */
export function deadLettersContract(open: () => Promise<OpenDeadLetters>): void {
  test("keeps what it is given, call and callback of one id side by side", async () => {
    const { letters, close } = await open();
    const call = letter();
    const callback = letter({
      id: call.id,
      kind: "callback",
      reason: "callback",
      lastStatus: undefined,
      body: Buffer.alloc(0),
    });
    const unreadable = letter({ function: undefined, reason: "undecodable" });
    for (const each of [call, callback, unreadable]) await letters.put(each);
    expect(await listed(letters)).toEqual([call, callback, unreadable].map(facts));
    expect((await letters.find("default", call.id)).map(({ kind }) => kind)).toEqual(["call", "callback"]);
    expect(await letters.count("default")).toBe(3);
    await close();
  });

  test("returns what can be redriven: the call, or the callback with its output", async () => {
    const { letters, rawOf, close } = await open();
    const call = sampleCall({ query: undefined, parentId: randomUUID() });
    const output = { body: Buffer.from([1, 0, 254]), truncated: false };
    const callback = { ...sampleCallback({ id: call.id, redrives: 2 }), output };
    const cut = { ...sampleCallback(), output: { body: Buffer.alloc(0), truncated: true } };
    await letters.put(letter({ id: call.id, ...rawOf(call) }));
    await letters.put(letter({ id: call.id, kind: "callback", reason: "callback", body: output.body, callback }));
    await letters.put(
      letter({ id: cut.id, kind: "callback", reason: "callback", body: Buffer.alloc(0), callback: cut }),
    );
    const [first, second] = await letters.find("default", call.id);
    expect(contentOf(first?.content)).toEqual(plain(call));
    expect(contentOf(second?.content)).toEqual({ ...callback, output: plain(output) });
    const [third] = await letters.find("default", cut.id);
    expect(contentOf(third?.content)).toEqual({ ...cut, output: plain(cut.output) });
    await close();
  });

  test("what no worker could read cannot be redriven, whatever its headers", async () => {
    const { letters, rawOf, close } = await open();
    const odd = letter({
      headers: new Map([
        ["Weir-Headers", '["X-Word","na\u00efve \u20ac"]'],
        ["Weir-Function", "../etc"],
        ["x-odd name", "value"],
        ["X-Empty", ""],
        ["Weir-", " "],
        ["", "nameless"],
      ]),
      function: undefined,
      reason: "undecodable",
    });
    const call = sampleCall();
    const readable = letter({ id: call.id, function: undefined, reason: "undecodable", ...rawOf(call) });
    for (const each of [odd, readable]) {
      await letters.put(each);
      expect((await letters.find("default", each.id)).map(({ content }) => content.kind)).toEqual(["unreadable"]);
    }
    expect((await listed(letters))[0]).toEqual(facts(odd));
    await close();
  });

  test("keeps the same letter once, and the last of several redrives", async () => {
    const { letters, close } = await open();
    const call = letter();
    await letters.put(call);
    await letters.put({ ...call, attempts: 99 });
    expect(await listed(letters)).toEqual([facts(call)]);
    const redriven = { ...call, redrives: 1, attempts: 3 };
    await letters.put(redriven);
    expect(await listed(letters)).toEqual([facts(redriven)]);
    await close();
  });

  test("lists one queue page by page, oldest first", async () => {
    const { letters, close } = await open();
    const ours = Array.from({ length: 5 }, () => letter({ queue: "slow" }));
    for (const each of ours) {
      await letters.put(letter());
      await letters.put(each);
    }
    const seen: string[] = [];
    let after = 0;
    for (let page = 0; page < 3; page++) {
      const { letters: found, more } = await letters.list("slow", after, 2);
      expect(more).toBe(page < 2);
      seen.push(...found.map(({ id }) => id));
      after = found.at(-1)?.position ?? after;
    }
    expect(seen).toEqual(ours.map(({ id }) => id));
    expect(await letters.list("slow", after, 2)).toEqual({ letters: [], more: false });
    expect(await letters.list("none", 0, 2)).toEqual({ letters: [], more: false });
    expect([await letters.count("slow"), await letters.count("none")]).toEqual([5, 0]);
    await close();
  });

  test("removes exactly the letter that was read, and is silent if it is already gone", async () => {
    const { letters, close } = await open();
    const [call, other] = [letter(), letter()];
    await letters.put(call);
    await letters.put(other);
    const [found] = await letters.find("default", call.id);
    if (found === undefined) throw new Error("there is no letter");
    await letters.remove(found);
    await letters.remove(found);
    expect(await letters.find("default", call.id)).toEqual([]);
    const again = { ...call, redrives: 1 };
    await letters.put(again);
    await letters.remove(found);
    expect(await listed(letters)).toEqual([other, again].map(facts));
    await close();
  });
}
