import { expect, test } from "vitest";

import { IssuerUnavailableError, type IssuerDocuments } from "../../../../../runtime/core/ports/issuer-documents.ts";
import {
  IssuerDocumentError,
  readIssuerDescription,
  readKeySet,
} from "../../../../../runtime/gateway/access/tokens/read-key-set.ts";
import { tokenKey } from "../../../../support/token-keys.ts";

const iss = "https://idp.example";
const { jwk } = await tokenKey("ES256", "one");
const [described, published] = [`${iss}/.well-known/openid-configuration`, "https://keys.example/all"];

/** What issuers publish, by address: a value is its JSON, a text is itself. */
function documents(pages: Readonly<Record<string, unknown>>): IssuerDocuments & { readonly read: string[] } {
  const read: string[] = [];
  return {
    read,
    fetchFromIssuer: async (_issuer, url) => {
      read.push(url);
      const page = pages[url];
      if (page === undefined) return new Response("no such page", { status: 404 });
      return new Response(typeof page === "string" ? page : JSON.stringify(page), {
        headers: { "content-type": "text/plain" },
      });
    },
  };
}
const good = { [described]: { issuer: iss, jwks_uri: published }, [published]: { keys: [jwk] } };
const issuer = { iss, internal: undefined };

test("the keys are where the description says", async () => {
  const pages = documents(good);
  expect((await readKeySet(issuer, pages)).map(({ kid }) => kid)).toEqual(["one"]);
  expect(pages.read).toEqual([described, published]);
});

test("an issuer may describe itself by its internal address", async () => {
  const internal = "http://idp.auth.svc:8080";
  const url = `${internal}/.well-known/openid-configuration`;
  for (const named of [iss, internal]) {
    const pages = documents({
      [url]: { issuer: named, jwks_uri: `${internal}/keys` },
      [`${internal}/keys`]: { keys: [jwk] },
    });
    expect(await readKeySet({ iss, internal }, pages)).toHaveLength(1);
  }
});

test("the API server of the cluster is asked for its keys and nothing else", async () => {
  const internal = "https://kubernetes.default.svc";
  const pages = documents({ [`${internal}/openid/v1/jwks`]: { keys: [jwk] } });
  expect(await readKeySet({ iss, internal }, pages)).toHaveLength(1);
  expect(pages.read).toEqual([`${internal}/openid/v1/jwks`]);
});

test("a set of keys that are not usable is read as none", async () => {
  expect(await readKeySet(issuer, documents({ ...good, [published]: { keys: [{ kty: "oct", k: "AA" }] } }))).toEqual(
    [],
  );
});

test.each<[string, Readonly<Record<string, unknown>>, string]>([
  ["no description", {}, `Cannot read "${described}": expected status 200, got 404`],
  ["an empty description", { [described]: "" }, `Cannot read "${described}": it is not JSON`],
  ["a page for people", { [described]: "<html></html>" }, `Cannot read "${described}": it is not JSON`],
  ["a list", { [described]: [] }, `Cannot read "${described}": expected an object`],
  [
    "another issuer",
    { [described]: { issuer: `${iss}/`, jwks_uri: published } },
    `Cannot use "${described}": it describes another issuer than "${iss}"`,
  ],
  ["no jwks_uri", { [described]: { issuer: iss } }, `Cannot read "${described}": it has no jwks_uri`],
  ["no keys page", { ...good, [published]: undefined }, `Cannot read "${published}": expected status 200, got 404`],
  ["no set", { ...good, [published]: {} }, `Cannot read keys from "${published}": it has none`],
  ["an empty set", { ...good, [published]: { keys: [] } }, `Cannot read keys from "${published}": it has none`],
  [
    "keys that are no list",
    { ...good, [published]: { keys: jwk } },
    `Cannot read keys from "${published}": it has none`,
  ],
])("keys are not read from %s", async (_name, pages, sentence) => {
  const refusal: unknown = await readKeySet(issuer, documents(pages)).catch((err: unknown) => err);
  expect(refusal).toBeInstanceOf(sentence.includes("status") ? IssuerUnavailableError : IssuerDocumentError);
  expect((refusal as Error).message).toBe(sentence);
});

test("a description has its issuer's name, also where it says the internal address, and all its members", async () => {
  const internal = "http://idp.auth.svc:8080";
  const pages = documents({ [described]: { issuer: internal, token_endpoint: `${internal}/token` } });
  expect(await readIssuerDescription({ iss, internal }, described, pages)).toEqual({
    issuer: iss,
    token_endpoint: `${internal}/token`,
  });
});

test("key sets are asked for by their own media type, as an API server serves them as no other", async () => {
  const pages = documents(good);
  const strict: IssuerDocuments = {
    fetchFromIssuer: async (from, url, init) => {
      const accepts = new Headers(init?.headers).get("accept")?.split(", ") ?? [];
      if (url === published && !accepts.includes("application/jwk-set+json")) return new Response("", { status: 406 });
      return pages.fetchFromIssuer(from, url, init);
    },
  };
  expect(await readKeySet(issuer, strict)).toHaveLength(1);
});
