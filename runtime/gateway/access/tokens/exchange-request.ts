import { accessTokenType, exchangeGrant, subjectTokenTypes } from "../../../api/schemas/iam/token.ts";
import type { FormBody } from "../../rest/form-body.ts";
import { TokenFault } from "./token-fault.ts";

/** What a token exchange asks for. */
export interface ExchangeRequest {
  readonly subjectToken: string;
  readonly kind: "api" | "function";
  /** As sent. */
  readonly audiences: readonly string[];
}

/** Fields of RFC 8693 that ask for what is not done; to ignore them would issue another token than was meant. */
const unsupported = ["actor_token", "actor_token_type", "resource"];

/**
 * The request in a form (contract §6). Empty fields count as absent, unknown ones are ignored (RFC 6749 §3.2).
 * @throws TokenFault
 */
export function readExchangeRequest(form: FormBody): ExchangeRequest {
  if (form.kind === "unreadable") throw new TokenFault("invalid_request", `its body is unreadable: ${form.why}`);
  const values = (name: string): readonly string[] => form.fields.get(name)?.filter((value) => value !== "") ?? [];
  const optional = (name: string): string | undefined => {
    const [value, ...more] = values(name);
    if (more.length > 0) throw new TokenFault("invalid_request", `field ${name} is there twice`);
    return value;
  };
  const required = (name: string): string => {
    const value = optional(name);
    if (value === undefined) throw new TokenFault("invalid_request", `field ${name} is missing`);
    return value;
  };

  const grant = required("grant_type");
  if (grant !== exchangeGrant) throw new TokenFault("unsupported_grant_type", `grant_type is not ${exchangeGrant}`);
  const subjectToken = required("subject_token");
  const type = required("subject_token_type");
  if (!subjectTokenTypes.some((known) => known === type)) {
    throw new TokenFault("invalid_request", `subject_token_type is none of ${subjectTokenTypes.join(", ")}`);
  }
  const sent = unsupported.find((name) => values(name).length > 0);
  if (sent !== undefined) throw new TokenFault("invalid_request", `field ${sent} is not supported`);
  const wanted = optional("requested_token_type");
  if (wanted !== undefined && wanted !== accessTokenType) {
    throw new TokenFault("invalid_request", `requested_token_type is not ${accessTokenType}`);
  }
  const kind = kindOf(optional("scope"));
  const audiences = values("audience");
  if (kind === "api" && audiences.length > 0) {
    throw new TokenFault("invalid_target", "audience is for scope function only");
  }
  return { subjectToken, kind, audiences };
}

function kindOf(scope: string | undefined): "api" | "function" {
  if (scope === undefined) return "api";
  if (scope.split(" ").every((each) => each === "function")) return "function";
  throw new TokenFault("invalid_scope", "scope is not function");
}
