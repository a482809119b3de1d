/** Version of this release; the same as in package.json (a test compares them). */
export const release = "0.1.0";

/** Version of the HTTP API: `X-Api-Version`, `info.version` of the OpenAPI document, `apiVersion`. */
export const apiVersion = "1.0";
