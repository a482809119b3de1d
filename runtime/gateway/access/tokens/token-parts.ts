import type { FastifyRequest } from "fastify";

import type { RuleSet } from "../../../core/access/rule-set.ts";
import type { TokenHolders } from "../token-holders.ts";
import type { OwnKeys } from "./own-keys.ts";
import type { TokenFault } from "./token-fault.ts";
import type { TrustedKeys } from "./trusted-keys.ts";

/** What the routes of identity need; absent where there is no IAM. */
export interface TokenParts {
  readonly rules: () => RuleSet;
  readonly keys: OwnKeys;
  /** Who holds the tokens of `keys` by `rules`. */
  readonly holders: TokenHolders;
  readonly issuers: TrustedKeys;
  readonly now: () => number;
  /** Gets every refused exchange, for the audit. */
  readonly refused?: (request: FastifyRequest, fault: TokenFault) => void;
}
