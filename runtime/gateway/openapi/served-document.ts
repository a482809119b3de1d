import { stringify } from "yaml";

import type { JsonObject } from "./json.ts";

/** The OpenAPI document as it is served. */
export interface ServedDocument {
  readonly json: string;
  readonly yaml: string;
}

/** Both texts of a document; YAML is made when it is asked for the first time, as that takes a while. */
export function serveDocument(document: JsonObject): ServedDocument {
  let yaml: string | undefined;
  return {
    json: `${JSON.stringify(document, undefined, 2)}\n`,
    get yaml() {
      yaml ??= stringify(document, { aliasDuplicateObjects: false, lineWidth: 120 });
      return yaml;
    },
  };
}
