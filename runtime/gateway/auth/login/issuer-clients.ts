import { readFile } from "node:fs/promises";
import { join } from "node:path";

import {
  allowInsecureRequests,
  ClientSecretBasic,
  ClientSecretPost,
  Configuration,
  customFetch,
  None,
  type ClientAuth,
  type ServerMetadata,
} from "openid-client";

import { PlatformError } from "../../../api/platform-error.ts";
import type { TrustedIssuer } from "../../../core/access/rule-set.ts";
import { firstDocumentOf } from "../../../core/access/tokens/issuer-addresses.ts";
import { IssuerUnavailableError, type IssuerDocuments } from "../../../core/ports/issuer-documents.ts";
import { IssuerFault } from "./login-refused.ts";

/** An issuer that people sign in at. */
export type LoginIssuer = TrustedIssuer & { readonly login: NonNullable<TrustedIssuer["login"]> };

/** Directory of the secrets of clients, below `secret_mount_path`. */
const secretDirectory = "iam-clients";
/** Milliseconds after which an issuer is asked for its addresses again. */
const keptFor = 300_000;

export interface IssuerClientParts {
  readonly documents: IssuerDocuments;
  /** `secret_mount_path`. */
  readonly directory: string;
  readonly now: () => number;
}

/** The platform as a client of its issuers. */
export class IssuerClients {
  readonly #parts: IssuerClientParts;
  /** By everything that the administrator wrote about the issuer. */
  readonly #clients = new Map<string, { readonly until: number; readonly client: Configuration }>();

  constructor(parts: IssuerClientParts) {
    this.#parts = parts;
  }

  /**
   * The client at an issuer.
   * @throws IssuerUnavailableError, or an Error when the issuer describes something else
   */
  async of(issuer: LoginIssuer): Promise<Configuration> {
    const { iss, internal, login } = issuer;
    const key = JSON.stringify([iss, internal, login]);
    const now = this.#parts.now();
    const found = this.#clients.get(key);
    if (found !== undefined && found.until > now) return found.client;
    const client = await this.#make(issuer);
    for (const [other, { until }] of this.#clients) if (until <= now) this.#clients.delete(other);
    this.#clients.set(key, { until: now + keptFor, client });
    return client;
  }

  async #make(issuer: LoginIssuer): Promise<Configuration> {
    const { documents, directory } = this.#parts;
    const { clientId, clientSecretName } = issuer.login;
    const server = await descriptionOf(issuer, documents);
    const secret =
      clientSecretName === undefined ? undefined : await secretOf(join(directory, secretDirectory, clientSecretName));
    const client = new Configuration(server, clientId, {}, authenticationOf(server, secret));
    // Where http is allowed is decided with each address, as it is fetched.
    allowInsecureRequests(client);
    client[customFetch] = (url, { method, headers, body, signal }) =>
      documents.fetchFromIssuer(issuer, url, {
        method,
        headers,
        ...(body === undefined ? {} : { body }),
        ...(signal === undefined ? {} : { signal }),
      });
    return client;
  }
}

function authenticationOf(server: ServerMetadata, secret: string | undefined): ClientAuth {
  if (secret === undefined) return None();
  const methods = server.token_endpoint_auth_methods_supported ?? ["client_secret_basic"];
  return methods.includes("client_secret_basic") ? ClientSecretBasic(secret) : ClientSecretPost(secret);
}

async function descriptionOf(issuer: LoginIssuer, documents: IssuerDocuments): Promise<ServerMetadata> {
  const { kind, url } = firstDocumentOf(issuer);
  if (kind === "keys") throw new IssuerFault("it has no page to sign in at");
  const response = await documents.fetchFromIssuer(issuer, url, { headers: { accept: "application/json" } });
  if (response.status !== 200) {
    throw new IssuerUnavailableError(`Cannot read "${url}": expected status 200, got ${response.status}`);
  }
  const found: unknown = await response.json().catch(() => undefined);
  if (typeof found !== "object" || found === null || !("issuer" in found)) {
    throw new IssuerFault(`"${url}" describes no issuer`);
  }
  // One that is read by its internal address may call itself by that.
  if (found.issuer !== issuer.iss && found.issuer !== issuer.internal) {
    throw new IssuerFault(`"${url}" describes another issuer than "${issuer.iss}"`);
  }
  return { ...found, issuer: issuer.iss };
}

async function secretOf(path: string): Promise<string> {
  try {
    return (await readFile(path, "utf8")).trim();
  } catch (cause) {
    throw new PlatformError("internal_error", `Cannot sign in: the secret "${path}" is missing or unreadable`, {
      cause,
    });
  }
}
