import { validateHeaderName, validateHeaderValue } from "node:http";

import { Http2Response } from "../../edge/http2/http2-response.ts";
import type { CallResponse } from "../exchange.ts";
import { requestHeader, requestHeaderKinds } from "../../edge/request-header-kinds.ts";

/** Gives the client the trailers of a function (flat), if it speaks HTTP/2: others did not ask for them. */
export function passTrailers(response: CallResponse, trailers: readonly string[]): void {
  if (response instanceof Http2Response) response.addTrailers(passedTrailers(trailers));
}

/** Trailers that may pass, as pairs: whatever means something to the platform or to a hop is not among them. */
export function passedTrailers(trailers: readonly string[]): [string, string][] {
  const passed: [string, string][] = [];
  for (let index = 0; index + 1 < trailers.length; index += 2) {
    const name = trailers[index] ?? "";
    const value = trailers[index + 1] ?? "";
    if (requestHeaderKinds.of(name) === requestHeader.pass && isSendable(name, value)) passed.push([name, value]);
  }
  return passed;
}

function isSendable(name: string, value: string): boolean {
  try {
    validateHeaderName(name);
    validateHeaderValue(name, value);
    return true;
  } catch {
    return false;
  }
}
