import { Registry } from "prom-client";
import { expect, test } from "vitest";

import { followBroker, type TroubleSource } from "../../../runtime/process/follow-broker.ts";

type Kind = TroubleSource["kind"];

class Source implements TroubleSource {
  kind: Kind;
  readonly #listeners: Parameters<TroubleSource["onChange"]>[0][] = [];

  onChange(listener: Parameters<TroubleSource["onChange"]>[0]): void {
    this.#listeners.push(listener);
  }

  is(kind: Kind): void {
    this.kind = kind;
    for (const listener of this.#listeners) listener(kind, new Error("why"));
  }
}

function follow(also?: () => string | undefined) {
  const registry = new Registry();
  const lines: string[] = [];
  let check: () => string | undefined | Promise<string | undefined> = () => undefined;
  const admin = { registry, addCheck: (_name: string, look: typeof check) => void (check = look) };
  const log = {
    info: (facts: { was: Kind }) => lines.push(`over ${facts.was}`),
    warn: (facts: { broker: Kind }) => lines.push(`begins ${facts.broker}`),
  };
  const sources = [new Source(), new Source()] as const;
  // It uses no more of both than this.
  followBroker({ admin, log } as unknown as Parameters<typeof followBroker>[0], sources, also);
  return { sources, lines, registry, readiness: () => check() };
}

test("readiness, log and metric give the fault, and a full disk outranks an unreachable broker", async () => {
  const { sources, lines, registry, readiness } = follow();
  const gauge = async () =>
    (await registry.getSingleMetric("broker_unavailable")?.get())?.values.map(({ labels, value }) => [
      labels["kind"],
      value,
    ]);
  expect(readiness()).toBeUndefined();
  sources[0].is("away");
  expect(readiness()).toBe("broker: away");
  const kinds = (set: string) => ["away", "no-leader", "io-error", "full"].map((kind) => [kind, kind === set ? 1 : 0]);
  expect(await gauge()).toEqual(kinds("away"));
  sources[1].is("full");
  expect(readiness()).toBe("broker: full");
  expect(await gauge()).toEqual(kinds("full"));
  sources[0].is(undefined);
  sources[1].is(undefined);
  expect(readiness()).toBeUndefined();
  expect(lines).toEqual(["begins away", "begins full", "over full"]);
});

test("another fault is reported, too", () => {
  const { sources, readiness } = follow(() => "the store is missing");
  expect(readiness()).toBe("the store is missing");
  sources[0].is("away");
  expect(readiness()).toBe("broker: away: the store is missing");
});
