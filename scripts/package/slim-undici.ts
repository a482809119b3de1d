import { createRequire } from "node:module";
import { dirname, join } from "node:path";

import type { Plugin } from "rolldown";

const mark = "\0slim:undici";
const library = dirname(createRequire(import.meta.url).resolve("undici/package.json"));
const part = (name: string): string => `require(${JSON.stringify(join(library, "lib", name))})`;

/**
 * Replaces `undici` by those of its exports that the command uses: the others are half of it, and `fetch`, caches, mocks
 * and WebSockets are made as soon as it is loaded. Whatever else is imported does not bundle.
 */
export const slimUndici: Plugin = {
  name: "slim-undici",
  resolveId: { order: "pre", handler: (id) => (id === "undici" ? mark : undefined) },
  load: (id) =>
    id === mark
      ? {
          code: [
            // As its own index does.
            `Object.assign(${part("dispatcher/dispatcher.js")}.prototype, ${part("api/index.js")});`,
            `exports.Agent = ${part("dispatcher/agent.js")};`,
            `exports.EnvHttpProxyAgent = ${part("dispatcher/env-http-proxy-agent.js")};`,
          ].join("\n"),
          moduleType: "js",
        }
      : undefined,
};
