import { isHeaderValue, isToken } from "../../api/http-grammar.ts";
import { requestHeader, requestHeaderKinds } from "./request-header-kinds.ts";

/** Trailers that may pass, flat: those without meaning to the platform or to a hop. */
export function passedTrailers(trailers: readonly string[]): string[] {
  const passed: string[] = [];
  for (let index = 0; index + 1 < trailers.length; index += 2) {
    const name = trailers[index] ?? "";
    const value = trailers[index + 1] ?? "";
    if (requestHeaderKinds.of(name) === requestHeader.pass && isToken(name) && isHeaderValue(value))
      passed.push(name, value);
  }
  return passed;
}
