import { isLoopbackHost } from "../../../api/host-grammar.ts";
import { hasClusterKeys } from "../../../api/iam/cluster-keys.ts";
import { bareHost, portOf, type CallbackPolicy } from "../../callbacks/callback-policy.ts";
import type { TrustedIssuer } from "../rule-set.ts";

/** The addresses of an issuer that the administrator wrote. */
export type IssuerAddresses = Pick<TrustedIssuer, "iss" | "internal">;

/** What an issuer's own address leads to: its description, which names the address of its keys, or the keys. */
export type IssuerDocument = { readonly kind: "description" | "keys"; readonly url: string };

/** How a host may be reached: at public addresses only, or also at private ones, as the administrator wrote it. */
export type IssuerReach =
  | { readonly kind: "refused"; readonly why: string }
  | { readonly kind: "allowed"; readonly addresses: CallbackPolicy };

/** Where reading the keys of an issuer begins (`iam.md` §5). */
export function firstDocumentOf(issuer: IssuerAddresses): IssuerDocument {
  const base = (issuer.internal ?? issuer.iss).replace(/\/+$/, "");
  // What the API server describes are addresses that others reach it at.
  if (isClusterIssuer(issuer)) return { kind: "keys", url: `${base}/openid/v1/jwks` };
  return { kind: "description", url: `${base}/.well-known/openid-configuration` };
}

/** Whether its keys are those of the API server of the cluster that this process runs in. */
export function isClusterIssuer({ internal }: IssuerAddresses): boolean {
  return hasClusterKeys(internal);
}

/** Whether something of an issuer may be fetched from `url`, by the text of both; addresses are judged on connecting. */
export function judgeIssuerUrl(url: URL, { iss, internal }: IssuerAddresses): IssuerReach {
  if (url.username !== "" || url.password !== "") return { kind: "refused", why: "a user part is not allowed" };
  const isWritten = [iss, internal].some((written) => isSameHost(urlOf(written), url));
  if (url.protocol === "https:") return { kind: "allowed", addresses: isWritten ? "any" : "public" };
  if (url.protocol !== "http:") return { kind: "refused", why: "expected https" };
  const written = urlOf(internal);
  const isInternal = written?.protocol === "http:" && isSameHost(written, url);
  if (isInternal || (isWritten && isLoopbackHost(bareHost(url)))) return { kind: "allowed", addresses: "any" };
  return { kind: "refused", why: "http is for loopback and issInternal only, expected https" };
}

function isSameHost(written: URL | undefined, url: URL): boolean {
  return written !== undefined && written.hostname === url.hostname && portOf(written) === portOf(url);
}

function urlOf(text: string | undefined): URL | undefined {
  return text === undefined ? undefined : (URL.parse(text) ?? undefined);
}
