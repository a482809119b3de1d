import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import { connect, type AddressInfo } from "node:net";

import { exportJWK, SignJWT, UnsecuredJWT } from "jose";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";

import { HttpIssuerDocuments } from "../../runtime/adapters/http/issuers/http-issuer-documents.ts";
import type { RuleSet } from "../../runtime/core/access/rule-set.ts";
import { TokenHolders } from "../../runtime/gateway/access/token-holders.ts";
import type { TokenFault } from "../../runtime/gateway/access/tokens/token-fault.ts";
import { testNetwork } from "../support/callback-network.ts";
import { jwtIssuer, policy, role, rulesOf } from "../support/access-documents.ts";
import { exchangeFields, openExchange, type ExchangeFields, type TestExchange } from "../support/token-exchange.ts";
import { claimsOf, flipBit, signToken, tokenKey, tokenPart, type TokenKey } from "../support/token-keys.ts";
import { issuerPaths, openTokenIssuer, type TokenIssuer } from "../support/token-issuer.ts";
import { openRestPlatform, type RestPlatform } from "../support/rest-platform.ts";

/** A whole REST side, and a real issuer that it reads the keys of, over real sockets. */
let issuer: TokenIssuer;
let platform: RestPlatform;
let tokens: TestExchange;
const refused: TokenFault[] = [];
/** Milliseconds that the platform's clock is ahead. */
let ahead = 0;
const now = (): number => Date.now() + ahead;
const seconds = (): number => Math.floor(now() / 1_000);
const weir = "https://weir.example";

function rules(): RuleSet {
  return rulesOf(
    jwtIssuer("idp", { iss: issuer.url, aud: ["weir", "weir-2"] }),
    policy("all-of-dev", ["Function:*"], ["dev:*"]),
    role("everyone", ["all-of-dev"]),
  );
}
beforeAll(async () => {
  issuer = await openTokenIssuer();
});
beforeEach(async () => {
  ahead = 0;
  const documents = new HttpIssuerDocuments({ closedPorts: [], network: testNetwork() });
  tokens = await openExchange(documents, rules(), now);
  platform = await openRestPlatform({
    edition: "enterprise",
    tokens: {
      rules: () => tokens.rules,
      keys: tokens.keys,
      holders: new TokenHolders(tokens.keys.reader, () => tokens.rules),
      issuers: tokens.issuers,
      now,
      refused: (_request, fault) => refused.push(fault),
    },
  });
  issuer.paths.splice(0);
  refused.splice(0);
});
afterEach(async () => {
  for (const path of Object.values(issuerPaths)) issuer.replace(path, undefined);
  issuer.keys = [issuer.key.jwk];
  await platform[Symbol.asyncDispose]();
  await tokens[Symbol.asyncDispose]();
});
afterAll(async () => {
  await issuer[Symbol.asyncDispose]();
});

const good = () => ({ iss: issuer.url, sub: "alice", aud: "weir", iat: seconds() - 5, exp: seconds() + 300 });
const sign = (claims: object = {}, header: object = {}, key: TokenKey = issuer.key) =>
  signToken(key, { ...good(), ...claims }, { ...header });

interface Reply {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Readonly<Record<string, unknown>>;
}
/** Sends the form of an exchange; `fields` come in addition, or instead. */
async function exchange(subjectToken: string, fields: ExchangeFields = {}): Promise<Reply> {
  const sent = Object.entries({ ...exchangeFields, subject_token: subjectToken, ...fields }).flatMap(
    ([name, value]): [string, string][] => [value].flat().map((each) => [name, each]),
  );
  return reply(await fetch(`${platform.url}/oauth/token`, { method: "POST", body: new URLSearchParams(sent) }));
}
async function reply(response: Response): Promise<Reply> {
  expect(response.headers.get("content-type")).toMatch(/^application\/json\b/);
  expect(response.headers.get("cache-control")).toBe("no-store");
  return {
    status: response.status,
    headers: response.headers,
    body: (await response.json()) as Readonly<Record<string, unknown>>,
  };
}
async function expectRefused(
  sent: Reply | Promise<Reply>,
  why: string | RegExp,
  error = "invalid_request",
): Promise<void> {
  const { status, body } = await sent;
  expect([status, body["error"]]).toEqual([400, error]);
  expect(body["error_description"]).toMatch(why);
  expect(Object.keys(body)).toEqual(["error", "error_description"]);
}

describe("a token of a trusted issuer", () => {
  test.each(["ES256", "RS256", "PS256", "EdDSA"])("is exchanged when it is signed with %s", async (alg) => {
    const key = await tokenKey(alg);
    issuer.keys = [issuer.key.jwk, key.jwk];
    const { status, body, headers } = await exchange(await sign({ aud: ["x", "weir-2"], team: "core" }, {}, key));
    expect([status, body]).toEqual([
      200,
      {
        access_token: expect.any(String),
        issued_token_type: "urn:ietf:params:oauth:token-type:access_token",
        token_type: "Bearer",
        expires_in: 1_800,
      },
    ]);
    expect(headers.get("x-content-type-options")).toBe("nosniff");
    const token = String(body["access_token"]);
    expect(claimsOf(token)).toMatchObject({ iss: weir, sub: "fed:alice", "fed:aud": ["x", "weir-2"], team: "core" });
    expect(await tokens.keys.reader.read(token)).toMatchObject({ kind: "api" });
    expect(issuer.paths).toEqual([issuerPaths.description, issuerPaths.keys]);
    expect(refused).toEqual([]);
  });

  test("is exchanged for a function token, and that for nothing", async () => {
    const { body } = await exchange(await sign(), { scope: "function", audience: ["dev:a", "dev:b"] });
    expect(body).toMatchObject({ scope: "function", token_type: "Bearer" });
    const token = String(body["access_token"]);
    expect(claimsOf(token)["function"]).toEqual({ permissions: ["dev:*"], audience: ["dev:a", "dev:b"] });
    await expectRefused(exchange(token, { scope: "function" }), /it is a function token$/);
    const { body: api } = await exchange(await sign());
    expect((await exchange(String(api["access_token"]), { scope: "function" })).status).toBe(200);
    await expectRefused(exchange(String(api["access_token"])), /with scope function only$/);
  });

  test.each<[string, () => Promise<string> | string, string | RegExp]>([
    ["alg none", () => new UnsecuredJWT(good()).encode(), /its parts are not base64url$/],
    [
      "alg none with a signature",
      () => `${new UnsecuredJWT(good()).encode()}c2ln`,
      /its alg is none of RS256, PS256, ES256, EdDSA$/,
    ],
    [
      "HS256 with the public key",
      async () =>
        new SignJWT(good())
          .setProtectedHeader({ alg: "HS256", kid: issuer.key.kid })
          .sign(Buffer.from(JSON.stringify(issuer.key.jwk))),
      /its alg is none of/,
    ],
    ["a bit of the header changed", async () => flipBit(await sign(), 0), /subject_token is not valid: /],
    ["a bit of the claims changed", async () => flipBit(await sign(), 1), /subject_token is not valid: /],
    ["a bit of the signature changed", async () => flipBit(await sign(), 2), /signature verification failed$/],
    ["two parts", async () => (await sign()).split(".").slice(0, 2).join("."), /it does not have three parts$/],
    ["an encrypted token's five parts", () => "a.b.c.d.e", /it does not have three parts$/],
    ["another audience", () => sign({ aud: "other" }), /unexpected 'aud' claim value$/],
    ["an audience in another case", () => sign({ aud: "Weir" }), /unexpected 'aud' claim value$/],
    ["no audience", () => sign({ aud: undefined }), /missing required 'aud' claim$/],
    ["an empty list of audiences", () => sign({ aud: [] }), /unexpected 'aud' claim value$/],
    ["expired", () => sign({ iat: seconds() - 600, exp: seconds() - 31 }), /'exp' claim timestamp check failed$/],
    ["no exp", () => sign({ exp: undefined }), /missing required 'exp' claim$/],
    ["no iat", () => sign({ iat: undefined }), /missing required 'iat' claim$/],
    ["nbf tomorrow", () => sign({ nbf: seconds() + 86_400 }), /'nbf' claim timestamp check failed$/],
    ["iat in an hour", () => sign({ iat: seconds() + 3_600, exp: seconds() + 3_700 }), /it was issued in the future$/],
    ["exp in ten years", () => sign({ exp: seconds() + 315_576_000 }), /it is valid for more than 24 hours$/],
    ["exp as a text", () => sign({ exp: String(seconds() + 300) }), /'exp' claim must be a number$/],
    ["no subject", () => sign({ sub: undefined }), /missing required 'sub' claim$/],
    ["a subject that is a list", () => sign({ sub: ["alice"] }), /claim sub is no text$/],
    ["another issuer", () => sign({ iss: "https://other.example" }), /no JwtIssuer has its iss$/],
    ["the issuer with a slash more", () => sign({ iss: `${issuer.url}/` }), /no JwtIssuer has its iss$/],
    ["an issuer that is a list", () => sign({ iss: [issuer.url] }), /claim iss is no text$/],
    ["the name of a prototype as issuer", () => sign({ iss: "__proto__" }), /no JwtIssuer has its iss$/],
    ["a kid that is a path", () => sign({}, { kid: "../../key" }), /no usable key of its kid and alg$/],
    [
      "the alg of another key",
      async () => sign({}, { kid: issuer.key.kid }, await tokenKey("RS256")),
      /no usable key of its kid and alg$/,
    ],
    ["an unknown crit", () => sign({}, { crit: ["b64"], b64: true }), /its header has crit$/],
    [
      "the type of a logout token",
      () => sign({}, { typ: "logout+jwt" }),
      /its typ is not that of an id token or access token$/,
    ],
    ["a type of this platform", () => sign({}, { typ: "weir-api+jwt" }), /its typ is not that/],
    ["more than 16 KiB", () => sign({ groups: "x".repeat(13_000) }), /it is longer than 16384 characters$/],
    ["no token", () => "hello", /it does not have three parts$/],
    ["line ends", async () => `${await sign()}\n`, /its parts are not base64url$/],
  ])("is refused: %s", async (_name, token, why) => {
    await expectRefused(exchange(await token()), why);
    expect(refused.map(({ error }) => error)).toEqual(["invalid_request"]);
  });

  test("is refused: another gateway's token", async () => {
    await using other = await openExchange(new HttpIssuerDocuments({ closedPorts: [] }), rules(), now);
    const token = await other.keys.sign(
      "api",
      { ...good(), "fed:iss": issuer.url, policy: ["all-of-dev"] },
      {
        issuedAt: seconds(),
        expiresAt: seconds() + 60,
      },
    );
    await expectRefused(exchange(token, { scope: "function" }), /it is no valid token of this platform$/);
  });

  test("is refused without kid if the set has several keys, and taken if it has one", async () => {
    const bare = await sign({}, { kid: undefined });
    issuer.keys = [issuer.key.jwk, (await tokenKey("RS256")).jwk];
    await expectRefused(exchange(bare), /no usable key of its kid and alg$/);
    issuer.keys = [issuer.key.jwk, { ...(await tokenKey("RS256")).jwk, use: "enc" }];
    ahead += 600_000;
    expect((await exchange(await sign({}, { kid: undefined }))).status).toBe(200);
  });

  test.each<[string, () => Promise<TokenKey>]>([
    ["a key for encryption", async () => published(await tokenKey("ES256", "odd"), { use: "enc" })],
    ["a private key", async () => published(await tokenKey("ES256", "odd"), { d: "AA" })],
    ["ES384", () => tokenKey("ES384", "odd")],
  ])("is refused when its published key is %s", async (_name, make) => {
    const key = await make();
    issuer.keys = [issuer.key.jwk, key.jwk];
    await expectRefused(exchange(await sign({}, { alg: key.alg }, key)), /subject_token is not valid: /);
    issuer.keys = [key.jwk];
    ahead += 600_000;
    await expectRefused(exchange(await sign({}, { alg: key.alg }, key)), /subject_token is not valid: /);
  });

  test("is refused when it is signed with RSA 1024, which no library does", async () => {
    const algorithm = { name: "RSASSA-PKCS1-v1_5", hash: "SHA-256" };
    const size = { modulusLength: 1_024, publicExponent: new Uint8Array([1, 0, 1]) };
    const { publicKey, privateKey } = await crypto.subtle.generateKey({ ...algorithm, ...size }, true, [
      "sign",
      "verify",
    ]);
    const jwk = await exportJWK(publicKey);
    const content = `${tokenPart({ alg: "RS256", kid: "short" })}.${tokenPart(good())}`;
    const signature = Buffer.from(await crypto.subtle.sign(algorithm.name, privateKey, Buffer.from(content)));
    expect(signature).toHaveLength(128);
    issuer.keys = [issuer.key.jwk, { ...jwk, kid: "short", alg: "RS256", use: "sig" }];
    await expectRefused(exchange(`${content}.${signature.toString("base64url")}`), /no usable key of its kid and alg$/);
  });

  test("makes nothing be fetched from where its header says, and no key in it count", async () => {
    let requests = 0;
    const key = await tokenKey("ES256", "forged");
    const listener = createServer((_request, response) => {
      requests += 1;
      response.end(JSON.stringify({ keys: [key.jwk] }));
    });
    listener.listen(0, "127.0.0.1");
    await once(listener, "listening");
    try {
      const url = `http://127.0.0.1:${(listener.address() as AddressInfo).port}/keys`;
      const embedded = { jwk: key.jwk, jku: url, x5u: url, x5c: [tokenPart("certificate")] };
      for (const kid of [key.kid, issuer.key.kid, url, undefined]) {
        await expectRefused(exchange(await sign({}, { ...embedded, kid }, key)), /subject_token is not valid: /);
      }
      expect(requests).toBe(0);
    } finally {
      listener.closeAllConnections();
      listener.close();
      await once(listener, "close");
    }
  });
});

function published(key: TokenKey, over: object): TokenKey {
  return { ...key, jwk: { ...key.jwk, ...over } };
}

describe("an issuer in trouble", () => {
  const troubles: readonly [string, (reply: ServerResponse) => void][] = [
    ["500", (response) => void response.writeHead(500).end("{}")],
    [
      "a redirect",
      (response) => void response.writeHead(302, { location: `${issuer.url}${issuerPaths.keys}?x` }).end(),
    ],
    ["an empty body", (response) => void response.end()],
    ["an empty set", (response) => void response.end('{"keys":[]}')],
    ["10 MB", (response) => void response.end(Buffer.alloc(10_000_000, " "))],
    ["a page for people", (response) => void response.setHeader("content-type", "text/html").end("<html>{}</html>")],
    [
      "half a reply",
      (response) => void response.writeHead(200, { "content-length": "100" }).write("{", () => response.destroy()),
    ],
  ];

  test.each(troubles)("is no trouble of the platform's: %s", async (_name, answer) => {
    for (const path of [issuerPaths.description, issuerPaths.keys]) {
      issuer.replace(path, (_request, response) => answer(response));
      const { status, headers, body } = await exchange(await sign());
      expect([status, body]).toEqual([
        503,
        {
          error: "temporarily_unavailable",
          error_description: "Cannot exchange token: the keys of JwtIssuer idp cannot be read",
        },
      ]);
      expect(Number(headers.get("retry-after"))).toBe(30);
      const asked = issuer.paths.length;
      expect((await exchange(await sign())).status).toBe(503);
      expect(issuer.paths.length).toBe(asked);

      issuer.replace(path, undefined);
      ahead += 30_000;
      expect((await exchange(await sign())).status).toBe(200);
      // Its last good keys are used for a day.
      issuer.replace(path, (_request, response) => answer(response));
      ahead += 23 * 3_600_000;
      expect((await exchange(await sign())).status).toBe(200);
      ahead += 3_600_000 + 60_000;
      expect((await exchange(await sign())).status).toBe(503);
      issuer.replace(path, undefined);
      ahead += 30_000;
    }
  });

  test("takes 20 s: those who exchange its tokens wait for 5, and for nothing with good keys", async () => {
    issuer.replace(issuerPaths.keys, () => {});
    expect(await exchange(await sign())).toMatchObject({ status: 503, body: { error: "temporarily_unavailable" } });
    issuer.replace(issuerPaths.keys, undefined);
    ahead += 30_000;
    expect((await exchange(await sign())).status).toBe(200);
    issuer.replace(issuerPaths.keys, () => {});
    ahead += 600_000;
    const waits = await Promise.all([exchange(await sign()), exchange(await sign())]);
    expect(waits.map(({ status }) => status)).toEqual([200, 200]);
  });

  test("changes its keys: tokens of both are good while both are published, and the old one's end then", async () => {
    const old = issuer.key;
    const next = await tokenKey("ES256", "second");
    expect((await exchange(await sign())).status).toBe(200);
    issuer.keys = [old.jwk, next.jwk];
    ahead += 30_000;
    expect((await exchange(await sign({}, {}, next))).status).toBe(200);
    expect((await exchange(await sign({}, {}, old))).status).toBe(200);
    issuer.keys = [next.jwk];
    ahead += 600_000;
    expect((await exchange(await sign({}, {}, next))).status).toBe(200);
    await expectRefused(exchange(await sign({}, {}, old)), /no usable key of its kid and alg$/);
  });
});

describe("the form", () => {
  const send = async (body: string | Buffer, headers: Record<string, string>): Promise<Reply> =>
    reply(await fetch(`${platform.url}/oauth/token`, { method: "POST", body, headers }));
  const form = { "content-type": "application/x-www-form-urlencoded" };

  test.each<[string, ExchangeFields, string, string | RegExp]>([
    [
      "another grant_type",
      { grant_type: "client_credentials" },
      "unsupported_grant_type",
      /^Cannot exchange token: grant_type is not /,
    ],
    ["no grant_type", { grant_type: "" }, "invalid_request", "Cannot exchange token: field grant_type is missing"],
    [
      "no subject_token",
      { subject_token: "" },
      "invalid_request",
      "Cannot exchange token: field subject_token is missing",
    ],
    [
      "subject_token twice",
      { subject_token: ["a.b.c", "a.b.c"] },
      "invalid_request",
      "Cannot exchange token: field subject_token is there twice",
    ],
    [
      "no subject_token_type",
      { subject_token_type: "" },
      "invalid_request",
      "Cannot exchange token: field subject_token_type is missing",
    ],
    [
      "another subject_token_type",
      { subject_token_type: "id_token" },
      "invalid_request",
      /subject_token_type is none of/,
    ],
    ["another scope", { scope: "admin" }, "invalid_scope", "Cannot exchange token: scope is not function"],
    [
      "a wrong audience",
      { scope: "function", audience: "dev:e*" },
      "invalid_target",
      /is neither namespace:function nor namespace:\*$/,
    ],
    [
      "an audience that is not permitted",
      { scope: "function", audience: "functions:a" },
      "invalid_target",
      /no Policy allows its subject Function:Invoke on functions:a$/,
    ],
    ["an audience without scope", { audience: "dev:a" }, "invalid_target", /audience is for scope function only$/],
  ])("is refused: %s", async (_name, fields, error, why) => {
    await expectRefused(exchange(await sign(), fields), why, error);
  });

  test.each<[string, string | Buffer, Record<string, string>]>([
    ["JSON", "{}", { "content-type": "application/json" }],
    ["JSON said to be a form", "{}", form],
    ["multipart", "--a--", { "content-type": "multipart/form-data; boundary=a" }],
    ["no known type", Buffer.from("grant_type=x"), {}],
    ["a malformed type", "grant_type=x", { "content-type": "form" }],
    ["compressed", "grant_type=x", { ...form, "content-encoding": "gzip" }],
    ["nothing", "", form],
    ["an unreadable encoding", "grant_type=%zz", form],
    ["a byte too many", `a=${"x".repeat(65_535)}`, form],
    ["3 MiB", `a=${"x".repeat(3_145_728)}`, form],
  ])("is refused: %s", async (_name, body, headers) => {
    await expectRefused(
      send(body, headers),
      /^Cannot exchange token: (its body is unreadable|field grant_type is missing)/,
    );
  });

  test("is missing: no type, no body", async () => {
    const socket = connect(platform.port, "127.0.0.1");
    try {
      socket.write("POST /oauth/token HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
      const chunks: Buffer[] = [];
      for await (const chunk of socket) chunks.push(chunk as Buffer);
      const text = Buffer.concat(chunks).toString();
      expect(text).toMatch(/^HTTP\/1.1 400 /);
      expect(text).toContain("its body is unreadable: expected application/x-www-form-urlencoded");
    } finally {
      socket.destroy();
    }
  });

  test("is not read from the query, and no other method is served", async () => {
    const query = new URLSearchParams({ ...exchangeFields, subject_token: await sign() });
    const response = await fetch(`${platform.url}/oauth/token?${query.toString()}`, {
      method: "POST",
      body: "",
      headers: form,
    });
    await expectRefused(reply(response), "Cannot exchange token: field grant_type is missing");
    const got = await fetch(`${platform.url}/oauth/token?${query.toString()}`);
    expect([got.status, got.headers.get("allow")]).toEqual([405, "POST"]);
  });

  test("is too long, and the next one is read", async () => {
    const statuses: number[] = [];
    for (const body of [
      "x".repeat(200_000),
      String(new URLSearchParams({ ...exchangeFields, subject_token: await sign() })),
    ]) {
      statuses.push((await send(body, form)).status);
    }
    expect(statuses).toEqual([400, 200]);
  });
});

describe("what a gateway publishes", () => {
  test("leads from its name to the keys that verify its tokens", async () => {
    const description = await (await fetch(`${platform.url}/.well-known/openid-configuration`)).json();
    expect(description).toEqual({
      issuer: weir,
      jwks_uri: `${weir}/.well-known/jwks.json`,
      token_endpoint: `${weir}/oauth/token`,
      weir_sign_in: [],
    });
    const response = await fetch(`${platform.url}/.well-known/jwks.json`);
    const set = (await response.json()) as { readonly keys: readonly Readonly<Record<string, unknown>>[] };
    expect(set).toEqual(tokens.keys.keySet());
    expect(Object.keys(set.keys[0] ?? {}).toSorted()).toEqual(["alg", "crv", "kid", "kty", "use", "x", "y"]);
    expect((await fetch(`${platform.url}/.well-known/jwks.json`, { method: "HEAD" })).status).toBe(200);
  });
});
