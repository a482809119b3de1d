import { stringify } from "yaml";

import type { ManifestPart } from "../../infra/manifests/platform-manifests.ts";

/** All objects as YAML documents, each part preceded by its name; the same for parsers of YAML 1.1 and 1.2. */
export function manifestsText(parts: readonly ManifestPart[]): string {
  return parts
    .filter(({ objects }) => objects.length > 0)
    .map(({ name, objects }) => `# ${name}\n${objects.map((object) => `---\n${yamlText(object)}`).join("")}`)
    .join("");
}

/** One object as YAML, without aliases; words such as `off` stay texts. */
export function yamlText(object: unknown): string {
  return stringify(object, { version: "1.1", aliasDuplicateObjects: false, lineWidth: 0 });
}
