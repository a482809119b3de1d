import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { request as send } from "undici";

import { HttpIssuerDocuments } from "../../runtime/adapters/http/issuers/http-issuer-documents.ts";
import type { JwtIssuerSpec } from "../../runtime/api/resources/iam-resources.ts";
import { signInMember, type SignInIssuer } from "../../runtime/api/schemas/iam/sign-in.ts";
import type { AccessDocument } from "../../runtime/core/access/build-rule-set.ts";
import type { RuleSet } from "../../runtime/core/access/rule-set.ts";
import { TokenHolders } from "../../runtime/gateway/access/token-holders.ts";
import { jwtIssuer, policy, role, rulesOf } from "./access-documents.ts";
import { commandClient, consoleClient, consoleClientSecret } from "./keycloak-realm.ts";
import { openScriptedGateway, replyWith, type ScriptedGateway } from "./scripted-gateway.ts";
import { openTestConsole, type TestConsole } from "./test-console.ts";
import { openExchange, type TestExchange } from "./token-exchange.ts";

/** A gateway and its console that trust Keycloak. */
export interface KeycloakGateway extends AsyncDisposable {
  readonly tokens: TestExchange;
  readonly opened: TestConsole;
  /** The gateway, with what it offers to the command line. */
  readonly url: string;
}

const secretName = "keycloak";

/** Rules for people of the realm: their groups decide. */
export function keycloakRules(issuer: string, login?: JwtIssuerSpec["login"]): readonly AccessDocument[] {
  const among = (group: string) => ({ condition: { "ForAnyValue:StringEqual": { "jwt:groups": group } } });
  return [
    jwtIssuer("keycloak", { iss: issuer, aud: [commandClient, consoleClient], ...(login && { login }) }),
    policy("read", ["Function:List", "Function:Get"], ["*"]),
    policy("deploy", ["Function:*"], ["functions:*"]),
    role("deployers", ["read", "deploy"], among("deployers")),
    role("readers", ["read"], among("readers")),
  ];
}

/** How people sign in to the console. */
export const consoleLogin = { clientId: consoleClient, clientSecretName: secretName, scopes: ["openid", "profile"] };

/** Opens them; the clock is that of tokens and keys. */
export async function openKeycloakGateway(
  documents: readonly AccessDocument[],
  now: () => number,
): Promise<KeycloakGateway> {
  const rules = rulesOf(...documents);
  await using open = new AsyncDisposableStack();
  const published = new HttpIssuerDocuments({ closedPorts: [] });
  const tokens = open.use(await openExchange(published, rules, now));
  const { keys, issuers } = tokens;
  const holders = new TokenHolders(keys.reader, () => tokens.rules);
  const parts = { rules: () => tokens.rules, keys, holders, issuers, now };
  const opened = open.use(await openTestConsole({ app: { tokens: parts }, documents: published }));
  const { directory, url } = opened.platform;
  await mkdir(join(directory, "iam-clients"));
  await writeFile(join(directory, "iam-clients", secretName), `${consoleClientSecret}\n`);
  const front = open.use(await offering(url, rules));
  const closing = open.move();
  return {
    tokens,
    opened,
    url: front.url,
    [Symbol.asyncDispose]: () => closing.disposeAsync(),
  };
}

/** The gateway, with the issuers that it offers to the command line. */
function offering(url: string, { issuers }: RuleSet): Promise<ScriptedGateway> {
  const offered = [...issuers.values()].flatMap(({ name, iss, login }): SignInIssuer[] =>
    login === undefined ? [] : [{ name, issuer: iss, clientId: login.clientId, scopes: login.scopes ?? [] }],
  );
  return openScriptedGateway((response, { method, target, headers, body }) => {
    void (async () => {
      const { host: _, connection: __, ...sent } = headers;
      const reply = await send(url + target, {
        method: method as "GET",
        headers: sent,
        ...(body === "" ? {} : { body }),
      });
      const text = await reply.body.text();
      const isDescription = target === "/.well-known/openid-configuration";
      const shown = isDescription ? JSON.stringify({ ...(JSON.parse(text) as object), [signInMember]: offered }) : text;
      replyWith(response, reply.statusCode, shown, { "content-type": String(reply.headers["content-type"]) });
    })();
  });
}
