import { firstDocumentOf, type IssuerAddresses } from "../../../core/access/tokens/issuer-addresses.ts";
import { IssuerUnavailableError, type IssuerDocuments } from "../../../core/ports/issuer-documents.ts";
import { importUsableKeys, type UsableKey } from "./usable-keys.ts";

/** What an issuer describes itself as (OpenID Connect Discovery), with members that nobody has checked. */
export type IssuerDescription = { readonly issuer: string };

/** What an issuer publishes is not what it should be. */
export class IssuerDocumentError extends Error {
  override readonly name = "IssuerDocumentError";
  /** What is wrong with it, as in `it is not JSON`. */
  readonly why: string;

  /** `failure` is as in `Cannot read "https://issuer.example/keys"`. */
  constructor(failure: string, why: string, options?: ErrorOptions) {
    super(`${failure}: ${why}`, options);
    this.why = why;
  }
}

/**
 * The keys that an issuer publishes now, as far as they are usable: there may be none.
 * @throws IssuerUnavailableError, or IssuerDocumentError when they are no set of keys
 */
export async function readKeySet(issuer: IssuerAddresses, documents: IssuerDocuments): Promise<readonly UsableKey[]> {
  const first = firstDocumentOf(issuer);
  const url = first.kind === "keys" ? first.url : await keysAddress(issuer, first.url, documents);
  const { keys } = await readObject(issuer, url, documents);
  if (!Array.isArray(keys) || keys.length === 0) {
    throw new IssuerDocumentError(`Cannot read keys from "${url}"`, "it has none");
  }
  return importUsableKeys(keys);
}

/**
 * The description of an issuer at `url`, which must be its own.
 * @throws IssuerUnavailableError, or IssuerDocumentError when it is none, or that of another issuer
 */
export async function readIssuerDescription(
  issuer: IssuerAddresses,
  url: string,
  documents: IssuerDocuments,
): Promise<IssuerDescription> {
  const { issuer: named, ...others } = await readObject(issuer, url, documents);
  // One that is read by its internal address may call itself by that.
  if (named !== issuer.iss && named !== issuer.internal) {
    throw new IssuerDocumentError(`Cannot use "${url}"`, `it describes another issuer than "${issuer.iss}"`);
  }
  return { ...others, issuer: issuer.iss };
}

async function keysAddress(issuer: IssuerAddresses, url: string, documents: IssuerDocuments): Promise<string> {
  const description = await readIssuerDescription(issuer, url, documents);
  if ("jwks_uri" in description && typeof description.jwks_uri === "string") return description.jwks_uri;
  throw new IssuerDocumentError(`Cannot read "${url}"`, "it has no jwks_uri");
}

/** An API server of Kubernetes serves its keys as no other type than that of key sets (RFC 7517 §8.5), and replies 406. */
const acceptedTypes = "application/jwk-set+json, application/json";

/** A JSON object, whatever type it is served with. */
async function readObject(
  issuer: IssuerAddresses,
  url: string,
  documents: IssuerDocuments,
): Promise<Readonly<Record<string, unknown>>> {
  const failure = `Cannot read "${url}"`;
  const response = await documents.fetchFromIssuer(issuer, url, { headers: { accept: acceptedTypes } });
  if (response.status !== 200) {
    throw new IssuerUnavailableError(`${failure}: expected status 200, got ${response.status}`);
  }
  let value: unknown;
  try {
    value = await response.json();
  } catch (cause) {
    throw new IssuerDocumentError(failure, "it is not JSON", { cause });
  }
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return { ...value };
  throw new IssuerDocumentError(failure, "expected an object");
}
