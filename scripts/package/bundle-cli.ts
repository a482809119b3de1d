import { rolldown } from "rolldown";

import { packageOf } from "../images/bundle-sources.ts";
import { plainBuiltins } from "../images/plain-builtins.ts";
import { embedTemplates } from "./embed-templates.ts";
import { licenceTexts } from "./licence-texts.ts";
import { slimUndici } from "./slim-undici.ts";

/** The command `weir` in one file. */
export interface CliBundle {
  readonly code: string;
  /** Names, versions and licence texts of the npm packages in it. */
  readonly thirdParty: string;
}

/** Newer syntax is written so that this version reads it; which newer functions are used, the tests on it show. */
const oldestNode = "node22.19";
const entry = "runtime/cli/main.ts";

/** Bundles the command with all packages that it uses into one JavaScript module, which imports nothing but Node's own. */
export async function bundleCli(root: string): Promise<CliBundle> {
  const bundle = await rolldown({
    cwd: root,
    input: entry,
    platform: "node",
    transform: { target: oldestNode },
    plugins: [plainBuiltins, slimUndici, embedTemplates(root)],
  });
  const { output } = await bundle.generate({ format: "esm", codeSplitting: false, minify: true, comments: false });
  await bundle.close();
  const [file, ...others] = output;
  if (others.length > 0) throw new Error(`Cannot bundle ${entry}: it became ${output.length} files`);
  const packages = new Set(file.moduleIds.flatMap(packageOf));
  return { code: file.code, thirdParty: await licenceTexts([...packages].toSorted()) };
}
