import type { CommandSpec } from "../../command-spec.ts";

/** `weir schema`. */
export const printSchema: CommandSpec = {
  about:
    "Prints the JSON Schema of weir.yaml. Editors with yaml-language-server use it after a first line `# yaml-language-server: $schema=weir.schema.json`.",
  groups: [],
  examples: [
    { line: "weir schema", about: "What weir.yaml may hold" },
    { line: "weir schema > weir.schema.json", about: "For an editor" },
  ],
  run: async ({ output }) => {
    const { editorSchema } = await import("./editor-schema.ts");
    await output.document(editorSchema());
  },
};
