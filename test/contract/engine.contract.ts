import { request } from "node:http";

import { isAbsolute } from "node:path";
import { isIP } from "node:net";

import { expect, test } from "vitest";

import type { Engine, EnginePlace, OpenEngine } from "../../runtime/core/ports/engine.ts";
import { eventually } from "../support/eventually.ts";
import { echoSpec } from "./replicas.contract.ts";

/** A usable engine, and a place that is empty at first. */
export interface UsableEngine {
  readonly engine: Engine;
  readonly place: EnginePlace;
  /** Removes the place. */
  close(): Promise<void>;
}

/** What every `Engine` promises; each test has its own. What it opens keeps the contracts of its ports. */
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
  /** The replica's address, once it runs. */
  const running = ({ replicas }: OpenEngine): Promise<string> =>
    eventually(async () => (await replicas.list()).find(({ state }) => state === "running")?.address, {
      what: "a running replica",
    });
  /** Whether a replica responds: a network may accept connections at addresses that nobody has. */
  const responds = (address: string): Promise<boolean> =>
    new Promise((resolve) => {
      const [, socketPath] = /^unix:(.*)$/.exec(address) ?? [];
      const [host, port] = address.split(":");
      const place = socketPath === undefined ? { host, port } : { socketPath };
      const asked = request({ ...place, path: "/_/health", timeout: 1_000 }, (response) => {
        response.resume();
        resolve(response.statusCode === 200);
      });
      asked.on("timeout", () => asked.destroy());
      asked.on("error", () => resolve(false));
      asked.end();
    });

  test("look() of a usable engine finds nothing unavailable", async () => {
    const { engine, close } = await usable();
    expect((await engine.look()).unavailable).toBeUndefined();
    await close();
  });

  opened("an open engine says where secrets are and what isolates functions", async (open) => {
    expect(isAbsolute(open.secretsDirectory(echoSpec()))).toBe(true);
    expect(open.isolation).toMatch(/^\S.*[^.]$/);
  });

  opened("onAddresses() reports addresses of this machine, until it is ended", async (open) => {
    const reported: (readonly string[])[] = [];
    const end = await open.onAddresses((addresses) => void reported.push(addresses));
    await open.replicas.start(echoSpec());
    await running(open);
    expect(reported.flat().filter((address) => isIP(address) === 0)).toEqual([]);
    end();
    const before = reported.length;
    await open.close();
    expect(reported).toHaveLength(before);
  });

  opened("close() ends what runs, and repeated calls do no harm", async (open) => {
    await open.replicas.start(echoSpec());
    const address = await running(open);
    await eventually(() => responds(address), { what: "a response" });
    await Promise.all([open.close(), open.close()]);
    expect(await responds(address)).toBe(false);
  });

  opened("closeNow() waits for no grace, and the next engine in its place finds nothing left", async (open, given) => {
    await open.replicas.start({ ...echoSpec(), grace: 600_000 });
    const address = await running(open);
    await eventually(() => responds(address), { what: "a response" });
    await open.closeNow();
    expect(await responds(address)).toBe(false);
    const next = await given.engine.open(given.place);
    expect(await next.replicas.list()).toEqual([]);
    await next.close();
  });
}
