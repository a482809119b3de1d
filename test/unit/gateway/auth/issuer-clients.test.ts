import { writeFile, mkdir } from "node:fs/promises";
import { join } from "node:path";

import { describe, expect, test } from "vitest";

import { IssuerUnavailableError, type IssuerDocuments } from "../../../../runtime/core/ports/issuer-documents.ts";
import { IssuerClients, type LoginIssuer } from "../../../../runtime/gateway/auth/login/issuer-clients.ts";
import { IssuerFault } from "../../../../runtime/gateway/auth/login/login-refused.ts";
import { tempDirectory } from "../../../support/temp-directory.ts";

const iss = "https://idp.example";
const description = { issuer: iss, token_endpoint: `${iss}/token` };
const issuer: LoginIssuer = {
  name: "idp",
  iss,
  audiences: ["weir"],
  internal: undefined,
  tokenExpiry: 60_000,
  denied: [],
  nameClaims: [],
  login: { clientId: "weir" },
};

/** Clients of issuers that reply with `reply`, and a clock. */
function open(reply: () => Promise<Response>, directory = "/nonexistent") {
  const opened = { now: 0, reads: 0, reply };
  const documents: IssuerDocuments = {
    fetchFromIssuer: async () => {
      opened.reads += 1;
      return opened.reply();
    },
  };
  const clients = new IssuerClients({ documents, directory, now: () => opened.now });
  return Object.assign(opened, { clients });
}
const described = async (): Promise<Response> => Response.json(description);
const away = async (): Promise<Response> => {
  throw new IssuerUnavailableError("away");
};

test("sign-ins at the same time read the description once", async () => {
  const first = Promise.withResolvers<Response>();
  const at = open(() => first.promise);
  const waiting = Array.from({ length: 20 }, () => at.clients.of(issuer));
  // However long it takes.
  at.now += 3_600_000;
  waiting.push(at.clients.of(issuer));
  first.resolve(await described());
  const found = await Promise.all(waiting);
  expect(new Set(found).size).toBe(1);
  expect(found[0]?.serverMetadata()).toMatchObject(description);
  expect(at.reads).toBe(1);
});

test("a description is read again after 5 minutes, and when the administrator writes something else", async () => {
  const at = open(described);
  const first = await at.clients.of(issuer);
  at.now += 299_999;
  expect(await at.clients.of(issuer)).toBe(first);
  at.now += 1;
  expect(await at.clients.of(issuer)).not.toBe(first);
  expect(at.reads).toBe(2);
  expect((await at.clients.of({ ...issuer, login: { clientId: "other" } })).clientMetadata().client_id).toBe("other");
  expect(at.reads).toBe(3);
});

test("a clock that was set back keeps no description", async () => {
  const at = open(described);
  await at.clients.of(issuer);
  at.now -= 3_600_000;
  await at.clients.of(issuer);
  expect(at.reads).toBe(2);
});

describe("a read that failed", () => {
  test("is not made again for 5 seconds", async () => {
    const at = open(away);
    const refuse = () => expect(at.clients.of(issuer)).rejects.toThrow(IssuerUnavailableError);
    await Promise.all([refuse(), refuse(), refuse()]);
    at.reply = described;
    at.now += 4_999;
    await refuse();
    expect(at.reads).toBe(1);
    at.now += 1;
    expect((await at.clients.of(issuer)).serverMetadata().issuer).toBe(iss);
    expect(at.reads).toBe(2);
  });

  test("of one issuer is none of another's", async () => {
    const at = open(away);
    await expect(at.clients.of(issuer)).rejects.toThrow("away");
    at.reply = async () => Response.json({ ...description, issuer: "https://other.example" });
    await at.clients.of({ ...issuer, iss: "https://other.example" });
    expect(at.reads).toBe(2);
  });
});

test.each<readonly [string, () => Response, new () => Error, string]>([
  ["another status", () => new Response("", { status: 404 }), IssuerUnavailableError, "expected status 200, got 404"],
  ["a page", () => new Response("<html>"), IssuerFault, "its description cannot be used: it is not JSON"],
  [
    "the description of another issuer",
    () => Response.json({ ...description, issuer: `${iss}/` }),
    IssuerFault,
    `its description cannot be used: it describes another issuer than "${iss}"`,
  ],
])("of an issuer that replies with %s there is no client", async (_, reply, kind, sentence) => {
  const { clients } = open(async () => reply());
  const refusal: unknown = await clients.of(issuer).catch((err: unknown) => err);
  expect(refusal).toBeInstanceOf(kind);
  expect(String(refusal)).toContain(sentence);
});

test("an issuer that is read by its internal address may describe itself by that, and keeps its name", async () => {
  const internal = "http://idp.auth.svc:8080";
  const { clients } = open(async () => Response.json({ ...description, issuer: internal }));
  expect((await clients.of({ ...issuer, internal })).serverMetadata().issuer).toBe(iss);
});

test("a client with a secret has it from its file, and says which one is missing", async () => {
  await using place = await tempDirectory("issuer-clients");
  const { clients } = open(described, place.path);
  const login = { clientId: "weir", clientSecretName: "second" };
  const file = join(place.path, "iam-clients", "second");
  await expect(clients.of({ ...issuer, login })).rejects.toThrow(`the secret "${file}" is missing or unreadable`);
  await mkdir(join(place.path, "iam-clients"));
  await writeFile(file, "a secret\n");
  const other = open(described, place.path);
  expect((await other.clients.of({ ...issuer, login })).clientMetadata().client_id).toBe("weir");
});
