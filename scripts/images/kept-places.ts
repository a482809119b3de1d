import { dirname, relative } from "node:path";

import type { Plugin } from "rolldown";

const mark = "weir-place:";
const place = "import.meta.dirname";

/**
 * Keeps `import.meta.dirname` of our own modules what it is in the sources of `root`: where the module would be below
 * the bundle, whichever file it ends up in. So a program finds those that it starts as its children.
 */
export function keptPlaces(root: string): Plugin {
  return {
    name: "kept-places",
    transform: {
      filter: { id: { exclude: /\/node_modules\// }, code: place },
      handler: (code, id) =>
        code.replaceAll(place, () => `\`\${${place}}/${mark}${relative(root, dirname(id)).replaceAll("\\", "/")}\``),
    },
    renderChunk: (code, { fileName }) =>
      code.includes(mark) ? code.replaceAll(mark, () => `${relative(dirname(fileName), ".")}/`) : undefined,
  };
}
