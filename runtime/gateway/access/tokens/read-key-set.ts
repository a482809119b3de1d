import { firstDocumentOf, type IssuerAddresses } from "../../../core/access/tokens/issuer-addresses.ts";
import type { IssuerDocuments } from "../../../core/ports/issuer-documents.ts";
import { importUsableKeys, type UsableKey } from "./usable-keys.ts";

/**
 * The keys that an issuer publishes now, as far as they are usable: there may be none.
 * @throws Error when they cannot be read, or are no set of keys
 */
export async function readKeySet(issuer: IssuerAddresses, documents: IssuerDocuments): Promise<readonly UsableKey[]> {
  const first = firstDocumentOf(issuer);
  const url = first.kind === "keys" ? first.url : await keysAddress(issuer, first.url, documents);
  const { keys } = await readObject(issuer, url, documents);
  if (!Array.isArray(keys) || keys.length === 0) throw new Error(`Cannot read keys from "${url}": it has none`);
  return importUsableKeys(keys);
}

/** The address of the keys in the issuer's description, which must be that of this issuer. */
async function keysAddress(issuer: IssuerAddresses, url: string, documents: IssuerDocuments): Promise<string> {
  const { issuer: named, jwks_uri: address } = await readObject(issuer, url, documents);
  // One that is read by its internal address may call itself by that.
  if (named !== issuer.iss && named !== issuer.internal) {
    throw new Error(`Cannot use "${url}": it describes another issuer than "${issuer.iss}"`);
  }
  if (typeof address !== "string") throw new Error(`Cannot read "${url}": it has no jwks_uri`);
  return address;
}

/** A JSON object, whatever type it is served with. */
async function readObject(
  issuer: IssuerAddresses,
  url: string,
  documents: IssuerDocuments,
): Promise<Readonly<Record<string, unknown>>> {
  const response = await documents.fetchFromIssuer(issuer, url, { headers: { accept: "application/json" } });
  if (response.status !== 200) throw new Error(`Cannot read "${url}": expected status 200, got ${response.status}`);
  let value: unknown;
  try {
    value = await response.json();
  } catch (cause) {
    throw new Error(`Cannot read "${url}": it is not JSON`, { cause });
  }
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return { ...value };
  throw new Error(`Cannot read "${url}": expected an object`);
}
