import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";

import { HttpIssuerDocuments } from "../../runtime/adapters/http/issuers/http-issuer-documents.ts";
import { NatsLink } from "../../runtime/adapters/nats/link/nats-link.ts";
import { NatsQueueStore } from "../../runtime/adapters/nats/queues/nats-queue-store.ts";
import { NatsSessionStore } from "../../runtime/adapters/nats/stores/nats-session-store.ts";
import { natsUser } from "../../runtime/api/broker/nats-users.ts";
import type { RuleSet } from "../../runtime/core/access/rule-set.ts";
import type { IssuerDocuments } from "../../runtime/core/ports/issuer-documents.ts";
import type { ObservedAccess } from "../../runtime/gateway/access/access-observer.ts";
import { openOwnKeys } from "../../runtime/gateway/access/tokens/own-keys.ts";
import { TrustedKeys } from "../../runtime/gateway/access/tokens/trusted-keys.ts";
import { createLog } from "../../runtime/process/log.ts";
import { sampleQueue } from "../contract/samples.ts";
import { jwtIssuer, policy, role, rulesOf } from "../support/access-documents.ts";
import { testNetwork } from "../support/callback-network.ts";
import { eventually } from "../support/eventually.ts";
import { FakeTokens } from "../support/fake-tokens.ts";
import { freePort } from "../support/free-port.ts";
import { newKeyPem, writeKeyFiles } from "../support/key-files.ts";
import { openNatsServer, type TestNatsServer } from "../support/nats-server.ts";
import { FormBrowser, openOidcIssuer, type OidcIssuer } from "../support/oidc-issuer.ts";
import { tempDirectory, type TempDirectory } from "../support/temp-directory.ts";
import { smallStreamFacts } from "../support/small-stream-facts.ts";
import { openTestConsole, TestBrowser, type TestConsole } from "../support/test-console.ts";

/** Two gateways' consoles, one broker, and a real OpenID provider. */
let server: TestNatsServer;
let issuer: OidcIssuer;
let one: TestConsole;
let two: TestConsole;
let keys: TempDirectory;
let rules: RuleSet;
const links: NatsLink[] = [];
const fetched: string[] = [];
const refused: ObservedAccess[] = [];
const changed: ObservedAccess[] = [];

const outside = new HttpIssuerDocuments({ closedPorts: [], ownAddresses: () => [], network: testNetwork() });
const documents: IssuerDocuments = {
  fetchFromIssuer: (from, url, request) => {
    fetched.push(url);
    return outside.fetchFromIssuer(from, url, request);
  },
};

function rulesWith(aud = "weir"): RuleSet {
  const confidential = { clientId: "weir-2", clientSecretName: "second", scopes: ["openid"] };
  return rulesOf(
    jwtIssuer("idp", {
      iss: issuer.url,
      aud: [aud, "weir-2"],
      login: { clientId: "weir", scopes: ["openid", "groups"] },
    }),
    jwtIssuer("other", { iss: `http://127.0.0.1:${unused}`, aud: ["weir"], login: confidential }),
    policy("see", ["Function:List", "System:Info"], ["*"]),
    role("developers", ["see"], {
      condition: { "ForAnyValue:StringEqual": { "jwt:groups": ["dev"] }, StringEqual: { "jwt:iss": issuer.url } },
    }),
  );
}
let unused = 0;
/** Names of people who were disabled at the issuer. */
const disabled = new Set<string>();

beforeAll(async () => {
  unused = await freePort();
  server = await openNatsServer({ users: true });
  const connect = async (user: string): Promise<NatsLink> => {
    const link = await NatsLink.open({ name: user, pingInterval: 5_000, ...server.access(user) });
    links.push(link);
    return link;
  };
  const doctor = new NatsQueueStore(await connect(natsUser.doctor), smallStreamFacts);
  await doctor.provision([sampleQueue({ ackWait: 1_000, maxLength: 6 })]);

  const log = createLog("test", "silent");
  keys = await tempDirectory("keys");
  await writeKeyFiles(keys.path, newKeyPem());
  const observer = {
    refused: (each: ObservedAccess) => void refused.push(each),
    changed: (each: ObservedAccess) => void changed.push(each),
  };
  const open = async (): Promise<TestConsole> => {
    const tokens = {
      ...new FakeTokens().parts,
      keys: openOwnKeys({ directory: keys.path, issuer: "https://weir.example" }),
      rules: () => rules,
      issuers: new TrustedKeys({ documents, rules: () => rules, log }),
    };
    const store = new NatsSessionStore(await connect(natsUser.gateway));
    return openTestConsole({ store, documents, app: { tokens, observer } });
  };
  [one, two] = [await open(), await open()];
  for (const { platform } of [one, two]) {
    await mkdir(join(platform.directory, "iam-clients"));
    await writeFile(join(platform.directory, "iam-clients", "second"), "a secret of the second client\n");
  }
  const redirects = { redirect_uris: [one, two].map(({ origin }) => `${origin}/auth/callback`) };
  issuer = await openOidcIssuer(
    [
      { client_id: "weir", token_endpoint_auth_method: "none", ...redirects },
      { client_id: "weir-2", client_secret: "a secret of the second client", ...redirects },
      {
        client_id: "weir-4",
        token_endpoint_auth_method: "none",
        backchannel_logout_uri: `${one.origin}/auth/backchannel-logout`,
        backchannel_logout_session_required: true,
        ...redirects,
      },
      {
        client_id: "weir-3",
        token_endpoint_auth_method: "none",
        grant_types: ["authorization_code", "refresh_token"],
        ...redirects,
      },
    ],
    {
      features: { backchannelLogout: { enabled: true } },
      // Its own fetch refuses the console's loopback address.
      fetch: (url, init = {}) => {
        const plain = { ...init };
        Reflect.deleteProperty(plain, "dispatcher");
        return fetch(url, plain);
      },
      issueRefreshToken: (_context, client) => client.clientId === "weir-3",
      ttl: { IdToken: (_context, _token, client) => (client.clientId === "weir-3" ? 1 : 3_600) },
      conformIdTokenClaims: false,
      scopes: ["openid", "groups", "profile", "email"],
      claims: { openid: ["sub"], groups: ["groups"], profile: ["preferred_username"], email: ["email"] },
      findAccount: (_context, id) => {
        if (disabled.has(id)) return undefined;
        return {
          accountId: id,
          claims: async (use) => ({
            sub: id,
            email: `${id}@example.com`,
            // Some issuers say what people are called at UserInfo alone.
            ...(id.startsWith("quiet-") && use !== "userinfo" ? { email: undefined } : {}),
            ...(id === "named" ? { preferred_username: "Nina" } : {}),
            groups: id === "alice" ? ["dev", "ops"] : id === "many" ? Array.from({ length: 5_000 }, () => "x") : [],
          }),
        };
      },
    },
  );
});
afterAll(async () => {
  await one?.[Symbol.asyncDispose]();
  await two?.[Symbol.asyncDispose]();
  await issuer?.[Symbol.asyncDispose]();
  await Promise.all(links.map((link) => link.close()));
  await server?.close();
  await keys?.remove();
});
beforeEach(() => {
  rules = rulesWith();
  for (const list of [fetched, refused, changed]) list.length = 0;
  disabled.clear();
});

/** Begins to sign in; resolves with where the issuer sends the person `name` back to. */
async function visitIssuer(browser: TestBrowser, name: string, query = ""): Promise<string> {
  const begun = await browser.send("GET", `/auth/login${query}`);
  expect(begun.status).toBe(303);
  const { url } = await new FormBrowser(name).visit(begun.headers.get("location") ?? "");
  expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/auth\/callback\?/);
  const { pathname, search } = new URL(url);
  return pathname + search;
}

/** As the browser does after the issuer's redirect. */
function comeBack(browser: TestBrowser, target: string): Promise<Response> {
  return browser.send("GET", target, undefined, { "sec-fetch-site": "cross-site" });
}

async function signedIn(name: string, at = one): Promise<TestBrowser> {
  const browser = new TestBrowser(at);
  const reply = await comeBack(browser, await visitIssuer(browser, name));
  expect(reply.status, await reply.text()).toBe(303);
  return browser;
}

async function problemOf(response: Promise<Response> | Response): Promise<[number, string]> {
  const found = await response;
  const { detail }: { readonly detail: string } = JSON.parse(await found.text());
  return [found.status, detail];
}

test("a person signs in at the issuer, and may do what the rules give its claims", async () => {
  const browser = new TestBrowser(one);
  const begun = await browser.send("GET", "/auth/login?to=/ui/functions?x=1", undefined, { "sec-fetch-site": "none" });
  const [cookie = ""] = begun.headers.getSetCookie();
  expect(cookie).toMatch(/^weir-login=[^;]+; Path=\/; Max-Age=600; HttpOnly; SameSite=Lax$/);
  const location = new URL(begun.headers.get("location") ?? "");
  expect(Object.fromEntries(location.searchParams)).toMatchObject({
    client_id: "weir",
    response_type: "code",
    scope: "openid groups",
    code_challenge_method: "S256",
    redirect_uri: `${one.origin}/auth/callback`,
  });
  const secrets = ["state", "nonce", "code_challenge"].map((name) => location.searchParams.get(name) ?? "");
  for (const secret of secrets) expect(secret).toMatch(/^[\w-]{43}$/);
  for (const secret of [...secrets, "idp"])
    expect(Buffer.from(cookie, "base64url").toString("latin1")).not.toContain(secret);

  const { url } = await new FormBrowser("alice").visit(location.href);
  const reply = await comeBack(browser, url.slice(one.origin.length));
  expect([reply.status, reply.headers.get("location")]).toEqual([303, `/ui/functions?x=1#session=${browser.half}`]);
  expect([...browser.cookies.keys()]).toEqual(["weir-session"]);
  expect(reply.headers.getSetCookie().join()).toMatch(
    /weir-session=[\w-]{43}; Path=\/; Max-Age=28800; HttpOnly; SameSite=Strict/,
  );

  const shown = await browser.send("GET", "/auth/session");
  expect(JSON.parse(await shown.text())).toMatchObject({
    user: "fed:alice",
    via: "issuer",
    actions: ["Function:List", "System:Info"],
  });
  const who = await browser.send("GET", "/system/iam/whoami");
  expect(JSON.parse(await who.text())).toMatchObject({
    subject: "fed:alice",
    issuer: issuer.url,
    via: "session",
    administrator: false,
    policies: ["see"],
  });
  expect((await browser.send("GET", "/system/functions")).status).toBe(200);
  expect(await problemOf(browser.send("PUT", "/system/functions", { service: "a", image: "a/b:1" }))).toEqual([
    403,
    expect.stringContaining(`fed:alice (${issuer.url}) has no policy that allows Function:Update`),
  ]);
  expect(changed).toMatchObject([{ action: "finishLogin", principal: { subject: "fed:alice", via: "session" } }]);
});

test("people have the name that their issuer says, beside their subject", async () => {
  const idp = { iss: issuer.url, aud: ["weir"], login: { clientId: "weir" } };
  const names = async (name: string, nameClaim?: string) => {
    rules = rulesOf(jwtIssuer("idp", { ...idp, ...(nameClaim === undefined ? {} : { nameClaim }) }));
    const browser = await signedIn(name);
    const shown = JSON.parse(await (await browser.send("GET", "/auth/session")).text());
    const who = JSON.parse(await (await browser.send("GET", "/system/iam/whoami")).text());
    expect([shown.user, who.subject, who.name]).toEqual([`fed:${name}`, `fed:${name}`, shown.name]);
    return shown.name;
  };
  expect(await names("named")).toBe("Nina");
  expect(await names("named", "email")).toBe("named@example.com");
  expect(await names("alice")).toBe("alice@example.com");
  expect(await names("quiet-bob")).toBe("quiet-bob@example.com");
  expect(await names("alice", "nickname")).toBeUndefined();
  expect(changed.map(({ principal }) => principal?.name)).toEqual([
    "Nina",
    "named@example.com",
    "alice@example.com",
    "quiet-bob@example.com",
    undefined,
  ]);
});

test("rules count at the next request: roles, and the issuer itself", async () => {
  const [alice, bob] = [await signedIn("alice"), await signedIn("bob")];
  expect((await bob.send("GET", "/system/info")).status).toBe(403);
  rules = rulesOf(
    jwtIssuer("idp", { iss: issuer.url, aud: ["weir"], login: { clientId: "weir" } }),
    policy("see", ["System:Info"], ["*"]),
    role("bob", ["see"], { principal: { "jwt:sub": ["bob"] } }),
  );
  expect((await alice.send("GET", "/system/info")).status).toBe(403);
  expect((await bob.send("GET", "/system/info")).status).toBe(200);
  rules = rulesOf(jwtIssuer("idp", { iss: issuer.url, aud: ["weir"] }));
  expect((await bob.send("GET", "/system/info")).status).toBe(401);
});

test("a session is known to all gateways, and ended on all of them within a second, and at the issuer", async () => {
  const here = await signedIn("alice");
  const there = new TestBrowser(two);
  for (const [name, value] of here.cookies) there.cookies.set(name, value);
  there.half = here.half;
  // At once, though the other gateway may not have heard of it yet.
  expect((await there.send("GET", "/system/info")).status).toBe(200);

  expect((await here.send("POST", "/auth/logout")).status).toBe(204);
  const ended = performance.now();
  await eventually(async () => (await there.send("GET", "/system/info")).status === 401, { what: "the end", every: 1 });
  expect(performance.now() - ended).toBeLessThan(1_000);
  await eventually(() => fetched.some((url) => url.startsWith(`${issuer.url}/session/end?id_token_hint=`)), {
    what: "the end of the issuer's session",
  });
  expect(changed.map(({ action }) => action)).toEqual(["finishLogin", "signOut"]);
});

test("a session lasts as long as the issuer renews it, at whichever gateway", async () => {
  rules = rulesOf(jwtIssuer("idp", { iss: issuer.url, aud: ["weir-3"], login: { clientId: "weir-3" } }));
  const here = await signedIn("erin");
  const there = new TestBrowser(two);
  for (const [name, value] of here.cookies) there.cookies.set(name, value);
  there.half = here.half;
  const renewals = () => fetched.filter((url) => url === `${issuer.url}/token`).length - 1;
  const ask = async () => {
    const asked = await Promise.all([here, there, here, there].map((page) => page.send("GET", "/auth/session")));
    return new Set(asked.map(({ status }) => status));
  };
  await eventually(
    async () => {
      expect(await ask()).toEqual(new Set([200]));
      return renewals() >= 2;
    },
    { what: "two renewals" },
  );
  disabled.add("erin");
  await eventually(async () => !(await ask()).has(200), { what: "the end of the session" });
  const asked = fetched.length;
  expect(await ask()).toEqual(new Set([401]));
  expect(fetched.length).toBe(asked);
});

/** What the administrator sees of the sessions of a person, at the other console. */
async function sessionsOf(subject: string): Promise<{ readonly id: string }[]> {
  const admin = new TestBrowser(two);
  await admin.signIn();
  const listed = await admin.send("GET", "/system/sessions");
  expect(listed.status).toBe(200);
  const open = JSON.parse(await listed.text()) as { readonly id: string; readonly subject: string }[];
  expect((await admin.send("POST", "/auth/logout")).status).toBe(204);
  return open.filter((each) => each.subject === subject);
}

async function isSignedOut(browser: TestBrowser): Promise<boolean> {
  return (await browser.send("GET", "/auth/session")).status === 401;
}

test("sessions are listed for who may see them, and ended one by one or by subject, on all gateways", async () => {
  rules = rulesOf(jwtIssuer("idp", { iss: issuer.url, aud: ["weir"], login: { clientId: "weir" } }));
  const [first, second, other] = [await signedIn("frida"), await signedIn("frida", two), await signedIn("gus")];
  const open = await eventually(
    async () => {
      const found = await sessionsOf("fed:frida");
      return found.length === 2 ? found : undefined;
    },
    { what: "both sessions" },
  );
  expect(open).toMatchObject([
    { name: "frida@example.com", issuer: issuer.url, via: "issuer" },
    { name: "frida@example.com", via: "issuer" },
  ]);
  for (const cookie of [...first.cookies.values(), ...second.cookies.values()])
    expect(JSON.stringify(open)).not.toContain(cookie);
  expect((await first.send("GET", "/system/sessions")).status).toBe(403);
  expect((await first.send("DELETE", "/system/sessions", { subject: "fed:gus" })).status).toBe(403);

  const admin = new TestBrowser(one);
  await admin.signIn();
  const end = async (body: object): Promise<[number, unknown[]]> => {
    const reply = await admin.send("DELETE", "/system/sessions", body);
    const { ended = [] }: { readonly ended?: unknown[] } = JSON.parse(await reply.text());
    return [reply.status, ended];
  };
  // The newest one comes first.
  expect(await end({ id: open[0]?.id })).toMatchObject([200, [{ subject: "fed:frida" }]]);
  await eventually(() => isSignedOut(second), { what: "the end of one" });
  expect(await isSignedOut(first)).toBe(false);
  expect(await end({ subject: "fed:frida", issuer: "https://other.example" })).toEqual([200, []]);
  expect(await end({ subject: "fed:frida", issuer: issuer.url })).toMatchObject([200, [{}]]);
  expect(await isSignedOut(first)).toBe(true);
  expect(await isSignedOut(other)).toBe(false);
  expect(await end({})).toMatchObject([400, []]);
  const audited = changed.filter(({ action }) => action === "Session:Delete");
  expect(audited.map(({ resources }) => resources)).toEqual([["fed:frida"], [], ["fed:frida"]]);
});

test("a subject that its JwtIssuer denies is signed out, and cannot sign in", async () => {
  const browser = await signedIn("hana");
  rules = rulesOf(jwtIssuer("idp", { iss: issuer.url, aud: ["weir"], login: { clientId: "weir" }, deny: ["hana"] }));
  expect(await isSignedOut(browser)).toBe(true);
  const again = new TestBrowser(one);
  expect(await problemOf(comeBack(again, await visitIssuer(again, "hana")))).toEqual([
    403,
    expect.stringContaining("denies its subject"),
  ]);
});

test("the issuer ends a session that its person ended there, on all gateways", async () => {
  rules = rulesOf(jwtIssuer("idp", { iss: issuer.url, aud: ["weir-4"], login: { clientId: "weir-4" } }));
  const person = new FormBrowser("iris");
  const here = new TestBrowser(one);
  const begun = await here.send("GET", "/auth/login");
  const { url } = await person.visit(begun.headers.get("location") ?? "");
  expect((await comeBack(here, url.slice(one.origin.length))).status).toBe(303);
  const there = new TestBrowser(two);
  for (const [name, value] of here.cookies) there.cookies.set(name, value);
  there.half = here.half;
  expect(await isSignedOut(there)).toBe(false);

  await person.visit(`${issuer.url}/session/end?client_id=weir-4`);
  await eventually(async () => (await isSignedOut(here)) && (await isSignedOut(there)), { what: "the end everywhere" });
  expect(changed.at(-1)).toMatchObject({ action: "backChannelLogout", principal: { subject: "fed:iris" } });
});

test("a client with a secret signs in with it", async () => {
  const login = { clientId: "weir-2", clientSecretName: "second" };
  rules = rulesOf(jwtIssuer("idp", { iss: issuer.url, aud: ["weir-2"], login }));
  const browser = await signedIn("carol");
  const shown = await browser.send("GET", "/auth/session");
  expect(JSON.parse(await shown.text())).toMatchObject({ user: "fed:carol", actions: [] });

  rules = rulesOf(jwtIssuer("idp", { iss: issuer.url, aud: ["weir-2"], login: { clientId: "weir-2" } }));
  const other = new TestBrowser(one);
  expect(await problemOf(comeBack(other, await visitIssuer(other, "carol")))).toEqual([
    403,
    'Cannot sign in at issuer "idp": it gave no token: invalid_client',
  ]);
});

test("only the browser that began a sign-in can finish it, and once", async () => {
  const browser = new TestBrowser(one);
  const target = await visitIssuer(browser, "alice");
  const stranger = new TestBrowser(one);
  expect(await problemOf(comeBack(stranger, target))).toEqual([400, expect.stringContaining("did not begin")]);
  await stranger.send("GET", "/auth/login");
  expect(await problemOf(comeBack(stranger, target))).toEqual([403, expect.stringContaining("state")]);
  expect(stranger.cookies.size).toBe(0);

  const kept = new Map(browser.cookies);
  expect((await comeBack(browser, target)).status).toBe(303);
  expect(browser.cookies.has("weir-login")).toBe(false);
  expect((await comeBack(browser, target)).status).toBe(400);
  for (const [name, value] of kept) browser.cookies.set(name, value);
  expect(await problemOf(comeBack(browser, target))).toEqual([403, expect.stringContaining("invalid_grant")]);
  expect(refused.map(({ action, status }) => `${action} ${status}`)).toContain("finishLogin 403");
});

test("a cookie that another page set keeps nobody from signing in for long", async () => {
  const browser = new TestBrowser(one);
  const target = await visitIssuer(browser, "alice");
  const cookie = `weir-login=evil; weir-login=${browser.cookies.get("weir-login")}`;
  const over = { "sec-fetch-site": "cross-site", cookie };
  const reply = await browser.send("GET", target, undefined, over);
  const ended = reply.headers.getSetCookie().map((line) => /^weir-login=; Path=([^;]*); Max-Age=0;/.exec(line)?.[1]);
  expect(ended).toEqual(expect.arrayContaining(["/", "/auth", "/auth/", "/auth/callback"]));
  expect(await problemOf(reply)).toEqual([400, expect.stringContaining("did not begin")]);
  expect((await comeBack(browser, await visitIssuer(browser, "alice"))).status).toBe(303);
});

test.each([
  ["another iss", (query: URLSearchParams) => query.set("iss", "https://evil.example"), /iss/],
  ["no iss", (query: URLSearchParams) => query.delete("iss"), /iss/],
  ["another state", (query: URLSearchParams) => query.set("state", "x"), /state/],
  ["another code", (query: URLSearchParams) => query.set("code", "x"), /invalid_grant/],
  ["no code", (query: URLSearchParams) => query.delete("code"), /code/],
])("%s is refused", async (_, alter, why) => {
  const browser = new TestBrowser(one);
  const target = new URL(await visitIssuer(browser, "alice"), one.origin);
  alter(target.searchParams);
  expect(await problemOf(comeBack(browser, target.pathname + target.search))).toEqual([
    403,
    expect.stringMatching(why),
  ]);
  expect(browser.cookies.size).toBe(0);
});

test("what the issuer refuses, or says wrongly, is said in a sentence", async () => {
  const browser = new TestBrowser(one);
  const target = new URL(await visitIssuer(browser, "alice"), one.origin);
  target.searchParams.delete("code");
  target.searchParams.set("error", "access_denied");
  expect(await problemOf(comeBack(browser, target.pathname + target.search))).toEqual([
    403,
    'Cannot sign in at issuer "idp": it refused: access_denied',
  ]);

  rules = rulesWith("somebody-else");
  expect(await problemOf(comeBack(browser, await visitIssuer(browser, "alice")))).toEqual([
    403,
    expect.stringMatching(/its token is not valid: .*aud/),
  ]);
  rules = rulesWith();
  expect(await problemOf(comeBack(browser, await visitIssuer(browser, "many")))).toEqual([
    403,
    expect.stringContaining("its token is not valid: it is longer than 16384 characters"),
  ]);
});

test("the issuers to sign in at are told to anybody on a page of the console, by name and address alone", async () => {
  const browser = new TestBrowser(one);
  const listed = async () => {
    const reply = await browser.send("GET", "/auth/issuers");
    expect([reply.status, reply.headers.get("cache-control")]).toEqual([200, "no-store"]);
    return JSON.parse(await reply.text());
  };
  expect(await listed()).toEqual([
    { name: "idp", issuer: issuer.url },
    { name: "other", issuer: `http://127.0.0.1:${unused}` },
  ]);
  rules = rulesOf(jwtIssuer("idp", { iss: issuer.url, aud: ["weir"] }));
  expect(await listed()).toEqual([]);

  const foreign = browser.send("GET", "/auth/issuers", undefined, { "sec-fetch-site": "cross-site" });
  expect(await problemOf(foreign)).toEqual([403, expect.stringContaining("Sec-Fetch-Site")]);
});

test("a sign-in that cannot begin says why", async () => {
  const browser = new TestBrowser(one);
  const begin = (query: string, site = "same-origin") =>
    problemOf(browser.send("GET", `/auth/login${query}`, undefined, { "sec-fetch-site": site }));
  expect(await begin("?issuer=nope")).toEqual([400, 'Cannot sign in: no JwtIssuer "nope" has a login']);
  expect(await begin("?to=//evil.example/ui/")).toEqual([400, expect.stringContaining("expected a path below /ui/")]);
  expect(await begin("?issuer=other")).toEqual([503, 'Cannot sign in at issuer "other": it is unavailable']);
  for (const site of ["cross-site", "same-site"])
    expect(await begin("", site)).toEqual([403, expect.stringContaining("Sec-Fetch-Site")]);
  rules = rulesOf();
  expect(await begin("")).toEqual([400, "Cannot sign in: no JwtIssuer has a login"]);
  expect(browser.cookies.size).toBe(0);
});
