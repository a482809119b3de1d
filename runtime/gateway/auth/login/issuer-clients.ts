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
import type { IssuerDocuments } from "../../../core/ports/issuer-documents.ts";
import { SharedRead } from "../../../core/shared-read.ts";
import { IssuerDocumentError, readIssuerDescription } from "../../access/tokens/read-key-set.ts";
import { IssuerFault } from "./login-refused.ts";

/** An issuer that people sign in at. */
export type LoginIssuer = TrustedIssuer & { readonly login: NonNullable<TrustedIssuer["login"]> };

/** Directory of the secrets of clients, below `secret_mount_path`. */
const secretDirectory = "iam-clients";
/** Milliseconds after which an issuer is asked for its addresses again. */
const keptFor = { success: 300_000, failure: 5_000 };

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
  readonly #clients = new Map<string, SharedRead<Configuration>>();

  constructor(parts: IssuerClientParts) {
    this.#parts = parts;
  }

  /**
   * The client at an issuer. Sign-ins at the same time share one read, and for some seconds its failure.
   * @throws IssuerUnavailableError, or an Error when the issuer describes something else
   */
  async of(issuer: LoginIssuer): Promise<Configuration> {
    const { iss, internal, login } = issuer;
    const key = JSON.stringify([iss, internal, login]);
    for (const [other, known] of this.#clients) if (!known.isKept) this.#clients.delete(other);
    const found = this.#clients.get(key) ?? new SharedRead(() => this.#make(issuer), keptFor, this.#parts.now);
    this.#clients.set(key, found);
    return found.get();
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
  try {
    return { ...(await readIssuerDescription(issuer, url, documents)) };
  } catch (cause) {
    if (!(cause instanceof IssuerDocumentError)) throw cause;
    throw new IssuerFault(`its description cannot be used: ${cause.why}`, { cause });
  }
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
