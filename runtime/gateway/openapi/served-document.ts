import { stringify } from "yaml";

import type { JsonObject } from "./json.ts";

/** The OpenAPI document as it is served. */
export interface ServedDocument {
  readonly json: string;
  readonly yaml: string;
}

/** Both texts of a document, each built on first use, because that takes a while. */
export function serveDocument(build: () => JsonObject): ServedDocument {
  let json: string | undefined;
  let yaml: string | undefined;
  return {
    get json() {
      json ??= `${JSON.stringify(build(), undefined, 2)}\n`;
      return json;
    },
    get yaml() {
      yaml ??= stringify(build(), { aliasDuplicateObjects: false, lineWidth: 120 });
      return yaml;
    },
  };
}
