import type { Project } from "../../project/project.ts";
import { functionManifest, manifestsText } from "./function-manifest.ts";
import type { GeneratedFunction } from "./generated-functions.ts";
import { recordComment, recordOfFunction } from "./project-record.ts";

/** Function objects, with comments that keep what else weir.yaml has: `weir import` reads them. */
export async function functionsText(
  { content }: Pick<Project, "content">,
  functions: readonly GeneratedFunction[],
): Promise<string> {
  return manifestsText(
    functions.map(({ name, definition, deployed: { namespace, ...deployed }, fileVariables }, index) => {
      const metadata = { name, ...(namespace === undefined ? {} : { namespace }) };
      const comment = recordComment(recordOfFunction(content, definition, fileVariables, index === 0));
      return {
        object: functionManifest(metadata, deployed),
        comments: comment === undefined ? [] : [comment],
      };
    }),
  );
}
