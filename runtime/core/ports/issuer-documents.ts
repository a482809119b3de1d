import type { IssuerAddresses } from "../access/tokens/issuer-addresses.ts";

/** A request to an issuer, in the shape of the Fetch API, as libraries for signing in make it. */
export type IssuerRequest = Pick<RequestInit, "method" | "headers" | "body"> & {
  readonly signal?: AbortSignal | undefined;
};

/** An issuer did not reply, or may not be asked there. */
export class IssuerUnavailableError extends Error {
  override readonly name = "IssuerUnavailableError";
}

/** Reads what trusted issuers publish. */
export interface IssuerDocuments {
  /**
   * Requests `url` for an issuer: at most 5 s and 256 KiB in all, without following a redirect, from addresses that
   * the issuer's own allow (`iam.md` §5). The response has been read to its end.
   * @throws IssuerUnavailableError
   */
  fetchFromIssuer(issuer: IssuerAddresses, url: string, request?: IssuerRequest): Promise<Response>;
}
