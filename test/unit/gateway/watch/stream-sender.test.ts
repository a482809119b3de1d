import { beforeEach, describe, expect, test } from "vitest";

import { PlatformError } from "../../../../runtime/api/platform-error.ts";
import { noGrants } from "../../../../runtime/core/access/grants.ts";
import { administrator, tokenHolder, type Principal } from "../../../../runtime/core/access/principal.ts";
import { StreamSender } from "../../../../runtime/gateway/watch/stream-sender.ts";
import { ManualWatchClock } from "../../../support/watch/manual-watch-clock.ts";

let clock: ManualWatchClock;
let next: Principal | Error;
let asked: number;

beforeEach(() => {
  clock = new ManualWatchClock();
  asked = 0;
});

function senderOf(principal: Principal): StreamSender {
  next = principal;
  const renew = async (): Promise<Principal> => {
    asked += 1;
    if (next instanceof Error) throw next;
    return next;
  };
  return new StreamSender({ principal, renew, now: () => clock.now() });
}

const invalid = new PlatformError("credentials_invalid", "Cannot answer this request: its session is over");
const inSeconds = (seconds: number) => Math.floor(Date.now() / 1_000) + seconds;

test("a session is looked at every second, credentials every 15", async () => {
  const session = senderOf(administrator("session"));
  const basic = senderOf(administrator("basic"));
  expect([session.isDue, basic.isDue]).toEqual([false, false]);
  clock.advance(1_000);
  expect([session.isDue, basic.isDue]).toEqual([true, false]);
  expect(await session.look()).toBe("same");
  expect(session.isDue).toBe(false);
  clock.advance(14_000);
  expect(basic.isDue).toBe(true);
});

test("one look at a time", async () => {
  const sender = senderOf(administrator("session"));
  clock.advance(1_000);
  const looking = sender.look();
  expect(sender.isDue).toBe(false);
  await looking;
  expect(asked).toBe(1);
});

test("a session that is over is gone, and so is one that cannot be checked any more", async () => {
  const sender = senderOf(administrator("session"));
  next = invalid;
  expect(await sender.look()).toBe("gone");
  next = new PlatformError("provider_unavailable", "Cannot check session: the store is away");
  expect(await sender.look()).toBe("gone");
});

test("wrong passwords of others at the same address end no stream", async () => {
  const sender = senderOf(administrator("basic"));
  next = new PlatformError("too_many_logins", "Cannot sign in: too many wrong passwords");
  expect(await sender.look()).toBe("same");
});

test("other rights are a change, and are those from then on", async () => {
  const sender = senderOf(administrator("session"));
  const other = { ...administrator("session"), grants: noGrants };
  next = other;
  expect(await sender.look()).toBe("changed");
  expect(sender.principal).toBe(other);
  expect(await sender.look()).toBe("same");
});

describe("a token", () => {
  const holderUntil = (exp: number): Principal => tokenHolder({ sub: "fed:alice", exp }, noGrants);

  test("that is revoked before its end is gone", async () => {
    const sender = senderOf(holderUntil(inSeconds(60)));
    next = invalid;
    expect(await sender.look()).toBe("gone");
  });

  test("may end 5 minutes before its stream, and is not tried meanwhile", async () => {
    const sender = senderOf(holderUntil(inSeconds(-60)));
    next = invalid;
    expect(await sender.look()).toBe("same");
    expect(asked).toBe(0);
    expect(await senderOf(holderUntil(inSeconds(-301))).look()).toBe("gone");
  });
});
