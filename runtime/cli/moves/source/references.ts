import type { Located } from "../../project/located.ts";
import { replaceInText } from "../../project/replace-variables.ts";
import { sourceTexts } from "./source-document.ts";

/** The text with the defaults of its references; undefined when one of them has none. */
export function textByDefaults(text: string): string | undefined {
  const replaced = replaceInText(text, () => undefined);
  return replaced.states.length === 0 ? replaced.text : undefined;
}

/** Why weir.yaml does not read a reference that stack.yml may understand, as in `${NAME^^}`; undefined when it does. */
export function foreignReference(text: string): string | undefined {
  return replaceInText(text, () => "").states[0];
}

/** The text as it stands in weir.yaml, where `${` begins a reference. */
export function escapeReferences(text: string): string {
  return text.replaceAll("${", "$$${");
}

/** What is to be known of the references in a value: which ones there are, and what must be set. */
export function referenceNote(source: Located): string | undefined {
  const found = sourceTexts(source).flatMap((text) => [...text.matchAll(/(?<!\$)\$\{(\w+)(:-[^}]*)?\}/g)]);
  if (found.length === 0) return undefined;
  const demanded = new Set(found.flatMap(([, name = "", fallback]) => (fallback === undefined ? [name] : [])));
  const kept = `with ${[...new Set(found.map(([whole]) => whole))].join(", ")}`;
  return demanded.size === 0 ? kept : `${kept}; ${[...demanded].join(", ")} must be set when weir.yaml is read`;
}
