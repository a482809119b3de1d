import { expect, test } from "vitest";

import { ConsoleSession } from "../../../../runtime/console/data/session/console-session.ts";
import { SessionHalf } from "../../../../runtime/console/data/session/session-half.ts";
import { memoryStorage } from "../memory-storage.ts";
import { addressOf } from "../render-part.tsx";

const gateway = "https://faas.example.com";
const admin = { user: "admin", via: "basic", actions: ["Function:List"], gateway };

function sessionWith(replies: readonly (Response | Error)[], store = memoryStorage()) {
  const left = [...replies];
  const sent: { readonly path: string; readonly half: string | null }[] = [];
  const fetch: typeof globalThis.fetch = async (path, init) => {
    sent.push({ path: addressOf(path), half: new Headers(init?.headers).get("X-Weir-Session") });
    const reply = left.shift() ?? Response.error();
    if (reply instanceof Error) throw reply;
    return reply;
  };
  let losses = 0;
  const connection = { lost: () => void losses++ };
  const session = new ConsoleSession({ fetch, half: new SessionHalf(store), connection });
  return { sent, store, session, losses: () => losses };
}

const refused = () => new Response("invalid credentials", { status: 401 });

test("signing in keeps the half of the session for this tab, and knows what one may do", async () => {
  const { session, sent, store } = sessionWith([
    refused(),
    new Response(null, { status: 204, headers: { "X-Weir-Session": "half" } }),
    Response.json(admin),
  ]);

  await session.load();
  expect(session.state.value).toEqual({ kind: "signedOut", before: undefined });
  await session.signIn({ user: "admin", password: "secret" });

  expect(session.state.value).toEqual({ kind: "signedIn", info: admin });
  expect(session.may("Function:List")).toBe(true);
  expect(session.may("Function:Delete")).toBe(false);
  expect(sent.at(-1)).toEqual({ path: "/auth/session", half: "half" });
  expect(Object.values(store)).toEqual(["half"]);
  expect(JSON.stringify(store)).not.toContain("secret");
});

test("the address of the gateway is known from the sign-in on, also while one has to sign in again", async () => {
  const { session } = sessionWith([Response.json(admin)]);
  expect(session.gateway).toBe("");
  await session.load();
  expect(session.gateway).toBe(gateway);

  const stop = new AbortController();
  const waiting = session.signedInAgain(stop.signal);
  expect(session.state.value.kind).toBe("signedOut");
  expect(session.gateway).toBe(gateway);
  stop.abort();
  await waiting;
});

test("the issuers are those that the gateway lists", async () => {
  const staff = { name: "staff", issuer: "https://id.example.com" };
  const { session, sent } = sessionWith([Response.json([staff])]);

  expect(await session.issuers()).toEqual([staff]);
  expect(sent).toEqual([{ path: "/auth/issuers", half: null }]);
  await expect(session.issuers()).rejects.toMatchObject({ status: 0 });
});

test("a wrong password is one sentence, and nobody is signed in", async () => {
  const { session } = sessionWith([refused(), refused()]);
  await session.load();

  await expect(session.signIn({ user: "admin", password: "wrong" })).rejects.toThrow("User or password is wrong");

  expect(session.state.value.kind).toBe("signedOut");
});

test("the connection learns of each request without a reply, and of each reply in the gateway's place", async () => {
  const away = () => new Response("bad gateway", { status: 502 });
  const { session, losses } = sessionWith([refused(), new TypeError("cut"), away(), away(), away()]);
  await session.load();
  expect(losses()).toBe(0);

  for (const ask of [
    () => session.load(),
    () => session.issuers(),
    () => session.signIn({ user: "admin", password: "secret" }),
    () => session.signOut(),
  ]) {
    const before = losses();
    await expect(ask()).rejects.toMatchObject({ code: "gateway_away" });
    expect(losses()).toBe(before + 1);
  }
});

test("what waits for a sign-in goes on after it; another person is a change", async () => {
  const { session } = sessionWith([
    Response.json(admin),
    new Response(null, { status: 204 }),
    Response.json({ ...admin, user: "fed:alice" }),
  ]);
  await session.load();
  let goesOn = false;
  const waiting = session.signedInAgain(undefined).then(() => (goesOn = true));

  expect(session.state.value).toEqual({ kind: "signedOut", before: admin });
  expect(goesOn).toBe(false);
  await session.signIn({ user: "x", password: "y" });
  await waiting;

  expect(session.changes.value).toBe(1);
});

test("the same person signing in again changes nothing", async () => {
  const { session } = sessionWith([Response.json(admin), new Response(null, { status: 204 }), Response.json(admin)]);
  await session.load();
  void session.signedInAgain(undefined);

  await session.signIn({ user: "admin", password: "y" });

  expect(session.changes.value).toBe(0);
});

test("who waits for a sign-in may give up", async () => {
  const { session } = sessionWith([Response.json(admin)]);
  await session.load();
  const stop = new AbortController();
  const waiting = session.signedInAgain(stop.signal);

  stop.abort();

  await expect(waiting).resolves.toBeUndefined();
});

test("signing out forgets the half, and who it was", async () => {
  const store = memoryStorage({ "weir-session": "half" });
  const { session, sent } = sessionWith([Response.json(admin), new Response(null, { status: 204 })], store);
  await session.load();

  await session.signOut();

  expect(sent).toEqual([
    { path: "/auth/session", half: "half" },
    { path: "/auth/logout", half: "half" },
  ]);
  expect(session.state.value).toEqual({ kind: "signedOut", before: undefined });
  expect(store).toEqual({});
});

test("the half that an issuer's sign-in leads back with is taken, and leaves the address", () => {
  const half = new SessionHalf(memoryStorage());
  const addresses: string[] = [];
  // A page's own location changes with its history.
  const location = { hash: "#session=abc", pathname: "/ui/calls", search: "?state=failed" };
  const history = {
    replaceState: (_state: unknown, _title: string, to?: string | URL | null) => {
      location.hash = "";
      addresses.push(String(to));
    },
  };

  half.beginLogin();
  half.takeFrom(location, history);
  half.takeFrom({ hash: "#2026-01-31", pathname: "/ui/calls", search: "" }, history);

  expect(half.value).toBe("abc");
  expect(addresses).toEqual(["/ui/calls?state=failed"]);
});

test("the half of a link is not taken in a tab that went to no issuer, nor twice", () => {
  const store = memoryStorage();
  const half = new SessionHalf(store);
  const addresses: string[] = [];
  const history = {
    replaceState: (_state: unknown, _title: string, to?: string | URL | null) => addresses.push(String(to)),
  };
  const link = (of: string) => half.takeFrom({ hash: `#session=${of}`, pathname: "/ui/", search: "" }, history);

  link("foreign");
  expect([half.value, half.refused]).toEqual([undefined, true]);
  half.beginLogin();
  link("own");
  link("foreign");

  expect([half.value, half.refused]).toEqual(["own", true]);
  expect(addresses).toEqual(["/ui/", "/ui/", "/ui/"]);
});
