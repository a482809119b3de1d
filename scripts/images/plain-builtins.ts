import { builtinModules } from "node:module";

import { RUNTIME_MODULE_ID, type Plugin } from "rolldown";

const mark = "\0builtin:";

/**
 * Loads Node's own modules as `require` does: an `import` reads all their exports, and reading some loads a lot
 * (`WebSocket` of `node:http` loads all of undici, a tenth of a start).
 */
export const plainBuiltins: Plugin = {
  name: "plain-builtins",
  resolveId: {
    order: "pre",
    handler: (id, importer) => {
      // The replacement itself needs the bundler's own module.
      if (importer === RUNTIME_MODULE_ID) return undefined;
      const name = id.replace(/^node:/, "");
      return builtinModules.includes(name) || builtinModules.includes(id) ? `${mark}${id}` : undefined;
    },
  },
  load: (id) =>
    id.startsWith(mark)
      ? {
          code: `module.exports = process.getBuiltinModule(${JSON.stringify(id.slice(mark.length))});`,
          moduleType: "js",
        }
      : undefined,
};
