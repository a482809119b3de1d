import { randomUUID } from "node:crypto";

import { expect, test } from "vitest";

import { buildRuleSet, type AccessDocument } from "../../../../runtime/core/access/build-rule-set.ts";
import { grantsOf, noGrants, type Grants } from "../../../../runtime/core/access/grants.ts";
import { administrator, type Principal } from "../../../../runtime/core/access/principal.ts";
import { showDeadLetters } from "../../../../runtime/core/queues/queue-views.ts";
import { permittedLetters } from "../../../../runtime/gateway/access/permitted-letters.ts";
import { MemoryDeadLetters } from "../../../support/memory/memory-dead-letters.ts";

/** Letters that are asked for in pages, with the limit of each. */
class CountedLetters extends MemoryDeadLetters {
  readonly limits: number[] = [];

  override list(...asked: Parameters<MemoryDeadLetters["list"]>): ReturnType<MemoryDeadLetters["list"]> {
    this.limits.push(asked[2]);
    return super.list(...asked);
  }
}

/** Letters of functions of these namespaces, one each; of none where it is undefined. */
async function lettersOf(...namespaces: readonly (string | undefined)[]): Promise<CountedLetters> {
  const letters = new CountedLetters();
  for (const namespace of namespaces) {
    await letters.put({
      kind: "call",
      id: randomUUID(),
      queue: "default",
      function: namespace === undefined ? undefined : { namespace, name: "pay" },
      reason: "exhausted",
      attempts: 1,
      lastStatus: 500,
      acceptedAt: 0,
      deadAt: 0,
      redrives: 0,
      headers: new Map(),
      body: Buffer.alloc(0),
    });
  }
  return letters;
}

function sender(grants: Grants): Principal {
  return { ...administrator("basic"), via: "token", grants };
}

const documents: readonly AccessDocument[] = [
  {
    kind: "Policy",
    name: "p",
    spec: { statement: [{ sid: "s", effect: "Allow", action: ["Function:List"], resource: ["dev:*"] }] },
  },
  { kind: "Role", name: "r", spec: { policy: ["p"] } },
];
const keeper = sender(grantsOf(buildRuleSet(documents), { sub: "a" }));
const many = (namespace: string, count: number) => Array.from({ length: count }, () => namespace);

test("a sender who may list no function costs two reads, and is told where to go on", async () => {
  const letters = await lettersOf(...many("prod", 5_000), undefined);
  const seen = permittedLetters(letters, sender(noGrants));
  expect(await seen.list("default", 0, 100)).toEqual({ letters: [], more: true, next: 1_100 });
  expect(letters.limits).toEqual([100, 1_000]);
  expect(await showDeadLetters(seen, "default", {})).toEqual({ items: [], next: "1100" });
});

test("all that may be seen is shown, page by page, in few reads", async () => {
  const letters = await lettersOf(...many("prod", 2_500), "dev", ...many("prod", 500), ...many("dev", 150), undefined);
  const seen = permittedLetters(letters, keeper);
  const shown: (string | undefined)[] = [];
  let pages = 0;
  for (let after: string | undefined = "0"; after !== undefined; pages += 1) {
    const page = await showDeadLetters(seen, "default", { after });
    shown.push(...page.items.map(({ namespace }) => namespace));
    expect(page.items.length).toBeLessThanOrEqual(100);
    after = page.next;
  }
  expect(shown).toHaveLength(152);
  expect(shown.filter((namespace) => namespace === "dev")).toHaveLength(151);
  expect(pages).toBeLessThan(10);
  expect(letters.limits.length).toBeLessThanOrEqual(2 * pages);
});

test("the administrator reads the store itself", async () => {
  const letters = await lettersOf("dev");
  expect(permittedLetters(letters, administrator("basic"))).toBe(letters);
});
