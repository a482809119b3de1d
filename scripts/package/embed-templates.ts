import { readFile } from "node:fs/promises";
import { join } from "node:path";

import type { Plugin } from "rolldown";

import { templateNames, templatePaths } from "../../runtime/cli/project/template-files.ts";

/** The one module that reads files beside the sources when it runs. */
const reader = "runtime/cli/project/template-text.ts";

/** Puts the files of all templates into the bundle, which has no files beside it. */
export function embedTemplates(root: string): Plugin {
  const path = join(root, reader);
  return {
    name: "embed-templates",
    load: {
      order: "pre",
      handler: async (id) => {
        if (id !== path) return undefined;
        const texts: Record<string, string> = {};
        for (const template of templateNames)
          for (const file of templatePaths(template)) {
            const stored = `${template}/${file.replace(/^\./, "")}`;
            texts[stored] = await readFile(join(root, "runtime/cli/templates", stored), "utf8");
          }
        return {
          code: `const texts = ${JSON.stringify(texts)};\nexport async function templateText(path) { return texts[path]; }\n`,
          moduleType: "js",
        };
      },
    },
  };
}
