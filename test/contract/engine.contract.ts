import { isAbsolute } from "node:path";
import { isIP } from "node:net";

import { expect, test } from "vitest";

import type { Engine, EnginePlace, OpenEngine } from "../../runtime/core/ports/engine.ts";
import { eventually } from "../support/eventually.ts";
import { echoSpec } from "./replicas.contract.ts";

/** An engine that can be used, and a place that is empty at first. */
export interface UsableEngine {
  readonly engine: Engine;
  readonly place: EnginePlace;
  /** Removes the place. */
  close(): Promise<void>;
}

/** What every `Engine` promises; each test has one to itself. What it opens keeps the contracts of the ports it gives. */
export function engineContract(usable: () => Promise<UsableEngine>): void {
  const opened = (name: string, body: (open: OpenEngine, usable: UsableEngine) => Promise<void>): void => {
    test(name, async () => {
      const given = await usable();
      const open = await given.engine.open(given.place);
      try {
        await body(open, given);
      } finally {
        await open.close();
        await given.close();
      }
    });
  };
  /** Its address, once it runs. */
  const running = ({ replicas }: OpenEngine): Promise<string> =>
    eventually(async () => (await replicas.list()).find(({ state }) => state === "running")?.address, {
      what: "a running replica",
    });
  /** Whether a replica is there: networks may answer at addresses that nobody has. */
  const answers = (address: string): Promise<boolean> =>
    fetch(`http://${address}/_/health`, { signal: AbortSignal.timeout(1_000) }).then(
      ({ ok }) => ok,
      () => false,
    );

  test("look() finds nothing in the way where it can be used", async () => {
    const { engine, close } = await usable();
    expect((await engine.look()).unavailable).toBeUndefined();
    await close();
  });

  opened("what it opens tells where secrets are and what separates functions", async (open) => {
    expect(isAbsolute(open.secretsDirectory(echoSpec()))).toBe(true);
    expect(open.isolation).toMatch(/^\S.*[^.]$/);
  });

  opened("onAddresses() tells addresses of this machine, until it is ended", async (open) => {
    const told: (readonly string[])[] = [];
    const end = await open.onAddresses((addresses) => void told.push(addresses));
    await open.replicas.start(echoSpec());
    await running(open);
    expect(told.flat().filter((address) => isIP(address) === 0)).toEqual([]);
    end();
    const before = told.length;
    await open.close();
    expect(told).toHaveLength(before);
  });

  opened("close() ends what runs, and repeated calls do no harm", async (open) => {
    await open.replicas.start(echoSpec());
    const address = await running(open);
    await eventually(() => answers(address), { what: "an answer" });
    await Promise.all([open.close(), open.close()]);
    expect(await answers(address)).toBe(false);
  });

  opened("endNow() waits for no grace, and the next one in its place finds nothing left", async (open, given) => {
    await open.replicas.start({ ...echoSpec(), grace: 600_000 });
    const address = await running(open);
    await eventually(() => answers(address), { what: "an answer" });
    await open.closeNow();
    expect(await answers(address)).toBe(false);
    const next = await given.engine.open(given.place);
    expect(await next.replicas.list()).toEqual([]);
    await next.close();
  });
}
