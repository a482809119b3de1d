import type { FuzzTarget } from "./fuzz-target.ts";
import { answer } from "./targets/answer.ts";
import { callMessage } from "./targets/call-message.ts";
import { callbackPolicy } from "./targets/callback-policy.ts";
import { jsonBody, yamlDocument } from "./targets/documents.ts";
import { gatewayBytes } from "./targets/gateway-bytes.ts";
import { headers } from "./targets/headers.ts";
import { names } from "./targets/names.ts";
import { numbers } from "./targets/numbers.ts";
import { pathSplit } from "./targets/path-split.ts";
import { requestStream } from "./targets/request-stream.ts";
import { watchDecoder } from "./targets/watch-decoder.ts";

/** Everything that is fuzzed (`security.md` §11). */
export const targets: readonly FuzzTarget[] = [
  gatewayBytes,
  requestStream,
  answer,
  pathSplit,
  names,
  callMessage,
  jsonBody,
  yamlDocument,
  callbackPolicy,
  numbers,
  headers,
  watchDecoder,
];

/** @throws Error when there is none of that name */
export function targetNamed(name: string): FuzzTarget {
  const target = targets.find((each) => each.name === name);
  if (target === undefined)
    throw new Error(`Cannot fuzz "${name}": there are ${targets.map((each) => each.name).join(", ")}`);
  return target;
}
