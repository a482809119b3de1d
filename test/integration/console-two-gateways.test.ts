import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";

import { NatsLink } from "../../runtime/adapters/nats/link/nats-link.ts";
import { NatsQueueStore } from "../../runtime/adapters/nats/queues/nats-queue-store.ts";
import { NatsSessionStore } from "../../runtime/adapters/nats/stores/nats-session-store.ts";
import { natsUser } from "../../runtime/api/broker/nats-users.ts";
import { openChaosProxy, type ChaosProxy } from "../support/chaos-proxy.ts";
import { eventually } from "../support/eventually.ts";
import { freePort } from "../support/free-port.ts";
import { openNatsServer, type TestNatsServer } from "../support/nats-server.ts";
import { smallStreamFacts } from "../support/small-stream-facts.ts";
import { openTestConsole, TestBrowser, type TestConsole } from "../support/test-console.ts";

/** The consoles of two gateways that share a broker; the second one's way to it can be cut. */
let server: TestNatsServer;
let way: ChaosProxy;
let nowhere: number;
let one: TestConsole;
let two: TestConsole;
let linkOfTwo: NatsLink;
let storeOfTwo: NatsSessionStore;
const links: NatsLink[] = [];

async function connect(user: string, port = server.port): Promise<NatsLink> {
  const access = { ...server.access(user), url: `nats://127.0.0.1:${port}` };
  const link = await NatsLink.open({ name: user, pingInterval: 5_000, ...access });
  links.push(link);
  return link;
}
const openWith = (store: NatsSessionStore): Promise<TestConsole> => openTestConsole({ store });

beforeAll(async () => {
  server = await openNatsServer({ users: true });
  way = await openChaosProxy(server.port);
  nowhere = await freePort();
  await new NatsQueueStore(await connect(natsUser.doctor), smallStreamFacts).provision([]);
  linkOfTwo = await connect(natsUser.gateway, way.port);
  storeOfTwo = new NatsSessionStore(linkOfTwo);
  one = await openWith(new NatsSessionStore(await connect(natsUser.gateway)));
  two = await openWith(storeOfTwo);
});
afterAll(async () => {
  await one?.[Symbol.asyncDispose]();
  await two?.[Symbol.asyncDispose]();
  await Promise.all(links.map((link) => link.close()));
  await way?.close();
  await server?.close();
});

let here: TestBrowser;
let there: TestBrowser;
beforeEach(async () => {
  here = new TestBrowser(one);
  expect((await here.signIn()).status).toBe(204);
  there = sameAt(here, two);
});

/** The same browser, whose requests another gateway gets. */
function sameAt(browser: TestBrowser, opened: TestConsole): TestBrowser {
  const other = new TestBrowser(opened);
  for (const [name, value] of browser.cookies) other.cookies.set(name, value);
  other.half = browser.half;
  return other;
}
const statusAt = async (browser: TestBrowser): Promise<number> => (await browser.send("GET", "/system/info")).status;
const isOver = (browser: TestBrowser) => async (): Promise<boolean> => (await statusAt(browser)) === 401;

describe("a session", () => {
  test("that is opened at one gateway is good at the other at once, and at one that starts later", async () => {
    expect(await statusAt(there)).toBe(200);
    await using three = await openWith(new NatsSessionStore(await connect(natsUser.gateway)));
    expect(await statusAt(sameAt(here, three))).toBe(200);
  });

  test.each(["where it was opened", "elsewhere"])("that is ended %s is over everywhere within a second", async (at) => {
    const [ending, other] = at === "elsewhere" ? [there, here] : [here, there];
    expect(await statusAt(other)).toBe(200);
    const kept = sameAt(ending, ending === here ? one : two);
    expect((await ending.send("POST", "/auth/logout")).status).toBe(204);
    const ended = performance.now();
    expect(await statusAt(kept)).toBe(401);
    await eventually(isOver(other), { what: "the end at the other gateway", every: 1 });
    expect(performance.now() - ended).toBeLessThan(1_000);
  });

  test("that another one replaces at the other gateway is over at both", async () => {
    const old = sameAt(here, one);
    expect((await there.signIn()).status).toBe(204);
    await eventually(isOver(old), { what: "the end of the old one" });
    expect(await isOver(sameAt(old, two))()).toBe(true);
    expect(await statusAt(sameAt(there, one))).toBe(200);
  });
});

describe("a gateway that lost its broker", () => {
  /** Cuts the second gateway off; the returned function lets it back. */
  async function cutOff(): Promise<() => void> {
    way.target(nowhere);
    way.reset();
    await eventually(() => linkOfTwo.downFor() > 0, { what: "the loss of the broker" });
    return () => way.target(server.port);
  }

  /** A session that it was not told of yet is read, and with the broker away nobody knows it. */
  async function knowsIt(): Promise<void> {
    using reads = vi.spyOn(storeOfTwo, "get");
    const isKnown = async (): Promise<boolean> => {
      reads.mockClear();
      return (await statusAt(there)) === 200 && reads.mock.calls.length === 0;
    };
    await eventually(isKnown, { what: "the second gateway to know the session" });
  }

  test("goes on with the sessions that it knows, opens and ends none, and does not guess at others", async () => {
    await knowsIt();
    const letBack = await cutOff();
    try {
      expect(await statusAt(there)).toBe(200);
      const later = new TestBrowser(one);
      await later.signIn();
      const [signIn, unknown, signOut] = await Promise.all([
        new TestBrowser(two).signIn(),
        statusAt(sameAt(later, two)),
        there.send("POST", "/auth/logout"),
      ]);
      expect([signIn.status, signIn.headers.getSetCookie()]).toEqual([503, []]);
      expect([unknown, signOut.status, signOut.headers.getSetCookie()]).toEqual([503, 503, []]);
      expect(await statusAt(here)).toBe(200);
      letBack();
      await eventually(async () => (await statusAt(sameAt(later, two))) === 200, { what: "the later session" });
      expect(await statusAt(sameAt(here, two))).toBe(200);
    } finally {
      letBack();
    }
  });

  test("hears what ended meanwhile when it is back", async () => {
    await knowsIt();
    const letBack = await cutOff();
    try {
      expect((await here.send("POST", "/auth/logout")).status).toBe(204);
      expect(await statusAt(there)).toBe(200);
    } finally {
      letBack();
    }
    await eventually(isOver(there), { what: "the end of the session" });
  });

  test("knows all sessions again after the broker was killed", async () => {
    await knowsIt();
    await server.kill();
    try {
      await eventually(() => links.every((link) => link.isClosed || link.downFor() > 0), { what: "the loss" });
      expect([await statusAt(here), await statusAt(there)]).toEqual([200, 200]);
      expect((await new TestBrowser(one).signIn()).status).toBe(503);
    } finally {
      await server.restart();
    }
    const next = new TestBrowser(one);
    await eventually(async () => (await next.signIn()).status === 204, { what: "a sign-in" });
    expect([await statusAt(here), await statusAt(next)]).toEqual([200, 200]);
    await eventually(async () => (await statusAt(sameAt(next, two))) === 200, { what: "the new one at the other" });
  });
});
