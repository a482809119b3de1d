import type { RuleSet } from "../../runtime/core/access/rule-set.ts";
import type { IssuerDocuments } from "../../runtime/core/ports/issuer-documents.ts";
import { exchangeToken } from "../../runtime/gateway/access/tokens/exchange-token.ts";
import { openOwnKeys, type OwnKeys } from "../../runtime/gateway/access/tokens/own-keys.ts";
import { TrustedKeys } from "../../runtime/gateway/access/tokens/trusted-keys.ts";
import { createLog } from "../../runtime/process/log.ts";
import { namespaceRules } from "./access-documents.ts";
import { newKeyPem, writeKeyFiles } from "./key-files.ts";
import { tempDirectory } from "./temp-directory.ts";

/** Fields of a form; one with a list is sent several times. */
export type ExchangeFields = Readonly<Record<string, string | readonly string[]>>;

type ExchangeReply = Awaited<ReturnType<typeof exchangeToken>>;

/** A platform's token exchange, with a key of its own, without a gateway around it. */
export interface TestExchange extends AsyncDisposable {
  readonly keys: OwnKeys;
  readonly issuers: TrustedKeys;
  /** May be set to other rules. */
  rules: RuleSet;
  /** Exchanges a token; `fields` come in addition, or instead. Rejects with a TokenFault. */
  exchange(subjectToken: string, fields?: ExchangeFields): Promise<ExchangeReply>;
}

export const exchangeFields = {
  grant_type: "urn:ietf:params:oauth:grant-type:token-exchange",
  subject_token_type: "urn:ietf:params:oauth:token-type:id_token",
} as const;

export async function openExchange(
  documents: IssuerDocuments,
  rules: RuleSet,
  now: () => number = Date.now,
  issuer = "https://weir.example",
): Promise<TestExchange> {
  const directory = await tempDirectory("exchange");
  await writeKeyFiles(directory.path, newKeyPem());
  const keys = openOwnKeys({ directory: directory.path, issuer, now });
  const issuers = new TrustedKeys({ documents, rules: () => opened.rules, log: createLog("test", "silent"), now });
  const opened: TestExchange = {
    keys,
    issuers,
    rules,
    exchange: (token, fields = {}) => {
      const sent = Object.entries({ ...exchangeFields, subject_token: token, ...fields });
      const form = new Map(sent.map(([name, value]) => [name, typeof value === "string" ? [value] : value]));
      const parts = { rules: () => opened.rules, keys, issuers, now, namespaces: namespaceRules("dev") };
      return exchangeToken({ kind: "form", fields: form }, parts);
    },
    [Symbol.asyncDispose]: () => directory.remove(),
  };
  return opened;
}
